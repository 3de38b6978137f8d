"""Methods that a language calls without their names, where it is known on what."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

CPP = """\
#include <ostream>
struct Money {
  int cents;
  Money *next;
  Money operator+(const Money& o) const { return *this; }
  Money operator -(const Money& o) const { return *this; }
  Money operator -() const { return *this; }
  int& operator[](int i) { return cents; }
  int operator[](int i) const { return cents; }
  int operator()(int a) { return a; }
  Money& operator++() { return *this; }
  Money operator++(int) { return *this; }
  Money& operator+=(const Money& o) { return *this; }
  void spend() {}
  friend bool operator!=(const Money& a, const Money& b) { return false; }
};
inline bool operator==(const Money& a, const Money& b) { return true; }
inline Money operator*(int n, const Money& m) { return m; }
inline Money operator*(const Money& m, int n) { return m; }
inline std::ostream& operator<<(std::ostream& out, const Money& m) { return out; }
struct Box { Money* operator->() const; Money& operator*() const; Money* money; };
struct Purse { Money* begin() { return 0; } Money* end() { return 0; } Money coin; Money* coins; };
using Shared = std::shared_ptr<Money>;
"""
CPP_USE = """\
#include <memory>
#include <vector>
#include "lib.h"
void use(Money a, const Money& b, Money* p, Money** far, Box box, Purse purse, int i, Shared shared,
         std::unique_ptr<Money> unique, std::vector<Money> list, std::vector<Money*> pointers) {
  %s
}
"""
CPP_BODIES = [
    ("a + b;", ["operator+ 5"]),
    ("a - b;", ["operator- 6"]),
    ("-a;", ["operator- 7"]),
    ("a[1];", ["operator[] 8"]),
    ("b[1];", ["operator[] 9"]),
    ("a(1);", ["operator() 10"]),
    ("++a;", ["operator++ 11"]),
    ("a++;", ["operator++ 12"]),
    ("a += b;", ["operator+= 13"]),
    ("a != b;", ["operator!= 15"]),
    ("a == b;", ["operator== 17"]),
    ("2 * a;", ["operator* 18"]),
    ("a * 2;", ["operator* 19"]),
    ("std::cout << 1 << a;", ["operator<< 20"]),
    ("box->spend();", ["operator-> 21", "spend 14"]),
    ("(*box).spend();", ["operator* 21", "spend 14"]),
    ("for (auto& money : purse) {}", ["begin 22", "end 22"]),
    ("*p == a;", ["operator== 17"]),
    ("p[0] == a;", ["operator== 17"]),
    ("purse.coin == a;", ["operator== 17"]),
    ("list[0] == a;", ["operator== 17"]),
    ("for (auto& each : list) each == a;", ["operator== 17"]),
    ("auto c = a; c == b;", ["operator== 17"]),
    ("auto sum = a + b; sum.spend();", ["operator+ 5", "spend 14"]),
    # The operators of a class are not those of a pointer to it.
    ("p == p; p + 1; p[1] = 2; p->spend();", ["spend 14"]),
    ("far[0] == p; *far == p;", []),
    ("purse.coins == p; purse.coins[0]; a.next + 1;", []),
    ("shared == shared; unique == unique;", []),
    ("auto made = std::make_unique<Money>(); made == made; made->spend();", ["spend 14"]),
    ("auto made = new Money; made + 1;", ["Money 2"]),
    ("pointers[0] == pointers[1];", []),
    ("auto first = list.begin(); first == list.end(); *first;", []),
    ("&a == p;", []),
    ("i + 1; i == i; other + a; other == a; stream << 1;", []),
    ("a + 1;", []),
]


def uses(files: dict[str, str], place: str) -> list[str]:
    """What is used in a place: names with their lines."""
    start = f"{place} -> "
    return [
        edge.removeprefix(start) for edge in edges_of(files, lined=True) if edge.startswith(start)
    ]


@pytest.mark.parametrize(("body", "expected"), CPP_BODIES)
def test_operators_of_cpp(body: str, expected: list[str]) -> None:
    assert uses({"lib.h": CPP, "use.cpp": CPP_USE % body}, "use.cpp:use") == expected
