"""The oracle of sharing: a second worktree shows its own bytes, regardless of other views.

The histories of `stateful.test_oracle` with several worktrees whose git indexes are settled, so
that a first look takes files of another view. After each step a new index gets the view of one
worktree and then that of another. The second must equal a view that was read from disk file by
file. Git's flags, attributes, index formats and unusual states decide what may be shared.

CODELENS_SHARED_ORACLE_SEQUENCES sets how many histories run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from harness_sizes import size_of
from hypothesis import strategies as st
from hypothesis.stateful import rule
from stateful.machine_run import report, run_machine
from stateful.test_oracle import PICKS, Histories
from stateful.texts import IGNORES, TEMPLATES
from stateful.view_contents import dump, git

from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.index import view_refresh, worktree_comparison
from codelens.scan.content_hash import hash_of
from codelens.store.facts import contents

SEQUENCES = size_of("CODELENS_SHARED_ORACLE_SEQUENCES")
STEPS = size_of("CODELENS_SHARED_ORACLE_STEPS")
COUNTS = {"histories": 0, "comparisons": 0, "files": 0, "shared": 0, "with shared files": 0}
SETTLE_S = 0.06
"""Longer than the time in which two changes of a file may get the same timestamp."""
GRANULARITY_S = 0.01
FLAGS = ("assume-unchanged", "no-assume-unchanged", "skip-worktree", "no-skip-worktree")
FORMATS = (
    ("update-index", "--index-version", "4"), ("update-index", "--index-version", "2"),
    ("update-index", "--split-index"), ("update-index", "--no-split-index"),
    ("sparse-checkout", "set", "--cone", "--sparse-index", "src"),
    ("sparse-checkout", "reapply", "--no-sparse-index"),
)  # fmt: skip
KEEP_SIZE = ("* ident\n", "*.py filter=r\n")
"""Attributes by which git may write other bytes of the same size."""
ATTRIBUTES = (
    *KEEP_SIZE, "* text eol=crlf\n", "* -text\n", "*.py text working-tree-encoding=UTF-16\n", "\n",
)  # fmt: skip
SETTINGS = {
    "core.autocrlf": ("true", "input", "false"), "core.trustctime": ("false", "true"),
    "core.checkStat": ("minimal", "default"), "core.fileMode": ("false", "true"),
    "core.ignoreCase": ("true", "false"), "core.symlinks": ("false", "true"),
}  # fmt: skip
IDENT = "# $Id: {} $\n"
"""A line that git replaces by one of the same length if the file has the attribute `ident`."""


class SharedHistories(Histories):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        for number, (suffix, template) in enumerate(TEMPLATES.items()):
            names = dict.fromkeys("abc", "token") | dict.fromkeys("ABC", "Token")
            text = template.format(**names, doc="merge", n=number)
            self._write(f"src/core/token{suffix}", text.encode())
            self._write(f"tests/ident{suffix}", (IDENT.format("0" * 40) + text).encode())
        git(self.main, "add", "-A")
        git(self.main, "commit", "-qm", "start")
        other = self.scratch / "other"
        git(self.main, "worktree", "add", "-q", "-b", "other", str(other))
        self.trees.append(other)
        COUNTS["histories"] += 1

    # -- what else may happen --------------------------------------------------------------

    @rule(pick=PICKS, flag=st.sampled_from(FLAGS), edits=st.booleans())
    def flag(self, pick: int, flag: str, edits: bool) -> None:
        file = self._pick(pick)
        if file is None:
            return
        git(self.here, "update-index", f"--{flag}", "--", str(file), check=False)
        if edits:
            self._rewrite(file, file.read_bytes().swapcase())
        self._check()

    @rule(pick=PICKS, back=st.booleans())
    def stage_then_edit(self, pick: int, back: bool) -> None:
        """The index has another text than the file; the file may then return to the old one."""
        file = self._pick(pick)
        if file is None:
            return
        text = file.read_bytes()
        self._rewrite(file, text.swapcase())
        git(self.here, "add", "-f", "--", str(file), check=False)
        self._rewrite(file, text if back else text.upper())
        self._check()

    @rule(pick=PICKS, other=PICKS)
    def stage_the_blob_of_another_file(self, pick: int, other: int) -> None:
        file, source = self._pick(pick), self._pick(other)
        if file is None or source is None:
            return
        oid = git(self.here, "hash-object", "-w", "--", str(source), check=False).decode().strip()
        name = os.path.relpath(file, self.here)
        if oid:
            git(self.here, "update-index", "--add", "--cacheinfo", f"100644,{oid},{name}",
                check=False)  # fmt: skip
        self._check()

    @rule(pick=PICKS)
    def intend_to_add(self, pick: int) -> None:
        file = self._pick(pick)
        if file is not None:
            git(self.here, "rm", "-q", "--cached", "--", str(file), check=False)
            git(self.here, "add", "-N", "-f", "--", str(file), check=False)
            self._check()

    @rule(pick=PICKS, other=PICKS)
    def swap_two_files(self, pick: int, other: int) -> None:
        first, second = self._pick(pick), self._pick(other)
        if first is None or second is None or first == second:
            return
        spare = self.scratch / "spare"
        first.rename(spare)
        second.rename(first)
        spare.rename(second)
        self._check()

    @rule(pick=PICKS, other=PICKS, hard=st.booleans())
    def link(self, pick: int, other: int, hard: bool) -> None:
        file, target = self._pick(pick), self._pick(other)
        if file is None or target is None or file == target:
            return
        file.unlink()
        if hard:
            file.hardlink_to(target)
        else:
            file.symlink_to(target)
        self._check()

    @rule(pick=PICKS)
    def change_case(self, pick: int) -> None:
        file = self._pick(pick)
        if file is not None and not file.with_name(file.name.swapcase()).exists():
            file.rename(file.with_name(file.name.swapcase()))
            self._check()

    @rule(pick=PICKS)
    def change_mode(self, pick: int) -> None:
        file = self._pick(pick)
        if file is not None and not file.is_symlink():
            file.chmod(file.stat().st_mode ^ 0o111)
            self._check()

    @rule(arguments=st.sampled_from(FORMATS))
    def write_the_index_in_another_form(self, arguments: tuple[str, ...]) -> None:
        git(self.here, *arguments, check=False)
        self._check()

    @rule(mode=st.sampled_from(("--soft", "--mixed", "--keep")), back=st.integers(0, 2))
    def reset(self, mode: str, back: int) -> None:
        git(self.here, "reset", "-q", mode, f"HEAD~{back}", check=False)
        self._check()

    @rule(key=st.sampled_from(tuple(SETTINGS)), pick=PICKS)
    def configure(self, key: str, pick: int) -> None:
        git(self.main, "config", key, SETTINGS[key][pick % len(SETTINGS[key])])
        self._check()

    @rule(text=st.sampled_from(IGNORES))
    def leave_out(self, text: str) -> None:
        self._write(".codelensignore", text.encode())
        self._check()

    @rule(place=st.sampled_from((".gitattributes", "src/.gitattributes", "")),
          text=st.sampled_from(ATTRIBUTES), tracked=st.booleans(), stays=st.booleans(),
          from_trees=st.booleans())  # fmt: skip
    def check_out_under_attributes(
        self, place: str, text: str, tracked: bool, stays: bool, from_trees: bool
    ) -> None:
        """The attribute file may be gone, from the disk or from git's index, right after it."""
        rules = self.here / place if place else self.main / ".git" / "info" / "attributes"
        # A removed file of a worktree leaves no trace (`codelens.scope.untouched_blobs`).
        if place and (text in KEEP_SIZE or not self._can_write(rules)):
            return
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_text(text)
        os.utime(rules, (1_000_000_000, 1_000_000_000))
        if tracked and place:
            git(self.here, "add", "-f", "--", str(rules), check=False)
        for name in git(self.here, "ls-files", "-z", "--", "*.*", ":!*.gitattributes").split(b"\0"):
            file = Path(os.fsdecode(os.path.join(os.fsencode(self.here), name)))
            if name and (file.is_symlink() or file.is_file()):
                file.unlink()
        program = ("-c", "filter.r.smudge=tr a-f A-F", "-c", "filter.r.clean=tr A-F a-f")
        source = ("HEAD", "--", ".", ":!*.gitattributes") if from_trees else ("--", ".")
        git(self.here, *program, "checkout", "-q", "-f", *source, check=False)
        if not stays:
            rules.unlink(missing_ok=True)
        self._check()

    @rule(name=st.sampled_from(("sub", "src/core")), replaces=st.booleans())
    def submodule(self, name: str, replaces: bool) -> None:
        folder = self.here / name
        if folder.exists() and replaces:
            shutil.rmtree(folder)
        if folder.exists() or not self._can_write(folder / "token.py"):
            return
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
        (folder / "token.py").write_text("def inside_submodule(): pass\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "inside")
        git(self.here, "add", "-f", "--", str(folder), check=False)
        self._check()

    # -- what must hold -------------------------------------------------------------------

    def _write(self, path: str, text: bytes) -> None:
        super()._write(path, text)
        target = self.here / path
        if target.is_file() and not target.is_symlink():
            self._rewrite(target, text)

    def _rewrite(self, file: Path, text: bytes) -> None:
        """Writes with a modification time that is the same for all texts.

        Waits before: git itself misses a change within the granularity of the change time.
        """
        time.sleep(GRANULARITY_S)
        file.write_bytes(text)
        os.utime(file, (1_500_000_000, 1_500_000_000.5))

    def _settle(self) -> None:
        """Lets each index be newer than its files, as after a checkout that takes a while.

        In every other step git looks at the files again, and records those that are as before.
        """
        self.steps += 1
        time.sleep(SETTLE_S)
        for tree in self.trees:
            if tree.is_dir() and self.steps % 2:
                git(tree, "update-index", "-q", "--refresh", "--force-write-index", check=False)
            elif tree.is_dir():
                index = tree / os.fsdecode(git(tree, "rev-parse", "--git-path", "index").strip())
                os.utime(index)
        time.sleep(SETTLE_S)

    def _compare(self, tree: Path, ref: str | None) -> None:
        if ref is not None or not tree.is_dir():
            return
        self._settle()
        others = [other for other in self.trees if other != tree and other.is_dir()]
        with self.fresh_engine() as engine:
            for other in others[-1:]:
                dump(engine, other, None)
            before = COUNTS["shared"]
            seen = dump(engine, tree, None)
            COUNTS["with shared files"] += COUNTS["shared"] > before
            assert seen == _read_from_disk(tree)
            assert _hashes(engine, tree) == {
                path: hash_of((tree / os.fsdecode(path)).read_bytes()) for path in seen
            }
            COUNTS["comparisons"] += 1
            COUNTS["files"] += len(seen)


def _hashes(engine: Engine, tree: Path) -> dict[bytes, bytes]:
    with engine.pool.view(ViewRequest(tree)) as current:
        view = current.snapshot
        by_id = contents.hashes(view.db, [file.content for file in view.files if file.content])
        return {file.path: by_id[file.content] for file in view.files if file.content is not None}


def _read_from_disk(tree: Path) -> dict:
    """The view in an index that knows nothing, and that does not use git's blobs."""
    home = Path(tempfile.mkdtemp(prefix="codelens-disk-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worktree_comparison, "MANY_FILES", 1_000_000)
        with Engine(Settings(home=home)) as engine:
            built = dump(engine, tree, None)
    shutil.rmtree(home)
    return built


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few files suffice for sharing, and it is counted."""
    share = view_refresh.share_files

    def counted(db, scope, settings, delta):
        left = share(db, scope, settings, delta)
        COUNTS["shared"] += len(delta.works) - len(left.works)
        return left

    monkeypatch.setattr(worktree_comparison, "MANY_FILES", 1)
    monkeypatch.setattr(view_refresh, "share_files", counted)


@pytest.mark.usefixtures("shares")
def test_a_second_worktree_shows_its_own_bytes(record_property) -> None:
    run_machine(SharedHistories, SEQUENCES, STEPS)
    report(COUNTS, record_property)
    assert COUNTS["histories"] >= SEQUENCES
    # Usually three in four comparisons share, and half of the files. A few histories vary widely.
    assert COUNTS["with shared files"] > COUNTS["comparisons"] / 4
    assert COUNTS["shared"] > COUNTS["files"] / 8
