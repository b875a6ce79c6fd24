"""The templates, the style and the scripts of the site; its owner overrides each in the wiki's folder.

Looked up as `<wiki>/templates/site/<name>`, then in the package. Everything that a template is given is escaped.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, TemplateError

from agent_wiki import __version__
from agent_wiki.errors import RunError
from agent_wiki.site.markdown import line_html, plain_words, spoken_html
from agent_wiki.wiki.templates import shipped_folder, strict_environment

FOLDER = "site"
ASSETS = ("site.css", "site.js", "ranking.js", "search.js")
VENDORED = ("minisearch.js", "minisearch.LICENSE.txt")

_VENDOR_FOLDER = Path(__file__).parent / "assets"


class SiteTemplates:
    """The templates of one wiki's site."""

    def __init__(self, wiki: Path) -> None:
        own, shipped = wiki / "templates" / FOLDER, shipped_folder("templates") / FOLDER
        self._folders = [folder for folder in (own, shipped) if folder.is_dir()]
        self._environment = _environment(tuple(map(str, self._folders)))
        self.digest = self._digest()

    def render(self, name: str, variables: dict[str, Any]) -> str:
        """Render `templates/site/<name>.html.j2`. Raises `RunError` naming template, line and reason."""
        try:
            return self._environment.get_template(f"{name}.html.j2").render(variables)
        except (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            line = getattr(error, "lineno", None)
            place = f"templates/{FOLDER}/{name}.html.j2" + (f":{line}" if line else "")
            raise RunError(f"{place}: {error or type(error).__name__}") from error

    def assets(self) -> dict[str, str]:
        """Name → text of every file that pages load."""
        texts = {name: self._text(name) for name in ASSETS}
        return texts | {name: (_VENDOR_FOLDER / name).read_text(encoding="utf-8") for name in VENDORED}

    def _text(self, name: str) -> str:
        found = next(folder / name for folder in self._folders if (folder / name).is_file())
        return found.read_text(encoding="utf-8")

    def _digest(self) -> str:
        hasher = hashlib.blake2b(__version__.encode(), digest_size=12)
        for folder in self._folders:
            for path in sorted(folder.iterdir()):
                hasher.update(path.name.encode() + b"\0" + path.read_bytes())
        return hasher.hexdigest()


@lru_cache(maxsize=8)
def _environment(folders: tuple[str, ...]) -> Environment:
    loader = FileSystemLoader(folders)
    made = strict_environment(loader, is_sandboxed=len(folders) > 1)  # our own need none, and are made sooner without
    made.autoescape = True
    made.filters |= {"line": line_html, "spoken": spoken_html, "words": plain_words, "count": "{:,}".format}
    return made
