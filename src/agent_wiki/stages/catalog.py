"""catalog: records, configuration and templates → every page and index. It asks nothing; `pages/catalog.py` renders."""

from __future__ import annotations

from agent_wiki.engine import Answer

STAGE = "catalog"
QUESTIONS: dict[str, type[Answer]] = {}
