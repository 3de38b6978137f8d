"""Maps files to their tests, and finds the test files that a runner executes, by name alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from codelens.resolve.path_tree import folder_of, name_of, stem_of

# `test_x`, `x_test`, `x.test`, `x.spec`, `x_spec`, `XTest`, `XTests`, `TestX`, `XSpec`.
_BEFORE = re.compile(rb"^(?:tests?[_.-]|Tests?(?=[A-Z]))")
_AFTER = re.compile(
    rb"(?:[_.-](?:tests?|specs?|unit|unittests?|e2e)"
    rb"|(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|Suite|IT))+$"
)
_FACELESS = frozenset({b"__init__", b"index", b"mod", b"lib", b"main", b"__main__"})
_FOLDERS = frozenset({b"test", b"tests", b"__tests__", b"spec", b"specs"})
_NAMED_TEST = frozenset({b"test", b"tests", b"spec", b"specs"})
_CAPITAL = re.compile(rb"^Tests?[A-Z]|(?:Tests?|TestCase|Specs?|Suite|IT)$")
_SCRIPT = re.compile(rb"[._-](?:tests?|specs?|e2e|cy)$")
# The stems that each language's test runner collects. pytest: `test_*.py`, `*_test.py`; unittest:
# `test*.py`; RSpec: `*_spec.rb`; minitest: `test_*.rb`, `*_test.rb`; `go help test`: `*_test.go`;
# PHPUnit: `*Test.php`; ExUnit: `*_test.exs`.
_RUN = {
    b"py": re.compile(rb"^tests?(?:[_.-]|\d*$)|[_-]tests?$|Tests?$|^Test[A-Z]"),
    b"go": re.compile(rb"_test$"),
    b"rb": re.compile(rb"_(?:spec|test)$|^test_"),
    b"php": re.compile(rb"Test$"),
    b"exs": re.compile(rb"_test$"),
    b"dart": re.compile(rb"_test$"),
    **dict.fromkeys((b"java", b"kt", b"scala", b"cs", b"groovy", b"swift"), _CAPITAL),
    **dict.fromkeys((b"js", b"jsx", b"ts", b"tsx", b"mjs", b"cjs", b"mts", b"cts"), _SCRIPT),
}
_NEVER = frozenset({b"conftest.py", b"__init__.py", b"spec_helper.rb", b"rails_helper.rb"})
_LOOSE = frozenset(
    {b"js", b"jsx", b"ts", b"tsx", b"mjs", b"cjs", b"java", b"kt", b"scala", b"cs", b"swift"}
)
"""File extensions whose test runners can be configured to accept any name."""

_ANY_NAME = frozenset(
    b"c h cc cpp cxx hpp hh hxx m mm rs sh bash bats fish zsh ps1 lua pl pm t r jl hs ml mli clj "
    b"cljs cljc erl ex zig nim d vb fs fsx el lisp rkt scm cr tcl f90 sol v vala vue svelte pyi "
    b"pyx feature robot sql ipynb http nix raku coffee hx gd adb".split()
)
"""Extensions of code files, and of test languages, without a fixed naming convention."""


def is_shipped(path: bytes) -> bool:
    """Whether a file is part of the shipped library, even if named like a test: a gem's `lib`."""
    folders = folder_of(path).split(b"/")
    return path.endswith(b".rb") and b"lib" in folders and not _FOLDERS & set(folders)


def runs(path: bytes) -> bool:
    """Whether the test runner of the language collects a test file by its name."""
    name = name_of(path)
    if name in _NEVER:
        return False
    stem, end = stem_of(path), name.rpartition(b".")[2]
    if end == b"rs":
        # Cargo's book uses `tests/common/mod.rs` for a module that tests share.
        return name != b"mod.rs"
    pattern = _RUN.get(end)
    return end in _ANY_NAME if pattern is None else bool(pattern.search(stem))


def to_run(tests: Sequence[bytes]) -> set[bytes]:
    """Return the test files that a runner executes, without helper files.

    If no file of a language follows the naming convention, all of them count.
    """
    named = {path for path in tests if runs(path)}
    called = {path.rpartition(b".")[2] for path in named}
    loose = {
        path for path in tests if (end := path.rpartition(b".")[2]) in _LOOSE and end not in called
    }
    return named | loose


def bare_name(name: bytes) -> bytes:
    """Return a name without its test marker; empty if nothing else remains."""
    bare = _AFTER.sub(b"", _BEFORE.sub(b"", name, count=1), count=1)
    return b"" if bare.lower() in _NAMED_TEST else bare


def subject_of(path: bytes) -> bytes:
    """Return the name of what a test file tests; empty if the file name does not say it."""
    stem = stem_of(path)
    if name_of(path) in _NEVER:
        return b""
    if stem.lower() in _NAMED_TEST:
        # `admin_utils/tests.py`: the folder names the tested code.
        return bare_name(name_of(folder_of(path)))
    bare = bare_name(stem)
    if bare != stem:
        return bare
    # `test/router.js`, `__tests__/router.ts`: the folder marks the file as a test.
    return stem if _FOLDERS & set(folder_of(path).split(b"/")) and stem not in _FACELESS else b""


