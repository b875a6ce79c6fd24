"""A diagnostic, edits of one file, and the same check passes."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.attempts import MinedSession
from agent_wiki.engines.offline.signals import diagnostics
from agent_wiki.stages.extract_guidelines import grade_of
from tests.engines.scripted_session import Script

CODED = "docs/a.md:3 error MD040/fenced-code-language Fenced code blocks should have a language specified"


def _rules(script: Script) -> list[str]:
    return [lesson.guideline.rule for lesson in diagnostics.lessons(MinedSession.of(script.done()))]


def test_the_one_rule_that_a_hook_named_is_kept_to() -> None:
    script = Script().runs("git commit -m 'a b'", CODED, failed=True).edits("~~~", "~~~text", "docs/a.md")
    assert _rules(script.runs("git commit -m 'a b'", "1 file changed")) == [
        (
            "Keep to the rule `MD040/fenced-code-language` (Fenced code blocks should have a language specified) in "
            "Markdown files: `git commit` fails otherwise. For instance `~~~text` instead of `~~~`."
        )
    ]


@pytest.mark.parametrize(
    "output",
    [
        "a.ts(3,4): error TS2322: Type 'Cart' is not assignable to type 'Basket'.",
        "a.ts(3,4): error TS2304: Cannot find name 'cart'.",
        "a.ts(3,4): error TS1005: a comma or a bracket is expected here.",
        "a.py:3:1: W0612 The variable 'cart' is never read here",
        "a.go:3:1: settings.Filter undefined or so (typecheck)",
        "a.go:3:1: string `shop-cart` has 3 occurrences, make it a constant (goconst)",
        "a.go:3:1: ineffectual assignment to err (ineffassign)",
    ],
)
def test_a_message_about_this_code_gives_none(output: str) -> None:
    script = Script().runs("git commit", output, failed=True).edits("~~~", "~~~text", "docs/a.md")
    assert not _rules(script.runs("git commit", "ok"))


UNWRAPPED = "a.go:9:3: error of an external package is unwrapped: sig: func os.ReadFile(name string) error (wrapcheck)"


def test_what_a_message_goes_on_to_name_does_not_stand_in_the_way_of_its_rule() -> None:
    script = Script().runs("git commit", f"{UNWRAPPED}\n{UNWRAPPED.replace('9', '12')}", failed=True)
    before, after = "return nil, err //nolint:gosec", 'return nil, fmt.Errorf("%w", err) //nolint:gosec'
    (rule,) = _rules(script.edits(before, after, "a.go").runs("git commit", "ok"))
    assert rule.startswith("Keep to the rule `wrapcheck` (error of an external package is unwrapped) in Go files:")


def test_of_several_lines_that_were_replaced_none_is_shown_as_what_met_the_rule() -> None:
    script = (
        Script().runs("git commit", UNWRAPPED, failed=True).edits("return nil, err\nx", "return nil, w(err)\ny", "a.go")
    )
    (rule,) = _rules(script.runs("git commit", "ok"))
    assert rule.endswith("`git commit` fails otherwise.")


def test_a_check_that_the_agent_chose_names_the_faults_of_its_own_code() -> None:
    script = Script().runs("npx markdownlint docs", CODED, failed=True).edits("~~~", "~~~text", "docs/a.md")
    assert not _rules(script.runs("npx markdownlint docs", "ok"))


def test_the_files_are_of_the_kind_that_the_message_names() -> None:
    script = Script().runs("git commit", CODED, failed=True).edits("~~~", "~~~text", "mend.awk")
    (rule,) = _rules(script.runs("git commit", "1 file changed"))
    assert "in Markdown files: " in rule


def test_a_rule_that_was_switched_off_for_a_line_was_not_met() -> None:
    script = Script().runs("git commit", UNWRAPPED, failed=True)
    assert not _rules(script.edits("return nil, err", "return nil, err //nolint", "a.go").runs("git commit", "ok"))


NO_METHOD = "error[E0599]: no method named `query` found for struct `Builder` in the current scope"
FEATURES = ('web = { features = ["json"] }', 'web = { features = ["json", "query"] }')


def test_a_file_written_as_a_whole_does_not_show_what_met_the_rule() -> None:
    script = Script().runs("git commit -m 'a b'", CODED, failed=True)
    script.call("Write", {"file_path": "docs/a.md", "content": "# A\n\n~~~text\nx\n~~~\n"}, "updated")
    assert not _rules(script.runs("git commit -m 'a b'", "1 file changed"))


@pytest.mark.parametrize("later", [NO_METHOD, "error: expected one of `,`, `:`", "error: could not parse"])
def test_an_error_that_is_there_still_or_may_be_hidden_teaches_nothing(later: str) -> None:
    script = Script().runs("cargo check", NO_METHOD, failed=True).edits(*FEATURES, "Cargo.toml")
    assert not _rules(script.runs("cargo check", later, failed=True))


def test_a_diagnostic_that_tells_what_to_set_is_all_that_one_needs() -> None:
    error = "tsconfig.json(1,3): error TS5101: Option 'base' is not found. Specify 'ignoreOld' to silence this."
    script = (
        Script().runs("npm run build", error, failed=True).edits('"a": 1', '"a": 1, "ignoreOld": 1', "tsconfig.json")
    )
    assert not _rules(script.runs("npm run build", "built"))


SPREAD = (
    "a.tsx\n  35:7  error  Error: Calling setState in an effect can be slow\n\nEffects are:\n"
    "  38 |  }  hooks/set-state-in-effect"
)
SIGNS = "a.tsx\n  68:13  error  `'` can be escaped with `&apos;`, `&#39;`  react/no-unescaped-entities"


@pytest.mark.parametrize(
    ("output", "rule"), [(SPREAD, "hooks/set-state-in-effect"), (SIGNS, "react/no-unescaped-entities")]
)
def test_a_message_of_many_lines_or_with_signs_in_it_names_its_rule(output: str, rule: str) -> None:
    script = Script().runs("git commit", output, failed=True).edits("a('We're')", "a('We&apos;re')", "src/a.tsx")
    (lesson,) = diagnostics.lessons(MinedSession.of(script.runs("git commit", "ok").done()))
    assert lesson.guideline.rule.startswith(f"Keep to the rule `{rule}` (")
    assert lesson.guideline.title == f"Keep to {rule.partition('/')[2]} before git commit"


@pytest.mark.parametrize(
    ("output", "rule"),
    [
        ("a.go:9:3: ifElseChain: rewrite if-else to switch statement (gocritic)", "`ifElseChain` of `gocritic`"),
        ("E711 Comparison to a missing value is odd\n --> a.py:3:1\n", "`E711`"),
        (
            "a.ts:3:5 lint/style/useConst FIXABLE ━━━\n\n  × This let declares a variable only once.",
            "`lint/style/useConst`",
        ),
        (
            "error: this borrow is not needed here\n --> a.rs:3:5\n = note: `-D clippy::needless-borrow`",
            "`needless-borrow`",
        ),
        ("a.rb:3:1: C: [Correctable] Style/Quotes: Prefer single quotes for plain text.", "`Style/Quotes`"),
    ],
)
def test_findings_of_linters_are_read_however_they_stand(output: str, rule: str) -> None:
    script = Script().runs("git commit", output, failed=True).edits("one\ntwo", "three", "a.go")
    (found,) = _rules(script.runs("git commit", "ok"))
    assert found.startswith(f"Keep to the rule {rule}")


def test_of_several_rules_that_were_met_the_one_that_explains_itself_is_named() -> None:
    output = f"{CODED}\ndocs/a.md:9 error MD024/no-duplicate-heading `Cart` again"
    script = Script().runs("git commit", output, failed=True).edits("~~~", "~~~text", "docs/a.md")
    (rule,) = _rules(script.runs("git commit", "ok"))
    assert rule.endswith("in Markdown files: `git commit` fails otherwise.")


def test_findings_in_several_files_are_mended_file_by_file_and_the_last_time_a_rule_was_met_counts() -> None:
    found = "a.go:9:3: ifElseChain: rewrite if-else to switch statement (gocritic)\nb.go:4:1: missing doc (revive)"
    script = Script()
    for _ in range(2):
        script.runs("git commit", found, failed=True).edits("if a {", "switch {", "a.go").edits("x", "// X\nx", "b.go")
        script.runs("git commit", "ok")
    (lesson,) = diagnostics.lessons(MinedSession.of(script.done()))
    assert lesson.guideline.event_turn == 10
    assert grade_of(lesson.guideline, script.done()).cause == "checked"
    other = Script().runs("git commit", found, failed=True).edits("if a {", "switch {", "a.go").edits("x", "y", "c.go")
    (lesson,) = diagnostics.lessons(MinedSession.of(other.runs("git commit", "ok").done()))
    assert grade_of(lesson.guideline, other.done()).cause == "asserted"


def test_which_version_was_right_is_the_moment_s() -> None:
    error = "ERR: no matching version found for ui@0.0.7"
    script = Script().runs("pnpm install", error, failed=True).edits('"ui": "0.0.7"', '"ui": "^6.9.2"', "package.json")
    assert not _rules(script.runs("pnpm install", "done"))


def test_what_the_linter_mends_itself_is_no_rule_nor_one_of_many_nor_what_took_many_edits() -> None:
    def mended(output: str, *between: str, edits: int = 1) -> Script:
        script = Script().runs("git commit", output, failed=True)
        for command in between:
            script.runs(command, "ok")
        for number in range(edits):
            script.edits(f"~~~{number}", "~~~text", "docs/a.md")
        return script.runs("git commit", "ok")

    assert _rules(mended(CODED))
    assert not _rules(mended(f"{CODED}\n1 error is fixable with the option --fix"))
    assert not _rules(mended(CODED, "npx shelf-lint --fix docs"))
    assert not _rules(mended(CODED, edits=4))
    others = "".join(f"\ndocs/a.md:{at} error MD0{at}/some-rule Lines should not be so long here" for at in (12, 13))
    assert not _rules(mended(CODED + others))
