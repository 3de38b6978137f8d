"""Methods that a language calls implicitly, if the receiver is known."""

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
    # The operators of a class do not apply to a pointer to it.
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

KOTLIN = """\
package shop
class Money(val cents: Int) {
    operator fun plus(o: Money): Money = this
    operator fun minus(o: Money): Money = this
    operator fun minus(o: Int): Money = this
    operator fun unaryMinus(): Money = this
    operator fun get(i: Int): Int = i
    operator fun set(i: Int, v: Int) {}
    operator fun contains(i: Int): Boolean = true
    operator fun rangeTo(o: Money): Purse = Purse()
    operator fun compareTo(o: Money): Int = 0
    operator fun invoke(i: Int): Int = i
    operator fun inc(): Money = this
    operator fun component1(): Int = cents
    operator fun component2(): Int = cents
    override fun equals(other: Any?): Boolean = true
    fun times(o: Money) {}
    fun spend() {}
}
operator fun Money.div(n: Int): Money = this
class Purse {
    operator fun iterator(): Walk = Walk()
    operator fun plusAssign(m: Money) {}
}
class Walk {
    operator fun hasNext(): Boolean = false
    operator fun next(): Money = Money(1)
}
class Kept {
    operator fun getValue(o: Any?, p: Any): Int = 1
    operator fun setValue(o: Any?, p: Any, v: Int) {}
}
"""
KOTLIN_USE = """\
package shop
fun use(a: Money, b: Money, purse: Purse, n: Int, f: (Int) -> Int, many: List<Money>, kept: Kept) {
    %s
}
"""
KOTLIN_BODIES = [
    ("a + b", ["plus 3"]),
    ("a - b", ["minus 4"]),
    ("a - 1", ["minus 5"]),
    ("-a", ["unaryMinus 6"]),
    ("a[1]", ["get 7"]),
    ("a[1] = 2", ["set 8"]),
    ("if (1 in a || 2 !in a) {}", ["contains 9"]),
    ("a..b", ["rangeTo 10"]),
    ("a < b", ["compareTo 11"]),
    ("a(1)", ["invoke 12"]),
    ("var c = a; c++", ["inc 13"]),
    ("val (x, y) = a", ["component1 14", "component2 15"]),
    ("a == b", ["equals 16"]),
    ("a / 2", ["div 20"]),
    ("for (m in purse) m.spend()", ["hasNext 26", "iterator 22", "next 27", "spend 18"]),
    ("purse += a", ["plusAssign 23"]),
    ("val q by kept", ["getValue 30"]),
    ("var q by kept", ["getValue 30", "setValue 31"]),
    ("val sum = a + b; sum.spend()", ["plus 3", "spend 18"]),
    ("many[0] == a", ["equals 16"]),
    ("a != null; a === b; n + 1; f(1); n == 2; many[0]; unknown + a; unknown(1)", []),
    ("a * b", []),
]


