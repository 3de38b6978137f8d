"""Where the bytes of a view's files come from: the disk, or git's object database."""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol

from codelens.errors import ReadError
from codelens.scan.content_hash import bytes_of_file, glance, read_file
from codelens.scan.stat_signature import signature, signature_to_store
from codelens.scope.repository import Repository
from codelens.store.views.views import OVERSIZED, UNREADABLE

ANY_SIZE = -1
"""Size of a work whose object id alone tells its bytes (a file of a commit)."""

STORED_UNREAD = b"unread"
"""Signature of a file of a commit: it never changes."""


class Work(NamedTuple):
    """A file of the view whose content must be told."""

    path: bytes
    size_bytes: int
    oid: bytes = b""
    """The git object with its bytes: of a file of a commit, never of one on the disk.

    A file's bytes may differ from the object that git's index names for it: by filters, line ends
    and encodings, set up at the checkout and gone since, or for one direction alone."""
    signature: bytes = b""
    """To be stored with `oid` when the bytes need not be read."""


class Fetched(NamedTuple):
    """Bytes of a file, and the signature to remember."""

    data: bytes
    signature: bytes


class Unavailable(Exception):
    """A file that belongs to the view but has no text to index."""

    def __init__(self, state: int, signature: bytes) -> None:
        self.state = state
        self.signature = signature
        super().__init__(state)


class Source(Protocol):
    """Gives the bytes of works."""

    limit: int
    """Files of more bytes are not read."""

    def fetch(self, work: Work) -> Fetched:
        """Read one file.

        Raises:
            FileNotFoundError: it is gone since the look.
            Unavailable: it cannot be read, or is too large.
        """
        ...

    def glance(self, work: Work) -> bytes:
        """The bytes of one file to be looked through; empty where there is no text."""
        ...


class DiskSource:
    """Files of a worktree or folder."""

    def __init__(self, root: bytes, limit: int, look_ns: int) -> None:
        self._prefix = root.rstrip(b"/") + b"/"
        self.limit = limit
        self._look_ns = look_ns
        self._safe_folders: dict[bytes, bool] = {}

    def fetch(self, work: Work) -> Fetched:
        """See `Source.fetch`."""
        if not self._inside(os.path.dirname(work.path)):
            raise FileNotFoundError(work.path)
        path = self._prefix + work.path
        before = os.lstat(path)
        if before.st_size > self.limit:
            raise Unavailable(OVERSIZED, signature(before))
        try:
            read = read_file(path, self.limit)
        except ReadError as error:
            raise Unavailable(UNREADABLE, signature(before)) from error
        return Fetched(read.data, signature_to_store(read.stat, self._look_ns))

    def glance(self, work: Work) -> bytes:
        """See `Source.glance`."""
        if not self._inside(os.path.dirname(work.path)):
            return b""
        return glance(self._prefix + work.path, self.limit)

    def bytes_of(self, path: bytes) -> bytes | None:
        """The bytes of one file; None where `fetch` would raise."""
        if not self._inside(path.rpartition(b"/")[0]):
            return None
        return bytes_of_file(self._prefix + path, self.limit)

    def _inside(self, folder: bytes) -> bool:
        """No part of the folder is a link: a link could lead out of the tree."""
        known = self._safe_folders.get(folder)
        if known is None:
            parent = os.path.dirname(folder)
            known = not folder or (
                not os.path.islink(self._prefix + folder)
                and (parent == folder or self._inside(parent))
            )
            self._safe_folders[folder] = known
        return known


class BlobSource:
    """Files of a commit."""

    def __init__(self, repository: Repository, limit: int) -> None:
        self._repository = repository
        self.limit = limit

    def fetch(self, work: Work) -> Fetched:
        """See `Source.fetch`."""
        if self._repository.object_size(work.oid) > self.limit:
            raise Unavailable(OVERSIZED, STORED_UNREAD)
        try:
            data = self._repository.read_blob(work.oid)
        except ReadError as error:
            raise Unavailable(UNREADABLE, STORED_UNREAD) from error
        return Fetched(data, STORED_UNREAD)

    def glance(self, work: Work) -> bytes:
        """See `Source.glance`."""
        try:
            return self.fetch(work).data
        except Unavailable:
            return b""
