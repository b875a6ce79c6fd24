"""A block in a Markdown file: in once, out without a trace."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from agent_wiki.harness.pointer_block import with_block, without_block


@settings(max_examples=400)
@given(some.binary(max_size=60).filter(lambda content: b"\0" not in content), some.text("abc\n é", max_size=40))
def test_putting_a_block_in_and_taking_it_out_changes_no_file(content: bytes, text: str) -> None:
    connected = with_block(content, text, "f")
    assert with_block(connected, text, "f") == connected
    assert without_block(connected, "f") == content


def test_a_file_made_for_the_block_has_its_head_and_goes_with_it() -> None:
    made = with_block(None, "text", "f", "---\nalwaysApply: true\n---\n")
    assert made.startswith(b"---\nalwaysApply: true\n---\n<!-- agent-wiki:begin -->\ntext\n")
    assert without_block(made, "f", "---\nalwaysApply: true\n---\n") is None
    assert without_block(made + b"mine\n", "f", "---\nalwaysApply: true\n---\n") is not None
