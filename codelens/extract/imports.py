"""Imports of a text, from the captures below each `@import`."""

from __future__ import annotations

from bisect import bisect_left

from codelens.extract.captures import Captures
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.types import Import

_ROLES = ("module", "name", "alias", "default", "namespace", "all")
_QUOTES = "\"'`<> \t\r\n"
DEFAULT = "default"
"""Imported name of a default export."""


_Part = tuple[int, int, str]
"""Start, end, role."""


def import_spans(captures: Captures, info: LanguageInfo, source: Source) -> set[tuple[int, int]]:
    """Spans of the nodes that are imports as a whole.

    One that is a call (`@import.call`) is an import if it calls one of the language's
    `import_calls`.
    """
    spans = {(node.start_byte, node.end_byte) for node in captures.get("import", ())}
    calls = captures.get("import.call")
    if not calls:
        return spans
    wanted = info.import_calls
    callees = {
        node.start_byte: name in wanted
        for node, name in zip(calls, source.texts(calls), strict=True)
    }
    starts = sorted(callees)
    found: set[tuple[int, int]] = set()
    for start, end in spans:
        at = bisect_left(starts, start)
        if at == len(starts) or starts[at] >= end or callees[starts[at]]:
            found.add((start, end))
    return found


def imports_of(captures: Captures, spans: set[tuple[int, int]], source: Source) -> list[Import]:
    """Imports in order of the text; an import inside another one belongs to the outer."""
    if not spans:
        return []
    parts = sorted(
        {
            (node.start_byte, node.end_byte, role)
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
        while at < len(parts) and parts[at][0] < start:
            at += 1
        first = at
        while at < len(parts) and parts[at][0] < reached:
            at += 1
        found += _of_statement(parts[first:at], source)
    return found


def _of_statement(parts: list[_Part], source: Source) -> list[Import]:
    modules = [part for part in parts if part[2] == "module"]
    if not modules:
        return []
    if len(modules) > 1:
        return _several_modules(parts, source)
    module = source.slice(*modules[0][:2]).strip(_QUOTES)
    found: list[Import] = []
    last_role = ""
    for start, end, role in parts:
        if role != "module":
            text = source.slice(start, end).strip(_QUOTES)
            if role == "alias" and last_role == "name":
                found[-1] = found[-1]._replace(alias=text if text != found[-1].name else "")
            else:
                found.append(Import(module, *_bound(role, text), source.line(start)))
        last_role = role
    return found or [Import(module, "", "", source.line(modules[0][0]))]


def _bound(role: str, text: str) -> tuple[str, str]:
    """Imported name and local name."""
    if role == "name":
        return text, ""
    if role == "all":
        return "*", ""
    return (DEFAULT if role == "default" else ""), text


def _several_modules(parts: list[_Part], source: Source) -> list[Import]:
    """`import a, b as c`: each binds itself."""
    found: list[Import] = []
    for start, end, role in parts:
        text = source.slice(start, end).strip(_QUOTES)
        if role == "module":
            found.append(Import(text, "", "", source.line(start)))
        elif role == "alias" and found:
            found[-1] = found[-1]._replace(alias=text)
    return found
