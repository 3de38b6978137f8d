"""A question reads only the changed rows of its view when others write to the index."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.index.worktree_comparison import load
from codelens.scope.repository import Scope
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.views import views
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import CURRENT, PENDING, Change, PathFacts, ViewState

COUNTS = """
SELECT COUNT(*), COALESCE(SUM(c.chunk_count), 0), COALESCE(SUM(c.body_terms), 0),
    COALESCE(SUM(c.name_terms), 0), COALESCE(SUM(c.doc_terms), 0)
FROM view_files f LEFT JOIN contents c ON c.id = f.content WHERE f.view = ?
"""
"""The statistics of a view, from all its files."""

STATE = ViewState("", "", "", "{}", "{}", 0, False)
NAMES = [f"src/m{n}.py".encode() for n in range(12)]


class Place:
    """A stand-in for a scope, of which only the key is used."""

    key = "worktree:/x"


SCOPE: Scope = Place()  # type: ignore[assignment]


TEXT = """
INSERT INTO contents (id, hash, language, version, tier, size_bytes, lines, outcome, generated,
    chunk_count, body_terms, name_terms, doc_terms, chunks, refs, imports)
VALUES (?, ?, 'text', 1, 1, 0, 0, 'text', 0, ?, ?, ?, ?, x'', x'', x'')
"""


def apply(
    db: Database,
    put: dict[bytes, int],
    drop: frozenset[bytes] | set[bytes] = frozenset(),
    *,
    by_content: bool = False,
) -> None:
    """Changes the view, as an update does; the numbers are states, or contents (0: none)."""
    view = views.create_view(
        db, None, Place.key, "worktree", worktree="/x", branch="main", head="", index_id=""
    )
    with db.write(None):
        paths = set(put) | drop
        ids = views.find_paths(db, paths)
        ids |= views.add_paths(db, [PathFacts(p, "m", "src", "") for p in sorted(paths - set(ids))])
        views.apply(
            db, view.id,
            changes=[
                Change(p, number or None, CURRENT, b"8 bytes.") if by_content
                else Change(p, None, number, b"8 bytes.")
                for p, number in put.items()
            ],
            drop=sorted(drop), put_folders={}, drop_folders=(), state=STATE, path_ids=ids,
            text_changed=True,
        )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index-0123456789abcdef.db"


def rows(db: Database) -> list[views.FileRow]:
    return sorted(load(db, SCOPE).files)


def afresh(path: Path) -> list[views.FileRow]:
    with closing(open_index(path)) as db:
        return rows(db)


def test_while_a_view_grows_only_what_changed_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: list[int] = []
    read_all = views.files_of

    def counted(db: Database, view: int) -> list[views.FileRow]:
        whole.append(view)
        return read_all(db, view)

    monkeypatch.setattr(views, "files_of", counted)
    with closing(open_index(path)) as writer, closing(open_index(path)) as reader:
        apply(writer, dict.fromkeys(NAMES, PENDING))
        assert len(rows(reader)) == len(NAMES) and len(whole) == 1
        for name in NAMES:
            apply(writer, {name: CURRENT})
            assert {row.path: row.state for row in rows(reader)}[name] == CURRENT
        apply(writer, {b"src/new.py": CURRENT})
        assert len(rows(reader)) == len(NAMES) + 1
        assert len(whole) == 1, "all rows were read once"
        apply(writer, {}, {NAMES[0]})
        assert len(rows(reader)) == len(NAMES) and len(whole) == 2, "of what went nothing tells"


def test_writes_to_other_views_cost_no_rows(path: Path) -> None:
    with closing(open_index(path)) as writer, closing(open_index(path)) as reader:
        apply(writer, dict.fromkeys(NAMES, CURRENT))
        before = load(reader, SCOPE).files
        views.create_view(
            writer,
            None,
            "worktree:/other",
            "worktree",
            worktree="/other",
            branch="main",
            head="",
            index_id="",
        )
        assert load(reader, SCOPE).files is before


Changes = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from([CURRENT, PENDING]), max_size=4),
        st.sets(st.sampled_from(NAMES), max_size=2),
        st.booleans(),
    ),
    max_size=12,
)


@given(changes=Changes)
@settings(deadline=None, max_examples=60)
def test_rows_are_those_that_a_first_reader_finds(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[dict[bytes, int], set[bytes], bool]],
) -> None:
    path = tmp_path_factory.mktemp("rows") / "index-0123456789abcdef.db"
    with closing(open_index(path)) as writer, closing(open_index(path)) as reader:
        apply(writer, {NAMES[0]: PENDING})
        for put, drop, looks in changes:
            apply(writer, put, drop - set(put))
            if looks:
                assert rows(reader) == afresh(path)
        assert rows(reader) == afresh(path)


Texts = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), max_size=4),
        st.sets(st.sampled_from(NAMES), max_size=2),
    ),
    max_size=8,
)


@given(texts=Texts)
@settings(deadline=None, max_examples=60)
def test_the_statistics_of_a_view_are_sums_over_its_files(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[dict[bytes, int], set[bytes]]]
) -> None:
    path = tmp_path_factory.mktemp("sums") / "index-0123456789abcdef.db"
    with closing(open_index(path)) as db:
        with db.write(None):
            for number in range(1, 4):
                db.execute(
                    TEXT, (number, bytes([number]) * 32, *[number * 10**at for at in range(4)])
                )
        for put, drop in texts:
            apply(db, put, drop - set(put), by_content=True)
            view = views.find_view(db, Place.key)
            assert view is not None
            sums = view.files, view.chunk_count, view.body_terms, view.name_terms, view.doc_terms
            assert db.row(COUNTS, (view.id,)) == sums


Edits = st.lists(
    st.lists(st.tuples(st.integers(0, 31), st.integers(0, 12)), min_size=1, max_size=3), max_size=6
)


@given(edits=Edits)
@settings(deadline=None, max_examples=100)
def test_a_snapshot_after_some_edits_is_that_of_its_files(
    path_of_all: Path, edits: list[list[tuple[int, int]]]
) -> None:
    files = [file_row(number, number % 12) for number in range(30)]
    with closing(open_index(path_of_all)) as db:
        view = views.nothing_yet("x", "worktree", "/x", "main", head="", index_id="")
        later = Snapshot(db, view, files)
        for edit in edits:
            assert later.by_path and later.by_path_id and later.by_content
            files = list(files)
            for number, content in edit:
                # Numbers beyond the end append new files.
                at = min(number, len(files))
                files[at : at + 1] = [file_row(at, content)]
            later, afresh = later.after(db, view, files), Snapshot(db, view, files)
            assert "by_content" in vars(later), "it must not be recomputed"
            assert later.by_path == afresh.by_path and later.by_path_id == afresh.by_path_id
            assert later.by_content == afresh.by_content


def file_row(number: int, content: int) -> views.FileRow:
    """A file; content 0 means that its content is unknown."""
    return views.FileRow(b"src/f%d.py" % number, number, content or None, CURRENT, b"8 bytes.")


@pytest.fixture(scope="module")
def path_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("snapshots") / "index-0123456789abcdef.db"
