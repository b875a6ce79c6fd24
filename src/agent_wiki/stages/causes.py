"""How sure the cause in a lesson is, by what the recording shows between its event and its confirmation.

A verbatim quote shows that something was said, not why it happened. A lesson names the turn of its event, of its
remedy and of what confirms it, and code looks at the turns between: the event failed (or the user objected), the same
check passed later, and nothing else was changed meanwhile. What a later turn contradicts is no lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_wiki.shell.judged_steps import called_steps, failed_steps, passed_steps
from agent_wiki.shell.past_failure import is_read_now
from agent_wiki.shell.same_check import is_same_check
from agent_wiki.shell.simple_commands import SimpleCommand
from agent_wiki.shell.tools import is_escalated, tool_kind
from agent_wiki.shell.verdict import has_failed, verdict_of
from agent_wiki.stages.call_effects import (
    MISSING,
    TOKEN,
    asked_in,
    comparable,
    is_made_again,
    is_old_form,
    is_specific,
    is_written_otherwise,
    new_words,
)
from agent_wiki.stages.changed_between import NO_PROGRAM, RULE_OF_HOST, ChangedCase
from agent_wiki.stages.run_again import is_same_run, may_change, options_of, prepares_more
from agent_wiki.stages.same_batch import doubt_of_batch
from agent_wiki.stages.turnings import Grade, Turning
from agent_wiki.stages.user_reactions import takes_back
from agent_wiki.trajectory import Trajectory
from agent_wiki.trajectory.calls import Call
from agent_wiki.trajectory.lazily import regex

_ADVISES = regex(
    r"\b(?:try|run|use|using|hint|help|did you mean|instead|install|must|should|expected|expects?|needs?|needed"
    r"|requires?|required|available|valid|allowed|supported|replaced?|one of|add|set|enable|missing|please|specify|pass"
    r"|create|trust|want)\b",
    re.IGNORECASE,
)
_MISSES = regex(r"cannot find|not found|\bno (?:method|function|field)\b|undefined|can only be used|does not exist")
_QUOTED_NAME = regex(r"[`'‘](\w{5,60})[`'’]")
_CODE_LINE = regex(r"\s*\d{0,6} *\|")  # a compiler shows the code that it complains of
_UNREADABLE = regex(
    r"no matches found: |bad substitution|unmatched [\"'`]|parse error near|unexpected EOF while looking for matching"
    r"|event not found|syntax error near unexpected token|is not a valid statement separator"
    r"|Missing file specification after redirection"
)
_OFFERS = regex(r"\b(?:would you like me|do you want me|want me to|(?:shall|should) i)\b[^?]{0,600}\?", re.IGNORECASE)
_MOST_OFFERED = 1_200  # characters at the end of a reply
_INSTALLS = regex(r"\b(?:install|add|sync|ci|setup|use|link|PATH)\b|\b(?:brew|apt|apt-get|curl|wget)\b")
_MOST_OF_REMEDY = 40  # words
_NAMED, _KNOWN = "the failure itself names the remedy", "the remedy of this failure is a known one"
_SOON = 60  # turns: a later objection is to other work
_OTHER_SHELLS = frozenset({"powershell", "pwsh", "cmd"})
_TALLY = regex(
    r"\b\d+ (?:passed|failed|failing|errors?)\b|test failed, to rerun|could not compile|[Cc]ommand failed|exit code"
)


def _is_other_line(one: SimpleCommand, other: SimpleCommand) -> bool:
    """Whether two are lines of a shell of Windows, handed to it as a text, that are not the same."""
    return one.program.lower() in _OTHER_SHELLS and one.words != other.words


def graded(trajectory: Trajectory, turning: Turning, quotes: Iterable[tuple[int, str]]) -> Grade:
    """The grade of a lesson's cause. In: the turns it names; its quotes as `(turn, text)`, which are verbatim."""
    found = _Case(trajectory, turning, list(quotes))
    return found.of_objection() if found.is_objection else found.of_failure()


