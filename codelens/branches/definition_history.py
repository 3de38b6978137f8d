"""Follows definitions through commits: the history of one, and blame by definition."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.branches.definition_matcher import ADDED, FORMATTING, Matches, change_of, text_changes
from codelens.branches.earlier_snippets import (
    EarlierVersion,
    Origin,
    Passage,
    ReadSnippet,
    changed_files,
    earlier_definition,
    earlier_in_file,
    has_owners_above,
    has_passage,
    has_same_definition,
    holds,
    lines_of,
    may_stem_from,
    origins_of,
    passage_in,
    unix_lines,
    whole_text,
)
from codelens.branches.file_definitions import Definition, FileDefinitions, FileText
from codelens.scope.commit_walk import Commit, CommitWalk, PathCommits, PathHistory
from codelens.scope.repository import Repository
from codelens.scope.text_diff import changed_lines
from codelens.scope.tree_changes import GITLINK, tree_changes
from codelens.types import CommitId


class LastChange(NamedTuple):
    """The last change of a definition of a file."""

    definition: Definition
    commit: CommitId
    """Empty for an uncommitted change."""


def last_changes(
    walk: CommitWalk, file: FileDefinitions, head: CommitId, history: PathHistory
) -> Iterator[LastChange]:
    """Yield the last commit that changed or moved each definition of a file.

    Args:
        walk: reads the commits.
        file: the current file; may differ from `head`.
        head: the commit to start from.
        history: the commits that changed the file, from `head` backwards.
    """
    plain, language = unix_lines(file.data), file.language
    texts = {
        at: passage_in(plain, whole_text(definition))
        for at, definition in enumerate(file.definitions)
    }
    commit_of: dict[int, CommitId] = {}
    start = walk.commit(head) if head else None
    blob = walk.blob_at(start, file.path) if start is not None else None
    present = _standing(walk, blob, list(texts), texts, language)
    commit_of.update(dict.fromkeys(texts.keys() - present, CommitId("")))
    waiting: list[tuple[int, int, Commit, bytes | None, set[int]]] = []
    if start is not None:
        newest = history.newest() if blob is not None else None
        first = (walk.commit(newest) if newest is not None else None) or start
        waiting.append((-first.time_s, 0, first, blob, present))
    number = 0
    while waiting:
        _, _, commit, blob, ordinals = heapq.heappop(waiting)
        left = set(ordinals)
        parents = [
            commit_id for name in commit.parents if (commit_id := walk.commit(name)) is not None
        ]
        blobs = [walk.blob_at(parent, file.path) for parent in parents]
        order = sorted(range(len(parents)), key=lambda at: blobs[at] != blob)
        for at in order:
            same = left if blobs[at] == blob else _standing(walk, blobs[at], left, texts, language)
            if same:
                number += 1
                parent = _next_change(walk, history, commit, parents[at])
                heapq.heappush(waiting, (-parent.time_s, number, parent, blobs[at], set(same)))
                left = left - same
        for at in left:
            commit_of.setdefault(at, commit.id)
    for at, tracked in enumerate(file.definitions):
        yield LastChange(tracked, commit_of.get(at, CommitId("")))


def _next_change(
    walk: CommitWalk, history: PathHistory, commit: Commit, parent: Commit,
    parents: Sequence[CommitId] | None = None,
) -> Commit:  # fmt: skip
    """Return the first commit from a parent that changed a file; the parent if unknown.

    Args:
        walk: reads the commits.
        history: the commits that changed the file.
        commit: one of them.
        parent: one of its parents.
        parents: the parents that `history` follows; default: all.
    """
    parents = commit.parents if parents is None else parents
    changed = history.parents(commit.id, commit.time_s)
    if changed is None or len(changed) != len(parents):
        return parent
    return walk.commit(changed[parents.index(parent.id)]) or parent


def _standing(
    walk: CommitWalk,
    blob: bytes | None,
    ordinals: Collection[int],
    passages: Mapping[int, Passage],
    language: str,
) -> set[int]:
    data = walk.blob(blob) if blob is not None else None
    if data is None:
        return set()
    plain = unix_lines(data)
    return {at for at in ordinals if has_passage(plain, passages[at], language)}


# Finds the commits that changed a definition, through renames and moves.
#
# Only commits that changed the file are read, if git can list them. A version with the unchanged
# text of the definition needs no parse. In a version that changed it, only the lines that became
# the definition are parsed, unless it was renamed or moved. Merges are followed as by `git log -L`:
# to the one parent with the same text, else to all parents.

INSIDE, MERGED = "inside", "merged"
_MOST_MOVES = 1000

ReadText = Callable[[bytes, bytes], FileText]
"""Parses the bytes of a path to its definitions."""


class Event(NamedTuple):
    """A commit that changed a definition."""

    commit: CommitId
    """Empty for an uncommitted change."""
    how: tuple[str, ...]
    """As in a diff; `inside`: an inner definition changed; `merged`: changed by a merge."""
    new: Definition
    old: Definition | None
    time_s: int


class _Tracked(NamedTuple):
    """A definition at a commit."""

    path: bytes
    blob: bytes
    text: bytes
    """Its whole lines."""
    data: bytes
    """A version of the file that contains it: of this commit, or of a later one."""


_moves: dict[tuple[str, CommitId, CommitId, bytes, bytes], _Tracked | None] = {}
"""Where definitions were before commits that moved them. These never change, so they stay cached
between questions.

