"""Real git repositories in a temporary folder, isolated from the machine's git configuration.

`GitRepo.init(tmp_path / "repo")` creates one; everything else goes through `git(*args)`. Author,
committer and dates are fixed, so the same calls give the same object ids.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

_TEMPLATE = f"--template={Path(__file__).parent / 'git_template'}"
"""Avoids git's fourteen sample hooks, which take longer than the rest of `git init`."""
_WHEN = 1_700_000_000  # 2023-11-14T22:13:20Z; each commit of a repository is one minute later


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a git whose behaviour depends only on the repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment.pop("XDG_CONFIG_HOME", None)
    return environment | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.com",
        "GIT_AUTHOR_DATE": f"{_WHEN} +0000",
        "GIT_COMMITTER_NAME": "C O Mitter",
        "GIT_COMMITTER_EMAIL": "committer@example.com",
        "GIT_COMMITTER_DATE": f"{_WHEN} +0000",
        "HOME": os.devnull,
        "LC_ALL": "C",
        **(extra or {}),
    }


class GitRepo:
    """A worktree of a repository: its root, and git run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._commits = 0

    @classmethod
    def init(cls, root: Path, *options: str, branch: str = "main") -> GitRepo:
        """Creates an empty repository at `root`, and the folder with its parents."""
        root.mkdir(parents=True, exist_ok=True)
        repo = cls(root)
        repo.git("init", "-q", _TEMPLATE, f"--initial-branch={branch}", *options)
        return repo

    @classmethod
    def clone(cls, source: Path, root: Path, *options: str) -> GitRepo:
        """Clones over file://, so that filters and depth apply."""
        root.parent.mkdir(parents=True, exist_ok=True)
        repo = cls(root)
        repo._run(("clone", "-q", *options, f"file://{source}", str(root)), root.parent)
        return repo

    def git(
        self,
        *args: str | bytes | Path,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> bytes:
        """Standard output of a git command, run at the root.

        Raises:
            AssertionError: it failed and `check` is set; the message includes git's stderr.
        """
        return self._run(args, self.root, stdin, env, check)

    def _run(
        self,
        args: Iterable[str | bytes | Path],
        folder: Path,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> bytes:
        command = ["git", *args]
        done = subprocess.run(
            command, cwd=folder, input=stdin, env=git_environment(env), capture_output=True
        )
        if check and done.returncode:
            said = done.stderr.decode("utf-8", "replace")
            raise AssertionError(f"{command} ended with {done.returncode}: {said}")
        return done.stdout

    def text(self, *args: str | bytes | Path) -> str:
        """Standard output as text, without the line end."""
        return self.git(*args).decode("utf-8", "surrogateescape").removesuffix("\n")

    def path(self, name: str | bytes) -> Path:
        """The path of a file in the worktree."""
        return self.root / os.fsdecode(name)

    def write(self, name: str | bytes, content: str | bytes = "") -> Path:
        """Writes a file, and creates its folders."""
        target = self.path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def write_all(self, files: Mapping[str, str | bytes]) -> None:
        """Writes several files."""
        for name, content in files.items():
            self.write(name, content)

    def remove(self, name: str | bytes) -> None:
        """Deletes a file of the worktree without git."""
        self.path(name).unlink()

    def rename(self, old: str | bytes, new: str | bytes) -> None:
        """Renames a file of the worktree without git."""
        target = self.path(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.path(old).rename(target)

    def add(self, *names: str | bytes, force: bool = False) -> None:
        """`git add`, of everything if no name is given."""
        flags = ["-f"] if force else []
        self.git("--literal-pathspecs", "add", *flags, *(("--", *names) if names else ("-A",)))

    def commit(
        self, message: str = "change", files: Mapping[str, str | bytes] | None = None
    ) -> str:
        """Writes `files`, adds everything, commits; returns the commit's id. It may be empty."""
        self.write_all(files or {})
        self.add()
        return self.commit_staged(message)

    def commit_staged(self, message: str = "change") -> str:
        """Commits what is staged; returns the commit's id. It may be empty."""
        self._commits += 1
        when = f"{_WHEN + 60 * self._commits} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message, env=dates)
        return self._loose_head() or self.head()

    def _loose_head(self) -> str:
        """The id that HEAD names, read from its files; empty if only git can find it."""
        folder = self.root / ".git"
        try:
            head = (folder / "HEAD").read_text().strip()
            ref = head.removeprefix("ref: ")
            found = (folder / ref).read_text().strip() if ref != head else head
        except OSError:
            return ""
        return found if len(found) in {40, 64} else ""

    def head(self, rev: str = "HEAD") -> str:
        """The id of a commit."""
        return self.text("rev-parse", "--verify", f"{rev}^{{commit}}")

    def checkout(self, *args: str) -> None:
        """`git checkout`."""
        self.git("checkout", "-q", *args)

    def worktree(self, root: Path, *args: str, branch: str = "") -> GitRepo:
        """Adds a linked worktree at `root`: on a new branch if one is named, otherwise detached."""
        how = ("-b", branch) if branch else ("--detach",)
        self.git("worktree", "add", "-q", *how, root, *args)
        linked = GitRepo(root)
        linked._commits = self._commits
        return linked

    def config(self, name: str, value: str) -> None:
        """Sets a value of the repository's config."""
        self.git("config", name, value)

    @property
    def index_file(self) -> Path:
        """The worktree's own index of git."""
        return self.root / os.fsdecode(self.git("rev-parse", "--git-path", "index").strip())

    def settle(self) -> None:
        """Makes git's index newer than all files, as after a checkout that takes a while."""
        time.sleep(0.06)
        os.utime(self.index_file)
        time.sleep(0.06)

    def members(self) -> set[bytes]:
        """The oracle: git's files of the worktree, including missing tracked files."""
        listed = self.git("ls-files", "-co", "--exclude-standard", "-z")
        return set(listed.split(b"\0")) - {b""}
