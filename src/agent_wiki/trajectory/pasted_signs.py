"""How text looks that somebody pasted, quoted or forwarded into a user's turn, or that a harness wrote there."""

from __future__ import annotations

import re
from typing import Literal

from agent_wiki.trajectory.lazily import regex

# What harnesses without tools of their own put behind a reply as if the user said it.
OUTPUT = regex(
    r"\s*(?:\[?(?:tool|command|execution|function|terminal|code|shell|program)[ _]?(?:call )?"
    r"(?:output|results?|response)\b"
    r"|(?:observations?|outputs?|stdout|stderr|exit ?code)(?: \[[^\]\n]{0,80}\])?\s*:|results?:[ \t]*\n"
    r"|execution result of|\[(?:command (?:finished|executed|completed)|the command|File: |tool )|\(open file:"
    r"|<(?:returncode|output|observation|tool_?results?|tool_response|function_results?|execution_result|stdout|stderr"
    r"|response|exit_code|environment_details)\b"
    r"|here(?:'s| is) the (?:result|output) of (?:running|the command|`)|i ran (?:this|the) command:|exitcode: \d"
    r"|(?:your|the) (?:last )?command (?:ran|executed|produced|returned|failed|timed out|was executed|<command>)"
    r"|tool [`'\"\w-]{1,60} (?:returned|result|output)|\[[\w-]{2,40}(?: for '[^'\n]{0,300}')?\] result)",
    re.IGNORECASE,
)
_TAGS: dict[Literal["tool", "external"], str] = {
    "tool": "output|stdout|stderr|results?|tool_?results?|tool_response|function_results?|observation|logs?|traceback|"
    "terminal|console|code|diff|patch|source|files?|file_contents?|attachments?|context|environment_details",
    "external": "documents?|docs?|pasted(?:_text)?|paste|e?-?mail|message_from|quote|blockquote|web_?page|page|article|"
    "search_results?|page_content|transcript|comments?|ticket|thread|forwarded|website|readme"
    "|(?:github_?)?issues?(?:_(?:description|text|body))?|pr_description|pull_request|bug_report|problem_statement",
}
OPENING = {voice: regex(rf"<({names})(?:\s[^<>\n]{{0,200}})?>", re.IGNORECASE) for voice, names in _TAGS.items()}
FENCE = regex(r"[ \t]{0,8}(`{3,}|~{3,})([\w+-]{0,20})")
FORWARDED = regex(
    r"\s*(?:-{2,}\s*(?:original|forwarded) message|begin forwarded message|on .{6,120} wrote:\s*$"
    r"|(?:le|am) .{6,120} (?:écrit|schrieb)\b.{0,80}:\s*$)",
    re.IGNORECASE,
)
MAIL_HEAD = regex(
    r"\*{0,2}(?:From|Von|De|To|Subject|Betreff|Date|Sent|Cc|Reply-To)\*{0,2}:\*{0,2} \S"
    r"|(?:[Nn]ew|[Ii]ncoming|[Rr]eceived) (?:[Ee]-?mail|mail|message) from \S"
)
SAID_TO_BE_EXTERNAL = "<<<EXTERNAL_UNTRUSTED_CONTENT"
"""How OpenClaw begins what it took from the web, from mail or from a webhook."""
END_OF_EXTERNAL = "<<<END_EXTERNAL_UNTRUSTED_CONTENT"
QUOTED = regex(r"[ \t]{0,8}>(?!=)")
SCRIPT_OF_PACKAGE = regex(r">>> |>\s+(?:\S+@\d\S*(?:\s|$)|(?:npm|yarn|pnpm|node|tsc|vite|jest|next)\b)")
PROMPT = regex(
    r"\s*(?:\$|❯|➜|PS [A-Z]:\\[^>]*>|[\w.-]{1,40}@[\w.-]{1,60}[: ][^\n$#%]{0,100}[$#%]"
    r"|\(\w[\w.-]{0,30}\) \S{0,60}[$%]) {1,3}\S"
)
OF_A_PROGRAM = regex(
    r"\s*(?:Traceback \(most recent|at .{1,200}[:(]\d+|File \"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|[+-]{3} [ab]?/|@@ "
    r"|npm (?:ERR|error|warn)|\d+ +\||[EWIF]\d{4} |\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b|E   |={5,}|\w+Error: "
    r"|(?:fatal|error|warning)(?:\[\w+\])?: |[\w./-]+:\d+(?::\d+)?:? |[✓✗✖✘×●] |\s*\^+~*\s*$"
    r"|FAIL(?:ED)?\b|PASS(?:ED)?\b|ok \d)"
)
# The same, and what builds print besides: it counts only for a text as a whole, for a person may begin a line so.
OF_OUTPUT = regex(
    OF_A_PROGRAM.pattern
    + r"|\s*(?:[ew]: \S|Note: (?:Some input|Recompile|/)|FAILURE: |BUILD (?:FAILED|SUCCESS)|Execution failed for "
    r"|\* (?:What went|Try:|Get more)|> (?:Task|Run with|A failure|Get more|Could not|Compilation)\b"
    r"|\"\w+\": \d+ [a-z]|#\d+ (?:\[|DONE|CACHED|ERROR|\d+\.\d)|[\w.-]{2,40} +\| |Container [\w-]+ [A-Z])"
)
OF_STRANGERS = regex(
    r"\b(?:e-?mail|mail|article|blog|post|ticket|thread|website|readme|wrote|writes"
    r"|says|said|slack|comments?|reply|message|transcript|customer|stack ?overflow|reddit|tweet)\b",
    re.IGNORECASE,
)
OF_TOOLS = regex(
    r"\b(?:output|logs?|trace(?:back)?|stack ?trace|prints?|printed|shows?|got|getting|gives?|returns?|returned|errors?"
    r"|result"
    r"|results|saw|fails?|failed|response|pasted?|console|terminal|content|contents|below is|dump)\b",
    re.IGNORECASE,
)
# A short line that ends with a colon and says that something else comes, in whose words.
_NOUNS = (
    r"(?:e-?mails?|articles?|blog|post|ticket|thread|web ?page|readme|documentation|slack|comments?|transcript|tweet"
    r"|outputs?|logs?|trace(?:back)?|stack ?trace|console|terminal|dump|copy ?(?:&|and|n) ?paste|paste|feedback)"
)
ANNOUNCES = regex(
    rf"\W*(?:(?:\w+ ){{0,2}}{_NOUNS}\b[^\n:]{{0,30}}"
    r"|(?:[^\n]{0,80}\W)?(?:here(?:'s| is| are)|this is|these are|got|get|see|below|gives?|pasted?|copied|attached)\b"
    rf"[^\n]{{0,60}}\b{_NOUNS}\b[^\n:]{{0,30}}"
    r"|[^\n]{1,80}\b(?:says?|said|wrote|writes|prints?|printed|shows?|returns?|gives?|outputs?)"
    r"(?: this| that| me| us)?)"
    r"\s*[:：]\s*$",
    re.IGNORECASE,
)
COMMAND = regex(r"\s*(?:\$ )?[a-z.~/][\w./~-]*(?: [^\n]*[^.!?\s])?\s*$")
ASKS_FOR = regex(
    r"\b(?:run|use|try|execute|call|do|type|write|put|add|instead|should be|like this|with|make it)\b", re.I
)
SHELLS = frozenset({"sh", "bash", "shell", "zsh", "fish", "console", "powershell", "cmd"})
