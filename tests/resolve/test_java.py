"""Java: calls by declared types, packages and inheritance."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

from codelens.resolve.languages.classes.class_types import Arity, arity, class_type

ROOT = "src/main/java/"
SHOP = {
    ROOT + "shop/Item.java": (
        "package shop;\npublic class Item extends Base implements Named {\n  Item next;\n"
        "  public Item copy() { return this; }\n  void mark(int a) {}\n  void mark(int a, String "
        "b) {}\n"
        "  static Item of(String name) { return new Item(); }\n  class Part { void turn() {} }\n}\n"
    ),
    ROOT + "shop/Base.java": (
        "package shop;\nabstract class Base {\n  protected void log() {}\n  Named owner() { "
        "return null; }\n}\n"
    ),
    ROOT + "shop/Named.java": "package shop;\npublic interface Named { String name(); }\n",
    ROOT + "shop/Color.java": (
        "package shop;\npublic enum Color { RED; Color dark() { return this; } }\n"
    ),
    ROOT + "shop/Pair.java": "package shop;\npublic record Pair(Item left, int right) { }\n",
}


def used(body: str, imports: str = "import shop.*;") -> list[str]:
    """What a method's body calls."""
    path = ROOT + "app/Main.java"
    text = (
        f"package app;\n{imports}\nimport java.util.*;\nclass Main {{\n  Item field;\n"
        f"  void run(Item item, List<Item> items, Map<String, Item> byName) {{\n    {body}\n  }}\n"
        "  void helper() {}\n}\n"
    )
    return called_in({**SHOP, path: text}, f"{path}:Main.run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("item.copy().next.copy().log();", ["Item.copy", "Base.log"]),
        ("field.log(); this.field.copy(); helper(); this.helper();",
         ["Base.log", "Item.copy", "Main.helper"]),
        ("item.owner().name();", ["Base.owner", "Named.name"]),
        ("var x = Item.of(\"a\"); x.log();", ["Item.of", "Base.log"]),
        ("for (Item one : items) one.copy(); for (var two : items) two.log();",
         ["Item.copy", "Base.log"]),
        ("items.get(0).copy(); byName.get(\"x\").log();", ["Item.copy", "Base.log"]),
        ("item.mark(1, \"b\"); item.mark(1);", ["Item.mark"]),
        ("item.mark();", []),
        ("new Item().copy(); ((Item) other()).log();", ["Item", "Item.copy", "Base.log"]),
        ("Color.RED.dark().dark();", ["Color.dark"]),
        ("Object o = item; if (o instanceof Item i) i.copy();", ["Item.copy"]),
        ("Runnable r = () -> item.copy();", ["Item.copy"]),
        ("new Base() { void own() { log(); helper(); } };", ["Base"]),
        ("new Pair(item, 1).left().copy();", ["Pair", "Pair.left", "Item.copy"]),
        ("Item.Part p = null; p.turn();", ["Item.Part.turn"]),
        ("unknown().copy(); other.log(); items.log();", []),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_an_import_by_name_hides_names_of_the_package() -> None:
    assert used("new Item().copy();", "import other.Item;") == []
    assert used("Item.of(null); of(null);", "import shop.Item;\nimport static shop.Item.of;") == [
        "Item.of"
    ]


def test_the_bases_of_a_nameless_class_are_seen_in_it() -> None:
    files = {
        ROOT + "a/A.java": "package a;\nclass A {\n  void hook() {}\n  void run() {}\n}\n",
        ROOT + "a/B.java": (
            "package a;\nclass B {\n  void run() {}\n  void b() {\n    new A() { void go() { "
            "hook(); run(); } };\n"
            "  }\n}\n"
        ),
    }
    assert [edge for edge in edges_of(files) if ".go" in edge] == [
        "src/main/java/a/B.java:B.b.go -> src/main/java/a/A.java:A.hook",
        "src/main/java/a/B.java:B.b.go -> src/main/java/a/A.java:A.run",
    ]


def test_classes_that_derive_from_each_other_end() -> None:
    files = {
        "A.java": "class A extends B { void a() { b(); none(); } }\n",
        "B.java": "class B extends A { void b() { a(); none(); } }\n",
    }
    assert edges_of(files) == ["A.java:A.a -> B.java:B.b", "B.java:B.b -> A.java:A.a"]


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("void f()", Arity(0, 0)),
        ("Map<A, B> f(Map<A, B> a, int b)", Arity(2, 2)),
        ("void f(int a, Object... rest)", Arity(1, 1 << 30)),
        ("fun f(a: (Int) -> Unit, b: Int = 1)", Arity(1, 2)),
        ("void g", Arity(0, 1 << 30)),
    ],
)
def test_parameters_are_counted(signature: str, expected: Arity) -> None:
    assert arity(signature, "f") == expected


