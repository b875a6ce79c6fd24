"""Personal data is replaced by stand-ins, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wiki.redaction.personal import replace_personal, stand_in_for
from agent_wiki.trajectory import Message, Source, ToolCall, Trajectory
from tests.hangs import no_hang

REPLACED = [
    ("cd /home/kim/shop", "cd /home/user/shop"),
    ("/Users/kim.lee/shop and /Users/kim", "/Users/user/shop and /Users/user"),
    ("C:\\Users\\kim\\shop", "C:\\Users\\user\\shop"),
    ('"C:\\\\Users\\\\kim\\\\shop"', '"C:\\\\Users\\\\user\\\\shop"'),
    ("/mnt/c/Users/kim/a /c/Users/kim/b", "/mnt/c/Users/user/a /c/Users/user/b"),
    (r'{"a": "\/home\/kim\/shop"}', r'{"a": "\/home\/user\/shop"}'),
    (r"{\"a\": \"\\/Users\\/kim\\/shop\"}", r"{\"a\": \"\\/Users\\/user\\/shop\"}"),
    ("file:///home/kim/a.html", "file:///home/user/a.html"),
    ("one\\n/home/kim/a", "one\\n/home/user/a"),
    ("~/.claude/projects/-Users-kim-shop/a.jsonl", "~/.claude/projects/-Users-user-shop/a.jsonl"),
    ("cd /home/corp.local/kim/shop /home/staff/kim/a", "cd /home/corp.local/user/shop /home/staff/user/a"),
    ("GET /open?file=%2FUsers%2Fkim%2Fa&b=%2Fhome%2Fkim", "GET /open?file=%2FUsers%2Fuser%2Fa&b=%2Fhome%2Fuser"),
    ("file%3A%2F%2F%2Fhome%2Fkim%2Fa", "file%3A%2F%2F%2Fhome%2Fuser%2Fa"),
    ("GET /u?mail=kim%40corp.com&x=1", "GET /u?mail=someone%40example.com&x=1"),
    (r"\\\\wsl$\\Ubuntu\\home\\kim\\shop", r"\\\\wsl$\\Ubuntu\\home\\user\\shop"),
    ("//wsl.localhost/Ubuntu-22.04/home/kim", "//wsl.localhost/Ubuntu-22.04/home/user"),
    ("vscode-remote://ssh-remote%2Bbox/home/kim/shop", "vscode-remote://ssh-remote%2Bbox/home/user/shop"),
    (
        "C:" + "\\" * 16 + "Users" + "\\" * 16 + "kim" + "\\" * 16 + "a",
        "C:" + "\\" * 16 + "Users" + "\\" * 16 + "user" + "\\" * 16 + "a",
    ),
    ("mail kim.lee+x@mail.corp.io.", "mail someone@example.com."),
    (r'{"text": "from:\nkim@corp.io\tkim@corp.io"}', r'{"text": "from:\nsomeone@example.com\tsomeone@example.com"}'),
    ("邮箱是886@qq.com。", "邮箱是someone@example.com。"),
    (
        "cd ~/Library/CloudStorage/GoogleDrive-kim.lee@corp.io/Shop",
        "cd ~/Library/CloudStorage/someone@example.com/Shop",
    ),
    ("Author: Kim <12+kim@users.noreply.github.com>", "Author: Kim <someone@example.com>"),
    (
        '{"first_name": "Kim", "address": {"address1": "1 Elm Street", "zip": "89073"}, "phone": "1-2"}',
        '{"first_name": "[first_name]", "address": {"address1": "[address1]", "zip": "[zip]"}, "phone": "[phone]"}',
    ),
    ('[{"text": "{\\"full_name\\": \\"Kim Lee\\"}"}]', '[{"text": "{\\"full_name\\": \\"[full_name]\\"}"}]'),
    ("{'customer_name': 'Kim Lee'}", "{'customer_name': '[customer_name]'}"),
]
KEPT = [
    "GET https://registry.invalid/%40babel%2Fcore, icon%402x.png, a%40b.png and kim%40example.com",
    "https%3A%2F%2Fhost.invalid%2Fhome%2Fdashboard and x?next=%2Fhome%2Frunner%2Fa",
    "/home/users/ and //wsl$/Ubuntu/home/ubuntu",
    r'{"text": "# Users\n    list them"}',
    r'{"text": "dir C:\\Users\nshop"}',
    r'{"new_string": "import app\n@app.route(1)\n+@pytest.mark.slow\t@types.node"}',
    r'{"input": "{\"text\": \"a\\n@config.command(1)\"}"}',
    "/home/runner/work, /Users/runner/x, /home/user/shop, /root/.cache, /home/vscode/a, /home/node/app, /home/ubuntu/b",
    "GET https://host.invalid/home/products/1 and src/pages/home/index.js, $ROOT/home/kim/x",
    "the route /home/dashboard, /Users/{id}, /home/$USER/x",
    "git@github.com:owner/shop.git, noreply@anthropic.com, kim@example.com, a@b.example.org, x@host.invalid",
    "logo@2x.png, @pytest.mark.skip, pkg@1.2.3, @scope/pkg@4.5.6, scp a deploy@host.corp.com:/srv, https://kim@host.corp.com/a",
    'user = {"first_name": "Kim"}',
    '{"name": "shop", "address": "0x1f", "phone": "any"}',
    "my name is Kim Lee, from Ulm",
]


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_personal_data_gets_stand_ins(text: str, expected: str) -> None:
    assert stand_in_for()(text) == expected
    assert stand_in_for()(expected) == expected


@pytest.mark.parametrize("text", KEPT)
def test_what_is_nobodys_own_stays(text: str) -> None:
    assert stand_in_for()(text) == text


def test_a_name_that_one_turn_shows_is_known_in_the_others() -> None:
    trajectory = Trajectory(
        "s",
        Source("synthetic", title="kim@corp.io asks", cwd="/home/kim-lee"),
        [
            Message("user", "HOME=/home/kim-lee and -home-kim-lee-shop"),
            Message(
                "assistant", None, "I look into /home/kim-lee/shop", [ToolCall("c", "get", '{"p": "/home/kim-lee"}')]
            ),
            Message("tool", json.dumps({"first_name": "Ann", "items": [1]}), tool_call_id="c"),
        ],
    )
    replace_personal(trajectory)
    once = repr(trajectory)
    assert trajectory.messages[0].content == "HOME=/home/user and -home-user-shop"
    assert trajectory.messages[1].tool_calls[0].arguments == '{"p": "/home/user"}'
    assert (trajectory.source.title, trajectory.source.cwd) == ("someone@example.com asks", "/home/user")
    assert not any(name in once for name in ("kim", "Ann"))
    replace_personal(trajectory)
    assert repr(trajectory) == once


_PIECES = st.sampled_from(
    ["/home/", "/Users/", "kim", "C:\\Users\\", "\\", "-Users-", "-", "@", "corp.io", ".", "a", '{"first_name": "', '"',
     " ", "someone@example.com", "user", ":", "\n"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=24).map("".join))
def test_twice_is_once_and_nothing_raises(text: str) -> None:
    once = stand_in_for({"kim"})(text)
    assert stand_in_for({"kim"})(once) == once


@pytest.mark.parametrize(
    "unit",
    [
        "/home/a",
        "%2Fhome%2Fa",
        "a%40",
        "a%40b.",
        "wsl$\\\\a\\\\home\\\\",
        "vscode-remote://a/home/",
        "/home/a.com/",
        "a@",
        "a@b.",
        "@a.b",
        "/Users/",
        '{"first_name": "',
        "-home-a",
        "a.a@a-a.",
    ],
)
def test_a_hostile_text_takes_no_time(unit: str) -> None:
    with no_hang():
        stand_in_for()(unit * (300_000 // len(unit)))


@given(
    st.lists(st.sampled_from(["@app.route", "@corp.io", "kim", "\n", "\t", "\r", "+", "\\", " ", "n", "/home/kim/a"]))
)
def test_json_stays_json(pieces: list[str]) -> None:
    stand_in, text = stand_in_for(), "".join(pieces)
    once = json.dumps({"text": text})
    assert set(json.loads(stand_in(once))) == {"text"}
    assert set(json.loads(json.loads(stand_in(json.dumps({"text": once})))["text"])) == {"text"}


@pytest.mark.parametrize("colour", ["\x1b[01;34m", "\x1b[35m\x1b[K", "\\u001b[34m"])
def test_a_home_in_a_colour_is_a_home(colour: str) -> None:
    assert stand_in_for()(f"{colour}/home/kim/shop\x1b[0m") == f"{colour}/home/user/shop\x1b[0m"
