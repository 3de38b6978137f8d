"""A constant is used wherever an expression can stand."""

from __future__ import annotations

import pytest

from tests.resolved_edges import uses_in

RUST = """const LIM: usize = 3;
fn matched() { match LIM { _ => {} } } <<
fn arm(n: usize) { match n { LIM => {}, 1..=LIM => {}, _ => {} } } <<
fn bound(n: usize) { match n { 1..=LIM => {}, _ => {} } } <<
fn inside(n: Option<usize>) { if let Some(LIM) = n {} } <<
fn in_tuple(n: (u8, usize)) { match n { (1, LIM) => {}, _ => {} } } <<
fn in_slice(n: &[usize]) { match n { [LIM, ..] => {}, _ => {} } } <<
fn of_field(n: Point) { match n { Point { x: LIM } => {}, _ => {} } } <<
fn closure() { let c = || LIM; } <<
fn taking() { (0..9).map(|_| LIM) } <<
fn broken() -> usize { loop { break LIM; } } <<
fn statement() { LIM; } <<
fn tried() { LIM?; } <<
async fn waited() { LIM.await; } <<
fn indexed(v: &[u8]) { v[LIM]; v[..LIM]; } <<
fn own(lim: Option<usize>) { if let Some(lim) = lim {} }
"""

JAVA = """class A {
  static final int LIM = 3;
  int arrow(int n) { return switch (n) { default -> LIM; }; } <<
  int yielded(int n) { return switch (n) { default: yield LIM; }; } <<
  void resource() { try (LIM) {} } <<
  void named() { try (var x = LIM) {} } <<
  void locked() { synchronized (LIM) {} } <<
  @Max(LIM) int a; <<
  int chosen(boolean b) { return b ? LIM : 1; } <<
  void labels(int n) { switch (n) { case 1, LIM -> {} default -> {} } } <<
  void parameter(int LIM) { int x = LIM; }
}
"""

CSHARP = """class A {
  const int Lim = 3;
  [Max(Lim)] int a; <<
  [Max(Value = Lim)] int b; <<
  void Default(int n = Lim) {} <<
  int P { get; set; } = Lim; <<
  IEnumerable<int> Each() { yield return Lim; } <<
  enum E { A = Lim, B } <<
  void Jump() { goto case Lim; } <<
  void Lock() { lock (Lim) {} } <<
  void Asked() { var q = from x in Lim where x > 1 select x; } <<
  void Chosen(int n) { switch (n) { case Lim: break; } } <<
  void Shape(object o) { if (o is { Length: Lim }) {} } <<
  void Using() { using (Lim) {} } <<
  void Parameter(int Lim) { var x = Lim; }
}
"""

KOTLIN = """const val LIM = 3
fun loop() { for (i in 0 until LIM) {} } <<
fun pair() = LIM to 1 <<
fun tried() = try { LIM } finally { } <<
fun caught() = try { } catch (e: Exception) { LIM } <<
fun inside(n: Int) { when (n) { in LIM -> {} } } <<
@Ann([LIM]) fun annotated() {} <<
fun spread() = listOf(*LIM) <<
fun delegated() { val y by LIM } <<
fun lambda() { val c = { LIM } } <<
fun parameter(LIM: Int) = 0 until LIM
"""

PHP = """<?php
const LIM = 3;
function label($n) { switch ($n) { case LIM: break; } } <<
function arrow() { return fn() => LIM; } <<
function added($n) { $n += LIM; } <<
function matched($n) { return match ($n) { LIM => 1 }; } <<
function given($n) { return match ($n) { 1 => LIM }; } <<
function shown() { echo LIM, 1; } <<
function cast() { return (int) LIM; } <<
function thrown() { throw LIM; } <<
function kept() { static $x = LIM; } <<
function each() { foreach (LIM as $v) {} } <<
function left() { exit(LIM); } <<
class A { public $p = LIM; } <<
"""


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("a.rs", RUST, "LIM"),
        ("A.java", JAVA, "A.LIM"),
        ("A.cs", CSHARP, "A.Lim"),
        ("a.kt", KOTLIN, "LIM"),
        ("a.php", PHP, "LIM"),
    ],
)
def test_a_constant_is_used_in_every_place(name: str, text: str, target: str) -> None:
    found, expected = uses_in({name: text}, f"{name}:{target}")
    assert found == expected
