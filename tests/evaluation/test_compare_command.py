"""`wiki eval compare` from outside: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agent_wiki.commands import main


def rows(path: Path, *, costs: list[float], **fields: Any) -> Path:
    path.write_text(
        "".join(
            json.dumps({"session_id": f"{path.stem}-{number}", "task": "t1", "total_cost_usd": cost, **fields}) + "\n"
            for number, cost in enumerate(costs)
        ),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def arms(tmp_path: Path) -> list[str]:
    first = rows(tmp_path / "without.jsonl", costs=[0.2, 0.21, 0.22, 0.2, 0.21, 0.22], outcome_match=True)
    second = rows(tmp_path / "with.jsonl", costs=[0.1, 0.11, 0.12, 0.1, 0.11, 0.12], outcome_match=True)
    return [str(first), str(second)]


def test_the_report_says_how_much_cheaper_and_how_sure(arms: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "compare", *arms]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# with compared with without\n")
    (line,) = [line for line in shown.splitlines() if line.startswith("| Cost ")]
    assert "$0.210 [" in line
    assert "$0.110 [" in line
    assert "−48 % [" in line
    assert "?" not in line


def test_json_has_the_figures_the_method_and_the_rule(arms: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "compare", *arms, "--json", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["compared_with"] == "without"
    assert found["method"]["seed"] == 3
    assert found["method"]["fewest_trials"] == 6
    (cost,) = [each for each in found["scopes"][0]["measures"] if each["measure"] == "total_cost_usd"]
    assert cost["arms"][1]["delta"]["is_told"] is True
    assert cost["arms"][0]["delta"] is None


def test_another_arm_can_be_the_first(arms: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "compare", *arms, "--first", "with", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared_with"] == "with"
    assert main(["eval", "compare", *arms, "--first", "none"]) == 2
    assert "there are: without, with" in capsys.readouterr().err


def test_report_and_plot_are_written_and_the_same_each_time(arms: list[str], tmp_path: Path) -> None:
    report, plot = tmp_path / "report.md", tmp_path / "plot.svg"
    written = []
    for _ in range(2):
        assert main(["eval", "compare", *arms, "--markdown", str(report), "--plot", str(plot)]) == 0
        written.append((report.read_bytes(), plot.read_bytes()))
    assert written[0] == written[1]
    root = ElementTree.fromstring(plot.read_text(encoding="utf-8"))
    names = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Cost", "Accuracy", "without", "with", "$0.210", "$0.110"} <= set(names)


def test_a_hostile_name_is_no_markup_in_the_plot(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    path = rows(tmp_path / "rows.jsonl", costs=[1.0, 2.0], arm="<script>alert(1)</script>&")
    assert main(["eval", "compare", str(path), "--by", "arm", "--plot", str(plot)]) == 0
    root = ElementTree.fromstring(plot.read_text(encoding="utf-8"))
    assert not [each for each in root.iter() if each.tag.endswith("script")]


def test_a_png_is_drawn_where_pillow_is_installed(arms: list[str], tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="the extra `plot` is not installed")
    plot = tmp_path / "plot.png"
    assert main(["eval", "compare", *arms, "--plot", str(plot)]) == 0
    assert plot.read_bytes().startswith(b"\x89PNG\r\n")


def test_without_pillow_a_png_is_refused_with_what_to_do(
    arms: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("agent_wiki.evaluation.plot.importlib.import_module", missing)
    assert main(["eval", "compare", *arms, "--plot", str(tmp_path / "plot.png")]) == 2
    assert "agent-wiki[plot]" in capsys.readouterr().err


def test_bad_lines_are_reported_and_the_rest_counts(arms: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with Path(arms[0]).open("a", encoding="utf-8") as stream:
        stream.write("not json\n")
    assert main(["eval", "compare", *arms, "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["exit_code"] == 1
    assert found["arms"][0] == {"name": "without", "trials": 6}
    assert found["problems"][0].startswith(f"{arms[0]}:7: not JSON")
    assert "FAILED" in shown.err


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (["missing.jsonl"], "missing.jsonl: No such file or directory"),
        (["empty.jsonl"], "nothing to compare: no valid row (empty.jsonl: no rows)"),
        (["rows.jsonl", "--plot", "plot.pdf"], "plot.pdf: the name of a plot must end in .svg or .png"),
        (["rows.jsonl", "--tasks", "empty.jsonl"], "empty.jsonl: not a list of tasks"),
        (["bytes.jsonl"], "bytes.jsonl: not UTF-8 text"),
    ],
)
def test_what_cannot_be_compared_is_reported_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    found: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe")
    rows(tmp_path / "rows.jsonl", costs=[1.0])
    assert main(["eval", "compare", *found]) == 2
    assert capsys.readouterr().err == f"wiki: {reason}\n"


def test_a_recording_is_no_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "session.jsonl"
    recording.write_text(
        '{"type": "user", "uuid": "u", "message": {"role": "user", "content": "Hi"}}\n', encoding="utf-8"
    )
    assert main(["eval", "compare", str(recording)]) != 0
    assert (
        "session.jsonl:1: no field of a row; of a recording, `wiki eval metrics` makes rows" in capsys.readouterr().err
    )


def test_failed_lines_are_named_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rows(tmp_path / "many.jsonl", costs=[0.1] * 8)
    file.write_text(file.read_text(encoding="utf-8") + "7\n" + "\n" * 90 + "8\n", encoding="utf-8")
    assert main(["eval", "compare", str(file)]) == 1
    named = [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()]
    assert named == [f"{file}:9", f"{file}:100"]
