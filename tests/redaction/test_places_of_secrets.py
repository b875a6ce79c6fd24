"""Secrets that their place alone gives away: what a program calls one, the next of a list, a line of a file."""

from __future__ import annotations

import base64
import json

import pytest

from agent_wiki.redaction.redact import redact_json, redact_text
from tests.planted import private_key, vendor_keys


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -H 'Authorization: SSWS 00{}'", "k2xL0pETGOIdaWIoRujKsJpw3Y0wLyjDBQSzdD6z"),
        ("the scanner has squ_{} as its key", "9b4485fc875f26b0f1dd3cad9bc2e628e3827b87"),
        ("keytool -list -keystore a.jks -storepass {}", "lamp0fTheShop"),
        ("jarsigner -keypass {} a.jar shop", "lamp0fTheShop"),
        ("wpa_passphrase 'Shop of lamps' {}", "lamp0fTheShop"),
        ("unzip -P {} a.zip", "lamp0fTheShop"),
        ("kim:$6$ab.cdEF1${}:19000:0:99999:7:::", "0kQ.m3zR/tV8wYbC5dF7gH1jLnP" * 3 + "aZ9u2"),
        ("kim:$2y$10${}", "Qx1" * 17 + "Ab"),
    ],
)
def test_what_one_program_alone_calls_a_secret_is_found(text: str, secret: str) -> None:
    assert secret not in redact_text(text.format(secret))[0]


@pytest.mark.parametrize("text", ["echo $6$abc", "awk '{print $2, $6}'", "SSWS 00 is a scheme", "unzip -P", "squ_id",
                                  "re_validate_all_the_totals_of_a_cart2"])  # fmt: skip
def test_what_only_looks_like_these_is_kept(text: str) -> None:
    assert redact_text(text)[0] == text


@pytest.mark.parametrize("name", ["RSYNC_PASSWORD", "GOLD_PASSWORD", "OLD_PASSWORD", "HOMEPAGE_TOKEN", "UNMASK_SECRET"])
def test_a_name_that_only_ends_like_one_of_paging_is_a_name_for_a_secret(name: str) -> None:
    secret = "Tr0ub4dor-" + "Hh7mQ2xW"
    assert secret not in redact_text(f"{name}={secret} rsync -a x y")[0]


@pytest.mark.parametrize("name", ["next_page_token", "nextPageToken", "NEXT_SYNC_TOKEN", "syncToken", "oldToken"])
def test_a_token_of_paging_is_kept(name: str) -> None:
    assert redact_text(f"{name}=CAUQAA1234567890abcdef")[1] == 0


@pytest.mark.parametrize("kind", ["aws", "github", "npm", "groq", "linear"])
@pytest.mark.parametrize("padded", [True, False])
def test_a_key_of_a_fixed_length_is_found_in_base64_to_its_last_characters(kind: str, padded: bool) -> None:
    encoded = base64.b64encode(vendor_keys()[kind].encode()).decode()
    assert redact_text(f"cat key | base64\n{encoded if padded else encoded.rstrip('=')}\n")[1] == 1


@pytest.mark.parametrize(
    ("arguments", "secret"),
    [
        ({"args": ["-y", "server", "--api-key", "{}"]}, "aB3dE5gH7jK9" + "mN1pQ3zz"),
        ({"argv": ["tool", "--password", "{}"]}, "Tr0ub4dor-" + "Hh7mQ2xW"),
        ({"auth": {"user": "ann", "pass": "{}"}}, "Tr0ub4dor-" + "Hh7mQ2xW"),
        ({"headers": {"Authorization": "Basic {}"}}, base64.b64encode(b"ann:Tr0ub4dor7").decode()),
        ({"env": [{"name": "DB_PASSWORD", "value": "{}"}]}, "Tr0ub4dor-" + "Hh7mQ2xW"),
        ({"outputs": {"db_password": {"value": "{}", "type": "string"}}}, "Tr0ub4dor-" + "Hh7mQ2xW"),
    ],
)
def test_what_only_several_strings_of_a_call_give_away_is_found(arguments: object, secret: str) -> None:
    for indent in (None, 4) if "value" in str(arguments) else (None,):
        text = json.dumps(arguments, indent=indent).replace("{}", secret)
        for shown in (redact_json(text)[0], json.loads(redact_json(json.dumps({"command": text}))[0])["command"]):
            assert secret not in shown
            assert json.loads(shown)
        assert redact_json(redact_json(text)[0])[1] == 0


