"""Small views as dicts, and the edges that the real extraction finds in their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.resolve.edges import Edges
from codelens.resolve.file_model import FileModel
from codelens.resolve.imports import Importer, settings_paths
from codelens.resolve.languages.registry import NAMED_BY_FILE, resolved_as
from codelens.resolve.view_files import View
from codelens.types import Symbol


def edges_of(
    files: Mapping[str, str],
    kind: str = "call",
    *,
    certain: bool = True,
    numbered: bool = False,
    lined: bool = False,
) -> list[str]:
    """Edges as `file:symbol -> file:symbol`, in order; without the file if it is the same.

    With `numbered`, the second definition of a name in its file ends in `~2`. With `lined`, a
    target is its bare name and line.
    """
    view = _view_of(files)

    def named(path: bytes, symbol: int) -> str:
        model = view.model(path)
        if symbol < 0:
            return "-"
        name = model.symbols[symbol].qualified
        same = [at for at, one in enumerate(model.symbols) if one.qualified == name]
        before = same.index(symbol)
        return f"{name}~{before + 1}" if before and numbered else name

    found: list[str] = []
    edges = Edges(view)
    for path in view.languages:
        for edge in edges.of_file(path):
            if edge.kind == kind and edge.is_certain is certain:
                model = view.model(edge.target)
                if lined and edge.target_symbol >= 0:
                    symbol = model.symbols[edge.target_symbol]
                    source = f"{path.decode()}:{named(path, edge.symbol)}"
                    found.append(f"{source} -> {symbol.name} {symbol.name_line}")
                    continue
                there = "" if edge.target == path else edge.target.decode() + ":"
                found.append(
                    f"{path.decode()}:{named(path, edge.symbol)} -> "
                    f"{there}{named(edge.target, edge.target_symbol)}"
                )
    return list(dict.fromkeys(found))


def called_in(files: Mapping[str, str], place: str) -> list[str]:
    """The qualified names that `file:symbol` calls, in order."""
    start = f"{place} -> "
    found = [one.removeprefix(start) for one in edges_of(files) if one.startswith(start)]
    return [one.rpartition(":")[2] for one in found]


MARK = re.compile(r"[ \t]*<<(\??)[ \t]*$", re.MULTILINE)
"""The end of a line that uses the definition; with a question mark, that may use it."""


def uses_in(files: Mapping[str, str], target: str) -> tuple[list[str], list[str]]:
    """The places (`file:line`) that use `file:symbol` by its edges, and those marked with `<<`.

    Both are in order. A `?` is at the end of a place that is not certain.
    """

    def is_target(path: bytes, symbol: Symbol) -> bool:
        return f"{path.decode()}:{symbol.qualified}" == target

    return _uses(files, is_target)


def uses_of_line(files: Mapping[str, str], target: str) -> tuple[list[str], list[str]]:
    """As `uses_in`, for the definition whose name is at `file:line`."""

    def is_target(path: bytes, symbol: Symbol) -> bool:
        return f"{path.decode()}:{symbol.name_line}" == target

    return _uses(files, is_target)


def _uses(
    files: Mapping[str, str], is_target: Callable[[bytes, Symbol], bool]
) -> tuple[list[str], list[str]]:
    expected = [
        f"{name}:{number}{mark[1]}"
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := MARK.search(line))
    ]
    view = _view_of({name: MARK.sub("", text) for name, text in files.items()})
    edges = Edges(view)
    found: dict[tuple[bytes, int], bool] = {}
    for path in view.languages:
        for edge in edges.of_file(path):
            model = view.model(edge.target)
            if edge.target_symbol < 0:
                continue
            if is_target(edge.target, model.symbols[edge.target_symbol]):
                place = path, edge.line
                found[place] = found.get(place, False) or edge.is_certain
    places = [f"{path.decode()}:{line}{'' if found[path, line] else '?'}" for path, line in found]
    return sorted(places), sorted(expected)


def _view_of(files: Mapping[str, str]) -> View:
    languages = {
        name.encode(): language_of(name.encode(), text.encode()) for name, text in files.items()
    }
    written = dict(languages)
    languages = {path: resolved_as(language) for path, language in languages.items()}
    settings = {one: files[one.decode()].encode() for one in settings_paths(languages)}

    def load(path: bytes) -> FileModel:
        facts = facts_of(files[path.decode()].encode(), written[path]).structure
        model = FileModel(
            languages[path],
            facts.symbols,
            facts.references,
            facts.imports,
            scopes=facts.scopes,
            bindings=facts.bindings,
        )
        return model.named_by(path) if path.endswith(NAMED_BY_FILE) else model

    return View(languages, load, Importer(languages, settings))
