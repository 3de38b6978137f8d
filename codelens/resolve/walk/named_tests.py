"""Which test files are named for a file, by the likeness of their whole paths.

A test is named for the last parts of a path: `test_text.py` for `utils/text.py`, and so are
`test_utils_text.py` and `utils_text/tests.py`. Where several files have such a path, it is named
for those that have most of its folders: `tests/utils_tests/test_text.py` for `utils/text.py`, and
not for `forms/text.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.walk.test_conventions import (
    are_kindred,
    bare_name,
    face_of,
    key_of_name,
    subject_of,
)

_PARTS_JOINED = 3
"""Parts of a path that the name of one test may join."""
_GENERAL = frozenset(
    b"test tests spec specs src source sources lib libs main java kotlin scala groovy python js ts "
    b"unit integration functional e2e app apps pkg packages include".split()
)
"""Folders that say nothing of what is in them; their keys."""


class NamedTests:
    """The names of tests in one state of a view.

    Args:
        tests: the files of tests.
        files: all files.
    """

    def __init__(self, tests: Sequence[bytes], files: Iterable[bytes]) -> None:
        self._tests: dict[bytes, list[bytes]] = {}
        for test in tests:
            subject = key_of_name(subject_of(test))
            if subject:
                self._tests.setdefault(subject, []).append(test)
        known = frozenset(tests)
        self._sources: dict[bytes, list[bytes]] = {}
        for path in files:
            if path not in known:
                for key in _keys(path):
                    if key in self._tests:
                        self._sources.setdefault(key, []).append(path)

    def of(self, path: bytes) -> list[bytes]:
        """The test files that are named for a file; those with the most of its folders first."""
        likeness_of: dict[bytes, int] = {}
        for key in _keys(path):
            for test in self._tests.get(key, ()):
                if test != path and test not in likeness_of and _is_kindred(path, test):
                    likeness = _likeness(path, test)
                    if likeness >= self._best(key, test):
                        likeness_of[test] = likeness
        return sorted(likeness_of, key=lambda test: (-likeness_of[test], test))

    def _best(self, key: bytes, test: bytes) -> int:
        """The likeness of the file that a test is named for."""
        rivals = (source for source in self._sources.get(key, ()) if _is_kindred(source, test))
        return max((_likeness(rival, test) for rival in rivals), default=0)


def _keys(path: bytes) -> Iterator[bytes]:
    """What a test of a file may be called: its name, and that behind its folders' names."""
    joined = key_of_name(face_of(path))
    if not joined:
        return
    yield joined
    parts = folder_of(path).split(b"/")
    for part in reversed(parts[-_PARTS_JOINED + 1 :]):
        joined = key_of_name(part) + joined
        yield joined


def _is_kindred(path: bytes, test: bytes) -> bool:
    return are_kindred(path.rpartition(b".")[2], test.rpartition(b".")[2])


def _likeness(path: bytes, test: bytes) -> int:
    """How many folders of a test, in order, are those of a file."""
    return _common(_words(path), _words(test))


def _words(path: bytes) -> list[bytes]:
    keys = (key_of_name(bare_name(part)) for part in folder_of(path).split(b"/"))
    return [word for word in keys if word and word not in _GENERAL]


def _common(words: Sequence[bytes], other: Sequence[bytes]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in words:
        before = 0
        for at, there in enumerate(other, 1):
            above = row[at]
            row[at] = before + 1 if word == there else max(row[at], row[at - 1])
            before = above
    return row[-1]
