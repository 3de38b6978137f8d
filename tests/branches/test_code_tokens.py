"""Formatting changes are not changes of code; changes that only look like formatting are."""

from __future__ import annotations

import pytest

from codelens.branches.code_tokens import is_same_code

ALIKE = [
    ("python", b"def f(a, b):\n    return a", b"def f(\n    a,\n    b,\n):\n    return a"),
    ("python", b"if a:\n    if b:\n        g( a )\n    h()", b"if a:\n  if b:\n    g(a)\n  h()"),
    ("python", b"x = [1, 2]", b"x = [\n    1,\n    2,  \n]"),
    ("python", b"x=-1", b"x = -1"),
    ("python", b"x = a + \\\n    b", b"x = a + b"),
    ("java", b"int f(int a) {\n  return a+1;\n}", b"int f(int a)\n{\n\treturn a + 1;\n}"),
    ("c", b"static int\nmain(void) { return 0; }", b"static int main(void)\n{ return 0; }"),
    ("c", b"int *a = f(b);", b"int* a = f(b);"),
    ("go", b"f(a, b)", b"f(\n\ta,\n\tb,\n)"),
    ("go", b"func f() int {\n\treturn  a\n}", b"func f() int { return a }"),
    ("javascript", b"const f = {a: 1, b: 2}", b"const f = {\n  a: 1,\n  b: 2,\n}"),
    ("javascript", b"f(a => a.b().c())", b"f(\n  a => a\n    .b()\n    .c()\n)"),
    ("rust", b"fn f(a: u8, b: u8) {}", b"fn f(\n    a: u8,\n    b: u8,\n) {\n}"),
    ("kotlin", b"val a = b.c().d()", b"val a = b\n    .c()\n    .d()"),
    ("yaml", b"a:\n  - b\n  - c", b"a:\n    - b\n    - c"),
]  # fmt: skip
UNLIKE = [
    ("java", b'String f() { return "a b"; }', b'String f() { return "ab"; }'),
    ("go", b'f("a  b")', b'f("a b")'),
    ("rust", b'f("a b")', b'f("a  b")'),
    ("javascript", b"f(`a b`)", b"f(`a  b`)"),
    ("c", b"char a = ' ';", b"char a = '  ';"),
    ("python", b"x = (a,)", b"x = (a)"),
    ("python", b"return (a,)", b"return (a)"),
    ("python", b"x[a,]", b"x[a]"),
    ("python", b"if a:\n    b()\n    c()", b"if a:\n    b()\nc()"),
    ("python", b"if a:\n    b()\n    c()", b"if a:\n    b() c()"),
    ("javascript", b"x = [a, , ]", b"x = [a, ]"),
    ("ruby", b"foo\nbar", b"foo bar"),
    ("bash", b"rm -rf a", b"rm-rf a"),
    ("java", b"int a;", b"inta;"),
]
COMMENTS = [
    ("python", b'def f():\n    """A."""\n    return 1', b'def f():\n    """B."""\n    return 1'),
    ("python", b"f(a)  # why", b"f(a)"),
    ("java", b"f(a); // why", b"/* how */ f(a);"),
]


@pytest.mark.parametrize(("language", "before", "after"), ALIKE)
def test_formatter_changes_make_no_difference(language: str, before: bytes, after: bytes) -> None:
    assert is_same_code(before, after, language, with_comments=True)
    assert is_same_code(after, before, language, with_comments=True)


@pytest.mark.parametrize(("language", "before", "after"), UNLIKE)
def test_blanks_that_say_something_are_code(language: str, before: bytes, after: bytes) -> None:
    assert not is_same_code(before, after, language, with_comments=False)


@pytest.mark.parametrize(("language", "before", "after"), COMMENTS)
def test_comments_and_docstrings_can_be_left_out(
    language: str, before: bytes, after: bytes
) -> None:
    assert not is_same_code(before, after, language, with_comments=True)
    assert is_same_code(before, after, language, with_comments=False)


def test_a_text_whose_brackets_do_not_match_is_compared_by_lines() -> None:
    assert not is_same_code(b"f(a\n  b", b"f(a\n b", "python", with_comments=True)
