"""What a question needs of files that are not indexed yet: found by their bytes, extracted at once.

A view that is behind must deny nothing about a file that nobody read. So the pending files are
scanned for the words asked; those that hold them are extracted and shown, whoever holds the
writer's lease meanwhile: contents are the same whoever stores them, and a file's row says what was
read, with the signature that the next look compares. What there was no time for is told.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from codelens.cancellation import check_cancelled
from codelens.errors import IndexLocked
from codelens.extract import text_scan
from codelens.extract.file_kinds import is_binary, readable
from codelens.extract.text_scan import Sight, Wanted
from codelens.index.ingestion import Ingest, path_facts, role_of_path, silent
from codelens.index.text_facts import Source, Work
from codelens.index.worker_pool import InProcess
from codelens.paths import matching
from codelens.scope.repository import Scope
from codelens.store.database.database import QUESTION_S, Database
from codelens.store.facts import postings
from codelens.store.views import views
from codelens.store.views.views import Change, FileRow

_CLOCK_EVERY = 16
_RANKS = {"": 0, "compat": 1, "test": 2, "example": 3}
_LAST = 4
"""Rank of what is vendored, generated, translated, data or prose."""
_PART_BYTES = 3
_COMMON_SHARE = 0.05
"""A part that more of the paths hold tells nothing."""
_FIRST_WAIT_S = 5.0
"""How long the best files wait for another's transaction: one that writes the postings of thousands
of files may take over two seconds, and without these files the answer would be a wrong one."""
_A_ROUND = 8
"""Files that are stored and shown together: fewer would be as many transactions."""


class Needed(NamedTuple):
    """What was found out about pending files."""

    shown: frozenset[bytes]
    """Their text is in the view by now."""
    gone: frozenset[bytes]
    """They are no files any more."""
    cleared: frozenset[bytes]
    """Scanned; they hold nothing that is asked."""
    extracted: int


def read_needed(
    db: Database,
    scope: Scope,
    works: list[Work],
    source: Source,
    *,
    request: Wanted,
    scan_until: float,
    extract_s: float,
    languages: Mapping[str, str],
) -> Needed:
    """Scan pending files for what is asked, and show those that hold it, the most telling first.

    Args:
        db: the index; no lease of it is needed.
        scope: whose view is behind; it is made if there is none.
        works: the pending files.
        source: gives their bytes.
        request: the words and paths.
        scan_until: a `time.monotonic` value.
        extract_s: how long those that hold it may be extracted afterwards; a few always are.
        languages: as the settings have them.

    Raises:
        StoreError: the index cannot be used.
    """
    seen = _scan(works, source, request, scan_until)
    until = time.monotonic() + extract_s
    by_path = {work.path: work for work in works}
    holding = [by_path[path] for path in text_scan.ordered(request, seen)]
    cleared = seen.keys() - {work.path for work in holding}
    shown: set[bytes] = set()
    gone: set[bytes] = set()
    extracted = 0
    with InProcess(db.path) as extractor:
        for start in range(0, len(holding), _A_ROUND):
            if start and time.monotonic() >= until:
                break
            ingest = Ingest(
                db, None, source, extractor, languages=languages, progress=silent,
                # Of the first few all are extracted: no answer without the best of them.
                deadline=until if start else None,
            )  # fmt: skip
            ingest.wait_s = QUESTION_S if start else _FIRST_WAIT_S
            try:
                done = ingest.run(holding[start : start + _A_ROUND])
                _show(db, scope, done.changes, ingest.wait_s)
            except IndexLocked:
                # What was not shown stays pending, and is told as not yet read.
                break
            shown.update(change.path for change in done.changes)
            gone.update(done.dropped)
            extracted += done.extracted
    return Needed(frozenset(shown), frozenset(gone), frozenset(cleared), extracted)


def _scan(works: list[Work], source: Source, request: Wanted, until: float) -> dict[bytes, Sight]:
    """What each file shows, as far as there is time."""
    seen: dict[bytes, Sight] = {}
    named, rest = scan_order(request, works)
    for at, work in enumerate(chain(named, rest) if request.words else named):
        if not at % _CLOCK_EVERY:
            check_cancelled()
            if time.monotonic() >= until:
                break
        data = readable(source.glance(work))
        if is_binary(data):
            data = b""
        seen[work.path] = text_scan.sight(request, work.path, data)
    if not request.words:
        # Asked for by name alone: the others hold nothing of it, whatever they hold.
        by_name = {work.path for work in named}
        others = (work.path for work in works if work.path not in by_name)
        seen.update(dict.fromkeys(others, text_scan.NOTHING_SEEN))
    return seen


def scan_order(request: Wanted, works: list[Work]) -> tuple[list[Work], Iterator[Work]]:
    """The files whose name tells of what is asked, and the others.

    There may be time for a part alone. A name often begins as its file or folder is called, so
    files that share parts with it come next; then code before tests and data, as a definition is
    asked for more often than a fixture. These are ordered as they are taken: to rank 200,000 paths
    takes .7 s.
    """
    named = _named(request, works)
    first = {work.path for work in named}
    related = [work for work in _sharing_parts(request, works) if work.path not in first]
    first.update(work.path for work in related)
    return named, chain(related, _by_rank(work for work in works if work.path not in first))


def _sharing_parts(request: Wanted, works: list[Work]) -> list[Work]:
    """The files whose path holds parts of the words that few paths hold; the most telling first."""
    parts = {
        part
        for spellings in request.words
        for spelling in spellings
        for part in text_scan.SEPARATORS.split(spelling)
        if len(part) >= _PART_BYTES
    }
    scores: dict[int, float] = {}
    paths = [work.path for work in works]
    for part in parts:
        matched = matching(paths, re.compile(re.escape(part)))
        if len(matched) <= _COMMON_SHARE * len(works):
            worth = math.log(len(works) / max(len(matched), 1))
            for number in matched:
                scores[number] = scores.get(number, 0.0) + worth
    order = sorted(scores, key=lambda number: (-scores[number], _rank(paths[number]), number))
    return [works[number] for number in order]


def _rank(path: bytes) -> int:
    return _RANKS.get(role_of_path(path), _LAST)


def _by_rank(works: Iterable[Work]) -> Iterator[Work]:
    later: list[list[Work]] = [[] for _ in range(_LAST)]
    for work in works:
        rank = _rank(work.path)
        if rank:
            later[rank - 1].append(work)
        else:
            yield work
    for ranked in later:
        yield from ranked


def _named(request: Wanted, works: list[Work]) -> list[Work]:
    """The files whose path holds a word, or that are asked for by it."""
    named: dict[bytes, Work] = {}
    spelled = [
        re.escape(spelling) for spellings in request.words for spelling in spellings if spelling
    ]
    if spelled:
        words = re.compile(b"|".join(spelled))
        matched = matching([work.path for work in works], words)
        named = {works[number].path: works[number] for number in matched}
    if request.paths:
        named |= {work.path: work for work in works if text_scan.is_target(request, work.path)}
    return list(named.values())


def _show(db: Database, scope: Scope, changes: list[Change], wait_s: float) -> None:
    """Put files in the view of a scope."""
    if not changes:
        return
    view = views.create_view(
        db, None, scope.key, scope.kind, worktree=scope.worktree, branch=scope.branch,
        head=scope.head, index_id=scope.index_id,
    )  # fmt: skip
    paths = {change.path for change in changes}
    with db.write(None, wait_s):
        ids = views.find_paths(db, paths)
        ids |= views.add_paths(db, (path_facts(path) for path in sorted(paths - ids.keys())))
        views.put_files(db, view.id, changes, ids)
        postings.merge_small(db)


def with_shown(
    files: list[FileRow],
    newer: list[FileRow],
    shown: frozenset[bytes],
    gone: frozenset[bytes],
) -> list[FileRow]:
    """Files with those that were shown since, as the view has them by now.

    The others stay even if the view lost them: who rebuilds an index retires its views, but their
    rows can be read to the end, and nothing was found to differ in them.
    """
    rows = {file.path: file for file in files if file.path not in gone}
    there = rows.keys() | shown
    rows.update((file.path, file) for file in newer if file.path in there)
    return list(rows.values())
