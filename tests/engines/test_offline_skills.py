"""synthesize-skill of the embedded engine: what becomes a skill, and all that does not."""

from __future__ import annotations

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.engines.offline.rules import SKILL_RULES
from agent_wiki.engines.offline.synthesize_skill import answer
from agent_wiki.stages.summarize import ArcAnswer, SummaryAnswer
from agent_wiki.stages.synthesize_skill import SkillAnswer, SkillQuestion
from agent_wiki.trajectory import Message, Source, Trajectory
from tests.engines.recordings import Step, edit, session, shell, skill_of, write
from tests.hangs import no_hang

COUNTER = '''"""Count the rows of a CSV file by the value of one column."""
import csv
import sys
from collections import Counter

path, column = sys.argv[1], sys.argv[2]
with open(path, newline="") as stream:
    rows = csv.DictReader(stream)
    counts = Counter(row[column] for row in rows)
for value, count in counts.most_common():
    print(value, count)
'''
RUN = shell("python3 count_rows.py a.csv x")


def found(*steps: Step | str, source: Source | None = None) -> SkillAnswer:
    told = skill_of(session(*steps, source=source))
    assert told.skill is not None, told.reason
    assert told.skill.rule_id in {rule.id for rule in SKILL_RULES}
    return told.skill


def commands(skill: SkillAnswer) -> list[str | None]:
    return [step.command for step in skill.steps]


@pytest.mark.parametrize("outcome", ["failure", "partial", "unknown"])
def test_a_script_of_a_session_that_did_not_work_is_no_skill(outcome: str) -> None:
    told = skill_of(session(write("count_rows.py", COUNTER), RUN), outcome)  # type: ignore[arg-type]
    assert told.skill is None
    assert told.reason


def test_a_script_that_ran_in_a_part_that_worked_is_a_skill_whatever_became_of_the_rest() -> None:
    trajectory = session(
        write("count_rows.py", COUNTER), RUN, "Now the totals.", shell("make totals", "x", failed=True)
    )
    worked = ArcAnswer(first_turn=1, last_turn=5, goal="g", outcome="success", narrative="n", key_turns=[])
    failed = worked.model_copy(update={"first_turn": 6, "last_turn": 8, "outcome": "failure"})
    swapped = [worked.model_copy(update={"outcome": "failure"}), failed.model_copy(update={"outcome": "success"})]
    assert answer(SkillQuestion(trajectory, SummaryAnswer(arcs=[worked, failed]))).skill is not None
    assert answer(SkillQuestion(trajectory, SummaryAnswer(arcs=swapped))).skill is None


@pytest.mark.parametrize(
    "steps",
    [
        (shell("just fmt"), shell("just lint"), shell("just test-all")),
        (shell("git merge origin/main"), shell("just test-all"), shell("git commit -m Merge"), shell("git push")),
        (shell("cp .env.example .env"), shell("docker compose up -d"), shell("alembic upgrade head")),
        (shell("kubectl get pods"), shell("kubectl scale deploy/web --replicas=2"), shell("kubectl get pods")),
        (("get_order", {"id": "W-77"}, "{}", False), ("cancel_order", {"id": "W-77"}, "cancelled", False)),
        (edit("a.py", "x", "y"), edit("b.py", "x", "y"), shell("just lint")),
        ("Thanks!",),
    ],
)
def test_the_routine_of_a_repository_or_a_service_is_no_skill(steps: tuple[Step | str, ...]) -> None:
    assert skill_of(session(*steps, source=Source("x", reward=1.0))).skill is None


def test_a_script_that_was_written_and_ran_is_a_skill_with_the_script() -> None:
    skill = found(
        write("/home/ann/p/count_rows.py", COUNTER), shell("python3 count_rows.py orders.csv status", "paid 3")
    )
    assert skill.name == "count-rows"
    assert [script.file for script in skill.scripts] == ["count_rows.py"]
    assert skill.scripts[0].text == COUNTER
    assert commands(skill) == ["python3 scripts/count_rows.py <path> <column>"]
    assert "Count the rows of a CSV file by the value of one column" in skill.description


def test_a_script_is_kept_as_it_was_when_it_ran() -> None:
    broken = COUNTER.replace("Counter(row", "Counter(rwo")
    skill = found(
        write("count_rows.py", broken),
        shell("python3 count_rows.py a.csv status", "NameError", failed=True),
        edit("count_rows.py", "Counter(rwo", "Counter(row"),
        shell("python3 count_rows.py a.csv status"),
    )
    assert skill.scripts[0].text == COUNTER


def test_a_script_of_a_here_document_is_known() -> None:
    skill = found(shell(f"cat > count_rows.py <<'EOF'\n{COUNTER}EOF\npython3 count_rows.py a.csv status"))
    assert skill.scripts[0].text == COUNTER


