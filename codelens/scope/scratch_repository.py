"""An empty bare repository outside of the worktree, for commands of git's that only read.

Its alternates are the repository's objects. So what a command writes goes there, and none of the
repository's configuration, hooks, filters or merge drivers is read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from codelens.scope.repository import Repository

_MEMORY = "/dev/shm"  # noqa: S108 - a folder of a random name in it, by mkdtemp
_LEAST_FREE = 1 << 30


class ScratchRepository:
    """Borrows the objects of a repository; use it in a `with`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.git = shutil.which("git")
        """git's program; None if it is not installed."""
        self.root = Path()
        """Its folder, while it exists."""

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix="codelens-git-", dir=_memory_folder()))
        root, common = self.root, self._repository.common_dir
        for folder in ("objects/info", "refs"):
            (root / folder).mkdir(parents=True)
        (root / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        (root / "config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        objects = os.path.join(common, "objects")
        (root / "objects/info/alternates").write_bytes(os.fsencode(objects) + b"\n")
        shallow = os.path.join(common, "shallow")
        if os.path.isfile(shallow):
            shutil.copyfile(shallow, root / "shallow")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        """Variables under which git reads no configuration but this one's, and fetches nothing."""
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("GIT_")
        }
        return environment | {
            "GIT_DIR": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "XDG_CONFIG_HOME": str(self.root),
            "LC_ALL": "C",
        }


def _memory_folder() -> str | None:
    """Where files are kept in memory; None for the usual folder.

    Hundreds of small objects are written and deleted: on a disk's file system that costs more than
    the merges do.
    """
    if os.environ.get("TMPDIR"):
        return None
    try:
        status = os.statvfs(_MEMORY)
    except (OSError, AttributeError):
        return None  # not Linux
    roomy = status.f_bavail * status.f_frsize >= _LEAST_FREE
    return _MEMORY if roomy and os.access(_MEMORY, os.W_OK | os.X_OK) else None
