"""What others wrote and the package ships comes with its licence, also in the wheel."""

from __future__ import annotations

import tomllib
from pathlib import Path

from agent_wiki.site.templates import VENDORED

_ROOT = Path(__file__).parents[2]
_ASSETS = _ROOT / "src" / "agent_wiki" / "site" / "assets"


def test_the_licence_of_each_file_that_others_wrote_is_in_the_wheels_metadata() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {path for pattern in project["license-files"] for path in _ROOT.glob(pattern)}
    licences = {path for path in (_ROOT / "src").rglob("*") if "LICENSE" in path.name or path.name == "NOTICE"}
    assert licences < named == {*licences, _ROOT / "LICENSE"}
    assert project["license"] == "Apache-2.0 AND MIT"  # MiniSearch is MIT


def test_each_script_that_others_wrote_has_its_licence_beside_it_and_in_the_site() -> None:
    scripts = sorted(_ASSETS.glob("*.js"))
    assert scripts
    for script in scripts:
        licence = f"{script.stem}.LICENSE.txt"
        assert {script.name, licence} <= set(VENDORED)
        assert (_ASSETS / licence).is_file()
        assert licence in script.read_text(encoding="utf-8")[:200]
