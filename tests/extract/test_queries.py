"""Every query uses the vocabulary, and only the reliable features of tree-sitter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from extract.rendering import fixture_sources
from tree_sitter import QueryCursor

from codelens.extract.file_kinds import decode
from codelens.extract.flow import bindings, references, scopes
from codelens.extract.language_settings import FOLDER, languages
from codelens.extract.parse.captures import captures_of, parse
from codelens.extract.parse.grammars import grammar
from codelens.extract.symbols import capture_events, imports
from codelens.types import SymbolKind

PARSED = [info.name for info in languages() if info.grammar]
KNOWN = {
    *"extent scope comment import import.call import.prefix opaque reparsed body.after".split(),
    *"form form.keyword form.part section.auto section.mark type.parameter".split(),
    *"embedded embedded.language embedded.skip embedded.cell".split(),
    *(f"embedded.{info.name}" for info in languages()),
    *"reference.call.joined reference.member export.list export.every export.closed".split(),
    *capture_events.MARK_RANKS,
    *(f"section.{level}" for level in range(1, 10)),
    *(f"definition.{kind}" for kind in get_args(SymbolKind)),
    *(f"name.{kind}" for kind in get_args(SymbolKind)),
    *(f"import.{role}" for role in imports._ROLES),
    *"import.again import.exported".split(),
    *(f"reference.{kind}" for kind in references.KINDS),
    *(capture for capture, _ in references.BOUND),
    *(f"scope.{kind}" for kind in scopes.SCOPES),
    *(f"bind.{how}" for how in bindings.HOWS),
    *"bind chain protocol protocol.pointer protocol.pointer.far receiver".split(),
    *"reference.open.call reference.sent".split(),
    *"argument.named call.arguments call.initial call.open call.sending call.setter".split(),
    *"reference.key reference.key.case reference.key.short reference.macro".split(),
    *"reference.late reference.listed reference.taken reference.variable".split(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSED)
def test_a_query_compiles_and_uses_known_captures_alone(name: str) -> None:
    assert set(grammar(name).captures) <= KNOWN


def test_every_kind_of_symbol_has_its_place_in_the_precedence() -> None:
    assert set(capture_events.PRECEDENCE) == set(get_args(SymbolKind))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.scm")), ids=lambda path: path.name)
def test_no_query_has_predicates(path: Path) -> None:
    # Predicates raise or crash the process on text that is not UTF-8 (tree-sitter 0.26.1).
    assert not re.search(r"^[^;]*\(#", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "source",
    [path for path in fixture_sources() if path.parent.name in PARSED],
    ids=lambda path: path.name,
)
def test_captures_are_those_of_whole_matches(source: Path) -> None:
    # After some alternations tree-sitter emits a capture before its pattern has matched.
    rules = grammar(source.parent.name)
    root = parse(decode(source.read_bytes()), rules).root_node
    matched: dict[str, set[tuple[int, int]]] = {}
    for _, match in QueryCursor(rules.query).matches(root):
        for capture, nodes in match.items():
            matched.setdefault(capture, set()).update(node.byte_range for node in nodes)
    captured = {
        capture: {node.byte_range for node in nodes}
        for capture, nodes in captures_of(root, rules).items()
    }
    assert captured == matched
