"""Reads and writes of fields: by a receiver, in literals, in patterns."""

from __future__ import annotations

from tests.resolved_edges import edges_of


def _uses(files: dict[str, str], user: str) -> list[str]:
    """The fields that a definition of the last file uses, with their owners, in order."""
    start = f"{list(files)[-1]}:{user} -> "
    edges = [edge.removeprefix(start) for edge in edges_of(files, "ref") if edge.startswith(start)]
    names = [edge.rpartition(":")[2] for edge in edges]
    return [name for name in names if "." in name]


GO = {
    "go.mod": "module m\n",
    "a/a.go": """package a

type Base struct{ ID int }
type Box struct {
	Base
	Size int
	Next *Box
	Tags map[string]*Box
}
type Point struct{ X, Y int }
type Pair[T any] struct{ Left T }
type Sizes map[int]string

const Size = 3
""",
}


def test_go_fields_by_their_receiver() -> None:
    text = """package a

func deep(b *Box) int { return b.Next.Tags["a"].Size }
func embedded(b *Box) { b.ID = b.Base.ID }
func results(f func() Point) int { return f().Y }
func elements(all []Point) (sum int) {
	for _, p := range all {
		sum += p.X
	}
	return
}
func generic(p Pair[int]) int { return p.Left }
func unknown(p any) int { return p.Size }
"""
    files = {**GO, "a/b.go": text}
    assert _uses(files, "deep") == ["Box.Next", "Box.Tags", "Box.Size"]
    assert _uses(files, "embedded") == ["Base.ID", "Box.Base"]
    assert _uses(files, "results") == ["Point.Y"]
    assert _uses(files, "elements") == ["Point.X"]
    assert _uses(files, "generic") == ["Pair.Left"]
    assert _uses(files, "unknown") == []


def test_go_keys_of_literals() -> None:
    text = """package b

import "m/a"

func plain() { f(a.Box{Size: 1, Next: &a.Box{ID: 2}}) }
func listed() { f([]a.Point{{X: 1}, {Y: 2}}) }
func mapped() { f(map[string]*a.Point{"x": {X: 1}}) }
func constant() { f(map[int]string{a.Size: "x"}) }
func unnamed() { f(struct{ Size int }{Size: 1}) }
"""
    files = {**GO, "b/b.go": text}
    assert _uses(files, "plain") == ["Box.Size", "Box.Next", "Base.ID"]
    assert _uses(files, "listed") == ["Point.X", "Point.Y"]
    assert _uses(files, "mapped") == ["Point.X"]
    assert _uses(files, "constant") == []
    assert _uses(files, "unnamed") == []


def test_go_keys_of_a_map_are_expressions() -> None:
    for type_ in ("Sizes", "map[int]string", "[]string"):
        files = {**GO, "a/b.go": f"package a\n\nfunc f() {{ g({type_}{{Size: `x`}}) }}\n"}
        assert "a/b.go:f -> a/a.go:Size" in edges_of(files, "ref"), type_


RUST = {
    "Cargo.toml": '[package]\nname = "m"\n',
    "src/a.rs": """
pub struct Point { pub x: i32, pub y: i32 }
pub struct Holder { pub point: Point, list: Vec<Point> }
pub enum Shape { Rect { w: i32, h: i32 }, Dot }
""",
}


def test_rust_fields_by_their_receiver() -> None:
    text = """mod a;
use a::{Holder, Point};

fn deep(h: &Holder) -> i32 { h.point.x }
fn write(h: &mut Holder) { h.point.y += 1; }
fn element(h: &Holder) -> i32 { h.list[0].x }
fn closure(h: &Holder) -> i32 { h.list.iter().map(|p| p.y).sum() }
fn within_a_macro(h: &Holder) { println!("{}", h.point.x); }
fn tuple(pair: (i32, i32)) -> i32 { pair.0 }
"""
    files = {**RUST, "src/lib.rs": text}
    assert _uses(files, "deep") == ["Holder.point", "Point.x"]
    assert _uses(files, "write") == ["Holder.point", "Point.y"]
    assert _uses(files, "element") == ["Holder.list", "Point.x"]
    assert _uses(files, "closure") == ["Holder.list", "Point.y"]
    assert _uses(files, "within_a_macro") == ["Holder.point", "Point.x"]
    assert _uses(files, "tuple") == []


