"""How a script is run from the skill's folder."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.script_runs import argument_names, command_and_inputs, last_run
from agent_wiki.trajectory.calls import paired_calls
from tests.engines.recordings import session, shell


def command(line: str, script: str = "") -> str | None:
    run = last_run("/home/ann/p/do_it.py", paired_calls(session(shell(line))))
    return command_and_inputs(run, script, "do_it.py")[0] if run else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python3 do_it.py", "python3 scripts/do_it.py"),
        ("cd /home/ann/p && python3 -u do_it.py a.csv 5 2>&1", "python3 -u scripts/do_it.py <input-file> 5"),
        ("./do_it.py billing --top 3 --as json", "scripts/do_it.py <argument> --top 3 --as json"),
        ("./do_it.py --where status=open", "scripts/do_it.py --where <where>"),
        ("./do_it.py --in a.csv --out=b.csv", "scripts/do_it.py --in <in> --out=<out>"),
        ("uv run /home/ann/p/do_it.py < a.csv > b.csv", "uv run scripts/do_it.py < <input-file> > <output-file>"),
        ("python3 do_it.py a.csv b.csv a.csv",
         "python3 scripts/do_it.py <input-file> <input-file-2> <input-file>"),
        ("cat a.csv | python3 do_it.py", None),
        ("python3 do_it.py a.csv | head -5", None),
        ("python3 do_it.py a.csv | sed 1d > b.csv && cat b.csv", "python3 scripts/do_it.py <input-file>"),
        ("python3 do_it.py a.csv 2>/dev/null", None),
        ("python3 do_it.py a.csv || true", None),
        ("python3 do_it.py a.csv &", None),
        ("python3 other.py", None),
        ("cat do_it.py", None),
    ],
)  # fmt: skip
def test_a_run_is_shown_with_its_inputs_as_parameters(line: str, expected: str | None) -> None:
    assert command(line) == expected


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("path, column = sys.argv[1], sys.argv[2]", ["path", "column"]),
        ("source, target = sys.argv[1:]", ["source", "target"]),
        ("out = open(sys.argv[2])\nsrc = sys.argv[1]", ["src", "out"]),
        ('service="$1"\ntarget_dir=${2}', ["service", "target-dir"]),
        ('p.add_argument("log_file")\np.add_argument("--top")', ["log-file"]),
        ("print(1)", []),
    ],
)
def test_a_script_often_says_what_its_arguments_are_called(script: str, names: list[str]) -> None:
    assert argument_names(script) == names


def test_a_last_run_that_failed_is_no_run() -> None:
    calls = paired_calls(session(shell("python3 do_it.py"), shell("python3 do_it.py", "KeyError", failed=True)))
    assert last_run("do_it.py", calls) is None


def test_what_made_a_run_work_after_others_had_failed_stands_before_it() -> None:
    line = "mkdir -p build/db && python3 do_it.py build/db/shop.db"
    failed = shell("python3 do_it.py build/db/shop.db", "unable to open database file", failed=True)
    run = last_run("do_it.py", paired_calls(session(failed, shell(line))))
    assert run is not None
    shown, inputs = command_and_inputs(run, "", "do_it.py")
    assert shown == "mkdir -p <input-file-folder> && python3 scripts/do_it.py <input-file>"
    assert inputs == {"input-file": "build/db/shop.db", "input-file-folder": "build/db"}
    assert command(line) == "python3 scripts/do_it.py <input-file>"  # nothing had failed without it
