"""The oracle of branches: `diff`, `history` and `conflicts` depend on the repository alone.

The histories of `stateful.test_oracle`. After each step every worktree is asked: a long-lived
engine must answer the same as a new one with an empty home. So an uncommitted edit in one worktree
appears in the next answer of all others, regardless of other content in the index.

CODELENS_BRANCH_ORACLE_SEQUENCES sets how many histories run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harness_sizes import size_of
from hypothesis import strategies as st
from hypothesis.stateful import rule
from stateful.machine_run import report, run_machine
from stateful.test_oracle import PICKS, Histories
from stateful.view_contents import git

from codelens.branches import definition_history
from codelens.engine.engine import Engine
from codelens.errors import CodelensError
from codelens.scope import commit_walk

SEQUENCES = size_of("CODELENS_BRANCH_ORACLE_SEQUENCES")
STEPS = size_of("CODELENS_BRANCH_ORACLE_STEPS")
SHARED = "".join(
    f"def shared_{name}(value):\n    total = value\n    return total\n\n\n" for name in "abc"
)
COUNTS = {"histories": 0, "steps": 0, "answers": 0, "collisions": 0, "changes": 0, "events": 0}
_ENOUGH = 100
_ENOUGH_MS = 600_000.0
"""`diff` stops its search for uses early without a budget, and says so: here it must not."""
CACHES = (
    (definition_history, "_moves"),
    (commit_walk, "_listed_before"),
    (commit_walk, "_cached_by_repository"),
)
"""What a process caches between questions; a fresh engine must not find it."""


class BranchHistories(Histories):
    def __init__(self) -> None:
        super().__init__()
        (self.main / "shared.py").write_text(SHARED, encoding="utf-8")
        git(self.main, "add", "-A")
        git(self.main, "commit", "-qm", "shared")
        other = self.scratch / "other"
        git(self.main, "worktree", "add", "-q", "-b", "other", str(other))
        self.trees.append(other)
        COUNTS["histories"] += 1

    @rule(tree=PICKS, pick=PICKS, old=st.sampled_from("abcdefg"), commit=st.booleans())
    def edit_anywhere(self, tree: int, pick: int, old: str, commit: bool) -> None:
        self.here = self.trees[tree % len(self.trees)]
        shared = self.here / "shared.py"
        file = shared if shared.is_file() and old < "e" else self._pick(pick)
        if file is not None:
            text = file.read_bytes()
            file.write_bytes(text.replace(b"return", b"return 1 +", 1).replace(old.encode(), b"x"))
            if commit:
                git(self.here, "commit", "-qam", old, check=False)
            self._check()

    def _compare(self, tree: Path, ref: str | None) -> None:
        COUNTS["steps"] += 1
        trees = [root for root in self.trees if root.is_dir()]
        lived = [answers(self.engine, root, COUNTS) for root in trees]
        with nothing_known(), self.fresh_engine() as fresh:
            built = [answers(fresh, root, {}) for root in trees]
        assert lived == built


@contextmanager
def nothing_known() -> Iterator[None]:
    """Hides what this process has cached."""
    caches = [getattr(module, name) for module, name in CACHES]
    for module, name in CACHES:
        setattr(module, name, {})
    try:
        yield
    finally:
        for (module, name), cache in zip(CACHES, caches, strict=True):
            setattr(module, name, cache)


def answers(engine: Engine, tree: Path, counts: dict[str, int]) -> list[object]:
    """The answers in a worktree, without receipts."""

    def ask(question, *words, **options) -> object:
        try:
            answer = question(*words, path=tree, budget_ms=_ENOUGH_MS, **options)
        except CodelensError as error:
            return str(error)
        counts["answers"] = counts.get("answers", 0) + 1
        return replace(answer, receipt=None)

    def count(name: str, rows: object) -> None:
        counts[name] = counts.get(name, 0) + len(rows)  # type: ignore[arg-type]

    result = [ask(engine.diff), *(ask(engine.diff, spec) for spec in ("HEAD~1", "main...HEAD"))]
    changed = [file for answer in result for file in getattr(answer, "files", ())]
    result += [ask(engine.diff, staged=True), ask(engine.conflicts)]
    count("changes", changed)
    count("collisions", getattr(result[-1], "results", ()))
    handles = [
        line.handle for file in changed for line in file.definitions if ":" not in line.handle
    ]
    for handle in sorted(set(handles))[:2]:
        result += [ask(engine.history, handle, limit=1000)]
        count("events", getattr(result[-1], "results", ()))
        result += [ask(engine.history, handle.partition("#")[0])]
    return result


def test_branch_answers_do_not_depend_on_earlier_questions(record_property) -> None:
    run_machine(BranchHistories, SEQUENCES, STEPS)
    report(COUNTS, record_property)
    assert COUNTS["histories"] >= SEQUENCES
    # A dozen histories may contain no collision.
    expected = COUNTS.keys() if SEQUENCES >= _ENOUGH else COUNTS.keys() - {"collisions"}
    assert all(COUNTS[name] > 0 for name in expected), COUNTS
