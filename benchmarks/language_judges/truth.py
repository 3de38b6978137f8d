"""Recall of the definitions that a type checker found, by kind."""

from __future__ import annotations

import argparse
import collections
import json
import lzma
from pathlib import Path
from typing import NamedTuple

from codelens.extract.language_detection import language_of
from language_judges.definitions import Text, bare, codelens_symbols

_COUNTED = ("class", "function", "method", "interface", "type", "enum", "namespace")
"""Kinds whose recall counts; the others are only shown."""


class Definition(NamedTuple):
    path: str
    line: int
    name: str
    kind: str


def run(args: argparse.Namespace) -> None:
    """Prints recall per repository and kind, and some of the missing definitions.

    Raises:
        SystemExit: a repository has no edges, or its files are not those that were judged.
    """
    print("| repository | kind | definitions | recall |\n|---|---|---|---|")
    missing: list[str] = []
    for repository in args.repositories:
        edges = args.edges / f"{repository.resolve().name}.jsonl.xz"
        if not edges.is_file():
            raise SystemExit(f"no {edges}")
        missing += _one(repository, definitions(edges))
    print(f"\nmissing: {len(missing)}")
    for line in missing[: args.misses or None]:
        print("  " + line)


def definitions(edges: Path) -> set[Definition]:
    """Targets of edges, and the definitions that contain edges (of kind `source`)."""
    targets: set[Definition] = set()
    sources: set[Definition] = set()
    with lzma.open(edges, "rt", encoding="utf-8") as file:
        for line in file:
            edge = json.loads(line)
            if edge["dst_kind"] != "module":
                targets.add(_definition(edge, "dst", edge["dst_kind"]))
            if edge["src_line"]:
                sources.add(_definition(edge, "src", "source"))
    known = {one[:3] for one in targets}
    return targets | {one for one in sources if one[:3] not in known}


def _definition(edge: dict, side: str, kind: str) -> Definition:
    return Definition(edge[f"{side}_file"], edge[f"{side}_line"], edge[f"{side}_symbol"], kind)


def _one(repository: Path, wanted: set[Definition]) -> list[str]:
    names: dict[str, set[tuple[int, str]]] = {}
    totals: collections.Counter[str] = collections.Counter()
    found: collections.Counter[str] = collections.Counter()
    missing: list[str] = []
    for one in sorted(wanted):
        if one.path not in names:
            names[one.path] = _names(repository, one.path)
        totals[one.kind] += 1
        # The checker names a nameless default export (`default` in codelens) after its re-exports.
        if not {(one.line, bare(one.name)), (one.line, "default")}.isdisjoint(names[one.path]):
            found[one.kind] += 1
        elif one.kind in (*_COUNTED, "source"):
            missing.append(f"{repository.name}/{one.path}:{one.line} {one.kind} {one.name}")
    counted = [kind for kind in _COUNTED if totals[kind]]
    all_found, all_there = (sum(table[kind] for kind in counted) for table in (found, totals))
    _row(repository, "all of the counted", all_found, all_there)
    for kind in (*counted, *sorted(totals.keys() - set(counted))):
        shown = kind if kind in _COUNTED else f"({kind})"
        _row(repository, shown, found[kind], totals[kind])
    return missing


def _row(repository: Path, kind: str, found: int, there: int) -> None:
    print(f"| {repository.name} | {kind} | {there:,} | {found / max(1, there):.3f} |")


def _names(repository: Path, path: str) -> set[tuple[int, str]]:
    file = repository / path
    if not file.is_file():
        raise SystemExit(f"{file} is not there: another commit than the one judged?")
    data = file.read_bytes()
    language = language_of(path.encode(), data)
    _, symbols = codelens_symbols(Text(path, data), language)
    return {(one.name_line, bare(one.name)) for one in symbols}
