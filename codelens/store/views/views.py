"""A view maps the paths of a worktree and branch, or of a commit, to contents.

A view changes in one transaction, so a reader sees the state before or after it, never one in
between. Its statistics are sums over its files, updated in the same transaction.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import compress, count
from operator import add, is_not, itemgetter, sub
from typing import TYPE_CHECKING, NamedTuple

from codelens.store.database.database import BUSY_S, QUESTION_S, Database
from codelens.store.database.writer_lease import Clock, Lease, machine
from codelens.store.facts.contents import batched, rows_among
from codelens.store.views import index_metadata, view_blocks

if TYPE_CHECKING:
    from typing import TypeVar

    K = TypeVar("K")


def places_with(keys: Iterable[K], chosen: Container[K]) -> list[int]:
    """The positions of the `keys` that are in `chosen`."""
    return list(compress(count(), map(chosen.__contains__, keys)))


def changed_places(before: Sequence[object], now: Sequence[object]) -> list[int] | None:
    """The positions at which `now` differs from `before`, including those after its end.

    Returns None if `now` is shorter: then records were removed, and positions no longer correspond.
    Compares in C: an edit changes one of 50,000 files, and a Python loop costs ten times as much.
    """
    if len(now) < len(before):
        return None
    return [*compress(count(), map(is_not, before, now)), *range(len(before), len(now))]


# Updates the statistics of a view when some of its files change.
#
# The counts of a content never change, so those of all other files stay the same: an edit in a view
# of 50,000 files reads the rows of one.

COUNTS_OF = """
WITH touched (path) AS (VALUES {marks})
SELECT COUNT(*), COALESCE(SUM(c.chunk_count), 0), COALESCE(SUM(c.body_terms), 0),
    COALESCE(SUM(c.name_terms), 0), COALESCE(SUM(c.doc_terms), 0)
FROM touched t CROSS JOIN view_files f ON f.number = t.path / 64 AND f.path = t.path
    LEFT JOIN contents c ON c.id = f.content
WHERE f.view = ?
"""
# A change of text or paths raises the generation, by which readers key their caches.
_ADD = """
UPDATE views SET generation = generation + 1, changes = changes + 1, files = files + ?,
    chunk_count = chunk_count + ?, body_terms = body_terms + ?, name_terms = name_terms + ?,
    doc_terms = doc_terms + ?
WHERE id = ?
"""


def file_counts(db: Database, view: int, touched: Iterable[int]) -> list[int]:
    """The statistics of some files of a view, given by path id."""
    counts = [0] * 5
    for batch in batched(dict.fromkeys(touched)):
        sql = COUNTS_OF.format(marks=",".join(["(?)"] * len(batch)))
        row = db.row(sql, (*batch, view))
        counts = list(map(add, counts, row or ()))
    return counts


def recount(db: Database, view: int, touched: Iterable[int], before: Sequence[int]) -> None:
    """Update a view's statistics after the `touched` files, which had the counts `before`, changed.

    In the caller's transaction.
    """
    more = map(sub, file_counts(db, view, touched), before)
    db.execute(_ADD, (*more, view))


# Stores the rows of views and of their files.

CURRENT, PENDING, UNREADABLE, OVERSIZED = 0, 1, 2, 3


class ViewRow(NamedTuple):
    """A view without its files."""

    id: int
    scope: str
    kind: str
    worktree: str
    branch: str
    head: str
    index_id: str
    generation: int
    membership: str
    sources: str
    notes: str
    extractor: int
    complete: int
    files: int
    chunk_count: int
    body_terms: int
    name_terms: int
    doc_terms: int
    created_s: int
    accessed_s: int
    """Last use by the wall clock, for display; `used_s` decides."""
    used_s: float
    """Last use by the index's clock (`codelens.store.views.index_metadata`), to an hour."""
    changes: int
    """How often its files or folders changed, including changes of signatures alone."""
    vectors: int
    """Version of the word table whose vectors all of its contents have."""


class FileRow(NamedTuple):
    """One path of a view."""

    path: bytes
    path_id: int
    content: int | None
    state: int
    signature: bytes


_PATH_ID = itemgetter(FileRow._fields.index("path_id"))


class PathFacts(NamedTuple):
    """Facts that follow from the text of a path; terms are separated by spaces."""

    path: bytes
    stem: str
    folders: str
    role: str


class Change(NamedTuple):
    """The new state of one path of a view."""

    path: bytes
    content: int | None
    state: int
    signature: bytes


