"""How many tokens a prompt has: by the service's own count, or by its length.

A token is a number of bytes of UTF-8 that depends on the model and on what is written: the default is a guess, what
this wiki was billed before is a better one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any

from agent_wiki.asking.journal import journal_folder
from agent_wiki.asking.options import AskingOptions
from agent_wiki.asking.prompts import BYTES_PER_TOKEN
from agent_wiki.engines import engine_that_asks
from agent_wiki.engines.anthropic_api.service import NotTaken, Service
from agent_wiki.engines.cache_forecast import Piece
from agent_wiki.engines.estimating import EstimatingEngine, Forecast
from agent_wiki.errors import ServiceFailed
from agent_wiki.pipeline import recordings_cache
from agent_wiki.pipeline.mine import Assignment, mine
from agent_wiki.readers.recording_path import RecordingPath
from agent_wiki.stages.order import SESSION_STAGES
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.store import WikiFolder

DEFAULT_ERROR = 0.3
JOURNAL_ERROR = 0.1

PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""The kinds of tokens that a prompt is billed as."""

_ENOUGH_ANSWERS = 5
_MOST_SAMPLED = 20


@dataclass(frozen=True, slots=True)
class Density:
    """Bytes a token of one model's prompts, the share by which that may be wrong, and how many answers it is from (0:
    none, it is the default)."""

    bytes_per_token: float = BYTES_PER_TOKEN
    error: float = DEFAULT_ERROR
    answers: int = 0


class ByBytes:
    """Counts tokens by the length of the text."""

    def __init__(self, densities: Mapping[str, Density]) -> None:
        self._densities = densities

    def __call__(self, body: Mapping[str, Any], piece: Piece) -> int:
        return round(piece.bytes / self._densities[str(body["model"])].bytes_per_token)


class ByService:
    """Counts tokens by the service: heads and marked pieces once, the rest each time, some at a time.

    Where the service does not count, `fallback` does, and `notes` says so. Raises `RunError` without a key.
    """

    def __init__(self, service: Service, fallback: ByBytes, concurrency: int) -> None:
        self._service = service
        self._fallback = fallback
        self._slots = BoundedSemaphore(concurrency)
        self._known: dict[tuple[str, str], int] = {}
        self._counting: dict[tuple[str, str], Lock] = {}
        self._lock = Lock()
        self._is_off = False
        self.counted = self.uncounted = 0
        self.notes: list[str] = []

    def __call__(self, body: Mapping[str, Any], piece: Piece) -> int:
        head = _with_text(body, ".")
        try:
            if self._is_off:
                raise ServiceFailed("it does not count")
            alone = self._once(head, "head")
            return max(0, alone - 1 if piece.is_head else self._of_message(body, piece) - (alone - 1))
        except (NotTaken, ServiceFailed) as error:
            self._note(error)
            return self._fallback(body, piece)

    def _of_message(self, body: Mapping[str, Any], piece: Piece) -> int:
        asked = _with_text(body, piece.text)
        return self._once(asked, "message") if piece.lifetime is not None else self._counted(asked)

    def _once(self, body: Mapping[str, Any], kind: str) -> int:
        key = (kind, _key_of(body))
        with self._lock:
            counting = self._counting.setdefault(key, Lock())
        with counting:  # others wait, so that it is counted once
            if key not in self._known:
                self._known[key] = self._counted(body)
            return self._known[key]

    def _counted(self, body: Mapping[str, Any]) -> int:
        with self._slots:
            counted = self._service.count_tokens(body)
        with self._lock:
            self.counted += 1
        return counted

    def _note(self, error: Exception) -> None:
        with self._lock:
            self.uncounted += 1
            if isinstance(error, ServiceFailed) and not self._is_off:
                self._is_off = True
                self.notes.append(f"{error}; tokens are estimated by bytes")


def _with_text(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The prompt of a request with nothing but `text` as its message; the same for all that differ only in that."""
    prompt = {name: value for name, value in body.items() if name != "max_tokens"}
    return {**prompt, "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}


def _key_of(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    return hashlib.sha256(text).hexdigest()


def densities_of(wiki: Path, engine_name: str, asking: AskingOptions) -> dict[str, Density]:
    """Bytes a token for each model that a stage asks, from what this wiki's journal says was billed.

    The journal has no prompts. So some recordings that the wiki knows are read again, and their questions put to the
    journal alone. The default where there are too few answers. Raises what `engine_that_asks` raises.
    """
    billed = _Billed()
    options = replace(asking, is_exact=False)
    real = engine_that_asks(engine_name, wiki, options, SESSION_STAGES)
    engine = EstimatingEngine(real, wiki, options, SESSION_STAGES, _no_count, billed.add, is_only_journal=True)
    try:
        if asking.is_journaled and journal_folder(wiki).is_dir():
            for path in _sample(wiki):
                mine(Assignment(path, path.name, SESSION_STAGES, engine, rewrite=True), {})
        return {model: billed.density(model) for model in sorted({each or real.name for each in real.models.values()})}
    finally:
        engine.close()


def _sample(wiki: Path) -> list[RecordingPath]:
    """Some recordings that the wiki was made from and that have not changed, spread over all."""
    cache = recordings_cache.load(WikiFolder(wiki, is_dry_run=True))
    paths = [recordings_cache.known_path(key, entry) for key, entry in sorted(cache.items())]
    known = [path for path in paths if recordings_cache.unchanged(cache, path) is not None]
    return known[:: max(1, len(known) // _MOST_SAMPLED)][:_MOST_SAMPLED]


class _Billed:
    """Bytes and tokens of prompts that were billed, by model."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()

    def add(self, forecast: Forecast) -> None:
        usage = forecast.usage or {}
        tokens = sum(usage.get(kind, 0) for kind in PROMPT_TOKENS)
        if tokens:
            self._bytes[forecast.model] += forecast.bytes
            self._tokens[forecast.model] += tokens
            self._answers[forecast.model] += 1

    def density(self, model: str) -> Density:
        if self._answers[model] < _ENOUGH_ANSWERS:
            return Density()
        return Density(self._bytes[model] / self._tokens[model], JOURNAL_ERROR, self._answers[model])


def _no_count(body: Mapping[str, Any], piece: Piece) -> int:  # noqa: ARG001 - the names are the protocol's
    return 0  # nothing is forecast that the journal does not answer
