"""Source sets of Kotlin Multiplatform: what files of one can see of another.

The names are those of the default hierarchy (kotlinlang.org, "Hierarchical project structure");
`nonX` is a common name for all platforms but X. Of a set with another name nothing is known, and so
it is seen.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SET = re.compile(rb"(?:^|/)src/([a-z]\w*?)(Main|Test)/")
_COMMON = b"common"
_WITHIN = {
    b"android": b"",
    b"jvm": b"",
    b"js": b"web",
    b"wasmJs": b"web",
    b"web": b"",
    b"wasm": b"",
    b"wasmWasi": b"wasm",
    b"native": b"",
    b"apple": b"native",
    b"linux": b"native",
    b"mingw": b"native",
    b"unix": b"native",
    b"androidNative": b"native",
    b"ios": b"apple",
    b"macos": b"apple",
    b"tvos": b"apple",
    b"watchos": b"apple",
}
"""Platform -> the group of platforms that it is part of."""
_TARGET = re.compile(
    rb"(android(?!Native)|androidNative|ios|macos|tvos|watchos|linux|mingw)[A-Z]\w*"
)


@lru_cache(maxsize=100_000)
def sees(path: bytes, other: bytes) -> bool:
    """Whether code of a file can use what another file defines, by their source sets."""
    mine, theirs = _SET.search(path), _SET.search(other)
    if mine is None or theirs is None:
        return True
    if theirs[2] == b"Test" and mine[2] == b"Main":
        return False
    own, source_set = mine[1], theirs[1]
    if source_set in {own, _COMMON}:
        return True
    if own == _COMMON:
        return False
    groups = _groups(own)
    if source_set.startswith(b"non") and source_set[3:4].isupper():
        return source_set[3:4].lower() + source_set[4:] not in groups
    return source_set in groups or not (groups and _groups(source_set))


def _groups(name: bytes) -> tuple[bytes, ...]:
    """A platform and the groups it is part of; empty for a name that says nothing."""
    names: list[bytes] = []
    target = _TARGET.fullmatch(name)
    if target is not None:
        names.append(name)
        name = target[1]
    while name in _WITHIN:
        names.append(name)
        name = _WITHIN[name]
    return tuple(names)
