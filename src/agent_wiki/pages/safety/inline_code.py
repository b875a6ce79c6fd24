"""Programs in a command line (`python3 -c …`, `node -e …`, a here-document): read as scripts are, never run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from agent_wiki.pages.safety import python_scripts
from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.secret_sources import SECRET_FILE, written_words
from agent_wiki.shell.hosts import outside_hosts
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.trajectory.lazily import regex

INTERPRETERS = frozenset({"python", "python2", "python3", "pypy", "node", "deno", "bun", "ruby", "perl", "php"})
"""The programs whose code is read."""
_NEAR = 60  # characters before the name of a file
_READS = regex(
    r"readFile|File\.(?:read|open)|IO\.read|\bopen\b|file_get_contents|readfile|\bcat\b|slurp|createReadStream"
)
_PYTHON = regex(r"python[\d.]*$|pypy[\d.]*$")
_OTHERS = regex(r"(?:node|deno|bun|ruby|perl|php)[\d.]*$")
_CODE_OPTIONS = regex(r"-\w*[cer]|--eval|--execute|--print|-p")
_SENDS = regex(
    r"\bfetch\(|\baxios\b|\bpost\b|\bPOST\b|\bput\(|\brequest\(|getprint\(|\bNet::HTTP\b|\bLWP::|file_get_contents\(['\"]http"
    r"|\bcurl_exec\b|\bcreateConnection\(|TCPSocket|fsockopen"
)
_ENVIRONMENT = regex(
    r"process\.env\b(?![.\[])|Deno\.env\.toObject|\bENV\.(?:to_h|inspect|map)|%ENV\b|\bgetenv\(\)|\$_ENV\b(?!\[)"
)


def findings(commands: Sequence[SimpleCommand]) -> Iterator[SafetyFinding]:
    """What the programs in commands run that came from elsewhere, and what they send."""
    for command in commands:
        if _PYTHON.match(command.program):
            for code in _code(command):
                yield from python_scripts.findings(code)
        elif _OTHERS.match(command.program):
            for code in _code(command):
                yield from findings_in_code(code)


def findings_in_code(code: str) -> Iterator[SafetyFinding]:
    """What a program in JavaScript, Ruby, Perl or PHP sends, as far as its words show it."""
    if not _SENDS.search(code) or not outside_hosts(code):
        return
    read = (match for match in SECRET_FILE.finditer(code) if _READS.search(code[: match.start()][-_NEAR:]))
    for secret in itertools.islice(itertools.chain(read, _ENVIRONMENT.finditer(code)), 1):
        yield finding("sends/secrets", code[max(0, secret.start() - _NEAR) :])


def _code(command: SimpleCommand) -> Iterator[str]:
    words = written_words(command)
    yield from (after for option, after in itertools.pairwise(words) if _CODE_OPTIONS.fullmatch(option))
    if command.body:
        yield command.body
