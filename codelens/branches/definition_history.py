"""For each definition of a file the last commit that changed its text: blame by definition."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.definition_matcher import ADDED, FORMATTING, Matches, change_of, text_changes
from codelens.branches.earlier_snippets import (
    EarlierVersion,
    Origin,
    ReadSnippet,
    changed_files,
    earlier_definition,
    earlier_in_file,
    holds,
    lines_of,
    may_stem_from,
    origins_of,
    stands_in,
    stands_whole,
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
    """When a definition of a file was last changed."""

    definition: Definition
    commit: CommitId
    """Empty for an uncommitted change."""


def last_changes(walk: CommitWalk, file: FileDefinitions, head: CommitId) -> Iterator[LastChange]:
    """For each definition of a file the last commit that changed its text; moves are its changes.

    Args:
        walk: reads the commits.
        file: as it is now; may differ from what is at `head`.
        head: the commit to start from.
    """
    texts = {at: whole_text(definition) for at, definition in enumerate(file.definitions)}
    commit_of: dict[int, CommitId] = {}
    start = walk.commit(head) if head else None
    blob = walk.blob_at(start, file.path) if start is not None else None
    present = _standing(walk, blob, list(texts), texts, file)
    commit_of.update(dict.fromkeys(texts.keys() - present, CommitId("")))
    waiting = [(-start.time_s, 0, start, blob, present)] if start is not None else []
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
            same = left if blobs[at] == blob else _standing(walk, blobs[at], left, texts, file)
            if same:
                number += 1
                parent = parents[at]
                heapq.heappush(waiting, (-parent.time_s, number, parent, blobs[at], set(same)))
                left = left - same
        for at in left:
            commit_of.setdefault(at, commit.id)
    for at, tracked in enumerate(file.definitions):
        yield LastChange(tracked, commit_of.get(at, CommitId("")))


def _standing(
    walk: CommitWalk,
    blob: bytes | None,
    ordinals: Collection[int],
    texts: dict[int, bytes],
    file: FileDefinitions,
) -> set[int]:
    data = walk.blob(blob) if blob is not None else None
    if data is None:
        return set()
    return {at for at in ordinals if stands_whole(data, texts[at], file.data, file.language)}


# Since when is a definition what it is: the commits that changed it, through renames and moves.
#
# Only commits that changed the file are looked at, if git is there to name them. A version of it in
# which the definition's text stands unchanged needs no parse, and of one that changed it only the
# lines that became it are parsed, unless it was renamed or moved. Merges are followed as `git log
# -L` does: to the one parent that has the same text, else to all.

INSIDE, MERGED = "inside", "merged"
_MOST_MOVES = 1000

ReadText = Callable[[bytes, bytes], FileText]
"""A path and bytes -> the text with its definitions."""


class Event(NamedTuple):
    """One commit that changed a definition."""

    commit: CommitId
    """Empty for an uncommitted change."""
    how: tuple[str, ...]
    """As of a diff; `inside`: a definition inside it changed; `merged`: by a merge."""
    new: Definition
    old: Definition | None
    time_s: int


class _Tracked(NamedTuple):
    """A definition as it stands at a commit."""

    path: bytes
    blob: bytes
    text: bytes
    """Its whole lines."""
    data: bytes
    """A version of the file that has it: of this commit, or of a later one."""


_moves: dict[tuple[str, CommitId, CommitId, bytes, bytes], _Tracked | None] = {}
"""Where definitions were before commits that moved them; true for good, so kept between questions.

