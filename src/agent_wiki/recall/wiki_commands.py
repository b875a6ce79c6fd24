"""The commands of `wiki`, for recognizing them in a recording. Made by `python docs/generate_commands.py`.

What reads recordings is below the commands and stages, and cannot ask them. A test compares.
"""

from __future__ import annotations

COMMANDS = frozenset(
    {"apply", "catalog", "check", "config", "connect", "consolidate-clusters", "consult", "cost",
     "discover-tasks", "doctor", "dump", "eval", "extract-guidelines", "forget", "hook", "ingest", "init",
     "join", "keep", "lock", "mcp", "models", "normalize", "plugin", "prompt", "redact", "reject", "release",
     "report", "restore", "review", "rules", "save", "schema", "secrets", "serve", "site", "skills", "status",
     "summarize", "synthesize-skill", "tail", "view", "why", "worklist"}
)  # fmt: skip
"""What the command `wiki` can do."""
MINING = frozenset(
    {"apply", "consolidate-clusters", "discover-tasks", "extract-guidelines", "ingest", "prompt", "summarize",
     "synthesize-skill"}
)  # fmt: skip
"""Those with which sessions are mined: all stages, those that ask, and what asks and answers by hand."""