def test_rust_keys_of_literals_and_patterns() -> None:
    text = """mod a;
use a::{Point, Shape};

fn literal(y: i32) -> Point { Point { x: 1, y } }
fn pattern(p: Point) -> i32 { let Point { x, y: other } = p; x + other }
fn variant(s: Shape) -> i32 { match s { Shape::Rect { w, .. } => w, _ => 0 } }
impl Point { fn own() -> Self { Self { x: 1, y: 2 } } }
"""
    files = {**RUST, "src/lib.rs": text}
    assert _uses(files, "literal") == ["Point.x", "Point.y"]
    assert _uses(files, "pattern") == ["Point.x", "Point.y"]
    assert _uses(files, "variant") == ["Shape.Rect", "Shape.Rect.w"]
    assert _uses(files, "Point.own") == ["Point.x", "Point.y"]


JAVA = {
    "p/Base.java": "package p;\npublic class Base { protected int total; boolean flag; }\n",
    "p/Box.java": """package p;
public class Box extends Base {
  public int size;
  Box next;
  java.util.List<Box> all;
}
""",
}


def test_java_fields() -> None:
    text = """package p;
class Use extends Base {
  int own;
  int receiver(Box b) { return b.next.size + this.own; }
  void write(Box b) { b.size = 2; own++; }
  boolean inherited() { total += 1; return flag; }
  void lambda(Box b) { b.all.forEach(x -> x.size++); }
  int hidden(int own) { return own; }
  int array(int[] data) { return data[own]; }
}
"""
    files = {**JAVA, "p/Use.java": text}
    assert _uses(files, "Use.receiver") == ["Box.next", "Box.size", "Use.own"]
    assert _uses(files, "Use.write") == ["Box.size", "Use.own"]
    assert _uses(files, "Use.inherited") == ["Base.total", "Base.flag"]
    assert _uses(files, "Use.lambda") == ["Box.all", "Box.size"]
    assert _uses(files, "Use.hidden") == []
    assert _uses(files, "Use.array") == ["Use.own"]


CPP = {
    "box.h": """
struct Point { int x, y; };
class Box {
 public:
  Box(int size);
  int Grow(const Box& other);
  int Sum();
  void Write();
  int Hidden(int size_);
  int size_;
  Point at;
  Box* next;
  static int count_;
  Point all_[4];
};
""",
}


def test_cpp_fields() -> None:
    text = """#include "box.h"
Box::Box(int size) : size_(size), next(nullptr) {}
int Box::Grow(const Box& other) { return size_ + other.size_ + this->at.x + next->at.y; }
int Box::Sum() { int sum = 0; for (auto& p : all_) sum += p.x; return sum + Box::count_; }
void Box::Write() { size_ = 1; at.x = 2; count_++; }
int Box::Hidden(int size_) { return size_; }
int use(Box* b) { return (*b).next->size_; }
void literal() { Point q = {.x = 1, .y = 2}; f(q, Point{.x = 3}); }
"""
    files = {**CPP, "box.cc": text}
    assert _uses(files, "Box.Box") == ["Box.size_", "Box.next"]
    assert _uses(files, "Box.Grow") == ["Box.size_", "Box.at", "Point.x", "Box.next", "Point.y"]
    assert _uses(files, "Box.Sum") == ["Box.all_", "Point.x", "Box.count_"]
    assert _uses(files, "Box.Write") == ["Box.size_", "Box.at", "Point.x", "Box.count_"]
    assert _uses(files, "Box.Hidden") == []
    assert _uses(files, "use") == ["Box.next", "Box.size_"]
    assert _uses(files, "literal") == ["Point.x", "Point.y"]


def test_cpp_initializers_of_fields_are_no_calls() -> None:
    files = {**CPP, "box.cc": '#include "box.h"\nBox::Box(int size) : size_(size) {}\n'}
    assert not [edge for edge in edges_of(files) if edge.endswith("size_")]


C = {
    "a.h": """
struct point { int x; int y; };
typedef struct { int w; struct point at; } rect_t;
struct ops { int (*open)(int); void (*close)(void); };
""",
}


def test_c_fields() -> None:
    text = """#include "a.h"
static const struct ops OPS = { .open = 0, .close = 0 };
int use(rect_t *r, struct point p) { p.y = 1; return r->at.x + p.y; }
void literal(void) { struct point q = { .x = 4 }; rect_t r = { .at = { .y = 1 } }; f(&q, &r); }
void compound(void) { f(&(struct point){ .x = 1 }); }
void listed(void) { struct point all[] = { { .x = 1 }, [1] = { .y = 3 } }; f(all); }
int unknown(void *p) { return p->x; }
"""
    files = {**C, "a.c": text}
    assert _uses(files, "OPS") == []
    assert "a.c:- -> a.h:ops.open" in edges_of(files, "ref")
    assert _uses(files, "use") == ["point.y", "rect_t.at", "point.x"]
    assert _uses(files, "literal") == ["point.x", "rect_t.at", "point.y"]
    assert _uses(files, "compound") == ["point.x"]
    assert _uses(files, "listed") == ["point.x", "point.y"]
    assert _uses(files, "unknown") == []


