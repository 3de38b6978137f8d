"""Texts of definitions read back unchanged, for any names and texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.store.database.database_opening import open_index
from codelens.store.facts import contents, ranking_reads, resolution_facts, vocabulary
from codelens.types import ContentHash, Facts, Structure, Symbol

NAMES = ["plain", "snake_case", "__init__", "_", "=", "operator==", "größe", "x-y", "$jq", "a.b"]


def symbol(name: str, at: int, around: str = "", signature: str = "") -> Symbol:
    return Symbol(
        name, f"{around}{name}", "function", signature or f"def {name}()", f"Doc {at}.",
        at % 2 == 0, at + 1, at + 3, at + 2, 10 * at, 10 * at + 7, at - 1,
    )  # fmt: skip


@pytest.mark.parametrize("around", ["", "Outer.", "=.", "a=b."])
def test_definitions_come_back_as_they_were(tmp_path: Path, around: str) -> None:
    symbols = [symbol(name, at, around) for at, name in enumerate(NAMES)]
    symbols.append(symbol("other", len(symbols), "")._replace(qualified="elsewhere"))
    db = open_index(tmp_path / "index.db")
    facts = resolution_facts.pack_facts(
        Facts("parsed", Structure(tuple(symbols), (), (), ()), 99, False, {}, ())
    )
    with db.write(None):
        key = ContentHash(b"h" * 16), "python"
        doc = contents.insert(db, key, 1, contents.TIER_FULL, size_bytes=99, facts=facts)
    assert contents.symbols_of(db, [doc.content]) == {doc.content: symbols}
    for at, one in enumerate(symbols):
        own = resolution_facts.key_of(one.name)
        assert (doc.content, at, one) in contents.symbols_named(db, own)
        assert own in vocabulary.keys_from(db, own[:1], 1, 99, [own])
        assert ranking_reads.signature(db, doc.content, at) == one.signature
        shown = ranking_reads.shown(db, doc.content, at)
        assert shown is not None
        assert (shown.qualified, shown.signature, shown.doc) == (
            one.qualified,
            one.signature,
            one.doc,
        )


@pytest.mark.parametrize(
    "signature", ["def f()", "no name of it", "", "f f f", "\1f", "\2f", "a\1b\2 f", "naïve f → x"]
)
def test_texts_come_back_from_any_block(signature: str) -> None:
    texts = [("f", signature, f"doc {at}") for at in range(2 * contents.BLOCK + 3)]
    rows = [(7, number, data) for number, data in contents.packed_texts(texts)]
    assert len(rows) == 3
    blocks = contents.Blocks(rows)
    for at in (0, 1, contents.BLOCK - 1, contents.BLOCK, len(texts) - 1):
        assert blocks.texts(7, at, "f") == (signature, f"doc {at}")


def test_a_nul_of_a_foreign_pack_moves_no_other_text() -> None:
    ((number, data),) = contents.packed_texts([("f", "a\0b", "c\0"), ("g", "def g()", "doc")])
    blocks = contents.Blocks([(1, number, data)])
    assert blocks.texts(1, 0, "f") == ("a b", "c ")
    assert blocks.texts(1, 1, "g") == ("def g()", "doc")
