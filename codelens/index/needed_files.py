"""Reads files that a query needs and that are not indexed yet.

An outdated view cannot rule out matches in unread files. So this scans pending files for the
question's words, extracts those that contain them, and adds them to the view. It needs no writer's
lease, because contents do not depend on who stores them. A file's row records what was read, with
the signature that the next look compares. The result names the files that were left for lack of
time.
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
"""Rank of vendored, generated and translated files, data and prose."""
_PART_BYTES = 3
_COMMON_SHARE = 0.05
"""Maximum share of paths that may contain a part of a name; more common parts are ignored."""
_FIRST_WAIT_S = 5.0
"""How long to wait for another transaction to store the best files, without which the answer would
be wrong. A transaction that writes the postings of thousands of files may take over two seconds.
"""
_A_ROUND = 8
"""Files stored and shown in one transaction; smaller groups would need more transactions."""


class Needed(NamedTuple):
    """The result of scanning pending files."""

    shown: frozenset[bytes]
    """Files whose text is now in the view."""
    gone: frozenset[bytes]
    """Paths that are not files any more."""
    cleared: frozenset[bytes]
    """Scanned files that contain nothing the question asks for."""
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
    """Scan pending files for what a question asks, and show the matching ones, best first.

    To show a file is to add it to the view.

    Args:
        db: the index; no lease is needed.
        scope: the scope whose view is outdated; the view is created if missing.
        works: the pending files.
        source: reads their bytes.
        request: the words and paths.
        scan_until: a `time.monotonic` value.
        extract_s: time to extract matching files after the scan. A few files are extracted in any
            case; one, if the request has no words.
        languages: path glob -> language, as in the settings.

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
                # An answer needs the best files, so the first few that match a question's words are
                # extracted in any case. If the question only names files, one is.
                deadline=None if not start and (request.words or len(holding) == 1) else until,
            )  # fmt: skip
            ingest.wait_s = QUESTION_S if start else _FIRST_WAIT_S
            try:
                done = ingest.run(holding[start : start + _A_ROUND])
                _show(db, scope, done.changes, ingest.wait_s)
            except IndexLocked:
                # A file that was not shown stays pending and is reported as not yet read.
                break
            shown.update(change.path for change in done.changes)
            gone.update(done.dropped)
            extracted += done.extracted
    return Needed(frozenset(shown), frozenset(gone), frozenset(cleared), extracted)


def _scan(works: list[Work], source: Source, request: Wanted, until: float) -> dict[bytes, Sight]:
    """The result of scanning each file, as far as there is time."""
    seen: dict[bytes, Sight] = {}
    named, rest = scan_order(request, works)
    for at, work in enumerate(chain(named, rest) if request.words else named):
        if not at % _CLOCK_EVERY:
            check_cancelled()
            # A question that names one file needs it in any case.
            if (at or request.words) and time.monotonic() >= until:
                break
        data = readable(source.glance(work))
        if is_binary(data):
            data = b""
        seen[work.path] = text_scan.sight(request, work.path, data)
    if not request.words:
        # The request names only paths, so the contents of other files do not matter.
        by_name = {work.path for work in named}
        others = (work.path for work in works if work.path not in by_name)
        seen.update(dict.fromkeys(others, text_scan.NOTHING_SEEN))
    return seen


def scan_order(request: Wanted, works: list[Work]) -> tuple[list[Work], Iterator[Work]]:
    """Order files for a scan that may run out of time: files whose names match, then the others.

    A definition's name often begins like its file or folder, so files that share parts with the
    request come first among the others. Code comes before tests and data: questions ask for a
    definition more often than for a fixture. The others are ranked lazily, since ranking 200,000
    paths takes .7 s.
    """
    named = _matching_paths(request, works)
    first = {work.path for work in named}
    related = [work for work in _sharing_parts(request, works) if work.path not in first]
    first.update(work.path for work in related)
    return named, chain(related, _by_rank(work for work in works if work.path not in first))


def _sharing_parts(request: Wanted, works: list[Work]) -> list[Work]:
    """The files whose path contains rare parts of the requested words; best first."""
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


def _matching_paths(request: Wanted, works: list[Work]) -> list[Work]:
    """The files whose path contains a requested word or matches a requested path."""
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
    """Show files in the view of a scope."""
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
    """Merge `files` with the rows that the view has now for the files shown since.

    The other rows stay, even if rebuilding the index has retired the view: they remain readable,
    and the look found no difference in them.
    """
    rows = {file.path: file for file in files if file.path not in gone}
    there = rows.keys() | shown
    rows.update((file.path, file) for file in newer if file.path in there)
    return list(rows.values())
