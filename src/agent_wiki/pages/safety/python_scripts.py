"""What a Python script does with what it fetches and with what is secret: its syntax tree is read, nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.secret_sources import SECRET_FILE
from agent_wiki.shell.hosts import is_outside, outside_hosts
from agent_wiki.trajectory.lazily import regex

_FETCHES = regex(r"(?:^|\.)(?:urlopen|urlretrieve)$|^(?:requests|httpx|aiohttp|session|client)\.(?:get|request)$")
_SENDS = regex(
    r"(?:^|\.)(?:urlopen|Request|sendmail|sendall|send_message|putrequest)$"
    r"|^(?:requests|httpx|session|client|s|conn)\.(?:post|put|patch|request|get)$"
)
_RUNS = regex(
    r"^(?:exec|eval|compile|__import__|os\.(?:system|popen|exec\w+)|subprocess\.\w+|runpy\.\w+"
    r"|importlib\.import_module)$"
)
_DECODES = regex(r"(?:^|\.)(?:b64decode|b32decode|a85decode|unhexlify|fromhex|decompress|loads|decode)$")
_READS = regex(r"^(?:open|Path|pathlib\.Path|io\.open)$")
_ADDRESS = regex(r"^(?:[\w.+-]+@)?(?:[a-z0-9-]+\.)+[a-z]{2,12}$|^\d{1,3}(?:\.\d{1,3}){3}$")
_HEADERS = frozenset({"headers", "auth", "cookies"})
_DEEPEST = 200  # of nested expressions that are followed

Marks = frozenset[str]  # of a value: "fetched", "secret", "encoded"


def findings(source: str) -> Iterator[SafetyFinding]:
    """What a script runs that came from elsewhere, and what it sends. One that does not parse has no findings."""
    try:
        with warnings.catch_warnings():  # of what is odd in somebody's script
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _Flow(tree, source).findings()


class _Flow:
    """Which names hold something fetched, secret or decoded: assignments are followed until nothing changes."""

    def __init__(self, tree: ast.Module, source: str) -> None:
        self.source = source
        self.nodes = list(ast.walk(tree))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.marks: dict[str, Marks] = {}
        self._follow()

    def findings(self) -> Iterator[SafetyFinding]:
        """The findings of all calls, in the order of the tree."""
        leaves = bool(outside_hosts(self.source)) or any(map(_is_address, self.nodes))
        for call in self.calls:
            name = _called(call)
            values = [*call.args, *(each.value for each in call.keywords)]
            marks = frozenset[str]().union(*map(self._marks_of, values))
            if _RUNS.match(name) and "fetched" in marks:
                yield finding("runs/fetched-code", self._shown(call))
            elif name in ("exec", "eval") and "encoded" in marks:
                yield finding("runs/encoded-code", self._shown(call))
            elif leaves and _SENDS.search(name) and "secret" in self._sent(call):
                yield finding("sends/secrets", self._shown(call))

    def _sent(self, call: ast.Call) -> Marks:
        """The marks of what a call sends; a header is how a service is spoken to."""
        values = [*call.args, *(each.value for each in call.keywords if each.arg not in _HEADERS)]
        return frozenset[str]().union(*map(self._marks_of, values))

    def _follow(self) -> None:
        for _ in range(10):
            before = dict(self.marks)
            for node in self.nodes:
                self._take(node)
            if before == self.marks:
                return

    def _take(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._mark(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
            self._mark(node.target, node.value)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._mark(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.For):
            self._mark(node.target, node.iter)

    def _mark(self, target: ast.expr, value: ast.expr) -> None:
        marks = self._marks_of(value)
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and marks:
                self.marks[node.id] = self.marks.get(node.id, frozenset()) | marks

    def _marks_of(self, value: ast.expr) -> Marks:
        found: set[str] = set()
        for node in ast.walk(value):
            if isinstance(node, ast.Name):
                found |= self.marks.get(node.id, frozenset())
            elif isinstance(node, ast.Call):
                found |= _marks_of_call(node)
        if _is_whole_environment(value):
            found.add("secret")
        return frozenset(found)

    def _shown(self, call: ast.Call) -> str:
        return ast.get_source_segment(self.source, call) or _called(call)


def _marks_of_call(call: ast.Call) -> set[str]:
    name = _called(call)
    found: set[str] = set()
    if _FETCHES.search(name):
        found.add("fetched")
    if _DECODES.search(name) and ("64" in name or "hex" in name or "decompress" in name or "85" in name):
        found.add("encoded")
    texts = [each.value for each in ast.walk(call) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if (_READS.match(name) or name.endswith(("read_text", "read_bytes"))) and any(map(SECRET_FILE.search, texts)):
        found.add("secret")
    return found


def _is_address(node: ast.AST) -> bool:
    """Whether a constant is the name of a host or a mail address outside."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return bool(_ADDRESS.match(node.value)) and is_outside(node.value.rpartition("@")[2])


def _is_whole_environment(value: ast.expr) -> bool:
    """Whether `os.environ` is taken as a whole, not one variable of it."""
    single = {
        id(node.value)
        for node in ast.walk(value)
        if isinstance(node, ast.Subscript)
        or (isinstance(node, ast.Attribute) and node.attr in ("get", "setdefault", "pop"))
    }
    return any(
        isinstance(node, ast.Attribute) and node.attr == "environ" and id(node) not in single
        for node in ast.walk(value)
    )


def _called(call: ast.Call) -> str:
    """The dotted name of what is called; of `a().b` the last part."""
    parts: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute) and len(parts) < _DEEPEST:
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))
