"""Vectors as part of the facts of a text, made where the text is extracted."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

from codelens.meaning import word_table
from codelens.meaning.text_vectors import chunk_vectors
from codelens.meaning.word_table import WordTable, WordTableDamaged
from codelens.types import Facts

logger = logging.getLogger(__name__)


def table_if_whole() -> WordTable | None:
    """The shipped table; None, said once in the log, where it is damaged."""
    return _table_in(word_table.FILE)


@cache
def _table_in(file: Path) -> WordTable | None:
    try:
        return word_table.table_in(file)
    except WordTableDamaged as error:
        logger.warning("%s", error)
        return None


def with_vectors(facts: Facts) -> Facts:
    """The facts of a text, and what its chunks mean."""
    table = table_if_whole()
    if table is None:
        return facts
    return facts._replace(vectors=chunk_vectors(table, facts.terms, len(facts.lengths)))