_FAMILIES = (
    frozenset({b"js", b"jsx", b"ts", b"tsx", b"mjs", b"cjs", b"mts", b"cts", b"vue", b"svelte"}),
    frozenset({b"java", b"kt", b"scala", b"groovy"}),
    frozenset({b"c", b"h", b"cc", b"cpp", b"cxx", b"hpp", b"hh", b"hxx", b"m", b"mm"}),
    frozenset({b"py", b"pyi", b"pyx"}),
    frozenset({b"ex", b"exs"}),
)


def in_one_family(language: bytes, other: bytes) -> bool:
    """Whether two file extensions belong to one family of languages."""
    return language == other or any(language in family and other in family for family in _FAMILIES)


def face_of(path: bytes) -> bytes:
    """Return the name that identifies a file: its stem, or its folder's name for a generic stem."""
    stem = stem_of(path)
    return name_of(folder_of(path)) if stem in _FACELESS else stem


def key_of_name(name: bytes) -> bytes:
    """Return a key that is equal for names that differ only in case and separators."""
    return name.replace(b"_", b"").replace(b"-", b"").lower()


# Which test files are named after a file, by the similarity of their whole paths.
#
# A test is named after the last parts of a path: `test_text.py` for `utils/text.py`, and so are
# `test_utils_text.py` and `utils_text/tests.py`. If several files have such a path, the test
# belongs to those that share most of its folders: `tests/utils_tests/test_text.py` belongs to
# `utils/text.py`, not to `forms/text.py`.

_PARTS_JOINED = 3
"""The most parts of a path that one test name may join."""
_GENERAL = frozenset(
    b"test tests spec specs src source sources lib libs main java kotlin scala groovy python js ts "
    b"unit integration functional e2e app apps pkg packages include".split()
)
"""The keys of generic folder names."""


class NamedTests:
    """The names of tests in one state of a view.

    Args:
        tests: the test files.
        files: all files.
    """

    def __init__(self, tests: Sequence[bytes], files: Iterable[bytes]) -> None:
        self._words_of: dict[bytes, list[bytes]] = {}
        self._best_of: dict[tuple[bytes, bytes], int] = {}
        self._tests: dict[bytes, list[bytes]] = {}
        for test in tests:
            subject = key_of_name(subject_of(test))
            if subject:
                self._tests.setdefault(subject, []).append(test)
        test_set = frozenset(tests)
        self._sources: dict[bytes, list[bytes]] = {}
        for path in files:
            if path not in test_set:
                for key in _keys(path):
                    if key in self._tests:
                        self._sources.setdefault(key, []).append(path)

    def of(self, path: bytes) -> list[bytes]:
        """Return the test files named after a file; those that share most folders come first."""
        likeness_of: dict[bytes, int] = {}
        for key in _keys(path):
            for test in self._tests.get(key, ()):
                if test != path and test not in likeness_of and _in_one_family(path, test):
                    likeness = self._likeness(path, test)
                    if likeness >= self._best(key, test):
                        likeness_of[test] = likeness
        return sorted(likeness_of, key=lambda test: (-likeness_of[test], test))

    def _best(self, key: bytes, test: bytes) -> int:
        """Return the similarity of the file that a test is named after."""
        best = self._best_of.get((key, test))
        if best is None:
            rivals = (path for path in self._sources.get(key, ()) if _in_one_family(path, test))
            best = max((self._likeness(rival, test) for rival in rivals), default=0)
            self._best_of[key, test] = best
        return best

    def _likeness(self, path: bytes, test: bytes) -> int:
        """Return how many folders of a test also occur, in order, in the path of a file."""
        return _common(self._words(folder_of(path)), self._words(folder_of(test)))

    def _words(self, folder: bytes) -> list[bytes]:
        words = self._words_of.get(folder)
        if words is None:
            keys = (key_of_name(bare_name(part)) for part in folder.split(b"/"))
            words = [word for word in keys if word and word not in _GENERAL]
            self._words_of[folder] = words
        return words


def _keys(path: bytes) -> Iterator[bytes]:
    """Yield the possible test names of a file: its stem, alone and after its folders' names."""
    joined = key_of_name(face_of(path))
    if not joined:
        return
    yield joined
    parts = folder_of(path).split(b"/")
    for part in reversed(parts[-_PARTS_JOINED + 1 :]):
        joined = key_of_name(part) + joined
        yield joined


def _in_one_family(path: bytes, test: bytes) -> bool:
    return in_one_family(path.rpartition(b".")[2], test.rpartition(b".")[2])


def _common(words: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in words:
        before = 0
        for at, there in enumerate(other, 1):
            above = row[at]
            row[at] = before + 1 if word == there else max(row[at], row[at - 1])
            before = above
    return row[-1]
