"""What the programs of a command line are for, as far as their names show: the tables for judging calls."""

from __future__ import annotations

# Programs that only show: what they print was there before, and their failure is an answer.
_LOOKING = """ls cat head tail less more grep egrep fgrep rg ag ack find fd tree wc stat file nl jq yq awk sort uniq
    diff cmp which type whereis pwd echo printf env printenv date du df ps lsof top man test [ [[ cd pushd popd
    export set true false sleep sed cut tr column basename dirname realpath readlink whoami hostname id uname bat
    strings xxd od hexdump base64 comm paste read seq source . wait kill jobs history alias tac rev fold for expr
    mkdir chmod pgrep : Get-Content Get-ChildItem Select-String Select-Object Set-Location Write-Output Write-Host
    Out-Null Out-String Tee-Object Start-Sleep findstr dir"""
LOOKERS = frozenset(_LOOKING.split())
# A failure of these is hardly ever what a line is about.
TRIVIAL = frozenset(
    {"echo", "printf", "true", ":", "export", "set", "sleep", "pwd", "for", "wait", "unset", "alias", "date", "exit",
     "mkdir", "Write-Output", "Write-Host", "Set-Location", "Out-Null", "Start-Sleep", "break", "continue"}
)  # fmt: skip
PRINTERS = frozenset({"echo", "printf", "Write-Output", "Write-Host"})

# Programs behind a pipe: does the reader see how the output ends?
SHOWS_END = frozenset(
    {"tail", "tee", "cat", "less", "more", "nl", "sort", "column", "tac", "fold", "Tee-Object", "Out-String", "bat"}
)  # fmt: skip

# Where only the text of a result is known: programs that print whatever they were given.
SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "git grep", "pgrep", "which"})
READERS = SEARCHES | frozenset(
    {"cat", "sed", "head", "tail", "less", "nl", "awk", "find", "ls", "jq", "tree", "wc", "tee", "sort", "uniq", "cut",
     "tr", "column", "echo", "printf", "true", ":", "git diff", "git show", "git log", "git blame", "git status"}
)  # fmt: skip
