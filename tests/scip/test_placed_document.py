"""Occurrences are placed in the text that was indexed, in UTF-8 columns."""

from __future__ import annotations

import pytest
from toy_indexer import indexed

from codelens.scip.placed_document import (
    UTF8,
    UTF16,
    UTF32,
    byte_column,
    inside,
    placed_in,
    unit_of,
)

TEXT = 'def pay():\n    "𝕏é"; pay(); "ü"; pay()\n'


@pytest.mark.parametrize("unit", [UTF8, UTF16, UTF32])
def test_columns_of_each_unit_become_bytes(unit: int) -> None:
    (document,) = indexed({"a.py": TEXT}, unit=unit).documents
    placed = placed_in(document, TEXT.encode(), unit_of(document, "toy"))
    assert placed is not None
    row = TEXT.encode().split(b"\n")[1]
    assert [(one.line, one.name) for one in placed.occurrences] == [
        (1, "pay"), (2, "pay"), (2, "pay"),
    ]  # fmt: skip
    assert all(row[one.column :].startswith(b"pay") for one in placed.occurrences[1:])


@pytest.mark.parametrize(
    ("column", "unit", "expected"),
    [(2, UTF16, None), (3, UTF16, 5), (9, UTF16, None), (1, UTF32, 1), (2, UTF32, 5),
     (99, UTF32, None), (99, UTF8, None), (-1, UTF8, None)],
)  # fmt: skip
def test_columns_outside_of_the_line_are_none(column: int, unit: int, expected: int | None) -> None:
    assert byte_column("a𝕏bc".encode(), column, unit) == expected


@pytest.mark.parametrize(
    ("tool", "unit"), [("scip-python", UTF16), ("scip-go", UTF8), ("unheard of", UTF16)]
)
def test_an_unstated_unit_is_that_of_the_tool(tool: str, unit: int) -> None:
    (document,) = indexed({"a.py": TEXT}).documents
    document.position_encoding = 0  # type: ignore[assignment]
    assert unit_of(document, tool) == unit


@pytest.mark.parametrize("text", ["", "# a line more\n" + TEXT, TEXT.replace("pay", "paid")])
def test_another_text_than_that_indexed_is_noticed(text: str) -> None:
    (document,) = indexed({"a.py": TEXT}).documents
    assert placed_in(document, text.encode(), UTF8) is None


@pytest.mark.parametrize(
    "path",
    ["", "/etc", "../a.py", "a/../../b.py", "a//b.py", "./a.py", "C:/a.py", "a\\b", "a\0b"],
)
def test_paths_that_lead_out_or_are_not_canonical_are_refused(path: str) -> None:
    assert inside(path, "sub/") is None


def test_a_path_starts_from_the_root_of_the_index() -> None:
    assert inside("src/a.py", "packages/zod/") == "packages/zod/src/a.py"
