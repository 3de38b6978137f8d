"""The pairs of all packages as sparse rows over one vocabulary."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from training import archives
from training.corpus import texts_of
from training.pairs import KINDS, MOST_OF_A_KIND, Pair, pairs_of

Matrix = Any
"""A sparse matrix by rows; scipy's stubs do not type its operators."""


class Harvest(NamedTuple):
    """The pairs of one package; terms are indexes into its own `terms`."""

    terms: list[str]
    query: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Row starts, terms, counts."""
    code: tuple[np.ndarray, np.ndarray, np.ndarray]
    named: np.ndarray
    """Whether the term is in the definition's name, for each entry of `code`."""
    kinds: np.ndarray
    files: int
    licences: list[str]
    size: int


def harvest(archive: Path, registry: str, left_out: Set[str]) -> Harvest:
    """The pairs of one package."""
    texts, licences = texts_of(archives.open_package(archive, registry), left_out)
    seen: Counter[int] = Counter()
    chosen: list[Pair] = []
    for text in texts:
        for pair in pairs_of(text):
            seen[pair.kind] += 1
            if seen[pair.kind] <= MOST_OF_A_KIND[KINDS[pair.kind]]:
                chosen.append(pair)
    numbers: dict[str, int] = {}
    query = _rows((pair.query for pair in chosen), numbers)
    code = _rows((pair.code for pair in chosen), numbers)
    named = np.array([term in pair.name for pair in chosen for term in pair.code], dtype=bool)
    kinds = np.array([pair.kind for pair in chosen], dtype=np.int8)
    size = sum(len(text.text) for text in texts)
    return Harvest(list(numbers), query, code, named, kinds, len(texts), sorted(licences), size)


def _rows(
    rows: Iterable[dict[str, int]], numbers: dict[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts, terms, counts = [0], [], []
    for row in rows:
        for term, times in row.items():
            terms.append(numbers.setdefault(term, len(numbers)))
            counts.append(min(times, 255))
        starts.append(len(terms))
    return np.array(starts, np.int64), np.array(terms, np.int32), np.array(counts, np.uint8)


class PairSet(NamedTuple):
    """Pairs of many packages over one vocabulary; values are log(1 + count)."""

    query: Matrix
    code: Matrix
    named: np.ndarray
    kinds: np.ndarray
    package: np.ndarray
    """Index of the package of each pair."""


def vocabulary(harvests: list[Harvest], size: int, least_packages: int) -> list[str]:
    """The terms in the most packages, then in the most pairs; ties by the term."""
    packages: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    for one in harvests:
        counted = np.bincount(one.query[1], minlength=len(one.terms))
        counted += np.bincount(one.code[1], minlength=len(one.terms))
        for term, times in zip(one.terms, counted.tolist(), strict=True):
            packages[term] += 1
            rows[term] += times
    common = [term for term, times in packages.items() if times >= least_packages]
    common.sort(key=lambda term: (-packages[term] * rows[term] ** 0.5, term))
    return sorted(common[:size])


def joined(harvests: list[Harvest], terms: list[str]) -> PairSet:
    """The pairs of all packages over `terms`; pairs without any of them on one side are dropped."""
    number = {term: at for at, term in enumerate(terms)}
    queries, codes, nameds, kinds, packages = [], [], [], [], []
    for at, one in enumerate(harvests):
        if not len(one.kinds):
            continue
        own = np.array([number.get(term, -1) for term in one.terms], np.int32)
        query, _ = _matrix(one.query, own, None, len(terms))
        code, named = _matrix(one.code, own, one.named, len(terms))
        queries.append(query)
        codes.append(code)
        nameds.append(named)
        kinds.append(one.kinds)
        packages.append(np.full(len(one.kinds), at, np.int32))
    return PairSet(
        sparse.vstack(queries, format="csr"), sparse.vstack(codes, format="csr"),
        np.concatenate(nameds), np.concatenate(kinds), np.concatenate(packages),
    )  # fmt: skip


def _matrix(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    own: np.ndarray,
    named: np.ndarray | None,
    width: int,
) -> tuple[Matrix, np.ndarray]:
    starts, terms, counts = rows
    columns = own[terms]
    keep = columns >= 0
    row_ends = np.concatenate([[0], np.cumsum(keep)])
    matrix = sparse.csr_matrix(
        (np.log1p(counts[keep].astype(np.float32)), columns[keep], row_ends[starts]),
        shape=(len(starts) - 1, width),
    )
    return matrix, named[keep] if named is not None else np.zeros(0, bool)


def is_held_out(name: str) -> bool:
    """Whether a package is held out for evaluation: about one in sixteen."""
    return hashlib.sha256(name.encode()).digest()[0] < 16