Keys are repository, commit, parent, path and text; the values leave out `data`."""


class _Step(NamedTuple):
    """The next step of a walk: a commit, its definition, and the commits of its file."""

    commit: Commit
    tracked: _Tracked
    history: PathHistory


class DefinitionHistory:
    """Walks back through the history of one definition.

    Args:
        repository: the repository with the commits.
        read: parses the definitions of a text.
        read_snippet: parses the definitions of a part of a text.
        commits: lists the commits that changed a file.
        uncommitted: lists the files that differ from the start commit.
        first_parent: follow merges only to their first parent, as `commits` does.
    """

    def __init__(
        self,
        repository: Repository,
        read: ReadText,
        read_snippet: ReadSnippet,
        commits: PathCommits,
        uncommitted: Callable[[], Sequence[Origin]],
        *,
        first_parent: bool,
    ) -> None:
        self._repository = repository
        self.walk = CommitWalk(repository)
        self._read = read
        self._read_snippet = read_snippet
        self._commits = commits
        self._uncommitted = uncommitted
        self._first_parent = first_parent
        self._by_text: dict[tuple[bytes, bytes], Definition] = {}
        """Definitions by path and text, found in a whole version of the file or in a parsed part of
        it.
        """
        self._language = ""
        self._several: set[tuple[bytes, str]] = set()
        """Paths and qualified names that several definitions share in some version."""
        self._files: dict[tuple[bytes, bytes], FileDefinitions] = {}
        self.ends: dict[str, None] = {}
        """Reasons why there may be earlier history."""

    def events(self, definition: Definition, head: CommitId, *, on_disk: bool) -> Iterator[Event]:
        """Yield the changes, newest first.

        Args:
            definition: the definition in the files or at `head`.
            head: the commit to start from.
            on_disk: `definition` may differ from `head`.
        """
        start = self.walk.commit(head) if head else None
        self._language = definition.file.language
        tracked = _Tracked(definition.file.path, b"", whole_text(definition), definition.file.data)
        self._add(definition.file.path, definition.file.data, definition.file)
        self._remember(definition)
        if start is None:
            yield Event(CommitId(""), (ADDED,), definition, None, 0)
            return
        if on_disk:
            before = self._before(None, start, tracked)
            if before is None or (before.path, before.text) != (tracked.path, tracked.text):
                event = self._event(None, tracked, before)
                if event is not None:
                    yield event
            if before is None:
                return
            tracked = before
        else:
            blob = self.walk.blob_at(start, definition.file.path) or b""
            tracked = tracked._replace(blob=blob)
        yield from self._walked(start, tracked)

    def _walked(self, start: Commit, tracked: _Tracked) -> Iterator[Event]:
        waiting: list[tuple[int, int, _Step]] = []
        seen: set[tuple[CommitId, bytes, bytes]] = set()
        commits: set[CommitId] = set()

        def wait(step: _Step) -> None:
            key = (step.commit.id, step.tracked.path, step.tracked.text)
            if key not in seen:
                seen.add(key)
                heapq.heappush(waiting, (-step.commit.time_s, len(seen), step))

        wait(self._on_path(start, tracked))
        while waiting:
            step = heapq.heappop(waiting)[-1]
            follow, event = self._step(step.commit, step.tracked)
            if event is not None and step.commit.id not in commits:
                commits.add(step.commit.id)
                yield event
            moved = [row for row in follow if row[1].path != step.tracked.path]
            for parent, before in follow:
                if before.path == step.tracked.path:
                    names = step.commit.parents[:1] if self._first_parent else None
                    next_change = _next_change(self.walk, step.history, step.commit, parent, names)
                    wait(_Step(next_change, before, step.history))
            if all(other.history is not step.history for _, _, other in waiting):
                step.history.close()
            for parent, before in moved:
                wait(self._on_path(parent, before))

    def _on_path(self, start: Commit, tracked: _Tracked) -> _Step:
        """Return the first commit from a start that changed the file; the start if unknown."""
        history = self._commits.of(tracked.path, start.id)
        newest = history.newest()
        commit = self.walk.commit(newest) if newest is not None else None
        return _Step(commit or start, tracked, history)

    def _step(
        self, commit: Commit, tracked: _Tracked
    ) -> tuple[list[tuple[Commit, _Tracked]], Event | None]:
        """Return where to continue from a commit, and the event of the commit."""
        names = commit.parents[:1] if self._first_parent else commit.parents
        parents = [parent for name in names if (parent := self.walk.commit(name)) is not None]
        if len(parents) < len(names) or self.walk.is_cut(commit):
            self.ends["a parent is not in this clone (`git fetch --unshallow` fetches it)"] = None
        blobs = [self.walk.blob_at(parent, tracked.path) for parent in parents]
        for parent, blob in zip(parents, blobs, strict=True):
            if blob == tracked.blob:
                return [(parent, tracked)], None
        for parent, blob in zip(parents, blobs, strict=True):
            data = self.walk.blob(blob) if blob is not None else None
            if blob is not None and data is not None and self._contains_unchanged(data, tracked):
                return [(parent, tracked._replace(blob=blob, data=data))], None
        before = [(parent, self._before(commit, parent, tracked)) for parent in parents]
        for parent, followed in before:
            if (
                followed is not None
                and followed.text == tracked.text
                and followed.path == tracked.path
            ):
                return [(parent, followed)], None
        follow = [(parent, earlier) for parent, earlier in before if earlier is not None]
        event = self._event(commit, tracked, follow[0][1] if follow else None)
        return follow, event

    def forget(self) -> None:
        """Free the versions that were read; do not use the events afterwards."""
        for file in (*self._files.values(), *(old.file for old in self._by_text.values())):
            file.forget()

    def _contains_unchanged(self, data: bytes, tracked: _Tracked) -> bool:
        """Whether a version of the file has the unchanged definition."""
        return has_same_definition(data, tracked.text, tracked.data, self._language)

    def _event(
        self, commit: Commit | None, tracked: _Tracked, before: _Tracked | None
    ) -> Event | None:
        new = self._by_own_text(tracked)
        if new is None:
            return None
        name = commit.id if commit is not None else CommitId("")
        time_s = commit.time_s if commit is not None else 0
        merged = (MERGED,) if commit is not None and len(commit.parents) > 1 else ()
        old = self._by_own_text(before) if before is not None else None
        if old is None:
            return Event(name, (*merged, ADDED), new, None, time_s)
        how = self._how(old, new)
        if not how:
            same = [line for line in whole_text(old).split(b"\n") if line.strip()] == [
                line for line in whole_text(new).split(b"\n") if line.strip()
            ]
            how = (FORMATTING,) if same else (INSIDE,)
        return Event(name, (*merged, *how), new, old, time_s)

    def _how(self, old: Definition, new: Definition) -> tuple[str, ...]:
        if old.file.path == new.file.path and old.symbol.qualified == new.symbol.qualified:
            return tuple(text_changes(old.own, new.own, old, new)) if old.own != new.own else ()
        how, _ = change_of(old, new, Matches([old.file], [new.file]))
        moved = old.file.path != new.file.path and "moved" not in how
        return ("moved", *how) if moved else how

    def _by_own_text(self, tracked: _Tracked) -> Definition | None:
        """Find a definition only by its own text and name."""
        definition = self._by_text.get((tracked.path, tracked.text))
        if definition is None or self._is_one_of_several(definition):
            return self._definition(tracked)
        span = lines_of(tracked.data, tracked.text)
        # Renaming an owner does not change the text of its members.
        if span is None or not has_owners_above(
            tracked.data.split(b"\n"), span[0] - 1, definition.owner
        ):
            return self._definition(tracked)
        return definition

    def _remember(self, definition: Definition) -> bytes:
        """Cache a definition for versions that have it unchanged; return its lines."""
        text = whole_text(definition)
        self._by_text[definition.file.path, text] = definition
        return text

    def _is_one_of_several(self, definition: Definition) -> bool:
        return (definition.file.path, definition.symbol.qualified) in self._several

    def _definition(self, tracked: _Tracked) -> Definition | None:
        """Find a definition among all definitions of its file."""
        file = self._definitions(tracked.path, tracked.data)
        size = tracked.text.count(b"\n") + 1
        for definition in file.definitions:
            stop, start = definition.symbol.end_line, definition.symbol.start_line - 1
            if (
                definition.inline
                or definition.stop - definition.start == size
                or stop - start == size
            ) and (whole_text(definition) == tracked.text):
                self._remember(definition)
                return definition
        return None

    def _definitions(self, path: bytes, data: bytes) -> FileDefinitions:
        key = (path, data)
        if key not in self._files:
            self._add(path, data, FileDefinitions(self._read(path, data)))
        return self._files[key]

    def _add(self, path: bytes, data: bytes, file: FileDefinitions) -> None:
        self._files[path, data] = file
        counts = Counter(definition.symbol.qualified for definition in file.definitions)
        self._several |= {(path, name) for name, count in counts.items() if count > 1}

    def _before(self, commit: Commit | None, parent: Commit, tracked: _Tracked) -> _Tracked | None:
        """Find the definition at the parent: in the same file, else in one that changed."""
        blob = self.walk.blob_at(parent, tracked.path)
        data = self.walk.blob(blob) if blob is not None else None
        if blob is not None and data is not None and self._contains_unchanged(data, tracked):
            return tracked._replace(blob=blob, data=data)
        later = self._by_own_text(tracked)
        if later is None:
            return None
        if blob is not None and data is not None:
            text = self._snippet_before(tracked, data, later)
            if text is None and may_stem_from(data, tracked.data, later):
                old, new = self._definitions(tracked.path, data), self._definition(tracked)
                earlier = earlier_in_file(old, new) if new is not None else None
                text = self._remember(earlier) if earlier is not None else None
            if text is not None:
                return _Tracked(tracked.path, blob, text, data)
        if commit is None:
            others = [file for file in self._uncommitted() if file.path != tracked.path]
            same = [file for file in others if file.now is None and file.data == tracked.data]
            return self._moved(same[:1] or others, tracked, later, is_same=bool(same))
        return self._elsewhere(commit, parent, tracked, later)

    def _snippet_before(self, tracked: _Tracked, data: bytes, later: Definition) -> bytes | None:
        """Return the text of a definition in an earlier version of its file, if certain."""
        lines = lines_of(tracked.data, tracked.text)
        if lines is None or b"\0" in data:
            return None
        if self._is_one_of_several(later):
            return None
        old = unix_lines(data)
        hunks = changed_lines(old, tracked.data)
        version = EarlierVersion(tracked.path, old.split(b"\n"), lines, hunks)
        earlier = earlier_definition(version, later, self._read_snippet)
        return self._remember(earlier) if earlier is not None else None

    def _elsewhere(
        self, commit: Commit, parent: Commit, tracked: _Tracked, later: Definition
    ) -> _Tracked | None:
        key = (self._repository.common_dir, commit.id, parent.id, tracked.path, tracked.text)
        if key not in _moves:
            changes = [
                change
                for change in tree_changes(self._repository, parent.id, commit.id)
                if change.old is not None
                and change.path != tracked.path
                and change.old.mode != GITLINK
            ]
            # If the file was renamed without a change, no other file need be checked.
            same = [change for change in changes if change.old and change.old.oid == tracked.blob]
            files = changed_files(self.walk, same[:1] or changes)
            moved = self._moved(files, tracked, later, is_same=bool(same))
            if len(_moves) >= _MOST_MOVES:
                _moves.clear()
            _moves[key] = moved._replace(data=b"") if moved is not None else None
        move = _moves[key]
        return move._replace(data=self.walk.blob(move.blob) or b"") if move is not None else None

    def _moved(
        self, files: Iterable[Origin], tracked: _Tracked, later: Definition, *, is_same: bool
    ) -> _Tracked | None:
        """Find a definition in changed files; `is_same`: the file is unchanged."""
        origins = origins_of(files, tracked.text, later)
        if len(origins) == 1 and holds(origins[0].data, tracked.text):
            # No other file had the identical text.
            moved = _Tracked(origins[0].path, origins[0].blob, tracked.text, origins[0].data)
            self._carry_over(moved, later)
            if is_same or self._by_own_text(moved) is not None:
                return moved
        new = self._definition(tracked) if origins else None
        if new is None:
            return None
        old = [self._definitions(origin.path, origin.data) for origin in origins]
        changed = [(origin.path, origin.now) for origin in origins if origin.now is not None]
        news = [new.file, *(self._definitions(*row) for row in changed)]
        definition = Matches(old, news).old_of.get(new)
        if definition is None:
            return None
        path = definition.file.path
        blob = next(origin.blob for origin in origins if origin.path == path)
        return _Tracked(path, blob, self._remember(definition), definition.file.data)

    def _carry_over(self, moved: _Tracked, later: Definition) -> None:
        """Reuse the parsed definition for another file that has it unchanged."""
        if _suffix(moved.path) != _suffix(later.file.path) or not self._contains_unchanged(
            moved.data, moved._replace(data=later.file.data)
        ):
            return
        file = FileDefinitions(later.file.text._replace(path=moved.path))
        self._by_text[moved.path, moved.text] = file.by_symbol[later.at]


def _suffix(path: bytes) -> bytes:
    return path.rpartition(b"/")[2].rpartition(b".")[2]
