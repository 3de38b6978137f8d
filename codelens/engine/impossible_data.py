"""Whether an error that nobody expects comes from a damaged index, or is a fault of ours.

Each such error is noted beside the index by where it came from and what became of it
(`codelens.store.saved.unexplained_errors`), so that no fault of ours has an index rebuilt, or
decoded, again and again.
"""

from __future__ import annotations

import os
import traceback

from codelens import __version__
from codelens.engine.index_decoding import IMPOSSIBLE, undecodable
from codelens.errors import StoreError
from codelens.store.database.database import Database
from codelens.store.saved.unexplained_errors import DAMAGED, SOUND, note, outcomes


def fault_behind(db: Database, error: Exception) -> str:
    """What is wrong with an index that led to an error; empty where the error is a fault of ours.

    Raises:
        StoreError: the same error after it was set aside; or it could not be checked.
    """
    if not isinstance(error, IMPOSSIBLE):
        return ""
    if not db.is_sound():
        return "its data is invalid"
    origin = _origin(error)
    before = outcomes(db.path).get(origin)
    if before == SOUND:
        return ""
    if before == DAMAGED:
        raise StoreError(
            f"the index {str(db.path)!r} was built anew for an error that is there again "
            f"({type(error).__name__}: {error}): it is damaged again, or this is a bug in codelens",
            typed="run `codelens doctor --fix --thorough`, which decodes all of it",
            called="`codelens doctor --fix --thorough` decodes all of it",
        ) from error
    fault = undecodable(db)
    try:
        note(db.path, origin, DAMAGED if fault else SOUND)
    except OSError:
        # To rebuild it without a note could be for ever.
        return ""
    return fault


def _origin(error: Exception) -> str:
    """Where an error comes from, by this version; what it says may differ each time."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.name}"
    return " ".join((__version__, type(error).__name__, place))
