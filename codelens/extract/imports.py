"""Imports of a text, from the captures below each `@import`."""

from __future__ import annotations

from typing import NamedTuple

from codelens.extract.captures import Captures
from codelens.extract.source import Source
from codelens.types import Import

_ROLES = ("module", "name", "alias", "default", "namespace", "all")
_QUOTES = "\"'`<> \t\r\n"
DEFAULT = "default"
"""Imported name of a default export."""


class _Part(NamedTuple):
    start: int
    end: int
    role: str


def import_spans(captures: Captures) -> set[tuple[int, int]]:
    """Spans of the nodes that are imports as a whole."""
    return {(node.start_byte, node.end_byte) for node in captures.get("import", ())}


def imports_of(captures: Captures, spans: set[tuple[int, int]], source: Source) -> list[Import]:
    """Imports in order of the text; an import inside another one belongs to the outer."""
    if not spans:
        return []
    parts = sorted(
        {
            _Part(node.start_byte, node.end_byte, role)
            for role in _ROLES
            for node in captures.get(f"import.{role}", ())
        }
    )
    found: list[Import] = []
    at = reached = 0
    for start, minus_end in sorted((start, -end) for start, end in spans):
        if start < reached:
            continue
        reached = -minus_end
        while at < len(parts) and parts[at].start < start:
            at += 1
        first = at
        while at < len(parts) and parts[at].start < reached:
            at += 1
        found += _of_statement(parts[first:at], source)
    return found


def _of_statement(parts: list[_Part], source: Source) -> list[Import]:
    modules = [part for part in parts if part.role == "module"]
    if not modules:
        return []
    if len(modules) > 1:
        return _several_modules(parts, source)
    module = source.slice(modules[0].start, modules[0].end).strip(_QUOTES)
    found: list[Import] = []
    last_role = ""
    for part in parts:
        text = source.slice(part.start, part.end).strip(_QUOTES)
        line = source.line(part.start)
        if part.role == "name":
            found.append(Import(module, text, "", line))
        elif part.role == "all":
            found.append(Import(module, "*", "", line))
        elif part.role == "default":
            found.append(Import(module, DEFAULT, text, line))
        elif part.role == "alias" and last_role == "name":
            found[-1] = found[-1]._replace(alias=text if text != found[-1].name else "")
        elif part.role in {"alias", "namespace"}:
            found.append(Import(module, "", text if text != module else "", line))
        last_role = part.role
    return found or [Import(module, "", "", source.line(modules[0].start))]


def _several_modules(parts: list[_Part], source: Source) -> list[Import]:
    """`import a, b as c`: each binds itself."""
    found: list[Import] = []
    for part in parts:
        text = source.slice(part.start, part.end).strip(_QUOTES)
        if part.role == "module":
            found.append(Import(text, "", "", source.line(part.start)))
        elif part.role == "alias" and found:
            found[-1] = found[-1]._replace(alias=text)
    return found
