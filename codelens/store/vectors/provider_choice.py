"""Which provider texts of a repository may be sent to, and how far its vectors are."""

from __future__ import annotations

import os
import time
from typing import Literal, NamedTuple

from codelens import file_owner
from codelens.store.database.database import Database

PACKING = 1
"""Version of what is sent of a text and how its vector is stored; part of the fingerprint."""

State = Literal["indexing", "indexed", "failed", "synced", "requires_reindex"]

_CONSENT = """
SELECT provider, model, endpoint, dimension, given_s, store, hybrid, collection, root FROM consent
"""
_CONSENTING = """
INSERT OR REPLACE INTO consent
    (id, provider, model, endpoint, dimension, given_s, store, hybrid, collection, root, file)
VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_GIVEN_IN = "SELECT file FROM consent"
_WITHDRAW = "DELETE FROM consent"
_FINGERPRINT = """
SELECT id, state, failure, changed_s FROM fingerprints
WHERE provider = ? AND model = ? AND dimension = ? AND packing = ?
"""
_IN_STORE = """
SELECT state, failure, changed_s FROM store_states
WHERE fingerprint = ? AND store = ? AND hybrid = ?
"""
_SET_IN_STORE = "INSERT OR REPLACE INTO store_states VALUES (?, ?, ?, ?, ?, ?)"
_ADD = "INSERT INTO fingerprints VALUES (NULL, ?, ?, ?, ?, 'requires_reindex', '', ?)"
_SET_STATE = "UPDATE fingerprints SET state = ?, failure = ?, changed_s = ? WHERE id = ?"


class Consent(NamedTuple):
    """Where texts may be sent."""

    provider: str
    model: str
    endpoint: str
    dimension: int
    given_s: float
    store: str = ""
    """URL of the store in which vectors are searched; empty: in the file that says so."""
    hybrid: bool = False
    """The store has the terms of texts as well."""
    collection: str = ""
    """Of that store."""
    root: str = ""
    """The worktree that it was given in, as people know the repository by."""


class Fingerprint(NamedTuple):
    """Vectors that may be compared with each other."""

    id: int
    state: State
    failure: str
    changed_s: float


def consent_of(db: Database) -> Consent | None:
    """Where texts may be sent; None: nowhere."""
    row = db.row(_CONSENT)
    return Consent(*row)._replace(hybrid=bool(row[6])) if row else None


def give_consent(db: Database, consent: Consent) -> None:
    """Let texts be sent there and nowhere else; in the caller's transaction."""
    db.execute(_CONSENTING, (*consent, _name_of(db)))


def foreign_consent(db: Database) -> str:
    """Why a consent was not given for the repository of this file; empty if it was, or is none.

    The name of the file names the repository, so a file that was copied or swapped is told apart.
    """
    row = db.row(_GIVEN_IN)
    if row is None or row[0] == _name_of(db):
        return ""
    return f"its consent {file_owner.written_for(str(row[0]))}"


def _name_of(db: Database) -> str:
    return os.path.basename(db.path)


def withdraw(db: Database) -> None:
    """Let nothing be sent; in the caller's transaction."""
    db.execute(_WITHDRAW)


def fingerprint_of(db: Database, consent: Consent) -> Fingerprint | None:
    """The vectors by the provider that was agreed to, with how far they are in their store.

    None where there never were any.
    """
    row = db.row(_FINGERPRINT, (consent.provider, consent.model, consent.dimension, PACKING))
    if row is None or not consent.store:
        return Fingerprint(*row) if row else None
    in_store = db.row(_IN_STORE, (row[0], consent.store, int(consent.hybrid)))
    if in_store is None:
        return Fingerprint(row[0], "requires_reindex", "", row[3])
    return Fingerprint(row[0], *in_store)


def ensure_fingerprint(db: Database, consent: Consent) -> Fingerprint:
    """The same, noted now if there was none; in the caller's transaction."""
    known = fingerprint_of(db, consent)
    if known is None:
        key = (consent.provider, consent.model, consent.dimension, PACKING)
        db.execute(_ADD, (*key, time.time()))
        known = fingerprint_of(db, consent)
    assert known is not None
    return known


def set_state(
    db: Database, consent: Consent, fingerprint: int, state: State, failure: str = ""
) -> None:
    """Note how far the vectors are in their store; in the caller's transaction."""
    if consent.store:
        where = (fingerprint, consent.store, int(consent.hybrid))
        db.execute(_SET_IN_STORE, (*where, state, failure, time.time()))
    else:
        db.execute(_SET_STATE, (state, failure, time.time(), fingerprint))
