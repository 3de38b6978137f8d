"""Rust: bindings of patterns and closures, parts of tuples, traits of foreign types."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

LIBRARY = """
pub struct Part; impl Part { pub fn turn(&self) {} pub fn of(n: u8) -> Part { Part } }
pub struct Pair(pub Part, #[cfg(feature = "x")] pub Part, #[cfg(not(feature = "x"))] pub ());
pub struct Owner<T> { pub held: T, pub part: Option<Part> }
impl<T: Turning> Owner<T> { pub fn go(&self) { self.held.spin() } }
pub trait Turning { fn spin(&self); }
impl Turning for u32 { fn spin(&self) {} }
pub trait Every { fn each_of(&self); }
impl<T: Clone> Every for T { fn each_of(&self) {} }
pub enum State { Whole(Part), Named { inner: Part, rest: u8 }, Nothing }
pub struct Steps;
impl Iterator for Steps { type Item = Part; fn next(&mut self) -> Option<Part> { None } }
pub type Mine = Owner<Part>;
impl Mine { pub fn only(&self) {} }
pub fn with<F>(f: F) where F: FnOnce(&Part) -> u8 { }
pub fn find() -> Result<Option<Part>, Pair> { Ok(None) }
pub fn put<B>(b: B) where B: Into<Part> { b.into().turn() }
pub trait Shape { type Point: Turning; fn point(&self) -> Self::Point; }
"""
"""A module `parts` of a crate."""


def calls(body: str, taken: str = "") -> list[str]:
    """Qualified names of what the body of a function calls."""
    files = {
        "Cargo.toml": '[package]\nname = "own"\n',
        "src/lib.rs": "pub mod parts; pub mod run;\n",
        "src/parts.rs": LIBRARY,
        "src/run.rs": (
            "use crate::{parts::{self, Every, Mine, Owner, Pair, Part, Shape, State, Steps}};\n"
            "use crate::parts::Turning;\n"
            f"pub fn run({taken}) {{ {body} }}\n"
        ),
    }
    return called_in(files, "src/run.rs:run")


@pytest.mark.parametrize(
    ("taken", "body", "expected"),
    [
        ("", "parts::find();", ["find"]),
        ("", "if let Ok(Some(x)) = parts::find() {\n x.turn(); }", ["find", "Part.turn"]),
        ("", "match parts::find() { Ok(_) => (),\n Err(Pair(x, _)) => x.turn() }",
         ["find", "Part.turn"]),
        ("s: State", "match s { State::Whole(ref x) => x.turn(), _ => () }", ["Part.turn"]),
        ("s: State", "match s { State::Named { inner, .. } => inner.turn(), _ => () }",
         ["Part.turn"]),
        ("s: State", "match s { State::Named { inner: q, .. } => q.turn(), _ => () }",
         ["Part.turn"]),
        ("(a, b): (u8, Part)", "b.turn();", ["Part.turn"]),
        ("a: Part, b: u8", "let (x, _) = if b > 0 { (a, b) } else { (a, 2) };\n x.turn();",
         ["Part.turn"]),
        ("p: Pair", "p.0.turn(); p.1.turn();", ["Part.turn"]),
        ("p: &[Part]", "for (i, x) in p.iter().enumerate() {\n x.turn(); }", ["Part.turn"]),
        ("p: Vec<Part>", "p.iter().for_each(|x| x.turn());", ["Part.turn"]),
        ("p: Vec<(u8, Part)>", "p.iter().any(|(_, x)| x.turn());", ["Part.turn"]),
        ("p: Option<Part>", "p.map(|x| x.turn());", ["Part.turn"]),
        ("p: Result<u8, Part>", "p.map_err(|x| x.turn());", ["Part.turn"]),
        ("", "parts::with(|x| x.turn());", ["with", "Part.turn"]),
        ("s: Steps", "for x in s {\n x.turn(); }", ["Steps.next", "Part.turn"]),
        ("s: Steps", "s.map(|x| x.turn());", ["Part.turn"]),
        ("n: u32", "n.spin(); n.each_of();", ["u32.spin", "T.each_of"]),
        ("m: Mine", "m.only(); m.held.turn();", ["Mine.only", "Part.turn"]),
        ("x: Option<Part>", "let x = x.unwrap();\n x.turn();", ["Part.turn"]),
        ("x: Option<Part>", "if let Some(x) = x {\n x.turn(); }", ["Part.turn"]),
        ("x: Part", "let y = Box::new(x);\n y.turn();", ["Part.turn"]),
        ("parts: Part", "parts::find();", ["find"]),
        ("s: impl Shape", "s.point().spin();", ["Shape.point", "Turning.spin"]),
    ],
)  # fmt: skip
def test_bindings_of_patterns_have_types(taken: str, body: str, expected: list[str]) -> None:
    assert calls(body, taken) == expected


def test_bounds_give_a_parameter_its_methods() -> None:
    found = edges_of({"src/lib.rs": LIBRARY})
    assert "src/lib.rs:Owner.go -> Turning.spin" in found
    assert "src/lib.rs:put -> Part.turn" in found


def test_patterns_that_hold_themselves_end() -> None:
    deep = "Some(" * 300 + "x" + ")" * 300
    text = f"fn f(y: u8) {{ if let {deep} = y {{\n x.go(); }}\n let y = y.y(); y.z(); }}\n"
    assert edges_of({"a.rs": text}) == []


def test_types_that_are_made_of_each_other_end() -> None:
    text = (
        "type A = B;\ntype B = A;\nstruct T(T);\nenum E { V(E) }\n"
        "impl Iterator for T { type Item = <T as Iterator>::Item; }\n"
        "trait P: Q { type X: P; }\ntrait Q: P {}\n"
        "fn f(a: A, t: T, e: E) { a.go(); t.0.0.go(); for x in t {\n x.go(); } e.go(); }\n"
    )
    assert edges_of({"a.rs": text}) == []
