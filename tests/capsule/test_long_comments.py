"""Which comment lines are left out: in every style, and never a line of code."""

from __future__ import annotations

import pytest

from codelens.capsule import beyond_first


def cut(text: str) -> list[str]:
    """The lines left out of a text."""
    lines = text.strip("\n").split("\n")
    return [lines[number - 1].strip() for number in sorted(beyond_first(lines, 1, len(lines)))]


@pytest.mark.parametrize(
    ("text", "kept", "lines"),
    [
        ("/**\n * One.\n *\n * @param a b\n * @return c\n */\nint f() {}", 2, 6),
        ("/// <summary>\n/// One.\n/// </summary>\n/// <returns>a</returns>\nint F() {}", 2, 4),
        ("/** One.\n * Two.\n * Three.\n */\nint f() {}", 1, 4),
        ("// One.\n// Two.\n// Three.\n// Four.\n// Five.\nfunc f() {}", 1, 5),
        ("/// One.\n/// Two.\n/// Three.\n/// Four.\nfn f() {}", 1, 4),
        ("# One.\n# Two.\n#\n# Four.\n# Five.\ndef f; end", 1, 5),
        ("-- One.\n-- Two.\n-- Three.\n-- Four.\n-- Five.\nf = 1", 1, 5),
        ('@doc """\nOne.\n\nTwo.\nThree.\n"""\ndef f, do: 1', 2, 6),
        ("{- One.\nTwo\nThree\nFour\nFive -}\nf = 1", 1, 5),
    ],
)
def test_the_first_line_of_a_long_comment_that_says_something_stays(
    text: str, kept: int, lines: int
) -> None:
    every = [line.strip() for line in text.split("\n")]
    assert cut(text) == every[kept:lines]


def test_a_docstring_is_a_comment_and_its_function_is_not() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    Three.\n    """\n    return 1'
    assert cut(text) == ["", "Two.", "Three.", '"""']


@pytest.mark.parametrize(
    "text",
    [
        "// One.\n// Two.\n// Three.\nfunc f() {}",
        "#define A 1\n#define B 2\n# define C 3\n#if A\n#endif\n#include <a>\nint a;",
        "#[a]\n#[b]\n#[c]\n#[d]\n#[e]\n#[f]\nfn f() {}",
        'text = """\none\ntwo\nthree\nfour\nfive\n"""\nf()\ng()\nh()\ni()\nj()\n"""\n',
        'f(\n    """\n    one\n    two\n    three\n    four\n    five\n    """\n)',
        "/* never\nclosed\nint a;\nint b;\nint c;\nint d;",
        "/* one\ntwo\nthree\nfour\nfive */ int a;",
        "--i;\n--j;\n--k;\n--l;\n--m;\n--n;",
        "%a = add i32 1\n%b = add i32 1\n%c = add i32 1\n%d = add i32 1\n%e = add i32 1",
    ],
)
def test_code_and_short_comments_are_never_left_out(text: str) -> None:
    assert not cut(text)


def test_only_the_asked_for_lines_are_looked_at() -> None:
    lines = [f"// {number}" for number in range(1, 21)]
    assert beyond_first(lines, 6, 12) == frozenset(range(8, 13))
    assert beyond_first(lines, 18, 99) == frozenset()
