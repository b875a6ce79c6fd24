"""The edge to the service: one request body out through the `anthropic` client, one record of an answer back.

Retries are the client's own (429, 5xx and lost connections, with jitter, honouring `retry-after`). Each attempt passes
the budget first: an attempt whose connection was lost may have been billed and counts at its worst case.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent_wiki.asking.budget import Budget
from agent_wiki.asking.prices import Price, cost_usd, worst_cost_usd
from agent_wiki.engines.anthropic_api.providers import Provider, login_errors
from agent_wiki.engines.anthropic_api.request import MessageRequest
from agent_wiki.errors import NoAnswer, RunError, ServiceFailed, UsageError
from agent_wiki.spending import TOKEN_KINDS

if TYPE_CHECKING:
    from anthropic import Anthropic, APIStatusError
    from anthropic._middleware import CallNext
    from anthropic._request import APIRequest
    from anthropic._response import APIResponse

ALLOW_MODEL_REQUESTS = True
"""Tests set this to False: then only a server on loopback is ever reached (the pattern is pydantic-ai's)."""

_RETRIES = 4
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NO_KEY = "no-key"
_SERVICE = "https://api.anthropic.com"
_ANTHROPIC = Provider()


class NotTaken(NoAnswer):
    """The service refuses the request as it is (400): perhaps the way in which structure was asked for."""


class BatchLost(Exception):
    """The connection was lost while a batch was sent: nobody knows whether it was taken."""


class BatchGone(Exception):
    """A batch that was taken is not there any more, or its results are not."""


class _Lost(BaseException):
    """A connection that was lost. No `Exception`: those the client tries again, and would send the batch twice."""


class Service:
    """One endpoint, shared by the threads of a run. `prices` by model; a model without one has an unknown cost.

    Raises `UsageError` for a `base_url` that is no address.
    """

    def __init__(
        self, base_url: str | None, prices: Mapping[str, Price], budget: Budget, provider: Provider = _ANTHROPIC
    ) -> None:
        self._provider = provider
        if not _is_address(_address(base_url) or _SERVICE):
            raise UsageError("--base-url: not the address of a server, such as http://127.0.0.1:8080")
        self._base_url = base_url
        self._prices = prices
        self._budget = budget
        self._client: Anthropic | None = None
        self._has_answered = False
        self._lock = Lock()

    @property
    def endpoint(self) -> str:
        """The address that is asked, without what may be secret in it; of other providers their name and region."""
        if self._provider.is_other:
            return self._provider.endpoint
        parts = urlsplit(_address(self._base_url) or _SERVICE)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path.rstrip('/')}"

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def ask(self, request: MessageRequest) -> dict[str, Any]:
        """Send one request. Out: `answer` (text), `stop_reason`, `detail`, `usage`, `cost_usd`; unknown is absent.

        Raises `BudgetReached`, `RunError` where no request can succeed, `NotTaken` where this one cannot, and
        `ServiceFailed` where it could not be answered now.
        """
        body, tokens = request.body, request.most_prompt_tokens
        price = self._prices.get(str(body["model"]))
        worst = 0.0 if price is None else worst_cost_usd(tokens, int(body["max_tokens"]), price)
        toll = _Toll(self._budget, worst)
        try:
            answered = self.record_of(self._sent(body, toll), str(body["model"]))
            toll.pay(answered.get("cost_usd"))
        finally:
            toll.pass_lost()
        self._has_answered = True
        return answered

    def _sent(self, body: Mapping[str, Any], toll: _Toll) -> Any:
        import anthropic

        try:
            return self.open().with_middleware(toll).messages.create(**body)
        except anthropic.APIStatusError as error:
            raise self._failure(error, str(body["model"])) from error
        except anthropic.APIConnectionError as error:
            raise self._unreachable(error) from error
        except (anthropic.APIError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ServiceFailed(f"{self.endpoint}: an answer that is no message ({error})") from error
        except login_errors() as error:
            if not self._provider.is_other:
                raise
            raise self._provider.login_failed(error) from error

    def price_of(self, model: str) -> Price | None:
        """What a model costs; None when that is not known."""
        return self._prices.get(model)

    def record_of(self, message: Any, model: str, batch_factor: float | None = None) -> dict[str, Any]:
        """What is kept of a message, as `ask` gives it; of one in a batch, with this factor on its cost.

        Raises `ServiceFailed` for what is no message, as a proxy may send.
        """
        price = self._prices.get(model)
        try:
            usage = _usage(message.usage)
            content = [] if message.content is None and usage else message.content  # it is billed all the same
            record: dict[str, Any] = {"answer": _text(content), "stop_reason": message.stop_reason, "usage": usage}
        except (AttributeError, TypeError) as error:
            raise ServiceFailed(f"{self.endpoint}: an answer that is no message ({error})") from error
        detail = getattr(message, "stop_details", None)
        explanation = getattr(detail, "explanation", None) or getattr(detail, "category", None)
        if explanation:
            record["detail"] = str(explanation)
        if price is not None and {"input_tokens", "output_tokens"} <= record["usage"].keys():
            is_batched = batch_factor is not None  # where marks live for an hour
            cost = cost_usd(record["usage"], price, is_long_lived=is_batched)
            record["cost_usd"] = cost if batch_factor is None else batch_factor * cost
        return record

    def count_tokens(self, body: Mapping[str, Any]) -> int:
        """The service's own count of a request's prompt. Nothing is answered, and nothing is billed.

        Raises `NotTaken` where it cannot count this one, `ServiceFailed` where it does not count, or not now, and
        `RunError`.
        """
        import anthropic

        asked: dict[str, Any] = {name: value for name, value in body.items() if name != "max_tokens"}
        try:
            counted = self.open().messages.count_tokens(**asked).input_tokens
        except anthropic.NotFoundError as error:
            raise ServiceFailed(f"{self.endpoint} does not count tokens of {body['model']} (404)") from error
        except anthropic.APIStatusError as error:
            raise self._failure(error, str(body["model"])) from error
        except anthropic.APIConnectionError as error:
            raise self._unreachable(error) from error
        except (anthropic.AnthropicError, json.JSONDecodeError, AttributeError) as error:
            raise ServiceFailed(f"{self.endpoint}: a count of tokens that is none ({error})") from error
        if not isinstance(counted, int):
            raise ServiceFailed(f"{self.endpoint}: a count of tokens that is none")
        self._has_answered = True
        return counted

    def send_batch(self, bodies: Mapping[str, Mapping[str, Any]]) -> str:
        """Send requests by name as one batch; its id. Raises `BatchLost`, `ServiceFailed`, or `RunError`."""
        requests: Any = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        with self._batch_failures():
            try:
                return str(self.open().with_middleware(_lost_once).messages.batches.create(requests=requests).id)
            except _Lost as error:
                raise BatchLost(f"{self.endpoint}: connection lost while a batch was sent ({error})") from error

    def has_ended(self, batch_id: str) -> bool:
        """True when a batch has ended.

        Raises `BatchGone` where nobody can have its results any more, `ServiceFailed` or `RunError`.
        """
        import anthropic

        with self._batch_failures():
            try:
                batch = self.open().messages.batches.retrieve(batch_id)
            except anthropic.NotFoundError as error:
                raise BatchGone(f"{self.endpoint} does not have {batch_id} any more") from error
        has_ended = bool(batch.processing_status == "ended")
        if has_ended and not batch.results_url:
            raise BatchGone(f"{self.endpoint} does not keep the results of {batch_id} any more")
        return has_ended

    def batch_results(self, batch_id: str) -> Iterator[tuple[str, Any]]:
        """Name and result of each request of a batch that has ended, in any order.

        Raises `ServiceFailed` where they end midway; what came before counts.
        """
        with self._batch_failures():
            for each in self.open().messages.batches.results(batch_id):
                yield each.custom_id, each.result

    def list_batches(self) -> Iterator[tuple[str, datetime.datetime, int]]:
        """Id, time and number of requests of the batches of this key, the newest first."""
        with self._batch_failures():
            for each in self.open().messages.batches.list(limit=100):
                counts = each.request_counts
                size = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                yield each.id, each.created_at, size

    @contextmanager
    def _batch_failures(self) -> Iterator[None]:
        """What goes wrong with batches, as the errors of every request."""
        import anthropic
        import httpx2

        try:
            yield
        except anthropic.NotFoundError as error:
            message = " ".join(str(error.message).split())[:200]
            raise RunError(f"{self.endpoint} does not do this batch ({message}); is --batch right for it?") from error
        except anthropic.APIStatusError as error:
            failure = self._failure(error, "batch")
            raise RunError(str(failure)) if isinstance(failure, NotTaken) else failure from error
        except anthropic.APIConnectionError as error:
            raise self._unreachable(error) from error
        except (anthropic.APIError, anthropic.AnthropicError, httpx2.HTTPError, json.JSONDecodeError) as error:
            raise ServiceFailed(f"{self.endpoint}: a batch could not be read to its end ({error})") from error

    def open(self) -> Anthropic:
        """The client. Nothing is sent. Raises `RunError` without a key."""
        with self._lock:
            if self._client is None:
                self._client = _client(self._base_url, self._provider)
            return self._client

    def _failure(self, error: APIStatusError, model: str) -> Exception:
        message = " ".join(str(error.api_message or error.message).split())[:300]
        status = error.status_code
        if status in (401, 402, 403):
            return RunError(f"{self.endpoint} does not accept the key ({status}: {message})")
        if status == 404:
            return RunError(f"{self.endpoint} does not have {model} (404: {message}); name another with --model")
        if status in (400, 413, 422):
            return NotTaken(f"{model}: the request was not taken ({status}: {message})")
        return ServiceFailed(f"{model}: no answer after {_RETRIES} retries ({status}: {message})")

    def _unreachable(self, error: Exception) -> Exception:
        reason = str(error.__cause__ or error)
        if self._has_answered:
            return ServiceFailed(f"{self.endpoint}: connection lost after {_RETRIES} retries ({reason})")
        return RunError(f"{self.endpoint} cannot be reached ({reason}); is --base-url right, and is it up?")


def _address(base_url: str | None) -> str | None:
    """The address as the client takes it, which adds `/v1` itself; None for the service's own."""
    address = base_url or os.environ.get("ANTHROPIC_BASE_URL")
    return address.rstrip("/").removesuffix("/v1") if address else None


def _is_address(address: str) -> bool:
    """True for what a client can be pointed at. A wrong one may hold a secret and is not named."""
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _client(base_url: str | None, provider: Provider) -> Anthropic:
    import anthropic

    if provider.is_other:
        made = provider.client(base_url, _RETRIES)
        if not ALLOW_MODEL_REQUESTS and made.base_url.host not in _LOOPBACK:
            raise RunError(f"{provider.endpoint}: requests to a real service are not allowed here")
        return made
    address = _address(base_url)
    has_key = bool(os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN"))
    if address is None and not has_key:
        raise RunError("--engine anthropic needs a key: set ANTHROPIC_API_KEY, or name a server with --base-url")
    if not ALLOW_MODEL_REQUESTS and urlsplit(address or _SERVICE).hostname not in _LOOPBACK:
        raise RunError(f"{address or _SERVICE}: requests to a real service are not allowed here")
    return anthropic.Anthropic(base_url=address, api_key=None if has_key else _NO_KEY, max_retries=_RETRIES)


def _lost_once(request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
    """Ends the client's own tries when a connection is lost; what the service itself refuses is tried again."""
    try:
        return call_next(request)
    except Exception as error:  # an answer of the service, good or bad, is returned and not raised here
        raise _Lost(str(error)) from error


class _Toll:
    """What one request pays: a reservation for each attempt, settled when the attempt is over."""

    def __init__(self, budget: Budget, worst_usd: float) -> None:
        self._budget = budget
        self._worst_usd = worst_usd
        self._is_open = False

    def __call__(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        self._budget.reserve(self._worst_usd)
        self._is_open = True
        try:
            response = call_next(request)
        except BaseException:
            self.pass_lost()
            raise
        if not response.http_response.is_success:
            self._settle(0.0)
        return response

    def pay(self, cost_usd: float | None) -> None:
        """The attempt was answered, and this is what it cost; None when nobody knows."""
        self._settle(self._worst_usd if cost_usd is None else cost_usd)

    def pass_lost(self) -> None:
        """Whatever attempt is still open was lost, perhaps after its answer was made and billed."""
        self._settle(self._worst_usd)

    def _settle(self, cost_usd: float) -> None:
        if self._is_open:
            self._is_open = False
            self._budget.settle(self._worst_usd, cost_usd)


def _usage(reported: Any) -> dict[str, int]:
    counts = {name: getattr(reported, name, None) for name in TOKEN_KINDS}
    lifetimes = getattr(reported, "cache_creation", None)
    for name in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"):
        counts[name] = getattr(lifetimes, name, None)
    return {name: count for name, count in counts.items() if type(count) is int and count >= 0}


def _text(content: list[Any]) -> str:
    """What was said: the input of a called tool as JSON, else all text."""
    for block in content:
        if block.type == "tool_use":
            return json.dumps(block.input, ensure_ascii=False)
    return "".join(block.text for block in content if block.type == "text")
