"""Half-typed code still yields its whole parts."""

from __future__ import annotations

import pytest

from codelens.extract.facts import structure

PYTHON = b"""\
def before(): return 1

class Shape:
    def first(self): return 1

    def second(self):
        return %s

    def third(self): return 3

@decorate
def after(x): return x

def last(): return 1
"""


@pytest.mark.parametrize("typed", [b"foo(", b"[1, 2", b"{", b"foo(a, b=[", b"x.", b'f"{a', b"("])
def test_python_around_an_open_bracket_is_found_at_its_place(typed: bytes) -> None:
    found = {symbol.qualified for symbol in structure(PYTHON % typed, "python").symbols}
    assert found >= {"before", "Shape", "Shape.first", "Shape.third", "after", "last"}


def test_go_around_an_open_bracket_is_found() -> None:
    text = b"package p\n\nfunc A() {\n\tif x {\n\t\tcall(\n}\n\nfunc B() int { return 1 }\n\n"
    text += b"type T struct {\n\tF int\n}\n\nfunc (t T) M() {}\n"
    found = {symbol.qualified for symbol in structure(text, "go").symbols}
    assert found >= {"B", "T", "T.F", "T.M"}


def test_typescript_around_an_open_bracket_is_found() -> None:
    text = b"class A {\n  one(): void { this.call( }\n\n  two(): void {\n    return;\n  }\n}\n\n"
    text += b"export function f(a: number) {\n  return [1,\n}\n\nexport interface I { a: string }\n"
    found = {symbol.qualified for symbol in structure(text, "typescript").symbols}
    assert found >= {"A", "A.two", "I", "I.a"}


def test_code_in_a_string_is_not_taken_for_lost() -> None:
    text = (
        b'def f():\n    """\n    def example(): pass\n    """\n    return (\n\ndef g(): return 1\n'
    )
    found = [symbol.name for symbol in structure(text, "python").symbols]
    assert "g" in found
    assert "example" not in found


def test_sound_text_with_a_single_error_keeps_its_facts() -> None:
    text = b"def f(): return 1\n\nx = = 2\n\ndef g(): return f()\n"
    found = structure(text, "python")
    assert [symbol.name for symbol in found.symbols if symbol.kind == "function"] == ["f", "g"]
    assert [(ref.name, ref.line) for ref in found.references if ref.kind == "call"] == [("f", 5)]
