"""Imports of Rust in inline modules and in functions."""

from __future__ import annotations

import pytest

from tests.resolved_edges import uses_in

SUB = """pub type Row = i32;
pub struct Shop;
pub fn go() {}
pub enum E {
    In(i32),
}
"""
LIB = """mod sub;
mod other;
pub mod facade {
    pub use super::sub::Row; // 4
    pub use super::sub::{go, Shop}; // 5
    mod deeper {
        use super::super::sub::Shop; // 7
        fn f() -> Shop { Shop } // 8
    }
}
"""
OTHER = """use crate::sub::E;
fn first(x: E) {
    use self::E::*;
    match x { In(1) => {} } // 4
    In(2); // 5
}
fn second() {
    use crate::sub::E::*;
    { In(2); } // 9
}
fn outside() { In(2); }
"""


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("Row", ["src/lib.rs:4"]),
        ("go", ["src/lib.rs:5"]),
        ("Shop", ["src/lib.rs:5", "src/lib.rs:7", "src/lib.rs:8"]),
        ("E.In", ["src/other.rs:4", "src/other.rs:5", "src/other.rs:9"]),
    ],
)
def test_imports_in_inline_modules_and_functions(name: str, places: list[str]) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "k"\n',
        "src/lib.rs": LIB,
        "src/sub.rs": SUB,
        "src/other.rs": OTHER,
    }
    found, _ = uses_in(files, f"src/sub.rs:{name}")
    assert found == places
