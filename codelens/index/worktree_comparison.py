"""Compares a worktree with its view: by a look at known files if that suffices, else by a walk.

A look compares stat signatures of known files and folders. That is enough unless an input that
decides *which* files belong has changed: git's index, ignore files, git's config, sparse patterns,
settings. Each has its own signature; when one differs, the whole tree is walked.

A file that a look suspects may be unchanged: it was written within a timestamp's granularity of the
last look (git's racy rule), or only touched. `changed_works` compares the bytes, so that a question
does not wait for the lease if nothing has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Set
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from codelens.config import Settings
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.index.membership_cache import Blob, Survey, Surveyor
from codelens.index.text_facts import Source, Unavailable, Work
from codelens.meaning.text_vectors import has_vectors
from codelens.scan.content_hash import hash_of
from codelens.scan.stat_check import Looked, look, signature, signature_to_store
from codelens.scope.repository import Repository, Scope
from codelens.store.database.database import Database
from codelens.store.facts.contents import hashes
from codelens.store.views import views
from codelens.store.views.views import CURRENT, PENDING, FileRow, ViewRow, places_with

if TYPE_CHECKING:
    from codelens.scan.watched_tree import WatchedTree

_MOST_FILES = 100
MANY_FILES = 200
"""With at least this many new files, git's index is read to find those that need no reading."""
NO_BLOBS: Mapping[bytes, Blob] = {}


class StoredView(NamedTuple):
    """The stored state of a view."""

    view: ViewRow | None
    files: list[FileRow]
    folders: dict[bytes, bytes]

    def rows_of(self, paths: Set[bytes]) -> dict[bytes, FileRow]:
        """The rows of those `paths` that the view has."""
        if not paths:
            return {}
        places = places_with(map(itemgetter(0), self.files), paths)
        return {self.files[at].path: self.files[at] for at in places}

    def is_valid_for(self, other: StoredView) -> bool:
        """Whether a comparison with `other` is still valid."""
        own = self.view.generation if self.view else 0
        others = other.view.generation if other.view else 0
        return (own, self.files, self.folders) == (others, other.files, other.folders)


def load(db: Database, scope: Scope) -> StoredView:
    """The stored state of a scope's view, cached until it changes.

    While a first view grows, or others write to other views, only changes are read.
    """
    key = ("view", scope.key)

    def read() -> StoredView:
        view = views.find_view(db, scope.key)
        if view is None:
            return StoredView(None, [], {})
        before = db.latest(key)
        if not isinstance(before, StoredView) or before.view is None or before.view.id != view.id:
            return StoredView(view, views.files_of(db, view.id), views.folders_of(db, view.id))
        if before.view.changes == view.changes:
            return before._replace(view=view)
        files = views.files_since(db, view, before.view, before.files)
        return StoredView(view, files, views.folders_of(db, view.id))

    with db.read():
        return db.remembered(key, read)


def latest(db: Database, scope: Scope, stored_view: StoredView) -> StoredView:
    """Update `stored_view` with what others have written since.

    Returns `stored_view` itself if a rebuild of the index has replaced the view: the new view still
    lacks files that the look found unchanged, and the rows of the old one remain readable.
    """
    newer = load(db, scope)
    is_same = stored_view.view is None or (
        newer.view is not None and newer.view.id == stored_view.view.id
    )
    return newer if is_same else stored_view


class Delta(NamedTuple):
    """How the disk differs from a view."""

    root: bytes
    started_ns: int
    checked: int
    works: list[Work]
    gone: list[bytes]
    folders: dict[bytes, bytes]
    """Folders whose signature is to be stored."""
    folders_gone: list[bytes]
    membership: str
    sources: str
    notes: str
    unchecked: int
    """The number of files not looked at for lack of time."""
    unlisted: int = 0
    """The number of folders not listed for lack of time, whose files are unknown."""
    tracked: bool = False
    """Whether every file in git's index is among `works` or in the view, even if its folder was not
    listed.
    """

    def nothing(self, view: ViewRow, scope: Scope) -> bool:
        """Whether the view needs no change."""
        return (
            not (self.works or self.gone or self.folders or self.folders_gone)
            and view.complete == 1
            and (view.membership, view.sources, view.notes)
            == (self.membership, self.sources, self.notes)
            and view.index_id == scope.index_id
            and view.extractor >= EXTRACTOR_VERSION
            and has_vectors(view)
        )