TYPESCRIPT = {
    "a.ts": """export interface Opts { name: string; inner?: Inner; list: Inner[] }
export interface Inner { depth: number }
export class Box {
  size = 0;
  private opts!: Opts;
  static count = 0;
  constructor(public readonly at: Inner) {}
}
""",
}


def test_typescript_fields_by_their_receiver() -> None:
    text = """import { Opts, Box } from "./a";
function optional(b?: Box) { return b?.size; }
function deep(o: Opts) { return o.inner!.depth + o.list[0].depth; }
function given(b: Box) { return b.at.depth + Box.count; }
function write(o: Opts) { o.name = "x"; }
function lambda(o: Opts) { return o.list.map(i => i.depth); }
function unknown(o: any) { return o.name; }
class Own { size = 0;
  set() { this.size = 2; }
}
"""
    files = {**TYPESCRIPT, "b.ts": text}
    assert _uses(files, "optional") == ["Box.size"]
    assert _uses(files, "deep") == ["Opts.inner", "Inner.depth", "Opts.list"]
    assert _uses(files, "given") == ["Box.at", "Inner.depth", "Box.count"]
    assert _uses(files, "write") == ["Opts.name"]
    assert _uses(files, "lambda") == ["Opts.list", "Inner.depth"]
    assert _uses(files, "unknown") == []
    assert _uses(files, "Own.set") == ["Own.size"]


def test_typescript_keys() -> None:
    text = """import { Opts, Inner } from "./a";
const lit: Opts = { name: "a", inner: { depth: 1 }, list: [{ depth: 2 }] };
function arrow() { const make = (): Inner => ({ depth: 3 }); return make; }
function cast() { return { depth: 4 } as Inner; }
function result(depth: number): Inner { return { depth }; }
function parameter({ name, list }: Opts) { return name; }
function variable(o: Opts) { const { inner } = o; return inner; }
function unknown() { return { name: "a" }; }
"""
    files = {**TYPESCRIPT, "b.ts": text}
    assert _uses(files, "lit") == ["Opts.name", "Opts.inner", "Inner.depth", "Opts.list"]
    for user in ("arrow.make", "cast", "result"):
        assert "Inner.depth" in _uses(files, user), user
    assert _uses(files, "parameter") == ["Opts.name", "Opts.list"]
    assert _uses(files, "variable") == ["Opts.inner"]
    assert _uses(files, "unknown") == []


def test_php_fields() -> None:
    text = """<?php
namespace App;
class Point { public int $x = 0; public static int $count = 0; }
class Base { protected static int $total = 0; protected int $flag = 0; }
class Box extends Base {
    private int $size = 0;
    public ?Box $next = null;
    public function __construct(private string $name, public readonly Point $origin) {}
    public function read(Box $other): int { return $this->size + $other->next?->size; }
    public function promoted() { return $this->name . $this->origin->x; }
    public function inherited() { return $this->flag; }
    public function write() { $this->size = 1; }
    public function statics() { self::$total = parent::$total + Point::$count; }
    public function unknown($other) { return $other->size; }
}
"""
    files = {"a.php": text}
    assert _uses(files, "Box.read") == ["Box.size", "Box.next"]
    assert _uses(files, "Box.promoted") == ["Box.name", "Box.origin", "Point.x"]
    assert _uses(files, "Box.inherited") == ["Base.flag"]
    assert _uses(files, "Box.write") == ["Box.size"]
    assert _uses(files, "Box.statics") == ["Base.total", "Point.count"]
    assert _uses(files, "Box.unknown") == []


def test_csharp_fields() -> None:
    base = """namespace P;
public class Base { protected int _total; }
public class Point { public int X; public string Name { get; set; } }
"""
    text = """using System.Collections.Generic;
namespace P;
public class Box : Base {
  public int Size;
  private Box _next;
  static int Count;
  List<Point> _all;
  public Point At { get; set; }
  int Read(Box other) { return Size + other.Size + _next._next.Size; }
  void Write(Box other) { Size = 1; other.At.X = 2; Box.Count++; }
  void Inherited() { _total += 1; }
  void Each() { foreach (var p in _all) { p.X++; } }
  void Literal() { F(new Point { X = 1, Name = "a" }); }
  int Hidden(int _total) { return _total; }
  int Unknown(dynamic other) { return other.Size; }
}
"""
    files = {"A.cs": base, "B.cs": text}
    assert _uses(files, "Box.Read") == ["Box.Size", "Box._next"]
    assert _uses(files, "Box.Write") == ["Box.Size", "Box.At", "Point.X", "Box.Count"]
    assert _uses(files, "Box.Inherited") == ["Base._total"]
    assert _uses(files, "Box.Each") == ["Box._all", "Point.X"]
    assert _uses(files, "Box.Literal") == ["Point.X", "Point.Name"]
    assert _uses(files, "Box.Hidden") == []
    assert _uses(files, "Box.Unknown") == []


