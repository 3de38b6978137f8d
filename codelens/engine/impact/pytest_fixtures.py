"""Finds tests that use pytest fixtures: tests name them as arguments, so no edge leads to them.

https://docs.pytest.org/en/stable/reference/fixtures.html: of several fixtures with one name, the
nearest counts: first those in the test's own file, then those in the enclosing `conftest.py` files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets, innermost
from codelens.resolve.path_tree import folder_of, name_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.named_tests import runs
from codelens.resolve.walk.reach import Reached
from codelens.types import Symbol

_DECORATORS = frozenset({"fixture", "yield_fixture"})
_BY_STRING = frozenset({"usefixtures", "getfixturevalue"})
_AUTOUSE = re.compile(rb"autouse\s*=\s*True")
_RENAMED = re.compile(rb"""\bname\s*=\s*["'](\w+)["']""")
_QUOTED = re.compile(r"""["'](\w+)["']""")
_ARGUMENT = re.compile(r"\*{0,2}(\w+)")
_HOOK = "pytest_"


class Fixture(NamedTuple):
    """One fixture, or a hook, which applies to all tests in its scope."""

    node: Node
    name: str
    autouse: bool
    scope: bytes
    """The file, or the folder with a slash, in which it can be used; empty for everything."""


class Fixtures:
    """The fixtures of one view; found on first use, cached with the state of the view."""

    def __init__(self, view: CurrentView, graph: LazyGraph, targets: Targets) -> None:
        self._view = view
        self._graph = graph
        self._targets = targets

    def is_fixture(self, node: Node) -> bool:
        """Whether a definition is a fixture or a hook."""
        return self._may_define(node) and node in self._all()

    def through(self, reached: Iterable[tuple[Node, int]]) -> list[Reached]:
        """The tests that use the reached fixtures, directly or through other fixtures.

        Args:
            reached: nodes with their distance from the change.
        """
        distance = dict(reached)
        every = self._all() if any(map(self._may_define, distance)) else {}
        users: dict[Node, Reached] = {}
        pending = [node for node in distance if node in every]
        for node in pending:
            for user, line in self._users(every[node]):
                if user == node or user in distance or user in users:
                    continue
                far = distance[node] + 1
                users[user] = Reached(user, far, "fixture", (line,), node)
                if user in every:
                    distance[user] = far
                    pending.append(user)
        return list(users.values())

    def _may_define(self, node: Node) -> bool:
        if not node.path.endswith(b".py"):
            return False
        return name_of(node.path) == b"conftest.py" or self._graph.is_test(node.path)

    def _all(self) -> dict[Node, Fixture]:
        fixtures = self._graph.values.get("fixtures")
        if fixtures is None:
            fixtures = {fixture.node: fixture for fixture in self._defined()}
            self._graph.values["fixtures"] = fixtures
        return cast("dict[Node, Fixture]", fixtures)

    def _defined(self) -> Iterator[Fixture]:
        by_path = self._view.snapshot.by_path
        lines: dict[bytes, set[int]] = {
            path: {use.line for use in uses}
            for path, uses in self._graph.holding(_DECORATORS)
            if path.endswith(b".py")
        }
        for path in by_path:
            if name_of(path) == b"conftest.py":
                lines.setdefault(path, set())
        self._targets.fetch([Node(path, MODULE) for path in lines])
        for path, marks in lines.items():
            text = (self._view.read(by_path[path]) or b"").split(b"\n")
            conftest = name_of(path) == b"conftest.py"
            for at, symbol in enumerate(self._targets.symbols(path)):
                node = Node(path, at)
                if conftest and symbol.parent < 0 and symbol.name.startswith(_HOOK):
                    yield Fixture(node, symbol.name, True, _scope(path))
                elif any(symbol.start_line <= line < symbol.name_line for line in marks):
                    decorators = b"\n".join(text[symbol.start_line - 1 : symbol.name_line - 1])
                    renamed = _RENAMED.search(decorators)
                    name = renamed[1].decode() if renamed else symbol.name
                    yield Fixture(node, name, bool(_AUTOUSE.search(decorators)), _scope(path))

    def _users(self, fixture: Fixture) -> Iterator[tuple[Node, int]]:
        if fixture.autouse:
            for path in self._files():
                if path.startswith(fixture.scope) and runs(path):
                    yield Node(path, MODULE), 1
            return
        for node, line in self._users_by_name().get(fixture.name, ()):
            if self._fixture_for(fixture.name, node) == fixture.node:
                yield node, line

    def _fixture_for(self, name: str, user: Node) -> Node | None:
        """The fixture that a name means for its user: the nearest, except for the user itself."""
        best = max(
            (
                (fixture.node.path == user.path, len(fixture.scope), fixture.node)
                for fixture in self._by_name().get(name, ())
                if user.path.startswith(fixture.scope) and fixture.node != user
            ),
            default=None,
        )
        return best[2] if best is not None else None

    def _by_name(self) -> dict[str, list[Fixture]]:
        by_name: dict[str, list[Fixture]] = {}
        for fixture in self._all().values():
            by_name.setdefault(fixture.name, []).append(fixture)
        return by_name

    def _files(self) -> list[bytes]:
        return [
            path
            for path in self._view.snapshot.by_path
            if path.endswith(b".py")
            and (self._graph.is_test(path) or name_of(path) == b"conftest.py")
        ]

    def _users_by_name(self) -> dict[str, list[tuple[Node, int]]]:
        """Users of fixtures by name, which they take as an argument or as a string."""
        users = self._graph.values.get("fixture users")
        if users is None:
            by_name: dict[str, list[tuple[Node, int]]] = {}
            for name, node, line in (*self._by_argument(), *self._by_text()):
                by_name.setdefault(name, []).append((node, line))
            users = self._graph.values["fixture users"] = by_name
        return cast("dict[str, list[tuple[Node, int]]]", users)

    def _by_argument(self) -> Iterator[tuple[str, Node, int]]:
        names, every = self._by_name().keys(), self._all()
        files = self._files()
        self._targets.fetch([Node(path, MODULE) for path in files])
        for path in files:
            for at, symbol in enumerate(self._targets.symbols(path)):
                node = Node(path, at)
                if _is_test_function(symbol) or node in every:
                    for name in arguments(symbol.signature):
                        if name in names:
                            yield name, node, symbol.name_line

    def _by_text(self) -> Iterator[tuple[str, Node, int]]:
        by_path = self._view.snapshot.by_path
        for path, uses in self._graph.holding(_BY_STRING):
            if not path.endswith(b".py") or not uses:
                continue
            text = (self._view.read(by_path[path]) or b"").split(b"\n")
            for use in uses:
                (at,) = innermost(self._targets.symbols(path), [(use.line, use.line)])
                line = text[use.line - 1].decode("utf-8", "replace")
                for name in _QUOTED.findall(line):
                    yield name, Node(path, at), use.line


def _is_test_function(symbol: Symbol) -> bool:
    return symbol.name.startswith("test") and symbol.kind in {"function", "method"}


def _scope(path: bytes) -> bytes:
    if runs(path):
        return path
    folder = folder_of(path)
    return folder + b"/" if folder else b""


def arguments(signature: str) -> list[str]:
    """The names of the arguments in a Python signature, in order."""
    start = signature.find("(")
    names: list[str] = []
    depth, part = 0, ""
    for char in signature[start:] if start >= 0 else "":
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if (char == "," and depth == 1) or depth == 0:
            name = _ARGUMENT.match(part.strip())
            if name:
                names.append(name[1])
            part = ""
            if depth == 0:
                break
        elif char != "(" or depth > 1:
            part += char
    return names
