"""discover-tasks: all summaries → a comparison page for each family of sessions, subtask pages for a few sessions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from agent_wiki.engine import Answer, Engine, Problem, side_by_side
from agent_wiki.errors import AnswerRejected, Unanswered
from agent_wiki.pages.compare.families import Family, FamilyRule, Override, beginning_of, families, words_in_order
from agent_wiki.pages.compare.family_figures import countable
from agent_wiki.pages.compare.similarity import stem, strength, tokens
from agent_wiki.pages.compare.views import SessionView
from agent_wiki.pages.rejected import is_rejected_task
from agent_wiki.pages.sessions import ENDINGS
from agent_wiki.pages.state import WikiView
from agent_wiki.stages.corpus_result import CorpusResult, changed_entries
from agent_wiki.stages.corpus_views import session_views
from agent_wiki.stages.summarize import TurnNote
from agent_wiki.trajectory.digests import sha256_of
from agent_wiki.trajectory.lazily import dataclass, regex
from agent_wiki.wiki.config import TASKS, Config, is_stage_made
from agent_wiki.wiki.layout import MOST_SLUG_CHARACTERS, slug
from agent_wiki.wiki.text import plain_line
from agent_wiki.wiki.values import texts_of

STAGE = "discover-tasks"
MOST_FINDINGS = 6

_SLUG_WORDS = 6
_FEWEST_KEY_TURNS = 3
_FEWEST_NEW_WORDS = 5  # of a subtask's narrative, which its session's summary does not use
_LONG_CALLS = 40  # long debugging: this many calls, with failures and abandoned attempts, and it worked in the end
_LONG_ERRORS = 8
_LONG_DEAD_ENDS = 2
# Not: a count out of something other than sessions.
_COUNTED = regex(
    r"(?<![\d.,])(\d{1,6}) (?:out )?of (?:the |all |these )?(\d{1,6})(?![\d.,]\d|\d)"
    r"(?! (?:\w+ )?(?:calls|turns|tests|checks|steps|files|rows|lines|errors|points)\b)"
    r"(?: (?:sessions |trials )?(?:that|which) (succeeded|did not|failed)\b)?"
)
_COUNTER_ID = re.compile(r"(?:\w{1,40}/)?[a-z]*[-_]?\d{1,4}|[0-9a-f-]{16,}", re.IGNORECASE)


class TaskAnswer(Answer):
    """What is to be said of one family of sessions."""

    title: str = Field(min_length=1, max_length=120, description="What the sessions attempted, in a few words.")
    intro: str = Field(min_length=1, description="One or two sentences: the task, and how the family was found.")
    findings: list[str] = Field(
        default_factory=list,
        max_length=MOST_FINDINGS,
        description="What set the successful sessions apart, each with the counts or medians that show it. Compare "
        "what they changed, tool names first, then arguments. Never what is equal in all, never the table again. "
        "Empty when nothing measured separates them.",
    )
    tags: list[str] = Field(min_length=1, max_length=6, description="Short, stable, lower case, dashes.")


class SubtaskAnswer(Answer):
    """One session worth reading on its own."""

    slug: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=MOST_SLUG_CHARACTERS, description="kebab-case.")
    title: str = Field(min_length=1, max_length=120, description="What the session did, in a few words.")
    parent_session_id: str = Field(description="The id of the session asked about, as shown.")
    narrative: str = Field(min_length=1, description="At most 250 words; starts with what the session shows.")
    key_steps: list[TurnNote] = Field(min_length=1, max_length=8, description="Some of the key turns shown.")


class SubtasksAnswer(Answer):
    """The subtask that one session makes, or none."""

    subtasks: list[SubtaskAnswer] = Field(default_factory=list, max_length=1)


@dataclass(frozen=True, slots=True)
class TaskQuestion:
    """Asks what set the successful sessions of one family apart."""

    family: Family
    stage: str = STAGE
    answer_type: type[TaskAnswer] = TaskAnswer

    def fields(self) -> dict[str, Any]:
        return {
            "sessions": self.family.sessions,
            "shared_terms": self.family.shared_terms,
            "task_id": self.family.task_id,
            "name": self.family.name,
        }

    def problems(self, answer: TaskAnswer) -> list[Problem]:
        """Malformed tags, findings that measure nothing, and counts out of more or fewer sessions than there are."""
        faults = _faults_of_findings(answer, self.family)
        return [*_faults_of_tags(answer), *(Problem(f"findings.{number}", reason) for number, reason in faults.items())]


@dataclass(frozen=True, slots=True)
class SubtaskQuestion:
    """Asks for the page of one session that shows its condition best or succeeded after long debugging.

    `peers` are the sessions of the same family and condition, itself included.
    """

    session: SessionView
    reason: Literal["condition", "debugging"]
    peers: tuple[SessionView, ...] = ()
    stage: str = STAGE
    answer_type: type[SubtasksAnswer] = SubtasksAnswer

    def fields(self) -> dict[str, Any]:
        return {"session": self.session, "reason": self.reason, "peers": self.peers}

    def problems(self, answer: SubtasksAnswer) -> list[Problem]:
        """What of the subtasks is about another session, or what its summary does not bear or says already."""
        return [problem for each in answer.subtasks for problem in _faults_of_subtask(each, self.session)]


@dataclass(frozen=True, slots=True)
class Task:
    """One family with its page's slug and the checked answer."""

    slug: str
    family: Family
    answer: TaskAnswer


