"""A variable does not exist in its own first value: there the name is that of the outer scope."""

from __future__ import annotations

import pytest

from tests.resolved_edges import uses_in

GO = """package a

func load() int { return 1 }
func put() {
	load := load() <<
	_ = load
}
func branch() {
	if load := load(); load > 1 { <<
	}
}
func each() {
	for _, load := range load() { <<
		_ = load
	}
}
func parameter(load func() int) { load() }
func closure() {
	load := func() int { return 1 }
	load()
}
"""
RUST = """fn load() -> i32 { 1 }
fn put() { let load = load(); } <<
fn matched() { if let load = load() {} } <<
fn each() { for load in load() {} } <<
fn again() {
    let load = load(); <<
    let load = load();
}
fn parameter(load: fn() -> i32) { load(); }
"""
KOTLIN = """fun load() = 1
fun put() { val load = load() } <<
fun each() { for (load in load()) {} } <<
"""
LUA = """function load2() return 1 end
function put() local load2 = load2() end <<
function parameter(load2) load2() end
"""
GO_TYPE = """package a

type conn struct{ n int }

func put() int {
	conn := &conn{}
	return conn.n <<
}
func each() {
	for _, conn := range []conn{} {
		_ = conn.n <<
	}
}
"""


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("a.go", GO, "load"),
        ("a.rs", RUST, "load"),
        ("a.kt", KOTLIN, "load"),
        ("a.lua", LUA, "load2"),
        ("a.go", GO_TYPE, "conn.n"),
    ],
)
def test_the_first_value_of_a_variable_uses_the_outer_name(
    name: str, text: str, target: str
) -> None:
    found, expected = uses_in({name: text}, f"{name}:{target}")
    assert found == expected


def test_a_function_of_the_same_scope_is_meant() -> None:
    text = """fn load() -> i32 { 1 }
fn put() {
    fn load() -> i32 { 2 }
    let load = load(); <<
}
"""
    found, expected = uses_in({"a.rs": text}, "a.rs:put.load")
    assert found == expected
