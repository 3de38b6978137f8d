"""For each definition of a file the last commit that changed its text: blame by definition."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from typing import NamedTuple

from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.branches.history.standing_text import stands_whole, whole_text
from codelens.scope.commits.commit_walk import CommitWalk
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
