"""`python -m agent_wiki_testing.server`: a separate process, controlled by a script."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anthropic
import httpx2
import pytest

from agent_wiki.errors import UsageError
from agent_wiki_testing.script import read_script
from tests.testing.clients import asking, said

COMMAND = [sys.executable, "-W", "error", "-m", "agent_wiki_testing.server"]


@contextmanager
def running(*words: str) -> Iterator[str]:
    """The base URL of a server in a process of its own; it has to end well when it is interrupted."""
    interruptible = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background job
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        signal.signal(signal.SIGINT, interruptible)
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            complaints = process.stderr.read()
            code = process.wait()
    assert (code, complaints) == (0, "")


def test_a_script_says_what_to_answer_and_what_goes_wrong(tmp_path: Path) -> None:
    script = {
        "endpoint": {"minimum_cacheable_tokens": 1},
        "answers": [{"text": "Why", "answer": "Because."}, {"number": 2, "answer": "Second."}],
        "faults": [{"kind": "refusal", "requests": [3]}],
    }
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    with (
        running("--script", str(path), "--latency-ms", "1") as base_url,
        anthropic.Anthropic(base_url=base_url, api_key="any", max_retries=0) as client,
    ):
        answers = [client.messages.create(**asking(text)) for text in ("Why?", "How?", "Who?")]
        ledger = httpx2.get(f"{base_url}/testing/ledger").json()
        httpx2.post(f"{base_url}/testing/clock", json={"advance_seconds": 60}).raise_for_status()
    assert [said(answer) for answer in answers] == ["Because.", "Second.", ""]
    assert answers[2].stop_reason == "refusal"
    assert (ledger["answers"], ledger["most_in_flight"]) == (3, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"),
        ('{"faults": [{"kind": "gremlin"}]}', r"faults\.0\.kind"),
        ('{"endpoint": {"batches": 1}}', r"endpoint\.batches: Extra"),
    ],
)
def test_a_script_that_is_off_names_file_and_field(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=rf"script\.json: .*{words}"):
        read_script(path)


def test_a_missing_script_is_one_line() -> None:
    done = subprocess.run([*COMMAND, "--script", "nowhere.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("nowhere.json: No such file or directory")
