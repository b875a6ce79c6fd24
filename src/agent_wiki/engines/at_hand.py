"""Which engines that read more out of sessions than rules do could be named here, by path and environment alone."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

_PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini"}
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def engines_at_hand(environment: Mapping[str, str]) -> dict[str, str]:
    """Engine → what shows that it could be asked. No program is started, and whether it is logged in is not known."""
    path = environment.get("PATH")
    found = {
        name: f"`{program}` is installed" for name, program in _PROGRAMS.items() if shutil.which(program, path=path)
    }
    key = next((each for each in _KEYS if environment.get(each)), None)
    return found | ({"anthropic": f"{key} is set"} if key else {})


def hint(environment: Mapping[str, str]) -> str:
    """One line for who named no engine; "" where none is at hand."""
    found = engines_at_hand(environment)
    if not found:
        return ""
    named = ", ".join(f"{name} ({reason})" for name, reason in found.items())
    return (
        f"hint: rules read these sessions; a model finds more, by --engine {named}; add --estimate to see what it asks"
    )
