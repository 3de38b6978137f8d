"""While a view's newest row is being indexed, older states of its files coexist with it.

What is cached for that state must not be used for the complete row.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.engine import Engine
from codelens.engine.graph.candidate_files import edge_cache_of
from codelens.rank.view_statistics import corpus_of
from codelens.store.views.snapshot import Snapshot

FILES = {
    "wick.py": "def trim_wick():\n    return 1\n",
    "use.py": "from wick import trim_wick\n\n\ndef evening():\n    return trim_wick()\n",
    "lamp.py": "def light():\n    return 2\n",
}


@pytest.fixture
def view(tmp_path: Path) -> Iterator[CurrentView]:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", FILES)
    with (
        Engine(Settings(home=tmp_path / "home")) as engine,
        engine.pool.view(ViewRequest(repo.root)) as made,
    ):
        yield made


def behind(view: CurrentView) -> CurrentView:
    """The same row while two of its files are not indexed yet."""
    now = view.snapshot
    files = [file if file.path == b"use.py" else file._replace(content=None) for file in now.files]
    return CurrentView(
        view.opened,
        view.refreshed._replace(files=files),
        Snapshot(now.db, now.row, files),
        0.0,
    )


def test_ranking_counts_texts_that_were_indexed_since(view: CurrentView) -> None:
    before = corpus_of(behind(view).snapshot)
    assert len(before.files_of) == 1
    after = corpus_of(view.snapshot)
    assert {file.path for files in after.files_of.values() for file in files} == {
        path.encode() for path in FILES
    }
    assert corpus_of(view.snapshot) is after


def test_edges_lead_to_newly_indexed_files(view: CurrentView) -> None:
    before = edge_cache_of(behind(view))
    before.take(b"use.py")
    assert not before.table.edges_from(b"use.py")
    after = edge_cache_of(view)
    after.take(b"use.py")
    assert {edge.target for edge in after.table.edges_from(b"use.py")} == {b"wick.py"}
    assert edge_cache_of(view) is after


def test_a_state_read_again_is_the_same(view: CurrentView) -> None:
    corpus = corpus_of(view.snapshot)
    now = view.snapshot
    again = [file._replace(signature=b"touched") for file in now.files]
    assert corpus_of(Snapshot(now.db, now.row, again)) is corpus
