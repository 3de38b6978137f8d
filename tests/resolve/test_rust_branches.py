"""Rust: results of branches, operators and tuples, names of two namespaces, renamed crates."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

T = (
    "pub struct T; impl T { pub fn new() -> T { T } pub fn go(&self) -> bool { true } "
    "pub fn opt(&self) -> Option<T> { None } pub fn me(&self) -> T { T } }\n"
    "impl std::ops::Add for T { type Output = T; fn add(self, o: T) -> T { o } }\n"
    "impl From<u8> for T { fn from(s: u8) -> T { T } }\n"
    "impl From<u16> for T { fn from(s: u16) -> T { T } }\n"
    "pub enum K { A(T), B { t: T } }\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "let i = if true { T::new() } else { T::new() }; i.go();",
        "let m = match 1 { 0 => return, _ => T::new() }; m.go();",
        "let m = match k { K::A(x) => x, K::B { t } => t }; m.go();",
        "let o = if let Some(q) = t.opt() { q } else { T::new() }; o.go();",
        "let u = unsafe { T::new() }; u.go();",
        "let s = T::new() + T::new(); s.go();",
        "let (a, b) = (1, T::new()); b.go();",
        "match (1, t.opt()) { (_, Some(x)) => x.go(), _ => true };",
        "T::from(1).go();",
        "assert_eq!(t.me().go(), true);",
    ],
)
def test_argument_types_are_known(body: str) -> None:
    text = f"{T}fn x(t: T, k: K) {{ {body} }}\n"
    assert "src/lib.rs:x -> T.go" in edges_of({"src/lib.rs": text})


@pytest.mark.parametrize(
    "body",
    [
        "m.entry(1).or_insert(t).go();",
        "let x = m.remove(&1).unwrap(); x.go();",
        "let mut s = std::mem::take(v); s[0].go();",
        "while let Some(x) = core::mem::replace(v, vec![]).pop() { x.go(); }",
        "for x in v[1..].iter() { x.go(); }",
        "if let Some((first, rest)) = v.split_first() { first.go(); }",
        "let (a, b) = v.split_at(1); b[0].go();",
        "for x in vec_of(o).into_iter().flatten() { x.go(); }",
        "let x = o.ok_or(1)?; x.go();",
        "o.map_or(1, |o| { o.go(); 2 });",
        "v.dedup_by(|a, b| b.go());",
        "o.ok_or_else(|| 1).unwrap().go();",
        "e.unwrap_err().go();",
        "g?.go();",
        "h?.inner.go();",
        "let x = T::default(); x.go();",
        "r.held().go();",
        "r.held.go();",
        "wide.held().go();",
    ],
)
def test_field_types_are_known(body: str) -> None:
    text = (
        f"{T}pub struct H<A = T> {{ held: A, inner: T }}\n"
        "impl<B> H<B> { fn held(&self) -> &B { &self.held } }\n"
        "fn vec_of(o: Option<T>) -> Option<Vec<T>> { None }\n"
        "fn x(t: T, m: HashMap<u8, T>, v: &mut Vec<T>, o: Option<T>, e: Result<u8, T>, "
        "g: Result<T, u8>, h: Result<H, u8>, r: H, wide: H<T>) "
        f"{{ {body} }}\n"
    )
    assert "src/lib.rs:x -> T.go" in edges_of({"src/lib.rs": text})


def test_a_constant_of_a_primitive_type_has_the_methods_that_traits_give_the_type() -> None:
    text = (
        "trait Wide { fn wide(self) -> u64; }\n"
        "impl Wide for u32 { fn wide(self) -> u64 { 1 } }\n"
        "impl Wide for usize { fn wide(self) -> u64 { Self::one() } fn one() -> u64 { 1 } }\n"
        "fn x() { u32::MAX.wide(); }\nfn y(v: Vec<u8>) { v.len().wide(); }\n"
    )
    assert edges_of({"src/lib.rs": text}) == [
        "src/lib.rs:usize.wide -> usize.one",
        "src/lib.rs:x -> u32.wide",
        "src/lib.rs:y -> usize.wide",
    ]


def test_a_path_does_not_begin_with_a_variable() -> None:
    files = {
        "src/lib.rs": (
            "mod hir;\nuse crate::hir::K;\n"
            "fn x(hir: &K) { match *hir { K::A(hir::C::U(ref cls)) => cls.go(), _ => {} } }\n"
        ),
        "src/hir.rs": (
            "pub enum K { A(C) }\npub enum C { U(X), B }\n"
            "pub struct X;\nimpl X { pub fn go(&self) {} }\n"
        ),
    }
    assert edges_of(files) == ["src/lib.rs:x -> src/hir.rs:X.go"]


MADE = (
    "pub trait Auto { fn run(&self); }\n"
    "macro_rules! define { () => { pub struct R<A> { a: A } } }\ndefine!();\n"
    "impl<A: Auto> R<A> { fn held(&self) -> &A { &self.a } fn me(&self) { self.held().run(); } }\n"
    "struct L { exact: bool }\nimpl L { fn exact(x: u8) -> L { L } fn go(&self) {}\n"
    "fn own(&self) { self::L::exact(1).go(); } }\n"
    "fn x<A: Auto>(r: &R<A>) { r.held(); let l = L::exact(1); l.go(); }\n"
)


def test_members_of_what_a_macro_defines_and_methods_named_as_fields() -> None:
    assert edges_of({"src/lib.rs": MADE})[1:] == [
        "src/lib.rs:R.me -> R.held",
        "src/lib.rs:R.me -> Auto.run",
        "src/lib.rs:L.own -> L.exact",
        "src/lib.rs:L.own -> L.go",
        "src/lib.rs:x -> R.held",
        "src/lib.rs:x -> L.exact",
        "src/lib.rs:x -> L.go",
    ]


@pytest.mark.parametrize("type_", ["H<u8>", "H<B>"])
def test_a_default_counts_where_no_argument_is_given(type_: str) -> None:
    text = (
        f"{T}pub struct H<A = T> {{ held: A }}\n"
        f"fn x<B>(h: {type_}) {{ h.held.go(); }}\n"
        "impl<A> H<A> { fn y(&self) { self.held.go(); } fn make(a: A) -> Self { H { held: a } } }\n"
        "fn z() { H::make(1).held.go(); }\n"
    )
    assert [edge for edge in edges_of({"src/lib.rs": text}) if edge.endswith("go")] == []


def test_a_method_named_as_a_primitive_type_is_called_within_a_macro() -> None:
    text = (
        "pub struct P; impl P { fn char(&self) -> char { 'a' } fn str(&self) -> u8 { 1 }\n"
        "fn x(&self) { assert_eq!(self.char(), 'a'); vec![u8::from(1), self.str()]; } }\n"
    )
    assert edges_of({"src/lib.rs": text}) == [
        "src/lib.rs:P.x -> P.char",
        "src/lib.rs:P.x -> P.str",
    ]


def test_bindings_of_an_arm_shadow_outer_names() -> None:
    body = "let m = match o { Some(t) => t, None => 1 }; m.go();"
    text = f"{T}fn x(t: T, o: Option<u8>) {{ {body} }}\n"
    assert edges_of({"src/lib.rs": text}) == []


def test_a_function_and_a_module_may_be_called_the_same() -> None:
    files = {
        "src/lib.rs": "mod db;\npub use self::db::db;\nmod parse;\nfn x() { crate::db().go(); }\n",
        "src/db.rs": "pub struct D; impl D { pub fn go(&self) {} }\npub fn db() -> D { D }\n",
        "src/parse.rs": "pub fn split() {}\n",
        "src/user.rs": "use crate::parse;\nfn parse() {}\nfn y() { parse::split(); parse(); }\n",
    }
    assert edges_of(files) == [
        "src/lib.rs:x -> src/db.rs:db",
        "src/lib.rs:x -> src/db.rs:D.go",
        "src/user.rs:y -> src/parse.rs:split",
        "src/user.rs:y -> parse",
    ]


@pytest.mark.parametrize(
    "dependency",
    [
        '[dependencies]\ncore2 = { version = "1", package = "acme-core", path = "../core" }\n',
        '[dependencies.core2]\npackage = "acme-core"\npath = "../core"\n',
    ],
)
def test_a_dependency_may_be_called_otherwise(dependency: str) -> None:
    files = {
        "core/Cargo.toml": '[package]\nname = "acme-core"\n',
        "core/src/lib.rs": "pub fn go() {}\n",
        "app/Cargo.toml": f'[package]\nname = "app"\n{dependency}',
        "app/src/lib.rs": "use core2::go;\nfn x() { go(); core2::go(); }\n",
    }
    assert edges_of(files) == ["app/src/lib.rs:x -> core/src/lib.rs:go"]


EXTENSIONS = (
    "pub trait Size: Sized { fn size(self) -> usize; }\n"
    "impl Size for u32 { fn size(self) -> usize { 0 } }\n"
    "impl<T> Size for *const T { fn size(self) -> usize { 1 } }\n"
    "impl Size for str { fn size(self) -> usize { 2 } }\n"
    "pub trait Numbered: Iterator { fn numbered(self) -> usize { 3 } }\n"
    "impl<I: Iterator> Numbered for I {}\n"
    "pub struct N(u32);\n"
)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("(n.0 >> 3).size();", 2),
        ("let k = n.0 & 7; k.wrapping_add(1).size();", 2),
        ("u32::from_ne_bytes(b).size();", 2),
        ("v.as_ptr().size();", 3),
        ("s.as_str().size();", 4),
        ("v.iter().numbered();", 5),
    ],
)
def test_traits_of_the_view_extend_standard_types(body: str, line: int) -> None:
    text = f"{EXTENSIONS}fn x(n: N, b: [u8; 4], v: &[u8], s: String) {{ {body} }}\n"
    edges = edges_of({"src/lib.rs": text}, lined=True)
    name = "numbered" if "numbered" in body else "size"
    assert [edge for edge in edges if f" {name} " in edge] == [f"src/lib.rs:x -> {name} {line}"]


def test_a_trait_of_pointers_extends_nothing_else() -> None:
    text = (
        "pub trait Size { fn size(self) -> usize; }\n"
        "impl<T> Size for *const T { fn size(self) -> usize { 1 } }\n"
        "pub struct N(u32);\nfn x(n: N) { n.size(); }\n"
    )
    assert not edges_of({"src/lib.rs": text})


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("None => { log(); T::new() }", True),
        ("None => { let y = 1; T::new().me() }", True),
        ("None => { let t = 1; t }", False),
        ("None => { T::new(); }", False),
    ],
)
def test_a_block_has_the_value_of_its_last_expression(block: str, expected: bool) -> None:
    arms = f"{block} Some(_) => return"
    text = f"{T}fn x(t: T, o: Option<u8>) {{ let m = match o {{ {arms} }}; m.go(); }}\n"
    assert ("src/lib.rs:x -> T.go" in edges_of({"src/lib.rs": text})) == expected
