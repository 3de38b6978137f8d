"""Small views as dicts, and the edges of their texts by the real extraction."""

from __future__ import annotations

from collections.abc import Mapping

from codelens.extract.detect import language_of
from codelens.extract.facts import facts_of
from codelens.resolve.edges import Edges
from codelens.resolve.importer import Importer, settings_paths
from codelens.resolve.model import FileModel
from codelens.resolve.view import View


def edges_of(files: Mapping[str, str], kind: str = "call") -> list[str]:
    """Edges as `file:symbol -> file:symbol`, in order; without the file where it is the same."""
    languages = {
        name.encode(): language_of(name.encode(), text.encode()) for name, text in files.items()
    }
    settings = {one: files[one.decode()].encode() for one in settings_paths(languages)}

    def load(path: bytes) -> FileModel:
        facts = facts_of(files[path.decode()].encode(), languages[path]).structure
        return FileModel(
            languages[path],
            facts.symbols,
            facts.references,
            facts.imports,
            facts.scopes,
            facts.bindings,
        )

    view = View(languages, load, Importer(languages, settings))

    def named(path: bytes, symbol: int) -> str:
        model = view.model(path)
        return model.symbols[symbol].qualified if model and symbol >= 0 else "-"

    found: list[str] = []
    edges = Edges(view)
    for path in languages:
        for edge in edges.of_file(path):
            if edge.kind == kind:
                there = "" if edge.target == path else edge.target.decode() + ":"
                found.append(
                    f"{path.decode()}:{named(path, edge.symbol)} -> "
                    f"{there}{named(edge.target, edge.target_symbol)}"
                )
    return list(dict.fromkeys(found))
