"""A contexts database as a file: precious, so never thrown away nor answered from when damaged.

After every change a copy is written beside it (`.backup`, the one before as `.backup-old`). Each
opening checks the whole file, which is small. A damaged one is set aside and kept for good, and a
new one made of the newest sound copy and of all that can still be read of the damaged one.
A rollback journal instead of a write-ahead log: nothing saved is ever in another file, and it can
be read where nothing can be written.
"""

# apsw's stubs leave the types of bindings and pragmas open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import time
import urllib.parse
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import apsw

from codelens.errors import DiskFull, HomeNotWritable, IndexCorrupt, StoreError
from codelens.paths import barred, make_private
from codelens.store import contexts, pagecheck
from codelens.store.contexts import Context, Terms
from codelens.store.copying import copy_database
from codelens.store.database import Database, open_database, translated
from codelens.store.recovery import alone_in

TermsOf = Callable[[Context], Terms]

_COPIES = (".backup", ".backup-old")
_ASIDE = ".unreadable-"
_BESIDE = ("-journal", "-wal", "-shm")
_SHORTEST = 100
"""Bytes of a database's head; SQLite begins a new one in a file that is shorter still."""
_BUSY_MS = 10_000
_LEFT_S = 3600
"""Half-written copies older than this belong to a process that was killed."""


