"""The crowd's worktrees; each has an editor that works like an agent, and git to grep it."""

from __future__ import annotations

import random
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitrepo import GitRepo, git_environment
from load.report import Report

_STASHES = threading.Lock()
"""All worktrees share one list of stashes, whose numbers change."""


class Tree:
    """One worktree, and a number that changes with every edit; odd while one is in progress.

    `still` holds the editor of this worktree until an answer; all others continue.
    """

    def __init__(self, repo: GitRepo, name: str, seed: int) -> None:
        self.repo, self.name = repo, name
        self.edits = 0
        self._turn = threading.Condition()
        self._asking = 0
        self._waiting = False
        self.tokens: list[str] = []
        self._random = random.Random(seed)
        self._made = 0

    def edit(self, report: Report) -> None:
        """Changes something as an agent would."""
        ways = (self._append, self._append, self._append, self._create, self._remove, self._rename,
                self._commit, self._switch, self._reset, self._stash, self._rebase,
                self._amend)  # fmt: skip
        way = self._random.choice(ways)
        with self._turn:
            self._waiting = True
            self._turn.wait_for(lambda: not self._asking)
            self.edits += 1
            try:
                way()
            finally:
                self.edits += 1
                self._waiting = False
                self._turn.notify_all()
        report.count(f"edit {way.__name__[1:]}")

    @contextmanager
    def still(self) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._waiting)
            self._asking += 1
        try:
            yield
        finally:
            with self._turn:
                self._asking -= 1
                self._turn.notify_all()

    def _source(self) -> Path | None:
        listed = self.repo.text("ls-files", "--", "*.py").splitlines()
        found = [path for name in listed if (path := self.repo.path(name)).is_file()]
        return self._random.choice(found) if found else None

    def _token(self) -> str:
        self._made += 1
        # No name is a prefix of another.
        token = f"zq{self.name}n{self._made}e"
        self.tokens = [*self.tokens[-30:], token]
        return token

    def _append(self) -> None:
        target = self._source()
        if target is not None:
            with target.open("a", encoding="utf-8") as file:
                token = self._token()
                file.write(f"\n\ndef {token}():\n    return {self._made}\n\n\n{token}()\n")

    def _create(self) -> None:
        text = f"class {self._token()}:\n    kept = {self._made}\n"
        self.repo.write(f"made_{self.name}/part{self._made}.py", text)

    def _remove(self) -> None:
        made = sorted(self.repo.path(f"made_{self.name}").glob("*.py"))
        if made:
            self._random.choice(made).unlink()

    def _rename(self) -> None:
        made = sorted(self.repo.path(f"made_{self.name}").glob("*.py"))
        if made:
            self._made += 1
            self._random.choice(made).rename(made[0].parent / f"moved{self._made}.py")

    def _commit(self) -> None:
        self.repo.commit(f"work of {self.name}")

    def _switch(self) -> None:
        branch = f"{self.name}-{self._random.randrange(3)}"
        exists = self.repo.git("branch", "--list", branch).strip()
        self.repo.commit("before the switch")
        self.repo.git("checkout", "-q", *([branch] if exists else ["-b", branch]))

    def _reset(self) -> None:
        self.repo.git("reset", "-q", "--hard", "HEAD")

    def _stash(self) -> None:
        """Stashes everything, untracked files too; or applies this worktree's last stash."""
        with _STASHES:
            listed = self.repo.text("stash", "list", "--format=%gd %s").splitlines()
            own = [line.partition(" ")[0] for line in listed if line.endswith(f": {self.name}")]
            if not own:
                self.repo.git("stash", "push", "-q", "-u", "-m", self.name)
                return
            self.repo.git("stash", "apply", "-q", own[0], check=False)
            self.repo.git("stash", "drop", "-q", own[0])
        if self.repo.git("ls-files", "-u"):
            self.repo.git("reset", "-q", "--hard")

    def _rebase(self) -> None:
        """Rebases this branch on another one of this worktree, or gives up if they conflict."""
        self.repo.commit("before the rebase")
        pattern = f"refs/heads/{self.name}-*"
        own = self.repo.text("for-each-ref", "--format=%(refname:short)", pattern).split()
        onto = self._random.choice([*own, "start"])
        self.repo.git("rebase", "-q", onto, check=False)
        if self.repo.git("rev-parse", "-q", "--verify", "REBASE_HEAD", check=False):
            self.repo.git("rebase", "--abort")

    def _amend(self) -> None:
        self.repo.git("commit", "-q", "--amend", "--no-edit", "--allow-empty", "-a")

    def grep(self, text: str, *at: str) -> set[str]:
        """Paths that contain the text, by git alone."""
        how = ["--untracked"] if not at else []
        done = subprocess.run(
            ["git", "grep", "-I", "-l", "-i", "-z", *how, "-F", "-e", text, *at],
            cwd=self.repo.root, env=git_environment(), capture_output=True,
        )  # fmt: skip
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return {name.partition(":")[2] if at else name for name in names if name}

    def uses(self, name: str) -> set[tuple[str, int]]:
        """Paths and lines that contain a name and do not define it, by git alone."""
        done = self.repo.git(
            "grep", "-I", "-n", "-z", "--untracked", "-F", "-e", name, check=False
        )  # fmt: skip
        rows = [line.split("\0") for line in done.decode("utf-8", "surrogateescape").splitlines()]
        return {
            (path, int(number))
            for path, number, text in rows
            if not text.startswith(("def ", "class "))
        }
