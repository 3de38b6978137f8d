"""Facts of flow read back from their blob unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranking_index import Store

from codelens.extract.facts import facts_of
from codelens.store.facts import contents
from codelens.store.facts.resolution_facts import Places, packed, surface, unpacked
from codelens.types import Binding, Reference, Scope, Structure

SCOPES = (Scope(-1, -1, "module"), Scope(0, 3, "function"))
BINDINGS = (Binding(1, "one", "=", "two()", 7),)


@pytest.mark.parametrize("arguments", [-2, -1, 0, 1, 250])
def test_references_keep_receiver_scope_and_arguments(arguments: int) -> None:
    references_in = (
        Reference("run", "call", 3, 4, 0, "self.job", 1, arguments),
        Reference("é\udcff", "name", 9, 0, -1),
    )
    bare = Places(*zip(*(one[:5] for one in references_in), strict=True))
    scopes, bindings, references = unpacked(
        packed(Structure((), references_in, (), (), SCOPES, BINDINGS)), bare
    )
    assert (tuple(scopes), tuple(bindings), tuple(references)) == (SCOPES, BINDINGS, references_in)


def test_facts_for_the_resolver_are_stored_whole(tmp_path: Path) -> None:
    text = "export class A { static go(n: number): A { return this.at(n) } }\nA.go(1)\n"
    snapshot = Store(tmp_path / "index.db").view({"a.ts": text})
    (content,) = snapshot.by_content
    found = facts_of(text.encode(), "typescript").structure
    stored = contents.flowing(snapshot.db, [content])[content]
    assert stored.symbols == [one._replace(doc="") for one in found.symbols]
    assert list(stored.references) == list(found.references)
    assert stored.bindings == list(found.bindings)
    assert stored.scopes == list(found.scopes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A { void f(int a) {} }", "class A { void f(int a, int b) {} }"),
        ("class A { void f(int a) {} }", "class A { void f(String a) {} }"),
        ("class A { int f() { return 1; } }", "class A { static int f() { return 1; } }"),
    ],
)
def test_a_signature_is_seen_by_others(before: str, after: str) -> None:
    one, other = (facts_of(text.encode(), "java").structure for text in (before, after))
    assert surface(one) != surface(other)


def test_a_body_is_not_seen_by_others() -> None:
    texts = ("class A { int f() { return 1; } }", "class A { int f() { g(); return 1; } }")
    one, other = (facts_of(text.encode(), "java").structure for text in texts)
    assert surface(one) == surface(other)
