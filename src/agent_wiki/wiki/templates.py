"""Templates and prompts: data files of the package that an owner may override in the wiki's folder.

Looked up in this order: `<wiki>/templates/<name>`, the installed package, the repository this runs from.
Rendering is strict: a variable that a template names and the caller does not give is an error.
"""

from __future__ import annotations

import hashlib
import os
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_wiki.errors import RunError
from agent_wiki.wiki.replacing import expect_no_link
from agent_wiki.wiki.text import counted
from agent_wiki.wiki.thresholds import in_steps

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment, Template

_PACKAGE = Path(__file__).resolve().parent.parent
_OWNERS = (".j2", ".md", ".yaml", ".css", ".js")
PLACES = {"templates": "templates", "prompts": "prompts"}


def shipped_folder(kind: str) -> Path:
    """The folder of shipped `templates` or `prompts`, in an installed package or in a checkout."""
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _PACKAGE.parent.parent / kind


def shipped_names(kind: str) -> list[str]:
    """The files of one kind that ship with the package and that an owner may change, sorted; those of the site, too."""
    folder = shipped_folder(kind)
    paths = [*folder.iterdir(), *(folder / "site").glob("*")]
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.suffix in _OWNERS)


def check_no_links(path: Path) -> None:
    """Raise `UnsafePath` where an owner's folder or file is a link, or holds one: it could lead out of the wiki."""
    below = (Path(folder, name) for folder, folders, files in os.walk(path) for name in (*folders, *files))
    expect_no_link(path, *below)


def text_of_data(path: Path, place: str) -> str:
    """The text of such a file, for errors by its `place`. Raises `RunError`."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"{place}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RunError(f"{place}: not UTF-8") from error


def without_effect(wiki: Path, *, asks_a_model: bool) -> list[str]:
    """The owner's templates and prompts that a run does not use, each with the reason, in a line.

    They have a name that no template has, or are edited prompts where no model is asked. All others take effect.
    """
    lines: list[str] = []
    for kind in PLACES:
        folder = wiki / kind
        if not folder.is_dir():
            continue  # as in most wikis
        shipped = shipped_names(kind)
        own = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        for name in own:
            if name not in shipped:
                nearest = get_close_matches(name, shipped, n=1)
                meant = f"; did you mean {nearest[0]}?" if nearest else ""
                lines.append(f"{kind}/{name}: no effect, for there is no file of this name among them{meant}")
            elif kind == "prompts" and not asks_a_model and _differs(folder / name, shipped_folder(kind) / name):
                lines.append(f"{kind}/{name}: edited, but without effect: the embedded engine asks no model")
    return lines


def _differs(own: Path, shipped: Path) -> bool:
    return own.read_bytes() != shipped.read_bytes()


def strict_environment(loader: BaseLoader | None = None, *, is_sandboxed: bool = True) -> Environment:
    """How templates and prompts are rendered: a missing variable is an error; sandboxed, unless all are our own."""
    from jinja2 import Environment, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return (SandboxedEnvironment if is_sandboxed else Environment)(
        loader=loader,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@lru_cache(maxsize=8)
def _environment(overrides: str | None) -> Environment:
    from jinja2 import FileSystemLoader

    folders = [str(shipped_folder("templates"))]
    if overrides is not None:
        folders.insert(0, overrides)
    environment = strict_environment(FileSystemLoader(folders))
    environment.globals |= {"counted": counted, "in_steps": in_steps}
    return environment


def _contents(folder: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file())


@lru_cache(maxsize=1)
def _shipped_contents() -> tuple[bytes, ...]:
    return _contents(str(shipped_folder("templates")))


class Templates:
    """The templates of one wiki. `overrides` is the owner's folder, or None."""

    def __init__(self, overrides: Path | None = None) -> None:
        """Raises `UnsafePath` for a link among the owner's."""
        if overrides is not None:
            check_no_links(overrides)
        self._overrides = str(overrides) if overrides is not None and overrides.is_dir() else None
        self._compiled: dict[str, tuple[Template, dict[str, Any]]] = {}

    def digest(self) -> str:
        """Of the text of all templates."""
        own = _contents(self._overrides) if self._overrides else ()
        return hashlib.sha256(b"\0".join((*_shipped_contents(), *own))).hexdigest()

    def render(self, name: str, **variables: Any) -> str:
        """Render `templates/<name>.j2`. Raises `RunError` naming template, line and reason."""
        try:
            template, everywhere = self._compiled.get(name) or self._compile(name)
            context = template.new_context({**everywhere, **variables}, shared=True)
            return template.environment.concat(template.root_render_func(context))
        except _errors() as error:
            line = getattr(error, "lineno", None)
            place = f"templates/{name}.j2" + (f":{line}" if line else "")
            raise RunError(f"{place}: {error or type(error).__name__}") from error

    def _compile(self, name: str) -> tuple[Template, dict[str, Any]]:
        """A template and its globals, once a run: for fifty thousand pages nothing of them is looked up again."""
        template = _environment(self._overrides).get_template(f"{name}.j2")
        self._compiled[name] = template, dict(template.globals)
        return self._compiled[name]


def _errors() -> tuple[type[Exception], ...]:
    """What a template may raise."""
    from jinja2 import TemplateError

    return (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
