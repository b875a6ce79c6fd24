"""Literals of a session become parameters; the recipe stays."""

from __future__ import annotations

import pytest

from agent_wiki.engines.offline.recipes.operations import operation
from agent_wiki.engines.offline.recipes.parameters import Parameters, describe, has_one_off, parameterised
from agent_wiki.engines.offline.recipes.pipelines import pipelines


def shown(line: str, parameters: Parameters | None = None) -> str:
    (pipeline,) = pipelines(line)
    done = operation([word.value for word in pipeline.commands[0]])
    assert done is not None
    return parameterised(pipeline, pipeline.commands[0], done, parameters or Parameters())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mise run test:ci", "mise run test:ci"),
        ("npm run lint -- --fix 2>&1", "npm run lint -- --fix"),
        ("pip install -r requirements.txt", "pip install -r requirements.txt"),
        ("pip install left-pad==4.7.2", "pip install left-pad==4.7.2"),
        ("go test ./... -count=1", "go test ./... -count=1"),
        ("go test ./internal/auth -run 'TestA|TestB' -v", "go test <package> -run <test-name> -v"),
        ("uv run pytest tests/a.py tests/b.py -k foo -q", "uv run pytest <test-file> -k <test-name> -q"),
        ("bin/test core/tests/test_a.py", "bin/test <test-file>"),
        ("gofmt -w a/b.go a/c.go", "gofmt -w <file>"),
        ("env GOCACHE=/tmp/x go test ./...", "env GOCACHE=<gocache> go test ./..."),
        ("git fetch origin main", "git fetch origin <base-branch>"),
        ("git merge origin/main --no-edit", "git merge origin/<base-branch> --no-edit"),
        ("git checkout -b ann/topic origin/main", "git checkout -b <branch> origin/<base-branch>"),
        ("git -C /srv/x push -u origin topic", "git push -u origin <branch>"),
        ("git tag v1.2.0", "git tag <version>"),
        ("kubectl get pods -n shop -o wide", "kubectl get pods -n <namespace> -o wide"),
        ("kubectl logs -n shop web-1 --tail=9", "kubectl logs -n <namespace> <pod> --tail=9"),
        ("kubectl rollout status deploy/web", "kubectl rollout status deploy/<deployment>"),
        ("helm upgrade web ./chart -f v.yaml", "helm upgrade <release> <directory> -f <file>"),
        ("gh pr comment 12 --body 'x y'", "gh pr comment <pull-request> --body <text>"),
        ("docker build -t acme/web:1 .", "docker build -t <image> ."),
        ("ffmpeg -i in.mov -vf scale=64:-1 out.mp4", "ffmpeg -i <input-file> -vf scale=64:-1 <output-file>"),
    ],
)
def test_inputs_become_parameters_and_the_recipe_stays(line: str, expected: str) -> None:
    assert shown(line) == expected


def test_the_same_file_has_one_name_in_every_step() -> None:
    parameters = Parameters()
    assert shown("wget -O data.tgz https://example.org/d.tgz", parameters) == "wget -O <output-file> <url>"
    assert shown("tar xzf data.tgz", parameters) == "tar xzf <output-file>"
    assert shown("tar xzf other.tgz", parameters) == "tar xzf <input-file>"


def test_every_parameter_is_described() -> None:
    parameters = Parameters()
    assert "<package-2>" in shown("go test ./a -run X", parameters) + shown("go test ./b", parameters)
    names = sorted(parameters.of_literal.values())
    assert names == ["package", "package-2", "test-name"]
    assert all(describe(name) for name in names)


@pytest.mark.parametrize(
    "command",
    ["cat /home/ann/x", "ls /tmp/a", "git show 0123abcd4567ef", "run 2024-05-01", "x ann@example.org", "ping 10.0.0.12",
     "get 550e8400-e29b-41d4-a716-446655440000", "x [REDACTED:token]", "C:\\Users\\ann", "open 123456"],
)  # fmt: skip
def test_values_of_one_machine_or_session_are_seen(command: str) -> None:
    assert has_one_off(command)


@pytest.mark.parametrize(
    "command", ["npm run build", "go test ./... -count=1", "kubectl get pods --timeout=60s", "a <file>"]
)
def test_a_recipe_has_none(command: str) -> None:
    assert not has_one_off(command)
