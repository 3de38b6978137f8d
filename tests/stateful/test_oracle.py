"""The oracle: after any history, a view equals one built from scratch on the same tree.

Generated histories of edits and git commands on real repositories with several worktrees. After
each step the long-lived index must equal a fresh index in a fresh home, its files must be those of
`git ls-files`, and a set of queries must give byte-identical answers.

CODELENS_ORACLE_SEQUENCES sets how many histories run (default: see `harness_sizes.py`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from harness_sizes import size_of
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from stateful.machine_run import LivedHistory, report, run_machine
from stateful.texts import IGNORES, QUERIES, paths, texts
from stateful.view_contents import answer, capsule, dump, git, listed

from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S

SEQUENCES = size_of("CODELENS_ORACLE_SEQUENCES")
STEPS = size_of("CODELENS_ORACLE_STEPS")
BRANCHES = ("feature", "topic/deep", "old")
FILTERS = {
    "none": ({}, ""),
    "clean": ({"clean": "tr a-f A-F"}, "* filter=r"),
    "smudge": ({"smudge": "tr a-f A-F"}, "* filter=r"),
    "both": ({"smudge": "tr a-f A-F", "clean": "tr A-F a-f"}, "* filter=r"),
    "line ends": ({}, "* text eol=crlf"),
    "encoding": ({}, "*.py text working-tree-encoding=UTF-16"),
}
"""Rules by which git may write bytes that differ from its objects, and convert them back."""
PICKS = st.integers(0, 9_999)
"""An index into the existing items. It must not depend on git's actions, which depend on time: git
may miss an edit that keeps size and mtime within the same second.
"""
QUESTION = "how is the token parser rendered"
"""Also ranked by meaning alone."""
COUNTS = {"histories": 0, "steps": 0, "comparisons": 0, "ranked by meaning": 0}


class Histories(LivedHistory):
    def __init__(self) -> None:
        super().__init__()
        COUNTS["histories"] += 1

    # -- what may happen ------------------------------------------------------------------

    @initialize(files=st.lists(st.tuples(paths, st.data()), min_size=2, max_size=6))
    def start(self, files: list) -> None:
        for path, data in files:
            self._write(path, data.draw(texts(Path(path).suffix)))
        git(self.main, "add", "-A")
        git(self.main, "commit", "-q", "--allow-empty", "-m", "one")
        self._check()

    @rule(path=paths, data=st.data())
    def write(self, path: str, data: st.DataObject) -> None:
        self._write(path, data.draw(texts(Path(path).suffix)))
        self._check()

    @rule(pick=PICKS, at=PICKS)
    def edit_same_size_with_the_old_mtime(self, pick: int, at: int) -> None:
        file = self._pick(pick)
        if file is None:
            return
        before = file.stat()
        text = bytearray(file.read_bytes())
        if text:
            at %= len(text)
            text[at : at + 1] = b"x" if text[at : at + 1] != b"x" else b"y"
        file.write_bytes(bytes(text))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        self._check()

    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        file = self._pick(pick)
        if file is not None:
            file.unlink()
            self._check()

    @rule(pick=PICKS, path=paths)
    def rename(self, pick: int, path: str) -> None:
        file = self._pick(pick)
        target = self.here / path
        if file is not None and self._can_write(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
            self._check()

    @rule(pick=PICKS, path=paths)
    def copy(self, pick: int, path: str) -> None:
        file = self._pick(pick)
        if file is not None:
            self._write(path, file.read_bytes())
            self._check()

    @rule(folder=st.sampled_from(("", "src/", "lib/")), text=st.sampled_from(IGNORES))
    def ignore(self, folder: str, text: str) -> None:
        self._write(folder + ".gitignore", text.encode())
        self._check()

    @rule(text=st.sampled_from(IGNORES))
    def exclude(self, text: str) -> None:
        (self.main / ".git" / "info" / "exclude").write_text(text)
        self._check()

    @rule(pick=PICKS)
    def add_by_force(self, pick: int) -> None:
        file = self._pick(pick)
        if file is not None:
            git(self.here, "add", "-f", "--", str(file), check=False)
            self._check()

    @rule(amend=st.booleans(), everything=st.booleans())
    def commit(self, amend: bool, everything: bool) -> None:
        if everything:
            git(self.here, "add", "-A", check=False)
        git(self.here, "commit", "-q", "--allow-empty", "-am", "more",
            *(["--amend"] if amend else []), check=False)  # fmt: skip
        self._check()

    @rule(branch=st.sampled_from(BRANCHES))
    def branch(self, branch: str) -> None:
        git(self.here, "branch", branch, check=False)
        self._check()

    @rule(branch=st.sampled_from(("main", *BRANCHES)), force=st.booleans())
    def checkout(self, branch: str, force: bool) -> None:
        git(self.here, "checkout", "-q", *(["-f"] if force else []), branch, check=False)
        self._check()

    @rule(back=st.integers(0, 2))
    def detach(self, back: int) -> None:
        git(self.here, "checkout", "-q", "--detach", f"HEAD~{back}", check=False)
        self._check()

    @rule(back=st.integers(0, 2))
    def reset_hard(self, back: int) -> None:
        git(self.here, "reset", "-q", "--hard", f"HEAD~{back}", check=False)
        self._check()

    @rule(untracked=st.booleans())
    def stash(self, untracked: bool) -> None:
        git(self.here, "stash", "push", "-q", *(["-u"] if untracked else []), check=False)
        self._check()

    @rule()
    def stash_pop(self) -> None:
        git(self.here, "stash", "pop", "-q", check=False)
        self._check()

    @rule(branch=st.sampled_from(("main", *BRANCHES)), finish=st.booleans())
    def merge(self, branch: str, finish: bool) -> None:
        git(self.here, "merge", "-q", "--no-edit", branch, check=False)
        self._check()
        if finish:
            git(self.here, "merge", "--abort", check=False)
            self._check()

    @rule(branch=st.sampled_from(("main", *BRANCHES)), finish=st.booleans())
    def rebase(self, branch: str, finish: bool) -> None:
        git(self.here, "rebase", "-q", branch, check=False)
        self._check()
        if finish:
            git(self.here, "rebase", "--abort", check=False)
            self._check()

    @rule(nested=st.sampled_from(("", ".worktrees/", ".claude/worktrees/")))
    def worktree_add(self, nested: str) -> None:
        if len(self.trees) == 3:
            return
        name = f"tree{len(self.trees)}"
        place = self.main / nested / name if nested else self.scratch / name
        git(self.main, "worktree", "add", "-q", "--detach", "--force", str(place), check=False)
        if place.is_dir():
            self.trees.append(place)
        self._check()

    @rule()
    def worktree_remove(self) -> None:
        if len(self.trees) == 1:
            return
        tree = self.trees.pop()
        git(self.main, "worktree", "remove", "--force", str(tree), check=False)
        if tree.exists():
            shutil.rmtree(tree)
            git(self.main, "worktree", "prune", check=False)
        self.here = self.main
        self._check()

    @rule(pick=PICKS)
    def go_to_another_worktree(self, pick: int) -> None:
        if len(self.trees) > 1:
            self.here = self.trees[pick % len(self.trees)]
            self._check()

    @rule(patterns=st.sampled_from((("/src/",), ("/*", "!/lib/"), ("/lib/", "/src/core/"), ())))
    def sparse(self, patterns: tuple[str, ...]) -> None:
        if patterns:
            git(self.here, "sparse-checkout", "set", "--no-cone", *patterns, check=False)
        else:
            git(self.here, "sparse-checkout", "disable", check=False)
        self._check()

    @rule(kind=st.sampled_from(tuple(FILTERS)), lasting=st.booleans())
    def check_out_through_a_filter(self, kind: str, lasting: bool) -> None:
        """Rewrites all tracked files through a filter, which may be unset the moment after."""
        drivers, attributes = FILTERS[kind]
        rules = self.main / ".git" / "info" / "attributes"
        rules.parent.mkdir(exist_ok=True)
        rules.write_text(attributes + "\n")
        given = [part for name, run in drivers.items() for part in ("-c", f"filter.r.{name}={run}")]
        for name in ("clean", "smudge"):
            git(self.main, "config", "--unset", f"filter.r.{name}", check=False)
        if lasting:
            for name, run in drivers.items():
                git(self.main, "config", f"filter.r.{name}", run)
        for name in git(self.here, "ls-files", "-z").split(b"\0"):
            tracked = Path(os.fsdecode(os.path.join(os.fsencode(self.here), name)))
            if tracked.is_symlink() or not tracked.is_dir():  # a folder: another repository
                tracked.unlink(missing_ok=True)
        git(self.here, *given, "checkout", "-q", "-f", "HEAD", "--", ".", check=False)
        self._check()

    @rule(ref=st.sampled_from(("main", *BRANCHES, "HEAD", "HEAD~1")))
    def search_a_ref(self, ref: str) -> None:
        if git(self.here, "rev-parse", "-q", "--verify", ref + "^{commit}", check=False):
            self._compare(self.here, ref)

    @rule(days=st.sampled_from((0.01, 3, 20)))
    def prune(self, days: float) -> None:
        """Prunes later, by the index's own clock: unused views go, and all that no view needs."""
        for path in (self.scratch / "home" / "indexes").glob("index-*.db"):
            db = open_index(path)
            with db.write(None):
                db.execute("UPDATE upkeep SET clock_s = clock_s + ?", (days * DAY_S,))
            db.close()
        assert not self.engine.prune().failed
        self._check()

    # -- what must hold -------------------------------------------------------------------

    def _check(self) -> None:
        COUNTS["steps"] += 1
        self._compare(self.here, None)

    def _compare(self, tree: Path, ref: str | None) -> None:
        COUNTS["comparisons"] += 1
        with self.fresh_engine() as fresh:
            lived, built = dump(self.engine, tree, ref), dump(fresh, tree, ref)
            assert lived == built
            assert set(lived) == listed(tree, ref)
            for query in QUERIES:
                assert answer(self.engine, query, tree, ref) == answer(fresh, query, tree, ref)
            by_meaning = answer(fresh, QUESTION, tree, ref, mode="meaning")
            assert answer(self.engine, QUESTION, tree, ref, mode="meaning") == by_meaning
            COUNTS["ranked by meaning"] += '"why": "meaning' in by_meaning
            task = f"fix {QUERIES[len(lived) % len(QUERIES)]}"
            assert capsule(self.engine, task, tree, ref) == capsule(fresh, task, tree, ref)

    def _pick(self, pick: int) -> Path | None:
        files = sorted(
            file for file in self.here.rglob("*")
            if file.is_file() and ".git" not in file.relative_to(self.here).parts
            and not any((parent / ".git").exists() for parent in file.parents
                        if self.here in parent.parents)
        )  # fmt: skip
        return files[pick % len(files)] if files else None

    def _can_write(self, target: Path) -> bool:
        if target.is_dir():
            return False
        return all(not parent.is_file() for parent in target.parents)

    def _write(self, path: str, text: bytes) -> None:
        target = self.here / path
        if self._can_write(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)


def test_a_view_equals_one_built_from_nothing_after_any_history(record_property) -> None:
    run_machine(Histories, SEQUENCES, STEPS)
    report(COUNTS, record_property)
    assert COUNTS["histories"] >= SEQUENCES
    assert COUNTS["ranked by meaning"] > COUNTS["comparisons"] / 2
