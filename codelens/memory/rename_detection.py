"""Where a file went: by its very content, else as git tells a rename, by lines in common.

A file that was there beside the old one is a copy, never its new name: only files that the commit
of the old one lacks are asked. Git's measure and threshold (diffcore-rename: bytes in common by
the larger file's, half of it), counted in lines.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

from codelens.errors import ReadError
from codelens.scope.commits.commit_tree import read_tree
from codelens.scope.commits.file_similarity import RENAMED, line_weights, similarity
from codelens.scope.repository import Repository
from codelens.store.facts.raw_hashes import with_hash
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import CommitId

_COMPARED = 200

ReadFile = Callable[[FileRow], bytes | None]
TextOf = Callable[[bytes], bytes]


class Renames:
    """Follows files from commits into one view.

    Args:
        repository: whose commits.
        snapshot: the view.
        read: the text of a file of the view as it is now.
        text_of: the text of a file that has these bytes.
    """

    def __init__(
        self, repository: Repository, snapshot: Snapshot, read: ReadFile, text_of: TextOf
    ) -> None:
        self._repository = repository
        self._snapshot = snapshot
        self._read = read
        self._text_of = text_of
        self._trees: dict[str, dict[bytes, bytes]] = {}
        self._found: dict[tuple[bytes, bytes, str], FileRow | None] = {}

    def target(self, path: bytes, content: bytes, head: str) -> FileRow | None:
        """The file of the view that `path`, which the view lacks, became; None if it is gone.

        Args:
            path: as it was.
            content: hash of the file as it was; empty where it is not known.
            head: the commit that it was seen at; empty where there was none.
        """
        key = (path, content, head)
        if key not in self._found:
            before = self._tree(head)
            self._found[key] = self._same(path, content, before) or self._alike(path, before)
        return self._found[key]

    def _same(self, path: bytes, content: bytes, before: dict[bytes, bytes]) -> FileRow | None:
        if not content:
            return None
        files = [
            file
            for row in with_hash(self._snapshot.db, content)
            for file in self._snapshot.by_content.get(row, ())
            if file.path not in before
        ]
        named = [file for file in files if _name(file.path) == _name(path)]
        chosen = named or files
        return chosen[0] if len(chosen) == 1 else None

    def _alike(self, path: bytes, before: dict[bytes, bytes]) -> FileRow | None:
        if path not in before:
            return None
        try:
            old = self._text_of(self._repository.read_blob(before[path]))
        except ReadError:
            return None
        added = [file for file in self._snapshot.files if file.path not in before]
        added.sort(key=lambda file: (_name(file.path) != _name(path), _kind(file.path, path)))
        best, highest = None, RENAMED
        lines = _weights(old)
        for file in added[:_COMPARED]:
            data = self._read(file)
            if data is None or min(len(data), len(old)) < RENAMED * max(len(data), len(old)):
                continue
            score = similarity(lines, _weights(data))
            if score > highest or (best is None and score >= highest):
                best, highest = file, score
        return best

    def _tree(self, head: str) -> dict[bytes, bytes]:
        """Path -> object id at a commit; empty where it is not in this clone."""
        if head not in self._trees:
            entries: dict[bytes, bytes] = {}
            if head and self._repository.is_git:
                try:
                    files = read_tree(self._repository, CommitId(head)).files
                    entries = {file.path: file.oid for file in files}
                except ReadError:
                    entries = {}  # made over by a rebase and collected: only contents tell then
            self._trees[head] = entries
        return self._trees[head]


def _weights(data: bytes) -> Counter[bytes]:
    """Bytes by line, however lines end."""
    return line_weights(line.removesuffix(b"\r") + b"\n" for line in data.split(b"\n"))


def _name(path: bytes) -> bytes:
    return os.path.basename(path)


def _kind(path: bytes, other: bytes) -> tuple[bool, bytes]:
    return os.path.splitext(path)[1] != os.path.splitext(other)[1], path