@dataclass(frozen=True, slots=True)
class Discovered:
    """What the stage found. `rejected` are full sentences about answers that a check rejected.

    `unanswered` pairs what an engine said about a question with the family's slug, or the session's id of a subtask.
    """

    tasks: tuple[Task, ...]
    subtasks: tuple[SubtaskAnswer, ...]
    rejected: tuple[str, ...]
    unanswered: tuple[tuple[Unanswered, str], ...] = ()


def representative_session(family: Family) -> SessionView:
    """The session whose goal has most of the words that all share; the earliest of equals."""
    shared = {stem(term) for term in family.shared_terms}

    def shares(session: SessionView) -> int:
        return len(words_in_order(session.goal, shared))

    return max(family.sessions, key=lambda session: (shares(session), -family.sessions.index(session)))


def family_slug(family: Family) -> str:
    """A page name from what names the family best: the owner, a descriptive task id, else the words all share.

    All are the first three sessions, so that the page keeps its name when later ones come.
    """
    family = beginning_of(family)
    if family.name:
        return slug(family.name)
    if family.task_id and not _COUNTER_ID.fullmatch(family.task_id):
        return slug(family.task_id)
    strong = [term for term in family.shared_terms if strength(term)]
    chosen = [term for term in strong if not any(each.isdigit() for each in term)][: 2 * _SLUG_WORDS] or strong
    words = words_in_order(representative_session(family).goal, chosen)[:_SLUG_WORDS]
    words += [term for term in chosen if term not in words][: max(0, 3 - len(words))]
    return slug(" ".join(words) or f"task {family.task_id or family.sessions[0].session_id}")


def distinct_slugs(wanted: Iterable[tuple[str, str]]) -> list[str]:
    """A slug for each `(slug, what makes it unique)`: the first keeps it, others get a hash appended."""
    taken: set[str] = set()
    given = []
    for name, unique in wanted:
        if name in taken:
            made = sha256_of(unique)[:6]
            name = f"{slug(name, MOST_SLUG_CHARACTERS - 7)}-{made}"
        taken.add(name)
        given.append(name)
    return given


def subtask_questions(sessions: Iterable[SessionView], found: Sequence[Family]) -> list[SubtaskQuestion]:
    """The few sessions worth a page: a condition's best success, and long debugging that worked."""
    questions: dict[str, SubtaskQuestion] = {}
    for family in found:
        by_condition: dict[str, list[SessionView]] = defaultdict(list)
        for session in family.sessions:
            if session.condition:
                by_condition[session.condition].append(session)
        if len(by_condition) < 2:
            continue
        for condition in sorted(by_condition):
            peers = tuple(by_condition[condition])
            won = [peer for peer in peers if peer.outcome == "success" and peer.tool_calls and _has_a_story(peer)]
            if won:
                best = min(won, key=lambda peer: (peer.tool_calls or 0, peer.session_id))
                questions[best.session_id] = SubtaskQuestion(best, "condition", peers)
    for session in sessions:
        if session.session_id not in questions and _is_long_debugging(session):
            questions[session.session_id] = SubtaskQuestion(session, "debugging")
    return [questions[session_id] for session_id in sorted(questions)]


