"""`python -m agent_wiki_testing.server`: the test server run by hand, or by a benchmark as a process of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agent_wiki.errors import AgentWikiError
from agent_wiki_testing.answers import scripted
from agent_wiki_testing.endpoint import LOCAL, Endpoint
from agent_wiki_testing.messages_server import MessagesServer
from agent_wiki_testing.script import Script, read_script


def main(words: Sequence[str] | None = None) -> int:
    """`python -m agent_wiki_testing.server`: serve until Ctrl-C. The first line of output is the base URL."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_wiki_testing.server", description="A loopback server that speaks the Messages API."
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency-ms", type=int, default=None, help="before each answer")
    parser.add_argument("--script", type=Path, default=None, help="JSON with endpoint, answers, faults and seed")
    parser.add_argument("--local", action="store_true", help="play a server of local models")
    parser.add_argument("--no-bodies", action="store_true", help="keep no request bodies in memory")
    found = parser.parse_args(words)
    try:
        script = read_script(found.script) if found.script else Script()
    except AgentWikiError as error:
        parser.error(str(error))
    endpoint = script.endpoint_or(LOCAL if found.local else Endpoint())
    if found.latency_ms is not None:
        endpoint = endpoint.model_copy(update={"latency_seconds": found.latency_ms / 1_000})
    server = MessagesServer(
        scripted(script.answers),
        endpoint,
        script.faults,
        seed=script.seed,
        port=found.port,
        keeps_bodies=not found.no_bodies,
    )
    sys.stdout.write(server.base_url + "\n")
    sys.stdout.flush()
    server.serve_until_interrupted()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
