"""A recording inside another one: a session's file that is a value of a table."""

from __future__ import annotations

import io
from typing import IO

from agent_wiki.readers.recording import Recording


class TextRecording(Recording):
    """Reads from a text, under a name of its own. What lies beside the file around it lies beside this, too."""

    __slots__ = ("_text",)

    def __init__(self, outer: Recording, name: str, text: str) -> None:
        super().__init__(outer.path, name)
        self._text = text.encode("utf-8", "replace")

    def open(self) -> IO[bytes]:
        """The text as bytes."""
        return io.BytesIO(self._text)

    def again(self) -> Recording:
        """A second reading of the same text."""
        copy = TextRecording(self, self.name, "")
        copy._text = self._text
        return copy
