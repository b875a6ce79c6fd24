"""What the user went on with in place of what did not work."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import accepted
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _lessons(script: Script) -> list[Lesson]:
    return accepted.lessons(MinedSession.of(script.done()))


def _small_model(finding: str) -> Script:
    return Script().runs("serve small:7b", "{}").says(f"{finding} Another one is large:70b.").user("try large:70b")


def test_what_the_user_names_after_a_finding_is_the_rule_with_the_finding() -> None:
    script = _small_model("With 9 tools, `small:7b` can't call any.").runs("serve large:70b", "ok")
    (lesson,) = _lessons(script.user("great, next the README"))
    assert lesson.guideline.rule == "Use `large:70b` instead of `small:7b`: With 9 tools, `small:7b` can't call any."
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_without_a_finding_or_without_use_it_is_a_wish() -> None:
    assert not _lessons(_small_model("`small:7b` is there and answers.").runs("serve large:70b", "ok"))
    assert not _lessons(_small_model("With 9 tools, `small:7b` can't call any.").runs("serve small:7b", "ok"))


def _pasted(report: str) -> Script:
    script = Script().edits("a", "b").says("Done.").user("It fails: ThemeError: no provider was found for the tree")
    return script.edits("b", "c").says(report)


def test_a_switch_that_mended_an_error_of_the_user_is_the_rule() -> None:
    script = _pasted("The fix was switching from the styled `Tree` (needs a provider) to the plain core `Tree`.")
    (lesson,) = _lessons(script.user("ok, commit"))
    assert lesson.guideline.rule == (
        "Use the plain core `Tree` instead of the styled `Tree` (needs a provider) when it fails with "
        "`ThemeError: no provider was found for the tree`."
    )
    assert lesson.guideline.title == "Use the plain core Tree instead"


def test_a_switch_that_the_user_objects_to_is_not_checked() -> None:
    script = _pasted("The fix was switching from the styled `Tree` to the plain core `Tree`.")
    (lesson,) = _lessons(script.user("it still fails"))
    assert grade_of(lesson.guideline, script.done()).cause != "checked"


def test_a_report_of_the_session_own_things_gives_no_rule() -> None:
    assert not _lessons(_pasted("I was switching from src/a.js to src/b.js in this module.").user("ok"))


def test_a_heading_of_a_pasted_report_is_no_error() -> None:
    script = Script().edits("a", "b").says("Done.").user("## Critical fixes required\nthe tree has no provider")
    script.edits("b", "c").says("The fix was switching from the styled `Tree` to the plain core `Tree`.")
    assert not _lessons(script.user("ok, commit"))
