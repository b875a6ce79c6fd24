"""Ingests one session and makes one client, so that all which a run imports is imported: others are forked from it.

The list of trusted authorities is read once as well, as in the tests themselves.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import anthropic
import pytest

import agent_wiki.commands.answers
from agent_wiki.asking.prompts import read_prompts
from agent_wiki.engines.anthropic_api.request import prepare_schemas
from tests.wikis import Script, ingest, record

assert agent_wiki.commands
with TemporaryDirectory() as _folder:
    ingest([record(Path(_folder), "a")], Path(_folder, "wiki"), Script(Path(_folder)).engine)
read_prompts()
prepare_schemas()
_transports = sys.modules["httpx2._transports.default"]
pytest.MonkeyPatch().setattr(_transports, "create_ssl_context", lru_cache(maxsize=4)(_transports.create_ssl_context))
with anthropic.Anthropic(api_key="none") as _client:
    assert _client.messages.batches  # the client imports its parts when they are asked for
