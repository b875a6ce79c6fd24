"""synthesize-skill of the embedded engine: what becomes a skill, and all that does not."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wiki.engines.offline.rules import SKILL_RULES
from agent_wiki.stages.synthesize_skill import SkillAnswer
from agent_wiki.trajectory import Message, Source, Trajectory
from tests.engines.recordings import Step, edit, session, shell, skill_of, write

CHECKS = (shell("just fmt"), shell("just lint"), shell("just test-all"))
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


def found(*steps: Step | str, source: Source | None = None) -> SkillAnswer:
    answer = skill_of(session(*steps, source=source))
    assert answer.skill is not None, answer.reason
    assert answer.skill.rule_id in {rule.id for rule in SKILL_RULES}
    return answer.skill


def commands(skill: SkillAnswer) -> list[str | None]:
    return [step.command for step in skill.steps]


def test_the_checks_of_a_repository_are_a_skill() -> None:
    skill = found(*CHECKS)
    assert skill.name == "format-lint-test-with-just"
    assert commands(skill) == ["just fmt", "just lint", "just test-all"]


def test_the_same_checks_in_another_order_are_the_same_skill() -> None:
    again = found(shell("just lint"), shell("just test-all 2>&1 | tail -20"), shell("cd /home/ann/x && just fmt"))
    first = found(*CHECKS)
    assert (again.name, again.steps) == (first.name, first.steps)


@pytest.mark.parametrize("outcome", ["failure", "partial", "unknown"])
def test_a_session_that_did_not_work_has_no_skill(outcome: str) -> None:
    answer = skill_of(session(*CHECKS), outcome)  # type: ignore[arg-type]
    assert answer.skill is None
    assert outcome in answer.reason


@pytest.mark.parametrize(
    "steps",
    [
        (shell("cat a.txt"), shell("ls -la"), shell("grep -rn foo src"), shell("find . -name x")),
        (shell("git add ."), shell("git commit -m x"), shell("git push")),
        (shell("go build ./..."), shell("go vet ./..."), shell("go test ./...")),
        (shell("python reproduce.py"), shell("python -m pytest tests/test_a.py"), shell("rm reproduce.py")),
        (shell("just fmt"), shell("just lint"), shell("just test-all", "2 failed", failed=True)),
        (shell("just fmt"), shell("just lint"), shell("just test-all | tail -5", "FAILED tests/test_a.py::test_b")),
        (shell("just --help"), shell("just lint --help"), shell("just fmt --help"), shell("just test --help")),
        (edit("a.py", "x", "y"), edit("b.py", "x", "y"), shell("just lint")),
        ("Thanks!",),
    ],
)
def test_exploring_common_knowledge_and_failures_are_no_skill(steps: tuple[Step | str, ...]) -> None:
    answer = skill_of(session(*steps))
    assert answer.skill is None
    assert answer.reason


def test_a_step_is_taken_in_the_form_that_worked() -> None:
    skill = found(shell("just test", "no such recipe", failed=True), *CHECKS)
    assert "just test" not in commands(skill)


def test_conflicts_resolved_checked_and_committed_are_a_skill() -> None:
    conflict = "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed"
    skill = found(
        shell("git fetch origin main && git merge origin/main", conflict, failed=True),
        edit("a.py", "<<<<<<<", ""),
        *CHECKS,
        shell("git add a.py && git commit -m 'Merge origin/main into topic'"),
        shell("git push -u origin topic"),
    )
    assert skill.name == "resolve-merge-conflicts-with-just-checks"
    assert commands(skill) == [
        "git fetch origin <base-branch>",
        "git merge origin/<base-branch>",
        None,
        "just fmt",
        "just lint",
        "just test-all",
        "git commit -m <commit-message>",
        "git push -u origin <branch>",
    ]
    assert {parameter.name for parameter in skill.parameters} == {"base-branch", "commit-message", "branch"}


def test_a_cluster_diagnosed_changed_and_seen_well_is_a_skill() -> None:
    skill = found(
        shell("kubectl get pods -n shop", "web-5f6c  0/1  Pending"),
        shell("kubectl describe pod web-5f6c -n shop | tail -20", "Warning FailedScheduling"),
        shell("""kubectl patch deployment web -n shop --type=json -p='[{"op":"remove","path":"/x"}]'""", "patched"),
        shell("kubectl rollout status deployment/web -n shop --timeout=60s", "successfully rolled out"),
    )
    assert skill.name == "diagnose-and-patch-kubernetes-deployment"
    assert commands(skill) == [
        "kubectl get pods -n <namespace>",
        "kubectl describe pod <pod> -n <namespace>",
        "kubectl patch deployment <deployment> -n <namespace> --type=json -p=<json-patch>",
        "kubectl rollout status deployment/<deployment> -n <namespace> --timeout=60s",
    ]


def test_a_review_that_was_addressed_is_a_skill() -> None:
    skill = found(
        shell("gh api repos/acme/web/pulls/12/comments --paginate | jq '.[].body'", "x"),
        edit("a.py", "x", "y"),
        shell("just lint"),
        shell("git commit -am 'Address the review' && git push"),
        shell("gh api repos/acme/web/pulls/12/comments/345/replies -f body='Done.'"),
    )
    assert skill.name == "address-review-comments-with-just-checks"
    assert commands(skill)[0] == "gh api repos/<repository>/pulls/<pull-request>/comments --paginate"
    assert commands(skill)[-1] == (
        "gh api repos/<repository>/pulls/<pull-request>/comments/<comment>/replies -f body=<text>"
    )


def test_setting_up_step_by_step_is_a_skill() -> None:
    skill = found(
        shell("pip install -r requirements.txt"),
        shell("cp .env.example .env"),
        shell("docker compose up -d db"),
        shell("python manage.py migrate"),
        shell("python manage.py loaddata demo"),
    )
    assert commands(skill)[:2] == ["pip install -r requirements.txt", "cp .env.example .env"]
    assert skill.name == "install-configure-start-migrate-seed"


def test_a_chain_with_a_link_of_this_machine_is_no_skill() -> None:
    steps = (
        shell("pip install -r requirements.txt"),
        shell("python manage.py migrate --database /home/ann/db"),
        shell("python manage.py loaddata demo"),
    )
    answer = skill_of(session(*steps))
    assert answer.skill is None or not any("/home" in (each or "") for each in commands(answer.skill))


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


RUN = shell("python3 count_rows.py a.csv x")


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
    ],
)  # fmt: skip
def test_a_script_that_is_not_fit_to_run_again_is_no_skill(steps: tuple[Step, ...]) -> None:
    assert skill_of(session(*steps, shell("ls"))).skill is None


def test_what_a_script_imports_is_installed_first() -> None:
    skill = found(
        shell("pip install left-pad==1.2 pyfoo==3.4"),
        shell("pip install unrelated"),
        write("count_rows.py", COUNTER.replace("import csv", "import csv, pyfoo")),
        RUN,
    )
    assert commands(skill) == ["pip install left-pad==1.2 pyfoo==3.4", "python3 scripts/count_rows.py <path> <column>"]


@pytest.mark.parametrize("line", ["from .rows import read", "sys.path.append('/srv/data/lib')", "HOST = '10.1.2.3'"])
def test_a_script_that_needs_its_machine_or_its_neighbours_is_no_skill(line: str) -> None:
    assert skill_of(session(write("count_rows.py", f"{COUNTER}\n{line}\n"), RUN)).skill is None


def test_a_script_left_running_has_not_worked() -> None:
    running = shell("python3 count_rows.py a.csv x", "Command running in background with ID: b1")
    assert skill_of(session(write("count_rows.py", COUNTER), running)).skill is None


@pytest.mark.parametrize(
    "line", ["just test-all $SUITE", "just test-all $(curl -s https://example.org/x)", "just test-all `id`"]
)
def test_what_only_its_session_could_expand_is_no_step(line: str) -> None:
    assert skill_of(session(shell("just fmt"), shell("just lint"), shell(line))).skill is None


def test_too_many_different_things_are_no_workflow() -> None:
    names = ["setup", "seed", "deploy", "release", "gen", "bench", "docs", "download", "convert", "export", "import"]
    lines = [f"just {name}-all" for name in [*names, "backup", "restore", "migrate"]]
    assert skill_of(session(*(shell(line) for line in lines))).skill is None


def test_long_names_and_odd_kinds_are_no_stumbling_block() -> None:
    skill = found(
        *(shell(f"./tools/{verb}_{'x' * 250}.sh") for verb in ("setup", "seed", "deploy", "download", "convert"))
    )
    assert len(skill.description) <= 1024
    cluster = found(
        shell("kubectl get pods"),
        shell("kubectl scale deployments.apps/web --replicas=2"),
        shell("kubectl rollout status deployments.apps/web"),
    )
    assert {parameter.name for parameter in cluster.parameters} == {"deployment", "number"}


LOOK_UP = ("get_customer", {"customer_id": "c_001_ann"}, '{"orders": ["W1234567"]}', False)
DETAILS = ("get_order", {"order_id": "W1234567"}, '{"order": "W1234567", "items": []}', False)
CANCEL = ("cancel_order", {"order_id": "W1234567", "reason": "no longer needed"}, "cancelled", False)


def test_a_change_for_a_customer_is_a_skill_when_the_reward_is_full() -> None:
    steps = (LOOK_UP, ("get_weather", {"city": "Rome"}, "sunny", False), DETAILS, "yes, please", CANCEL)
    skill = found(*steps, source=Source("tau_bench", reward=1.0))
    assert skill.name == "cancel-order"
    assert commands(skill) == [
        'get_customer {"customer_id": "<customer-id>"}',
        'get_order {"order_id": "<order-id>"}',
        None,
        'cancel_order {"order_id": "<order-id>", "reason": "<reason>"}',
    ]
    assert not any("W1234567" in (each or "") for each in commands(skill))


@pytest.mark.parametrize("source", [Source("tau_bench"), Source("tau_bench", reward=0.0), Source("x", reward=0.5)])
def test_without_a_full_reward_tool_calls_are_no_skill(source: Source) -> None:
    assert skill_of(session(LOOK_UP, DETAILS, CANCEL, source=source)).skill is None


def test_looking_up_alone_is_no_skill() -> None:
    assert skill_of(session(LOOK_UP, DETAILS, DETAILS, source=Source("tau_bench", reward=1.0))).skill is None


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
KNOWN_LINES = """just fmt
just lint
just test-all
npm run build
npm run lint -- --fix
cd /tmp/x && make lint
git push
git merge origin/main
git commit -m "x y"
gh pr view 1 --json comments
pytest tests/a.py -k 'x y'
go test ./a -run X
ruff check . ; mypy src
kubectl get pods -n a
kubectl delete pod b -n a
bash do_it_now.sh a.txt
<b>x</b> && just lint
just lint | tail
'
((
\x00\x1b[31m"""
LINES = st.lists(st.sampled_from([*KNOWN_LINES.split("\n"), SCRIPT]) | st.text(max_size=40), max_size=12)


@settings(deadline=None)
@given(LINES, st.lists(st.booleans(), min_size=12, max_size=12))
def test_whatever_was_run_a_skill_is_valid_and_the_same_twice(lines: list[str], failures: list[bool]) -> None:
    results = ["CONFLICT (content): x" if "merge" in line else "ok" for line in lines]
    steps = [shell(*each) for each in zip(lines, results, failures, strict=False)]
    trajectory = session(*steps)
    before = copy.deepcopy(trajectory)
    first = skill_of(trajectory)
    assert first == skill_of(before)
    assert trajectory == before
    if first.skill is not None:
        check(first.skill, trajectory)
    else:
        assert first.reason


def test_a_line_of_a_megabyte_costs_no_time() -> None:
    hostile = ["(" * 1_000_000, "a " * 500_000, "'\"" * 500_000, "<<'E" * 250_000, "\\" * 1_000_000, "x=" * 500_000]
    assert skill_of(session(*(shell(line, line) for line in hostile), write("a_b.py", " " * 1_000_000))).skill is None


def test_every_skill_of_the_real_recordings_is_valid(traces: Path) -> None:
    from agent_wiki.errors import UnreadableRecording
    from agent_wiki.readers.detect import read
    from agent_wiki.readers.recording import Recording

    count = 0
    for path in sorted(each for each in traces.rglob("*") if each.is_file()):
        try:
            for trajectory in read(Recording(path, path.name)):
                skill = skill_of(trajectory).skill
                if skill is not None:
                    check(skill, trajectory)
                    count += 1
        except UnreadableRecording:
            continue
    assert count > 0
