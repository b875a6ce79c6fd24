"""Which results of a session hold what strangers wrote: fetched at once, or read again where the fetched was put.

Followed through pipes, substitutions, shell variables and files, as far as the recording shows them. Nothing is run.
What a command prints of its own when it cannot fetch ("curl: (6) …") is the tool's. Where the fetched was only run, or
handed to a compiler or a package manager, a program speaks, though strangers may have written what it says.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from agent_wiki.shell.fetched_files import FetchedFiles, plain_path
from agent_wiki.shell.fetching import Fetch, fetch_of, fetches_in_code
from agent_wiki.shell.hosts import hosts_in, is_outside, outside_hosts
from agent_wiki.shell.kinds import COMPILERS, is_check
from agent_wiki.shell.programs import LOOKERS
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.syntax import DECLARES, MOST_CHARACTERS, PIPES, Step, plain_words, redirections, shell_line
from agent_wiki.shell.tools import bare_tool_name, is_tool_of_strangers
from agent_wiki.shell.wrappers import peeled
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call, paired_calls
from agent_wiki.trajectory.lazily import regex
from agent_wiki.trajectory.pasted_signs import SAID_TO_BE_EXTERNAL

_DEEPEST = 3
_LONGEST_OWN = 600  # characters of what a fetching command says of itself
_SUBSTITUTION = regex(r"\$\((?!\()|`")
_VARIABLE = regex(r"\$\{?(\w{1,60})")
_ASSIGNED = regex(r"(?:(?:export|local|declare|readonly|typeset)\s+)?([A-Za-z_]\w{0,60})=(.*)", re.DOTALL)
# They show nothing of what they are given, or only how much of it there is.
_SILENT = frozenset(
    {"rm", "ls", "wc", "chmod", "chown", "mkdir", "test", "[", "[[", "stat", "du", "touch", "cd", "pushd", "popd",
     "sha256sum", "sha1sum", "md5sum", "sleep", "true", "kill", "unset", "exit", "basename", "dirname", "realpath"}
)  # fmt: skip
_LISTERS_OF_TOOLS = frozenset({"toolsearch", "tool_search", "list_mcp_tools"})
_COPIERS = frozenset({"cp", "mv", "ln", "install", "rsync"})
_UNPACKERS = {"tar": ("-C", "--directory"), "unzip": ("-d",), "bsdtar": ("-C",)}
_PRINTERS_OF_FILES = LOOKERS - {"echo", "printf", "ls", "which", "pwd"}
_OWN_LINE = regex(
    r"\s*$|</?(?:returncode|output|tool_use_error)>|<returncode>-?\d+</returncode>|[Ee]xit code:? -?\d+"
    r"|(?:curl: \(\d+\)|wget:|fatal:|error:|gh:|ssh:|(?:ba|z)?sh:|Cloning into)\s?.{0,200}$"
)
_NONE, _RUN, _PRINTED = 0, 1, 2  # what a step hands on of strangers: nothing, what their program says, their text
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "pwsh", "powershell"})
_INTERPRETERS = _SHELLS | frozenset({"python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "tsx"})
_CODE_FOLLOWS = regex(r"-[A-Za-z]*[cemp]|--(?:eval|print)|-(?:[Ee]ncoded)?[Cc]ommand")
_COMPILERS = COMPILERS | {"tsc", "swiftc"}
_MANAGERS = frozenset(
    {"npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "cargo", "gem", "bundle", "composer", "go", "mvn",
     "gradle", "brew", "apt", "apt-get", "dpkg", "dnf", "yum", "pacman", "conda", "docker", "make", "cmake"}
)  # fmt: skip
_MANAGING = frozenset({"install", "add", "ci", "i", "sync", "update", "upgrade", "build", "compile", "-i"})
_FILE_OF_REPOSITORY = regex(
    r"https://raw\.githubusercontent\.com/([\w.-]{1,80}/[\w.-]{1,80})/."
    r"|https://(?:www\.)?(?:github|gitlab)\.com/([\w.-]{1,80}/[\w.-]{1,80})/(?:-/)?(?:raw|blob)/."
)
_BROWSER = regex(r"browser|playwright|puppeteer|chrome", re.IGNORECASE)
_SAVES = ("filename", "output", "output_path", "save_to", "file_path", "path", "savePath")


def of_strangers(trajectory: Trajectory) -> frozenset[int]:
    """The turns of results that hold what strangers wrote; worked out once a trajectory."""
    return frozenset(trajectory.worked_out(_levels))


def only_run(trajectory: Trajectory) -> frozenset[int]:
    """Of these the turns in which no text of theirs is shown, but what a program says that ran, or worked on, it."""
    return frozenset(turn for turn, level in trajectory.worked_out(_levels).items() if level == _RUN)


def _levels(trajectory: Trajectory) -> dict[int, int]:
    return _Flow(_said_by_user(trajectory)).turns(paired_calls(trajectory))


def _describes_servers_tools(call: Call) -> bool:
    """Whether a result lists tools of other people's servers, in the words with which these describe them."""
    return bare_tool_name(call.name).lower() in _LISTERS_OF_TOOLS and "mcp__" in (call.result or "")


