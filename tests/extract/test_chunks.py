"""Chunks keep related code together."""

from __future__ import annotations

from codelens.extract.embedded_code import TARGET
from codelens.extract.facts import structure, text_structure


def function(name: str, lines: int, comment: str = "") -> str:
    body = "".join(f"    value_{at} = compute_{at}(argument)\n" for at in range(lines))
    return f"{comment}def {name}(argument):\n{body}\n\n"


def test_small_neighbours_share_a_chunk() -> None:
    text = "".join(function(f"f{at}", 3) for at in range(5))
    found = structure(text.encode(), "python")
    assert len(found.chunks) == 1


def test_a_symbol_that_fits_is_not_cut() -> None:
    text = "".join(function(f"f{at}", 20 + at) for at in range(8))
    found = structure(text.encode(), "python")
    for symbol in found.symbols:
        holding = [
            chunk
            for chunk in found.chunks
            if chunk.start_byte < symbol.end_byte and symbol.start_byte < chunk.end_byte
        ]
        assert len(holding) == 1
        assert found.symbols[holding[0].symbol].kind == "function"


def test_a_large_symbol_is_cut_between_statements_about_evenly() -> None:
    found = structure(function("large", 200).encode(), "python")
    sizes = [chunk.end_byte - chunk.start_byte for chunk in found.chunks]
    assert len(sizes) > 3
    assert all(TARGET / 3 < size < TARGET * 1.5 for size in sizes[:-1])
    assert {chunk.symbol for chunk in found.chunks} == {0}


def test_a_comment_stays_with_what_it_describes() -> None:
    text = "".join(function(f"f{at}", 25, f"# About f{at}.\n# More.\n") for at in range(9))
    found = structure(text.encode(), "python")
    lines = text.split("\n")
    assert len(found.chunks) > 3
    for chunk in found.chunks:
        assert lines[chunk.start_line - 1].startswith("# About")


def test_decorators_stay_with_their_definition() -> None:
    text = "".join(f"@decorate\n@again({at})\n" + function(f"f{at}", 25) for at in range(9))
    found = structure(text.encode(), "python")
    lines = text.split("\n")
    for chunk in found.chunks:
        assert lines[chunk.start_line - 1].startswith("@decorate")


def test_methods_of_a_large_class_are_separate_chunks() -> None:
    methods = "".join(
        "    " + line + "\n" if line else "\n"
        for at in range(6)
        for line in function(f"m{at}", 28).split("\n")
    )
    found = structure(("class Large:\n" + methods).encode(), "python")
    about = [found.symbols[chunk.symbol].name for chunk in found.chunks]
    assert about == ["Large", "m1", "m2", "m3", "m4", "m5"]


def test_prose_is_cut_between_paragraphs() -> None:
    paragraph = "word " * 60 + "\n" + "word " * 60 + "\n\n"
    text = (paragraph * 10).encode()
    found = text_structure(text)
    assert len(found.chunks) > 2
    for chunk in found.chunks:
        assert (chunk.end_line - chunk.start_line + 2) % 3 == 0


def test_a_long_line_is_one_chunk() -> None:
    text = b"short\n" + b"x" * 10_000 + b"\nshort\n"
    found = text_structure(text)
    assert [(chunk.start_line, chunk.end_line) for chunk in found.chunks] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_many_lines_without_a_seam_are_cut_by_lines() -> None:
    text = b'TEXT = """\n' + b"a line of a long string\n" * 400 + b'"""\n'
    found = structure(text, "python")
    sizes = [chunk.end_byte - chunk.start_byte for chunk in found.chunks]
    assert all(size <= TARGET * 1.4 for size in sizes)
