"""A check fails, an edit, the same check passes."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.linters import findings
from agent_wiki.engines.offline.signals import checks
from tests.engines.scripted_session import Script
from tests.hangs import no_hang

FINDING = "cart_test.go:31:12: os.Chdir() could be replaced by t.Chdir() in TestCart (usetesting)"


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in checks.lessons(MinedSession.of(script.done()))]


def test_the_replacement_a_linter_names_is_the_rule() -> None:
    script = Script().runs("make lint", FINDING, failed=True).edits("os.Chdir(d)", "t.Chdir(d)", "cart_test.go")
    rule = "Use `t.Chdir` instead of `os.Chdir` in Go tests: the linter rule `usetesting` asks for it."
    assert _rules(script.runs("make lint", "0 issues.")) == [rule]


def test_a_call_that_must_not_be_made_is_replaced_by_the_one_that_is_named() -> None:
    line = "shop.go:4:9: os/exec.Command must not be called. use os/exec.CommandContext (noctx)"
    script = Script().runs("make lint", line, failed=True)
    script.edits("exec.Command(a)", "exec.CommandContext(c, a)", "shop_test.go")
    rule = "Use `exec.CommandContext` instead of `exec.Command` in Go code: the linter rule `noctx` asks for it."
    assert _rules(script.runs("make lint", "0 issues.")) == [rule]


def test_a_slip_in_one_file_is_no_rule() -> None:
    script = Script().runs("make lint", "a.go:3:1: undefined: cart (typecheck)", failed=True)
    assert not _rules(script.edits("cart", "Cart", "a.go").runs("make lint"))


def test_a_check_that_passes_without_an_edit_teaches_nothing() -> None:
    assert not _rules(Script().runs("make lint", FINDING, failed=True).runs("make lint", "0 issues."))


def test_a_check_that_never_passes_teaches_nothing() -> None:
    script = Script().runs("make lint", FINDING, failed=True).edits("os.Chdir(d)", "t.Chdir(d)", "cart_test.go")
    assert not _rules(script.runs("make lint", FINDING, failed=True))


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (FINDING, "usetesting"),
        ("a.py:1:8: F401 `os` imported but unused", "F401"),
        ("a.py:3: error: Function is missing a type annotation  [no-untyped-def]", "no-untyped-def"),
        ("a.ts(3,4): error TS2322: Type 'a' is not assignable to type 'b'.", "TS2322"),
        (
            "  12:5  error  Unexpected any. Specify a type  @typescript-eslint/no-explicit-any",
            "@typescript-eslint/no-explicit-any",
        ),
        ("[lint:go] a.go:1:1: context is wrong here (contextcheck)", "contextcheck"),
    ],
)
def test_findings_of_several_linters_are_read(line: str, rule: str) -> None:
    assert [finding.rule for finding in findings(line)] == [rule]


def test_hostile_output_is_cheap() -> None:
    for piece in ("a:1:1: ", "could be replaced by ", "  1:1  error  ", "a.b is deprecated "):
        findings(piece * 100_000)
        findings("\n".join([piece * 60] * 3000))
    with no_hang():
        findings("\n".join(["  1:1  error  a", "  1:1  error  a" + " " * 500_000 + "b"] * 2))
