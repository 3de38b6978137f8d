"""Reads files and identifies their content by hash and by git's object id."""

from __future__ import annotations

import hashlib
import os
import stat as stat_module
from typing import NamedTuple

import xxhash

from codelens.errors import ReadError
from codelens.types import ContentHash

# A symlink at the last step is not followed, and a pipe in place of the file does not block.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


_MORE_BYTES = 1 << 20


class Read(NamedTuple):
    """A file's bytes, and the stat of the same open file."""

    data: bytes
    stat: os.stat_result


def hash_of(data: bytes) -> ContentHash:
    """Returns the xxh3_128 of the bytes, which identifies a content in the index."""
    return ContentHash(xxhash.xxh3_128_digest(data))


def blob_oid(data: bytes) -> bytes:
    """Returns git's object id for a blob of these bytes (SHA-1 over `blob SIZE NUL BYTES`)."""
    # `hashlib` loads OpenSSL, which is fine for the few files of a worktree that need it.
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.digest()


def read_file(path: bytes, limit: int, folder: int | None = None, shown: bytes = b"") -> Read:
    """Reads a regular file of at most `limit` bytes.

    Args:
        path: the file.
        limit: its maximum size.
        folder: an open folder, if `path` is a name in it (`FilesBelow`).
        shown: the whole path for messages, if `path` is only a name.

    Raises:
        FileNotFoundError: it is gone.
        ReadError: it cannot be read, is not a regular file, or is larger.
    """
    try:
        descriptor = os.open(path, _FLAGS, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise ReadError(f"cannot read {os.fsdecode(shown or path)!r}: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        # Checked before `open`, which raises its own error for a folder.
        if not stat_module.S_ISREG(status.st_mode):
            raise ReadError(f"{os.fsdecode(shown or path)!r} is not a regular file")
        # Python allocates a buffer of the requested size, so this requests the file's size and not
        # the limit.
        data = os.read(descriptor, min(status.st_size, limit) + 1)
        if len(data) <= limit:
            data = _and_the_rest(descriptor, data, limit)
    except OSError as error:
        raise ReadError(f"cannot read {os.fsdecode(shown or path)!r}: {error.strerror}") from error
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise ReadError(f"{os.fsdecode(shown or path)!r} is larger than {limit:,} bytes")
    return Read(data, status)


def bytes_of_file(path: bytes, limit: int, folder: int | None = None) -> bytes | None:
    """Returns the bytes of a regular file of at most `limit`; None if they cannot be read.

    It costs half as much as `read_file`, because it returns no stat and does not check for the end.
    """
    try:
        descriptor = os.open(path, _FLAGS, dir_fd=folder)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat_module.S_ISREG(status.st_mode):
            return None
        at_most = min(status.st_size, limit) + 1
        data = os.read(descriptor, at_most)
        if len(data) == at_most or at_most > _MORE_BYTES:
            data = _and_the_rest(descriptor, data, limit)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if len(data) <= limit else None


def _and_the_rest(descriptor: int, data: bytes, limit: int) -> bytes:
    """Reads the rest: the file grew, or has more bytes than the system reads at once."""
    parts, size = [data], len(data)
    while size <= limit and (more := os.read(descriptor, min(limit - size + 1, _MORE_BYTES))):
        parts.append(more)
        size += len(more)
    return b"".join(parts) if len(parts) > 1 else data


def glance(path: bytes, limit: int, folder: int | None = None) -> bytes:
    """Returns the bytes of a file for a quick inspection, at a third of the cost.

    Empty if the file does not exist, cannot be read, or is larger than `limit`.
    """
    try:
        descriptor = os.open(path, _FLAGS, dir_fd=folder)
    except OSError:
        return b""
    try:
        data = os.read(descriptor, min(limit + 1, _MORE_BYTES))
        if len(data) == _MORE_BYTES:
            data = _and_the_rest(descriptor, data, limit)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return data if len(data) <= limit else b""
