"""A damaged contexts database made anew of its copies and of what can still be read of it.

Nothing is deleted: the damaged file, and copies that are damaged too, get other names.
"""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from codelens.errors import IndexCorrupt, StoreError
from codelens.store.database.database_copy import copy_database
from codelens.store.database.database_opening import open_database
from codelens.store.database.sqlite_errors import translated
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import Context, Terms
from codelens.store.saved.contexts_verification import (
    SHORTEST,
    Owner,
    connected,
    legible,
    prove,
    size_of,
)

TermsOf = Callable[[Context], Terms]

COPIES = (".backup", ".backup-old")
_ASIDE = ".unreadable-"
_BESIDE = ("-journal", "-wal", "-shm")
_LEFT_S = 3600
"""Half-written copies older than this belong to a process that was killed."""


class _Restorable(NamedTuple):
    """What is left of a damaged database."""

    contexts: list[Context]
    about: list[tuple[str, str]]
    unsound: list[Path]
    """Copies that are damaged too."""


def asides(folder: Path) -> list[Path]:
    """Damaged contexts databases of a folder that were set aside, without their journals."""
    return sorted(folder.glob(f"contexts-*.db{_ASIDE}*[0-9]"))


def copied(path: Path, source: Path) -> Path:
    """A copy of `source` under a name of its own beside `path`; `sweep` finds it if it is left.

    Raises:
        StoreError: `source` cannot be read, or there is no room.
    """
    target = path.with_name(f"{path.name}.new-{os.getpid()}-{time.time_ns()}")
    try:
        with translated(source):
            copy_database(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def sweep(path: Path) -> None:
    """Remove copies that a process which was killed left half written."""
    for left in path.parent.glob(f"{path.name}.new-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _LEFT_S:
                left.unlink()


def copies(path: Path) -> Iterator[Path]:
    """Copies of the database, the newest first."""
    beside = [path.with_name(path.name + suffix) for suffix in COPIES]
    yield from (file for file in beside if file.is_file())
    yield from sorted(path.parent.glob(f"{path.name}.before-*"), reverse=True)


@contextmanager
def without_commits(path: Path) -> Generator[None]:
    """No other process commits to a damaged file in the block, if it can be written at all."""
    with ExitStack() as stack:
        # In one that is too short to be a database SQLite would begin a new one.
        if size_of(path) >= SHORTEST:
            try:
                # Closing it ends the transaction, in which nothing is written.
                db = stack.enter_context(closing(connected(path, "rw")))
                db.execute("BEGIN IMMEDIATE")
            except StoreError as error:
                if not _tells_of_damage(error):
                    raise
        yield


def remade(path: Path, terms_of: TermsOf, owner: Owner) -> tuple[Path | None, int]:
    """Put a sound database in place; where the damaged one is now, and how much was restored."""
    rows, about, unsound = _restorable(path, owner)
    # The newest name is that of the file itself.
    named = [(copy, _aside(path)) for copy in unsound]
    aside = _aside(path)
    new_path = path.with_name(f"{path.name}.new-{os.getpid()}-{time.time_ns()}")
    db = open_database(new_path, "contexts")
    try:
        with db.write(None):
            for context in rows:
                context_rows.put(db, context, terms_of(context))
            context_rows.put_about(db, about)
    finally:
        db.close()
    # A journal left behind would be played into the new file.
    for suffix in _BESIDE:
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    if path.exists():
        _named_too(path, aside)
    new_path.replace(path)
    for copy, other in named:
        # The next changes would write over it.
        copy.rename(other)
    return (aside if aside.exists() else None), len(rows)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}{_ASIDE}{time.time_ns()}")


def _set_aside_ns(aside: Path) -> int:
    """When a file was set aside, by its name; 0 where that is not one of `_aside`."""
    when = aside.name.rpartition(_ASIDE)[2]
    return int(when) if when.isdecimal() else 0


def _named_too(path: Path, aside: Path) -> None:
    """Another name for a file; where the system has no second names, in place of the first.

    With its first name still there nobody finds that there is no file, and makes an empty one.
    """
    try:
        os.link(path, aside)
    except OSError:
        path.rename(aside)


def _restorable(path: Path, owner: Owner) -> _Restorable:
    """What the newest sound copy has, with what is newer or only in what is damaged.

    Where the file is gone, what was set aside before that copy was made does not count: the copy
    has all that was restored of it but what was forgotten since.

    Raises:
        StoreError: a copy cannot be read now, which says nothing of it.
    """
    by_name: dict[str, Context] = {}
    about: list[tuple[str, str]] = []
    unsound: list[Path] = []
    since_ns = 0
    for copy in copies(path):
        made_ns = copy.stat().st_mtime_ns
        try:
            restored, about = _of_copy(path, copy, owner)
        except StoreError as error:
            if not _tells_of_damage(error):
                raise
            unsound.append(copy)
            by_name = {context.name: context for context in legible(copy, owner)} | by_name
            continue
        by_name = {context.name: context for context in restored} | by_name
        since_ns = made_ns
        break
    # A process killed while it mended left the damaged file under its new name.
    newest = max(path.parent.glob(f"{path.name}{_ASIDE}*[0-9]"), key=_set_aside_ns, default=None)
    left = [newest] if newest is not None and _set_aside_ns(newest) >= since_ns else []
    for damaged in [path] if path.exists() else left:
        for context in legible(damaged, owner):
            if context.name not in by_name or by_name[context.name].saved_s <= context.saved_s:
                by_name[context.name] = context
    every = sorted(by_name.values(), key=lambda context: (context.created_s, context.name))
    return _Restorable(every, about, unsound)


def _tells_of_damage(error: StoreError) -> bool:
    """Not of a full disk, of too many open files, of another process, ..."""
    unreadable = type(error) is StoreError and isinstance(error.__cause__, apsw.IOError)
    return unreadable or isinstance(error, IndexCorrupt)


def _of_copy(path: Path, copy: Path, owner: Owner) -> tuple[list[Context], list[tuple[str, str]]]:
    """All of a sound copy, also of one that an older codelens wrote.

    Raises:
        IndexCorrupt: it is damaged.
    """
    if size_of(copy) < SHORTEST:
        raise IndexCorrupt(copy, "it is not a database")
    scratch = copied(path, copy)
    try:
        with closing(open_database(scratch, "contexts")) as db:
            keys = (
                context_rows.COMMON_DIR,
                context_rows.ROOTS,
                context_rows.WAITING,
                context_rows.ADOPTED,
                context_rows.REPOSITORY,
            )
            return prove(db, owner), [(key, context_rows.about(db, key)) for key in keys]
    finally:
        for left in scratch.parent.glob(f"{scratch.name}*"):
            left.unlink()
