"""Extracts the arguments of calls from their text alone."""

from __future__ import annotations

import pytest

from codelens.branches.parameters import PassedArguments, passed_arguments


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("f()", "python", PassedArguments(0, ())),
        ("f(1, g(2, 3), [4, 5])", "python", PassedArguments(3, ())),
        ("f(1, b=2, c=g(d=3))", "python", PassedArguments(3, ("b", "c"))),
        ("f(a == 1, b >= 2)", "python", PassedArguments(2, ())),
        ("f('a, b', \"c)\", 'it\\'s, so')", "python", PassedArguments(3, ())),
        ("f('''a, (b''', 1,)", "python", PassedArguments(2, ())),
        ("f(\n  1,  # one, and (\n  2,\n)", "python", PassedArguments(2, ())),
        ("f(1, /* two, */ 2) // three,", "java", PassedArguments(2, ())),
        ("f(name: 1, other: 2)", "csharp", PassedArguments(2, ("name", "other"))),
        ("f(a ? b : c, x => y, 1)", "typescript", PassedArguments(3, ())),
        ("f<T, U>(1)", "typescript", PassedArguments(1, ())),
        ("f::<Vec<u8>>(&a, 'b', 'static)", "rust", PassedArguments(3, ())),
        ("f!(1, 2)", "rust", PassedArguments(2, ())),
    ],
)
def test_arguments_are_counted_by_their_commas(
    text: str, language: str, expected: PassedArguments
) -> None:
    assert passed_arguments(text.encode(), 1, language) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("f 1, 2", "ruby"),
        ("f", "python"),
        ("f(*all)", "python"),
        ("f(1, **named)", "python"),
        ("f(...all)", "typescript"),
        ("f(all...)", "go"),
        ("f(&block)", "ruby"),
        ("f(new Map<string, number>())", "typescript"),
        ("f(1, 2", "python"),
        ("f('", "python"),
        ("f(" + "(" * 3_999, "python"),
        ("f" + "<" * 100_000, "cpp"),
    ],
)
def test_arguments_that_the_text_does_not_show_are_unknown(text: str, language: str) -> None:
    assert passed_arguments(text.encode(), 1, language) is None
