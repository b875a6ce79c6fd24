"""Commands that send what is secret, or whole folders, to an address outside.

Followed through pipes, redirections, substitutions, variables, loops, copies and archives, as far as the commands show
them. Which options hand on a file, and which words are one, is known of each program; what a header carries is how a
service is spoken to, unless it is a file with keys or the environment.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.secret_sources import (
    SECRET_FILE,
    SECRET_VARIABLE,
    assigned,
    is_private,
    is_store,
    substituted,
    without_substitutions,
    written_words,
)
from agent_wiki.shell.fetching import WEB_CLIENTS, fetch_of
from agent_wiki.shell.hosts import is_outside, outside_hosts
from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.syntax import PIPES
from agent_wiki.trajectory.lazily import dataclass, regex


@dataclass(frozen=True, slots=True)
class _Sender:
    """How a program sends: the options whose value is a file that it sends, and whether its other words are files.

    `is_outward`: what it sends goes outside whatever its words are. `keeps`: options whose value stays here.
    """

    files: frozenset[str] = frozenset()
    sends_words: bool = False
    is_outward: bool = False
    keeps: frozenset[str] = frozenset()


_CURL = _Sender(
    frozenset({"-T", "--upload-file"}),
    keeps=frozenset({"-o", "--output", "-K", "--config", "-E", "--cert", "--key", "--cacert", "--netrc-file", "-c",
                     "--cookie-jar", "-D", "--dump-header"}),
)  # fmt: skip
_POWERSHELL = _Sender(frozenset({"-InFile", "-Body", "-Form"}))
_COPIES = _Sender(
    sends_words=True,
    keeps=frozenset({"-i", "-e", "-F", "-o", "-P", "-l", "--rsh", "--password-file", "--exclude", "--exclude-from",
                     "--config", "-c", "--profile"}),
)  # fmt: skip
_GIVEN_AWAY = _Sender(sends_words=True, is_outward=True)
_COPIERS = frozenset({"scp", "rsync", "rclone", "aws", "gsutil", "s3cmd", "mc", "gcloud"})
_BY_NAME = frozenset({"dig", "nslookup", "host", "drill", "ping", "whois"})
_SENDERS: Mapping[str, _Sender] = {
    **dict.fromkeys(("curl", "curlie"), _CURL),
    "wget": _Sender(frozenset({"--post-file", "--body-file"}), keeps=frozenset({"-O", "-o", "--output-document"})),
    **dict.fromkeys(("http", "https", "xh"), _Sender()),
    **dict.fromkeys(("iwr", "irm", "invoke-webrequest", "invoke-restmethod"), _POWERSHELL),
    **dict.fromkeys(("nc", "ncat", "netcat", "socat", "telnet", "openssl", "sendmail"), _Sender()),
    **dict.fromkeys(("mail", "mailx", "mutt"), _Sender(frozenset({"-a", "-A", "--attach"}))),
    **dict.fromkeys(("ftp", "tftp", "lftp", "sftp", "smbclient"), _Sender(sends_words=True)),
    "ssh": _Sender(keeps=_COPIES.keeps),
    **dict.fromkeys(_COPIERS, _COPIES),
    **dict.fromkeys(_BY_NAME, _Sender()),
    **dict.fromkeys(("croc", "wormhole"), _GIVEN_AWAY),
}
# What a forge's client publishes; `gh secret set -f .env` keeps a secret, and is left alone.
_PUBLISHED: Mapping[tuple[str, str], _Sender] = {
    **dict.fromkeys((("gh", "gist"), ("gh", "release"), ("glab", "snippet")), _GIVEN_AWAY),
    ("az", "storage"): _Sender(frozenset({"-f", "--file", "-s", "--source"}), is_outward=True),
    **dict.fromkeys(
        (("gh", "issue"), ("gh", "pr"), ("gh", "api"), ("glab", "issue"), ("glab", "mr")),
        _Sender(frozenset({"-F", "--body-file", "--input"}), is_outward=True),
    ),
}
SENDING_PROGRAMS = frozenset({*_SENDERS, *(program for program, _ in _PUBLISHED), "find", "fd", "dev/tcp", "dev/udp"})
"""What a text in lower case names where one of its commands may send something."""
_HEADERS = frozenset({"-H", "--header", "-u", "--user", "-b", "--cookie", "--oauth2-bearer", "-A", "--user-agent"})
_PACKERS = frozenset({"tar", "zip", "pg_dump", "mysqldump"})
_MAKES_COPIES = _PACKERS | {"cp", "mv", "ln", "install", "7z", "gpg", "openssl", "rsync", "ditto"}
_NAMED_FILE = regex(r"(?:^|[=@<:])[@<]?([^@<=:]+)$")
_AT = regex(r"(?:^|[=\w\]])[@<]|^(?:FILE|OPEN|GOPEN):")
_DEVICE = regex(r"/dev/(?:tcp|udp)/([\w.-]+)/")
_REMOTE = regex(r"\w+://([\w.-]+)|(?:[\w.-]+@)?([\w.-]+):")
_SOCKET = regex(r"^(?:TCP|UDP|OPENSSL|SSL)[46]?:", re.IGNORECASE)
_VARIABLE = regex(r"\$\{?(\w+)")


def sent_by(commands: Sequence[SimpleCommand]) -> Iterator[SafetyFinding]:
    """What commands send, in order."""
    flow = _Flow()
    for command in commands:
        yield from flow.sent(command)
        flow.follow(command)


class _Flow:
    """Where secrets are, from command to command: in files, in variables and in the pipe."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.variables: set[str] = set()
        self.known: dict[str, str] = {}
        self.piped: list[SimpleCommand] = []

    def sent(self, command: SimpleCommand) -> Iterator[SafetyFinding]:
        """What one command sends, with what comes to it through a pipe."""
        if command.program in ("find", "fd"):
            command = _executed(command)
        words = written_words(command)
        if words[:1] == ("busybox",):
            words = words[1:]
        yield from self._forked(command, words)
        sender = _sender_of(words)
        device = _DEVICE.search(command.source)
        if not words or (sender is None and device is None):
            return
        is_outward = is_outside(device[1]) if device else self._is_outward(words, sender)
        if not is_outward:
            return
        shown = " | ".join(each.source or each.text() for each in (*self.piped, command))
        given = [*self.piped, *([command] if device else [])]
        if any(map(self.reveals, given)) or any(map(is_store, given)) or self._carries(words, command, sender):
            yield finding("sends/secrets", shown)
        elif "$(tar" in "".join(words) or (words[0] != "ssh" and any(each.program in _PACKERS for each in self.piped)):
            yield finding("sends/files", shown)

    def _forked(self, command: SimpleCommand, words: Sequence[str]) -> Iterator[SafetyFinding]:
        """What is sent by the commands that read what this one writes: `tee >(nc a.example 44)`."""
        for word in words if command.program == "tee" else ():
            if word.startswith(">("):
                fork = _Flow()
                fork.piped = [*self.piped, command]
                for inner in simple_commands(word[2:].removesuffix(")")):
                    yield from fork.sent(inner)

    def follow(self, command: SimpleCommand) -> None:
        """Note where a command puts what is secret."""
        words = written_words(command)
        is_source = self.reveals(command) or any(map(self.reveals, self.piped))
        if is_source:
            self.files |= {_file(each) for each in command.writes}
            if command.program in _MAKES_COPIES or command.program == "tee":
                self.files |= {_file(word) for word in words[1:] if not word.startswith("-")}
            if command.program in ("for", "read"):
                self.variables |= set(words[1:2])
        for name, value in assigned(command).items():
            self.known[name] = value
            if self._is_revealed(value):
                self.variables.add(name)
        self.piped = [*self.piped, command] if command.after in PIPES else []

    def reveals(self, command: SimpleCommand) -> bool:
        """Whether a command prints a secret, or works on a file that holds one."""
        return is_private(command) or any(self._is_held(word) for word in (*command.words[1:], *command.inputs))

    def _is_held(self, word: str) -> bool:
        named = _NAMED_FILE.search(word)
        return bool(self.files) and named is not None and _file(named[1]) in self.files

    def _is_revealed(self, word: str, *, is_header: bool = False) -> bool:
        """Whether a word has a secret in it, by substitution or by variable."""
        inner = list(substituted(word))
        if any(map(self.reveals, inner)) or any(match[1] in self.variables for match in _VARIABLE.finditer(word)):
            return True
        return not is_header and any(map(is_store, inner))

    def _is_outward(self, words: Sequence[str], sender: _Sender | None) -> bool:
        program = words[0].rpartition("/")[2].lower()
        if sender is None or sender.is_outward:
            return sender is not None
        if program in _COPIERS:
            paths = _paths(words)
            return len(paths) > 1 and _is_remote(paths[-1])
        if program in WEB_CLIENTS:
            fetch = fetch_of(words, self.known)
            return fetch is not None and (bool(fetch.address) or any(map(_is_address, words)))
        return any(map(_is_place, words[1:]))

    def _carries(self, words: Sequence[str], command: SimpleCommand, sender: _Sender | None) -> bool:
        if sender is None:
            return False
        program = words[0].rpartition("/")[2].lower()
        fed = () if program in _BY_NAME and not _VARIABLE.search(" ".join(words)) else command.inputs
        if any(SECRET_FILE.search(each) or self._is_held(each) or self._is_revealed(each) for each in fed):
            return True
        hosts = outside_hosts(" ".join(words))
        return any(
            self._is_sent(option, value, sender, hosts)
            for option, value in _given(words, sender.files)
            if not (program in _COPIERS and _REMOTE.match(value))
        )

    def _is_sent(self, option: str, value: str, sender: _Sender, hosts: Sequence[str]) -> bool:
        if option in _HEADERS:
            return self._is_revealed(value, is_header=True)
        if option in sender.keeps:
            return False
        if self._is_revealed(value) or any(_is_foreign(each[1], hosts) for each in SECRET_VARIABLE.finditer(value)):
            return True
        is_file = option in sender.files or bool(_AT.search(value)) or (sender.sends_words and "://" not in value)
        return is_file and (bool(SECRET_FILE.search(value)) or self._is_held(value)) and "@example" not in value


