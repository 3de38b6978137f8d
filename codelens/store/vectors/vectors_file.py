"""The database with a repository's vectors by a provider; a damaged or foreign one goes aside.

With it goes the consent: nothing is sent before somebody gives it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

from codelens.errors import HomeNotWritable, IndexCorrupt, IndexLocked
from codelens.paths import make_private
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_database
from codelens.store.database.database_recovery import alone_in, identity_of, set_aside
from codelens.store.vectors.provider_choice import foreign_consent

logger = logging.getLogger(__name__)


@contextmanager
def open_vectors(path: Path) -> Generator[Database]:
    """The vectors at `path`, made where there are none.

    Raises:
        StoreError: the file cannot be used.
    """
    identity = identity_of(path)
    try:
        with closing(open_database(path, "vectors")) as db:
            if stranger := foreign_consent(db):
                raise IndexCorrupt(path, stranger, foreign=True)
            yield db
    except IndexCorrupt as error:
        logger.warning("%s: enable the provider again", error)
        set_aside(path, identity)
        raise


@contextmanager
def alone_writing(path: Path) -> Generator[None]:
    """One process at a time sends texts for a repository: two would send the same ones.

    Raises:
        IndexLocked: another process does.
        HomeNotWritable: the lock cannot be made.
    """
    make_private(path.parent)
    try:
        with alone_in(path.parent, f".{path.stem}.lock", wait_s=0.0):
            yield
    except TimeoutError as error:
        raise IndexLocked(path, "another process that syncs vectors") from error
    except OSError as error:
        raise HomeNotWritable(path.parent, error.strerror or str(error)) from error


@contextmanager
def giving_back(db: Database) -> Generator[Callable[[], int]]:
    """Give what the block frees in the file back to the disk; gives how many bytes that was."""
    file = Path(db.path)
    db.truncate_log()
    before = file.stat().st_size
    yield lambda: max(0, before - file.stat().st_size)
    # It frees a page with each row that is asked for.
    db.rows("PRAGMA incremental_vacuum")
    db.truncate_log()


def remove_file(path: Path) -> None:
    """Remove the database of a repository that nobody has open."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
