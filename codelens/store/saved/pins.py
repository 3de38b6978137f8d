"""Records pinned views in a small file of each repository.

Pins have their own file, since an index can be rebuilt: `pins/pins-ID.json` in the home folder, ID
being the repository's. It contains scopes as in `views.scope`. Each change replaces the file under
a lock and writes a copy (`.backup`), which is read if the file is lost, is damaged or belongs to
another repository.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, cast

from codelens import home_files
from codelens.errors import DiskFull, HomeNotWritable, IndexLocked, StoreError
from codelens.home_files import read_small
from codelens.paths import NO_ROOM, make_private, pins_file

logger = logging.getLogger(__name__)

_WAIT_S = 3.0
_MOST_BYTES = 16_000_000
"""Largest size of a file of pins; a pin takes some 150."""
_BACKUP = ".backup"
_SUM = "sum"
"""The field with the CRC-32 of the scopes; files of earlier versions lack it."""


def pins_file_for(index: Path) -> Path:
    """The file of pins of an index's repository."""
    repo_id = index.name.removeprefix("index-").removesuffix(".db")
    return pins_file(index.parent.parent, repo_id)


def pinned_scopes(path: Path) -> frozenset[str]:
    """The scopes of pinned views; empty if there is no file.

    Raises:
        StoreError: the file cannot be read, so no view may count as unpinned.
    """
    scopes = _read(path)
    if isinstance(scopes, frozenset):
        return scopes
    if scopes is None and not _backup(path).exists():
        return frozenset()
    with _alone(path):
        return _restored(path)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + _BACKUP)


def _checksum(scopes: frozenset[str]) -> int:
    return zlib.crc32("\n".join(sorted(scopes)).encode("utf-8", "surrogatepass"))


class _Unusable(NamedTuple):
    """Why a file cannot be used as this repository's pins."""

    why: str
    other: str = ""
    """The name that the file was written for, if it is another one."""


def _read(file: Path, name: str = "") -> frozenset[str] | _Unusable | None:
    """The scopes in a file; None if it is missing. A copy must state its original `name`."""
    try:
        parsed = json.loads(read_small(file, _MOST_BYTES).decode("utf-8"))
        scopes = frozenset(str(scope) for scope in cast("list[object]", parsed["pinned"]))
        other = home_files.other_owner_name(name or str(file), parsed.get(home_files.OWNER_KEY))
        # If a corrupted scope went unnoticed, the pinned view would be pruned.
        if parsed.get(_SUM, checksum := _checksum(scopes)) != checksum:
            return _Unusable("its checksum does not match")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return _Unusable(str(error))
    return _Unusable(f"it {home_files.written_for(other)}", other) if other else scopes


def _restored(path: Path) -> frozenset[str]:
    """The pins, restored from the copy if the file is unusable; under the lock."""
    scopes = _read(path)
    if isinstance(scopes, frozenset):
        return scopes
    copy = _read(_backup(path), path.name)
    restored = copy if isinstance(copy, frozenset) else frozenset[str]()
    if scopes is None and copy is None:
        return restored
    if scopes is not None:
        if not scopes.other and not isinstance(copy, frozenset):
            raise StoreError(
                f"the pins in {str(path)!r} cannot be read ({scopes.why}); correct the file, or "
                "remove it and pin again what you want to keep"
            )
        home_files.set_aside(str(path), f"cannot be used: {scopes.why}")
    logger.warning("%d pins restored from the copy of %r", len(restored), str(path))
    _write(path, restored)
    return restored


def set_pinned(path: Path, scope: str, *, pinned: bool) -> None:
    """Pin or unpin the view of a scope.

    Raises:
        StoreError: the file cannot be read or written; nothing was changed.
    """
    with _alone(path):
        before = _restored(path)
        after = before | {scope} if pinned else before - {scope}
        if after != before or not path.exists():
            _write(path, after)


def forget(path: Path) -> None:
    """Unpin all views of a repository.

    Raises:
        HomeNotWritable: the file cannot be removed.
    """
    try:
        # Remove the copy first: otherwise it would restore the pins.
        for file in (_backup(path), path):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error


def _write(path: Path, scopes: frozenset[str]) -> None:
    fields = {home_files.OWNER_KEY: path.name, "pinned": sorted(scopes), _SUM: _checksum(scopes)}
    text = json.dumps(fields, ensure_ascii=True, indent=1)
    for file in (path, _backup(path)):
        _replace(file, text)


def _replace(path: Path, text: str) -> None:
    """Replace a file; under the lock, so that its draft has no other writer."""
    new_path = path.with_name(f"{path.name}.new")
    try:
        # A killed process may have left it behind.
        new_path.unlink(missing_ok=True)
        descriptor = os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(descriptor)
        new_path.replace(path)
    except OSError as error:
        with suppress(OSError):
            new_path.unlink(missing_ok=True)
        if error.errno in NO_ROOM:
            raise DiskFull(path) from error
        raise HomeNotWritable(path, error.strerror or str(error)) from error


@contextmanager
def _alone(path: Path) -> Generator[None]:
    make_private(path.parent)
    try:
        descriptor = home_files.open_locked(path.with_name(f"{path.name}.lock"))
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    try:
        try:
            is_locked = home_files.take_lock(descriptor, wait_s=_WAIT_S)
        except OSError as error:
            raise HomeNotWritable(path, error.strerror or str(error)) from error
        if not is_locked:
            raise IndexLocked(path, "another process that pins a view")
        yield
    finally:
        os.close(descriptor)