def _has_a_story(session: SessionView) -> bool:
    return bool(session.narrative) and len(session.key_turns) >= _FEWEST_KEY_TURNS


def _is_long_debugging(session: SessionView) -> bool:
    return (
        session.outcome == "success"
        and _has_a_story(session)
        and (session.tool_calls or 0) >= _LONG_CALLS
        and (session.errors or 0) >= _LONG_ERRORS
        and (session.dead_ends or 0) >= _LONG_DEAD_ENDS
    )


def check_task(answer: TaskAnswer, family: Family) -> TaskAnswer:
    """The answer without findings that measure nothing or miscount. Raises `AnswerRejected` for a malformed tag."""
    _raise_first(_faults_of_tags(answer))
    faults = _faults_of_findings(answer, family)
    measured = [finding for number, finding in enumerate(answer.findings) if number not in faults]
    return answer.model_copy(update={"findings": list(dict.fromkeys(measured))})


def _raise_first(problems: Iterable[Problem]) -> None:
    for each in problems:
        raise AnswerRejected(each.reason, place=each.place)


def _faults_of_tags(answer: TaskAnswer) -> list[Problem]:
    is_formed = all(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", tag) for tag in answer.tags)
    return [] if is_formed else [Problem("tags", "not lower case with dashes")]


def _faults_of_findings(answer: TaskAnswer, family: Family) -> dict[int, str]:
    """Position of a finding that is dropped → why: it measures nothing, or counts sessions that are not there."""
    outcomes = [session.outcome for session in family.sessions]
    won = outcomes.count("success")
    sides = {"succeeded": won, "did not": len(outcomes) - won, "failed": len(outcomes) - won, "": len(outcomes)}
    sizes = countable(family.sessions)
    found: dict[int, str] = {}
    for number, finding in enumerate(answer.findings):
        if not any(character.isdigit() for character in finding):
            found[number] = "it has no number, so it measures nothing"
        for part, whole, side in _COUNTED.findall(finding):
            if int(part) > int(whole) or int(whole) not in sizes or int(whole) > sides[side]:
                found[number] = f"{part} of {whole}: the table has no such group of {whole} sessions"
    return found


def check_subtask(answer: SubtaskAnswer, session: SessionView) -> SubtaskAnswer:
    """Raises `AnswerRejected` when the answer is about another session, cites a turn that its summary does not, or

    says nothing that its summary does not say.
    """
    _raise_first(_faults_of_subtask(answer, session))
    return answer


def _faults_of_subtask(answer: SubtaskAnswer, session: SessionView) -> Iterator[Problem]:
    if answer.parent_session_id != session.session_id:
        yield Problem("parent_session_id", f"{answer.parent_session_id!r} is not {session.session_id!r}")
    turns = {turn for turn, _ in session.key_turns}
    for turn in sorted({step.turn for step in answer.key_steps} - turns):
        yield Problem("key_steps", f"turn {turn} is not in the summary of {session.session_id}")
    if len(_new_words(answer.narrative, session)) < _FEWEST_NEW_WORDS:
        yield Problem("narrative", f"it says nothing that the summary of {session.session_id} does not")


def _new_words(narrative: str, session: SessionView) -> set[str]:
    """The words of a subtask's narrative that its session's summary does not use."""
    summary = " ".join([session.goal, session.narrative or "", *(text for _, text in session.key_turns)])
    return {stem(word) for word in tokens(narrative) if strength(word)} - {stem(word) for word in tokens(summary)}


def discover_tasks(
    sessions: Iterable[SessionView],
    overrides: Mapping[str, Override],
    family_match: Sequence[FamilyRule],
    engine: Engine,
) -> Discovered:
    """Find the families, ask what set their successes apart, and pick the sessions worth a page of their own.

    The same for the same set of sessions, in whatever order; nothing is read or written.
    """
    views = sorted(sessions, key=lambda session: session.session_id)
    found = families(views, overrides, family_match)
    names = distinct_slugs((family_slug(family), family.sessions[0].session_id) for family in found)
    tasks: list[Task] = []
    subtasks: list[SubtaskAnswer] = []
    rejected: list[str] = []
    unanswered: list[tuple[Unanswered, str]] = []
    answers = side_by_side(engine, [TaskQuestion(family) for family in found])
    for name, family, answered in zip(names, found, answers, strict=True):
        try:
            tasks.append(Task(name, family, check_task(answered(), family)))
        except AnswerRejected as error:
            rejected.append(f"task {name}: {error}")
        except Unanswered as error:
            unanswered.append((error, name))
    questions = subtask_questions(views, found)
    for question, answered_subtask in zip(questions, side_by_side(engine, questions), strict=True):
        try:
            subtasks += [check_subtask(answer, question.session) for answer in answered_subtask().subtasks]
        except AnswerRejected as error:
            rejected.append(f"subtask of {question.session.session_id}: {error}")
        except Unanswered as error:
            unanswered.append((error, question.session.session_id))
    slugs = distinct_slugs((each.slug, each.parent_session_id) for each in subtasks)
    renamed = (each.model_copy(update={"slug": name}) for each, name in zip(subtasks, slugs, strict=True))
    return Discovered(tuple(tasks), tuple(renamed), tuple(rejected), tuple(unanswered))


QUESTIONS: dict[str, type[Answer]] = {"task": TaskAnswer, "subtask": SubtasksAnswer}


def run(view: WikiView, engine: Engine) -> CorpusResult:
    """Compare sessions that attempted one thing. A task that a person configured is not touched."""
    config = view.state.config
    owned = {name: entry for name, entry in config.tasks.items() if not is_stage_made(entry)}
    found = discover_tasks(session_views(view), _overrides(config), _rules(owned), engine)
    unanswered = {about for _, about in found.unanswered}
    owners_names = {str(entry.get("family") or name) for name, entry in owned.items()}
    wanted = {
        task.slug: {
            "title": plain_line(task.answer.title, 120),
            "family": task.family.name or task.slug,
            "intro": plain_line(task.answer.intro, 800),
            "findings": [plain_line(finding, 500) for finding in task.answer.findings],
            "tags": list(task.answer.tags),
            "sessions": sorted(session.session_id for session in task.family.sessions),
        }
        for task in found.tasks
        if task.family.name not in owners_names and compares_something(task) and not _is_rejected(task, view)
    }
    changes = changed_entries(config.tasks, wanted, STAGE, engine, unanswered)
    waiting = frozenset(unanswered)
    return CorpusResult(TASKS, changes, found.rejected, tuple(error for error, _ in found.unanswered), waiting)


def compares_something(task: Task) -> bool:
    """Whether the page of a task has more to say than which sessions are alike.

    One that neither the owner nor a recorded id put together has, where something was found or the sessions ended
    differently.
    """
    family = task.family
    ended = {session.outcome == "success" for session in family.sessions if session.outcome in ENDINGS}
    return bool(family.name or family.task_id or task.answer.findings) or len(ended) > 1


def _is_rejected(task: Task, view: WikiView) -> bool:
    sessions = [session.session_id for session in task.family.sessions]
    return is_rejected_task(task.slug, sessions, view.state.config.rejected, view.state.corpus)


def _overrides(config: Config) -> dict[str, Override]:
    return {
        session_id: Override(
            *(None if entry.get(name) is None else str(entry[name]) for name in ("family", "trial", "condition"))
        )
        for session_id, entry in config.overrides.items()
    }


def _rules(owned: Mapping[str, dict[str, Any]]) -> list[FamilyRule]:
    """What people wrote of their families; what this stage wrote itself must not feed back."""
    rules: list[FamilyRule] = []
    for name, entry in owned.items():
        match = entry.get("family_match")
        substrings = match.get("goal_substring") if isinstance(match, dict) else None
        wanted = tuple(each for each in texts_of(substrings) if each)
        rules.append(FamilyRule(str(entry.get("family") or name), wanted))
    return rules