def _said_by_user(trajectory: Trajectory) -> str:
    return "\n".join((each.content or "").lower() for each in trajectory.messages if each.role == "user")


class _Flow:
    """Where the fetched is, from call to call: in files, in clones, and in variables of the shell."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.files = FetchedFiles()
        self.clones: set[str] = set()
        self.tainted: set[str] = set()  # variables that hold it
        self.known: dict[str, str] = {}  # the values of other variables
        self.folder = ""
        self.has_own_page = False  # in the browser

    def turns(self, calls: Iterable[Call]) -> dict[int, int]:
        """The turns of the results that show it, each with how."""
        found: dict[int, int] = {}
        shown: dict[int, int] = {}  # by position of calls
        for call in calls:
            before = shown.get(call.continues.position, _NONE) if call.continues is not None else _NONE
            level = max(self._shows(call), before)
            if level and not _is_own(call.result or ""):
                shown[call.position] = level
                if call.result_turn is not None:
                    found[call.result_turn] = level
        return found

    def _shows(self, call: Call) -> int:
        if SAID_TO_BE_EXTERNAL in (call.result or ""):
            return _PRINTED
        command = call.command()
        if command is not None:
            return self.prints(command[:MOST_CHARACTERS])
        if self._shows_own_page(call):
            return _NONE
        if is_tool_of_strangers(call.name) or _describes_servers_tools(call):
            for key in _SAVES:
                if isinstance(value := call.arguments.get(key), str):
                    self.files.add(value)
            return _PRINTED
        named = [each for each in call.arguments.values() if isinstance(each, str) and len(each) < 1_000]
        is_read = any(self.files.has(each) or self._is_in_clone(each) for each in named)
        path = call.path()
        if path and any(key in call.arguments for key in ("content", "contents", "file_text")):
            self.files.discard(path)
            return _NONE
        return _PRINTED if is_read else _NONE

    def _shows_own_page(self, call: Call) -> bool:
        """Whether a browser looks at a page of this machine or its network, and what it says names no other host."""
        if _BROWSER.search(call.name) is None:
            return False
        if isinstance(address := call.arguments.get("url"), str):
            self.has_own_page = not any(map(is_outside, hosts_in(address))) and bool(list(hosts_in(address)))
        return self.has_own_page and not outside_hosts(call.result or "")

    def prints(self, line: str, depth: int = 0) -> int:
        """Whether, and how, a command line prints what strangers wrote; notes where else it puts it."""
        printed = piped = _NONE
        for step in shell_line(line).steps:
            shows = self._step(step, depth, piped)
            piped = shows if step.after in PIPES else _NONE
            printed = max(printed, _NONE if piped else shows)
        return printed

    def _step(self, step: Step, depth: int, piped: int) -> int:
        """Whether what the step hands on, to the reader or to a pipe, is of strangers."""
        raw = [word.value for word in plain_words(step.words)]
        front = peeled(raw)
        words = front.program_words() if front.words else ()
        fetch = fetch_of(words, self.known)
        is_one = sum("://" in word for word in words) == 1
        if fetch is not None and is_one and ".." not in fetch.address and self._is_file_of_named_repository(fetch):
            fetch = None
        holds = max(piped, self._holds(step, raw, words, depth))
        self._assign(front.environment if not words else words[1:] if words[0] in DECLARES else (), depth)
        if words[:1] == ("read",) and holds:
            self.tainted |= set(words[1:])
        if words[:1] == ("for",) and holds:
            self.tainted |= set(words[1:2])
        self._move(words, fetch, holds=bool(holds))
        shows = self._shown_by(words, fetch, holds)
        return self._redirected(step, words, shows)

    def _shown_by(self, words: Sequence[str], fetch: Fetch | None, holds: int) -> int:
        program = words[0].rpartition("/")[2] if words else ""
        if program in _SILENT or program in _COPIERS or (program == "grep" and {"-q", "-c"} & set(words)):
            return _NONE
        if fetch is not None and fetch.is_printed:
            return _PRINTED
        return _RUN if holds and self._is_run(program, words) else holds

    def _is_run(self, program: str, words: Sequence[str]) -> bool:
        """Whether a command that strangers' text goes into runs it, or works on it, and prints none of it as it is."""
        if program in _COMPILERS or is_check(SimpleCommand(tuple(words))):
            return True
        if program in _MANAGERS:
            return bool(_MANAGING & set(words[1:3]))
        plain = [each for each in words[1:] if not each.startswith("-")]
        if program not in _INTERPRETERS:
            return self.files.has(words[0]) and "/" in words[0] and not any(map(self.files.has, plain))
        if any(map(_CODE_FOLLOWS.fullmatch, words[1:])):
            return False  # which may print it
        return not plain or (self.files.has(plain[0]) and not any(map(self.files.has, plain[1:])))

    def _redirected(self, step: Step, words: Sequence[str], shows: int) -> int:
        targets = [
            (operator, target)
            for operator, target in redirections(step.words)
            if ">" in operator and not operator.startswith("2") and not operator.endswith(">&")
        ]
        files = [target for _, target in targets if not target.startswith("/dev/")]
        files += [each for each in words[1:] if not each.startswith("-")] if words[:1] == ("tee",) else []
        for file in files:
            if shows:
                self.files.add(file)
            elif not any(operator == ">>" and target == file for operator, target in targets):
                self.files.discard(file)
        return _NONE if targets else shows

    def _holds(self, step: Step, raw: Sequence[str], words: Sequence[str], depth: int) -> int:
        """Whether, and how, what strangers wrote goes into the step, from files, variables and scripts."""
        bodies = [each.text for each in step.here_documents]
        inner = [word.value[1:].removesuffix(")") for word in step.words if word.is_subshell]
        if len(words) > 2 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1].endswith("c"):
            inner.append(words[2])
        runs = [self.prints(each, depth + 1) for each in inner] if depth < _DEEPEST else []
        read = [target for operator, target in redirections(step.words) if operator.startswith("<")]
        is_assignment = not words
        named = [] if is_assignment else [*raw[1:], *read]
        is_held = (
            any(self.files.has(part) for each in named for part in _names_in(each))
            or (bool(words) and self.files.has(words[0]) and "/" in words[0])
            or self._reads_clone(words, named)
            or (not is_assignment and any(self._is_value_of_strangers(each, depth) for each in raw))
            or any(self._is_variable(each) for each in bodies)
            or any(map(fetches_in_code, (*bodies, *(raw if "-c" in raw or "-e" in raw else ()))))
        )
        return _PRINTED if is_held else max(runs, default=_NONE)

    def _assign(self, words: Iterable[str], depth: int) -> None:
        for word in words:
            match = _ASSIGNED.match(word)
            if match is None:
                continue
            name, value = match[1], match[2]
            if self._is_value_of_strangers(value, depth):
                self.tainted.add(name)
            else:
                self.tainted.discard(name)
                self.known[name] = value

    def _is_value_of_strangers(self, word: str, depth: int) -> bool:
        return self._is_variable(word) or (depth < _DEEPEST and any(self.prints(s, depth + 1) for s in _inside(word)))

    def _is_variable(self, word: str) -> bool:
        return bool(self.tainted) and any(name in self.tainted for name in _VARIABLE.findall(word))

    def _move(self, words: Sequence[str], fetch: Fetch | None, *, holds: bool) -> None:
        """Note where a command puts what it fetches, copies or unpacks, and into which folder it goes."""
        program = words[0].rpartition("/")[2] if words else ""
        if fetch is not None:
            for file in fetch.into:
                self.files.add(file)
            if fetch.clone and not self._is_named(fetch):
                self.clones.add(plain_path(fetch.clone))
        elif program == "cd" and len(words) > 1:
            self.folder = posixpath.normpath(posixpath.join(self.folder, words[1]))
        elif holds and program in _COPIERS and len(words) > 2:
            self.files.add(words[-1])
        elif holds and program in _UNPACKERS:
            options = _UNPACKERS[program]
            for name, to in itertools.pairwise(words):
                if name in options:
                    self.files.add(to)

    def _is_named(self, fetch: Fetch) -> bool:
        """Whether the user speaks of the repository that is cloned: it is what the session works on."""
        name = fetch.address.rstrip("/").removesuffix(".git").rpartition("/")[2].lower()
        return len(name) > 2 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.said) is not None

    def _is_file_of_named_repository(self, fetch: Fetch) -> bool:
        """Whether a file of a repository is fetched whose owner and name the user gave: as good as a clone of it."""
        match = _FILE_OF_REPOSITORY.match(fetch.address)
        name = next(filter(None, match.groups()), "").lower() if match else ""
        return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.(?!git\b)\w)", self.said) is not None

    def _reads_clone(self, words: Sequence[str], named: Sequence[str]) -> bool:
        """Whether a command shows files of a clone; what programs do there is their own."""
        if not self.clones or not words or words[0].rpartition("/")[2] not in _PRINTERS_OF_FILES:
            return False
        return any(self._is_in_clone(each) for each in named) or (len(words) > 1 and self._is_in_clone(self.folder))

    def _is_in_clone(self, path: str) -> bool:
        parts = f"/{plain_path(path)}/"
        return any(f"/{clone.lstrip('/')}/" in parts for clone in self.clones)


def _names_in(word: str) -> Iterator[str]:
    """The files that a word of a command may name: itself, behind `=`, behind `@`."""
    if word.startswith("-"):
        yield word.partition("=")[2]
    else:
        yield word.removeprefix("@")


def _inside(word: str) -> Iterator[str]:
    """What is substituted in a word: from each `$(` to the last `)`, and between backticks."""
    for match in _SUBSTITUTION.finditer(word):
        if match[0] == "`":
            yield word[match.end() :].partition("`")[0]
            return
        yield word[match.end() :].rpartition(")")[0]
        return


def _is_own(result: str) -> bool:
    """Whether a result has only what the fetching command says of itself."""
    return 0 < len(result) <= _LONGEST_OWN and all(map(_OWN_LINE.match, result.splitlines()))
