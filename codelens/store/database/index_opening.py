"""Opening the index of a repository: checked where needed, set aside where it is damaged."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from codelens.errors import IndexCorrupt
from codelens.paths import repository_id
from codelens.store.database import database_recovery, restore_detection
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_database
from codelens.store.database.sqlite_errors import translated
from codelens.store.database.store_clock import machine
from codelens.store.database.writer_lease import holder_of, is_held

logger = logging.getLogger(__name__)

_NAMED = re.compile(r"index-([0-9a-f]{16})\.db")
_COMMON_DIR = "SELECT common_dir FROM upkeep"


def open_index(path: Path) -> Database:
    """Open the index at `path`, made and migrated as needed.

    A damaged one is set aside, and one of another repository.

    All of it is checked where that was not done for a week, or since a writer ended in the midst,
    or something else than codelens wrote to it since.

    Raises:
        HomeNotWritable: the folder or file cannot be written.
        SchemaTooNew: a newer codelens wrote it.
    """
    identity = database_recovery.identity_of(path)
    try:
        with translated(path):
            standing = restore_detection.judge(path)
        database = open_database(path, "index")
        try:
            return _checked(database, standing)
        except BaseException:
            identity = database.identity
            database.close()
            raise
    except IndexCorrupt as error:
        logger.warning("%s", error)
        database_recovery.set_aside(path, identity)
        return _checked(open_database(path, "index"), restore_detection.Standing.UNKNOWN)


def other_repository(database: Database) -> str:
    """The git folder of the repository that an index is of, if its name is another one's."""
    name = _NAMED.fullmatch(database.path.name)
    row = database.row(_COMMON_DIR)
    stated = os.fsdecode(row[0]) if row else ""
    return stated if name and stated and repository_id(stated) != name.group(1) else ""


def _checked(database: Database, standing: restore_detection.Standing) -> Database:
    path = database.path
    other = other_repository(database)
    if other:
        raise IndexCorrupt(path, f"it is the index of {other!r}", foreign=True)
    holder = holder_of(database)
    left = restore_detection.left_of(path)
    same = standing is restore_detection.Standing.SAME
    if same and left and holder and holder.fencing < left.age.fencing:
        raise IndexCorrupt(path, "the log of an older state was put beside it")
    since_s = 0.0
    if holder is not None and holder.owner and not is_held(holder, machine()):
        since_s = float(database.rows("SELECT MAX(heartbeat_s) FROM index_locks")[0][0])
    known = standing in {restore_detection.Standing.SAME, restore_detection.Standing.UNKNOWN}
    if not known or database_recovery.is_check_due(path, since_s):
        fault = database.fault(thorough=not known)
        if fault:
            raise IndexCorrupt(path, fault)
        database_recovery.note_check(path)
    if not same:
        database.note_as_left()
    return database
