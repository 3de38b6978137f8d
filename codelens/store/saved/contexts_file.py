"""A damaged contexts database made anew of its copies and of what can still be read of it.

Nothing is deleted: the damaged file, and copies that are damaged too, get other names.
"""

# apsw's stubs leave the types of bindings, pragmas and errors open.
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import apsw

from codelens.errors import (
    DiskFull,
    HomeNotReadable,
    HomeNotWritable,
    IndexCorrupt,
    IndexLocked,
    StoreError,
)
from codelens.paths import make_private
from codelens.store.database.database import Database, translated
from codelens.store.database.database_file import copy_database
from codelens.store.database.database_opening import open_database
from codelens.store.database.database_recovery import HOLDER, alone_in
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import (
    SHORTEST,
    Context,
    Owner,
    Terms,
    as_it_is,
    connected,
    legible,
    owner_by_name,
    prove,
    proved,
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


# A contexts database as a file: precious, so never thrown away nor answered from when damaged.
#
# After every change a copy is written beside it (`.backup`, the one before as `.backup-old`). Each
# opening checks the whole file, which is small. A damaged one is set aside and kept for good, and a
# new one made of the newest sound copy and of all that can still be read of the damaged one. A
# rollback journal instead of a write-ahead log: nothing saved is ever in another file, and it can
# be read where nothing can be written.

_PATIENCE_S = 10.0
_LOOK_AGAIN_S = 0.05


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
        with _writing(self.db):
            yield notes
            context_rows.put_about(
                self.db, [(context_rows.REPOSITORY, owner_by_name(self.db.path).repository)]
            )
            _still_there(self.db)
        try:
            back_up(self.db)
        except (StoreError, OSError) as error:
            notes.append(f"it is kept, but no copy of it could be written beside it: {error}")


def open_contexts(
    path: Path, terms_of: TermsOf, *, make: bool, owner: Owner | None = None
) -> ContextsFile | None:
    """Open what was saved of a repository; mended if it is damaged, made if `make` says so.

    A file that belongs to another repository is set aside like a damaged one, and nothing of it
    is taken over.

    Args:
        path: of the database; its folder is made with it.
        terms_of: what a context is found by.
        owner: the repository that it must belong to; None: the one that its name states.
        make: it is to be changed: make it where there is none, and fail where it cannot be written.

    Returns:
        None where nothing was ever saved.

    Raises:
        HomeNotWritable, DiskFull: it cannot be written and `make` is set, or not even be read.
        SchemaTooNew: a newer codelens wrote it.
    """
    with translated(path):
        if not make and not path.exists() and not any(copies(path)):
            return None
    owner = owner or owner_by_name(path)
    try:
        try:
            return ContextsFile(_sound(path, owner), ())
        except IndexCorrupt as error:
            return _mended(path, terms_of, error, owner)
    except (HomeNotWritable, HomeNotReadable, DiskFull) as error:
        if make:
            raise
        return _for_reading(path, error, owner)


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
        with closing(as_it_is(path)) as db, db.read():
            roots = frozenset(context_rows.about(db, context_rows.ROOTS).split())
            place = context_rows.about(db, context_rows.COMMON_DIR)
            taken = (
                word.rpartition("@")
                for word in context_rows.about(db, context_rows.ADOPTED).split()
            )
            adopted = {name: int(when) for name, _, when in taken if when.isdecimal()}
            return Glance(
                path, place, roots, context_rows.count(db), context_rows.newest_s(db), adopted
            )  # fmt: skip
    except StoreError:
        return None


def contexts_of(path: Path) -> list[Context]:
    """All contexts of a file that is only to be read.

    Raises:
        StoreError: it cannot be read, or is damaged.
    """
    with closing(as_it_is(path)) as db:
        return prove(db)


@contextmanager
def _writing(db: Database) -> Generator[None]:
    """One write transaction on the file that still has the name.

    A journal goes by its name: whoever waits for the lock of a file that was set aside would take
    the journal of a writer to the new one for that of a process that was killed, and remove it.

    Raises:
        IndexLocked: another process's transaction was open all the time.
    """
    until = time.monotonic() + _PATIENCE_S
    with ExitStack() as stack:
        while True:
            _still_there(db)
            try:
                stack.enter_context(db.write(None, _LOOK_AGAIN_S))
                break
            except StoreError as error:
                if time.monotonic() > until or not _may_pass(error):
                    raise
        _still_there(db)
        yield


def _may_pass(error: StoreError) -> bool:
    """Whether a transaction that did not begin may begin in a moment.

    SQLite tells an I/O error where the journal of another process went while it looked at it: seen
    once in a minute of three processes that changed one file, on a machine with too much to do.
    """
    if isinstance(error, IndexLocked):
        return True
    return type(error) is StoreError and isinstance(error.__cause__, apsw.IOError)


def _still_there(db: Database) -> None:
    if db.was_replaced():
        path = str(db.path)
        raise StoreError(f"{path!r} was replaced meanwhile; nothing was changed: try again")


def back_up(db: Database) -> None:
    """Copy the database beside itself: whole or not at all, and never an older state over a newer.

    Raises:
        StoreError, OSError: the copy could not be written; the one before is still there.
    """
    newest, older = (db.path.with_name(db.path.name + suffix) for suffix in COPIES)
    sweep(db.path)
    # Nobody commits between the copy and its renaming.
    with _writing(db):
        path = copied(db.path, db.path)
        try:
            with closing(as_it_is(path)) as copy:
                prove(copy)
        except StoreError:
            path.unlink()
            raise
        if newest.exists():
            newest.replace(older)
        path.replace(newest)


def _sound(path: Path, owner: Owner) -> Database:
    """The database, all of it read and found as it was written.

    Raises:
        IndexCorrupt: it is damaged, of another repository, or lost while there are copies of it.
    """
    size = size_of(path)
    if not size and any(copies(path)):
        raise IndexCorrupt(path, "it is empty" if path.exists() else "it is gone")
    if 0 < size < SHORTEST:
        raise IndexCorrupt(path, "it is not a database")
    return proved(open_database(path, "contexts"), owner)


def _mended(
    path: Path, terms_of: TermsOf, index_corrupt: IndexCorrupt, owner: Owner
) -> ContextsFile:
    make_private(path.parent)
    try:
        with alone_in(path.parent):
            try:
                # Another process may have done it while this one waited.
                return ContextsFile(_sound(path, owner), ())
            except IndexCorrupt:
                with without_commits(path):
                    aside, count = remade(path, terms_of, owner)
    except TimeoutError as error:
        raise IndexLocked(path, HOLDER) from error
    except OSError as error:
        raise HomeNotWritable(path, error.strerror or str(error)) from error
    outcome = f"{count} restored" if count else "none could be restored"
    kept_note = f"; the damaged file is kept as {str(aside)!r}" if aside else ""
    note = f"the saved contexts were damaged ({index_corrupt.why}): {outcome}{kept_note}"
    if index_corrupt.foreign:
        outcome = (
            f"{count} of this repository restored from a copy" if count else "none of them is shown"
        )
        kept_note = (
            f"; the file is kept as {str(aside)!r}, `codelens load --adopt FILE` takes it over"
            if aside
            else ""
        )
        note = (
            f"the saved contexts were not of this repository ({index_corrupt.why}): "
            f"{outcome}{kept_note}"
        )
    db = proved(open_database(path, "contexts"), owner)
    return ContextsFile(db, (note,))


def _for_reading(path: Path, why_not: StoreError, owner: Owner) -> ContextsFile:
    """What can be read where nothing can be written: the file itself, else its newest sound copy.

    Raises:
        StoreError: `why_not`, where not even that can be done.
    """
    for file in (path, *copies(path)):
        with suppress(StoreError):
            db = proved(as_it_is(file), owner)
            return ContextsFile(db, (f"read only: {why_not}",), why_not)
    raise why_not
