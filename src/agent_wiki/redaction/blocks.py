"""Secrets that a block around them shows: private keys, whole or cut off, and the data of a Kubernetes secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.redaction.looks import stands_for_it
from agent_wiki.redaction.named_values import LINE
from agent_wiki.trajectory.lazily import regex

_KEY_BEGIN = regex(r"----[- ]BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?(?:-----| ----)")
_KEY_END = regex(r"----[- ]END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?(?:-----| ----)")
_KEY_BODY = regex(  # what is no base64: the headers of a key, and a time in front of a line, as logs of builds have it
    r"(?:(?:Version|Comment|Subject|Hash|Proc-Type|DEK-Info): [^\n\\]{0,200}"
    r"|\d\d:\d\d[.,]\d{1,9}(?=Z? )|[A-Za-z0-9+/=\s:,→|\"'-]|\\[nr])*+"
)
_KEY_LINE = regex(r"[A-Za-z0-9+/]{30}")
_BREAK = re.compile(r"\n|\\n")
_LONGEST_KEY = 20_000
_KEY_DATA = regex(r"client-key-data\\{0,3}[\"']?: ?\\{0,3}[\"']?(?P<secret>[A-Za-z0-9+/=]{40,9000})")  # of a kubeconfig

_KUBERNETES = regex(r"kind\\{0,3}[\"']?: ?\\{0,3}[\"']?Secret\b")
_DATA = regex(rf"(?:\b|\\n)(?:data|stringData)\\{{0,3}}[\"']?:(?: ?\{{)?(?={LINE}|\s*\\{{0,3}}[\"'])")
_ENTRY = regex(
    rf"(?:,?{LINE}|,?[ ]?)\\{{0,3}}[\"']?[\w.-]{{1,100}}\\{{0,3}}[\"']?: ?\\{{0,3}}[\"']?"
    r"(?P<secret>[A-Za-z0-9+/]{8,9000}={0,2})\\{0,3}[\"']?(?![\w+/=.:-])"
)


def block_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each; of a block that is cut off what is there."""
    if "PRIVATE KEY" in text:
        yield from _keys(text)
    if "client-key-data" in text:
        yield from ((*match.span("secret"), "private-key") for match in _KEY_DATA.finditer(text))
    if "kind" in text and "Secret" in text and _KUBERNETES.search(text):
        yield from _kubernetes_data(text)


def _keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Whole blocks, also with line breaks written \\n, with line numbers, or without their beginning or end."""
    begins, passed = [*_KEY_BEGIN.finditer(text)], 0
    for begin, after in zip(begins, [*(each.start() for each in begins[1:]), len(text)], strict=False):
        yield from _beheaded(text, passed, begin.start())
        limit = min(after, begin.end() + _LONGEST_KEY)
        end = _KEY_END.search(text, begin.end(), limit) or _KEY_BODY.match(text, begin.end(), limit)
        passed = end.end() if end else begin.end()
        if end and _KEY_LINE.search(text, begin.end(), passed):
            yield begin.start(), begin.end() + len(text[begin.end() : passed].rstrip(" \t\r\n\"'\\")), "private-key"
    yield from _beheaded(text, passed, len(text))


def _beheaded(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """The rest of a block whose beginning is not shown: the lines of base64 above its end."""
    end = _KEY_END.search(text, start, stop)
    if end is None:
        return
    above = max(start, end.start() - _LONGEST_KEY)
    lines = [above, *(match.end() for match in _BREAK.finditer(text, above, end.start()))]
    first: re.Match[str] | None = None
    for at, until in zip(lines[-2::-1], lines[:0:-1], strict=True):
        found = _KEY_LINE.search(text, at, until)
        if found is None:
            break
        first = found
    if first:
        yield first.start(), end.end(), "private-key"


def _kubernetes_data(text: str) -> Iterator[tuple[int, int, str]]:
    for data in _DATA.finditer(text):
        position = data.end()
        while entry := _ENTRY.match(text, position):
            position = entry.end()
            if not stands_for_it(entry.group("secret")):
                yield (*entry.span("secret"), "kubernetes-secret")
