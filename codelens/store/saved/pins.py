"""Which views are pinned: kept in a file of their own, since an index can be built anew.

`pins/pins-ID.json` in the home folder, ID being the repository's: the scopes of views, as
`views.scope` has them. Each change writes a new file in place of the old one, under a lock. Earlier
versions kept pins in the index; `adopt` takes them over once.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from codelens import filelock
from codelens.errors import DiskFull, HomeNotWritable, IndexLocked, StoreError
from codelens.paths import NO_ROOM, make_private, pins_file
from codelens.store.database.database import Database

logger = logging.getLogger(__name__)

_WAIT_S = 3.0
_IN_INDEX = "SELECT scope FROM views WHERE pinned = 1 ORDER BY scope"


def file_beside(index: Path) -> Path:
    """The pins of the repository that an index file is of."""
    repo_id = index.name.removeprefix("index-").removesuffix(".db")
    return pins_file(index.parent.parent, repo_id)


def pinned_scopes(path: Path) -> frozenset[str]:
    """The scopes of pinned views; none where there is no file.

    Raises:
        StoreError: the file cannot be read: nothing may be taken for not pinned then.
    """
    try:
        parsed = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(str(scope) for scope in cast("list[object]", parsed["pinned"]))
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"the pins in {str(path)!r} cannot be read ({error}); correct the file, or "
            "remove it and pin again what you want to keep"
        ) from error


def set_pinned(path: Path, scope: str, *, pinned: bool) -> None:
    """Pin or unpin the view of a scope.

    Raises:
        StoreError: the file cannot be read or written; nothing was changed.
    """
    with _alone(path):
        before = pinned_scopes(path)
        after = before | {scope} if pinned else before - {scope}
        if after != before or not path.exists():
            _write(path, after)


def forget(path: Path) -> None:
    """Unpin all views of a repository.

    Raises:
        HomeNotWritable: the file cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error


def adopt(db: Database) -> None:
    """Take over the pins that an earlier version kept in the index, unless that was done."""
    path = file_beside(db.path)
    if path.exists():
        return
    scopes = frozenset(str(row[0]) for row in db.rows(_IN_INDEX))
    if not scopes:
        return
    try:
        with _alone(path):
            if not path.exists():
                _write(path, scopes)
    except StoreError as error:
        # They are where they were, and taken over another time.
        logger.warning("pins stay in the index for now: %s", error)


def _write(path: Path, scopes: frozenset[str]) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    text = json.dumps({"pinned": sorted(scopes)}, ensure_ascii=True, indent=1)
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(descriptor)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if error.errno in NO_ROOM:
            raise DiskFull(path) from error
        raise HomeNotWritable(path, error.strerror or str(error)) from error


@contextmanager
def _alone(path: Path) -> Generator[None]:
    make_private(path.parent)
    try:
        descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    try:
        if not filelock.take(descriptor, wait_s=_WAIT_S):
            raise IndexLocked(path, "another process that pins a view")
        yield
    finally:
        os.close(descriptor)
