"""Finds the test files that a change requires to run.

Tests name pytest fixtures as arguments, so no edge leads from a test to its fixtures:
https://docs.pytest.org/en/stable/reference/fixtures.html. Of several fixtures with one name, the
nearest counts: first those in the test's own file, then those in the enclosing `conftest.py` files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from codelens.answers.graph_answers import TestFile
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets, innermost
from codelens.paths import printed
from codelens.resolve.file_model import CALLABLE
from codelens.resolve.inference.type_text import closing, split
from codelens.resolve.path_tree import folder_of, name_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.named_tests import runs, to_run
from codelens.resolve.walk.reach import Reached
from codelens.types import Symbol
from codelens.wording import count_of

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
    if start < 0:
        return []
    end = closing(signature, start, angles=False)
    parts = split(signature[start + 1 : end], angles=False)
    if end == len(signature):
        # The last argument of a shortened signature is cut.
        parts = parts[:-1]
    return [name[1] for part in parts if (name := _ARGUMENT.match(part))]


# The test files of a view.

_ANNOTATED = (b".java", b".kt", b".scala", b".cs", b".groovy")
_ANNOTATIONS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "Fact", "Theory", "TestMethod", "TestCase"}
)
"""Annotations that mark tests for JUnit, xUnit, NUnit and MSTest, regardless of file names."""
_NAMELESS = (b".js", b".jsx", b".ts", b".tsx", b".mjs", b".cjs", b".mts", b".cts")
"""Languages whose tests are calls with a title: `test("adds", ...)`."""
_INLINE = frozenset({"tests", "test"})
"""Modules of tests inside a Rust source file (the Rust book, ch. 11.3)."""


def is_inline_test(targets: Targets, node: Node) -> bool:
    """Whether a definition is in a test module inside the file that it tests."""
    if not node.path.endswith(b".rs") or node.symbol < 0:
        return False
    symbols = targets.symbols(node.path)
    return node.symbol < len(symbols) and bool(
        _INLINE & set(symbols[node.symbol].qualified.split(".")[:-1])
    )


class TestFiles:
    """The test files of one view, and which of them a change requires to run."""

    __test__ = False

    def __init__(self, view: CurrentView, graph: LazyGraph, targets: Targets) -> None:
        self._graph = graph
        self._targets = targets
        self._files = graph.test_files()
        self._run = to_run(self._files)
        self._fixtures = Fixtures(view, graph, targets)

    def is_fixture(self, node: Node) -> bool:
        """Whether a test uses the node by naming it as an argument (pytest)."""
        return self._fixtures.is_fixture(node)

    def called_for(
        self, seeds: Collection[Node], changed: Iterable[bytes], users: Iterable[Reached]
    ) -> list[TestFile]:
        """Tests that change, are named for what changes, or reach it; nearest first.

        Args:
            seeds: the changed nodes.
            changed: files that changed or were deleted.
            users: the affected nodes.
        """
        reached: dict[bytes, list[Reached]] = {}
        every = list(users)
        fixtures = self._fixtures.through(
            [*((node, 0) for node in seeds), *((user.node, user.distance) for user in every)]
        )
        for user in (*every, *fixtures):
            if self._graph.is_test(user.node.path) or is_inline_test(self._targets, user.node):
                reached.setdefault(user.node.path, []).append(user)
        rows = self._by_name(list(dict.fromkeys(changed)), reached.keys())
        marked = self._annotated(reached.keys() - self._run)
        for path, users_here in reached.items():
            if path in self._run or path in marked or not self._graph.is_test(path):
                rows[path] = self._reaching(path, users_here, rows.get(path))
        return sorted(rows.values(), key=lambda row: (row.distance, -row.count, row.path))

    def _by_name(
        self, changed: Sequence[bytes], reached: Collection[bytes]
    ) -> dict[bytes, TestFile]:
        rows: dict[bytes, TestFile] = {}
        for path in changed:
            if path in self._run:
                rows.setdefault(path, TestFile(printed(path), 0, "changes itself", ()))
            tests = [
                test_path
                for test_path in self._graph.tests_named_for(path)
                if test_path in self._run
            ]
            why = f"named for {printed(path)}"
            if not tests and path.endswith(b".go") and not self._run & set(reached):
                folder = folder_of(path)
                tests = sorted(
                    test_path
                    for test_path in self._run
                    if folder_of(test_path) == folder and test_path.endswith(b".go")
                )
                why = f"in the package of {printed(path)}"
            for test in tests:
                rows.setdefault(test, TestFile(printed(test), 0, why, ()))
        return rows

    def _annotated(self, paths: Collection[bytes]) -> set[bytes]:
        candidates = {path for path in paths if path.endswith(_ANNOTATED)}
        if not candidates:
            return set()
        return {
            path for path, uses in self._graph.holding(_ANNOTATIONS) if path in candidates and uses
        }

    def _reaching(
        self, path: bytes, users: Sequence[Reached], known_row: TestFile | None
    ) -> TestFile:
        nearest = min(users, key=lambda user: (user.distance, user.how == "fixture"))
        why = f"reaches it in {count_of(nearest.distance, 'step')}"
        if nearest.how == "fixture":
            why = f"uses the fixture {self._targets.handle(nearest.via)}"
        handles, count = self._handles(users)
        direct = {line for user in users if user.distance == 1 for line in user.lines}
        sites = tuple(f"{printed(path)}:{line}" for line in sorted(direct))
        if known_row is not None:
            return TestFile(known_row.path, 0, f"{known_row.why}; {why}", handles, count, sites)
        return TestFile(printed(path), nearest.distance, why, handles, count, sites)

    def _handles(self, users: Iterable[Reached]) -> tuple[tuple[str, ...], int]:
        """Handles of the users, tests before helpers; and the number of all."""
        named = [(user, self._name(user.node)) for user in users if user.node.symbol != MODULE]
        named = sorted(
            (not name.startswith("test"), user.distance, user.node) for user, name in named if name
        )
        shown = tuple(self._targets.handle(node) for *_, node in named)
        return shown, len(named)

    def _name(self, node: Node) -> str:
        """The lowercase name of a possible test; in scripts only a name that marks a test."""
        symbol = self._targets.symbols(node.path)[node.symbol]
        name = symbol.name.lower()
        if symbol.kind not in CALLABLE:
            return ""
        return name if name.startswith("test") or not node.path.endswith(_NAMELESS) else ""
