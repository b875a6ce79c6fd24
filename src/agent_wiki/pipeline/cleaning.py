"""A value or a text of a wiki without secrets, and without personal data unless its owner keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agent_wiki.asking.journal_lines import Record, line_of, parsed_line, redacted_record
from agent_wiki.pipeline import bucket_state
from agent_wiki.redaction.numbers import Numbers
from agent_wiki.redaction.personal import home_names, stand_in_for
from agent_wiki.redaction.redact import redact_json
from agent_wiki.redaction.values import PERSONAL, Redacted, changed_value, kinds_replaced, redact_value, redact_whole
from agent_wiki.trajectory.lazily import dataclass

_LINES_OF_JSON = (".jsonl", ".log")


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What is replaced: secrets always, personal data unless `keeps_personal_data`."""

    keeps_personal_data: bool = False

    def of_value(self, value: Any, numbers: Numbers | None = None) -> tuple[Any, list[Redacted]]:
        """A value, and what was replaced in it and where. The same object where that is nothing."""
        cleaned, found = redact_value(value, numbers)
        if self.keeps_personal_data:
            return cleaned, found
        stand_in = stand_in_for(name for text in _texts(cleaned) for name in home_names(text))

        def change(_name: str, text: str) -> tuple[str, int]:
            changed = stand_in(text)
            return changed, int(changed != text)

        replaced: list[Redacted] = []
        changed = changed_value(cleaned, change, replaced)
        return (changed if replaced else cleaned), [*found, *replaced]

    def of_text(self, text: str, path: str) -> tuple[str, list[Redacted]]:
        """The same for the text of a file; lines of JSON stay JSON.

        What is known of a bucket's objects keeps its names: by another address an object is not found again.
        """
        if not path.endswith(_LINES_OF_JSON):
            cleaned, found = redact_whole(text)
        else:
            lines = text.split("\n")
            redacted = [redact_json(line)[0] for line in lines]
            cleaned = "\n".join(redacted)
            pairs = enumerate(zip(lines, redacted, strict=True), start=1)
            found = [
                Redacted(kind, str(number))
                for number, (line, new) in pairs
                if line != new
                for kind in kinds_replaced(line, new)
            ]
        if self.keeps_personal_data or path == bucket_state.NAME:
            return cleaned, found
        changed = stand_in_for(home_names(cleaned))(cleaned)
        return changed, [*found, *([Redacted(PERSONAL, "")] if changed != cleaned else [])]

    def of_journal(self, content: bytes, numbers: dict[str, Numbers]) -> tuple[bytes, list[Redacted]]:
        """The lines of a journal's file, with the numbers of the session that each is about. Torn lines stay."""
        found: list[Redacted] = []
        lines = []
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            record = parsed_line(line)
            cleaned, here = (None, []) if record is None else self._of_record(record, numbers)
            lines.append(line if cleaned is None or not here else line_of(cleaned))
            found += [Redacted(each.kind, f"{number}.{each.place}") for each in here]
        return b"".join(lines), found

    def _of_record(self, record: Record, numbers: dict[str, Numbers]) -> tuple[Record, list[Redacted]]:
        about = record.get("about")
        its_numbers = numbers.get(str(about[0])) if isinstance(about, list) and len(about) == 1 else None
        cleaned = redacted_record(record, its_numbers)
        changed = [name for name, text in record.items() if cleaned[name] != text]
        said = [Redacted(kind, name) for name in changed for kind in kinds_replaced(record[name], cleaned[name])]
        value, found = self.of_value(cleaned, its_numbers)
        return value, [*said, *found]


def _texts(value: Any) -> Iterator[str]:
    yield json.dumps(value, ensure_ascii=False, default=str)
