"""An outcome together with what shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from agent_wiki.engines.offline.acts import Act, distinct
from agent_wiki.engines.offline.changes import is_data, is_unchecked
from agent_wiki.engines.offline.tables import table, written
from agent_wiki.engines.offline.wording import called, called_as_passed, error_words, listing
from agent_wiki.pages.sessions import Outcome
from agent_wiki.shell.result_lines import last_line
from agent_wiki.stages.call_effects import asked_in
from agent_wiki.trajectory.lazily import dataclass, regex

Basis = Literal[
    "recorded",  # a verdict or a reward in the recording
    "check",  # tests, builds, linters after the last change
    "cluster",  # the state of the machinery after the last change
    "user",  # the user's own words
    "shipped",  # the commit, push or release the user asked for went through
    "done",  # a commit, or commands that did what was asked, reported by the agent
    "refused",  # the commit, push or release at the end did not go through
    "delivered",  # the answer, the review or the document that was asked for
    "left-open",  # the agent's own report says what is missing
    "stopped",  # the user stopped the agent before it came to an end
    "declined",  # the user refused its last change
    "not-allowed",  # each edit waited for a permission that never came
    "in-vain",  # every call failed
    "reverted",  # the user had the changes reverted
    "read-back",  # the file that was asked for shows what was written
    "cut-off",  # the run did not come to an end
    "unfinished",  # the recording ends before the user's last request was met
    "graded",  # handed over to a grader whose verdict is not recorded
    "unrun",  # made, and its check cannot be run there
    "unchecked",  # made, and nothing shows whether it holds
    "nothing",
]


_STANDS_FOR = regex(r"\b(?:NAMES|LAST|RAN)\b| PRINTED\b")
_MOST_PRINTED = 80  # characters
_NO_CHECK = written("tidies_up")
_KINDS = ("look", "run", "service", "probe", "check")  # the later, the more it may show


@dataclass(frozen=True, slots=True)
class Shown:
    """An outcome, what it is based on, and where it can be seen. `act` is the check or the commit behind it."""

    outcome: Outcome
    basis: Basis
    turn: int | None = None
    quote: str | None = None
    act: Act | None = None
    passed: tuple[Act, ...] = ()
    failed: tuple[Act, ...] = ()

    def reason(self, changed: Mapping[str, int], acts: Sequence[Act]) -> str:
        """What the outcome rests on, as a clause. In: the changed files of the work, each with its turn; all acts."""
        reasons = table("words")["outcome_reasons"]
        code = [path for path in changed if not is_unchecked(path)]  # what a check may be about
        what = "changed" if any(not is_data(path) for path in code) else "written" if changed else "unchanged"
        unnamed = max((act.turn for act in acts if act.is_of_unnamed_file), default=0)
        latest = max([unnamed, *changed.values()])
        last = max([unnamed, *(changed[path] for path in (code if what == "changed" else changed))])
        shown = self.failed or self.passed or ((self.act,) if self.act else ())
        if self.basis == "unchecked" and changed:
            went = [act for act in acts if act.has_worked or act.has_failed or act.is_unrecorded]
            after = [act for act in went if asked_in(act.call).turn > last and act.kind in _KINDS]
            idle = [act for act in after if _shows_nothing(act)]
            ran = [act for act in after if act.kind != "look" and act not in idle]
            shown = tuple(sorted(ran, key=lambda act: (not act.has_failed, _KINDS.index(act.kind)))[-1:])
            only_looks = all(act.kind == "look" for act in after) and last == latest
            only_looks &= not any(act.turn > last and act.kind in ("edit", "delete") and act.has_worked for act in acts)
            is_mixed = any(act.turn > last and act.kind == "delete" and not _shows_nothing(act) for act in went)
            what = "looked" if after and only_looks else "mixed" if is_mixed else what
            if shown:
                held = shown[0].kind == "check" and shown[0].verdict.has_passed
                what = "failed" if shown[0].has_failed else "held" if held else "ran"
        own = f"{self.basis}-{self.outcome}-{what}"
        reason = next((reasons[key] for key in (own, own.rpartition("-")[0], self.basis) if key in reasons), "")
        line = last_line(shown[-1].call.result or "") if what in ("ran", "failed") and _is_one(shown[-1]) else ""
        printed = error_words(line, _MOST_PRINTED)
        stands_for = {
            " PRINTED": f" and printed {printed}" if printed else "",
            "NAMES": listing(distinct([called(act) if self.failed else called_as_passed(act) for act in shown]), 3),
            "LAST": f"{'of code ' if last < latest else ''}(T{last})",
            "RAN": f"T{shown[-1].end}" if shown else "",
        }
        return _STANDS_FOR.sub(lambda word: stands_for[word[0]], reason)


def _is_one(act: Act) -> bool:
    """Whether a single command of a call did more than look: of several nothing says which printed the end."""
    return sum(kind != "look" for kind in act.kinds) <= 1


def _shows_nothing(act: Act) -> bool:
    """Whether all of a call's commands, or the tool itself, tidy up, send or list: nothing of the work shows in it."""
    return all(_NO_CHECK.match(name) for name in [each.text() for each in act.commands] or [act.call.name])
