"""Recognises definitions of which the view has a newer version (`v1/` and `v2/`, `legacy/`).

Versions are siblings: the part of the path that names the version differs (`api/v1beta1/x.go`,
`api/v1/x.go`; `rtm/client.py`, `rtm/v2/client.py`; `web/legacy_client.py`, `web/client.py`). A
file or definition is superseded only if a newer sibling that is also considered for the query
defines the same name: the same qualified name if more of the path differs. So what only an old
version has loses nothing. Stable versions are newer than previews, then the number decides, as in
Kubernetes ("version priority").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import Defined, Query
from codelens.store.facts.ranking_reads import Definition
from codelens.store.views.views import FileRow

_VERSION = re.compile(
    r"""(?ix) (?<![a-z0-9]) v(?:ersion)?[-_\ ]? (\d{1,4}) ((?:[._]\d{1,4})*)
    (?:p(\d+))? (?:(alpha|beta|rc)(\d*))? (?![a-z0-9])"""
)
_OUTDATED = re.compile(r"(?i)(?<![a-z0-9])(?:old|legacy|deprecated|compat|obsolete)(?![a-z0-9])")
_PREVIEW = re.compile(r"(?i)(?<![a-z0-9])(?:alpha|beta|experimental)(?![a-z0-9])")
_STAGES = {"alpha": 1, "beta": 2, "rc": 3, "": 4}

Rank = tuple[int, ...]
"""The stage of a version (outdated, preview, stable), then its numbers: greater is newer."""
_UNMARKED: Rank = (_STAGES[""], 1)
"""What has no version is the first one."""
Name = tuple[str, str]
"""The name of a definition after that of its owner."""


class Mark(NamedTuple):
    """A part of a path that names a version."""

    before: str
    """The path before the part."""
    rest: str
    """The part without the version."""
    rank: Rank
    text: str
    """The version as written."""

    @property
    def is_aside(self) -> bool:
        """Whether the part says only that the code is outdated or a preview, without a number."""
        return len(self.rank) == 1


class Siblings(NamedTuple):
    """The versions in one path."""

    path: str
    marks: tuple[Mark, ...]
    key: str
    """The path without them."""

    def is_older_than(self, other: Siblings) -> bool:
        """Whether the other path is a newer version of this one or of a folder around it."""
        if self.key == other.key:
            return self._ranks(other) < other._ranks(self)
        for mine, theirs in zip(self.marks, other.marks, strict=False):
            if (mine.before, mine.rest) != (theirs.before, theirs.rest):
                break
            if mine.rank != theirs.rank:
                return mine.rank < theirs.rank
        aside = next((mark for mark in self.marks if mark.is_aside), None)
        return (
            aside is not None
            and other.path.startswith(aside.before)
            and not any(mark.is_aside for mark in other.marks)
        )

    def _ranks(self, other: Siblings) -> list[Rank]:
        ranks = [mark.rank for mark in self.marks]
        return ranks + [_UNMARKED] * (len(other.marks) - len(ranks))


@lru_cache(maxsize=20_000)
def siblings_of(path: bytes) -> Siblings:
    """Return the versions that a path names."""
    text = path.decode("utf-8", "replace")
    *folders, name = text.split("/")
    stem, dot, extension = name.rpartition(".")
    parts = [*folders, stem or name]
    marks: list[Mark] = []
    unversioned: list[str] = []
    before = ""
    for part in parts:
        mark = _mark(before, part)
        if mark is not None:
            marks.append(mark)
        rest = part if mark is None else mark.rest
        unversioned += [rest] if rest else []
        before += part + "/"
    return Siblings(text, tuple(marks), "/".join(unversioned) + (dot + extension if stem else ""))


def _mark(before: str, part: str) -> Mark | None:
    for pattern in (_OUTDATED, _VERSION, _PREVIEW):
        match = pattern.search(part)
        if match is not None:
            rest = (part[: match.start()] + part[match.end() :]).strip("-_. ")
            return Mark(before, rest, _rank(match), match[0].lower())
    return None


def _rank(match: re.Match[str]) -> Rank:
    if match.re is _OUTDATED:
        return (0,)
    if match.re is _PREVIEW:
        return (1,)
    numbers = [int(number) for number in re.findall(r"\d+", match[1] + match[2])]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    preview = [int(match[3] or 0), int(match[5] or 0)] if match[4] else []
    return (_STAGES[(match[4] or "").lower()], *numbers, *preview)


class _Likeness(Protocol):
    @property
    def best(self) -> float:
        """The greatest similarity of a name to the query."""
        ...

    @property
    def cosines(self) -> Sequence[float]:
        """The similarity of each definition."""
        ...


class Considered(Protocol):
    """A file that is considered for a query (`codelens.rank.scoring.definition_features`)."""

    @property
    def file(self) -> FileRow:
        """The file."""
        ...

    @property
    def definitions(self) -> Sequence[Definition]:
        """Its definitions, if they are known."""
        ...

    @property
    def defined(self) -> Sequence[Defined]:
        """Those that the query names."""
        ...

    @property
    def symbols(self) -> _Likeness:
        """How much their names are like the query."""
        ...


class Versions:
    """The files considered for a query, compared by version."""

    def __init__(self, candidates: Iterable[Considered], query: Query) -> None:
        every = [(candidate, siblings_of(candidate.file.path)) for candidate in candidates]
        self._all = every if any(siblings.marks for _, siblings in every) else []
        """Empty if no path names a version."""
        self._asked = _versions_asked(query) if self._all else []

    def superseded_files(self) -> frozenset[int]:
        """Return the path ids of files that a newer version answers as well.

        That is, what the query names in the file, or else its definitions with names most like the
        query, are defined in a newer sibling, too.
        """
        answering: dict[str, list[tuple[Siblings, Name]]] = defaultdict(list)
        rows = [
            (candidate.file.path_id, siblings, name)
            for candidate, siblings in self._all
            for name in _answers(candidate)
        ]
        for _, siblings, name in rows:
            answering[name[1]].append((siblings, name))
        return frozenset(
            number
            for number, siblings, name in rows
            if any(
                (siblings.key == other.key or name == same) and self._is_older(siblings, other)
                for other, same in answering[name[1]]
            )
        )

    def superseded_definitions(self, candidate: Considered) -> frozenset[int]:
        """Return the positions of the definitions of a file that have a newer version."""
        siblings = siblings_of(candidate.file.path)
        names: set[Name] = set()
        bare: set[str] = set()
        for newer, other in self._all:
            if not self._is_older(siblings, other):
                continue
            if siblings.key == other.key:
                bare.update(definition.name for definition in newer.definitions)
            else:
                names.update(_qualified(newer.definitions))
        if not names and not bare:
            return frozenset()
        return frozenset(
            at
            for at, name in enumerate(_qualified(candidate.definitions))
            if name in names or name[1] in bare
        )

    def _is_older(self, siblings: Siblings, other: Siblings) -> bool:
        """Whether the other file is newer; a version that the query asks for counts as newest."""
        if self._is_asked(siblings):
            return False
        return siblings.is_older_than(other) or (
            self._is_asked(other) and other.is_older_than(siblings)
        )

    def _is_asked(self, siblings: Siblings) -> bool:
        return any(
            _is_version_of(version, mark) for version in self._asked for mark in siblings.marks
        )


def _versions_asked(query: Query) -> list[Mark]:
    """Return the versions that the query names."""
    return [
        Mark("", "", _rank(match), match[0].lower())
        for pattern in (_OUTDATED, _VERSION, _PREVIEW)
        for match in pattern.finditer(query.text)
    ]


def _is_version_of(version: Mark, mark: Mark) -> bool:
    """Whether a version that a query names is that of a path; `v2` is also `v2_0`."""
    if version.is_aside or mark.is_aside:
        return version.text == mark.text
    return mark.rank[: len(version.rank)] == version.rank


def _answers(candidate: Considered) -> frozenset[Name]:
    """Return the names for which a file is likely to answer."""
    definitions = candidate.definitions
    if candidate.defined:
        return frozenset(_name(definitions, defined.symbol) for defined in candidate.defined)
    match = candidate.symbols
    if match.best < ranking_weights.SYMBOL_COSINE:
        return frozenset()
    return frozenset(
        _name(definitions, definitions[at])
        for at, cosine in enumerate(match.cosines)
        if cosine == match.best
    )


def _name(definitions: Sequence[Definition], symbol: Definition) -> Name:
    owner = definitions[symbol.parent].name if 0 <= symbol.parent < len(definitions) else ""
    return owner, symbol.name


def _qualified(definitions: Sequence[Definition]) -> list[Name]:
    return [_name(definitions, symbol) for symbol in definitions]
