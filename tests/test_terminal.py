"""No text of a recording, a page, an answer or a name controls the terminal on which it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_wiki.commands import main
from agent_wiki.commands.show import print_json, print_lines
from agent_wiki.commands.visible import visible, visible_json

HOSTILE = "\x1b]0;owned\x07\x1b[2Jred\x9b31m \u202egnp.exe\u200b \r\U000e0041"
CONTROL = ("\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\r", "\U000e0041")


def _is_harmless(text: str) -> bool:
    return not any(character in text for character in CONTROL)


def test_a_line_shows_what_it_holds_and_runs_none_of_it() -> None:
    assert _is_harmless(visible(HOSTILE))
    assert visible("plain, ünïcode, 漢字 and\ta tab\n") == "plain, ünïcode, 漢字 and\ta tab\n"


@pytest.mark.parametrize("err", [False, True])
def test_printed_lines_are_harmless(err: bool, capfd: pytest.CaptureFixture[str]) -> None:
    print_lines([HOSTILE], err=err)
    assert _is_harmless("".join(capfd.readouterr()))


def test_a_prompt_that_is_piped_keeps_every_character(capfd: pytest.CaptureFixture[str]) -> None:
    print_lines(["a\x1b[31mb\u200bc"], is_verbatim=True)
    assert capfd.readouterr().out == "a\x1b[31mb\u200bc\n"


def test_printed_json_is_harmless_and_says_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    print_json({"key": HOSTILE})
    out = capfd.readouterr().out
    assert _is_harmless(out)
    assert json.loads(out) == {"key": HOSTILE}
    assert visible_json('"ü"') == '"ü"'


@pytest.mark.parametrize(
    "command",
    [
        ["apply", "--wiki", "{wiki}", "--answer", "{answer}"],
        ["apply", "summarize", "{hostile}", "--wiki", "{wiki}", "--answer", "{answer}"],
        ["normalize", "{hostile}", "--out", "{wiki}/out"],
        ["ingest", "{hostile}", "--wiki", "{wiki}"],
        ["eval", "metrics", "{hostile}"],
        ["why", HOSTILE, "--wiki", "{wiki}"],
        ["consult", HOSTILE, "--wiki", "{wiki}"],
        ["catalog", "--wiki", "{hostile}"],
        ["review", "--wiki", "{wiki}"],
        ["save", "{hostile}"],
        ["keep", HOSTILE, "--wiki", "{wiki}"],
        ["ingest", "{hostile}", "--wiki", "{wiki}", "--engine", f"recorded:{HOSTILE}"],
    ],
    ids=lambda words: " ".join(words[:2]).partition("{")[0].partition("\x1b")[0].strip(),
)
def test_no_command_prints_what_controls_a_terminal(
    tmp_path: Path, command: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wiki = tmp_path / "wiki"
    main(["init", "--wiki", str(wiki)])
    hostile = tmp_path / f"{HOSTILE}.jsonl"
    messages = [{"role": "user", "content": HOSTILE}, {"role": HOSTILE, "content": HOSTILE}]
    hostile.write_text(json.dumps({"messages": messages, HOSTILE: 1}) + "\n{", encoding="utf-8")
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"request": HOSTILE, "answer": {HOSTILE: HOSTILE}}), encoding="utf-8")
    main([word.format(wiki=wiki, answer=answer, hostile=hostile) if "{" in word else word for word in command])
    assert _is_harmless("".join(capfd.readouterr()))
