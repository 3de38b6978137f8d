"""A server's name index follows its views: contents that are gone do not stay forever."""

from __future__ import annotations

from pathlib import Path

from codelens.engine.graph.candidate_files import name_index_of
from codelens.store.database.database_opening import open_index


def test_mentions_are_rebuilt_when_most_contents_are_gone(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index-a.db")
    try:
        first = name_index_of(db, {1})
        for edit in range(2, 900):
            assert name_index_of(db, {1, edit}) is first
        again = [name_index_of(db, {1, edit}) for edit in range(900, 1_100)]
        assert again[-1] is not first
        # Not rebuilt for each question.
        assert len({id(one) for one in again}) == 2
    finally:
        db.close()
