"""What saved contexts are found by: the terms of codelens's own tokenizer, as in the index."""

from __future__ import annotations

from codelens.extract.tokenizer import terms_of_text
from codelens.memory.staleness import handle_of
from codelens.store.database.database import Database
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import Context, Terms


def terms_of(context: Context) -> Terms:
    """The terms of a context, by where they stand in it."""
    return Terms(
        name=_joined(context.name),
        tags=_joined(f"{context.category} {' '.join(context.tags)}"),
        note=_joined(context.note),
        places=_joined(" ".join(handle_of(item) for item in context.items)),
    )


def names_for(db: Database, words: str) -> list[str]:
    """Names of the contexts that `words` find, best first: those with all terms, else with some."""
    terms = list(dict.fromkeys(terms_of_text(words)))
    if not terms:
        return []
    return context_rows.matching(db, terms, every_term=True) or context_rows.matching(
        db, terms, every_term=False
    )


def _joined(text: str) -> str:
    return " ".join(terms_of_text(text))