@pytest.mark.parametrize(
    "steps",
    [
        (write("count_rows.py", COUNTER), shell("python3 count_rows.py a.csv x", "Traceback (most", failed=True)),
        (write("count_rows.py", COUNTER), shell("cat count_rows.py")),
        (write("count_rows.py", COUNTER), shell("python3 count_rows.py a.csv x"), shell("rm count_rows.py")),
        (write("count_rows.py", COUNTER), shell("sed -i s/a/b/ count_rows.py"), RUN),
        (write("count_rows.py", COUNTER), edit("count_rows.py", "no such", "y"), RUN),
        (write("count_rows.py", "import sys\nprint(sys.argv)\n"), shell("python3 count_rows.py a.csv")),
        (write("reproduce_rows.py", COUNTER), shell("python3 reproduce_rows.py a.csv x")),
        (write("test_rows.py", COUNTER), shell("python3 test_rows.py a.csv x")),
        (write("count_rows.py", COUNTER.replace("sys.argv[1]", '"/srv/data/a.csv"').replace("sys.argv[2]", "'x'")),
         shell("python3 count_rows.py")),
        (write("count_rows.py", COUNTER + "KEY = '[REDACTED:token]'\n"), shell("python3 count_rows.py a.csv x")),
        (write("count_rows.py", COUNTER), shell("python3 count_rows.py a.csv x"), edit("count_rows.py", "path", "p")),
        (write("count_rows.py", COUNTER), shell("python3 count_rows.py http://127.0.0.1:8501 status", "paid 3")),
        (write("deploy_rows.py", COUNTER), shell("python3 deploy_rows.py a.csv x")),
        (write("count_rows.sh", 'sort "$1" > a.csv\n' * 6), shell("bash count_rows.sh a.csv")),
        (write("count_rows.py", COUNTER), shell("python3 -m py_compile count_rows.py a.csv status", "")),
    ],
)  # fmt: skip
def test_a_script_that_is_not_fit_to_run_again_is_no_skill(steps: tuple[Step, ...]) -> None:
    assert skill_of(session(*steps, shell("ls"))).skill is None


@pytest.mark.parametrize("line", ["from .rows import read", "sys.path.append('/srv/data/lib')", "HOST = '10.1.2.3'"])
def test_a_script_that_needs_its_machine_or_its_neighbours_is_no_skill(line: str) -> None:
    assert skill_of(session(write("count_rows.py", f"{COUNTER}\n{line}\n"), RUN)).skill is None


def test_a_script_left_running_has_not_worked() -> None:
    running = shell("python3 count_rows.py a.csv x", "Command running in background with ID: b1")
    assert skill_of(session(write("count_rows.py", COUNTER), running)).skill is None


@pytest.mark.parametrize("line", ["python3 count_rows.py a.csv x | head -3", "python3 count_rows.py a.csv x || true"])
def test_a_run_whose_end_is_masked_has_not_worked(line: str) -> None:
    assert skill_of(session(write("count_rows.py", COUNTER), shell(line, "paid 3"))).skill is None


@pytest.mark.parametrize("argument", ['"$ROWS"', "$(cut -f1 a.csv)", "`id`", "--since 2024-05-01"])
def test_a_run_that_only_its_session_could_repeat_is_no_skill(argument: str) -> None:
    run = shell(f"python3 count_rows.py --keep {argument} 3")
    assert skill_of(session(write("count_rows.py", COUNTER), run)).skill is None


def quotes_of(trajectory: Trajectory, turn: int) -> list[str]:
    message: Message = trajectory.messages[turn - 1]
    texts = [message.content or "", message.thinking or ""]
    for call in message.tool_calls:
        texts += [call.arguments, *(each for each in json.loads(call.arguments).values() if isinstance(each, str))]
    return texts


def check(skill: SkillAnswer, trajectory: Trajectory) -> None:
    """What holds of every skill, whatever the session."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", skill.name)
    assert len(skill.name) <= 40  # an Agent Skills name may have 64
    assert 0 < len(skill.description) <= 1024
    assert "<" not in skill.name + skill.description
    for evidence in skill.evidence:
        assert any(evidence.quote in text for text in quotes_of(trajectory, evidence.turn))
    text = " ".join(step.command or "" for step in skill.steps)
    assert {parameter.name for parameter in skill.parameters} == set(re.findall(r"<([a-z][a-z0-9-]*)>", text))
    assert not re.search(r"/home/|/Users/|/tmp/", text)
    assert all(step.command is None or step.command.strip() for step in skill.steps)


SCRIPT = "cat > do_it_now.sh <<'EOF'\n#!/bin/sh\n# Do it all for one file\na $1\nb $1\nc\nd\ne\nEOF"
KNOWN_LINES = """sh do_it_now.sh a.txt
bash do_it_now.sh a.txt --top 3 > b.txt
cd /tmp/x && ./do_it_now.sh
rm do_it_now.sh
sed -i s/a/b/ do_it_now.sh
cat >> do_it_now.sh <<E
<b>x</b> && just lint
sh do_it_now.sh x | tail
'
((
\x00\x1b[31m"""
LINES = st.lists(st.sampled_from([*KNOWN_LINES.split("\n"), SCRIPT]) | st.text(max_size=40), max_size=12)


@settings(deadline=None)
@given(LINES, st.lists(st.booleans(), min_size=12, max_size=12))
def test_whatever_was_run_a_skill_is_valid_and_the_same_twice(lines: list[str], failures: list[bool]) -> None:
    steps = [shell(line, "ok", has_failed) for line, has_failed in zip(lines, failures, strict=False)]
    trajectory = session(*steps)
    before = copy.deepcopy(trajectory)
    first = skill_of(trajectory)
    assert first == skill_of(before)
    assert trajectory == before
    if first.skill is not None:
        check(first.skill, trajectory)
    else:
        assert first.reason


def test_a_very_long_line_costs_no_time() -> None:
    hostile = [unit * (70_000 // len(unit)) for unit in ("(", "a ", "'\"", "<<'E", "\\", "x=")]
    calls = session(*(shell(line, line) for line in hostile), write("a_b.py", " " * 70_000))
    with no_hang():
        assert skill_of(calls).skill is None