By repository, commit, parent, path and text; without the data."""


class _Step(NamedTuple):
    """Where a walk goes on: a commit, what is followed there, and who changed its file."""

    commit: Commit
    tracked: _Tracked
    history: PathHistory


class DefinitionHistory:
    """Walks back from one definition.

    Args:
        repository: whose commits.
        read: gives the definitions of a text.
        read_snippet: gives those of a part of a text.
        commits: names those that changed a file.
        uncommitted: gives the files that differ from those of the commit to start from.
        first_parent: follow merges to their first parent alone, as `commits` does.
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
        """By path and text: what was found in some version of the file, or parsed by itself."""
        self._language = ""
        self._several: set[tuple[bytes, str]] = set()
        """Paths and qualified names that several definitions had in some version."""
        self._files: dict[tuple[bytes, bytes], FileDefinitions] = {}
        self.ends: dict[str, None] = {}
        """Why history may go on beyond what is told."""

    def events(self, definition: Definition, head: CommitId, *, on_disk: bool) -> Iterator[Event]:
        """The changes, newest first.

        Args:
            definition: as it stands in the files or at `head`.
            head: the commit to start from.
            on_disk: `definition` may differ from what is at `head`.
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
                    wait(_Step(self._next_change(step, parent), before, step.history))
            if all(other.history is not step.history for _, _, other in waiting):
                step.history.close()
            for parent, before in moved:
                wait(self._on_path(parent, before))

    def _on_path(self, start: Commit, tracked: _Tracked) -> _Step:
        """The first commit from a start on that changed the file; the start where it is unknown."""
        history = self._commits.of(tracked.path, start.id)
        newest = history.newest()
        commit = self.walk.commit(newest) if newest is not None else None
        return _Step(commit or start, tracked, history)

    def _next_change(self, step: _Step, parent: Commit) -> Commit:
        """The next commit behind a parent that changed the file; the parent where it is unknown."""
        parents = step.commit.parents[:1] if self._first_parent else step.commit.parents
        changed = step.history.parents(step.commit.id, step.commit.time_s)
        if changed is None or len(changed) != len(parents):
            return parent
        return self.walk.commit(changed[parents.index(parent.id)]) or parent

    def _step(
        self, commit: Commit, tracked: _Tracked
    ) -> tuple[list[tuple[Commit, _Tracked]], Event | None]:
        """Where to go on from a commit, and what it did."""
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
            if blob is not None and data is not None and self._stands(data, tracked):
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

    def _stands(self, data: bytes, tracked: _Tracked) -> bool:
        """Whether a version of the followed file has the followed definition as it is."""
        return stands_whole(data, tracked.text, tracked.data, self._language)

    def _event(
        self, commit: Commit | None, tracked: _Tracked, before: _Tracked | None
    ) -> Event | None:
        new = self._known(tracked)
        if new is None:
            return None
        name = commit.id if commit is not None else CommitId("")
        time_s = commit.time_s if commit is not None else 0
        merged = (MERGED,) if commit is not None and len(commit.parents) > 1 else ()
        old = self._known(before) if before is not None else None
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

    def _known(self, tracked: _Tracked) -> Definition | None:
        """A definition, as far as its own text and name go."""
        definition = self._by_text.get((tracked.path, tracked.text))
        if definition is None or self._is_one_of_several(definition):
            return self._definition(tracked)
        span = lines_of(tracked.data, tracked.text)
        # An owner that was renamed leaves the text of its members as it was.
        if span is None or not stands_in(tracked.data.split(b"\n"), span[0] - 1, definition.owner):
            return self._definition(tracked)
        return definition

    def _remember(self, definition: Definition) -> bytes:
        """Keep a definition for the versions of its file that have it unchanged; its lines."""
        text = whole_text(definition)
        self._by_text[definition.file.path, text] = definition
        return text

    def _is_one_of_several(self, definition: Definition) -> bool:
        return (definition.file.path, definition.symbol.qualified) in self._several

    def _definition(self, tracked: _Tracked) -> Definition | None:
        """A definition among the others of its file."""
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
        """The definition at the parent: in the same file, else in one that the commit changed."""
        blob = self.walk.blob_at(parent, tracked.path)
        data = self.walk.blob(blob) if blob is not None else None
        if blob is not None and data is not None and self._stands(data, tracked):
            return tracked._replace(blob=blob, data=data)
        later = self._known(tracked)
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
        """The text that a definition had in an earlier version of its file, if that is sure."""
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
            # A file that was renamed as it is needs no look at any other.
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
        """Where a definition was, among files that changed; `is_same`: the file as it is."""
        origins = origins_of(files, tracked.text, later)
        if len(origins) == 1 and holds(origins[0].data, tracked.text):
            # Its very text stood there, and there alone.
            moved = _Tracked(origins[0].path, origins[0].blob, tracked.text, origins[0].data)
            self._carry_over(moved, later)
            if is_same or self._known(moved) is not None:
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
        """Spare the parse of another file that has a definition just as it is."""
        if _suffix(moved.path) != _suffix(later.file.path) or not self._stands(
            moved.data, moved._replace(data=later.file.data)
        ):
            return
        file = FileDefinitions(later.file.text._replace(path=moved.path))
        self._by_text[moved.path, moved.text] = file.by_symbol[later.at]


def _suffix(path: bytes) -> bytes:
    return path.rpartition(b"/")[2].rpartition(b".")[2]
