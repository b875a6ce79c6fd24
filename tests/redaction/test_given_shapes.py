"""Secrets that the setting, the command or the list around them gives away, and what only stands where they would."""

from __future__ import annotations

import json

import pytest

from agent_wiki.redaction.redact import redact_json, redact_text
from tests.planted import private_key

SECRET = "Tr0ub4dor-" + "Hh7mQ2xW"
RANDOM = "aB3dE5gH7jK9" + "mN1pQ3zzYw4tU8"
WORD = "correcthorse" + "battery"

ARGUMENTS: list[object] = [
    {"password": [SECRET]},
    {"password": "123456" + "789"},
    {"api_key": [RANDOM]},
    ["docker", "login", "-u", "ann", "-p", SECRET],
    ["docker", "login", "--password", SECRET, "host.invalid"],
    ["mysql", "-u", "root", f"-p{SECRET}"],
    ["mariadb-dump", f"-p{SECRET}", "shop"],
    {"Name": "till", "SecretString": WORD},
    {"Parameter": {"Name": "till", "Type": "SecureString", "Value": SECRET}},
    {"kty": "EC", "crv": "P-256", "d": RANDOM, "x": f"{RANDOM}1"},
    {"d": RANDOM, "kty": "RSA"},
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_secret_in_a_list_or_a_field_is_found_in_a_call_and_in_a_text(arguments: object, indent: int | None) -> None:
    text = json.dumps(arguments, indent=indent)
    secret = next(each for each in (SECRET, WORD, RANDOM, "123456" + "789") if each in text)
    shown, count = redact_json(text)
    assert (count, f'{secret}"' in shown) == (1, False)
    assert json.loads(shown)
    assert redact_json(json.dumps({"command": text}))[1] == 1
    assert redact_text(f"it says {text}")[1] == 1
    assert redact_json(shown) == (shown, 0)


TEXTS = [
    (f"db.pass={SECRET}", SECRET),
    (f"java -Dshop.db.pass={SECRET} -jar a.jar", SECRET),
    (f"requirepass {SECRET}", SECRET),
    (f"redis-server --requirepass {SECRET}", SECRET),
    (f"NEO4J_AUTH=neo4j/{WORD}", WORD),
    (f"- NEO4J_AUTH=neo4j/{SECRET}", SECRET),
    (f"CREATE LOGIN ann WITH PASSWORD=N'{SECRET}'", SECRET),
    (f"CREATE LOGIN ann WITH PASSWORD = N'{SECRET}';", SECRET),
    (f'export BW_SESSION="{RANDOM * 2}=="', RANDOM),
    (f"echo {SECRET} | sudo passwd --stdin ann", SECRET),
    (f"tool -user ann -password {SECRET} -x", SECRET),
    (f"services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {WORD}\n", WORD),
    (f"machine host.invalid login ann password {WORD}", WORD),
    (f"machine host.invalid\n  login ann\n  password {WORD}\n", WORD),
    ("AGE-SECRET-" + "KEY-PQ-1" + "QW3E5RT7" * 8, "QW3E5RT7"),
]


@pytest.mark.parametrize(("text", "secret"), TEXTS)
def test_a_secret_of_a_setting_or_a_command_is_found_at_any_depth(text: str, secret: str) -> None:
    for depth in range(3):
        shown, count = redact_text(text) if depth == 0 else redact_json(text)
        assert (count, secret in shown) == (1, False), shown
        assert redact_text(shown) == (shown, 0)
        text = json.dumps({"command": text})


def test_a_key_of_ssh2_with_four_dashes_goes_as_a_whole() -> None:
    lines = private_key().split("\n")[1:-1]
    begin, end = (f"---- {word} SSH2 ENCRYPTED PRIVATE" + " KEY ----" for word in ("BEGIN", "END"))
    text = "\n".join([begin, 'Comment: "rsa-key"', *lines, end])
    assert redact_text(f"it is\n{text}\ndone") == ("it is\n[REDACTED:private-key]\ndone", 1)


KEPT = [
    '{"password": ["required", "min:8"], "tokens": ["a1b2c3d4e5f6g7"]}',
    '{"password": ["The password is too short."]}',
    '["mkdir", "-p", "/srv/shop-2024"]',
    '["login", "-p", "$PASSWORD"]',
    '["mysql", "-P3306", "-p"]',
    '{"Type": "SecureString", "KeyId": "alias/shop-2024"}',
    '{"SecretString": "string"}',
    '{"kty": "EC", "crv": "P-256", "x": "aB3dE5gH7jK9mN1pQ3zzYw4tU8", "kid": "aB3dE5gH7jK9mN1pQ3zzYw4tU8"}',
    "compass.pass: 12a",
    "set requirepass in redis.conf, then requirepass is on",
    "NEO4J_AUTH=none",
    "NEO4J_AUTH=neo4j/${NEO4J_PASSWORD}",
    "unset BW_SESSION",
    "-password reset2fa is gone",
    "  DB_PASSWORD: SecretStr\n",
    "  DB_PASSWORD: database password of the shop\n",
    "  DB_PASSWORD: undefined\n",
    "---- BEGIN SSH2 PUBLIC KEY ----",
    'token: "0x' + "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" + '"',
    "Token: 2026-01-01T10:20:30.123Z",
    "token = 2026-01-01 10:20:30",
    "storage_key: uploads/2024/till/123e4567-e89b-12d3-a456-426614174000.png",
    "session_key = 123e4567-e89b-12d3-a456-426614174000",
    "service_key=svc.users.v2.prod-us1",
    "user = User(password: hashedPassword1)",
    "cache/key-" + "9f86d081884c7d659a2feaa0c55ad015" + ".json",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_one_is_kept(text: str) -> None:
    assert redact_text(text) == (text, 0)
    assert redact_json(json.dumps({"text": text}))[1] == 0


def test_the_sample_token_of_the_specification_is_kept_and_another_is_not() -> None:
    header = "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    sample = (
        header + ".ey" + "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ" + ".Sfl" + RANDOM
    )
    for text in (sample, f"Authorization: Bearer {sample}", f'{{"token": "{sample}"}}'):
        assert redact_text(text) == (text, 0)
    other = header + ".ey" + "JzdWIiOiJhbm4iLCJpYXQiOjE1MTYyMzkwMjJ9" + ".Sfl" + RANDOM
    assert redact_text(f"Authorization: Bearer {other}")[1] == 1


def test_a_private_key_of_64_digits_and_an_identifier_that_is_a_key_are_redacted() -> None:
    digits, identifier = "9f86d081884c7d659a2feaa0c55ad015", "123e4567-e89b-12d3-a456-" + "426614174000"
    for text in (
        f'{{"sessionToken": "{identifier}"}}',
        f"secret_key=0x{digits * 2}",
        f"api_key = {identifier}",
        f"key-{digits}. It",
    ):
        assert redact_text(text)[1] == 1
