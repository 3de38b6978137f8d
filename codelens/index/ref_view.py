"""Builds the view of a commit once, so that any ref can be searched without a checkout."""

from __future__ import annotations

import json
from collections.abc import Callable

from codelens.config import Settings
from codelens.errors import IndexLocked, LeaseLost
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import language_by_path
from codelens.index.ingestion import Progress, silent
from codelens.index.text_facts import ANY_SIZE, STORED_UNREAD, BlobSource, Source, Work
from codelens.index.view_refresh import answered
from codelens.index.view_update import FEW_FILES, Budget, Refreshed, behind, update
from codelens.index.worktree_comparison import Delta, StoredView, latest, load
from codelens.meaning.text_vectors import has_vectors
from codelens.paths import printed
from codelens.scope.commits import CommitFolders, Tree, TreeFile, read_tree
from codelens.scope.membership import own_rules, user_digest
from codelens.scope.repository import Repository, Scope
from codelens.store.database.database import Database
from codelens.store.facts import contents
from codelens.store.views.views import PENDING, UNREADABLE, ViewRow
from codelens.wording import count_of


def refresh_ref(
    repository: Repository,
    scope: Scope,
    db: Database,
    settings: Settings,
    *,
    budget: Budget,
    progress: Progress = silent,
) -> Refreshed:
    """Build the view of a ref's commit, as far as the budget allows.

    Raises:
        ReadError: the commit's trees are not in this clone.
        StoreError: the index cannot be written; nothing was changed.
    """
    stored = load(db, scope)
    view, files = stored.view, stored.files
    key = f"{settings.membership_key()}{user_digest(settings)}"
    current = view is not None and view.extractor >= EXTRACTOR_VERSION and view.membership == key
    missing = {file.path for file in files if file.state == UNREADABLE}
    whole = view if current and view and view.complete and has_vectors(view) else None
    if whole is not None and _are_still_missing(repository, scope, missing):
        return _with_missing(Refreshed(whole, files, "fresh", len(files), 0, [], 0, ""))
    tree = read_tree(repository, scope.head)
    rules = own_rules(repository, scope, settings)
    tree = tree._replace(files=[file for file in tree.files if not rules.leaves_out(file.path)])
    done = {file.path for file in files if file.state != PENDING} if current else set[bytes]()
    # Objects that a partial clone lacked may have been fetched since.
    done -= {file.path for file in tree.files if file.path in missing and _here(repository, file)}
    everything = [Work(file.path, ANY_SIZE, file.oid, STORED_UNREAD) for file in sorted(tree.files)]
    works = [work for work in everything if work.path not in done]
    works, later = _stored_first(db, works, settings, budget, is_first=view is None)
    if whole is not None and not works:
        return _with_missing(Refreshed(whole, files, "fresh", len(files), 0, [], 0, ""))
    gone = [file.path for file in files if rules.leaves_out(file.path)]
    delta = _delta_of(tree, works, gone, key)._replace(unchecked=len(later))
    source = BlobSource(repository, settings.max_file_bytes)
    if budget.request and budget.has_no_time_for(len(works)):
        refreshed = behind(stored, scope, delta, "")
        refreshed = answered(
            refreshed, db, scope, settings, budget=budget, works=works, source=source
        )
        return _with_missing(refreshed)

    def look_again(newer: StoredView) -> tuple[Delta, Source]:
        if _holds_the_same(newer.view, view):
            return delta, source
        return _delta_of(tree, everything, gone, key), source

    refreshed = _updated(
        scope, db, settings, budget=budget, progress=progress, stored=stored, delta=delta,
        look=look_again,
    )  # fmt: skip
    refreshed = _with_later(refreshed, later)
    budget = budget.after_look()  # The wait for another writer may have used up the budget.
    refreshed = answered(
        refreshed, db, scope, settings, budget=budget, works=everything, source=source
    )
    return _with_missing(refreshed)


def _holds_the_same(newer: ViewRow | None, view: ViewRow | None) -> bool:
    """Whether `newer` still has all files that `view` had before this process waited to write.

    If a rebuild of the index replaced the view in between, the new view lacks them.
    """
    if newer is None:
        return False
    return newer.generation == 0 if view is None else newer.id == view.id


