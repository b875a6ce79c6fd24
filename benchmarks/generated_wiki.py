"""A wiki of any size, made through the stages' own pages: n sessions with four guidelines each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_wiki.stages import extract_guidelines
from agent_wiki.stages.catalog import catalog
from agent_wiki.trajectory.evidence import Trust
from agent_wiki.wiki.join import Contribution, join
from agent_wiki.wiki.layout import content_id, summary_path
from agent_wiki.wiki.page import Page, split_body
from agent_wiki.wiki.state import WikiState
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

GUIDELINES_PER_SESSION = 4
_TOOLS = ("pytest", "cargo", "go", "npm", "git", "docker", "kubectl", "terraform", "gradle", "bazel", "ruff", "psql")
_TOPICS = ("cache", "proxy", "timeout", "locale", "fixture", "branch", "schema", "token", "volume", "header", "index")
_OUTCOMES = ("success", "failure", "unknown", "success")


def generate(root: Path, sessions: int) -> int:
    """Write the pages as `wiki summarize` and `wiki extract-guidelines` leave them, before the sessions are joined:
    guidelines whole, summaries without backlinks, no index. Returns the number of pages.
    """
    folder, templates, state = WikiFolder(root), Templates(), WikiState()
    summaries = {}
    for number in range(sessions):
        session_id = f"{number:08x}-0000-4000-8000-{number * 7919 % 10**12:012d}"
        summaries[summary_path(session_id)] = _summary(session_id, number)
        for position in range(GUIDELINES_PER_SESSION):
            guideline_id, page = _guideline(session_id, number, position, templates)
            state.guidelines[guideline_id] = page
    state.summaries = summaries
    for path, page in catalog(state, {}, templates).pages.items():
        folder.write_page(path, summaries.get(path, page))
    return sessions * (1 + GUIDELINES_PER_SESSION)


def _summary(session_id: str, number: int) -> Page:
    made_by = {"stage": "summarize", "engine": "offline", "request": f"sha256:{number:064x}"}
    fields: dict[str, Any] = {
        "type": "episodic-summary",
        "session_id": session_id,
        "agent": "claude-code",
        "goal": f"Fix the {_TOPICS[number % 11]} of service {number % 997}",
        "outcome": _OUTCOMES[number % 4],
        "tool_calls": 10 + number % 40,
        "errors": number % 5,
        "dead_end_paths": number % 2,
        "wiki_consulted": number % 3 == 0,
        "recalled_guidelines": [],
        "tools_used": ["Bash", "Read", "Edit"],
        "sources": [f"{session_id}.jsonl"],
        "turns": 60,
        "source_format": "claude-code",
        "source_sha256": f"{number:064x}",
        "coverage": {"trajectory_characters": 90000, "seen_characters": 90000, "elided_characters": 0},
        "request_terms": [_TOPICS[number % 11], _TOOLS[number % 12], f"service-{number % 997}", "fix"],
        "lineage": f"{number:012x}",
        "mined": [{**made_by, "stage": "extract-guidelines"}, {**made_by, "stage": "synthesize-skill"}],
        "verified_at": f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}",
        "made_by": made_by,
    }
    body = f"# {fields['goal']}\n\nThe user asked for it; the agent ran the checks and changed two files.\n"
    return Page(
        fields, split_body(f"{body}\n## Key turns\n\n- T1: the request\n\n## Sources\n\n- `{session_id}.jsonl`\n")
    )


def _guideline(session_id: str, number: int, position: int, templates: Templates) -> tuple[str, Page]:
    tool, topic = _TOOLS[(number + position) % 12], _TOPICS[(number * 3 + position) % 11]
    rule = f"Run `{tool} --{topic}={number % 4999}` before step {position} of service {number % 997}."
    trust: Trust = "tool"
    evidence = tuple(
        {"session_id": session_id, "turn": turn, "quote": f"{tool}: error: {topic} {number} at {turn}", "trust": trust}
        for turn in (5 + position, 9 + position)
    )
    wording = {
        "type": "guideline",
        "title": f"Set the {topic} of {tool} {number}",
        "rule": rule,
        "trigger": f"`{tool}` stops with `{topic}` not set.",
        "rationale": f"`{tool}` failed at first and passed once `{topic}` was given.",
        "tags": sorted((tool, topic)),
    }
    guideline_id = content_id(f"{rule} {number}")
    joined = join([Contribution(session_id, wording, evidence)], lambda each: ("", each))
    return guideline_id, extract_guidelines.to_page(guideline_id, joined, templates)
