"""Recovers a session: its trail, the saved notes, and what changed since it began.

`Recovery.session` returns the trail, `Recovery.recover` everything that a model needs after it lost
its context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from codelens.answers.context_answers import (
    BranchChanges,
    EditedDefinition,
    RecoverAnswer,
    SessionAnswer,
    SessionSummary,
    ToolTrail,
    TouchedFile,
    TrailCall,
    WorktreeWork,
)
from codelens.engine.contexts import context_items, saved_contexts
from codelens.engine.contexts.asking_session import asking
from codelens.engine.contexts.context_items import LoadRequest
from codelens.engine.current_view import OpenRepository, ViewRequest
from codelens.engine.index_pool import IndexPool
from codelens.errors import CodelensError, StoreError
from codelens.handles.handle_grammar import parse_handle
from codelens.memory.context_fields import CATEGORIES
from codelens.paths import printed
from codelens.scope.repository import Repository
from codelens.scope.tree_changes import commits_since, subjects_after
from codelens.trail import sent_log, session_marks, trail_log
from codelens.trail.sent_log import SentLog
from codelens.trail.session_marks import Mark
from codelens.trail.trail_log import TrailEntry

if TYPE_CHECKING:
    from codelens.answers.branch_answers import DiffAnswer
    from codelens.answers.context_answers import SavedContext
    from codelens.types import Receipt

MOST_FILES, MOST_DEFINITIONS = 20, 30
_LATEST = 3
"""Maximum number of calls shown for each tool."""
_MOST_CONTEXTS = 200
_MOST_SUBJECTS = 5
_MOST_COMPARED = 400
"""Maximum number of differing files for which definitions are compared."""
_MOST_WORKTREES = 20
_SHOWN_ELSEWHERE = 5


class _Thread(NamedTuple):
    """A session, with its part of the trail."""

    session: str
    entries: list[TrailEntry]
    mark: Mark | None
    note: str = ""


class Recovery:
    """Implements the session methods of `Engine`, which document arguments and errors.

    Args:
        pool: opens repositories.
        now_s: seconds since 1970.
    """

    def __init__(self, pool: IndexPool, now_s: float) -> None:
        self._pool = pool
        self._now_s = now_s

    def session(
        self, view_request: ViewRequest, session: str, limit: int, *, every: bool
    ) -> SessionAnswer:
        """See `Engine.session`."""
        opened = self._pool.open_any(view_request.path)
        entries = _of_worktree(self._entries(opened), opened.scope.root)
        receipt = context_items.unlooked(opened)
        if every:
            summaries = _summaries(entries)
            notes = () if summaries else (self._why_no_trail(),)
            return SessionAnswer(receipt, "", (), 0, tuple(summaries), notes)
        thread = self._thread(opened, entries, session)
        calls = [
            TrailCall(
                entry.at, entry.session, entry.branch, entry.tool, entry.summary, entry.handles
            )
            for entry in thread.entries[-limit:]
        ]
        more = len(thread.entries) - len(calls)
        notes = (thread.note,) if thread.note else ()
        return SessionAnswer(receipt, thread.session, tuple(calls), more, (), notes)

    def recover(
        self, view_request: ViewRequest, session: str, *, forget_sent: bool
    ) -> RecoverAnswer:
        """See `Engine.recover`."""
        opened = self._pool.open_any(view_request.path)
        every = self._entries(opened)
        thread = self._thread(opened, _of_worktree(every, opened.scope.root), session)
        notes = [thread.note] if thread.note else []
        if forget_sent:
            self._forget_sent(opened, session)
        receipt = context_items.unlooked(opened)
        saved: tuple[SavedContext, ...] = ()
        try:
            request = LoadRequest(limit=_MOST_CONTEXTS)
            loaded = saved_contexts.load(self._pool, view_request, request, self._now_s)
            receipt, saved = loaded.receipt, loaded.results
            notes += loaded.notes
        except StoreError as error:
            notes.append(f"saved notes could not be read: {error}")
        changes, compared = self._changes(opened, view_request, thread.mark, notes)
        files, definitions = _touched(thread.entries)
        started = thread.entries[0].at if thread.entries else 0
        return RecoverAnswer(
            receipt=compared or receipt,
            session=thread.session,
            first_s=started,
            last_s=thread.entries[-1].at if thread.entries else 0,
            calls=len(thread.entries),
            saved=tuple(sorted(saved, key=_category_rank)),
            trail=tuple(_by_tool(thread.entries)),
            files=tuple(files[:MOST_FILES]),
            more_files=max(len(files) - MOST_FILES, 0),
            definitions=tuple(definitions[:MOST_DEFINITIONS]),
            more_definitions=max(len(definitions) - MOST_DEFINITIONS, 0),
            changes=changes,
            elsewhere=tuple(_elsewhere(opened, every, thread.mark, started)) if started else (),
            forgot=forget_sent,
            notes=tuple(notes),
        )

    def _entries(self, opened: OpenRepository) -> list[TrailEntry]:
        """The trail of all worktrees of the repository."""
        return trail_log.entries(
            self._pool.settings.home, opened.scope.repo_id, now=int(self._now_s)
        )

    def _thread(
        self, opened: OpenRepository, entries: Sequence[TrailEntry], session: str
    ) -> _Thread:
        """The named or current session; if it has no trail here, the last session that has one."""
        asker, scope = asking(), opened.scope
        marks = {
            mark.session: mark
            for mark in session_marks.marks(
                self._pool.settings.home, scope.repo_id, trail_log.worktree_key(scope.root)
            )
        }
        key = trail_log.session_key(session or asker.id)
        own = [entry for entry in entries if entry.session == key] if key else []
        note = ""
        if not own and key not in marks:
            latest = next((entry.session for entry in reversed(entries)), "")
            own = [entry for entry in entries if entry.session == latest]
            if not own:
                note = self._why_no_trail()
            elif key:
                note = (
                    f"session {key} has no trail in this worktree; this is the trail of the last "
                    f"session here, {latest or 'with an unknown id'}"
                )
            key = latest
        if own and asker.source == "connection":
            # Hooks record the host's session id, which this server was not given.
            edits = (entry for entry in entries if entry.tool == "edited" and entry not in own)
            own = sorted(
                [*own, *(entry for entry in edits if entry.at >= own[0].at)],
                key=lambda entry: entry.at,
            )
        return _Thread(key, own, marks.get(key), note)

    def _why_no_trail(self) -> str:
        if not self._pool.settings.trail:
            return "the trail is turned off (trail = false in config.toml, or CODELENS_TRAIL=off)"
        return "no session has left a trail in this worktree in the last 90 days"

    def _forget_sent(self, opened: OpenRepository, session: str) -> None:
        scope, home = opened.scope, self._pool.settings.home
        worktree, asker = trail_log.worktree_key(scope.root), asking()
        if asker.remembers and asker.id and not session:
            SentLog(home, scope.repo_id, worktree, asker.id).end()
        else:
            # The session is ambiguous; forgetting too much only costs tokens.
            sent_log.end_all(home, scope.repo_id, worktree)

    def _changes(
        self,
        opened: OpenRepository,
        view_request: ViewRequest,
        mark: Mark | None,
        notes: list[str],
    ) -> tuple[BranchChanges | None, Receipt | None]:
        """What changed since the session began, and the receipt of the compared view."""
        repository, scope = opened.repository, opened.scope
        if mark is None or not mark.began or not (repository.is_git and scope.head):
            return None, None
        way = commits_since(repository, mark.began, scope.head, subjects=_MOST_SUBJECTS)
        if way is None:
            notes.append(f"the commit that the session began on, {mark.began[:10]}, is gone")
            return None, None
        from codelens.engine.versions import version_queries

        definitions: list[EditedDefinition] = []
        receipt: Receipt | None = None
        files = len(way.paths)
        if files <= _MOST_COMPARED:
            try:
                diff = version_queries.diff(self._pool, view_request, mark.began, uses=False)
                files, definitions, receipt = len(diff.files), _edited(diff), diff.receipt
            except CodelensError as error:
                notes.append(f"definitions were not compared: {error}")
        else:
            notes.append(f"{files:,} files differ: definitions were not compared")
        changes = BranchChanges(
            began=mark.began,
            commits=way.commits,
            is_all=way.is_all,
            subjects=way.subjects,
            files=files,
            definitions=tuple(definitions[:MOST_DEFINITIONS]),
            more=max(len(definitions) - MOST_DEFINITIONS, 0),
            left=mark.branch if mark.branch != scope.branch else "",
        )
        return changes, receipt


def _of_worktree(entries: Sequence[TrailEntry], root: str) -> list[TrailEntry]:
    key = trail_log.worktree_key(root)
    return [entry for entry in entries if entry.worktree == key]


def _elsewhere(
    opened: OpenRepository, trail: Sequence[TrailEntry], mark: Mark | None, started: int
) -> Iterable[WorktreeWork]:
    """The work in other worktrees since a session began, by trail and commits."""
    scope = opened.scope
    entries = [entry for entry in trail if entry.at >= started]
    for root in opened.repository.worktrees()[:_MOST_WORKTREES]:
        edits = [entry for entry in _of_worktree(entries, root) if entry.tool == "edited"]
        edited = list(
            dict.fromkeys(handle for entry in reversed(edits) for handle in entry.handles)
        )
        try:
            there = Repository.at(root).scope()
        except CodelensError:
            continue  # It is being created or deleted.
        subjects: tuple[str, ...] = ()
        if there.head and there.head != scope.head:
            began = mark.began if mark is not None else ""
            subjects = subjects_after(opened.repository, there.head, began or scope.head, started)
        if edited or subjects:
            yield WorktreeWork(
                there.worktree,
                there.branch,
                tuple(edited[:_SHOWN_ELSEWHERE]),
                len(subjects),
                subjects[:_LATEST],
            )


def _category_rank(saved: SavedContext) -> int:
    is_listed = saved.category in CATEGORIES
    return CATEGORIES.index(saved.category) if is_listed else len(CATEGORIES)


def _edited(diff: DiffAnswer) -> list[EditedDefinition]:
    return [
        EditedDefinition(line.how, line.handle)
        for file in diff.files
        for line in file.definitions
        if set(line.how) - {"formatting"}
    ]


def _by_tool(entries: Sequence[TrailEntry]) -> list[ToolTrail]:
    """The calls by tool, the most recently used tool first."""
    latest: dict[str, dict[str, None]] = {}
    counts: dict[str, int] = {}
    for entry in reversed(entries):
        text = entry.summary or " ".join(entry.handles)
        latest.setdefault(entry.tool, {}).setdefault(text)
        counts[entry.tool] = counts.get(entry.tool, 0) + 1
    return [ToolTrail(tool, counts[tool], tuple(texts)[:_LATEST]) for tool, texts in latest.items()]


def _touched(entries: Sequence[TrailEntry]) -> tuple[list[TouchedFile], list[str]]:
    """Files, edited ones first, and handles of definitions; the latest first."""
    edited: dict[str, None] = {}
    read: dict[str, None] = {}
    definitions: dict[str, None] = {}
    for entry in reversed(entries):
        for handle in entry.handles:
            path = handle if entry.tool == "edited" else _path_of(handle)
            if path:
                (edited if entry.tool == "edited" else read).setdefault(path)
            if "#" in handle and entry.tool != "edited":
                definitions.setdefault(handle)
    files = [TouchedFile(path, True) for path in edited]
    files += [TouchedFile(path, False) for path in read if path not in edited]
    return files, list(definitions)


def _path_of(handle: str) -> str:
    try:
        path = parse_handle(handle).path
    except CodelensError:
        return ""
    return printed(path) if path else ""


def _summaries(entries: Sequence[TrailEntry]) -> list[SessionSummary]:
    by_session = sorted(entries, key=lambda entry: (entry.session, entry.at))
    summaries = [
        SessionSummary(session, len(calls), calls[0].at, calls[-1].at, calls[-1].branch)
        for session, group in groupby(by_session, key=lambda entry: entry.session)
        for calls in [list(group)]
    ]
    return sorted(summaries, key=lambda summary: (-summary.last_s, summary.session))
