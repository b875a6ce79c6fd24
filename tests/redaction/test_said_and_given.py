"""Secrets as people and programs give them: cookies, keys as users, passwords in words, options of single programs."""

from __future__ import annotations

import json

import pytest

from agent_wiki.redaction.redact import redact_json, redact_text

RANDOM = "k9XcN2OPmeM7jvqPVS4tNKiaEdF8rRgSnRFs8KqZ"
DIGITS = "9f86d081884c7d659a2feaa0c55ad015"
PASSWORD = "S3cr3tPw9!"

GIVEN = [
    (f"curl -fsS -b 'session={RANDOM}' https://api.shop.example/me", RANDOM),
    (f'curl --cookie "sid={RANDOM}" https://shop.example', RANDOM),
    (f"curl -b JSESSIONID={RANDOM} https://shop.example", RANDOM),
    (f'get(url, headers={{"Cookie": "session={RANDOM}"}})', RANDOM),
    (f'get(url, cookies={{"session": "{RANDOM}"}})', RANDOM),
    (f'document.cookie = "session={RANDOM}"', RANDOM),
    (f"curl -fsS -u {DIGITS}: https://api.shop.example/charges", DIGITS),
    (f'curl https://api.shop.example/charges -u "{RANDOM}:"', RANDOM),
    (f"git push https://{DIGITS}@git.shop.example/x.git", DIGITS),
    (f"log in to the shop, user: kim pass: {PASSWORD}", PASSWORD),
    (f"user: kim pwd: {PASSWORD}", PASSWORD),
    (f"the till, user=kim pass={PASSWORD}", PASSWORD),
    (f"my pw is {PASSWORD}", PASSWORD),
    (f"ADMIN_PW={PASSWORD}", PASSWORD),
    (f"Deploy it. Here is the key: {RANDOM}", RANDOM),
    (f"use this token {RANDOM} to publish", RANDOM),
    (f"config/master.key: {DIGITS}", DIGITS),
    ("the passphrase: correct horse battery staple", "correct horse battery staple"),
    (f"Das Passwort lautet {PASSWORD}", PASSWORD),
    ("otpauth://totp/Shop:kim?secret=JBSWY3DPEHPK3PXPJBSWY3DP&issuer=Shop", "JBSWY3DPEHPK3PXPJBSWY3DP"),
    (f"7z x -p{PASSWORD} a.7z", PASSWORD),
    (f"ssh-keygen -t ed25519 -N '{PASSWORD}' -f k", PASSWORD),
    (f"openssl enc -aes-256-cbc -k {PASSWORD} -in a", PASSWORD),
    (f"sqlplus kim/{PASSWORD}@till", PASSWORD),
    (f"smbclient //host/till -U kim%{PASSWORD}", PASSWORD),
    (f"net user kim {PASSWORD} /add", PASSWORD),
    (f"rclone config create s3 s3 secret_access_key {RANDOM}", RANDOM),
]

HARMLESS = [
    "3 tests pass: failed2retry is the last one",
    "user: kim, tests pass: 12 of 12",
    "pwd: /srv/shop/till",
    "the users run pwsh: version 7.4.1",
    "curl -b cookies.txt https://shop.example",
    "curl -u kim: https://shop.example",
    "ssh://git@github.com/shop/till.git",
    "postgres://application_user_of_the_shop@db.shop.example/till",
    "ssh-keygen -t ed25519 -N '' -f key",
    "net user kim /active:yes",
    "here is the key: press enter to go on",
    "use the token authentication of the shop",
    "the passphrase: leave it empty for the test",
    "cookies = {}; cookie: none",
    "openssl enc -d -in a.enc",
    "session_id=0190c3e1-7d7c-7a41-9f3b-6c1f0e5d2a10",
]


@pytest.mark.parametrize(("text", "secret"), GIVEN)
def test_a_secret_is_found_as_it_is_given_in_a_text_and_in_a_call(text: str, secret: str) -> None:
    assert secret not in redact_text(text)[0]
    called, count = redact_json(json.dumps({"command": text}))
    assert secret not in called
    assert count
    assert json.loads(called)


def test_a_cookie_is_found_in_a_call_that_gives_headers_as_an_object() -> None:
    call = json.dumps({"url": "https://shop.example", "headers": {"Cookie": f"theme=dark; sid={RANDOM}"}})
    redacted, count = redact_json(call)
    assert count == 1
    assert json.loads(redacted)["headers"]["Cookie"] == "theme=dark; sid=[REDACTED:cookie]"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_reads_like_one_is_left(text: str) -> None:
    assert redact_text(text) == (text, 0)