class ViewState(NamedTuple):
    """The values that a change sets in the view's own row."""

    head: str
    index_id: str
    membership: str
    sources: str
    notes: str
    extractor: int
    complete: bool
    vectors: int = 0
    """Version of the word table that made the vectors of new contents."""


_COLUMNS = ", ".join(ViewRow._fields)
_BY_SCOPE = f"SELECT {_COLUMNS} FROM views WHERE scope = ?"  # noqa: S608 - our own names
_ALL = f"SELECT {_COLUMNS} FROM views ORDER BY accessed_s DESC, id"  # noqa: S608
_NEWEST = (
    "SELECT id FROM views WHERE worktree = ? AND kind = ? AND generation > 0 "
    "ORDER BY accessed_s DESC, generation DESC, id DESC LIMIT 1"
)
_CREATE = """
INSERT INTO views (id, scope, kind, worktree, branch, head, index_id, created_s, accessed_s, used_s)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NEXT_CHANGE = "SELECT changes + 1 FROM views WHERE id = ?"
_COPY_ROW = """
UPDATE views SET (membership, sources, notes, extractor, complete, files, chunk_count, body_terms,
    name_terms, doc_terms, generation, vectors) =
    (SELECT membership, sources, notes, extractor, complete, files, chunk_count, body_terms,
    name_terms, doc_terms, generation, vectors FROM views WHERE id = ?) WHERE id = ?
"""
_SET_STATE = """
UPDATE views SET head = ?, index_id = ?, membership = ?, sources = ?, notes = ?, extractor = ?,
    complete = ?, vectors = MIN(vectors, ?), accessed_s = ?, used_s = ?, changes = changes + 1
WHERE id = ?
"""
_PATHS = "SELECT path, id FROM paths WHERE path IN ({marks})"
_INSERT_PATH = "INSERT INTO paths (path, stem, folders, role) VALUES (?, ?, ?, ?)"
_INSERT_PATH_TERM = "INSERT OR IGNORE INTO path_terms (term, path) VALUES (?, ?)"
_PATH_FACTS = "SELECT id, path, stem, folders, role FROM paths WHERE id IN ({marks})"
BY_TERMS = "SELECT term, path FROM path_terms WHERE term IN ({marks})"
BY_PREFIX = "SELECT term, path FROM path_terms WHERE term >= ? AND term < ?"
_OUTDATED = """
SELECT p.path FROM view_files f JOIN contents c ON c.id = f.content JOIN paths p ON p.id = f.path
WHERE f.view = ? AND c.language = ? AND c.version < ?
"""
_LANGUAGES = """
SELECT c.language, COUNT(*) FROM view_files f JOIN contents c ON c.id = f.content
WHERE f.view = ? GROUP BY c.language ORDER BY 2 DESC, 1
"""
_OUTCOMES = """
SELECT c.outcome, c.generated, COUNT(*) FROM view_files f JOIN contents c ON c.id = f.content
WHERE f.view = ? GROUP BY 1, 2 ORDER BY 1, 2
"""
_SIBLING = """
SELECT id FROM views WHERE id <> ? AND complete = 1 AND extractor = ?
    AND SUBSTR(membership, 1, LENGTH(?3)) = ?3
ORDER BY accessed_s DESC, generation DESC, id DESC LIMIT 1
"""
LANGUAGES_AT = """
SELECT p.path, c.hash, c.language
FROM paths p JOIN view_files f ON f.view = ? AND f.number = p.id / 64 AND f.path = p.id
    JOIN contents c ON c.id = f.content
