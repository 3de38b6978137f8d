"""Overloads that a call chooses by conversions, optional and variadic parameters, and type tests.

A line that ends with `<<` calls the overload, one with `<<?` may.
"""

from __future__ import annotations

import pytest
from resolved_edges import uses_of_line

CSHARP = "class B {{}}\nenum E {{ X }}\nclass A {{\n  void F({0}) {{}}\n{1}\n}}\n"
JAVA = "class A {{\n  void f({0}) {{}}\n{1}\n}}\n"
KOTLIN = "open class A\nclass B : A()\ninterface I\nfun f(a: A) = true\nfun f(b: B) = true\n"
CASES = {
    "cs: nullable": ("A.cs", 4, CSHARP.format("int? i", """  void F(string s) {}
  void G(int x, int? y) {
    F(1); <<
    F(x); <<
    F(y); <<
    F("s");
  }""")),
    "cs: not nullable": ("A.cs", 4, CSHARP.format("int i", """  void F(int? s) {}
  void G(int? y) {
    F(1); <<
    F(y); <<?
  }""")),
    "cs: nullable enum and class": ("A.cs", 4, CSHARP.format("E? e, B? b", """
  void F(string s, B b) {}
  void G(E e, B b) {
    F(e, b); <<
    F(E.X, new B()); <<
    F("s", b);
  }""")),
    "cs: params": ("A.cs", 4, CSHARP.format("params int[] xs", """  void F(string s) {}
  void G(int x, int[] ys) {
    F(); <<
    F(x); <<
    F(1, 2, 3); <<
    F(ys); <<
    F("s");
  }""")),
    "cs: optional": ("A.cs", 4, CSHARP.format("int a, int b = 1", """  void F(string s) {}
  void F(int a, string b, int c = 2) {}
  void G(int x) {
    F(x); <<
    F(x, 2); <<
    F(b: 1, a: 2); <<
    F("s");
    F(1, "b");
  }""")),
    "java: boxing": ("A.java", 2, JAVA.format("Integer i", """  void f(String s) {}
  void g(int x, Integer y) {
    f(1); <<
    f(x); <<
    f(y); <<
    f("s");
  }""")),
    "java: no boxing": ("A.java", 2, JAVA.format("long i", """  void f(Integer s) {}
  void g(int x, Integer y) {
    f(1); <<
    f(x); <<
    f(y);
  }""")),
    "java: varargs": ("A.java", 2, JAVA.format("String a, Object... xs", """  void f(String s) {}
  void g(Object[] os) {
    f("a", 1); <<
    f("a", 1, 2); <<
    f("a", os); <<
    f("a");
  }""")),
    "kotlin: type test": ("A.kt", 5, KOTLIN + """
fun g(x: A) {
    if (x is B) f(x) <<
    f(x)
    if (x is B) {
        f(x) <<
    } else {
        f(x)
    }
    if (x !is B) {
        f(x)
    } else {
        f(x) <<
    }
    while (x is B) { f(x) } <<
}
fun h(x: A) {
    when (x) {
        is B -> f(x) <<
        else -> f(x)
    }
    when {
        x is B -> f(x) <<
    }
}
fun i(x: A) {
    if (x !is B) return
    f(x) <<
}
fun j(x: Any) {
    if (x is B) f(x) <<
    if (x is A) f(x)
}
fun k(x: A) {
    if (x is I) f(x) <<?
}
"""),
    "kotlin: somewhere": ("A.kt", 5, KOTLIN + """
fun g(x: A) {
    val y = x is B && f(x) <<?
}
fun h(x: A) {
    if (x is B && f(x)) { <<?
        f(x) <<
    }
}
"""),
    "c++: characters": ("a.cpp", 1, """void f(char c);
void f(int c);
void f(wchar_t c);
void f(const char* c);
void f(double c);
void g() {
  f('c'); <<
  f('\\''); <<
  f(u8'c'); <<?
  f(L'c');
  f(1);
  f("c");
  f(1.5);
}
"""),
    "c++: using of a base's methods": ("a.cpp", 2, """struct B {
  int m(int x);
};
struct D : B {
  using B::m; <<
  int m(const char* s);
};
struct E : B {
  int m(const char* s);
};
int f(D d, E e) {
  d.m(1); <<
  d.m("x");
  e.m("x");
}
"""),
    "c++: wide characters": ("a.cpp", 1, """void f(wchar_t c);
void f(char c);
void g() {
  f(L'c'); <<
  f('c');
}
"""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_call_means_the_overload(case: str) -> None:
    file, line, text = CASES[case]
    found, expected = uses_of_line({file: text}, f"{file}:{line}")
    assert found == expected


def test_a_tested_type_has_its_members_and_those_it_had() -> None:
    text = (
        "open class A {\n  fun base() {}\n}\ninterface I {\n  fun go()\n}\n"
        "fun g(x: A) {\n  if (x is I) {\n    x.base()\n    x.go()\n  }\n}\n"
        "fun h(x: Any) {\n  if (x is I) x.go()\n  if (x is A) x.go()\n}\n"
    )
    assert uses_of_line({"A.kt": text}, "A.kt:2")[0] == ["A.kt:9"]
    assert uses_of_line({"A.kt": text}, "A.kt:5")[0] == ["A.kt:10", "A.kt:14"]
