"""Ingests one session with answers of a script and of the loopback server, so that all which a run imports is imported
and all which it makes once is made: others are forked from it.

The list of trusted authorities is read once as well, as in the tests themselves.
"""

from __future__ import annotations

import sys
import threading
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import anthropic
import pytest

import agent_wiki.commands.answers
from agent_wiki.asking.options import AskingOptions
from agent_wiki_testing import MessagesServer
from tests.engines.answering import says
from tests.wikis import Script, ingest, record

assert agent_wiki.commands
_transports = sys.modules["httpx2._transports.default"]
pytest.MonkeyPatch().setattr(_transports, "create_ssl_context", lru_cache(maxsize=4)(_transports.create_ssl_context))
with TemporaryDirectory() as _folder, MessagesServer(says({})) as _server:
    _recordings = [record(Path(_folder), "a")]
    ingest(_recordings, Path(_folder, "wiki"), Script(Path(_folder)).engine)
    _asking = AskingOptions(base_url=_server.base_url)
    assert ingest(_recordings, Path(_folder, "asked"), "anthropic", asking=_asking).exit_code == 0
with anthropic.Anthropic(api_key="none") as _client:
    assert _client.messages.batches  # the client imports its parts when they are asked for
assert threading.active_count() == 1  # of a thread, a fork has nothing but its locks
