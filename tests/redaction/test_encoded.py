"""Base64 of a whole text with secrets in it is redacted, and other base64 is kept."""

from __future__ import annotations

import base64
import hashlib
import json
import random

import pytest

from agent_wiki.redaction.places import json_spans
from agent_wiki.redaction.redact import redact_json, redact_text
from tests.hangs import no_hang
from tests.planted import given_secrets, vendor_keys

SECRET = "Tr0ub4dor-" + "Hh7mQ2xW"
SETTINGS = f"DB_HOST=db.shop.invalid\nPOSTGRES_PASSWORD={SECRET}\nDEBUG=1\n# Größe\n" * 4
IN_ONE = base64.b64encode(SETTINGS.encode()).decode()
WRAPPED = base64.encodebytes(SETTINGS.encode()).decode()
AT_60 = "\n".join(IN_ONE[start : start + 60] for start in range(0, len(IN_ONE), 60)) + "\n"

FORMS = [
    ("$ cat .env | base64 -w0\n{}kim@host:~$ ", IN_ONE),
    ("$ cat .env | base64\n{}kim@host:~$ ", WRAPPED),
    ("then {} is it", IN_ONE),
    ("CONTENT={}&more=1", IN_ONE),
    ("data:text/plain;base64,{}", IN_ONE),
    ("+{}", WRAPPED.replace("\n", "\n+")),
    ("{}", WRAPPED.replace("\n", "\\n")),
    ("said\\n{}\\n", IN_ONE),
    ("{}", "".join(f"    {row}\t{line}\n" for row, line in enumerate(WRAPPED.splitlines(), 1))),
    ("{}", IN_ONE[:-9]),
    ("{}", "\r\n".join(AT_60.splitlines())),
    ("{}", WRAPPED.split("\n", 1)[1]),
]


@pytest.mark.parametrize(("form", "encoded"), FORMS)
def test_base64_of_a_file_with_a_password_goes_as_a_whole(form: str, encoded: str) -> None:
    text = form.format(encoded)
    shown, count = redact_text(text)
    assert count == 1
    assert not any(line in shown for line in encoded.replace("\\n", "\n").split() if len(line) > 8)
    assert all(part.strip("\n") in shown for part in form.split("{}"))
    assert redact_text(shown) == (shown, 0)
    called, count = redact_json(json.dumps({"content": text, "encoding": "base64"}))
    assert (count, json.loads(called)["content"]) == (1, shown)


def test_what_a_forge_says_of_a_file_is_found_in_it_and_in_a_recording_of_it() -> None:
    answer = json.dumps({"name": ".env", "content": AT_60, "encoding": "base64", "sha": "d41d8cd98f00b204e9800998"})
    for text in (answer, json.dumps({"output": answer})):
        shown, count = redact_json(text)
        assert (count, AT_60[:50] in shown, AT_60[-50:-10] in shown) == (1, False, False)
        assert len(json_spans(text)) == 1
        assert json.loads(shown)


def test_the_planted_secrets_are_found_in_base64_of_a_file() -> None:
    planted = [*(f"token {key}" for key in vendor_keys().values()), *(text for text, _ in given_secrets())]
    for text in planted:
        encoded = base64.encodebytes(f"# a file of the shop\n{text}\n# and its end\n".encode()).decode()
        shown, count = redact_text(f"it says\n{encoded}done")
        assert (count, shown.startswith("it says\n[REDACTED:"), shown.endswith("]\ndone")) == (1, True, True), text


def _bytes(count: int) -> bytes:
    return random.Random(7).randbytes(count)


KEPT = [
    base64.b64encode(_bytes(4000)).decode(),
    base64.encodebytes(_bytes(4000)).decode(),
    base64.b64encode(b"\x89PNG\r\n\x1a\n" + _bytes(900)).decode(),
    base64.encodebytes(b"The shop is open, and its till is counted each night.\n" * 30).decode(),
    "sha512-" + base64.b64encode(hashlib.sha512(b"a").digest()).decode(),
    "\n".join(hashlib.sha256(bytes([each])).hexdigest() for each in range(40)),
    "//# sourceMappingURL=data:application/json;base64,"
    + base64.b64encode(json.dumps({"version": 3, "sources": ["a.ts"], "mappings": "AAAA" * 60}).encode()).decode(),
    "/srv/shop/till/components/buttons/primary/index",
    "RequestMappingHandlerAdapterFactoryBeanDefinitionParser",
    base64.b64encode(b"POSTGRES_PASSWORD=${POSTGRES_PASSWORD}\nTOKEN=your-token-here\n" * 4).decode(),
]


@pytest.mark.parametrize("text", KEPT)
def test_other_base64_is_kept(text: str) -> None:
    assert redact_text(text) == (text, 0)
    assert redact_json(json.dumps({"text": text}))[1] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [IN_ONE, WRAPPED, IN_ONE + "\n", "QUJD" * 8 + "\n", "QUJD" * 8 + " ", "QUJD" * 8 + "==", "QUJD" * 18 + "////\n"],
)
def test_much_base64_takes_no_time(unit: str) -> None:
    with no_hang():
        redact_text(unit * (200_000 // len(unit)))
        redact_text(base64.b64encode((unit * (100_000 // len(unit))).encode()).decode())
