"""What a store on another machine lacks of a view, from the vectors on this one."""

from __future__ import annotations

from codelens.engine.embedding import chosen_store, sendable_texts
from codelens.engine.embedding.sendable_texts import NO_TEXT
from codelens.engine.index_pool import IndexPool
from codelens.engine.view_request import ViewRequest
from codelens.meaning.stores.vector_store import StoredText, VectorStore
from codelens.store.database.database import Database
from codelens.store.vectors import text_vectors_table

_AT_ONCE = 500
_STAGE = "filling the store"


def texts_of_view(pool: IndexPool, request: ViewRequest, db: Database) -> set[bytes]:
    """The texts of a view that may be sent; the index is held meanwhile, no longer."""
    with pool.view(request) as view, view.reading():
        chosen = sendable_texts.sendable(view)
        sendable_texts.note_texts(view, db, chosen.contents)
        by_content = sendable_texts.texts_by_content(db, chosen.contents)
    return {text for row in by_content.values() for text in row} - {NO_TEXT}


def fill(
    pool: IndexPool,
    request: ViewRequest,
    db: Database,
    store: VectorStore,
    *,
    fingerprint: int,
    hybrid: bool,
) -> int:
    """Store what is lacking there and has a vector here; how many rows that were.

    Raises:
        VectorStoreError: the store failed; what it got before stays there.
    """
    texts = texts_of_view(pool, request, db)
    here = text_vectors_table.known_texts(db, fingerprint, texts)
    lacking = sorted(here - store.known(here))
    stored = 0
    for at in range(0, len(lacking), _AT_ONCE):
        batch = lacking[at : at + _AT_ONCE]
        terms = _terms(pool, request, db, batch) if hybrid else None
        vectors = text_vectors_table.vectors_of(db, fingerprint, batch)
        rows = [
            StoredText(text, vector, terms[text] if terms is not None else "")
            for text, vector in vectors.items()
            if terms is None or text in terms
        ]
        store.put(rows)
        stored += len(rows)
        request.progress(_STAGE, at + len(batch), len(lacking))
    return stored


def _terms(
    pool: IndexPool, request: ViewRequest, db: Database, texts: list[bytes]
) -> dict[bytes, str]:
    """What the store ranks texts by beside their vectors; not of files changed since."""
    with pool.view(request) as view, view.reading():
        contents = sendable_texts.sendable(view).contents
        words = sendable_texts.read_texts(view, db, contents, frozenset(texts))
    return {text: chosen_store.terms_of(known) for text, known in words.items()}
