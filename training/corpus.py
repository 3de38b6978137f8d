"""Selects the training texts of a package: permissively licensed code, up to a limit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Set
from typing import NamedTuple

from codelens.extract.file_kinds import classify, decode
from codelens.extract.language_detection import language_of
from training.archives import Package

MOST_FILES, MOST_BYTES = 220, 1_000_000
"""Limits for one package: variety comes from many packages, not from large ones."""
_ASIDE = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third[_-]?party|3rdparty|node_modules|extern|external|deps|"
    r"dist|bundled|generated|gen|__generated__|debian|po|locale)(/|$)|\.min\.|\.d\.ts$|\.pb\.|_pb2",
    re.IGNORECASE,
)
LANGUAGES = frozenset(
    "python javascript typescript tsx go java csharp php ruby rust c cpp kotlin elixir scala swift "
    "haskell lua objc objective-c zig bash ocaml erlang groovy dart perl r nim crystal tcl clojure "
    "julia vue svelte jsx fsharp elm d v fortran".split()
)


class SourceText(NamedTuple):
    """One file to extract pairs from."""

    path: str
    language: str
    text: bytes


def texts_of(package: Package, left_out: Set[str]) -> tuple[list[SourceText], set[str]]:
    """The selected texts of a package, ordered by a hash of the path, and their licences.

    Args:
        package: opened.
        left_out: paths that are copies of files in repositories that judge the ranking.
    """
    taken: list[SourceText] = []
    licences: set[str] = set()
    size = 0
    for path in sorted(package.files, key=_shuffled):
        if len(taken) >= MOST_FILES or size >= MOST_BYTES:
            break
        if path in left_out or _ASIDE.search(path):
            continue
        licence = package.judge(path)
        data = package.files[path]
        if not licence:
            continue
        language = language_of(path.encode("utf-8", "surrogatepass"), data[:4096])
        if language not in LANGUAGES:
            continue
        outcome, generated = classify(data)
        if outcome != "parsed" or generated:
            continue
        taken.append(SourceText(path, language, decode(data)))
        licences.add(licence)
        size += len(data)
    return taken, licences


def _shuffled(path: str) -> bytes:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
