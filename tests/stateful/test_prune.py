"""Prune against a model: nothing protected is ever removed, and everything due is.

Generated histories of views, uses, pins, leases, removed worktrees, clocks that jump both ways and
reboots, on a real repository with worktrees and a real index.

CODELENS_PRUNE_HISTORIES sets how many run (default 40).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gitrepo import GitRepo
from harness_sizes import size_of
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from stateful.machine_run import run_machine

from codelens.engine.upkeep import pruning
from codelens.engine.upkeep.view_survey import folder_text
from codelens.errors import IndexLocked
from codelens.scope.repository import Repository
from codelens.scope.worktree_presence import whereabouts
from codelens.store.database import writer_lease
from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S, Moment
from codelens.store.saved import pins
from codelens.store.views import index_metadata, views
from codelens.store.views.garbage_collection import LATELY_S, Limits
from codelens.store.views.index_metadata import TOUCH_S, Site

HISTORIES = size_of("CODELENS_PRUNE_HISTORIES")
LIMITS = Limits()
HOUR_S = 3600.0
BRANCHES = ("main", "topic", "old")


@dataclass
class ViewState:
    """The model's state of a view."""

    kind: str
    tree: int
    branch: str
    used: float
    reboots: int
    set_back: int
    pinned: bool = False


class Lives(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp(prefix="codelens-prune-"))
        main = GitRepo.init(self.scratch / "repo")
        for number in range(4):
            main.commit(f"c{number}", {"a.py": f"x = {number}\n"})
        self.trees = [
            main,
            main.worktree(self.scratch / "one"),
            main.worktree(self.scratch / "two"),
        ]
        self.there = [True, True, True]
        self.now = 1_000_000.0
        self.offset = 0.0
        self.boot, self.booted = 1, self.now
        self.set_back = 0
        self.reboots = 0
        self.known: dict[str, ViewState] = {}
        self.missed: dict[int, tuple[float, int, int]] = {}
        scope = Repository.at(main.root).scope()
        self.common_dir = scope.common_dir
        folder = self.scratch / "home" / "indexes"
        self.path = folder / f"index-{scope.repo_id}.db"
        self.db = open_index(self.path)

    def teardown(self) -> None:
        self.db.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def clock(self) -> Moment:
        wall = self.now + self.offset
        return Moment(wall, self.now - self.booted, f"boot {self.boot}")

    # Events

    @rule(hours=st.sampled_from([0.5, 3, 20, 30, 80, 400]))
    def time_passes(self, hours: float) -> None:
        self.now += hours * HOUR_S

    @rule(days=st.sampled_from([-4000, -20, -1, 1, 20, 4000]))
    def clock_jumps(self, days: float) -> None:
        self.offset += days * DAY_S
        self.set_back += days < 0

    @rule()
    def machine_reboots(self) -> None:
        self.now += 60
        self.boot, self.booted = self.boot + 1, self.now
        self.reboots += 1

    @rule(tree=st.integers(0, 2), branch=st.sampled_from(BRANCHES))
    def switch(self, tree: int, branch: str) -> None:
        if self.there[tree]:
            # Git allows a branch in only one worktree.
            self.trees[tree].git("checkout", "-q", "-B", f"{branch}{tree}")

    @rule(tree=st.integers(0, 2))
    def detach(self, tree: int) -> None:
        if self.there[tree]:
            self.trees[tree].git("checkout", "-q", "--detach")

    @rule(tree=st.integers(0, 2))
    def use(self, tree: int) -> None:
        if self.there[tree]:
            self._use(tree, None)

    @rule(back=st.integers(0, 3))
    def use_a_ref(self, back: int) -> None:
        self._use(0, f"main~{back}" if back else "main")

    @precondition(lambda self: self.known)
    @rule(data=st.data(), pinned=st.booleans())
    def pin(self, data: st.DataObject, pinned: bool) -> None:
        key = data.draw(st.sampled_from(sorted(self.known)))
        view = views.find_view(self.db, key)
        assert view is not None
        pins.set_pinned(pins.pins_file_for(self.db.path), key, pinned=pinned)
        self.known[key].pinned = pinned

    @rule(tree=st.integers(1, 2), by_git=st.booleans())
    def remove_a_worktree(self, tree: int, by_git: bool) -> None:
        if not self.there[tree]:
            return
        root = self.trees[tree].root
        if by_git:
            self.trees[0].git("worktree", "remove", "--force", root)
        else:
            shutil.rmtree(root)
        self.there[tree] = False

    @rule(tree=st.integers(1, 2))
    def bring_a_worktree_back(self, tree: int) -> None:
        if not self.there[tree]:
            self.trees[0].git("worktree", "prune")
            self.trees[tree] = self.trees[0].worktree(self.trees[tree].root)
            self.there[tree] = True

    @rule()
    def prune_while_another_writes(self) -> None:
        lease = writer_lease.acquire(self.db, 0, self.clock)
        before = {row.scope for row in views.all_views(self.db)}
        try:
            pruning.prune_index(self.path, LIMITS, clock=self.clock)
            raise AssertionError("it pruned under another's lease")
        except IndexLocked:
            pass
        finally:
            lease.release(self.db)
        assert {row.scope for row in views.all_views(self.db)} == before

    @rule()
    def prune(self) -> None:
        active = {
            Repository.at(self.trees[tree].root).scope().key
            for tree in range(3)
            if self.there[tree]
        }
        for tree in range(3):
            if self.there[tree]:
                self.missed.pop(tree, None)
            else:
                self.missed.setdefault(tree, (self.now, self.reboots, self.set_back))
        planned = pruning.prune_index(self.path, LIMITS, dry_run=True, clock=self.clock)
        done = pruning.prune_index(self.path, LIMITS, clock=self.clock)
        left = {row.scope for row in views.all_views(self.db)}
        went = self.known.keys() - left
        assert {one.index_id for one in planned.views} <= {one.index_id for one in done.views}
        assert len(done.views) == len(went)
        for key, state in list(self.known.items()):
            protected = state.pinned or key in active or self._age(state) < LATELY_S - TOUCH_S
            limit, age, exact = self._due(state)
            # A reboot may count up to one day too many; uses are recorded to the hour.
            spare = (self.reboots - state.reboots) * DAY_S + TOUCH_S
            if key in went:
                assert not protected, (key, state)
                assert age + spare >= limit, (key, state, age, limit)
                del self.known[key]
            elif not state.pinned and key not in active and exact and self._age(state) >= LATELY_S:
                assert age < limit, (key, state, age, limit)
        again = pruning.prune_index(self.path, LIMITS, clock=self.clock)
        assert not again.views

    # The model's expectations

    def _use(self, tree: int, ref: str | None) -> None:
        scope = Repository.at(self.trees[tree].root).scope(ref)
        view = views.find_view(self.db, scope.key)
        assert (view is not None) == (scope.key in self.known)
        if view is None:
            lease = writer_lease.acquire(self.db, 0, self.clock)
            view = views.create_view(
                self.db, lease, scope.key, scope.kind, worktree=scope.worktree,
                branch=scope.branch, head=scope.head, index_id=scope.index_id, clock=self.clock,
            )  # fmt: skip
            lease.release(self.db)
        folders = {folder_text(scope.common_dir): scope.common_dir}
        if ref is None:
            folders[scope.worktree] = scope.root
            self.missed.pop(tree, None)

        def seen() -> dict[str, Site]:
            return {text: Site(*whereabouts(folder)) for text, folder in folders.items()}

        written = index_metadata.touch(
            self.db,
            view.id,
            view.used_s,
            os.fsencode(scope.common_dir),
            folders=folders,
            seen=seen,
            clock=self.clock,
        )
        old = self.known.get(scope.key)
        # A use within the hour is not written, so the index's clock does not move.
        reboots, set_back = self.reboots, self.set_back
        if old is not None and not written:
            reboots, set_back = old.reboots, old.set_back
        pinned = old is not None and old.pinned
        self.known[scope.key] = ViewState(
            scope.kind, tree, scope.branch, self.now, reboots, set_back, pinned
        )

    def _age(self, state: ViewState) -> float:
        return self.now - state.used

    def _due(self, state: ViewState) -> tuple[float, float, bool]:
        """Limit, age, and whether the age is exact: no clock change and no reboot reduced it."""
        undisturbed = (state.reboots, state.set_back) == (self.reboots, self.set_back)
        if state.kind == "ref":
            return LIMITS.ref_s, self._age(state), undisturbed
        if not self.there[state.tree]:
            since, reboots, set_back = self.missed[state.tree]
            exact = (reboots, set_back) == (self.reboots, self.set_back)
            return LIMITS.gone_s, self.now - since, exact and undisturbed
        limit = LIMITS.branch_s if state.branch else LIMITS.detached_s
        return limit, self._age(state), undisturbed


def test_prune_removes_due_views_and_no_protected_ones() -> None:
    run_machine(Lives, HISTORIES, 40)
