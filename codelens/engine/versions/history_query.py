"""Answers `history`, and finds changes to the same files in other worktrees.

The latter updates no view: it reads one file per worktree and compares it with the merge base of
both HEADs. It is cheap enough to run before every edit.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from codelens.answers.branch_answers import (
    Elsewhere,
    HistoryAnswer,
    HistoryEvent,
    LastChanged,
    Together,
)
from codelens.branches.definition_diff import definition_diff
from codelens.branches.definition_history import DefinitionHistory, Event, last_changes
from codelens.branches.earlier_snippets import Origin, whole_text
from codelens.branches.file_definitions import Definition, FileDefinitions, FileText
from codelens.branches.sides import CommitSide, Facts, FilesSide, SideFile, texts_of
from codelens.engine.current_view import MANY_MS, CurrentView, ViewRequest, reader_of
from codelens.engine.index_pool import IndexPool
from codelens.engine.versions.diff_query import compared, files_side, own_edits
from codelens.errors import CodelensError, HandleNotFound, InvalidArgument, NotInGit, ReadError
from codelens.extract.file_kinds import decode
from codelens.handles.handle_grammar import (
    file_handle,
    handles_of,
    parse_handle,
    symbol_handle,
    typed_handle,
)
from codelens.handles.handle_lookup import Finder, Place
from codelens.index.text_facts import Text, Unstored, store_facts, text_facts
from codelens.paths import printed
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.scan.files_below import FilesBelow
from codelens.scope.commit_walk import CommitWalk, PathCommits
from codelens.scope.repository import Repository, Scope
from codelens.scope.text_diff import changed_lines
from codelens.scope.tree_changes import GITLINK, entry_at, merge_base
from codelens.types import CommitId
from codelens.wording import some_of

_MOST_WORKTREES, _MOST_EDITS = 30, 100
"""Maximum numbers of worktrees and of edits that a status reads."""
_SHOWN = 3


def changed_elsewhere(
    repository: Repository,
    scope: Scope,
    paths: Sequence[bytes],
    facts: Facts,
    *,
    roots: Sequence[str],
) -> Iterator[Elsewhere]:
    """Definitions of some files that the worktrees at `roots` changed, by root, path and line."""
    if not repository.is_git or not scope.head:
        return
    for root in roots:
        try:
            there = Repository.at(root)
            other = there.scope()
            base = merge_base(repository, scope.head, other.head) if other.head else None
            if base:
                yield from _in_worktree(there, other, base, paths, facts)
        except CodelensError:
            continue  # It is being created or deleted.


def _in_worktree(
    there: Repository, other: Scope, base: CommitId, paths: Sequence[bytes], facts: Facts
) -> Iterator[Elsewhere]:
    for path in paths:
        entry = entry_at(there, base, path)
        if entry is None:
            continue
        data = FilesBelow(os.fsencode(other.root)).bytes_of(path, facts.max_bytes)
        if data is None or blob_oid(data) == entry.oid:
            continue
        side = CommitSide(there, base, "base")
        ((before,),) = texts_of([(side, [SideFile(entry.path, entry.mode, entry.oid)])], facts)
        after = _text(path, data, facts)
        diff = definition_diff([before], [after], changed_lines)
        for file in diff.files:
            handles = handles_of(path, before.symbols)
            for definition in file.definitions:
                if definition.old is not None:
                    yield Elsewhere(
                        handles[definition.old.at], printed(path),
                        definition.old.symbol.qualified, definition.how,
                        other.root, other.branch,
                    )  # fmt: skip


def _text(path: bytes, data: bytes, facts: Facts) -> FileText:
    (extracted,) = text_facts(
        facts.db, [Text(path, data)], languages=facts.languages, max_bytes=facts.max_bytes
    )
    return FileText(
        path, decode(data), extracted.symbols, extracted.language, "text", hash_of(data)
    )


def also_changed_here(view: CurrentView, facts: Facts) -> tuple[str, ...]:
    """One sentence for each worktree that changes definitions with uncommitted changes here."""
    if view.scope.kind != "worktree" or not view.repository.worktrees():
        return ()
    edited_paths = sorted(own_edits(view, facts.db).by_path)[:_MOST_EDITS]
    roots = view.repository.worktrees()[:_MOST_WORKTREES]
    changes = changed_elsewhere(view.repository, view.scope, edited_paths, facts, roots=roots)
    elsewheres = [elsewhere for elsewhere in changes if not elsewhere.is_quiet]
    if not elsewheres:
        return ()
    head = CommitSide(view.repository, view.scope.head, "HEAD")
    paths = sorted({elsewhere.path for elsewhere in elsewheres})
    here = compared(head, files_side(view, "files"), facts, paths)
    changed = {
        (printed(change.old.file.path), change.old.symbol.qualified)
        for file in here.diff.files
        for change in file.definitions
        if change.old is not None
    }
    by_root: dict[tuple[str, str], list[str]] = {}
    for elsewhere in elsewheres:
        if (elsewhere.path, elsewhere.symbol) in changed:
            by_root.setdefault((elsewhere.worktree, elsewhere.branch), []).append(elsewhere.handle)
    return tuple(
        f"{root} ({branch or 'detached'}) is changing definitions that you have changed: "
        + some_of(handles, _SHOWN)
        for (root, branch), handles in by_root.items()
    )


# The commits that changed a definition; the last change of each definition of a file.

_DAY_S = 86_400
_SPAN = re.compile(r"(\d+)\s*(d|days?|w|weeks?|m|months?|y|years?)?(?:\s*ago)?\Z")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_TOGETHER_COMMITS = 50
_TOGETHER_SHOWN = 40
_TOGETHER_FILES = 200
"""Commits that change more files do not show which definitions belong together."""
_SHORT = 10
_MOST_UNSTORED = 64


class HistoryRequest(NamedTuple):
    """A request for a history."""

    target: str
    limit: int
    since: str
    first_parent: bool
    patch: bool
    together: bool


def of_one_file(pool: IndexPool, view_request: ViewRequest, target: str) -> ViewRequest:
    """The request for a history: if the target names a file, other new files are not needed.

    Raises:
        BadHandle: the target cannot be read.
    """
    root = pool.open(view_request.path, view_request.ref).scope.root
    path = parse_handle(target, root).path
    if not path or not os.path.isfile(os.path.join(root, os.fsdecode(path))):
        return view_request
    return view_request._replace(many_ms=MANY_MS, only=frozenset({path}))


def history(view: CurrentView, request: HistoryRequest, facts: Facts) -> HistoryAnswer:
    """The history of a definition, or the last changes of a file's definitions.

    Raises:
        HandleError: the target cannot be followed, or has several owners.
        NotInGit: the folder is not in a git repository.
        InvalidArgument: `since` is not a date.
    """
    if not view.repository.is_git:
        raise NotInGit(view.scope.root, "there is no history")
    reader = reader_of(view)
    place = Finder(view.snapshot, reader.symbols, view.scope.ref).find(
        typed_handle(request.target, view.scope.root, view.snapshot.by_path)
    )
    file = _file(view, place.file.path, facts)
    notes = [place.moved] if place.moved else []
    if place.symbol is None and place.lines is None:
        return _of_file(view, place, file, notes)
    definition = _definition(place, file, view.scope.ref)
    return _of_definition(view, definition, request, facts, notes)


def _file(view: CurrentView, path: bytes, facts: Facts) -> FileDefinitions:
    scope = view.scope
    if scope.kind == "ref":
        entry = entry_at(view.repository, scope.head, path)
        if entry is None:
            raise HandleNotFound(path.decode("utf-8", "replace"), (), "no file at this path")
        side = CommitSide(view.repository, scope.head, scope.ref)
        side_file = SideFile(entry.path, entry.mode, entry.oid)
        return FileDefinitions(texts_of([(side, [side_file])], facts)[0][0])
    files = FilesSide(view.repository, scope, view.snapshot, view.settings, "files")
    return FileDefinitions(texts_of([(files, [files.file(path)])], facts)[0][0])


def _definition(place: Place, file: FileDefinitions, ref: str) -> Definition:
    if place.symbol is not None:
        handles = handles_of(file.path, file.text.symbols, ref)
        for definition in file.definitions:
            if handles[definition.at] == place.handle:
                return definition
    elif place.lines is not None:
        inside = [
            definition
            for definition in file.definitions
            if definition.symbol.start_line <= place.lines.start_line <= definition.symbol.end_line
        ]
        if inside:
            return inside[-1]
    raise HandleNotFound(
        place.handle, (), "only definitions and files have a history; name one of these"
    )


def _of_definition(
    view: CurrentView,
    definition: Definition,
    request: HistoryRequest,
    facts: Facts,
    notes: list[str],
) -> HistoryAnswer:
    unstored: Unstored = {}

    def snippet(path: bytes, data: bytes, language: str) -> FileText:
        (extracted,) = text_facts(
            facts.db, [Text(path, data, language)], languages=facts.languages,
            max_bytes=facts.max_bytes, unstored=unstored, tier="symbols",
        )  # fmt: skip
        if len(unstored) >= _MOST_UNSTORED:
            store_facts(facts.db, unstored)
            unstored.clear()
        return FileText(
            path, decode(data), extracted.symbols, extracted.language, "text", hash_of(data)
        )

    def read(path: bytes, data: bytes) -> FileText:
        return snippet(path, data, "")

    repository, first_parent = view.repository, request.first_parent
    with PathCommits(repository, first_parent=first_parent) as commits:
        walked = DefinitionHistory(
            repository, read, snippet, commits, lambda: _uncommitted(view, facts),
            first_parent=first_parent,
        )  # fmt: skip
        events, more = _events(walked, definition, view, request)
    store_facts(facts.db, unstored)
    notes += [f"history ends early: {why}" for why in walked.ends]
    if walked.walk.missing and not walked.ends:
        notes.append(
            "some objects are not in this clone, and nothing is fetched "
            "automatically; run `git fetch`"
        )
    together: tuple[Together, ...] = ()
    counted = 0
    if request.together:
        together, counted = _together(view, events, definition, facts)
    most = max(_TOGETHER_SHOWN, request.limit)
    answer = HistoryAnswer(
        receipt=view.receipt(),
        handle=_handle(definition, view.scope.ref),
        results=tuple(_event(walked.walk, event, patch=request.patch) for event in events),
        definitions=(),
        together=together[:most],
        together_count=len(together),
        commits=counted,
        more=more,
        notes=tuple(notes),
    )
    walked.forget()
    return answer


def _uncommitted(view: CurrentView, facts: Facts) -> list[Origin]:
    """The changed files at HEAD: code that is now on disk may have moved from there."""
    files = files_side(view, "files")
    origins: list[Origin] = []
    for change in own_edits(view, facts.db).by_path.values():
        if change.old is None or change.old.mode == GITLINK:
            continue
        try:
            now = files.read(change.new) if change.new is not None else None
            data = view.repository.read_blob(change.old.oid)
        except ReadError:
            continue  # Too large, or deleted meanwhile: moves from there are not reported.
        origins.append(Origin(change.path, change.old.oid, data, now))
    return origins


def _events(
    walked: DefinitionHistory, definition: Definition, view: CurrentView, request: HistoryRequest
) -> tuple[list[Event], bool]:
    """The requested events, and whether there are more."""
    oldest = _seconds(request.since) if request.since else 0
    events: list[Event] = []
    on_disk = view.scope.kind != "ref"
    for event in walked.events(definition, view.scope.head, on_disk=on_disk):
        if (event.commit and event.time_s < oldest) or len(events) == request.limit:
            return events, True
        events.append(event)
    return events, False


def _event(walk: CommitWalk, event: Event, *, patch: bool) -> HistoryEvent:
    old_handle = ""
    if event.old is not None:
        before, after = event.old, event.new
        if (before.file.path, before.symbol.qualified) != (
            after.file.path,
            after.symbol.qualified,
        ):
            old_handle = _handle(before, "")
    commit_text = walk.text(event.commit) if event.commit else None
    return HistoryEvent(
        commit=event.commit,
        how=event.how,
        handle=_handle(event.new, event.commit[:_SHORT]),
        old_handle=old_handle,
        author=commit_text.author if commit_text else "",
        date=_date(commit_text.time_s) if commit_text else "",
        subject=commit_text.subject if commit_text else "uncommitted",
        patch=tuple(_patch(event)) if patch else (),
    )


def _handle(definition: Definition, ref: str) -> str:
    return symbol_handle(
        definition.file.path, definition.symbol.qualified, _ordinal(definition), ref
    )


def _ordinal(definition: Definition) -> int:
    same = [
        other.at
        for other in definition.file.definitions
        if other.symbol.qualified == definition.symbol.qualified
    ]
    return same.index(definition.at) + 1


def _patch(event: Event) -> Iterator[str]:
    old = whole_text(event.old).decode("utf-8", "replace").split("\n") if event.old else []
    new = whole_text(event.new).decode("utf-8", "replace").split("\n")
    for number, line in enumerate(difflib.unified_diff(old, new, n=2, lineterm="")):
        if number > 1:
            yield line


def _of_file(
    view: CurrentView, place: Place, file: FileDefinitions, notes: list[str]
) -> HistoryAnswer:
    walk = CommitWalk(view.repository)
    handles = handles_of(file.path, file.text.symbols, view.scope.ref)
    rows: list[LastChanged] = []
    with PathCommits(view.repository, first_parent=False) as commits:
        history = commits.of(file.path, view.scope.head)
        changes = list(last_changes(walk, file, view.scope.head, history))
        history.close()
    for last_change in changes:
        commit_text = walk.text(last_change.commit) if last_change.commit else None
        symbol = last_change.definition.symbol
        rows.append(
            LastChanged(
                handles[last_change.definition.at],
                symbol.kind, symbol.start_line, symbol.end_line, last_change.commit,
                commit_text.author if commit_text else "",
                _date(commit_text.time_s) if commit_text else "",
                commit_text.subject if commit_text else "uncommitted",
            )
        )  # fmt: skip
    oldest = [walk.commit(CommitId(name)) for name in {row.commit for row in rows} if name]
    if any(commit is not None and walk.is_cut(commit) for commit in oldest):
        notes.append(
            "history ends early: of the oldest commits here the parents are not in this clone "
            "(`git fetch --unshallow` fetches them)"
        )
    if walk.missing:
        notes.append(
            "history ends early: some objects are not in this clone, and nothing "
            "is fetched automatically"
        )
    if not rows:
        notes.append("the file has no definitions; `git log` lists its commits")
    return HistoryAnswer(
        view.receipt(), file_handle(place.file.path, view.scope.ref), (), tuple(rows), (), 0, 0,
        False, tuple(notes),
    )  # fmt: skip


def _together(
    view: CurrentView, events: list[Event], definition: Definition, facts: Facts
) -> tuple[tuple[Together, ...], int]:
    """Definitions that the same commits changed; ignores merges and huge commits."""
    walk = CommitWalk(view.repository)
    counts: Counter[str] = Counter()
    looked_at = 0
    for event in events:
        if not event.commit or looked_at >= _TOGETHER_COMMITS:
            continue
        commit = walk.commit(event.commit)
        if commit is None or len(commit.parents) > 1:
            continue
        before = next(iter(commit.parents), CommitId(""))
        old = CommitSide(view.repository, before, "old")
        new = CommitSide(view.repository, CommitId(event.commit), "new")
        comparison = compared(old, new, facts)
        if len(comparison.diff.files) > _TOGETHER_FILES:
            continue
        looked_at += 1
        handles = {
            symbol_handle(change.new.file.path, change.new.symbol.qualified)
            for file in comparison.diff.files
            for change in file.definitions
            if change.new is not None
        }
        handles.discard(symbol_handle(event.new.file.path, event.new.symbol.qualified))
        counts.update(handles)
    counts.pop(symbol_handle(definition.file.path, definition.symbol.qualified), None)
    ranked = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return tuple(Together(handle, count) for handle, count in ranked), looked_at


def _date(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d")


def _seconds(since: str) -> int:
    """A date, or a number of days, weeks, months or years ago, as seconds since 1970."""
    text = since.strip().lower().replace(".", " ")
    span = _SPAN.match(text)
    if span is not None:
        return int(time.time()) - int(span[1]) * _DAYS[(span[2] or "d")[0]] * _DAY_S
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise InvalidArgument(
            "since", f"must be a date, such as 2026-01-31, 14d, 6 weeks or 2 years, not {since!r}"
        ) from error
