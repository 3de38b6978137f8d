"""Which files of a worktree, or of a plain folder, belong: `Walker.walk`, and `rescan` for a part.

Equal to `git ls-files -co --exclude-standard`, less what is not on the disk: tracked files, and
untracked ones that no rule ignores. Links are listed apart and never followed; what is neither
file, link nor folder never belongs; nor does what lies in another repository.
"""

from __future__ import annotations

import os
import stat as stat_module
from collections.abc import Collection, Iterable

from codelens.scope.git_index.git_index import NOTHING_TRACKED, TrackedSet
from codelens.scope.ignore.ignore_rules import IGNORE_NAME, Ignore
from codelens.scope.membership.folder_pass import Membership, Pass
from codelens.scope.membership.nested_repository import is_repository
from codelens.scope.membership.tracked_paths import Tracked

__all__ = ["Membership", "Walker", "marks_hold"]


class Walker:
    """Decides what belongs, by passes over the disk; make a new one for each look."""

    def __init__(
        self,
        root: str | bytes | os.PathLike[str],
        ignore: Ignore,
        tracked: TrackedSet = NOTHING_TRACKED,
        git_dir: str | bytes | os.PathLike[str] | None = None,
    ) -> None:
        """For a worktree; for a plain folder leave out `tracked` and `git_dir`."""
        self.root = os.fsencode(root)
        self._prefix = self.root.rstrip(b"/") + b"/"
        self._ignore = ignore
        self._tracked = Tracked(tracked, fold=ignore.settings.ignore_case)
        self._git_dir = None if git_dir is None else os.fsencode(git_dir)

    def walk(self, deadline: float | None = None) -> Membership:
        """Everything that belongs; nothing at all if the root is gone.

        Args:
            deadline: a `time.monotonic` value, when to stop; `Membership.unlisted` says then what
                is left.

        Raises:
            ReadError: an ignore file outside the tree cannot be read.
        """
        folder_pass = self._pass((), deadline)
        folder_pass.visit(b"", self._ignore.base())
        folder_pass.add_tracked_only()
        return folder_pass.members

    def rescan(
        self,
        folders: Iterable[bytes],
        known: Collection[bytes],
        ignore_files: Collection[bytes],
        deadline: float | None = None,
    ) -> Membership | None:
        """What belongs directly in folders that changed, and all that belongs in new ones.

        Right only while nothing else that decides has changed: `TrackedSet.digest`, the files of
        `Ignore.own_files` and of `Membership.ignore_files`, git's config, and `marks_hold`.

        Args:
            folders: folders of an earlier pass whose lstat has changed, or fails.
            known: all folders of earlier passes (a set, or a dict by them). They tell of their
                changes themselves, so that none is entered from above.
            ignore_files: the ignore files of earlier passes.
            deadline: as `walk` has it.

        Returns:
            What lies directly in its `folders`, and which are `gone`; None if an ignore file came
            or went, so that all must be walked again.

        Raises:
            ReadError: an ignore file outside the tree cannot be read.
        """
        folder_pass = self._pass(known, deadline)
        members = folder_pass.members
        tracked_only: set[bytes] = set()
        for folder in sorted(set(folders)):
            if not self._stands(folder, members.gone):
                members.gone.add(folder)
            elif self._ignore.rules_in(folder) is None:
                tracked_only.add(folder)
            else:
                above = self._ignore.rules_in(folder.rpartition(b"/")[0]) if folder else None
                folder_pass.visit(folder, above or self._ignore.base())
                if members.unlisted:
                    return members
                if folder not in members.folders:
                    members.gone.add(folder)
                elif _ignore_file_changed(folder, members, ignore_files):
                    return None
        folder_pass.add_tracked_only(tracked_only)
        members.gone |= tracked_only - members.folders.keys()
        return members

    def _pass(self, known: Collection[bytes], deadline: float | None) -> Pass:
        return Pass(
            self.root, self._ignore, self._tracked, self._git_dir, known=known, deadline=deadline
        )

    def _stands(self, folder: bytes, gone: set[bytes]) -> bool:
        """Whether a folder and all above it are folders still, reached through no link."""
        while folder:
            if folder in gone:
                return False
            try:
                status = os.lstat(self._prefix + folder)
            except OSError:
                return False
            if not stat_module.S_ISDIR(status.st_mode):
                return False
            folder = folder.rpartition(b"/")[0]
        return True


def _ignore_file_changed(
    folder: bytes, members: Membership, ignore_files: Collection[bytes]
) -> bool:
    path = folder + b"/" + IGNORE_NAME if folder else IGNORE_NAME
    return (path in members.ignore_files) != (path in ignore_files)


def marks_hold(
    root: str | bytes | os.PathLike[str],
    marks: Iterable[tuple[bytes, bool]],
    git_dir: str | bytes | os.PathLike[str] | None = None,
) -> bool:
    """Whether the `.git` of each folder still says what it said; some system calls a mark."""
    top = os.fsencode(root)
    own = None if git_dir is None else os.fsencode(git_dir)
    return all(
        is_repository(os.path.join(top, path), own) == was_repository
        for path, was_repository in marks
    )
