"""What programs are for, as far as their names and first words show: the tables for judging command lines."""

from __future__ import annotations

from collections.abc import Sequence

from agent_wiki.shell.task_runners import task_words

# Words of the shell itself: they steer a command line, or change nothing but the shell that reads it.
_OF_THE_SHELL = """. : alias case cd do done elif else esac exit export fi for function history if jobs local popd
    pushd read return select set shift source then time trap ulimit umask unalias unset until wait while }
    try catch finally foreach elseif switch param Invoke-Expression iex"""
SHELL_WORDS = frozenset(_OF_THE_SHELL.split())
# Programs that only show: what they print was there before.
_SHOWING = """[ [[ ack ag awk base64 basename bat cat clear cmp column comm cut date df diff dig dirname du echo egrep
    env expr false fd fgrep file find fold free gawk grep head hexdump hostname id jq less ls lsof man
    md5sum more netstat nl nslookup od paste pgrep ping printenv printf ps pwd readlink realpath rev rg sed
    seq sha256sum sleep sort stat strings tac tail tee test top tr tree true type uname uniq wc whereis
    command which whoami xargs xxd yq dir findstr Format-List Format-Table Get-ChildItem Get-Command Get-Content
    Get-Date Get-Item Join-Path Out-Null Out-String Select-Object Select-String Set-Location Start-Sleep
    Sort-Object Tee-Object Test-Path Where-Object Write-Host Write-Output Group-Object Measure-Object Get-Process
    Get-Location Get-FileHash Get-Member Get-Service Resolve-Path Split-Path ConvertFrom-Json ConvertTo-Json"""
SHOWING = frozenset(_SHOWING.split())
READING = SHELL_WORDS | SHOWING
# The failure of these is an answer, or of no account.
LOOKERS = READING | {"chmod", "kill", "mkdir"}

# Programs whose first plain word says what they do: `go test` and `go build` are two different tools.
_OF_CLUSTERS = frozenset({"docker", "helm", "kubectl", "oc", "podman", "systemctl"})
_OF_SERVICES = frozenset({"aws", "az", "gcloud", "gh"})  # with them it is the second word
_WITH_SUBCOMMAND = """apt apt-get brew bun bundle cabal cargo composer conda deno dotnet fly flyctl git glab go gradle
    gradlew gt hatch heroku just make mise mix mvn mvnw nox npm nx pip pip3 pixi pnpm poetry rails rake rustup stack
    swift terraform tox turbo uv vercel wrangler yarn"""
WITH_SUBCOMMAND = _OF_CLUSTERS | _OF_SERVICES | frozenset(_WITH_SUBCOMMAND.split())
_GROUPS = frozenset({"compose", "config", "container", "image", "network", "repo", "rollout", "volume"})
# The words with which any of them only reads, and those with which one does.
_READING_WORDS = frozenset({"help", "info", "list", "ls", "search", "show", "status", "version", "view"})
_OWN_READING_WORDS = {
    program: frozenset(words.split())
    for program, words in {
        "git": """blame branch cat-file check-ignore config describe diff fetch for-each-ref grep log ls-files
            ls-remote ls-tree merge-base name-rev reflog remote rev-list rev-parse shortlog show-ref symbolic-ref
            var""",
        "gh": "checks diff watch",
        "go": "doc env",
        "mise": "current doctor tasks where which",
        "npm": "outdated",
        "pip": "freeze",
        **dict.fromkeys(
            _OF_CLUSTERS,
            """api-resources api-versions cluster-info current-context describe diff events explain get get-clusters
            get-contexts get-users history images inspect logs ps top wait""",
        ),
    }.items()
}

# A failure of these is hardly ever what a line is about.
TRIVIAL = frozenset(
    {"echo", "printf", "true", ":", "export", "set", "sleep", "pwd", "for", "wait", "unset", "alias", "date", "exit",
     "mkdir", "Write-Output", "Write-Host", "Set-Location", "Out-Null", "Start-Sleep", "break", "continue"}
)  # fmt: skip
PASSES = frozenset({"true", ":"})  # never fail
PRINTERS = frozenset({"echo", "printf", "Write-Output", "Write-Host"})
# What PowerShell writes a file with, by the words of its name in lower case.
WRITERS_OF_POWERSHELL = frozenset({"set-content", "add-content", "out-file"})

