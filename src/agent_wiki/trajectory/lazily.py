"""Dataclasses and regular expressions that are finished when first used, so that a command starts sooner.

At import the standard library writes and compiles up to six methods of each dataclass. For two hundred of them that is
a seventh of the time in which a command starts, and most are not used by it; so are many of the regular expressions.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type], type]:
        """As `dataclasses.dataclass`, but what initialises, compares and shows an object is made when first called."""

        def decorated(plain: type) -> type:
            plain.__doc__ = plain.__doc__ or plain.__name__  # else one is made from the signature, which takes long
            made = dataclasses.dataclass(plain, init=False, repr=False, eq=False, slots=slots)
            for name in ("__init__", "__repr__", "__eq__", *(["__hash__"] if frozen else [])):
                if name not in vars(made):
                    setattr(made, name, _made_when_called(made, name, is_frozen=frozen))
            if frozen:
                made.__setattr__ = made.__delattr__ = _refused
                made.__getstate__, made.__setstate__ = _state, _with_state
            elif "__hash__" not in vars(made):
                made.__hash__ = None
            return made

        return decorated


def _made_when_called(made: type, name: str, *, is_frozen: bool) -> Callable[..., Any]:
    """A method that is replaced by that of the standard library when it is first called."""

    def method(self: Any, *args: Any, **named: Any) -> Any:
        if vars(made)[name] is method:
            setattr(made, name, _written(made, name, is_frozen=is_frozen))
        return getattr(made, name)(self, *args, **named)

    return method


def _written(made: type, name: str, *, is_frozen: bool) -> Callable[..., Any]:
    """The method of that name, for an object with the fields of a dataclass."""
    return _initialiser(made, is_frozen=is_frozen) if name == "__init__" else vars(_of_library(made, name))[name]


def _of_library(made: type, name: str) -> type:
    """A dataclass of the same fields with the method of that name."""
    fields: dict[str, dataclasses.Field[Any]] = vars(made)["__dataclass_fields__"]
    body: dict[str, Any] = {
        "__module__": made.__module__,
        "__doc__": made.__doc__,
        "__annotations__": {field: each.type for field, each in fields.items()},
        **{field: copy.copy(each) for field, each in fields.items()},
    }
    written = dataclasses.dataclass(
        init=False, repr=name == "__repr__", eq=name == "__eq__", unsafe_hash=name == "__hash__"
    )
    return written(type(made.__name__, (), body))


def _initialiser(made: type, *, is_frozen: bool) -> Callable[..., Any]:
    """`__init__` as the standard library writes it, in a fifth of the time: it writes other methods along with it."""
    known: dict[str, Any] = {"_not_given": dataclasses.MISSING, "_set": object.__setattr__}
    plain, named, body = ["self"], list[str](), list[str]()
    for each in dataclasses.fields(made):
        default, value = _default_of(each, known)
        if each.init:
            (named if each.kw_only else plain).append(f"{each.name}{default}")
        if value:
            body.append(f"_set(self, {each.name!r}, {value})" if is_frozen else f"self.{each.name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*plain, *(["*", *named] if named else [])])
    exec("\n ".join([f"def __init__({parameters}):", *body, "return"]), known)  # noqa: S102 - as dataclasses does
    known["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
    return cast("Callable[..., Any]", known["__init__"])


def _default_of(each: dataclasses.Field[Any], known: dict[str, Any]) -> tuple[str, str]:
    """A field's default as its parameter has it, and its value in `__init__`; `known` gets the names in them."""
    made, default = f"_make_{each.name}", f"_default_{each.name}"
    if each.default_factory is not dataclasses.MISSING:
        known[made] = each.default_factory
        return "=_not_given", f"{made}() if {each.name} is _not_given else {each.name}" if each.init else f"{made}()"
    if each.default is not dataclasses.MISSING:
        known[default] = each.default
        return f"={default}", each.name if each.init else default
    return "", each.name if each.init else ""


def _refused(self: object, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _with_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_LIKE_ASCII = ("\u0130", "\u0131", "\u017f")  # İ, ı, ſ: for an expression an i or an s, and not in lower case

_SEARCHES: dict[str, int] = {"search": 0, "finditer": 0, "sub": 1}
"""The methods that look at a whole text, and the place of that text among their arguments."""


class _Pattern:
    """A regular expression; its methods are bound to it when one is first asked for."""

    def __init__(self, source: str, flags: int, needs: tuple[str, ...]) -> None:
        self._asked = source, flags
        self._needs = needs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._where_needed(name) if self._needs and name in _SEARCHES else getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._asked)

    def _where_needed(self, name: str) -> Callable[..., Any]:
        """A method that looks at a text only if it has one of the words that every match has."""
        place, needs, is_any_case = _SEARCHES[name], self._needs, bool(self._asked[1] & re.IGNORECASE)
        are_ascii = all(map(str.isascii, needs))  # other letters have more that are alike

        def found(*given: Any) -> Any:
            text = seen = given[place]
            if is_any_case:
                if not text.isascii() and (not are_ascii or any(letter in text for letter in _LIKE_ASCII)):
                    return getattr(self._compiled, name)(*given)
                seen = text.lower()
            for word in needs:
                if word in seen:
                    return getattr(self._compiled, name)(*given)
            return text if name == "sub" else iter(()) if name == "finditer" else None

        return found


def regex(source: str, flags: int = 0, *, needs: tuple[str, ...] = ()) -> re.Pattern[str]:
    """As `re.compile`, compiled when first used; an error in `source` shows only then.

    `needs` are words of which every match has one, in lower case if case is ignored: a text without them is not
    searched, for to look for a few words is quicker by far.
    """
    return cast("re.Pattern[str]", _Pattern(source, flags, needs))