RUST = """\
use std::ops::*;
pub struct Money { cents: i32 }
impl Money { pub fn sub(self, o: Money) -> Money { self } pub fn spend(&self) {} }
impl Add for Money { type Output = Money;
 fn add(self, o: Money) -> Money { self } }
impl Mul<i32> for Money { type Output = Money;
 fn mul(self, o: i32) -> Money { self } }
impl Mul<Purse> for Money { type Output = Purse;
 fn mul(self, o: Purse) -> Purse { o } }
impl Neg for Money { type Output = Money;
 fn neg(self) -> Money { self } }
impl AddAssign for Money {
 fn add_assign(&mut self, o: Money) {} }
impl Index<usize> for Money { type Output = i32;
 fn index(&self, i: usize) -> &i32 { &self.cents } }
impl IndexMut<usize> for Money {
 fn index_mut(&mut self, i: usize) -> &mut i32 { &mut self.cents } }
impl PartialEq for Money {
 fn eq(&self, o: &Money) -> bool { true } }
impl PartialOrd for Money {
 fn partial_cmp(&self, o: &Money) -> Option<Ordering> { None } }
pub struct Purse { coins: Vec<Money> }
impl IntoIterator for Purse { type Item = Money; type IntoIter = Walk;
 fn into_iter(self) -> Walk { Walk {} } }
pub struct Walk {}
impl Iterator for Walk { type Item = Money;
 fn next(&mut self) -> Option<Money> { None } }
pub struct Held { inner: Money }
impl Deref for Held { type Target = Money;
 fn deref(&self) -> &Money { &self.inner } }
#[derive(PartialEq)]
pub struct Derived {}
"""
RUST_USE = """\
use crate::money::*;
fn used(a: Money, b: Money, purse: Purse, walk: Walk, held: Held, lent: &Held, derived: Derived,
        n: i32, list: Vec<Money>, mutable: &mut Money) {
    %s
}
"""
RUST_BODIES = [
    ("a + b;", ["add 5"]),
    ("a * n;", ["mul 7"]),
    ("a * purse;", ["mul 9"]),
    ("-a;", ["neg 11"]),
    ("a += b;", ["add_assign 13"]),
    ("a[0];", ["index 15"]),
    ("a[0] = 1;", ["index_mut 17"]),
    ("a == b;", ["eq 19"]),
    ("&a != &b;", ["eq 19"]),
    ("*mutable == a;", ["eq 19"]),
    ("list[0] == a;", ["eq 19"]),
    ("a < b;", ["partial_cmp 21"]),
    ("for m in purse { m.spend(); }", ["into_iter 24", "spend 3"]),
    ("for m in walk { m.spend(); }", ["next 27", "spend 3"]),
    ("*held;", ["deref 30"]),
    ("held.spend();", ["spend 3"]),
    ("let sum = a + b; sum.spend();", ["add 5", "spend 3"]),
    # `sub` is not a method of a trait; `*` on a reference gives its target.
    ("a - b; *lent; derived == derived; n + n; -n; list[0]; for m in list {}", []),
]


CSHARP = """\
namespace Shop {
class Money {
  public static Money operator +(Money a, Money b) => a;
  public static Money operator *(Money a, int n) => a;
  public static Money operator *(int n, Money a) => a;
  public static Money operator -(Money a) => a;
  public static Money operator -(Money a, Money b) => a;
  public static Money operator ++(Money a) => a;
  public static bool operator ==(Money a, Money b) => true;
  public static bool operator !=(Money a, Money b) => false;
  public static implicit operator int(Money a) => 1;
  public int this[int i] { get { return i; } set { } }
  public int this[string s] => 1;
  public void Spend() {}
}
class Purse { public Walk GetEnumerator() => null; public void Dispose() {} }
class Walk { public bool MoveNext() => false; public Money Current => null; }
}
"""
CSHARP_USE = """\
using System.Collections.Generic;
namespace Shop {
class Use {
  void Used(Money a, Money b, Purse purse, int n, List<Money> list) {
    %s
  }
} }
"""
CSHARP_BODIES = [
    ("var c = a + b; c.Spend();", ["+ 3", "Spend 14"]),
    ("a = a * 2;", ["* 4"]),
    ("a = 2 * a;", ["* 5"]),
    ("a = n * a;", ["* 5"]),
    ("a = -a;", ["- 6"]),
    ("a = a - b;", ["- 7"]),
    ("a++;", ["++ 8"]),
    ("if (a == b) {}", ["== 9"]),
    ("if (a != null) {}", ["!= 10"]),
    ("n = a[1];", ["this 12"]),
    ("a[1] = 2;", ["this 12"]),
    ('n = a["x"];', ["this 13"]),
    ("a += b;", ["+ 3"]),
    ("foreach (var m in purse) m.Spend();", ["GetEnumerator 16", "MoveNext 17", "Spend 14"]),
    ("using (purse) {}", ["Dispose 16"]),
    ("using var open = purse;", ["Dispose 16"]),
    ("if (list[0] == a) {}", ["== 9"]),
    ("n = n + 1; if (n == 2) {} n = unknown + 1; unknown[1] = 2; var m = list[0];", []),
]


RUBY = """\
class Money
  def +(other) = self
  def -@ = self
  def [](i) = i
  def []=(i, v); end
  def <<(o) = self
  def ==(o) = true
  def <=>(o) = 0
  def call(x) = x
  def to_s = "x"
  def each; end
  def spend; end
  def coerce
    self + 1
    self[1]
    self == 2
  end
end
"""
RUBY_BODIES = [
    ("a + b", ["+ 2"]),
    ("-a", ["-@ 3"]),
    ("a[1]", ["[] 4"]),
    ("a[1] = 2", ["[]= 5"]),
    ("a << b", ["<< 6"]),
    ("a != b", ["== 7"]),
    ("a <=> b", ["<=> 8"]),
    ("a += b", ["+ 2"]),
    ('"#{a}"', ["to_s 10"]),
    ("c = a + b; c.spend", ["+ 2", "spend 12"]),
    ("1 + 2; other + a; other[1]; list = []; list[0]; list << a", []),
]


