"""The files that a shell command changes, as far as its words and its inline code show."""

from __future__ import annotations

import pytest

from agent_wiki.shell.simple_commands import simple_commands
from agent_wiki.shell.touched import deleted_files, deleted_for_good, edited_files


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python3 - <<'E'\nfrom pathlib import Path\np = Path('a/cap.py')\np.write_text('x')\nE", ["a/cap.py"]),
        ("python3 - <<'E'\nwith open(\"a/cap.txt\", 'w') as lamps:\n    lamps.write('x')\nE", ["a/cap.txt"]),
        ("python3 <<'E'\npath = 'cap.ts'\ntext = open(path).read()\nopen(path, 'w').write(text)\nE", ["cap.ts"]),
        ("node -e \"require('fs').writeFileSync('cap.json', text)\"", ["cap.json"]),
        ("python3 -c \"print(open('cap.py').read())\"", []),
        ("python3 - <<'E'\nfor name in names:\n    open(name, 'w').write('x')\nE", []),
        ("sed -i 's/a/b/' cap.py lamp.py", ["cap.py", "lamp.py"]),
        ("tee --append notes.md", ["notes.md"]),
        ("mv cap.py till.py", ["till.py"]),
        ("mv lamp_* cap.py till/a.json shop/", ["shop/cap.py", "shop/a.json"]),
        ("mv lamp_* shop/", ["shop"]),
        ("cp -r ~/shop/ backup/shop/", ["backup/shop"]),
        ("install -m 644 a.conf /etc/app.conf", ["/etc/app.conf"]),
        ("mv -t shop cap.py till.py", ["shop/cap.py", "shop/till.py"]),
        ("cp --target-directory=shop cap.py", ["shop/cap.py"]),
        ("cp " + "a" * 4_000 + "! shop/", ["shop"]),
    ],
)
def test_the_files_that_a_command_and_its_inline_code_write_are_changed(line: str, files: list[str]) -> None:
    assert [file for step in simple_commands(line) for file in edited_files(step)] == files


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("rm -f tests/test_cap.py ../till.py build", ["tests/test_cap.py", "../till.py"]),
        ("git rm cap.py", ["cap.py"]),
        ("git rm --cached cap.py", []),
        ("rm -rf . ..", []),
        ("cat cap.py", []),
    ],
)
def test_the_files_that_are_deleted_have_a_suffix(line: str, files: list[str]) -> None:
    assert [file for step in simple_commands(line) for file in deleted_files(step)] == files


@pytest.mark.parametrize(
    ("lines", "gone"),
    [
        (["rm test/cap.test.ts"], ["test/cap.test.ts"]),
        (["rm test/cap.test.ts", "git checkout -- test/cap.test.ts"], []),
        (["rm test/cap.test.ts", "echo x > test/cap.test.ts"], []),
        (["rm test/p.test.ts"], []),
        (["rm test/cap.test.ts && git checkout -- test/cap.test.ts"], []),
        (["rm -f /tmp/x/cap.test.ts"], []),
    ],
)
def test_a_file_that_came_back_or_is_only_called_alike_was_not_deleted(lines: list[str], gone: list[str]) -> None:
    steps = [simple_commands(line) for line in lines]
    calls = [(each, [path for step in each for path in edited_files(step)]) for each in steps]
    assert deleted_for_good(calls, "FAIL test/cap.test.ts > cap > is ten") == gone
