"""Occurrences are placed in the text that was indexed, in UTF-8 columns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from toy_indexer import indexed

from codelens.scip import placed_document
from codelens.scip.placed_document import (
    UTF8,
    UTF16,
    UTF32,
    byte_columns,
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
    ("unit", "expected"),
    [(UTF8, [0, 1, 2, 3, 4, 5, 6, 7]), (UTF16, [0, 1, -1, 5, 6, 7]), (UTF32, [0, 1, 5, 6, 7])],
)
def test_columns_of_a_line(unit: int, expected: list[int]) -> None:
    assert list(byte_columns("a𝕏bc".encode(), unit)) == expected


@pytest.mark.parametrize("columns", [(-1, 2), (0, 99), (3, 2)])
@pytest.mark.parametrize("unit", [UTF8, UTF16, UTF32])
def test_ranges_outside_of_the_line_are_of_another_text(
    columns: tuple[int, int], unit: int
) -> None:
    (document,) = indexed({"a.py": TEXT}, unit=unit).documents
    for occurrence in document.occurrences:
        del occurrence.range[:]
        occurrence.range.extend([1, *columns])
    assert placed_in(document, TEXT.encode(), unit) is None


def test_a_long_line_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.py": "def f(): ...\n'é'; " + "f(); " * 1_000}
    (document,) = indexed(texts, unit=UTF16).documents
    measured: list[bytes] = []

    def columns(row: bytes, unit: int) -> Sequence[int]:
        measured.append(row)
        return byte_columns(row, unit)

    monkeypatch.setattr(placed_document, "byte_columns", columns)
    assert placed_in(document, texts["a.py"].encode(), UTF16) is not None
    assert len(measured) == 2


FOUR = """\
def aa():
    pass
def bb():
    pass
def cc():
    pass
def dd():
    return cc() # the end of it
# the end, and after
"""


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (FOUR, FOUR.replace("pass\n", "pass\n    # more\n", 1)),
        ("# call\npay()\nprint(pay())\n# of all these\n",
         "# call\n\nprint(paid)\npay(); pay()\n# of all these\n"),
    ],
)  # fmt: skip
def test_few_definitions_or_none_do_not_let_another_text_pass(text: str, other: str) -> None:
    document = indexed({"a.py": text, "b.py": "def pay():\n    pass\n"}).documents[0]
    placed = placed_in(document, text.encode(), UTF8)
    assert placed is not None
    assert placed.whole == 1
    assert placed_in(document, other.encode(), UTF8) is None


def test_a_definition_over_several_lines_is_not_that_of_the_file() -> None:
    (document,) = indexed({"a.py": TEXT}).documents
    del document.occurrences[0].range[:]
    document.occurrences[0].range.extend([0, 0, 1, 4])
    placed = placed_in(document, TEXT.encode(), UTF8)
    assert placed is not None
    assert {occurrence.roles for occurrence in placed.occurrences} == {0}


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
