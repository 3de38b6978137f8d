"""Enumerators of C and C++ are names of the scope around their enum."""

from __future__ import annotations

import pytest

from tests.resolved_edges import uses_in

C_HEADER = """enum color { red, kGreen };
typedef enum { plain } style;
"""
C = """#include "a.h"
int value(void) { return red; } <<
int label(int n) { switch (n) { case red: return 1; } return 0; } <<
int given(void) { return take(1, red); } <<
int own(int red) { return red; }
int other(void) { return kGreen; }
"""
HEADER = """namespace n {
enum Color { red };
enum class Hue { red2 };
class Base {
 public:
  enum Mode {
    on,
    off
  };
  int inside() { return on; }
  int apart();
};
}
"""
CPP = """#include "a.h"
namespace n {
int bare() { return red; }
int of_type() { return Color::red; }
int closed() { return red2; }
int closed_of_type() { return (int) Hue::red2; }
int Base::apart() { return on; }
class Derived : public Base { int inherited() { return on; } };
int of_class() { return Base::on; }
}
int of_space() { return n::red; }
int of_both() { return n::Color::red; }
int missing() { return on; }
"""


def test_enumerators_of_c() -> None:
    found, expected = uses_in({"a.h": C_HEADER, "a.c": C}, "a.h:color.red")
    assert found == expected
    found, _ = uses_in(
        {"a.h": C_HEADER, "a.c": '#include "a.h"\nint x = plain;\n'}, "a.h:style.plain"
    )
    assert found == ["a.c:2"]


@pytest.mark.parametrize(
    ("enumerator", "lines"),
    [
        ("n.Color.red", ["a.cpp:11", "a.cpp:12", "a.cpp:3", "a.cpp:4"]),
        ("n.Hue.red2", ["a.cpp:6"]),
        ("n.Base.Mode.on", ["a.cpp:7", "a.cpp:8", "a.cpp:9", "a.h:10"]),
    ],
)
def test_enumerators_of_cpp(enumerator: str, lines: list[str]) -> None:
    found, _ = uses_in({"a.h": HEADER, "a.cpp": CPP}, f"a.h:{enumerator}")
    assert found == lines
