"""A server on loopback that speaks the Messages API and the Message Batches API, for tests and benchmarks.

    with MessagesServer(answer=lambda asked: {"guidelines": []}) as server:
        client = anthropic.Anthropic(base_url=server.base_url, api_key="any")

Real HTTP to the real client, no network but loopback, no money. `python -m agent_wiki_testing.server` runs it by hand.
A real in-process substitute in place of mocks is httpx's idea. What it does as the service does, and where it is
simpler, is described in `CONTRIBUTING.md`.
"""

from __future__ import annotations

from agent_wiki_testing.answers import Asked, Reply
from agent_wiki_testing.endpoint import LOCAL, Endpoint
from agent_wiki_testing.faults import Fault
from agent_wiki_testing.ledger import Usage
from agent_wiki_testing.messages_server import MessagesServer

__all__ = ["LOCAL", "Asked", "Endpoint", "Fault", "MessagesServer", "Reply", "Usage"]