# Programs behind a pipe: does the reader see how the output ends?
SHOWS_END = frozenset(
    {"tail", "tee", "cat", "less", "more", "nl", "sort", "column", "tac", "fold", "Tee-Object", "Out-String", "bat"}
)  # fmt: skip

# Where only the text of a result is known: programs that print whatever they were given.
SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "git grep", "pgrep", "which", "command"})
READERS = SEARCHES | frozenset(
    {"cat", "sed", "head", "tail", "less", "nl", "awk", "find", "ls", "jq", "tree", "wc", "tee", "sort", "uniq", "cut",
     "tr", "column", "echo", "printf", "true", ":", "git diff", "git show", "git log", "git blame", "git status"}
)  # fmt: skip

# What prints text that others wrote, or that another program printed before: words of failure in it are no failure.
_SHOWING_TEXT = {
    "git": frozenset({"blame", "cat-file", "diff", "grep", "log", "reflog", "show"}),
    "gh": frozenset({"api", "diff", "list", "view"}),
    **dict.fromkeys(_OF_CLUSTERS, frozenset({"describe", "logs"})),
}
_CHECKS = frozenset({"--check", "--exit-code", "--quiet"})
# Whose exit status 1 is the answer no, and what asks git so; each with the option that makes it a question, if any.
# A comparison is none: what differs from the file that holds what is expected has failed.
_ASKING = SEARCHES | {"[", "[[", "nc", "test", "type"}
_ASKING_GIT = {
    "merge-base": {"--is-ancestor"},
    "ls-files": {"--error-unmatch"},
    "check-ignore": None,
    "grep": None,
    "show-ref": {"--verify", "--exists", "--quiet", "-q"},
    "symbolic-ref": {"--quiet", "-q"},
    "rev-parse": {"--verify"},
    "cat-file": {"-e"},
    "diff": {"--quiet"},
    "diff-index": {"--quiet"},
}


def shows_text_of_others(words: Sequence[str]) -> bool:
    """Whether a command prints what others wrote: a change, a log, an issue. `words` begin with the program."""
    program = words[0].rpartition("/")[2] if words else ""
    if program[:1] in ("=", "-", "#"):
        return True  # a heading that PowerShell prints where it stands
    if program not in _SHOWING_TEXT or not _CHECKS.isdisjoint(words):
        return False
    return not _SHOWING_TEXT[program].isdisjoint(task_words(words)[: 1 if program == "git" else 2])


def is_question(words: Sequence[str]) -> bool:
    """Whether exit status 1 of a command is an answer, and no failure. `words` begin with the program."""
    program = words[0].rpartition("/")[2] if words else ""
    if program != "git":
        return program in _ASKING
    asked = _ASKING_GIT.get(next(iter(task_words(words)), ""), frozenset[str]())
    return asked is None or not asked.isdisjoint(words)


def only_reads(words: Sequence[str]) -> bool:
    """Whether a command changes nothing outside of its own shell. `words` begin with the program.

    What it writes by a redirection or with `tee`, and files that `sed -i` edits, are for the caller to see.
    """
    if not words or words[-1] == "-h" or {"--help", "--version"} & set(words[1:5]):
        return True
    program = words[0].rpartition("/")[2] if words[0].startswith("/") else words[0]  # `bin/test` is the project's own
    if program not in WITH_SUBCOMMAND:
        return program in READING
    plain = task_words(words)[:2]
    has_group = program in _OF_SERVICES or (program in _OF_CLUSTERS and not _GROUPS.isdisjoint(plain[:1]))
    deciding = plain[has_group:] or plain
    return bool(deciding) and deciding[0] in _READING_WORDS | _OWN_READING_WORDS.get(program, frozenset())
