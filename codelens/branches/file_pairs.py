"""Which file of one side is which of the other: by path, by equal bytes, by likeness."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from codelens.branches.file_definitions import FileDefinitions, squeezed
from codelens.scope.commits.file_similarity import RENAMED, line_weights, similarity

_CANDIDATES = 12
_COMMON_LINE = 20
"""A line that more files have tells none of them."""


class FilePair(NamedTuple):
    """A file on both sides."""

    old: FileDefinitions
    new: FileDefinitions


def paired_files(
    old: Sequence[FileDefinitions], new: Sequence[FileDefinitions], staged: Mapping[bytes, bytes]
) -> list[FilePair]:
    """Pairs of files: those of one path, then of equal bytes, then at least half alike.

    A new file is first compared as git's index has it (`staged`, by path): git follows a rename in
    two steps, from the commit to the index and from there to the disk.
    """
    by_path = {file.path: file for file in new}
    pairs = [FilePair(file, by_path[file.path]) for file in old if file.path in by_path]
    here = {pair.old.path for pair in pairs}
    gone = [file for file in old if file.path not in here]
    come = [file for file in new if file.path not in here]
    if gone and come:
        for pairing in (_same_bytes, partial(_alike_files, staged=staged), _alike_files):
            pairs += pairing(gone, come)
            taken = {file.path for pair in pairs for file in pair}
            gone = [file for file in gone if file.path not in taken]
            come = [file for file in come if file.path not in taken]
    return sorted(pairs, key=lambda pair: pair.new.path)


def _same_bytes(gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions]) -> list[FilePair]:
    waiting: dict[bytes, list[FileDefinitions]] = defaultdict(list)
    for file in come:
        if file.text.key and file.data.strip():
            waiting[file.text.key].append(file)
    file_pairs: list[FilePair] = []
    for file in gone:
        same = waiting.get(file.text.key, [])
        if same:
            named = [other for other in same if _base(other.path) == _base(file.path)]
            chosen = (named or same)[0]
            same.remove(chosen)
            file_pairs.append(FilePair(file, chosen))
    return file_pairs


def _alike_files(
    gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions],
    staged: Mapping[bytes, bytes] | None = None,
) -> list[FilePair]:  # fmt: skip
    if staged is not None:
        come = [file for file in come if file.path in staged]
    file_pairs: list[FilePair] = []
    done_old: set[bytes] = set()
    done_new: set[bytes] = set()
    for *_, at, place in sorted(_scored_files(gone, come, staged or {})):
        file, other = gone[at], come[place]
        if file.path not in done_old and other.path not in done_new:
            done_old.add(file.path)
            done_new.add(other.path)
            file_pairs.append(FilePair(file, other))
    return file_pairs


def _scored_files(
    gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions], staged: Mapping[bytes, bytes]
) -> Iterator[tuple[float, bool, int, int]]:
    """Pairs that are alike enough, to be sorted: the best first."""
    weights = [
        _weights(staged[file.path].splitlines() if file.path in staged else file.lines)
        for file in come
    ]
    holding: dict[bytes, list[int]] = defaultdict(list)
    for number, lines in enumerate(weights):
        for line in lines:
            holding[line].append(number)
    for at, file in enumerate(gone):
        mine = _weights(file.lines)
        votes: Counter[int] = Counter()
        for line, weight in mine.items():
            places = holding.get(line, ())
            if len(places) <= _COMMON_LINE:
                votes.update(dict.fromkeys(places, weight))
        for place, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:_CANDIDATES]:
            score = similarity(mine, weights[place])
            if score >= RENAMED:
                yield -score, _base(file.path) != _base(come[place].path), at, place


def _weights(lines: Iterable[bytes]) -> Counter[bytes]:
    """Bytes by line, blanks aside."""
    bare = map(squeezed, lines)
    return line_weights(line for line in bare if line)


def _base(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]
