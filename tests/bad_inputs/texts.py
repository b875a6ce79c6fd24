"""What is wrong with a text, whatever it should be: JSON, YAML, Markdown; and what is wrong as JSON or YAML."""

from __future__ import annotations

import gzip
import json

import zstandard

from tests.wikis import chat

_DEEP = 3_000
_GOOD = json.dumps(chat("good")).encode()

ANY = {
    "empty": b"",
    "blank": b" \n\t\n ",
    "one-zero-byte": b"\0",
    "zero-bytes": b"\0" * 4_096,
    "byte-order-mark-alone": b"\xef\xbb\xbf",
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "utf-32": '{"a": 1}'.encode("utf-32"),
    "latin-1": "Schl\xfcssel: \xe4".encode("latin-1"),
    "broken-utf-8": b'{"a": "\xc3\x28\xff\xfe"}',
    "random-bytes": bytes(range(256)) * 8,
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "program": b"\x7fELF" + bytes(64),
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "escape-codes": b"\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m",
    "carriage-returns": b"a\rb\rc\r",
    "line-without-end": b"x" * 300_000,
    "many-lines": b"x\n" * 20_000,
    "html": b"<!doctype html><script>alert(1)</script>",
    "shell-script": b"#!/bin/sh\nrm -rf /\n",
    "conflict-markers": b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
    "number": b"42",
    "huge-number": b"9" * 5_000,
    "text-in-quotes": b'"text"',
    "null": b"null",
    "true": b"true",
    "empty-list": b"[]",
    "empty-object": b"{}",
    "list-of-nothing": b"[null, null]",
    "nested-lists": b"[" * _DEEP + b"]" * _DEEP,
    "nested-objects": b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
    "never-closed": b"[" * _DEEP,
    "twice-the-same-key": b'{"messages": [], "messages": 1}',
    "not-a-number": b'{"a": NaN, "b": -Infinity}',
    "half-a-character": b'{"a": "\\ud83d"}',
    "trailing-comma": b'{"a": [1,]}',
    "two-values": b"{} {}",
    "prototype": b'{"__proto__": {"a": 1}, "__class__": "os.system"}',
    "template": b"{{ 7 * 7 }} {% for x in y %}",
    "settings": b'{"theme": "dark"}',
}  # fmt: skip

YAML = {
    "alias-bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % ((b + 1, b + 1) + (b,) * 9) for b in b"abcdefgh"
    ),
    "alias-of-itself": b"a: &a\n  b: *a\n",
    "unknown-alias": b"a: *b\n",
    "python-object": b"a: !!python/object/apply:os.system [id]\n",
    "tab": b"a:\n\tb: 1\n",
    "list": b"- a\n- b\n",
    "two-documents": b"a: 1\n---\nb: 2\n",
    "unclosed-quote": b'a: "b\n',
    "unclosed-flow": b"a: {b: [c\n",
    "key-of-a-list": b"? [a, b]\n: c\n",
    "dates": b"2026-01-01: 2026-99-99\n",
    "merge-key": b"a: &a {b: 1}\nc:\n  <<: *a\n  <<: 7\n",
    "deep": b"".join(b" " * level + b"a:\n" for level in range(300)),
}  # fmt: skip

PACKED = {
    "gzip-cut.json.gz": gzip.compress(_GOOD * 20)[:-30],
    "gzip-of-nothing.json.gz": gzip.compress(b""),
    "gzip-of-gzip.json.gz": gzip.compress(gzip.compress(_GOOD)),
    "gzip-head-alone.json.gz": b"\x1f\x8b",
    "gzip-bomb.json.gz": gzip.compress(b"[" + b"[]," * 8_000_000),
    "zstd-head-alone.json.zst": b"\x28\xb5\x2f\xfd",
    "zstd-damaged.json.zst": b"\x28\xb5\x2f\xfd" + b"\xff" * 64,
    "zstd-cut.json.zst": zstandard.ZstdCompressor().compress(_GOOD * 20)[:-5],
    "zip-of-nothing.eval": b"PK\x05\x06" + bytes(18),
    "zip-damaged.eval": b"PK\x03\x04" + b"\0" * 64,
    "parquet-head-alone.parquet": b"PAR1",
    "parquet-damaged.parquet": b"PAR1" + b"\xff" * 64 + b"PAR1",
    "database-head-alone.db": b"SQLite format 3\0",
    "database-damaged.db": b"SQLite format 3\0" + b"\xff" * 4_096,
}  # fmt: skip