WHERE p.path IN ({marks})
"""
_STATES = "SELECT state, COUNT(*) FROM view_files WHERE view = ? GROUP BY state"


SIZES = """
SELECT f.view, SUM(c.size_bytes) FROM view_files f JOIN contents c ON c.id = f.content
GROUP BY f.view
"""
# The contents that only one view has. Grouping by content follows the order of an index.
OWN_SIZES = """
SELECT o.view, SUM(c.size_bytes) FROM (
    SELECT f.content, MIN(b.first_view) AS view
    FROM block_files f CROSS JOIN (
        SELECT block, MIN(view) AS first_view, MAX(view) AS last_view FROM view_blocks
        GROUP BY block
    ) b ON b.block = f.block
    WHERE f.content IS NOT NULL
    GROUP BY f.content HAVING MIN(b.first_view) = MAX(b.last_view)
) o JOIN contents c ON c.id = o.content GROUP BY o.view
"""


def find_view(db: Database, scope: str) -> ViewRow | None:
    """The view of a scope, if it exists."""
    row = db.row(_BY_SCOPE, (scope,))
    return ViewRow(*row) if row else None


def all_views(db: Database) -> list[ViewRow]:
    """All views of the repository, last used first."""
    return [ViewRow(*row) for row in db.rows(_ALL)]


def sizes_of(db: Database) -> tuple[dict[int, int], dict[int, int]]:
    """Bytes of the texts of each view, and of those that no other view has."""
    return dict(db.rows(SIZES)), dict(db.rows(OWN_SIZES))  # type: ignore[arg-type]


def create_view(
    db: Database, lease: Lease | None, scope: str, kind: str, *,
    worktree: str, branch: str, head: str, index_id: str, clock: Clock = machine,
) -> ViewRow:  # fmt: skip
    """The view of a scope, created if missing.

    A new view starts with the files of a view of the same worktree, to be compared with the disk.
    """
    existing = find_view(db, scope)
    if existing is not None:
        return existing
    now = int(time.time())
    with db.write(lease, BUSY_S if lease else QUESTION_S):
        # Another process may have created it meanwhile.
        existing = find_view(db, scope)
        if existing is not None:
            return existing
        base = base_of(db, worktree, kind)
        view = index_metadata.next_view(db)
        used_s = index_metadata.tick(db, clock)
        row = (view, scope, kind, worktree, branch, head, index_id, now, now, used_s)
        db.execute(_CREATE, row)
        if base is not None:
            view_blocks.copy(db, view, base)
            db.execute(_COPY_ROW, (base, view))
    view_row = find_view(db, scope)
    assert view_row is not None
    return view_row


def share(
    db: Database, view: int, base: int, signatures_of: view_blocks.SignaturesOf, state: ViewState
) -> None:
    """Give a view without files those of another that it has as well; in the caller's transaction.

    `signatures_of` returns the signatures in `view` of all files of `base`; empty for those that
    differ there.
    """
    change = db.value(_NEXT_CHANGE, (view,), 0)
    differing = view_blocks.share(db, view, base, signatures_of, change)
    db.execute(_COPY_ROW, (base, view))
    apply(
        db, view, changes=(), drop=differing, put_folders={}, drop_folders=(), state=state,
        path_ids=differing, text_changed=True,
    )  # fmt: skip


def base_of(db: Database, worktree: str, kind: str) -> int | None:
    """The view whose files a new view of a worktree starts with; None if there is no other."""
    return db.value(_NEWEST, (worktree, kind)) if kind != "ref" else None


def nothing_yet(
    scope: str, kind: str, worktree: str, branch: str, *, head: str, index_id: str
) -> ViewRow:
    """A view without files that is in no index: the state of a scope before its first refresh."""
    counts = dict.fromkeys(
        "id generation extractor complete files chunk_count body_terms name_terms doc_terms "
        "created_s accessed_s used_s changes vectors".split(), 0
    )  # fmt: skip
    return ViewRow(
        scope=scope, kind=kind, worktree=worktree, branch=branch, head=head, index_id=index_id,
        membership="", sources="{}", notes="{}", **counts,
    )  # fmt: skip


def files_of(db: Database, view: int) -> list[FileRow]:
    """All files of a view."""
    return view_blocks.files_of(db, view, FileRow)


def files_since(
    db: Database, view: ViewRow, before: ViewRow, files: list[FileRow]
) -> list[FileRow]:
    """All files of a view, given the `files` that were read when its row was `before`.

    Costs a tenth of reading them all; each question needs it while a first view grows.
    """
    rows = view_blocks.files_of(db, view.id, FileRow, before.changes)
    changed = {row.path_id: row for row in rows}
    now = files.copy()
    for at in places_with(map(_PATH_ID, files), changed):
        row = changed.pop(files[at].path_id)
        # Most files of a changed block are as before, which is compared by identity.
        if row != files[at]:
            now[at] = row
    now += changed.values()
    # A removed file leaves no row, but the view's own row has the number of remaining files.
    return now if len(now) == view.files else files_of(db, view.id)


def folders_of(db: Database, view: int) -> dict[bytes, bytes]:
    """Folder -> stat signature at the last look."""
    return view_blocks.folders_of(db, view)


def apply(
    db: Database,
    view: int,
    *,
    changes: Sequence[Change],
    drop: Iterable[bytes],
    put_folders: Mapping[bytes, bytes],
    drop_folders: Iterable[bytes],
    state: ViewState,
    path_ids: Mapping[bytes, int],
    text_changed: bool,
) -> None:
    """Change a view; in the caller's transaction.

    `path_ids` has the id of every path in `changes` and `drop`. `text_changed` says whether
    anything but signatures changes: then the statistics change too.
    """
    gone = [path_ids[path] for path in drop]
    touched = [*gone, *(path_ids[change.path] for change in changes)] if text_changed else []
    before = file_counts(db, view, touched)
    _put(db, view, changes, path_ids, gone)
    view_blocks.put_folders(db, view, put_folders, drop_folders)
    db.execute(
        _SET_STATE,
        (*state[:6], int(state.complete), state.vectors, int(time.time()),
         index_metadata.tick(db), view),
    )  # fmt: skip
    if text_changed:
        recount(db, view, touched, before)


def _put(
    db: Database, view: int, changes: Sequence[Change], path_ids: Mapping[bytes, int],
    gone: Iterable[int] = (),
) -> None:  # fmt: skip
    row = db.row(_NEXT_CHANGE, (view,))
    files: dict[int, tuple[int | None, int, bytes] | None] = {
        path_ids[change.path]: (change.content, change.state, change.signature)
        for change in changes
    }
    files |= dict.fromkeys(gone)
    view_blocks.put_files(db, view, files, row[0] if row else 0)


def put_files(
    db: Database, view: int, changes: Sequence[Change], path_ids: Mapping[bytes, int]
) -> None:
    """Add some files to a view whose other files are still outdated; in the caller's transaction.

    Nothing else about the view changes: the next look still compares everything.
    """
    touched = [path_ids[change.path] for change in changes]
    before = file_counts(db, view, touched)
    _put(db, view, changes, path_ids)
    recount(db, view, touched, before)


def find_paths(db: Database, searched: Iterable[bytes]) -> dict[bytes, int]:
    """Ids of those paths that are stored."""
    return dict(rows_among(db, _PATHS, searched))


def add_paths(db: Database, facts: Iterable[PathFacts]) -> dict[bytes, int]:
    """Store new paths; in the caller's transaction."""
    ids: dict[bytes, int] = {}
    for fact in facts:
        db.execute(_INSERT_PATH, fact)
        ids[fact.path] = db.last_id()
        terms = set(fact.stem.split()) | set(fact.folders.split())
        db.execute_many(_INSERT_PATH_TERM, [(term, ids[fact.path]) for term in sorted(terms)])
    return ids


