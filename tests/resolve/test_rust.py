"""Rust: modules, `use`, `impl` blocks, traits."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

from codelens.resolve.languages.rust_types import rust_type

CRATE = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "pub mod item;\nmod store;\npub use store::Store;\npub use crate::item::*;\n",
    "src/item.rs": (
        "use crate::store::Store;\n"
        "pub struct Item { pub owner: Option<Box<Store>>, parts: Vec<Part>, pair: (Part, u8) }\n"
        "pub struct Part;\n"
        "pub enum Kind { Small(u8), Big }\n"
        "pub trait Named { fn name(&self) -> Part; fn shout(&self) { self.name(); } }\n"
        "impl Item {\n    pub fn new() -> Result<Self, Error> { Ok(Self {}) }\n"
        "    pub fn mark(&mut self) -> &mut Self { self.own(); self }\n    fn own(&self) {}\n"
        "    pub fn parts(&self) -> &[Part] { &self.parts }\n}\n"
        "impl Named for Item { fn name(&self) -> Part { Part } }\n"
        "impl Part { pub fn turn(&self) {} }\nimpl Kind { fn is(&self) {} }\n"
        "pub fn free<T: Named + Clone>(a: T, b: &dyn Named, c: impl Named) { a.name(); "
        "b.shout(); c.name(); }\n"
        "#[macro_export]\nmacro_rules! make { () => {} }\n"
    ),
    "src/store.rs": (
        "use super::item::Item;\npub struct Store { pub first: Item }\n"
        "pub type Shop = Store;\nimpl Store { pub fn open() -> Store { todo() } fn item(&self) "
        "-> Item { x() } }\n"
    ),
    "src/store/more.rs": "impl super::Store { pub fn close(self) {} }\n",
}
CRATE["src/store.rs"] += "mod more;\n"


def used(
    body: str, uses: str = "use shop::{Item, Kind, Part, Store, Named, free, make};"
) -> list[str]:
    """What a function's body calls, from a test of the crate."""
    text = f"{uses}\nfn run(item: &Item, mut store: Store, kind: Kind) {{\n    {body}\n}}\n"
    return called_in({**CRATE, "tests/it.rs": text}, "tests/it.rs:run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let i = Item::new()?; i.mark().mark().shout();",
         ["Item.new", "Item.mark", "Named.shout"]),
        ("let i = Item::new().unwrap(); i.name().turn();", ["Item.new", "Item.name", "Part.turn"]),
        ("store.first.mark(); Store::open().first.name();",
         ["Item.mark", "Store.open", "Item.name"]),
        ("store.close();", ["Store.close"]),
        ("for part in item.parts().iter() { part.turn(); }", ["Item.parts", "Part.turn"]),
        ("if let Some(s) = &item.owner { s.first.mark(); }", ["Item.mark"]),
        ("match item.owner { Some(s) => s.first.mark(), None => {} }", ["Item.mark"]),
        ("let o = item.owner.as_ref().expect(\"x\"); o.first.mark();", ["Item.mark"]),
        ("item.pair.0.turn(); let (p, n) = item.pair; p.turn();", ["Part.turn"]),
        ("let f = |i: Item| i.mark();", ["Item.mark"]),
        ("let k = Kind::Small(1); k.is(); kind.is();", ["Kind.Small", "Kind.is"]),
        ("Named::shout(item); <Item as Named>::name(item);",
         ["Named.shout", "Item.name"]),
        ("free::<Item>(x(), item, y()); make!();", ["free", "make"]),
        ("let item = other(); item.mark(); println!(\"{}\", item.name());", []),
        ("assert_eq!(store.first.name(), 1);", ["Item.name"]),
        ("fn inner() {} inner(); format!(\"x\"); write!(a, b);", ["run.inner"]),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_bounds_and_traits_as_types_give_the_methods_of_the_trait() -> None:
    assert [edge for edge in edges_of(CRATE) if ":free" in edge] == [
        "src/item.rs:free -> Named.name",
        "src/item.rs:free -> Named.shout",
    ]


def test_super_in_a_module_of_the_file_is_the_file() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\n',
        "src/lib.rs": "mod deep;\npub fn up() {}\n",
        "src/deep.rs": (
            "fn here() {}\nmod tests {\n    use super::*;\n    use super::super::up;\n"
            "    fn t() { here(); up(); self::own(); crate::up(); }\n    fn own() {}\n}\n"
        ),
    }
    assert edges_of(files) == [
        "src/deep.rs:tests.t -> here",
        "src/deep.rs:tests.t -> src/lib.rs:up",
        "src/deep.rs:tests.t -> tests.own",
    ]


def test_globs_of_each_other_end() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\n',
        "src/lib.rs": "mod x;\nmod y;\nuse x::*;\nfn f() { g(); none(); }\n",
        "src/x.rs": "pub use crate::y::*;\n",
        "src/y.rs": "pub use crate::x::*;\npub fn g() {}\n",
    }
    assert edges_of(files) == ["src/lib.rs:f -> src/y.rs:g"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&'a mut Vec<Foo>", "Vec<Foo>"),
        ("Option<Box<dyn Foo + Send>>", "Option<Foo & Send>"),
        ("Result<(), Error>", "Result<#tuple<>, Error>"),
        ("[Foo; 3]", "Foo[]"),
        ("(A, &B)", "#tuple<A, B>"),
        ("impl Fn(u8) -> Foo", "() => Foo"),
        ("impl Iterator<Item = Foo>", "Iterator<Foo>"),
        ("std::sync::Arc<Mutex<Foo>>", "Mutex<Foo>"),
        ("<T as Tr>::Out", ""),
        ("!", ""),
    ],
)
def test_types_are_read(text: str, expected: str) -> None:
    assert rust_type(text) == expected
