"""JSON text read piece by piece gives what `json` gives for the whole, value for value and error for error."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from agent_wiki.errors import UnreadableRecording
from agent_wiki.readers.recording import Recording
from agent_wiki.trajectory.json_text import DEEPEST, JsonText, object_in, value_or, values_of

DOCUMENT = json.dumps(
    {
        "é🙂": [1, -2.5e3, 1e-7, True, None, 'a\\"b', "\ud83d\ude00", "x" * 300, []],
        "inner": {"messages": [{"role": "user", "content": "line\nbreak"}, {}, [[[[[["deep"]]]]]]], "n": 12345678901},
        "last": "tail",
    },
    indent=1,
)
ODD = ["12", ' "x" ', "[1,2", '{"a" 1}', "[,]", "", '{"a":1,}', "[1] 2", "nul", "NaN", "-Infinity", "{1:2}", "[1 2]"]


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000 + "]" * 100_000, None, 3])
def test_what_is_no_json_text_is_replaced_and_null_is_a_value(text: Any) -> None:
    assert value_or(text, "none") == "none"
    assert value_or("null", "none") is None


@pytest.mark.parametrize(
    ("text", "found"), [('{"n": 1}', {"n": 1}), (b'{"n": 1}', {"n": 1}), ("[1]", None), ("{", None)]
)
def test_only_an_object_is_taken_from_a_line_of_our_own(text: str | bytes, found: Any) -> None:
    assert object_in(text) == found


def read(text: bytes, piece_bytes: int) -> tuple[Any, ...]:
    try:
        pieces = JsonText(io.BytesIO(text), piece_bytes)
        value = pieces.value()
        pieces.expect_end()
    except json.JSONDecodeError as error:
        return ("error", error.lineno)
    return ("value", json.dumps(value))


def read_whole(text: bytes) -> tuple[Any, ...]:
    try:
        return ("value", json.dumps(json.JSONDecoder(strict=False).decode(text.decode("utf-8", "replace"))))
    except json.JSONDecodeError as error:
        return ("error", error.lineno)


@pytest.mark.parametrize("piece_bytes", [8, 33, 64, 1 << 20])
@pytest.mark.parametrize("text", [DOCUMENT, json.dumps(json.loads(DOCUMENT), ensure_ascii=False), *ODD])
def test_pieces_give_what_the_whole_gives(text: str, piece_bytes: int) -> None:
    assert read(text.encode(), piece_bytes) == read_whole(text.encode())


@pytest.mark.parametrize("piece_bytes", [16, 1 << 20])
def test_damage_is_found_on_the_same_line_however_the_text_is_cut(piece_bytes: int) -> None:
    rng = random.Random(7)
    whole = DOCUMENT.encode()
    for _ in range(300):
        damaged = bytearray(whole[: rng.randrange(1, len(whole))] if rng.random() < 0.4 else whole)
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        assert read(bytes(damaged), piece_bytes) == read_whole(bytes(damaged))


@pytest.mark.parametrize("opening", ["[", '{"k":'])
def test_values_nested_deeper_than_any_recording_are_refused_at_the_same_depth_everywhere(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    for levels, is_fine in ((DEEPEST, True), (DEEPEST + 1, False), (990, False), (1000, False), (100_000, False)):
        text = (opening * levels + "1" + closing * levels).encode()
        for piece_bytes in (64, 1 << 20):
            if is_fine:
                JsonText(io.BytesIO(text), piece_bytes).value()
                assert len(values_of(text)[0]) == 1
                continue
            with pytest.raises(RecursionError):
                JsonText(io.BytesIO(text), piece_bytes).value()
            with pytest.raises(RecursionError):
                values_of(text)


def test_invalid_bytes_are_replaced_and_reported() -> None:
    found: list[str] = []
    pieces = JsonText(io.BytesIO(b'\xef\xbb\xbf["caf\xc3\xa9", "\xff"]'), 4, lambda: found.append("bad bytes"))
    assert pieces.value() == ["café", "�"]
    assert found == ["bad bytes"]


def test_a_document_is_read_without_its_text_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    texts = [f"{n} " + "x" * 50_000 for n in range(400)]
    path.write_text(json.dumps({"messages": texts}), encoding="utf-8")
    size = path.stat().st_size
    del texts
    tracemalloc.start()
    assert len(Recording(path, path.name).document()["messages"]) == 400
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.4 * size


def test_a_long_array_is_read_element_by_element(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps([{"n": n, "text": "x" * 50_000} for n in range(400)]), encoding="utf-8")
    recording = Recording(path, path.name)
    tracemalloc.start()
    assert recording.sample().shape == "document"
    assert [element["n"] for element in recording.elements()] == list(range(400))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.75 * path.stat().st_size


@pytest.mark.parametrize("indent", [None, 1])
def test_of_an_array_that_was_cut_off_the_whole_elements_are_kept(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "cut.json"
    text = json.dumps([{"n": 1}, {"n": 2}, {"n": 3}], indent=indent)
    path.write_text(text[:-6], encoding="utf-8")
    recording = Recording(path, path.name)
    assert recording.sample().shape == "document"
    elements = recording.elements()
    assert [next(elements), next(elements)] == [{"n": 1}, {"n": 2}]
    with pytest.raises(UnreadableRecording, match=r"^cut\.json:\d+: "):
        next(elements)


@pytest.mark.parametrize("is_last", [True, False])
def test_a_first_line_of_many_megabytes_is_a_line_or_a_document(tmp_path: Path, is_last: bool) -> None:
    path = tmp_path / "long"
    path.write_text(json.dumps({"text": "x" * 3_000_000}) + "\n" + ("" if is_last else '{"n": 2}\n'), encoding="utf-8")
    recording = Recording(path, path.name)
    sample = recording.sample()
    assert (sample.shape, len(sample.values)) == (("document", 1) if is_last else ("lines", 2))
