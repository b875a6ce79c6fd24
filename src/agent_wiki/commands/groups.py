"""The groups of `wiki --help`: each command with one line that fits a terminal of 80 columns.

A command belongs to one group, and a test refuses one that is in none or whose line would be cut. Those of stages come
from the stages themselves.
"""

from __future__ import annotations

from agent_wiki.stages.order import STAGES

GROUPS: dict[str, dict[str, str]] = {
    "Build": {
        "ingest": "Run all stages: recordings in, wiki out",
        "init": "Create an empty wiki, or copy its templates to it",
        **{stage.name: stage.line for stage in STAGES},
        "join": "Add other wikis' sessions, or shards, to this one",
        "normalize": "Write recordings as normalized trajectories",
        "worklist": "List the open questions, for an agent to answer",
        "prompt": "Print a question as an engine gets it",
        "apply": "Check an answer and write its pages",
    },
    "Read": {
        "consult": "Find the pages that apply to what you are about to do",
        "site": "Make a web site of the wiki that opens from disk",
        "serve": "Show the wiki's site on this machine",
        "view": "Open one page of the wiki in a browser",
        "why": "Show the recorded turns that a page is based on",
        "rules": "List the embedded engine's rules and what each made",
        "dump": "Print the guidelines or summaries as JSON",
        "report": "Show what is new since a revision in git",
        "status": "Show what is here, what changed, what waits",
        "schema": "Print the JSON Schema of what --json prints",
    },
    "Connect": {
        "connect": "Have an agent consult the wiki and save its sessions",
        "plugin": "Make the wiki a plugin that agents install",
        "skills": "Agent Skills that show how to build and read a wiki",
        "mcp": "Serve the wiki over the Model Context Protocol",
        "hook": "What a connected agent's harness calls",
        "save": "Save a finished session as a file of the project",
    },
    "Measure": {
        "eval": "Measure sessions, compare arms of an experiment",
        "cost": "Show the cost of asking models",
        "models": "Show which model each stage asks, and its price",
    },
    "Maintain": {
        "doctor": "Check the installation, each problem with its cure",
        "tail": "Follow what hooks and nightly runs do",
        "review": "List the pages that need a look",
        "release": "Publish pages that are held back",
        "keep": "Make pages yours: no run writes over them",
        "restore": "Render pages again as the sessions have them",
        "reject": "Retire pages for good",
        "forget": "Take sessions out, with all that only they contained",
        "config": "Show, set and check the wiki's configuration",
        "check": "Check the wiki, line by line, and mend it",
        "secrets": "Find live-looking secrets in recordings or a wiki",
        "redact": "Clean a wiki of secrets that it holds already",
        "lock": "Run a command while this machine alone may build",
    },
}


def line_of(command: str) -> str:
    """What `wiki --help` says of a command; empty for one that is in no group."""
    return next((lines[command] for lines in GROUPS.values() if command in lines), "")
