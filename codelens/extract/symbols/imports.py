"""Reads the imports of a text from the captures below each `@import`."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import Import

_ROLES = ("module", "name", "alias", "default", "namespace", "all", "key", "value", "self", "late")
_QUOTES = "\"'` \t\r\n"
DEFAULT = "default"
"""The imported name of a default export."""


_Part = tuple[int, int, str]
"""Start, end, role."""


def import_spans(captures: Captures, info: LanguageInfo, source: Source) -> set[tuple[int, int]]:
    """Returns the spans of whole import statements.

    A call (`@import.call`) is an import if it calls one of the language's `import_calls`.
    """
    spans = {(node.start_byte, node.end_byte) for node in captures.get("import", ())}
    for node in captures.get("import.exported", ()):
        if _exported_name(node, info, source):
            spans.add((node.start_byte, node.end_byte))
    calls = captures.get("import.call")
    if not calls:
        return spans
    call_names = info.import_calls
    callees = {
        node.start_byte: name in call_names
        for node, name in zip(calls, source.texts(calls), strict=True)
    }
    starts = sorted(callees)
    import_call_spans: set[tuple[int, int]] = set()
    for start, end in spans:
        at = bisect_left(starts, start)
        if at == len(starts) or starts[at] >= end or callees[starts[at]]:
            import_call_spans.add((start, end))
    return import_call_spans


def imports_of(
    captures: Captures, info: LanguageInfo, spans: set[tuple[int, int]], source: Source
) -> list[Import]:
    """Returns the imports in text order. An import inside another one belongs to the outer one."""
    if not spans:
        return []
    reach = {
        (node.start_byte, node.end_byte): node.parent.end_byte if node.parent else node.end_byte
        for node in captures.get("import.prefix", ())
    }
    parts = sorted(
        {
            (node.start_byte, node.end_byte, role)
            for role in (*_ROLES, "prefix")
            for node in captures.get(f"import.{role}", ())
        }
    )
    statements = _Statements(info, source, reach)
    imports: list[Import] = []
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
        imports += statements.read(parts[first:at])
    return imports


def exported_again(
    captures: Captures, info: LanguageInfo, imports: list[Import], source: Source
) -> dict[tuple[int, int], Import]:
    """Returns the imports that a CommonJS module exports by another statement, by its span.

    `const { b } = require("./b")` and `exports.a = b` export `b` of `./b` as `a`.
    """
    nodes = captures.get("import.again", ())
    local = {imported.alias or imported.name: imported for imported in imports} if nodes else {}
    again: dict[tuple[int, int], Import] = {}
    for node in nodes:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        text = source.slice(value.start_byte, value.end_byte) if value is not None else ""
        head, _, member = text.partition(".")
        imported = local.get(head)
        if imported is None or (member and imported.name):
            continue
        name, exported = imported.name or member, _exported_name(node, info, source)
        if exported:
            alias = exported if exported != name else ""
            line = source.line(node.start_byte)
            again[node.start_byte, node.end_byte] = Import(imported.module, name, alias, line)
    return again


def _exported_name(node: Node, info: LanguageInfo, source: Source) -> str:
    """Returns the name that a key of `exports`, or an assignment to it, exports; empty if none."""
    key = node.child_by_field_name("key")
    around = node.parent.parent if key is not None and node.parent is not None else node
    left = around.child_by_field_name("left") if around is not None else None
    if left is None or not info.exporting:
        return ""
    target = source.slice(left.start_byte, left.end_byte)
    match = re.match(info.exporting, target)
    rest = target[match.end() :] if match is not None else ""
    if match is None or bool(rest) is (key is not None):
        return ""
    return source.slice(key.start_byte, key.end_byte) if key is not None else rest.lstrip(".")


class _Statements:
    """Reads import statements one after another."""

    def __init__(
        self, info: LanguageInfo, source: Source, reach: dict[tuple[int, int], int]
    ) -> None:
        self._source = source
        self._reach = reach
        self._separator = info.import_separator
        self._words = info.words
        self._splits = info.imports_split
        self._noise = re.compile(info.import_noise) if info.import_noise else None
        self._keys = [(role, re.compile(regex)) for role, regex in info.import_keys]

    def read(self, parts: list[_Part]) -> list[Import]:
        """Returns the imports of one statement."""
        if self._keys:
            parts = self._by_keys(parts)
        if any(role == "prefix" for _, _, role in parts):
            return self._tree(parts)
        parts = self._whole_modules(parts)
        modules = [at for at, part in enumerate(parts) if part[2] == "module"]
        if not modules:
            return []
        if [role for _, _, role in parts] == ["alias", "module", "name"]:
            parts = [*parts[1:], parts[0]]
            modules = [0]
        if modules[0] > 0:
            return self._from_one_module(parts) if len(modules) == 1 else self._bare(parts)
        edges = [*modules, len(parts)]
        pairs = pairwise(edges)
        return [
            imported for begin, end in pairs for imported in self._from_one_module(parts[begin:end])
        ]

    def _whole_modules(self, parts: list[_Part]) -> list[_Part]:
        """Joins the pieces of each module: `a` `.` `b`."""
        joined: list[_Part] = []
        for part in parts:
            start, end, role = part
            last = joined[-1] if joined else (0, 0, "")
            between = self._source.text[last[1] : start]
            if role == last[2] == "module" and between.strip() == b".":
                joined[-1] = last[0], end, role
            else:
                joined.append(part)
        return joined

    def _by_keys(self, parts: list[_Part]) -> list[_Part]:
        """Returns values in the roles given by the keys before them: `:refer [a b] :as c`."""
        values: list[_Part] = []
        role = "name"
        for start, end, key_text in parts:
            text = self._source.slice(start, end)
            if key_text == "key":
                role = self._role(text, "none")
            elif key_text == "value":
                value_role = "all" if self._role(text, role) == "all" else role
                if value_role != "none":
                    values.append((start, end, value_role))
            else:
                role = "name" if key_text == "module" else role
                values.append((start, end, key_text))
        return values

    def _role(self, text: str, unknown: str) -> str:
        return next((role for role, regex in self._keys if regex.fullmatch(text)), unknown)

    def _from_one_module(self, parts: list[_Part]) -> list[Import]:
        """Returns the imports from one module."""
        modules = [part for part in parts if part[2] == "module"]
        module = self._text(modules[0])
        imports: list[Import] = []
        last_role = ""
        for part in parts:
            start, _, role = part
            if role != "module":
                text = self._text(part)
                if role == "alias" and last_role == "name":
                    imports[-1] = imports[-1]._replace(
                        alias=text if text != imports[-1].name else ""
                    )
                else:
                    names = text.split() if self._words and role == "name" else [text]
                    line = self._source.line(start)
                    imports += [Import(module, *_bound(role, name), line) for name in names]
            last_role = role
        imports = imports or [Import(module, "", "", self._source.line(modules[0][0]))]
        return [self._split(imported) for imported in imports] if self._splits else imports

    def _split(self, imported: Import) -> Import:
        """Splits a module that is bound as a whole: `a.b.C` imports C of `a.b`."""
        module, dot, name = imported.module.rpartition(".")
        return imported if imported.name or not dot else imported._replace(module=module, name=name)

    def _bare(self, parts: list[_Part]) -> list[Import]:
        """Returns the modules of a statement in which each module binds its own name."""
        imports: list[Import] = []
        for part in parts:
            if part[2] == "module":
                imports.append(Import(self._text(part), "", "", self._source.line(part[0])))
            elif part[2] == "alias" and imports:
                imports[-1] = imports[-1]._replace(alias=self._text(part))
        return imports

    def _text(self, part: _Part) -> str:
        text = self._source.slice(part[0], part[1])
        if self._noise is not None:
            text = self._noise.sub("", text)
        text = text.strip(_QUOTES)
        return text[1:-1] if text[:1] == "<" and text[-1:] == ">" else text

    def _tree(self, parts: list[_Part]) -> list[Import]:
        """Returns names with prefixes, which apply within their brackets: `use a::{b, c::d}`."""
        imports: list[Import] = []
        prefixes: list[_Part] = []
        for part in parts:
            start, _, role = part
            while prefixes and self._reach[prefixes[-1][:2]] <= start:
                prefixes.pop()
            if role == "prefix":
                prefixes.append(part)
                continue
            module = self._separator.join(map(self._text, prefixes))
            line = self._source.line(start)
            text = self._text(part)
            if role == "alias" and imports:
                imports[-1] = imports[-1]._replace(alias=text)
            elif role in {"name", "all"} and module:
                imports.append(Import(module, "*" if role == "all" else text, "", line))
            elif role in {"name", "module"}:
                imports.append(Import(text, "", "", line))
            elif role == "self":
                imports.append(Import(module, "", "", line))
        return imports


def _bound(role: str, text: str) -> tuple[str, str]:
    """Returns the imported name and the local name."""
    if role == "name":
        return text, ""
    if role == "all":
        return "*", ""
    if role == "late":
        # The statement binds no name; the call is an expression whose value is the module.
        return "", f"'{text}'"
    return (DEFAULT if role == "default" else ""), text
