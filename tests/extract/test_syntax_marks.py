"""Syntax marks for colours: in every language, in order, and right in a few samples."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from codelens.extract.language_detection import language_of
from codelens.extract.parse.syntax_marks import syntax_marks
from codelens.types import RelPath

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SAMPLES = sorted(
    next(file for file in sorted(folder.iterdir()) if not file.name.endswith(".facts"))
    for folder in FIXTURES.iterdir()
)
CASES = {
    "python": (
        b'def f(a: int):  # why\n    return f"x{a + 1}y"\n',
        {("def", "keyword"), ("int", "name"), ("# why", "comment"), ("return", "keyword"),
         ('f"x', "string"), ("1", "number"), ('y"', "string")},
    ),
    "go": (
        b"func f() error { return nil } // why\n",
        {("func", "keyword"), ("error", "type"), ("nil", "constant"), ("// why", "comment")},
    ),
    "typescript": (
        b"const a = `x${b}y`;\n",
        {("const", "keyword"), ("`x", "string"), ("b", "name"), ("y`", "string")},
    ),
    "rust": (b"fn f() -> u32 { 1 }\n", {("fn", "keyword"), ("u32", "type"), ("1", "number")}),
}  # fmt: skip


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.parent.name)
def test_marks_never_overlap(file: Path) -> None:
    data = file.read_bytes()
    language = language_of(RelPath(file.name.encode()), data, {})
    marks = syntax_marks(data, language, 0, len(data))
    assert all(one.end_byte <= other.start_byte for one, other in pairwise(marks))
    assert all(0 <= mark.start_byte < mark.end_byte <= len(data) for mark in marks)


@pytest.mark.parametrize("language", CASES)
def test_kinds_of_words_are_distinguished(language: str) -> None:
    data, expected = CASES[language]
    marks = syntax_marks(data, language, 0, len(data))
    assert expected <= {(data[mark[0] : mark[1]].decode(), mark.kind) for mark in marks}


def test_a_part_has_the_marks_of_that_part() -> None:
    data = b"a = 1\n" * 1_000
    part = syntax_marks(data, "python", 600, 612)
    assert {mark.start_byte // 6 for mark in part} == {100, 101}


def test_a_text_without_a_language_has_no_marks() -> None:
    assert syntax_marks(b"plain words\n", "text", 0, 12) == []
