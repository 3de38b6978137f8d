"""Derives from Kotlin's folders which source sets see each other; finds packages in any folder."""

from __future__ import annotations

import re
from functools import lru_cache

from codelens.resolve.file_model import NO_FACTS
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.path_tree import folder_of, shared_folders
from codelens.resolve.view_files import MANY, View

# Source sets of Kotlin Multiplatform, and which of them see each other.
#
# The names are those of the default hierarchy (kotlinlang.org, "Hierarchical project structure");
# `nonX` is a common name for all platforms except X. A set with another name counts as visible.

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
"""Platform -> its parent group of platforms."""
_TARGET = re.compile(
    rb"(android(?!Native)|androidNative|ios|macos|tvos|watchos|linux|mingw)[A-Z]\w*"
)


@lru_cache(maxsize=100_000)
def sees(path: bytes, other: bytes) -> bool:
    """Whether code in a file can use definitions of another file, by their source sets."""
    here, there = _SET.search(path), _SET.search(other)
    if here is None or there is None:
        return True
    if there[2] == b"Test" and here[2] == b"Main":
        return False
    own, source_set = here[1], there[1]
    if source_set in {own, _COMMON}:
        return True
    if own == _COMMON:
        return False
    groups = _groups(own)
    if source_set.startswith(b"non") and source_set[3:4].isupper():
        return source_set[3:4].lower() + source_set[4:] not in groups
    return source_set in groups or not (groups and _groups(source_set))


def _groups(name: bytes) -> tuple[bytes, ...]:
    """Return a platform and its groups; empty for an unknown name."""
    names: list[bytes] = []
    target = _TARGET.fullmatch(name)
    if target is not None:
        names.append(name)
        name = target[1]
    while name in _WITHIN:
        names.append(name)
        name = _WITHIN[name]
    return tuple(names)


def in_other_folders(view: View, path: bytes, package: str, name: str) -> list[Referent]:
    """Return a package's definitions in Kotlin files whose folder is not named after the package.

    Kotlin's conventions leave the common root of all packages out. Of definitions that replace
    each other (an `actual` for each platform, copies in projects), the nearest one counts.
    """
    paths = view.defined_in(name, "kotlin") if package else ()
    folder = b"/" + package.replace(".", "/").encode()
    by_form: dict[str, list[tuple[int, bool, Referent]]] = {}
    for file in () if paths == MANY else paths:
        model = view.model(file) if sees(path, file) else NO_FACTS
        if model.package != package:
            continue
        if (b"/" + folder_of(file)).endswith(folder):
            continue
        for at in model.tops:
            symbol = model.symbols[at]
            if symbol.name == name:
                words = symbol.signature.partition(name)[0].split()
                rank = (shared_folders(path, file), "actual" not in words)
                form = symbol.signature.partition(name)[2]
                by_form.setdefault(form, []).append((*rank, Referent(file, at, 0, name)))
    return [
        referent
        for alike in by_form.values()
        for *rank, referent in alike
        if rank == max(each_rank for *each_rank, _ in alike)
    ]
