"""Since when is a definition what it is: the commits that changed it, through renames and moves.

A version of a file in which the definition's text stands unchanged needs no parse; so a history
costs one look at each commit's trees, one search of bytes for each version of the file, and a parse
for each change of the definition. Merges are followed as `git log -L` does: to the one parent
that has the same text, else to all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from codelens.branches.definition_matcher import Matches
from codelens.branches.file_definitions import Definition, FileDefinitions, FileText
from codelens.branches.text_changes import ADDED, FORMATTING, change_of, text_changes
from codelens.scope.commits.commit_walk import Commit, CommitWalk
from codelens.scope.commits.tree_changes import EntryChange, tree_changes
from codelens.scope.repository import Repository
from codelens.types import CommitId

INSIDE, MERGED = "inside", "merged"
_MOST_CANDIDATES = 60
"""Files of one commit in which a definition that is not in its file is looked for."""

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


class DefinitionHistory:
    """Walks back from one definition.

    Args:
        repository: whose commits.
        read: gives the definitions of a text.
        first_parent: follow merges to their first parent alone.
    """

    def __init__(self, repository: Repository, read: ReadText, *, first_parent: bool) -> None:
        self._repository = repository
        self.walk = CommitWalk(repository)
        self._read = read
        self._first_parent = first_parent
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
        tracked = _Tracked(definition.file.path, b"", whole_text(definition), definition.file.data)
        self._files[definition.file.path, definition.file.data] = definition.file
        if start is None:
            yield Event(CommitId(""), (ADDED,), definition, None, 0)
            return
        if on_disk:
            before = self._before(None, start, tracked)
            if before is None or before.text != tracked.text:
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
        waiting: list[tuple[int, int, Commit, _Tracked]] = [(-start.time_s, 0, start, tracked)]
        seen: set[tuple[CommitId, bytes, bytes]] = set()
        commits: set[CommitId] = set()
        number = 0
        while waiting:
            _, _, commit, tracked = heapq.heappop(waiting)
            follow, event = self._step(commit, tracked)
            if event is not None and commit.id not in commits:
                commits.add(commit.id)
                yield event
            for parent, before in follow:
                key = (parent.id, before.path, before.text)
                if key not in seen:
                    seen.add(key)
                    number += 1
                    heapq.heappush(waiting, (-parent.time_s, number, parent, before))

    def _step(
        self, commit: Commit, tracked: _Tracked
    ) -> tuple[list[tuple[Commit, _Tracked]], Event | None]:
        """Where to go on from a commit, and what it did."""
        names = commit.parents[:1] if self._first_parent else commit.parents
        parents = [found for name in names if (found := self.walk.commit(name)) is not None]
        if len(parents) < len(names) or self.walk.is_cut(commit):
            self.ends["a parent is not in this clone (`git fetch --unshallow` fetches it)"] = None
        blobs = [self.walk.blob_at(parent, tracked.path) for parent in parents]
        for parent, blob in zip(parents, blobs, strict=True):
            if blob == tracked.blob:
                return [(parent, tracked)], None
        for parent, blob in zip(parents, blobs, strict=True):
            data = self.walk.blob(blob) if blob is not None else None
            if blob is not None and data is not None and holds(data, tracked.text):
                return [(parent, tracked._replace(blob=blob, data=data))], None
        before = [(parent, self._before(commit, parent, tracked)) for parent in parents]
        for parent, followed in before:
            if (
                followed is not None
                and followed.text == tracked.text
                and followed.path == tracked.path
            ):
                return [(parent, followed)], None
        follow = [(parent, found) for parent, found in before if found is not None]
        event = self._event(commit, tracked, follow[0][1] if follow else None)
        return follow, event

    def _event(
        self, commit: Commit | None, tracked: _Tracked, before: _Tracked | None
    ) -> Event | None:
        new = self._definition(tracked)
        if new is None:
            return None
        name = commit.id if commit is not None else CommitId("")
        time_s = commit.time_s if commit is not None else 0
        merged = (MERGED,) if commit is not None and len(commit.parents) > 1 else ()
        old = self._definition(before) if before is not None else None
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

    def _definition(self, tracked: _Tracked) -> Definition | None:
        file = self._definitions(tracked.path, tracked.data)
        size = tracked.text.count(b"\n") + 1
        for definition in file.definitions:
            stop, start = definition.symbol.end_line, definition.symbol.start_line - 1
            if (
                definition.inline
                or definition.stop - definition.start == size
                or stop - start == size
            ) and (whole_text(definition) == tracked.text):
                return definition
        return None

    def _definitions(self, path: bytes, data: bytes) -> FileDefinitions:
        key = (path, data)
        if key not in self._files:
            self._files[key] = FileDefinitions(self._read(path, data))
        return self._files[key]

    def _before(self, commit: Commit | None, parent: Commit, tracked: _Tracked) -> _Tracked | None:
        """The definition at the parent: in the same file, else in one that the commit changed."""
        new = self._definition(tracked)
        if new is None:
            return None
        blob = self.walk.blob_at(parent, tracked.path)
        data = self.walk.blob(blob) if blob is not None else None
        if blob is not None and data is not None:
            if holds(data, tracked.text):
                return tracked._replace(blob=blob, data=data)
            old = self._definitions(tracked.path, data)
            earlier = _same_name(old, new) or Matches([old], [new.file]).old_of.get(new)
            if earlier is not None:
                return _Tracked(tracked.path, blob, whole_text(earlier), data)
        return self._elsewhere(commit, parent, tracked, new) if commit is not None else None

    def _elsewhere(
        self, commit: Commit, parent: Commit, tracked: _Tracked, new: Definition
    ) -> _Tracked | None:
        changes = tree_changes(self._repository, parent.id, commit.id)
        name = new.name.encode("utf-8", "replace")
        texts: list[tuple[EntryChange, bytes]] = []
        for change in changes:
            if change.old is None or change.path == tracked.path or len(texts) >= _MOST_CANDIDATES:
                continue
            data = self.walk.blob(change.old.oid)
            if (
                data is None
                or (name not in data and change.new is not None)
                or b"\0" in data[:8000]
            ):
                continue
            texts.append((change, data))
        # Where its very text stood it came from there.
        texts = [row for row in texts if holds(row[1], tracked.text)] or texts
        old: list[FileDefinitions] = []
        news: list[FileDefinitions] = [new.file]
        blobs: dict[bytes, bytes] = {}
        for change, data in texts:
            assert change.old is not None
            old.append(self._definitions(change.path, data))
            blobs[change.path] = change.old.oid
            if change.new is not None:
                now = self.walk.blob(change.new.oid)
                if now is not None:
                    news.append(self._definitions(change.path, now))
        if not old:
            return None
        definition = Matches(old, news).old_of.get(new)
        if definition is None:
            return None
        path = definition.file.path
        return _Tracked(path, blobs[path], whole_text(definition), definition.file.data)


def _same_name(old: FileDefinitions, new: Definition) -> Definition | None:
    """The one definition of the same name in the same file: what the matcher would take."""
    name = new.symbol.qualified
    if sum(definition.symbol.qualified == name for definition in new.file.definitions) != 1:
        return None
    same = [definition for definition in old.definitions if definition.symbol.qualified == name]
    return same[0] if len(same) == 1 else None


def whole_text(symbol: Definition) -> bytes:
    """All lines of a definition, the comments above it included."""
    if symbol.inline:
        return b"\n".join(symbol.file.lines[symbol.symbol.start_line - 1 : symbol.symbol.end_line])
    return b"\n".join(symbol.file.lines[symbol.start : symbol.stop])


def holds(data: bytes, text: bytes) -> bool:
    """Whether a file has some lines as they are."""
    if text not in data:
        return b"\r\n" in data and holds(data.replace(b"\r\n", b"\n"), text)
    return b"\n" + text + b"\n" in b"\n" + data + b"\n"


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
    standing = _standing(walk, blob, list(texts), texts)
    commit_of.update(dict.fromkeys(texts.keys() - standing, CommitId("")))
    waiting = [(-start.time_s, 0, start, blob, standing)] if start is not None else []
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
            same = left if blobs[at] == blob else _standing(walk, blobs[at], left, texts)
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
    walk: CommitWalk, blob: bytes | None, ordinals: Collection[int], texts: dict[int, bytes]
) -> set[int]:
    data = walk.blob(blob) if blob is not None else None
    if data is None:
        return set()
    return {at for at in ordinals if holds(data, texts[at])}