def _sender_of(words: Sequence[str]) -> _Sender | None:
    if not words:
        return None
    program = words[0].rpartition("/")[2].lower()
    return _SENDERS.get(program) or (_PUBLISHED.get((program, words[1])) if len(words) > 1 else None)


def _paths(words: Sequence[str]) -> list[str]:
    """Where a copy goes from and to: its words without options, and without the values of those with two dashes."""
    pairs = itertools.pairwise(words)
    return [word for before, word in pairs if not word.startswith("-") and not before.startswith("--")]


def _given(words: Sequence[str], files: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The values among the words: the option before it (or empty), and the value itself.

    An option may hold its value: `--post-file=x`, or `-Tx` where `-T` takes a file.
    """
    before = ""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            yield name, value
        elif word[:2] in files and len(word) > 2:
            yield word[:2], word[2:]
        elif not word.startswith("-") or "@" in word or "$" in word:
            yield before, word
        before = word if word.startswith("-") else ""


def _is_place(word: str) -> bool:
    """Whether a word names a host outside, as `nc a.example 44`, `user@a.example:` and `-connect a.example:443` do."""
    bare = without_substitutions(word)
    if "://" in bare:
        return bool(outside_hosts(bare))
    host = _SOCKET.sub("", bare).partition(":")[0].rpartition("@")[2]
    return bool(outside_hosts(f"{host}/x"))


def _is_address(word: str) -> bool:
    return bool(outside_hosts(f"{word}x" if word.endswith("/") else word))


def _is_remote(word: str) -> bool:
    """Whether the last word of a copy is elsewhere; a name without a dot is a neighbour's, or one of rclone's."""
    match = _REMOTE.match(word)
    if match is None:
        return False
    return word.startswith(("s3:", "gs:")) or is_outside(match[1] or match[2] or "")


def _executed(command: SimpleCommand) -> SimpleCommand:
    """`find … -exec curl -T {} … ;` as the command that runs, with the folder and the pattern of names for the file."""
    words = command.words
    at = next((at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-x")), None)
    if at is None:
        return command
    named = [words[i + 1] for i in range(at - 1) if words[i] in ("-name", "-iname", "-path")]
    pattern = "/".join([*words[1:2], *named])
    return replace(command, words=tuple(word.replace("{}", pattern) for word in words[at + 1 :]), source="")


def _is_foreign(variable: str, hosts: Sequence[str]) -> bool:
    """Whether a secret goes to somebody else's service: its name does not name the host."""
    owner = variable.lower().partition("_")[0]
    return not any(len(owner) > 2 and owner in host for host in hosts)


def _file(path: str) -> str:
    return path.removeprefix("./")
