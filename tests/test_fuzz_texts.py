"""Pages, configurations, patches and answers, changed at random: each is read, or refused in words of our own.

A second or two; `AGENT_WIKI_FUZZ_CASES=3000` goes on with as many others. What failed once stands by name in
`tests/bad_inputs/tables.py`.
"""

from __future__ import annotations

import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from agent_wiki.engines.answer_faults import faults_of
from agent_wiki.errors import RunError, UnreadablePage
from agent_wiki.pipeline.answer_checks import value_in
from agent_wiki.stages.order import SESSION_STAGES, SUMMARIZE, stage_named
from agent_wiki.stages.summarize import SummaryAnswer
from agent_wiki.wiki.config import parse_config
from agent_wiki.wiki.config_edits import patched
from agent_wiki.wiki.page import parse_page, render_page
from agent_wiki.wiki.yaml_syntax import dump_any_yaml, load_yaml
from tests.bad_inputs.trying import made_ready, problems
from tests.test_fuzz import changed_value, of_bytes, of_lines
from tests.wikis import arc, rule, skill, worked_session

CASES = int(os.environ.get("AGENT_WIKI_FUZZ_CASES", "60"))
WIKI = Path(__file__).parents[1] / "wiki-example" / "wiki"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(WIKI.glob("*/*.md")) if path.name != "index.md"][::5]
CONFIG = (WIKI / "_config.yaml").read_text(encoding="utf-8")
ANSWERS: dict[str, Any] = dict(
    zip(SESSION_STAGES, ({"arcs": [arc()]}, {"guidelines": [rule("Check.")]}, skill("x")), strict=True)
)
_bounded = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
_seeds = some.integers(0, 2**32)


def page_text(seed: int) -> str:
    """A page of the example with other fields, lines or bytes."""
    rng = random.Random(seed)
    text = rng.choice(TEXTS)
    if rng.random() < 0.6:
        page = parse_page(text, "page.md")
        fields = changed_value(rng, copy.deepcopy(page.fields))
        return f"---\n{dump_any_yaml(fields if isinstance(fields, dict) else {'id': fields})}---\n\n{page.body}"
    return rng.choice((of_bytes, of_lines))(rng, text.encode()).decode("utf-8", "replace")


@_bounded
@given(_seeds)
def test_a_page_is_read_and_written_alike_or_refused_with_its_name(seed: int) -> None:
    refused, text = "", ""
    try:
        text = render_page(parse_page(page_text(seed), "page.md"))
    except UnreadablePage as error:
        refused = str(error)
    assert refused.startswith("page.md") or render_page(parse_page(text, "page.md")) == text


@_bounded
@given(_seeds)
def test_a_configuration_is_read_and_patched_or_refused_with_its_place(seed: int) -> None:
    rng = random.Random(seed)
    value = changed_value(rng, load_yaml(CONFIG))
    text = dump_any_yaml(value) if isinstance(value, dict) else str(value)
    if rng.random() < 0.4:
        text = rng.choice((of_bytes, of_lines))(rng, CONFIG.encode()).decode("utf-8", "replace")
    patch = changed_value(rng, {"tags": {"guideline": {"0123456789ab": ["x"]}}, "clusters": {"a": {"title": "t"}}})
    refused = "_config.yaml"
    try:
        parse_config(text)
        patched(text, patch if isinstance(patch, dict) else {})
    except RunError as error:
        refused = str(error)
    assert "_config.yaml" in refused
    assert "\n" not in refused


@_bounded
@given(_seeds)
def test_an_answer_is_taken_or_its_problems_are_named(seed: int) -> None:
    rng = random.Random(seed)
    stage = rng.choice(SESSION_STAGES)
    summary = SummaryAnswer.model_validate(ANSWERS[SUMMARIZE])
    question = stage_named(stage).question(worked_session(), summary)
    text = json.dumps(changed_value(rng, copy.deepcopy(ANSWERS[stage])))
    if rng.random() < 0.3:
        text = of_bytes(rng, text.encode()).decode("utf-8", "replace")
    value, found = value_in(text)
    found = found or faults_of(value, question)
    assert all(each.reason and "\n" not in f"{each}" for each in found)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_ready(tmp_path_factory.mktemp("ready"))


@pytest.mark.parametrize("command", ["catalog", "consult", "check", "join"])
def test_a_wiki_with_any_page_is_catalogued_searched_checked_and_joined(
    command: str, ready: Path, tmp_path: Path
) -> None:
    for seed in range(max(1, CASES // 60)):
        found = problems("page", "odd.md", page_text(seed).encode(), ready, tmp_path / str(seed), only=command)
        assert found == [], f"seed {seed}"
