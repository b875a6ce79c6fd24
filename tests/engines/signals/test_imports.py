"""A name that another module of the package has."""

from __future__ import annotations

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.lessons import Lesson
from agent_wiki.engines.offline.signals import imports
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script


def _lessons(script: Script) -> list[Lesson]:
    return imports.lessons(MinedSession.of(script.done()))


def _refused() -> Script:
    said = "ImportError: cannot import name 'Coupon' from 'shopkit.cart' (/venv/shopkit/cart.py)"
    return Script().runs('python -c "from shopkit.cart import Coupon"', said, failed=True)


def test_the_module_that_has_the_name_is_the_rule_and_a_look_in_between_changes_nothing() -> None:
    script = _refused().runs('python -c "import shopkit.prices as p; print(dir(p))"', "['Coupon']")
    script.runs('python -c "from shopkit.prices import Coupon; print(Coupon)"', "<class>")
    (lesson,) = _lessons(script)
    assert lesson.guideline.rule == "Import `Coupon` from `shopkit.prices`: `shopkit.cart` does not have it."
    assert grade_of(lesson.guideline, script.done()).cause == "checked"


def test_code_in_between_that_writes_may_have_been_the_remedy() -> None:
    script = _refused().runs("python -c \"open('shopkit.py', 'w').write('x')\"", "")
    script.runs('python -c "from shopkit.prices import Coupon"', "")
    assert [grade_of(lesson.guideline, script.done()).cause for lesson in _lessons(script)] == ["asserted"]


def test_another_package_is_another_name() -> None:
    assert not _lessons(_refused().runs('python -c "from cartlib.prices import Coupon"', ""))