def test_types_are_read() -> None:
    assert class_type("@Nullable final List<? extends Item>") == "List<Item>"
    assert class_type("\\App\\Item") == "App.Item"


def test_a_call_that_fits_several_overloads_may_mean_each_of_them() -> None:
    files = {
        "A.java": "class A {\n  void m(Left a) {}\n  void m(Right b) {}\n  void m() {}\n}\n",
        "B.java": "class B {\n  void run(A a) { a.m(unknown()); a.m(); }\n}\n",
    }
    assert edges_of(files, numbered=True) == ["B.java:B.run -> A.java:A.m~3"]
    assert edges_of(files, certain=False, numbered=True) == [
        "B.java:B.run -> A.java:A.m",
        "B.java:B.run -> A.java:A.m~2",
    ]


def test_a_constructor_that_calls_another_makes_its_class() -> None:
    files = {
        "j/Base.java": (
            "package j;\nclass Base implements Runnable {\n  Base(String m) {}\n  Base() {}\n}\n"
        ),
        "j/Part.java": (
            "package j;\nclass Part extends Base {\n  Part(String m) { super(m); }\n"
            '  Part() { this("a"); }\n}\n'
        ),
    }
    assert edges_of(files, numbered=True) == [
        "j/Part.java:Part.Part -> j/Base.java:Base",
        "j/Part.java:Part.Part~2 -> Part",
    ]


def test_a_default_method_is_called_by_the_name_of_its_interface() -> None:
    files = {
        "j/Shop.java": "package j;\ninterface Shop { default void sell() {} }\n",
        "j/Base.java": "package j;\nclass Base { void sell() {} }\n",
        "j/Book.java": (
            "package j;\nclass Book extends Base implements Shop {\n"
            "  public void sell() { Shop.super.sell(); }\n"
            "  class Page { void turn() { Book.super.sell(); } }\n}\n"
        ),
    }
    assert edges_of(files) == ["j/Book.java:Book.sell -> j/Shop.java:Shop.sell"]


@pytest.mark.parametrize(
    "body",
    [
        "for (T t : several) t.go();",
        "several[0].go();",
        "maybe.get().go();",
        "maybe.orElseThrow().go();",
        "maybe.ifPresent(t -> t.go());",
        "queue.peekFirst().go();",
    ],
)
def test_field_types_are_known(body: str) -> None:
    text = (
        "package a;\nclass T { void go() {} }\n"
        "class Main { void run(Optional<T> maybe, Deque<T> queue, T... several) "
        f"{{ {body} }} }}\n"
    )
    assert edges_of({"a/Main.java": text}) == ["a/Main.java:Main.run -> T.go"]


TAKERS = """class Item { void copy() {} }
interface Taker<T> { void take(T x, int n); }
class Main {
  Taker<Item> field = (a, n) -> a.copy();
  void local() { Taker<Item> t = (b, n) -> b.copy(); }
  void cast() { Object o = (Taker<Item>) (c, n) -> c.copy(); }
  Taker<Item> result() { return (d, n) -> d.copy(); }
  Object nothing() { return (e, n) -> e.copy(); }
  Taker<Item> inside() { return (f, n) -> { Object o = (g, m) -> g.copy(); }; }
}
"""


def test_a_lambda_receives_what_the_type_before_it_declares() -> None:
    assert edges_of({"Main.java": TAKERS}) == [
        f"Main.java:{user} -> Item.copy"
        for user in ("Main", "Main.local", "Main.cast", "Main.result")
    ]
