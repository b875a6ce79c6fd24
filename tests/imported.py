"""Ingests one session and makes one client, so that all which a run imports is imported: others are forked from it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import anthropic

import agent_wiki.commands.answers
from agent_wiki.asking.prompts import read_prompts
from agent_wiki.engines.anthropic_api.request import prepare_schemas
from tests.wikis import Script, ingest, record

assert agent_wiki.commands
with TemporaryDirectory() as _folder:
    ingest([record(Path(_folder), "a")], Path(_folder, "wiki"), Script(Path(_folder)).engine)
read_prompts()
prepare_schemas()
with anthropic.Anthropic(api_key="none") as _client:
    assert _client.messages.batches  # the client imports its parts when they are asked for