def compare(
    repository: Repository,
    scope: Scope,
    settings: Settings,
    stored_view: StoredView,
    deadline: float | None,
    *,
    look_until: float | None = None,
    watched: WatchedTree | None = None,
) -> Delta:
    """Compare a worktree, or a folder, with its view, as far as there is time.

    Args:
        repository: the scope's repository.
        scope: the worktree or folder.
        settings: decide which files belong.
        stored_view: its view.
        deadline: a `time.monotonic` value for walking and listing; None: no limit.
        look_until: the same for looking at known files, if that may take longer.
        watched: the files and folders that a watcher knows to be unchanged; None: none.
    """
    surveyor = Surveyor(repository, scope, settings)
    view = stored_view.view
    # A view left incomplete by an interrupted process knows neither all files nor all folders.
    if view is None or not view.complete or not surveyor.same_members(view):
        return _by_walk(surveyor, stored_view, deadline)
    until = max(deadline, look_until or deadline) if deadline is not None else None
    if watched is not None and watched.is_worth(len(stored_view.files)):
        seen = watched.look(stored_view.folders, stored_view.files, until)
    else:
        pairs = ((file.path, file.signature) for file in stored_view.files)
        seen = look(
            surveyor.root, stored_view.folders.items(), pairs, len(stored_view.files), until
        )
    return _by_look(surveyor, stored_view, view, seen, deadline)


def _by_walk(surveyor: Surveyor, stored_view: StoredView, deadline: float | None) -> Delta:
    survey = surveyor.survey(deadline)
    stored = {file.path: file.signature for file in stored_view.files}
    # A changed size limit or language setting requires a new decision about every file.
    trusted = stored_view.view is not None and surveyor.same_settings(stored_view.view)
    changed = survey.files
    if trusted and stored:
        changed = {
            path: stat for path, stat in changed.items() if stored.get(path) != signature(stat)
        }
    blobs = surveyor.blobs_of(changed) if len(changed) >= MANY_FILES else {}
    works = _works(changed, blobs)
    if survey.unlisted:
        return _cut_short(surveyor, stored_view, survey, works)
    return Delta(
        root=surveyor.root,
        started_ns=survey.started_ns,
        checked=len(survey.files),
        works=works,
        gone=[path for path in stored if path not in survey.files],
        folders=_new_folders(survey, stored_view),
        folders_gone=[path for path in stored_view.folders if path not in survey.folders],
        membership=surveyor.membership(),
        sources=survey.sources,
        notes=json.dumps(survey.notes, sort_keys=True),
        unchecked=0,
    )


def _cut_short(
    surveyor: Surveyor, stored_view: StoredView, survey: Survey, works: list[Work]
) -> Delta:
    """The result of a walk that ran out of time; adds names known from other sources."""
    met = survey.files
    unmet = [file for file in stored_view.files if file.path not in met]
    named = [file.path for file in unmet if file.state == PENDING]
    unseen = len(unmet) - len(named)
    if stored_view.view is None or not stored_view.view.complete:
        # An incomplete view contains only files that were requested or already written. Names from
        # git's index cost a thousandth of a look at the files.
        stored_paths = {file.path for file in stored_view.files}
        tracked = surveyor.tracked_paths
        named += [path for path in tracked if path not in met and path not in stored_paths]
    return Delta(
        root=surveyor.root,
        started_ns=survey.started_ns,
        checked=len(survey.files),
        works=[*works, *map(Work, named, repeat(0))],
        gone=[],
        folders={},
        folders_gone=[],
        membership=stored_view.view.membership if stored_view.view is not None else "",
        # None: the next look walks again.
        sources="{}",
        notes=stored_view.view.notes if stored_view.view is not None else "{}",
        unchecked=max(unseen, survey.unlisted),
        unlisted=survey.unlisted,
        tracked=surveyor.tracks_files,
    )


