"""The oracle with facts of a compiler in play: answers depend on the view and on what was imported.

Generated histories of edits, renames, commits, branch switches, worktrees and imports of indexes.
After each step, a long-lived index must answer questions about the graph as a fresh one does, into
which the same indexes are imported in the same order.

CODELENS_PRECISE_HISTORIES sets how many histories run (default: see `harness_sizes.py`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from harness_sizes import size_of
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from stateful.machine_run import LivedHistory, report, run_machine
from stateful.view_contents import git
from toy_indexer import write_index

from codelens.engine.engine import Engine
from codelens.errors import HandleError
from codelens.scip.index_stream import ScipError

HISTORIES = size_of("CODELENS_PRECISE_HISTORIES")
STEPS = 14
PATHS = ("a.py", "b.py", "c.py", "lib/d.py", "lib/e.py")
NAMES = ("pay", "load", "Cart")
BRANCHES = ("main", "feature", "old")
COUNTS = {"histories": 0, "comparisons": 0, "precise": 0, "by the compiler": 0}


def texts() -> st.SearchStrategy[str]:
    """A file that imports a name, defines another, and calls a third."""
    part = st.sampled_from(NAMES)
    source = st.sampled_from(("a", "b", "c", "lib.d"))
    return st.builds(
        lambda first, file, second, third, above: (
            f"{above}from {file} import {first}\n\n\ndef {second}():\n    {first}()\n\n\n"
            f"def use_{second}():\n    {third}()\n    {second}()\n"
        ),
        part, source, part, part, st.sampled_from(("", "# moved\n")),
    )  # fmt: skip


class PreciseHistories(LivedHistory):
    def __init__(self) -> None:
        super().__init__()
        self.imports: list[Path] = []
        COUNTS["histories"] += 1

    @initialize(first=st.lists(st.tuples(st.sampled_from(PATHS), texts()), min_size=3, max_size=5))
    def start(self, first: list[tuple[str, str]]) -> None:
        for path, text in first:
            self._write(path, text)
        git(self.main, "add", "-A")
        git(self.main, "commit", "-q", "-m", "one")
        for branch in BRANCHES[1:]:
            git(self.main, "branch", branch)
        self._import()
        self._check()

    @rule(path=st.sampled_from(PATHS), text=texts())
    def write(self, path: str, text: str) -> None:
        self._write(path, text)
        self._check()

    @rule(path=st.sampled_from(PATHS), comment=st.booleans())
    def edit(self, path: str, comment: bool) -> None:
        file = self.here / path
        if file.is_file():
            text = file.read_text()
            file.write_text(text + "# more\n" if comment else "\n" + text)
            self._check()

    @rule(path=st.sampled_from(PATHS))
    def delete(self, path: str) -> None:
        (self.here / path).unlink(missing_ok=True)
        self._check()

    @rule(path=st.sampled_from(PATHS), other=st.sampled_from(PATHS), keep=st.booleans())
    def move_or_copy(self, path: str, other: str, keep: bool) -> None:
        if (self.here / path).is_file() and path != other:
            self._write(other, (self.here / path).read_text())
            if not keep:
                (self.here / path).unlink()
            self._check()

    @rule()
    def commit(self) -> None:
        git(self.here, "add", "-A", check=False)
        git(self.here, "commit", "-q", "--allow-empty", "-am", "more", check=False)
        self._check()

    @rule(branch=st.sampled_from(BRANCHES))
    def checkout(self, branch: str) -> None:
        git(self.here, "checkout", "-q", "-f", branch, check=False)
        self._check()

    @rule()
    def worktree(self) -> None:
        if len(self.trees) == 1:
            place = self.scratch / "tree"
            git(self.main, "worktree", "add", "-q", "--detach", str(place), check=False)
            self.trees.append(place)
        self.here = self.trees[self.here == self.main]
        self._check()

    @rule()
    def bring(self) -> None:
        self._import()
        self._check()

    @rule()
    def compare_a_branch(self) -> None:
        self._compare(self.here, "feature")

    @rule()
    def forget(self) -> None:
        self.engine.scip_forget(path=self.here)
        self.imports.clear()
        self._check()

    @rule()
    def prune(self) -> None:
        """Facts of texts that no view has go, so they are imported again."""
        assert not self.engine.prune(days=0).failed
        for file in self.imports:
            import_again(self.engine, file, self.here)
        self._check()

    def _import(self) -> None:
        found = {path: (self.here / path) for path in PATHS}
        read = {path: file.read_text() for path, file in found.items() if file.is_file()}
        if read:
            file = self.scratch / f"{len(self.imports)}-{len(list(self.scratch.iterdir()))}.scip"
            write_index(file, read)
            self.engine.scip_import(file, path=self.here)
            self.imports.append(file)

    def _check(self) -> None:
        self._compare(self.here, None)

    def _compare(self, tree: Path, ref: str | None) -> None:
        COUNTS["comparisons"] += 1
        with self.fresh_engine() as fresh:
            for file in self.imports:
                import_again(fresh, file, tree)
            lived, built = answers(self.engine, tree, ref), answers(fresh, tree, ref)
            assert lived == built

    def _write(self, path: str, text: str) -> None:
        (self.here / path).parent.mkdir(exist_ok=True)
        (self.here / path).write_text(text)


def import_again(engine: Engine, file: Path, tree: Path) -> None:
    """Import an index of which the tree may have no file any more: that one is refused.

    If another was refused, the answers differ.
    """
    with suppress(ScipError):
        engine.scip_import(file, path=tree)


def answers(engine: Engine, tree: Path, ref: str | None) -> list[str]:
    """Answers about each definition, then all edges: the walks come first, with a cold cache."""
    found: list[str] = []
    for path in PATHS:
        for name in NAMES:
            try:
                related = engine.related(f"{path}#{name}", path=tree, ref=ref)
                uses = engine.references(f"{path}#{name}", path=tree, ref=ref, limit=100)
            except HandleError as error:
                found.append(str(error))
                continue
            COUNTS["precise"] += related.receipt.precise > 0
            found.append(json.dumps([asdict(row) for row in related.results]))
            found.append(json.dumps([asdict(row) for row in uses.references]))
            found.append(str((related.receipt.precise, uses.receipt.precise)))
    edges = engine.export_edges(path=tree, ref=ref, possible=True)
    found += [json.dumps(asdict(edge)) for edge in edges]
    check = engine.scip_check(path=tree, ref=ref)
    COUNTS["by the compiler"] += any(row.compiler for row in check.differences)
    found.append(json.dumps([check.counts, [asdict(row) for row in check.differences]]))
    return found


def test_answers_depend_on_the_view_and_what_was_imported_alone(record_property) -> None:
    run_machine(PreciseHistories, HISTORIES, STEPS)
    report(COUNTS, record_property)
    assert COUNTS["histories"] >= HISTORIES
    assert COUNTS["precise"] > COUNTS["comparisons"]
    assert COUNTS["by the compiler"] > COUNTS["comparisons"] / 4