def _stored_first(
    db: Database, works: list[Work], settings: Settings, budget: Budget, *, is_first: bool
) -> tuple[list[Work], list[Work]]:
    """Split files into those to show now, in order, and those to leave for a later question.

    Files with stored facts come first: they cost little, and a view that lacks only new texts
    answers most questions. So a question that names only paths leaves other new texts for later,
    unless it has time for them. The first view of a commit takes all texts: where a filter
    (`core.autocrlf`) applies, even a file that does not differ from the worktree's may have another
    text in the commit.
    """
    if budget.deadline is None:
        return works, []
    blobs = contents.blobs(db, [work.oid for work in works])
    key_of = {
        work.path: (blobs[work.oid][0], language_by_path(work.path, settings.languages) or "")
        for work in works
        if work.oid in blobs
    }
    stored = contents.find(db, {key for key in key_of.values() if key[1]})
    # If the path does not determine the language, the text of another view counts as stored: such
    # files (scripts, notes) are small.
    stored_paths = {path for path, key in key_of.items() if not key[1] or key in stored}
    stored_works = [work for work in works if work.path in stored_paths]
    rest = [work for work in works if work.path not in stored_paths]
    words, needed = budget.request
    if words or not needed:
        return [*stored_works, *rest], []
    now = [work for work in rest if work.path in needed]
    others = [work for work in rest if work.path not in needed]
    if is_first or budget.then_others:
        return [*stored_works, *now, *others], []
    return [*stored_works, *now], others


def _with_later(refreshed: Refreshed, later: list[Work]) -> Refreshed:
    """Count the files that were left for later as pending, not as unchecked."""
    if not later or not refreshed.unchecked:
        return refreshed
    pending = {*refreshed.pending, *(work.path for work in later)}
    return refreshed._replace(pending=sorted(pending), unchecked=0)


def _updated(
    scope: Scope, db: Database, settings: Settings, *, budget: Budget, progress: Progress,
    stored: StoredView, delta: Delta, look: Callable[[StoredView], tuple[Delta, Source]],
) -> Refreshed:  # fmt: skip
    """Update the view as far as the budget and other writers allow."""
    try:
        return update(scope, db, settings, budget, progress=progress, look=look)
    except (IndexLocked, LeaseLost) as error:
        return behind(latest(db, scope, stored), scope, delta, f"not updated: {error}")


def _delta_of(tree: Tree, works: list[Work], gone: list[bytes], membership: str) -> Delta:
    """How a tree differs from its view: files to add, and files that the rules now leave out."""
    notes = {
        "links": [printed(path) for path in tree.links],
        "submodules": [printed(path) for path in tree.submodules],
    }
    return Delta(
        root=b"", started_ns=0, checked=len(tree.files), works=works, gone=gone, folders={},
        folders_gone=[], membership=membership, sources="{}", notes=json.dumps(notes),
        unchecked=0,
    )  # fmt: skip


def _are_still_missing(repository: Repository, scope: Scope, missing: set[bytes]) -> bool:
    """Whether none of the `missing` files has come into this clone since; True for no files.

    For a blobless clone, which lacks most files, the whole tree is read at once.
    """
    if len(missing) > FEW_FILES:
        return False
    folders = CommitFolders(repository, scope.head)
    oids = map(folders.oid_of, missing)
    return not any(oid is None or repository.has_object(oid) for oid in oids)


def _here(repository: Repository, file: TreeFile) -> bool:
    return repository.has_object(file.oid)


def _with_missing(refreshed: Refreshed) -> Refreshed:
    """Never report the view as fresh while objects are missing: codelens fetches nothing."""
    missing = sum(file.state == UNREADABLE for file in refreshed.files)
    if not missing:
        return refreshed
    files = count_of(missing, "file")
    note = (
        f"{files} of this commit cannot be read: not in this clone (`git fetch`, or check it out) "
        "or damaged (`git fsck`)"
    )
    return refreshed._replace(status="partial", unchecked=refreshed.unchecked + missing, note=note)