def test_what_is_next_to_a_name_without_being_given_to_it_is_kept() -> None:
    for text in (
        '{"required": ["password", "value1234"], "tokens": ["a1b2c3d4e5f6g7"]}',
        '{"name": "LOG_LEVEL", "value": "debug-all-0123456789"}',
        '{"name": "next_page_token", "value": "CAUQAA1234567890abcdef"}',
        '{"name": "DB_PASSWORD", "value": "${DB_PASSWORD}"}',
    ):
        assert redact_json(text) == (text, 0)


def test_every_line_of_a_key_of_putty_is_redacted() -> None:
    lines = private_key().split("\n")[1:4]
    for text in ("\n".join(lines), "\\n".join(lines), "\n".join(f"  {row}\t{line}" for row, line in enumerate(lines))):
        shown = redact_text(f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n{text}\nPrivate-MAC: a1b2\n")[0]
        assert not any(line[:20] in shown or line[-20:] in shown for line in lines)
        assert "Private-MAC: a1b2" in shown


def test_a_file_of_cookies_is_redacted() -> None:
    secret = "aB3dE5gH7jK9" + "mN1pQ3zzY8"
    for host in (".shop.invalid", "#HttpOnly_shop.invalid"):
        line = f"{host}\tTRUE\t/\tTRUE\t1799999999\tuser_session\t{secret}"
        for text in (line, json.dumps({"out": line})):
            assert secret not in redact_text(text)[0]
    assert redact_text("a\tTRUE\t/\tFALSE\t0\ttheme\tdark-and-light-blue")[1] == 0


_BUILD_TIME = "2026-01-01T00:00:00.0000000Z "


@pytest.mark.parametrize("front", [_BUILD_TIME, "2026-01-01 00:00:00,123 ", ""])
@pytest.mark.parametrize("headers", [[], ["Version: GnuPG v2 (shop)", "Comment: ann@shop.invalid!", ""]])
def test_a_key_that_is_cut_off_is_redacted_to_its_last_line(front: str, headers: list[str]) -> None:
    begin, *lines = private_key().split("\n")[:4]
    text = "\n".join(f"{front}{line}" for line in [begin, *headers, *lines])
    shown = redact_text(f"{text}\n{front}Done, (all) is well.")[0]
    assert not any(line[:20] in shown or line[-20:] in shown for line in lines)
    assert "(all) is well." in shown


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("shop.invalid:6543:shop:ann:{}", "Tr0ub4dor-" + "Hh7m"),
        ("*:*:*:ann:{}", "Tr0ub4dor-" + "Hh7m"),
        ("echo ::add-mask::{}", "Tr0ub4dor-" + "Hh7m"),
        ("https://a.invalid/b?X-Amz-Date=1&X-Amz-Signature={}", "a1b2c3d4" * 8),
        ("https://a.invalid/b?X-Goog-Signature={}&x=1", "a1b2c3d4" * 64),
        ("CREATE USER 'ann'@'%' IDENTIFIED WITH caching_sha2_password BY '{}';", "Tr0ub4dor-" + "Hh7m"),
    ],
)
def test_further_places_of_secrets(text: str, secret: str) -> None:
    assert secret not in redact_text(text.format(secret))[0]


def test_what_looks_like_these_places_is_kept() -> None:
    for text in ("lint *:*:*:warning:", "src/a.py:5432:7: error: undefined name", "::add-mask::$TOKEN", "a:6543:b"):
        assert redact_text(text) == (text, 0)
