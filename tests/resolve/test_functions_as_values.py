"""Functions and methods that code passes, assigns, lists or returns instead of calling them.

A line that ends with `<<` uses the definition.
"""

from __future__ import annotations

import pytest
from resolved_edges import uses_in

GO = {
    "go.mod": "module x\n",
    "a/a.go": """package a
type H struct{}
func (h *H) Serve(n int) int { return n }
type Hold struct{ h *H }
func main(h *H, o *Hold) {
    use(h.Serve) <<
    f := h.Serve <<
    var g = h.Serve <<
    g = h.Serve <<
    m := map[string]F{"a": h.Serve} <<
    s := []F{h.Serve} <<
    defer h.Serve(1) <<
    x := S{F: h.Serve} <<
    (h.Serve)(1) <<
    use(o.h.Serve) <<
    i := o.h.Serve <<
    ch <- h.Serve <<
    other(h, o)
}
func ret(h *H) F { return h.Serve } <<
func set(h *H) bool { return h.Serve == nil } <<
""",
    "b/b.go": """package b
import "x/a"
var F = (*a.H).Serve <<
func init() { use((*a.H).Serve) } <<
""",
}
GO_FUNCTION = {
    "go.mod": "module x\n",
    "a/a.go": "package a\nfunc run(n int) int { return n }\n",
    "a/b.go": """package a
var G = run <<
var T = map[string]any{"a": run} <<
func k() { use(run) } <<
func l() any { return run } <<
func m() { x := run; y = run; z := []any{run} } <<
func n(run int) { use(run) }
var S = server{run: 1}
func o() []struct{ run int } { return nil }
""",
}
C = {
    "a.h": "int f(int x);\n",
    "a.c": '#include "a.h"\nint f(int x) { return x; }\n',
    "b.c": """#include "a.h"
struct ops o = { .run = f }; <<
struct ops u = { f }; <<
int (*t[])(int) = { 0, &f }; <<
void m(struct ops *p) {
  p->run = f; <<
  p->run = &f; <<
  int (*q)(int) = f; <<
  use(1, f); <<
  use(1, &f); <<
  q = x ? f : 0; <<
  if (p->run == f) {} <<
  q = (void *)f; <<
  (*f)(1); <<
  use((struct ops){f}); <<
  p->f = 1;
}
void n(int f) { use(f); }
int (*r(void))(int) { return f; } <<
""",
}
CPP = {
    "a.hpp": "namespace n { int f(int x); }\nint g(int x);\n",
    "b.cpp": """#include "a.hpp"
using n::f; <<
auto p = &n::f; <<
auto q = n::f; <<
auto r = &f; <<
void m(S* p) {
  use(n::f); <<
  use(&n::f); <<
  use(1, f); <<
  p->cb = &n::f; <<
  p->cb = f; <<
  q = x ? n::f : nullptr; <<
  auto z = std::function<int(int)>(f); <<
  std::thread t(f, 1); <<
  std::thread u{f, 1}; <<
  auto w = static_cast<F>(n::f); <<
  use<&n::f>(); <<
}
F table[] = { f, &n::f }; <<
F one = { n::f }; <<
S s = { .cb = n::f }; <<
auto k() { return n::f; } <<
Reg reg("a", f); <<
void l(int f) { use(f); }
""",
}
CPP_METHOD = {
    "a.hpp": "struct C { int m(int x); };\n",
    "b.cpp": """#include "a.hpp"
void reg(C* c) {
  use(&C::m); <<
  auto p = &C::m; <<
  int (C::*q)(int) = &C::m; <<
  auto b = std::bind(&C::m, c, 1); <<
  table["x"] = &C::m; <<
  Holder<&C::m> z; <<
}
E e[] = { { &C::m }, {&C::m} }; <<
struct D : C { using C::m; }; <<
int w(D d) { return d.m(1); } <<
""",
}
LUA = {
    "m.lua": """local M = {}
function M.f(x) return x end
M.g = M.f <<
local t = { run = M.f } <<
local u = { M.f, 1 } <<
local h = x and M.f or nil <<
go(M.f) <<
M["k"] = M.f <<
if (M.f) then end <<
local function r() return M.f end <<
return M
""",
    "n.lua": """local m = require("m")
m.f(1) <<
go(m.f) <<
local t = { a = m.f } <<
x = m.f <<
return m.f <<
""",
}
LUA_LOCAL = {
    "m.lua": """local M = {}
local function f(x) return x end
M.f = f <<
M["g"] = f <<
local t = { run = f } <<
local u = { ["q"] = f, f } <<
go(1, f) <<
local k = f or x <<
if f then elseif f then end <<
go((f)) <<
local function r() return f end <<
local function s(f) return f end
return M
""",
}
LUA_METHOD = {
    "c.lua": """local C = {}
C.__index = C
function C:m(x) return x end
function C.new()
  local self = setmetatable({}, C)
  self.cb = self.m <<
  go(self.m) <<
  return self
end
C.n = C.m <<
return C
""",
}
LUA_RETURNED = {
    "m.lua": "local function f(x) return x end\nreturn { run = f } <<\n",
    "n.lua": 'local m = require("m")\nm.run(1) <<\ngo(m.run) <<\nlocal v = m.run <<\n',
}
PHP = {
    "a.php": r"""<?php
namespace N;
function run($x, $y) { return $x; }
array_map('N\run', [1]); <<
usort($a, "N\\run"); <<
array_map(__NAMESPACE__ . '\run', [1]); <<
call_user_func('\N\run', 1); <<
$g = run(...); <<
$h = \N\run(...); <<
array_map('run', [1]);
usort('N\run', $a);
$x = ['N\run' => 1];
""",
    "b.php": r"""<?php
namespace M;
use function N\run; <<
$g = run(...); <<
is_callable('N\run'); <<
""",
}
PHP_METHOD = {
    "a.php": """<?php
class A {
  private $m = 1;
  function m($x, $y) { return $x; }
  function run($l) {
    array_map([$this, 'm'], $l); <<
    array_map(array($this, "m"), $l); <<
    $f = $this->m(...); <<
    $e->on('x', [$this, 'm']); <<
    $t = ['x' => [$this, 'm']]; <<
    return [$this, 'm']; <<
  }
  function data() { return ['this', 'm']; }
}
class H {
  private A $a;
  function k(A $b) {
    array_map([$this->a, 'm'], $l); <<
    call_user_func([$b, 'm'], 1); <<
    call_user_func([new A(), 'm'], 1); <<
    return [$b, 'm']; <<
  }
  function unknown($c) { return [$c, 'm']; }
}
""",
}
PHP_STATIC = {
    "a.php": r"""<?php
class A {
  static function s($x) { return $x; }
  function run($l) {
    array_map([self::class, 's'], $l); <<
    array_map([static::class, 's'], $l); <<
    array_map([A::class, 's'], $l); <<
    array_map('A::s', $l); <<
    array_map('\A::s', $l); <<
    array_map(['A', 's'], $l); <<
    array_map('self::s', $l); <<
    array_map(self::s(...), $l); <<
    array_map([__CLASS__, 's'], $l); <<
    return ['A', 's'];
  }
}
""",
}
RUBY = {
    "a.rb": """class A
  def m(x) = x
end
""",
    "b.rb": """require_relative "a"
class B < A
  def k
    list.each(&method(:m)) <<
    x = method(:m) <<
    public_send(:m, 1) <<
    send("m", 1) <<
    list.each(&:m) <<?
    list.each(&:n)
  end
end
class H
  def initialize
    @a = A.new
  end
  def k
    b = A.new
    @a.method(:m) <<
    list.each(&b.method(:m)) <<
    A.instance_method(:m) <<
    b.respond_to?(:m) <<
    A.method(:m)
    method(:m)
  end
end
""",
}
RUBY_FUNCTION = {
    "a.rb": "def f(x) = x\nz = method(:f) <<\n",
    "b.rb": 'require_relative "a"\n[1].each(&method(:f)) <<\n',
}
TYPESCRIPT = {
    "a.ts": """export class A {
  m(x: number) { return x; }
  c = this.m; <<
  go() { return [this.m]; } <<
}
class H { a: A; go() { use(this.a.m); x = { h: this.a.m }; } } <<
""",
    "b.tsx": """import { A } from './a';
function k(a: A) {
  use(a.m); <<
  const h = a.m; <<
  const o = { h: a.m, ...a.m }; <<
  o.x = a.m; <<
  const { m } = a; <<
  a.m.call(a, 1); <<
  use(a.m.bind(a)); <<
  return c ? a.m : o.m; <<
}
function z(a?: A) { use(a?.m); return (a!.m); } <<
const q = (a: A) => a.m; <<
const r = (a: A) => { x = a.m || 1; } <<
function K(a: A) { return <B onClick={a.m} />; } <<
""",
}
TYPESCRIPT_STATIC = {
    "a.ts": "export class A { static m(x: number) { return x; } }\n",
    "b.ts": """import { A } from './a';
import * as ns from './a';
const r = A.m; <<
use(ns.A.m); <<
const { m } = A; <<
export default ns.A.m; <<
""",
}
JAVASCRIPT = {
    "a.js": """export class A {
  m(x) { return x; }
  go() { on('a', this.m); return [this.m]; } <<
}
function k() {
  const a = new A();
  use(a.m); <<
  const h = a.m; <<
  return a.m; <<
}
""",
}
KOTLIN = {
    "A.kt": """open class A {
    fun m(x: Int): Int = x
    fun go(l: List<Int>) {
        l.map(::m) <<
        l.map(this::m) <<
        val f = A::m <<
        val g = this::m <<
    }
}
class B : A() { fun k() { run(super::m) } } <<
""",
    "C.kt": """class C(val a: A) {
    fun k(b: B) {
        run(this.a::m) <<
        run(a::m) <<
        run(b::m) <<
        run(B::m) <<
        val x = b::m <<
    }
}
""",
}
JAVA = {
    "p/A.java": """package p;
public class A {
  int m(int x) { return x; }
  void go(List<Integer> l, A other) {
    l.stream().map(this::m); <<
    l.stream().map(other::m); <<
    F f = A::m; <<
    run(new A()::m); <<
    l.forEach(A.this::m); <<
  }
}
""",
    "p/B.java": """package p;
class B extends A {
  void k() { run(super::m); } <<
  F l(boolean c) { return c ? this::m : null; } <<
}
class C { void k(B b) { run(b::m, B::m); } } <<
""",
}
CSHARP = {
    "A.cs": """partial class A {
  void OnClick(object s, EventArgs e) {}
  void Init() {
    button.Click += OnClick; <<
    button.Click -= this.OnClick; <<
    button.Click += new EventHandler(OnClick); <<
    Run(OnClick); <<
    var b = this.OnClick; <<
    x = cond ? OnClick : null; <<
    H h = (H)OnClick; <<
    var d = new D { F = OnClick, G = this.OnClick }; <<
    Action[] arr = { OnClick }; <<
  }
  Action P => OnClick; <<
  object O(int i) => i switch { 1 => OnClick, _ => null }; <<
  (F, int) T() => (OnClick, 1); <<
  F[] c = [OnClick]; <<
}
""",
    "B.cs": """partial class A {
  Dictionary<string, F> m = new() { ["a"] = OnClick, { "b", OnClick } }; <<
  [Handler(nameof(OnClick))] <<
  void K(A a) { Run(a.OnClick); } <<
}
""",
}
RUST = {
    "src/lib.rs": """mod b;
pub struct T;
impl T {
    pub fn m(x: u32) -> u32 { x }
    fn g(v: Vec<u32>) { v.iter().map(Self::m); } <<
}
fn k() {
    use1(T::m); <<
    let t = [T::m, crate::T::m]; <<
    let s = S { f: T::m }; <<
    let z = (T::m, 1); <<
    let q = T::m as usize; <<
    let c = if a { T::m } else { g }; <<
    match y { 1 => T::m, _ => g }; <<
    (T::m)(1); <<
}
static F: fn(u32) -> u32 = T::m; <<
fn r() -> fn(u32) -> u32 { T::m } <<
""",
    "src/b.rs": "use super::T;\nfn k() { v.map(T::m); } <<\n",
}
RUST_FUNCTION = {
    "src/lib.rs": """fn f(x: u32) -> u32 { x }
fn k() {
    use1(f); <<
    let g = f; <<
    let s = S { f }; <<
    let q = f as usize; <<
    let d = f.clone(); <<
    (f)(1); <<
    vec![f]; <<
}
""",
}
MACROS = r"""#define CALL(x) f(x) <<
#define NAME f <<
#define TWO(x) \
  do { \
    f(x); } while (0) <<
#define NESTED(x) CALL(f(x)) /* g */ <<
#define STR "f(x)"
#define SHADOW(f) f(1)
#define JOINED(a) f##a
#define JOINED2(a) a##f
#define QUOTED(f) #f
#define MEMBER(a) a->f(1) + a.f
#define COMMENT(x) x // f(1)
#define CHARACTER 'f'
"""
C_MACRO = {
    "a.c": "int f(int x) { return x; }\n",
    "a.h": f"int f(int x);\n{MACROS}",
    "b.c": '#include "a.h"\nint g(void) { return CALL(1); }\n',
}
CPP_MACRO = {
    "a.hpp": r"""namespace n { int f(int x); }
#define CALL(x) n::f(x) <<
#define GLOBAL(x) ::n::f(x) <<
#define NAME n::f <<
#define OTHER(x) m::f(x)
""",
}
CASES = {
    "c, macro": (C_MACRO, "a.c:f"),
    "c++, macro": (CPP_MACRO, "a.hpp:n.f"),
    "kotlin": (KOTLIN, "A.kt:A.m"),
    "java": (JAVA, "p/A.java:A.m"),
    "c#": (CSHARP, "A.cs:A.OnClick"),
    "rust": (RUST, "src/lib.rs:T.m"),
    "rust, function": (RUST_FUNCTION, "src/lib.rs:f"),
    "typescript": (TYPESCRIPT, "a.ts:A.m"),
    "typescript, static": (TYPESCRIPT_STATIC, "a.ts:A.m"),
    "javascript": (JAVASCRIPT, "a.js:A.m"),
    "php": (PHP, "a.php:run"),
    "php, method": (PHP_METHOD, "a.php:A.m"),
    "php, static": (PHP_STATIC, "a.php:A.s"),
    "ruby": (RUBY, "a.rb:A.m"),
    "ruby, function": (RUBY_FUNCTION, "a.rb:f"),
    "lua": (LUA, "m.lua:M.f"),
    "lua, local": (LUA_LOCAL, "m.lua:f"),
    "lua, method": (LUA_METHOD, "c.lua:C.m"),
    "lua, returned": (LUA_RETURNED, "m.lua:f"),
    "go": (GO, "a/a.go:H.Serve"),
    "go, other file": (GO_FUNCTION, "a/a.go:run"),
    "c": (C, "a.c:f"),
    "c++": (CPP, "a.hpp:n.f"),
    "c++, method": (CPP_METHOD, "a.hpp:C.m"),
}


@pytest.mark.parametrize("case", CASES)
def test_value_is_a_use(case: str) -> None:
    files, target = CASES[case]
    found, expected = uses_in(files, target)
    assert found == expected


def test_an_alternative_of_a_union_is_not_chosen() -> None:
    declared = "type T =\n  | { kind: 'a' }\n  | { kind: 'b' };\n"
    found, _ = uses_in(
        {"a.ts": f"{declared}function f(t: T) {{ return t.kind; }}\n"}, "a.ts:T.kind"
    )
    assert found == []
