"""Secrets are taken out, what only looks like one stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.redaction.places import json_spans
from agent_wiki.redaction.redact import redact_json, redact_text, redact_trajectory
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory
from tests.hangs import no_hang
from tests.planted import HARMLESS, given_secrets, private_key, vendor_keys

CONTEXTS = ["{}", "see {} there", 'x = "{}"', "KEY={}\n", '{{"a": "one\\n{}\\ntwo"}}', "curl -H 'x: {}'", "ключ {} ☃"]


@pytest.mark.parametrize("name", list(vendor_keys()))
def test_a_vendors_key_is_redacted_wherever_it_is(name: str) -> None:
    secret = vendor_keys()[name]
    for context in CONTEXTS:
        text, count = redact_text(context.format(secret))
        assert count == 1, context
        assert secret not in text
        assert "[REDACTED:" in text
        assert redact_text(text) == (text, 0), context


@pytest.mark.parametrize(("text", "secret"), given_secrets())
def test_a_value_given_to_a_secrets_name_is_redacted(text: str, secret: str) -> None:
    redacted, count = redact_text(text)
    assert count == 1
    assert secret not in redacted
    assert redacted.replace(redacted[redacted.index("[") : redacted.index("]") + 1], "") != text
    assert redact_text(redacted) == (redacted, 0)


@pytest.mark.parametrize("word", ["echo", "printf"])
@pytest.mark.parametrize(
    ("before", "is_one"), [("", 1), (" ", 1), ("\\n", 1), ("\\u2028", 1), ("%3D", 1), ("x", 0), ("_", 0)]
)
def test_a_password_is_piped_by_a_command_of_its_own_perhaps_after_an_escape(
    word: str, before: str, is_one: int
) -> None:
    assert redact_text(f"{before}{word} horse-battery | sudo -S true")[1] == is_one


@pytest.mark.parametrize("name", ["mnemonic", "Mnemonic", "MNEMONIC", "seed phrase", "Seed phrase", "RECOVERY phrase"])
def test_a_seed_phrase_is_known_in_whatever_case_it_is_named(name: str) -> None:
    words = "ladder velvet orbit canyon maple thunder pencil river sunset glove cactus island"
    assert redact_text(f"{name}: {words}") == (f"{name}: [REDACTED:seed-phrase]", 1)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_text(text) == (text, 0)


@pytest.mark.parametrize("line_break", ["\n", "\\n", "\r\n", "\n    12→", "\n+"])
@pytest.mark.parametrize("label", ["", "RSA ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_goes_as_a_whole(line_break: str, label: str) -> None:
    assert redact_text(f"before {private_key(line_break, label)} after") == ("before [REDACTED:private-key] after", 1)


def test_a_private_key_that_was_cut_off_goes_too() -> None:
    cut_off = private_key()[:200]
    assert redact_text(f"{cut_off}\n\n... (truncated)") == ("[REDACTED:private-key]\n\n... (truncated)", 1)


def test_several_secrets_of_one_text_are_counted() -> None:
    keys = list(vendor_keys().values())
    text, count = redact_text("\n".join(keys))
    assert count == len(keys)
    assert not any(key in text for key in keys)


def test_the_kind_is_named() -> None:
    keys = vendor_keys()
    assert redact_text(keys["github"])[0] == "[REDACTED:github-token]"
    assert redact_text(f"TOKEN={keys['anthropic']}")[0] == "TOKEN=[REDACTED:anthropic-key]"
    assert redact_text('password = "q7!kd0Zp"')[0] == 'password = "[REDACTED:password]"'


def test_call_arguments_stay_json_and_keep_their_other_bytes() -> None:
    key = vendor_keys()["npm"]
    arguments = '{"b": 1.10,  "command": "export T=\\"' + key + '\\"\\n\\u00e9", "a": [true, null, 1e3]}'
    redacted, count = redact_json(arguments)
    assert count == 1
    assert redacted == arguments.replace(key, "[REDACTED:npm-token]")
    assert json.loads(redacted)["a"] == [True, None, 1000.0]


def test_an_argument_is_judged_with_its_name() -> None:
    arguments = json.dumps({"user": "ann", "password": "q7!kd0Zp", "query": "q7!kd0Zp", "n": {"k": 1}})
    assert redact_json(arguments) == (
        arguments.replace('"password": "q7!kd0Zp"', '"password": "[REDACTED:password]"'),
        1,
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"u": "https:\\/\\/bob:hx7Zq9rt2LmQ@db.example.org\\/"}', "url-password"),
        ('{"c": "\\u0070assword=hx7Zq9rt2LmQ"}', "password"),
        ('{"\\u0070assword": "hx7Zq9rt2LmQ"}', "password"),
    ],
)
def test_a_secret_is_found_where_json_spells_a_character_as_an_escape(text: str, kind: str) -> None:
    redacted, count = redact_json(text)
    assert ("hx7Zq9rt2LmQ" in redacted, count, f"[REDACTED:{kind}]" in redacted) == (False, 1, True)
    assert "hx7Zq9rt2LmQ" not in redact_text(f"{text} was answered")[0]
    place = text.index("hx7Zq9rt2LmQ")
    assert json_spans(text) == [(place, place + 12, kind)]


def check_password(text: str, secret: str) -> None:
    """It is all that is redacted, as a password."""
    redacted, count = redact_text(text)
    assert secret not in redacted
    assert (count, "[REDACTED:password]" in redacted) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        "- **Login:** `kim.doe@example.com` / `Shelves7204!x`",
        "DB: `shop` / `shop` / `Shelves7204!x`",
        "Credentials: admin / Shelves7204!x",
    ],
)
def test_the_last_of_what_a_report_gives_to_log_in_with_is_a_password(text: str) -> None:
    check_password(text, "Shelves7204!x")


@pytest.mark.parametrize("text", ["Login: see docs / help", "Accounts: 12 / 14 / 16", "User: kim / 2024-01-01"])
def test_what_is_listed_under_such_a_name_is_not(text: str) -> None:
    assert redact_text(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "# Пароль: 7204Shelves.z",
        "(вставьте в SSH, пароль `7204Shelves.z`):",
        "Senha: 7204Shelves.z",
        "**Contraseña:** `7204Shelves.z`",
        "Das Passwort ist 7204Shelves.z",
        "密码：7204Shelves.z",
        "github 账号：kim@example.com 密码 7204Shelves.z",
        "log in as kim@example.com, password 7204Shelves.z",
        "비밀번호: 7204Shelves.z",
    ],
)
def test_a_password_is_one_in_other_languages_too(text: str) -> None:
    check_password(text, "7204Shelves.z")


@pytest.mark.parametrize(
    "text",
    ["Пароль: не задан", "Senha: obrigatória", "密码：至少8位字符", "密码 至少8位字符", "Passwort: mindestens acht"],
)
def test_what_is_said_of_passwords_in_other_languages_is_none(text: str) -> None:
    assert redact_text(text) == (text, 0)


def test_the_password_of_a_program_is_one_with_its_spaces_and_without() -> None:
    shown, bare = "ngsi ssje axkm wqlx", "ngsissjeaxkmwqlx"
    call = ToolCall("a", "write", json.dumps({"content": json.dumps({"app_password": shown})}))
    said = [Message("user", f"{shown} kim@example.com"), Message("assistant", "Noted.", tool_calls=[call])]
    trajectory = Trajectory("s", Source("synthetic"), [*said, Message("user", f"it is {bare}, that with your name")])
    redact_trajectory(trajectory)
    assert [message.content for message in trajectory.messages] == [
        "[REDACTED:password:1] kim@example.com",
        "Noted.",
        "it is [REDACTED:password:1], that with your name",
    ]
    assert "ngsi" not in call.arguments


def test_arguments_that_are_no_json_are_text() -> None:
    key = vendor_keys()["stripe"]
    assert redact_json(f"*** Begin Patch\n+{key}") == ("*** Begin Patch\n+[REDACTED:stripe-key]", 1)


def test_a_trajectory_is_redacted_everywhere_and_counted_once() -> None:
    key = vendor_keys()["slack bot"]
    trajectory = Trajectory(
        "s",
        Source("synthetic", title=f"about {key}", hygiene={"torn_lines": 1}),
        [
            Message("user", f"use {key}"),
            Message("assistant", None, f"I use {key}", [ToolCall("c", "Bash", json.dumps({"command": f"t {key}"}))]),
            Message("tool", f"ok {key}", tool_call_id="c"),
        ],
    )
    redact_trajectory(trajectory)
    assert key not in repr(trajectory)
    assert trajectory.source.hygiene == {"redactions": 5, "torn_lines": 1}
    redact_trajectory(trajectory)
    assert trajectory.source.hygiene["redactions"] == 5


def test_a_trajectory_without_secrets_has_no_count() -> None:
    trajectory = Trajectory("s", Source("synthetic"), [Message("user", "hello"), Message("assistant", None)])
    redact_trajectory(trajectory)
    assert trajectory.source.hygiene == {}


_PIECES = st.sampled_from(
    ["password", "token", "_key", "api_", "secret", "=", ": ", '"', "'", "\\", "[", "]", "[REDACTED:x]", "\n", "://",
     "@", "ab1", "Zx9!kQ", "--", " ", "bearer ", "authorization", "İ", "ß", "\ud800", "curl -u a:",
     "-----BEGIN PRIVATE KEY-----", *list(vendor_keys().values())[:4]]
)  # fmt: skip


@pytest.mark.parametrize("before", ["", "a — b “c” ", "\ud800 é ", "\U0001f600 "])
@pytest.mark.parametrize("hidden", ["\u200b", "\ufeff", "\u00ad", "\U000e0041"])
def test_a_key_that_an_unseen_character_divides_is_found_beside_other_letters(before: str, hidden: str) -> None:
    text, count = redact_text(f"{before}ghp_{hidden}{'a1B2c3D4e5' * 4}")
    assert (text, count) == (f"{before}[REDACTED:github-token]", 1)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=24).map("".join)))
def test_redacting_twice_changes_nothing_and_nothing_raises(text: str) -> None:
    once, count = redact_text(text)
    assert redact_text(once) == (once, 0)
    assert (count == 0) == (once == text)
    assert len(once) <= 5 * len(text) + 40


@given(st.recursive(st.one_of(st.none(), st.integers(), st.lists(_PIECES, max_size=8).map("".join)),
                    lambda child: st.one_of(st.lists(child, max_size=4), st.dictionaries(_PIECES, child, max_size=4)),
                    max_leaves=12))  # fmt: skip
def test_redacted_json_is_json_of_the_same_shape(value: object) -> None:
    redacted, _ = redact_json(json.dumps(value))
    assert type(json.loads(redacted)) is type(value)
    assert redact_json(redacted) == (redacted, 0)


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    ["password=", 'password="', "token: a1", "://", "://a:", "eyJ", "eyJa.", "sk-", "-----BEGIN PRIVATE KEY-----", "a",
     "\\", "curl ", "bearer a", "authorization:", "api_key" + " " * 50, "key", "password: " + "a" * 40, ":AA",
     "1" * 9 + ":AA", "Q~1", "aQ~", "AKIA", "ghp_", "é", "☃token=", "login password ", "hooks.slack.com/",
     "password:a ", "secret_key_key_", "cookie: a=", "login -p ", "\x1b[1mPASSWORD=q7!kd0Zp \n", "&amp;", "a\u200b",
     "login a\n", "password |", "password** ", "kind: Secret\ndata:\n a: QUJDREVGRw==\n", "%3A%2F%2Fa", "a.b:5432:a:b:",
     "-----END PRIVATE KEY-----\n", "A" * 64 + "\n", "name: TOKEN\n  ", "echo a | gh secret ", "htpasswd -b a "],
)  # fmt: skip
def test_a_hostile_text_takes_no_time(unit: str) -> None:
    text = unit * (70_000 // len(unit))
    with no_hang():
        redact_text(text)
        redact_json(json.dumps({"a": text[:25_000]}))


def test_the_planted_secrets_are_found_and_no_look_alike_is() -> None:
    planted = [*((key, key) for key in vendor_keys().values()), *given_secrets(), (private_key(), private_key())]
    found = sum(secret not in redact_text(text)[0] for text, secret in planted)
    assert found == len(planted)
    assert sum(redact_text(text)[1] for text in HARMLESS) == 0


@pytest.mark.parametrize("before", ["\t", "\r", "\f", "\b", "\u2028", "\uff1a"])
def test_a_key_after_an_escape_is_found(before: str) -> None:
    for kind, key in vendor_keys().items():
        text = json.dumps({"text": f"x{before}{key}", "note": "nothing"})
        whole = text[text.index('": "x') + 4 : text.index('", "note')]
        assert (redact_json(text)[1], len(json_spans(text)), redact_text(whole)[1]) == (1, 1, 1), kind


@pytest.mark.parametrize("before", ["run-", ".", "copy.of-", "token...", "sk-"])
def test_a_key_after_a_dash_or_a_dot_is_found(before: str) -> None:
    found = {kind for kind, key in vendor_keys().items() if redact_text(f"see {before}{key} there")[1] == 1}
    assert vendor_keys().keys() - found <= {"mailgun", "firecrawl"}
    assert redact_text("Linux-npm-key-d41d8cd98f00b204e9800998ecf8427e")[1] == 0


def test_a_key_in_the_percent_codes_of_an_address_is_found() -> None:
    key = vendor_keys()["github"]
    assert redact_text(f"GET /callback?next=a%3D{key}")[0] == "GET /callback?next=a%3D[REDACTED:github-token]"


def test_a_key_after_an_escape_is_found_among_the_arguments_that_have_other_signs() -> None:
    key = vendor_keys()["github"]
    redacted, count = redact_json(rf'{{"note": "the token", "text": "\t{key}"}}')
    assert (redacted, count) == (r'{"note": "the token", "text": "\t[REDACTED:github-token]"}', 1)


DIGITS = "537d6ac1283452cdf446f52c07fbb15f" * 2


@pytest.mark.parametrize(
    "text",
    [
        "Here is your encryption key:\n\n```\n{}\n```\n",
        "Your secret key is:\n{}\n",
        "the signing key is `{}`",
        "Your API key: {}",
        "   - **Key:** `ENCRYPTION_KEY`\n   - **Value:** `{}`\n",
        "Name: WEBHOOK_KEY\nValue: {}\n",
    ],
)
def test_a_key_that_is_said_in_words_is_redacted(text: str) -> None:
    said = text.format(DIGITS)
    assert redact_text(said) == (text.format("[REDACTED:api-key]"), 1)


@pytest.mark.parametrize(
    "text",
    [
        f"commit {DIGITS[:40]}",
        f"sha256: {DIGITS}",
        "the API key is rotated every 90 days by a job",
        "The private key: see docs/keys2.md for its place",
        "curl -d password=@file.txt",
        "password=@secret",
        "DB_PASSWORD=@/run/secrets/db",
    ],
)
def test_what_is_only_said_of_a_key_or_refers_to_one_stays(text: str) -> None:
    assert redact_text(text) == (text, 0)


def test_a_password_may_begin_with_an_at_sign() -> None:
    assert redact_text("PGPASSWORD='@Wx4451908' psql") == ("PGPASSWORD='[REDACTED:password]' psql", 1)


def test_what_a_name_gives_away_in_one_turn_is_redacted_in_all() -> None:
    call = ToolCall("c", "Bash", json.dumps({"command": f"echo {DIGITS}"}))
    messages = [
        Message("user", f"Take {DIGITS}, and not {DIGITS}9 or postgres."),
        Message("assistant", None, tool_calls=[call]),
        Message("tool", f"ENCRYPTION_KEY={DIGITS}\nDB_PASSWORD=postgres7", tool_call_id="c"),
    ]
    trajectory = Trajectory("s", Source("test"), messages)
    redact_trajectory(trajectory)
    assert messages[0].content == f"Take [REDACTED:api-key:1], and not {DIGITS}9 or postgres."
    assert json.loads(call.arguments) == {"command": "echo [REDACTED:api-key:1]"}
    assert trajectory.source.hygiene["redactions"] == 4


def test_arguments_stay_valid_json_where_a_number_is_a_password_elsewhere() -> None:
    call = ToolCall("c", "Bash", json.dumps({"command": "build 730518", "timeout": 730518}))
    messages = [Message("user", "the password is 730518"), Message("assistant", None, tool_calls=[call])]
    redact_trajectory(Trajectory("s", Source("test"), messages))
    assert json.loads(call.arguments) == {"command": "build [REDACTED:password:1]", "timeout": 730518}


def test_a_password_that_is_a_name_with_a_number_is_not_looked_for_elsewhere() -> None:
    messages = [Message("user", "POSTGRES_PASSWORD=shop2024 and POSTGRES_DB=shop2024 in /srv/shop2024")]
    redact_trajectory(Trajectory("s", Source("test"), messages))
    assert messages[0].content == "POSTGRES_PASSWORD=[REDACTED:password:1] and POSTGRES_DB=shop2024 in /srv/shop2024"


def test_a_text_that_begins_with_a_secret_keeps_its_rest_below_a_name_of_any_kind() -> None:
    key = vendor_keys()["github"]
    assert redact_json(json.dumps({"note": f"{key} is mine"}))[0] == '{"note": "[REDACTED:github-token] is mine"}'


def test_what_a_person_types_as_a_password_is_redacted_where_they_only_say_it() -> None:
    call = ToolCall("c", "Bash", json.dumps({"command": "echo '730518' | sudo -S dnf check"}))
    messages = [
        Message("user", "730518  please save this, it took 12.730518 s for build 1.730518.2 of /srv/730518/"),
        Message("assistant", "Saved.", tool_calls=[call]),
        Message("tool", "- **Laptop:** `730518`, PR #7305189", tool_call_id="c"),
    ]
    redact_trajectory(Trajectory("s", Source("test"), messages))
    mark = "[REDACTED:password:1]"
    assert messages[0].content == f"{mark}  please save this, it took 12.730518 s for build 1.730518.2 of /srv/730518/"
    assert messages[2].content == f"- **Laptop:** `{mark}`, PR #7305189"