class ContextsFile(NamedTuple):
    """An open contexts database; use it in a `with`."""

    db: Database
    notes: tuple[str, ...]
    """What had to be done to open it, in sentences."""
    why_not: StoreError | None = None
    """Why it can only be read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    @contextmanager
    def changed(self) -> Generator[list[str]]:
        """One transaction, and a copy of the file when it is over.

        What is yielded gains a sentence where the copy could not be written.

        Raises:
            StoreError: nothing was changed.
        """
        if self.why_not is not None:
            raise self.why_not
        notes: list[str] = []
        with self.db.write(None):
            # Before, too: a journal goes by its name, and would lie beside the new file.
            self._still_there()
            yield notes
            self._still_there()
        try:
            back_up(self.db)
        except (StoreError, OSError) as error:
            notes.append(f"it is kept, but no copy of it could be written beside it: {error}")

    def _still_there(self) -> None:
        if self.db.was_replaced():
            path = str(self.db.path)
            raise StoreError(f"{path!r} was replaced meanwhile; nothing was changed: try again")


def open_contexts(path: Path, terms_of: TermsOf, *, make: bool) -> ContextsFile | None:
    """Open what was saved of a repository; mended if it is damaged, made if `make` says so.

    Args:
        path: of the database; its folder is made with it.
        terms_of: what a context is found by.
        make: it is to be changed: make it where there is none, and fail where it cannot be written.

    Returns:
        None where nothing was ever saved.

    Raises:
        HomeNotWritable, DiskFull: it cannot be written and `make` is set, or not even be read.
        SchemaTooNew: a newer codelens wrote it.
    """
    with translated(path):
        if not make and not path.exists() and not any(_copies(path)):
            return None
    try:
        try:
            return ContextsFile(_sound(path), ())
        except IndexCorrupt as error:
            return _mended(path, terms_of, error.why)
    except (HomeNotWritable, DiskFull) as error:
        if make:
            raise
        return _for_reading(path, error)


class Glance(NamedTuple):
    """What a contexts database says of its repository."""

    path: Path
    common_dir: str
    roots: frozenset[str]
    size: int
    """Contexts in it, expired ones too."""
    newest_s: int
    """When the last one was saved."""
    adopted: dict[str, int]
    """Names of files that it took over, and when."""


def glance(path: Path) -> Glance | None:
    """Whose contexts a file has; None where it cannot be told."""
    try:
        with closing(_as_it_is(path)) as db, db.read():
            roots = frozenset(contexts.about(db, contexts.ROOTS).split())
            place = contexts.about(db, contexts.COMMON_DIR)
            taken = (one.rpartition("@") for one in contexts.about(db, contexts.ADOPTED).split())
            adopted = {name: int(when) for name, _, when in taken if when.isdecimal()}
            return Glance(
                path, place, roots, contexts.count(db), contexts.newest_s(db), adopted
            )  # fmt: skip
    except StoreError:
        return None


def asides(folder: Path) -> list[Path]:
    """Damaged contexts databases of a folder that were set aside, without their journals."""
    return sorted(folder.glob(f"contexts-*.db{_ASIDE}*[0-9]"))


def contexts_of(path: Path) -> list[Context]:
    """All contexts of a file that is only to be read.

    Raises:
        StoreError: it cannot be read, or is damaged.
    """
    with closing(_as_it_is(path)) as db:
        return _prove(db)


def back_up(db: Database) -> None:
    """Copy the database beside itself: whole or not at all, and never an older state over a newer.

    Raises:
        StoreError, OSError: the copy could not be written; the one before is still there.
    """
    newest, older = (db.path.with_name(db.path.name + suffix) for suffix in _COPIES)
    _sweep(db.path)
    # Nobody commits between the copy and its renaming.
    with db.write(None):
        made = _copied(db.path)
        if newest.exists():
            newest.replace(older)
        made.replace(newest)


def _copied(path: Path) -> Path:
    target = path.with_name(f"{path.name}.new-{os.getpid()}-{time.time_ns()}")
    try:
        with translated(path):
            copy_database(path, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def _sweep(path: Path) -> None:
    for left in path.parent.glob(f"{path.name}.new-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _LEFT_S:
                left.unlink()


def _copies(path: Path) -> Iterator[Path]:
    """Copies of the database, the newest first."""
    beside = [path.with_name(path.name + suffix) for suffix in _COPIES]
    yield from (file for file in beside if file.exists())
    yield from sorted(path.parent.glob(f"{path.name}.before-*"), reverse=True)


def _sound(path: Path) -> Database:
    """The database, all of it read and found as it was written.

    Raises:
        IndexCorrupt: it is damaged, or lost while there are copies of it.
    """
    size = _size(path)
    if not size and any(_copies(path)):
        raise IndexCorrupt(path, "it is empty" if path.exists() else "it is gone")
    if 0 < size < _SHORTEST:
        raise IndexCorrupt(path, "it is no database")
    return _proved(open_database(path, "contexts"))


def _size(path: Path) -> int:
    """Bytes of a file, 0 where there is none.

    It is never opened but by SQLite: closing a file gives back all locks that the process has on
    it, those of a writer in another thread too (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise barred(path) or HomeNotWritable(path, error.strerror or str(error)) from error


def _proved(db: Database) -> Database:
    try:
        _prove(db)
    except BaseException:
        db.close()
        raise
    return db


def _prove(db: Database) -> list[Context]:
    """All contexts, of one moment: of two moments none would be as it was written.

    Raises:
        IndexCorrupt: it is damaged.
    """
    try:
        with db.read():
            fault = db.fault()
            found = contexts.every(db)
    except apsw.SQLError as error:
        # So FTS5 tells of a table of its own that was lost.
        raise IndexCorrupt(db.path, str(error)) from error
    if fault:
        raise IndexCorrupt(db.path, fault)
    return found


def _mended(path: Path, terms_of: TermsOf, why: str) -> ContextsFile:
    make_private(path.parent)
    try:
        with alone_in(path.parent):
            try:
                # Another process may have done it while this one waited.
                return ContextsFile(_sound(path), ())
            except IndexCorrupt:
                aside, count = _remade(path, terms_of)
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    told = f"{count} restored" if count else "none could be restored"
    kept = f"; the damaged file is kept as {str(aside)!r}" if aside else ""
    note = f"the saved contexts were damaged ({why}): {told}{kept}"
    db = _proved(open_database(path, "contexts"))
    return ContextsFile(db, (note,))


def _remade(path: Path, terms_of: TermsOf) -> tuple[Path | None, int]:
    """Put a sound database in place; where the damaged one is now, and how much was restored."""
    found, about = _restorable(path)
    made = path.with_name(f"{path.name}.new-{os.getpid()}-{time.time_ns()}")
    db = open_database(made, "contexts")
    try:
        with db.write(None):
            for context in found:
                contexts.put(db, context, terms_of(context))
            contexts.put_about(db, about)
    finally:
        db.close()
    aside = path.with_name(f"{path.name}{_ASIDE}{time.time_ns()}")
    # A journal left behind would be played into the new file.
    for suffix in (*_BESIDE, ""):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    made.replace(path)
    return (aside if aside.exists() else None), len(found)


def _restorable(path: Path) -> tuple[list[Context], list[tuple[str, str]]]:
    """What the newest sound copy has, with what is newer or only in the damaged file."""
    found: dict[str, Context] = {}
    about: list[tuple[str, str]] = []
    for copy in _copies(path):
        with suppress(StoreError), closing(_as_it_is(copy)) as db:
            found = {one.name: one for one in _prove(db)}
            keys = (contexts.COMMON_DIR, contexts.ROOTS, contexts.WAITING, contexts.ADOPTED)
            about = [(key, contexts.about(db, key)) for key in keys]
            break
    # A process killed while it mended left the damaged file under its new name.
    asides = sorted(path.parent.glob(f"{path.name}{_ASIDE}*[0-9]"), reverse=True)[:1]
    for damaged in [path] if path.exists() else asides:
        with suppress(StoreError), closing(_as_it_is(damaged)) as db:
            for one in contexts.readable(db):
                if one.name not in found or found[one.name].saved_s < one.saved_s:
                    found[one.name] = one
    return sorted(found.values(), key=lambda one: (one.created_s, one.name)), about


def _as_it_is(path: Path) -> Database:
    """A file of which nothing is changed, not even to bring it up to date."""
    pagecheck.available()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translated(path):
        name = urllib.parse.quote(str(path))
        connection = apsw.Connection(f"file:{name}?mode=ro", flags=flags)
        connection.set_busy_timeout(_BUSY_MS)
        return Database(path, connection)


def _for_reading(path: Path, why_not: StoreError) -> ContextsFile:
    """What can be read where nothing can be written: the file itself, else its newest sound copy.

    Raises:
        StoreError: `why_not`, where not even that can be done.
    """
    for file in (path, *_copies(path)):
        with suppress(StoreError):
            db = _proved(_as_it_is(file))
            return ContextsFile(db, (f"read only: {why_not}",), why_not)
    raise why_not
