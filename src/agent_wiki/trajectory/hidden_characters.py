"""Characters that hide or reorder text: soft hyphens, zero-width and bidirectional marks, annotations, tags."""

from __future__ import annotations

from agent_wiki.trajectory.lazily import regex

HIDING = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
"""For a set in a regular expression. Line and paragraph separators, which are blanks, are not among them."""
SEPARATORS = "\u2028\u2029"
NOT_SHOWN = regex(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{HIDING}{SEPARATORS}]")
"""What a text that is shown on lines has none of: these, and control characters but tabs and line feeds."""
