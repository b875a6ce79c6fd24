"""A wiki of any size: the records of n sessions with four guidelines each, which no page was rendered from yet."""

from __future__ import annotations

from pathlib import Path

from agent_wiki.pages.guideline import EXTRACT_GUIDELINES, GuidelineEntry
from agent_wiki.pages.sessions import SUMMARIZE, Arc, NotedTurn, Outcome
from agent_wiki.pages.support import Evidence
from agent_wiki.stages.synthesize_skill import STAGE as SYNTHESIZE_SKILL
from agent_wiki.wiki.layout import CONFIG, content_id
from agent_wiki.wiki.records import MadeBy, RecordingIdentity, SessionRecord, StageRecord, record_path, record_text
from agent_wiki.wiki.store import WikiFolder
from agent_wiki.wiki.templates import Templates

GUIDELINES_PER_SESSION = 4
_TOOLS = ("pytest", "cargo", "go", "npm", "git", "docker", "kubectl", "terraform", "gradle", "bazel", "ruff", "psql")
_TOPICS = ("cache", "proxy", "timeout", "locale", "fixture", "branch", "schema", "token", "volume", "header", "index")
_OUTCOMES: tuple[Outcome, ...] = ("success", "failure", "unknown", "success")


def generate(root: Path, sessions: int, first: int = 0) -> int:
    """Write what the stages on sessions learn, and no page. Returns the number of pages to come.

    The sessions are those numbered from `first` on.
    """
    folder = WikiFolder(root)
    folder.write_text(CONFIG, Templates().render("config.yaml"))
    for number in range(first, first + sessions):
        record = generated_record(number)
        folder.write_text(record_path(record.session_id), record_text(record))
    return sessions * (1 + GUIDELINES_PER_SESSION)


def generated_record(number: int) -> SessionRecord:
    """The record of the n-th session."""
    session_id = f"{number:08x}-0000-4000-8000-{number * 7919 % 10**12:012d}"
    guidelines = tuple(_guideline(number, position) for position in range(GUIDELINES_PER_SESSION))
    answers = {SUMMARIZE: (_arc(number),), EXTRACT_GUIDELINES: guidelines, SYNTHESIZE_SKILL: ()}
    return SessionRecord(
        session_id=session_id,
        agent="claude-code",
        recording=RecordingIdentity(f"{session_id}.jsonl", "claude-code", f"{number:064x}"),
        lineage=f"{number:012x}",
        date=f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}",
        turns=60,
        characters=90_000,
        request_terms=(_TOPICS[number % 11], _TOOLS[number % 12], f"service-{number % 997}", "fix"),
        stages={
            stage: StageRecord(MadeBy(stage, "offline", f"sha256:{number:064x}"), answer)
            for stage, answer in answers.items()
        },
    )


def _arc(number: int) -> Arc:
    return Arc(
        goal=f"Fix the {_TOPICS[number % 11]} of service {number % 997}",
        outcome=_OUTCOMES[number % 4],
        last_turn=60,
        narrative="The user asked for it; the agent ran the checks and changed two files.",
        key_turns=(NotedTurn(1, "the request"),),
        tool_calls=10 + number % 40,
        errors=number % 5,
        dead_end_paths=number % 2,
        tools_used=("Bash", "Read", "Edit"),
        wiki_consulted=number % 3 == 0,
    )


def _guideline(number: int, position: int) -> GuidelineEntry:
    tool, topic = _TOOLS[(number + position) % 12], _TOPICS[(number * 3 + position) % 11]
    rule = f"Run `{tool} --{topic}={number % 4999}` before step {position} of service {number % 997}."
    return GuidelineEntry(
        id=content_id(f"{rule} {number}"),
        title=f"Set the {topic} of {tool} {number}",
        rule=rule,
        trigger=f"`{tool}` stops with `{topic}` not set.",
        rationale=f"`{tool}` failed at first and passed once `{topic}` was given.",
        tags=tuple(sorted((tool, topic))),
        evidence=tuple(
            Evidence(turn, f"{tool}: error: {topic} {number} at {turn}", "tool")
            for turn in (5 + position, 9 + position)
        ),
    )