def test_kotlin_fields() -> None:
    base = """package p
open class Base { var total = 0; protected val flag: Boolean = true }
data class Point(val x: Int, var y: Int)
class Box(val at: Point, private var size: Int) {
    var next: Box? = null
    companion object { var count = 0 }
}
"""
    text = """package q
import p.Base
import p.Box
import p.Point
class Use(private var size: Int) : Base() {
    val all: List<Point> = listOf()
    fun read(b: Box): Int { return b.at.x + (b.next?.at?.y ?: 0) + size }
    fun write(b: Box) { b.next = null; size = 1; this.size += 2 }
    fun inherited(): Boolean { total++; return flag }
    fun lambda() { all.forEach { println(it.x) } }
    fun text(p: Point) { println("${p.y}") }
    fun static() { Box.count++ }
    fun hidden(size: Int): Int { return size }
    fun named() { make(size = 3) }
}
"""
    files = {"src/p/A.kt": base, "src/q/B.kt": text}
    assert _uses(files, "Use.read") == ["Box.at", "Point.x", "Box.next", "Point.y", "Use.size"]
    assert _uses(files, "Use.write") == ["Box.next", "Use.size"]
    assert _uses(files, "Use.inherited") == ["Base.total", "Base.flag"]
    assert _uses(files, "Use.lambda") == ["Use.all", "Point.x"]
    assert _uses(files, "Use.text") == ["Point.y"]
    assert "Box.count" in _uses(files, "Use.static")
    assert _uses(files, "Use.hidden") == []
    assert _uses(files, "Use.named") == []


def test_c_fields_of_a_typedef_with_a_tag() -> None:
    files = {
        "a.h": "typedef struct node_s { int x; struct node_s *next; } node;\n",
        "a.c": '#include "a.h"\nint use(node *n) { return n->next->x; }\n',
    }
    assert _uses(files, "use") == ["node_s.next", "node_s.x"]


RUBY = {
    "box.rb": """class Box
  attr_reader :size
  def initialize(size)
    @size = size
    @total = 0
  end
  def named
    3
  end
end
""",
}


def test_ruby_variables_of_the_instance() -> None:
    text = """require_relative "box"
class Box
  def own
    @size + @total + @named
  end
  def called
    size + named
  end
end
class Crate < Box
  def inherited
    @total += 1
    "#{@total}"
  end
end
class Other
  def foreign
    @total
  end
end
"""
    files = {**RUBY, "use.rb": text}
    assert _uses(files, "Box.own") == ["Box.size", "Box.total"]
    assert _uses(files, "Crate.inherited") == ["Box.total"]
    assert _uses(files, "Other.foreign") == []
    assert "use.rb:Box.called -> box.rb:Box.named" in edges_of(files)
    own = [edge for edge in edges_of(RUBY, "ref") if "Box.initialize" in edge]
    assert own == ["box.rb:Box.initialize -> Box.size"]


JAVA_CASES = {
    "Kind.java": "enum Kind {\n  ONE, TWO;\n}\n",
    "Use.java": """class Use {
  static final int OWN = 1;
  Kind kind() { return null; }
  void own(Kind k) { switch (k) { case ONE: break; case TWO: } }
  int result() { return switch (this.kind()) { case ONE, TWO -> 1; }; }
  void constant(int n) { switch (n) { case OWN: } }
  void unknown(Object o) { switch (o.kind()) { case OWN: case ONE: } }
  @interface Of {
    int one() default OWN;
    int[] more() default { OWN };
  }
}
""",
}


def test_java_cases_are_constants_of_the_value() -> None:
    assert _uses(JAVA_CASES, "Use.own") == ["Kind.ONE", "Kind.TWO"]
    assert _uses(JAVA_CASES, "Use.result") == ["Kind.ONE", "Kind.TWO"]
    of_constants = [edge for edge in edges_of(JAVA_CASES, "ref") if edge.endswith("Use.OWN")]
    assert [edge.rpartition(" -> ")[0].rpartition(":")[2] for edge in of_constants] == [
        "Use.constant", "Use.unknown", "Use.Of.one", "Use.Of.more",
    ]  # fmt: skip
    assert _uses(JAVA_CASES, "Use.unknown") == ["Use.OWN"]
