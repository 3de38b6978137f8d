"""What of a worktree is as its view has it, as far as that is known without looking again.

A look at every file costs 370 ms of CPU at 79,000 files. In a server that watches the folders a
question looks at no more than what may have changed since the last one: files and folders of which
something was told, those that differ from the view or were never reached, and those whose row in
the view is another one now. So a look that was cut short goes on where it stopped.

A watch is never believed alone (`codelens.scan.folder_watch` says what it does not see): every
five seconds of use a sweep over all files and folders begins, of which each question takes a part.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from itertools import compress, count
from operator import is_not
from typing import Protocol

from codelens.scan.folder_watch import FolderWatch
from codelens.scan.stat_check import Looked, look

logger = logging.getLogger(__name__)

WORTH_WATCHING = 1_000
"""Files: looking at fewer costs a few milliseconds."""
SWEEP_EVERY_S = 5.0
_SWEPT_FILES, _SWEPT_FOLDERS = 8_192, 1_024
"""What of a sweep one question takes, some 40 ms of CPU."""


class KnownFile(Protocol):
    """A file as its view has it."""

    @property
    def path(self) -> bytes:
        """Relative to the root."""
        ...

    @property
    def signature(self) -> bytes:
        """See `codelens.scan.stat_signature`."""
        ...


class WatchedTree:
    """One worktree; not for more than one thread at a time."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._watch: FolderWatch | None = None
        self.why_not = ""
        """Why there is no watch, where there can be none."""
        self._forget()

    def look(
        self, folders: Mapping[bytes, bytes], files: Sequence[KnownFile], deadline: float | None
    ) -> Looked:
        """Compare a view with the disk, as `codelens.scan.stat_check.look` does.

        Args:
            folders: the view's, with their signatures.
            files: the view's.
            deadline: a `time.monotonic` value.
        """
        if self.why_not or not self._watches(folders):
            pairs = ((file.path, file.signature) for file in files)
            return look(self._root, folders.items(), pairs, len(files), deadline)
        self._take(folders, files)
        open_files = [path for path in self._open_files if path in self._files]
        open_folders = [path for path in self._open_folders if path in self._folders]
        swept_folders, swept_files = self._sweep()
        looked = look(
            self._root,
            [(path, self._folders[path]) for path in (*open_folders, *swept_folders)],
            [(path, self._files[path]) for path in (*open_files, *swept_files)],
            len(open_files),
            # A sweep is short, and must not make an answer partial.
            deadline if open_files or open_folders else None,
        )
        return self._settle(looked, open_files)

    @staticmethod
    def is_worth(files: int) -> bool:
        """Whether a tree of so many files is watched."""
        return files >= WORTH_WATCHING

    @property
    def state(self) -> str:
        """Whether there is a watch, in a few words; empty where there was no reason for one."""
        if self.why_not:
            return f"none, all files are looked at: {self.why_not}"
        return f"{len(self._folders):,} folders" if self._watch is not None else ""

    def close(self) -> None:
        """End the watch; the next look is one at everything."""
        if self._watch is not None:
            self._watch.close()
        self._watch = None

    def _forget(self) -> None:
        self.close()
        self._files: dict[bytes, bytes] = {}
        self._folders: dict[bytes, bytes] = {}
        self._seen_files: Sequence[KnownFile] | None = None
        self._seen_folders: Mapping[bytes, bytes] | None = None
        self._identity = (0, 0)
        self._open_files: dict[bytes, None] = {}
        self._open_folders: dict[bytes, None] = {}
        self._sweep_files: list[bytes] = []
        self._sweep_folders: list[bytes] = []
        self._swept_at = 0.0

    def _watches(self, folders: Mapping[bytes, bytes]) -> bool:
        """Whether all folders are watched, from before anything in them is looked at."""
        try:
            if self._watch is not None and not self._still_told():
                self._forget()
            if self._watch is None:
                self._watch, self._identity = FolderWatch(self._root), self._stands_for()
            unwatched = [path for path in folders if path not in self._folders]
            self._watch.add(unwatched)
        except FileNotFoundError:
            # A folder went a moment ago: the next question begins anew.
            self._forget()
            return False
        except OSError as error:
            self.why_not = error.strerror or str(error)
            logger.info("%s is not watched: %s", os.fsdecode(self._root), self.why_not)
            self._forget()
            return False
        # What was known of files in them was known without a watch.
        unseen = set(unwatched)
        if unseen:
            self._open_files |= {
                path: None for path in self._files if os.path.dirname(path) in unseen
            }
        return True

    def _still_told(self) -> bool:
        """Take what was told; whether all is told that happens."""
        assert self._watch is not None
        events = self._watch.read()
        for path in events.paths:
            self._open_files[path] = None
            self._open_folders[path] = self._open_folders[os.path.dirname(path)] = None
        return not events.lost and self._stands_for() == self._identity

    def _stands_for(self) -> tuple[int, int]:
        """Another folder may be at the same path, with a parent that was moved."""
        status = os.stat(self._root)
        return status.st_dev, status.st_ino

    def _take(self, folders: Mapping[bytes, bytes], files: Sequence[KnownFile]) -> None:
        """Learn what the view says now; whatever it says anew is open."""
        if self._seen_files is files and self._seen_folders is folders:
            return
        self._take_files(files)
        self._open_folders |= {
            path: None for path, known in folders.items() if self._folders.get(path) != known
        }
        self._folders = dict(folders)
        self._seen_files, self._seen_folders = files, folders

    def _take_files(self, files: Sequence[KnownFile]) -> None:
        before = self._seen_files or ()
        if len(files) < len(before):
            signatures, self._files = self._files, {}
            places = list(range(len(files)))
        else:
            # After an edit nearly all records are those of before, which is told in C.
            differing = compress(count(), map(is_not, before, files))
            places = [*differing, *range(len(before), len(files))]
            known = [before[at].path for at in places if at < len(before)]
            signatures = {path: self._files.pop(path) for path in known}
        for at in places:
            path, signature = files[at].path, files[at].signature
            self._files[path] = signature
            if signatures.get(path) != signature:
                self._open_files[path] = None

    def _sweep(self) -> tuple[list[bytes], list[bytes]]:
        """Folders and files that were as they should be, to be looked at all the same."""
        now = time.monotonic()
        if not self._sweep_files and not self._sweep_folders:
            if now - self._swept_at < SWEEP_EVERY_S:
                return [], []
            self._swept_at = now
            if (
                self._open_files.keys() >= self._files.keys()
                and self._open_folders.keys() >= self._folders.keys()
            ):
                return [], []
            self._sweep_files, self._sweep_folders = list(self._files), list(self._folders)
        taken_folders, self._sweep_folders = _part(self._sweep_folders, _SWEPT_FOLDERS)
        taken_files, self._sweep_files = _part(self._sweep_files, _SWEPT_FILES)
        return (
            [path for path in taken_folders if path in self._folders
             and path not in self._open_folders],
            [path for path in taken_files if path in self._files and path not in self._open_files],
        )  # fmt: skip

    def _settle(self, looked: Looked, open_files: list[bytes]) -> Looked:
        """Note what a look told; what it differed in, or did not reach, stays open."""
        differing = {suspect.path: None for suspect in looked.suspects} | dict.fromkeys(looked.gone)
        unreached = open_files[looked.checked :]
        self._open_files = differing | dict.fromkeys(unreached)
        if looked.checked or not looked.unchecked:
            self._open_folders = dict.fromkeys(looked.folders)
        unchecked = len(unreached) or int(looked.unchecked > 0)
        return looked._replace(checked=len(self._files) - len(unreached), unchecked=unchecked)


def _part(paths: list[bytes], count: int) -> tuple[list[bytes], list[bytes]]:
    return paths[:count], paths[count:]
