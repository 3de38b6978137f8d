"""Which tests belong to a file by their names alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codelens.resolve.tree import folder_of, name_of

# `test_x`, `x_test`, `x.test`, `x.spec`, `x_spec`, `XTest`, `XTests`, `TestX`, `XSpec`.
_BEFORE = re.compile(rb"^(?:tests?[_.-]|Tests?(?=[A-Z]))")
_AFTER = re.compile(rb"(?:[_.-](?:tests?|specs?|unit|e2e)|(?<=[a-z0-9])(?:Tests?|Specs?|IT))+$")
_FACELESS = frozenset({b"__init__", b"index", b"mod", b"lib", b"main", b"__main__"})


def subject_of(path: bytes) -> bytes:
    """What a test file is named for; empty if its name does not say."""
    stem = _stem(path)
    bare = _AFTER.sub(b"", _BEFORE.sub(b"", stem, count=1), count=1)
    return bare if bare != stem else b""


def named_for(path: bytes, tests: Iterable[bytes]) -> list[bytes]:
    """Test files whose name says that they test a file; nearest folders first."""
    name = _key(_face(path))
    if not name:
        return []
    found = [one for one in tests if one != path and _key(subject_of(one)) == name]
    here = set(folder_of(path).split(b"/"))

    def far(one: bytes) -> tuple[int, bytes]:
        return (-len(here & set(folder_of(one).split(b"/"))), one)

    return sorted(found, key=far)


def _face(path: bytes) -> bytes:
    stem = _stem(path)
    return name_of(folder_of(path)) if stem in _FACELESS else stem


def _stem(path: bytes) -> bytes:
    name = name_of(path)
    dot = name.rfind(b".")
    return name[:dot] if dot > 0 else name


def _key(name: bytes) -> bytes:
    return name.replace(b"_", b"").replace(b"-", b"").lower()