class _Case(ChangedCase):
    """One lesson before the recording."""

    @property
    def is_objection(self) -> bool:
        """The event is something that the user said or refused, or an act that cited words of the user answer."""
        if self.event is not None:
            return False
        return self.is_users_event or (self.shown is None and self.objected_at() is not None)

    def of_failure(self) -> Grade:
        """The failed check has to pass later, with nothing but the remedy changed in between."""
        if self.is_harness(self.turning.event):
            return self._of_refused_reply()
        if (called_off := self._of_batch()) is not None:
            return called_off
        event = self.event or self.shown
        if event is None:
            return self.unless_stated(f"the checks recognize no failure in T{self.turning.event}")
        against = self._contradiction(event)
        confirming = self.confirming(event)
        if confirming is None:
            what = f"what {'failed' if self.event else 'was found'} in T{asked_in(event).turn}"
            doubt = f"no later pass of {what} is named"
            if named := self.turning.confirmation:
                doubt = f"the checks do not recognize T{named} as a pass of {what}"
            return self.unless_stated(doubt, against)
        return self._of_confirmed(event, confirming, against)

    def _of_confirmed(self, event: Call, confirming: Call, against: str) -> Grade:
        went = self._went(event, confirming)
        where = f"failed in T{asked_in(event).turn}, {went} in T{asked_in(confirming).turn}"
        doubt = self._doubt(event, confirming)
        if doubt:
            return self.unless_stated(f"{where}, but {doubt}", against)
        first, second = asked_in(event), asked_in(confirming)
        if first.command() == second.command() and is_escalated(second) and not is_escalated(first):
            if changed := next(iter(self.changes(event, confirming)), None):
                return self.unless_stated(f"{where}, but T{changed.turn} changed something in between", against)
            return Grade("checked", f"{where}: the same command with leave to run outside the sandbox", against)
        if named := self._named_by_tool(event, confirming):
            return Grade("checked", f"{where}; {named}", against)
        done = list(self.changes(event, confirming))
        changes, parts = [call for call in done if not self.is_remedy(call)], sum(map(self.is_remedy, done))
        if self._is_called_otherwise(event, confirming):  # edits bring no program that is missing
            changes = [call for call in changes if _INSTALLS.search(call.command() or "")]
        elif self._is_written_otherwise(event, confirming):
            changes = []
        if changes:
            return self.unless_stated(f"{where}, but T{changes[0].turn} changed something else in between", against)
        # Of a line that could not be read every step ran unchanged: what was written otherwise is between them.
        is_rewritten = is_read_now(event, confirming) and event.command() != confirming.command()
        is_other = (first.name, first.command()) != (second.name, second.command())
        is_rewritten |= self.turning.is_known and is_other
        if parts or is_rewritten or self._differs(event, confirming):
            between = "nothing else was changed" if parts < 2 else "only the remedy was changed"
            steps = f", in {parts} steps" if parts > 1 else ""
            return Grade("checked", f"{where}; {between} in between{steps}", against)
        return Grade("asserted", f"{where} unchanged: it may have passed by itself", against)

    def _is_called_otherwise(self, event: Call, confirming: Call) -> bool:
        """A program that was not found is called in another way, and that is the remedy."""
        is_missing = MISSING.search(verdict_of(event).line) is not None
        is_remedy = self.turning.remedy == asked_in(confirming).turn
        pairs = self.answers(event, confirming) if is_missing and is_remedy else ()
        return any(one.called[:1] != other.called[:1] for one, other in pairs)

    def _is_written_otherwise(self, event: Call, confirming: Call) -> bool:
        """A line that the shell could not read is written in another way: nothing else can have mended it."""
        is_remedy = self.turning.remedy == asked_in(confirming).turn
        return is_remedy and _UNREADABLE.search(verdict_of(event).line) is not None

    def _went(self, event: Call, confirming: Call) -> str:
        """How the check went later."""
        if verdict_of(confirming).has_failed:
            return "ran and failed for another reason"
        if is_read_now(event, confirming) and not verdict_of(confirming).has_passed:
            return "ran"  # the shell could not read it before, and how it ended does not show
        pairs = self.answers(event, confirming)
        is_same = self.shown is not None or any(
            is_same_check(failed, self.named_alike((event, failed), (confirming, passed))) for failed, passed in pairs
        )
        return "passed" if is_same or not called_steps(event) else "another call for the same job passed"

    def _doubt(self, event: Call, confirming: Call) -> str:
        """Why the pass says nothing of the remedy; empty where nothing speaks against it."""
        if self._has_lost(event):
            return "the recorded verdict on the session is a failure"
        may_change = RULE_OF_HOST.search(event.result or "") or (
            self.turning.is_known and NO_PROGRAM.search(verdict_of(event).line)
        )
        spoke = self.next_users_turn(event.turn) if may_change else None
        if spoke is not None and spoke < asked_in(confirming).turn:
            return "the user, who may have changed it there, spoke in between"
        otherwise = self._failed_otherwise(event, confirming)
        if otherwise is not None:
            return f"failed in T{otherwise.turn} for another reason"
        if doubt := doubt_of_batch(self.calls, event, self.calls_at(self.turning.remedy), confirming):
            return doubt
        besides = [] if self.has_known_remedy(confirming) else self.changed_besides(event, confirming)
        return f"with other {' and '.join(besides)} as well" if besides else ""

    def _has_lost(self, event: Call) -> bool:
        """A service took the call, and the session's own verdict says that it was the wrong one."""
        source = self.trajectory.source
        is_lost = source.resolved is False or (source.resolved is None and source.reward == 0)
        return is_lost and not called_steps(event) and tool_kind(event) == "service"

    def _failed_otherwise(self, event: Call, confirming: Call) -> Call | None:
        """The same check, failing in other words before the remedy: that is what the remedy is for."""
        line, remedy = comparable(verdict_of(event).line), self.turning.remedy or confirming.turn
        for call in self.calls[event.position + 1 : confirming.position]:
            other = comparable(verdict_of(call).line)
            is_again = verdict_of(call).has_failed and event.raw_arguments == call.raw_arguments and call.turn < remedy
            # Only where something was changed before may the event's own failure be gone.
            if is_again and line and other and other != line and any(self.changes(event, call)):
                return call
        return None

    def _of_batch(self) -> Grade | None:
        """The harness called a call off, as is cited of it, and carried it out when it was made again."""
        at_event = self.calls_at(self.turning.event)
        for call in at_event if any(map(has_failed, at_event)) else ():
            cited = (quote for quote in self.quoted_at(call) if (call.result or "").startswith(quote))
            is_cited = call.mark == "cancelled" and any(cited)
            for again in self.calls_at(self.turning.confirmation) if is_cited else ():
                if is_made_again(call, again):
                    return Grade("checked", f"called off in T{call.turn}, carried out in T{again.turn}")
        return None

    def _of_refused_reply(self) -> Grade:
        """The harness refused a reply; one that it carried out confirms the remedy."""
        turn, confirming = self.turning.event, self.calls_at(self.turning.confirmation)
        if any(call.turn > turn and verdict_of(call).state != "refused" for call in confirming):
            return Grade("checked", f"refused by the harness in T{turn}, carried out in T{confirming[0].turn}")
        return Grade("asserted", f"refused by the harness in T{turn}; no later reply is named")

    def _differs(self, event: Call, confirming: Call) -> bool:
        """Something was done differently: by the remedy in between, which did more than look, or in the call itself."""
        one, other = asked_in(event), asked_in(confirming)
        between = self.calls[event.position + 1 : other.position]
        remedies = [call for call in self.calls_at(self.turning.remedy) if call in between]
        if any(may_change(call, one) and not self.is_attempt(event, call) for call in remedies):
            return True
        if self._is_written_otherwise(event, confirming):
            return one.command() != other.command()
        said = f"{verdict_of(event).line}\n{event.result or ''}"
        if options_of(one, said) != options_of(other, said):
            return True
        if self.shown is not None or not called_steps(one) or not called_steps(other):
            return one.command() != other.command()
        return self._is_run_otherwise((event, one), (confirming, other))

    def _is_run_otherwise(self, event: tuple[Call, Call], confirming: tuple[Call, Call]) -> bool:
        """A step that failed was run in another form or folder, or behind something that was not done before it."""
        pairs = list(self.answers(event[0], confirming[0]))
        again = [
            (failed, passed)
            for failed, passed in pairs
            if is_same_run(failed, passed) and not self.folder_changed((event[0], failed), (confirming[0], passed))
        ]
        is_other = {failed for failed, _ in pairs} != {failed for failed, _ in again}
        return is_other or any(prepares_more(event[1], passed, confirming[1]) for _, passed in again)

    def _named_by_tool(self, event: Call, confirming: Call) -> str:
        """How the failure advises a word of the remedy that was not in what failed; empty where it does not.

        Of a long text that was written a word that the lesson does not cite may be there by chance: it counts where the
        remedy is known besides.
        """
        before = asked_in(event).raw_arguments
        lines = [line[:400] for line in (event.result or "")[:20_000].splitlines() if not _CODE_LINE.match(line)]
        advice = [line for line in lines if _ADVISES.search(line)]
        said = {token for line in advice for token in TOKEN.findall(line) if is_specific(token)}
        said |= {name for line in lines if _MISSES.search(line) for name in _QUOTED_NAME.findall(line)}
        remedies = self.calls_at(self.turning.remedy)
        if tool_kind(event) == "edit" and not called_steps(event):  # a tool refuses a file: "Read it first"
            readers = {call.name for call in remedies if tool_kind(call) == "look"}
            if any(re.search(rf"\b{re.escape(name)}\b", (event.result or "")[:400]) for name in readers):
                return _NAMED
        applied = [call for call in remedies if may_change(call, asked_in(event)) or not called_steps(call)]
        applied.append(asked_in(confirming))
        new = {word for call in applied for word in new_words(call)}
        cited = " ".join(text for turn, text in self.quotes if turn != event.result_turn)
        named = [word for word in new if word not in before and any(one in word and one not in before for one in said)]
        if len(new) <= _MOST_OF_REMEDY or any(word in cited for word in named):
            return _NAMED if named else ""
        return _KNOWN if named and self.turning.is_known else ""

    def _contradiction(self, event: Call) -> str:
        """What happened after the confirmation that speaks against the cause; empty when nothing does."""
        after = self.turning.confirmation or self.turning.remedy
        if after is None:
            return ""
        remedied = [call for call in self.calls_at(self.turning.confirmation) if call.turn == self.turning.remedy]
        for call in self.calls[event.position + 1 :]:
            is_again = call.turn > after and verdict_of(call).has_failed and self._fails_alike(event, call)
            is_forgotten = is_again and is_old_form(event, call, remedied)
            if is_again and not (is_forgotten and (not self.turning.is_known or self._is_overcome_again(call))):
                return f"it failed again in T{call.turn}"
        turn = self.next_users_turn(after)
        if turn is None or turn - after > _SOON:
            return ""
        offer = _OFFERS.search((self.message(turn - 1).content or "")[-_MOST_OFFERED:])
        if takes_back(self.message(turn).content or "", is_answer=offer is not None):
            return f"the user objected in T{turn}"
        return ""

    def _is_overcome_again(self, again: Call) -> bool:
        """Of a known error that came back, whether its line passed later: the agent had forgotten the remedy."""
        passed = (step for call in self.calls[again.position + 1 :] for step in passed_steps(call))
        wanted = failed_steps(again)
        return any(is_same_check(one, two) or is_written_otherwise(one, two) for two in passed for one in wanted)

    def _fails_alike(self, event: Call, again: Call) -> bool:
        """The same check, with an error that the lesson cites, else with the same line; how many failed is none."""
        pairs = ((one, other) for one in failed_steps(event) for other in failed_steps(again))
        if not any(is_same_check(*pair) and not _is_other_line(*pair) for pair in pairs):
            return False
        result = event.result or ""
        cited = [comparable(quote) for quote in self.quoted_at(event) if quote in result and not _TALLY.search(quote)]
        if cited:
            return any(quote in comparable(again.result or "") for quote in cited)
        line = comparable(verdict_of(event).line)
        return bool(line) and not _TALLY.search(line) and comparable(verdict_of(again).line) == line