PHP = """\
<?php
class Money implements ArrayAccess, IteratorAggregate, Countable {
  public function __invoke(int $n) { return $n; }
  public function offsetGet($i) { return $i; }
  public function offsetSet($i, $v) {}
  public function getIterator(): Walk { return new Walk(); }
  public function count(): int { return 1; }
  public function __toString(): string { return ''; }
  public function __get($name) {}
  public function spend() {}
}
"""
PHP_BODIES = [
    ("$a(1);", ["__invoke 3"]),
    ("return $a[1];", ["offsetGet 4"]),
    ("$a[1] = 2;", ["offsetSet 5"]),
    ("foreach ($a as $m) {}", ["getIterator 6"]),
    ('echo "x $a";', ["__toString 8"]),
    ("if (isset($a[1])) {} unset($a[1]); $other(1); return $other[1];", []),
]


def uses(files: dict[str, str], place: str) -> list[str]:
    """What a place uses: names with their lines."""
    start = f"{place} -> "
    return [
        edge.removeprefix(start) for edge in edges_of(files, lined=True) if edge.startswith(start)
    ]


@pytest.mark.parametrize(("body", "expected"), CPP_BODIES)
def test_operators_of_cpp(body: str, expected: list[str]) -> None:
    assert uses({"lib.h": CPP, "use.cpp": CPP_USE % body}, "use.cpp:use") == expected


@pytest.mark.parametrize(("body", "expected"), KOTLIN_BODIES)
def test_operators_of_kotlin(body: str, expected: list[str]) -> None:
    assert uses({"Lib.kt": KOTLIN, "Use.kt": KOTLIN_USE % body}, "Use.kt:use") == expected


@pytest.mark.parametrize(("body", "expected"), RUST_BODIES)
def test_operators_of_rust(body: str, expected: list[str]) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "mod money;\nmod used;\n",
        "src/money.rs": RUST,
        "src/used.rs": RUST_USE % body,
    }
    assert uses(files, "src/used.rs:used") == expected


@pytest.mark.parametrize(("body", "expected"), CSHARP_BODIES)
def test_operators_of_csharp(body: str, expected: list[str]) -> None:
    files = {"Lib.cs": CSHARP, "Use.cs": CSHARP_USE % body}
    assert uses(files, "Use.cs:Use.Used") == expected


@pytest.mark.parametrize(("body", "expected"), RUBY_BODIES)
def test_operators_of_ruby(body: str, expected: list[str]) -> None:
    use = f"require_relative 'lib'\ndef use(other)\n  a = Money.new\n  b = a\n  {body}\nend\n"
    assert uses({"lib.rb": RUBY, "use.rb": use}, "use.rb:use") == ["Money 1", *expected]


def test_an_operator_on_an_unknown_receiver_is_not_a_possible_use() -> None:
    use = "def use(other)\n  other + 1\n  other[1]\nend\n"
    assert edges_of({"lib.rb": RUBY, "use.rb": use}, certain=False) == []


NAMESPACE = {
    "lib.ts": "export function f(n: number) {}\nexport class Repo { save() {} }\n",
    "use.ts": "import * as lib from './lib';\n"
    "const { f: renamed, Repo } = lib;\n"
    "function use(other: any) {\n  const { f } = lib;\n  f(2);\n  const { save } = other;\n}\n",
}


def test_names_imported_from_a_namespace_are_used_unqualified() -> None:
    refs = [edge for edge in edges_of(NAMESPACE, "ref", lined=True) if edge.startswith("use.ts")]
    assert [edge for edge in refs if "lib.ts" not in edge] == [
        "use.ts:renamed -> f 1",
        "use.ts:renamed -> Repo 2",
        "use.ts:use -> f 1",
    ]
    assert "use.ts:use -> f 1" in edges_of(NAMESPACE, lined=True)


@pytest.mark.parametrize(("body", "expected"), PHP_BODIES)
def test_implicit_calls_of_php(body: str, expected: list[str]) -> None:
    use = f"<?php\nrequire 'lib.php';\nfunction use_it(Money $a, $other) {{ {body} }}\n"
    assert uses({"lib.php": PHP, "use.php": use}, "use.php:use_it") == expected