def _new_folders(survey: Survey, stored_view: StoredView) -> dict[bytes, bytes]:
    signatures = {
        path: signature_to_store(stat, survey.started_ns) for path, stat in survey.folders.items()
    }
    return {path: now for path, now in signatures.items() if stored_view.folders.get(path) != now}


def _by_look(
    surveyor: Surveyor, stored_view: StoredView, view: ViewRow, seen: Looked, deadline: float | None
) -> Delta:
    changed = {suspect.path: suspect.stat for suspect in seen.suspects}
    gone = dict.fromkeys(seen.gone)
    folders: dict[bytes, bytes] = {}
    folders_gone: list[bytes] = []
    notes = json.loads(view.notes)
    sources = surveyor.sources_of(view)
    unlisted = 0
    if seen.folders:
        again = surveyor.rescan(seen.folders, stored_view.folders, view, deadline)
        if again is None:
            return _by_walk(surveyor, stored_view, deadline)
        unlisted = again.unlisted
        stored = {file.path for file in stored_view.files}
        for path, stat in again.files.items():
            if path not in stored:
                changed[path] = stat
        out = _left_out(again, stored)
        gone.update(dict.fromkeys(out))
        for path in out:
            changed.pop(path, None)
        # A folder whose new signature is stored is not listed again.
        folders = {} if unlisted else _new_folders(again, stored_view)
        lost = set(again.folders_gone)
        if lost:
            folders_gone = [
                path for path in stored_view.folders if path in lost or _below(path, lost)
            ]
        notes = surveyor.merge_notes(notes, again)
    return Delta(
        root=surveyor.root,
        started_ns=seen.started_ns,
        checked=seen.checked,
        works=_works(changed),
        gone=[path for path in gone if path not in changed],
        folders=folders,
        folders_gone=folders_gone,
        membership=view.membership,
        sources=sources,
        notes=json.dumps(notes, sort_keys=True),
        unchecked=seen.unchecked + unlisted,
    )


def _works(
    changed: dict[bytes, os.stat_result], blobs: Mapping[bytes, Blob] = NO_BLOBS
) -> list[Work]:
    """Files to read again, except for those with a blob that the store knows."""
    return [
        Work(path, stat.st_size, *blob) if (blob := blobs.get(path)) else Work(path, stat.st_size)
        for path, stat in changed.items()
    ]


def _left_out(again: Survey, stored: Iterable[bytes]) -> list[bytes]:
    """Known files that a rescan should have found but did not."""
    gone = set(again.folders_gone)
    return [
        path
        for path in stored
        if path not in again.files
        and (path.rpartition(b"/")[0] in again.folders or (gone and _below(path, gone)))
    ]


def _below(path: bytes, folders: set[bytes]) -> bool:
    while path:
        path = os.path.dirname(path)
        if path in folders:
            return True
    return False


def changed_works(
    db: Database, files: Iterable[FileRow], works: list[Work], source: Source
) -> list[Work]:
    """The work items whose bytes differ from the view.

    Reads only a few files: if many are suspected, it returns all of them.
    """
    if len(works) > _MOST_FILES:
        return works
    suspected = {work.path for work in works}
    rows = {file.path: file for file in files if file.path in suspected and file.state == CURRENT}
    content_hashes = hashes(db, (row.content for row in rows.values() if row.content is not None))

    def is_same(work: Work) -> bool:
        row = rows.get(work.path)
        if row is None or row.content is None:
            return False
        try:
            data, _ = source.fetch(work)
        except (FileNotFoundError, Unavailable):
            return False
        return hash_of(data) == content_hashes.get(row.content)

    return [work for work in works if not is_same(work)]


def is_settled(view: ViewRow, scope: Scope, delta: Delta) -> bool:
    """Whether only signatures differ, if `delta` has the work items that `changed_works` returned.

    A folder that was listed again, or an ignore file that was read again, counts as such if it led
    to no new file.
    """
    bare = delta._replace(folders={}, sources=view.sources)
    return bare.nothing(view, scope) and not delta.unchecked
