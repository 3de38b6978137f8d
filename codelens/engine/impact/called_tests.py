"""Finds the test files that a change requires to run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from codelens.answers.graph_answers import TestFile
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.impact.pytest_fixtures import Fixtures
from codelens.paths import printed
from codelens.resolve.file_model import CALLABLE
from codelens.resolve.path_tree import folder_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.resolve.walk.named_tests import to_run
from codelens.resolve.walk.reach import Reached
from codelens.wording import count_of

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
