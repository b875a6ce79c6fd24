"""Where secrets lie: files, variables, stores and the environment, as commands name them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from agent_wiki.shell.simple_commands import SimpleCommand, simple_commands
from agent_wiki.shell.syntax import DECLARES, plain_words, shell_line
from agent_wiki.trajectory.lazily import regex

SECRET_FILE = regex(
    r"(?:\.ssh\b(?!/(?:\S*\.pub|known_hosts|authorized_keys)\b)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub\b)"
    r"|\.aws\b|\.gnupg|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials|\.kube/config"
    r"|\.docker/config|(?<![\w.])\.env(?:\.\w+)?\b(?!\.(?:example|sample|template))(?<!\.example)(?<!\.sample)"
    r"(?<!\.template)|credentials?\b(?:\.\w+)?|/etc/(?:passwd|shadow)"
    r"|secrets?\.(?:ya?ml|json|toml|env)|\bkeychain\b|login data|\.config/(?:gh|gcloud|credentials)"
    r"|\b(?:get-childitem|gci|dir)\s+env:|\.claude/|\.codex/auth|wallet|\.\w*_history\b)",
    re.IGNORECASE,
)
SECRET_VARIABLE = regex(
    r"(?:\$\{?|%|\$env:)(\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY"
    r"|CREDENTIALS?|DATABASE_URL)\w*)",
    re.IGNORECASE,
)
_SECRET_STORE = regex(
    r"^(?:kubectl get secrets?|kubectl config view .*--raw|gh auth token|vault (?:kv get|read)|op read|pass show"
    r"|aws configure export|security (?:find|dump)|gpg2? .*--export-secret)"
)
_WHOLE_ENVIRONMENT = frozenset({"env", "printenv", "set", "export", "declare"})
_SUBSTITUTION = regex(r"\$\(((?:[^()]|\([^()]*\)){1,400})\)|`([^`]{1,400})`")
_SAYS_NOTHING = frozenset(
    {"basename", "dirname", "wc", "stat", "sha256sum", "md5sum", "shasum", "realpath", "test", "rm",
     "chmod", "touch", "mkdir", "cd", "which", "ssh-keygen", "ssh-add", "ssh-copy-id"}
)  # fmt: skip
_ASSIGNED = regex(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = regex(r"\$\{?\w+\}?|\{\}")
_LEFT_OUT = frozenset({"--exclude", "--exclude-from", "--ignore", "-x"})


def written_words(command: SimpleCommand) -> tuple[str, ...]:
    """The words of a command with their substitutions as written; of assignments alone, these."""
    if not command.source or (command.words and not any("$_" in word for word in command.words)):
        return command.words
    steps = shell_line(command.source).steps
    words = [word.value for word in plain_words(steps[0].words)] if steps else []
    return tuple(words[-len(command.words) :])


def assigned(command: SimpleCommand) -> dict[str, str]:
    """The variables that a command sets, with their values; those before a program are that program's alone."""
    if command.words and command.words[0] not in DECLARES:
        return {}
    words = written_words(command)
    return {match[1]: match[2] for word in words if (match := _ASSIGNED.match(word))}


def is_environment(command: SimpleCommand) -> bool:
    """Whether a command prints the whole environment."""
    return command.program == "printenv" or (command.program in _WHOLE_ENVIRONMENT and len(command.words) == 1)


def is_private(command: SimpleCommand) -> bool:
    """Whether a command prints the environment, what was typed, or a file with secrets."""
    if command.program in _SAYS_NOTHING:
        return False
    words = written_words(command)
    named = [word for before, word in itertools.pairwise(words) if before not in _LEFT_OUT]
    shown = " ".join((*(word for word in named if not word.startswith("--exclude=")), *command.inputs))
    return command.program == "history" or is_environment(command) or bool(SECRET_FILE.search(shown))


def is_store(command: SimpleCommand) -> bool:
    """Whether a command prints a secret out of the store that keeps it."""
    return bool(_SECRET_STORE.match(" ".join(command.words)))


def substituted(word: str) -> Iterator[SimpleCommand]:
    """The commands whose output is part of a word."""
    for match in _SUBSTITUTION.finditer(word):
        inner = match[1] or match[2]
        if inner.lstrip().startswith("<"):  # the shell's own `cat`
            inner = f"cat {inner.lstrip()}"
        yield from simple_commands(inner)


def without_substitutions(word: str) -> str:
    """A word with a letter in place of each substitution, variable and `{}`, to read the rest of a host's name."""
    return _VARIABLE.sub("x", _SUBSTITUTION.sub("x", word))