def path_facts(db: Database, ids: Iterable[int]) -> dict[int, PathFacts]:
    """The stored facts of each path."""
    return {path_id: PathFacts(*row) for path_id, *row in rows_among(db, _PATH_FACTS, ids)}


def paths_with_terms(db: Database, terms: Sequence[str]) -> dict[str, list[int]]:
    """Paths of any view with each of the terms in their stem or folders."""
    by_term: dict[str, list[int]] = {}
    for term, path in rows_among(db, BY_TERMS, terms):
        by_term.setdefault(term, []).append(path)
    return by_term


def paths_with_prefix(db: Database, prefix: str) -> list[tuple[str, int]]:
    """Terms that start with `prefix`, and the paths that have them."""
    return [(row[0], row[1]) for row in db.rows(BY_PREFIX, (prefix, prefix + "\U0010ffff"))]


def outdated(db: Database, view: int, versions: Mapping[str, int]) -> list[bytes]:
    """Paths whose facts an older extractor made; those of a newer one do not count."""
    return [
        row[0]
        for language, version in sorted(versions.items())
        for row in db.rows(_OUTDATED, (view, language, version))
    ]


def languages_of(db: Database, view: int) -> list[tuple[str, int]]:
    """Languages of a view with their number of files, most first."""
    return [(row[0], row[1]) for row in db.rows(_LANGUAGES, (view,))]


def sibling_of(db: Database, view: int, extractor: int, settings_key: str) -> int:
    """The last used other view that this extractor made with these settings; 0 if none."""
    return db.value(_SIBLING, (view, extractor, settings_key), 0)


def languages_at(db: Database, view: int, paths: Iterable[bytes]) -> dict[bytes, tuple[bytes, str]]:
    """Hash and language of the content at each of those paths that a view has."""
    by_path: dict[bytes, tuple[bytes, str]] = {}
    for batch in batched(paths):
        sql = LANGUAGES_AT.format(marks=",".join("?" * len(batch)))
        by_path.update((row[0], (row[1], row[2])) for row in db.rows(sql, (view, *batch)))
    return by_path


def outcomes_of(db: Database, view: int) -> list[tuple[str, bool, int]]:
    """Outcome, whether generated, and number of files."""
    return [(row[0], bool(row[1]), row[2]) for row in db.rows(_OUTCOMES, (view,))]


def states_of(db: Database, view: int) -> dict[int, int]:
    """State -> number of files."""
    return dict(db.rows(_STATES, (view,)))  # type: ignore[arg-type]
