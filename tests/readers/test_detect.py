"""Which reader reads a recording: at most one claims it, whatever the order in which they are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.detect import readers
from agent_wiki.readers.recording import Recording

EXAMPLES = sorted((Path(__file__).parents[2] / "wiki-example" / "traces").iterdir())


def test_every_module_that_names_a_format_is_a_reader_and_the_general_one_is_asked_last() -> None:
    found = list(readers())
    formats = [reader.FORMAT for reader in found]
    assert len(set(formats)) == len(formats) >= 14
    assert formats[-1] == "openai-messages"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_one_reader_claims_a_recording(path: Path) -> None:
    sample = Recording(path, path.name).sample()
    assert len([reader.FORMAT for reader in readers() if reader.claims(sample)]) == 1


def test_no_two_readers_claim_a_real_recording(traces: Path) -> None:
    for path in sorted(each for each in traces.rglob("*") if each.is_file()):
        try:
            sample = Recording(path, path.name).sample()
        except UnreadableRecording:
            continue
        claimed = [reader.FORMAT for reader in readers() if reader.claims(sample)]
        assert len(claimed) <= 1, path.name


CLIENTS = Path(__file__).parents[1] / "data" / "clients"
FORMATS = {
    "claude-code": {"claude-code", "stream-json"},
    "codex": {"codex", "codex-exec"},
    "copilot-cli": {"copilot-cli"},
    "gemini-cli": {"gemini-cli", "gemini-stream"},
    "opencode": {"opencode", "opencode-run"},
    "pi": {"pi", "pi-stream"},
    "qwen-code": {"qwen-code", "qwen-stream"},
}


@pytest.mark.parametrize("client", FORMATS)
def test_the_recordings_of_a_program_are_claimed_by_its_own_readers_alone(client: str) -> None:
    files = [path for path in (CLIENTS / client).rglob("*.json*") if path.is_file()]
    recorded = [path for path in files if not path.name.startswith("sent") and not path.name.endswith(".meta.json")]
    samples = [Recording(path, path.name).sample() for path in recorded]
    claimed = [[reader.FORMAT for reader in readers() if reader.claims(sample)] for sample in samples]
    assert {len(formats) for formats in claimed} == {1}
    assert {formats[0] for formats in claimed} == FORMATS[client]
