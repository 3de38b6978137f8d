"""A variable of a module is used by what sets it, but not by what sets its own one."""

from __future__ import annotations

import pytest

from tests.resolved_edges import uses_in

SCRIPT = """let level = 0;
function put(n) { level = n; } <<
function add() { level += 1; } <<
function both(n) {
  level = n; <<
  return level; <<
}
function some() {
  let other;
  [level, other] = [1, 2]; <<
  return level; <<
}
function named() { ({ x: level } = { x: 1 }); } <<
function own() { let level = 3; level = 4; }
function parameter(level) { level = 4; }
"""

PYTHON = """level = 0
def put(n):
    global level
    level = n <<
    level += 1 <<
    level, other = n, 1 <<
    for level in [1]: <<
        return level <<
def own():
    level = 4
    return level
def around():
    level = 4
    def inner():
        nonlocal level
        level = 5
"""

C = """static int level = 0;
void put(int n) { level = n; } <<
void add(void) { level += 1; } <<
void more(void) { level++; } <<
void own(void) { int level = 1; level = 2; }
void parameter(int level) { level = 2; }
"""

RUST = """static mut LEVEL: i32 = 0;
fn put(n: i32) { unsafe { LEVEL = n; } } <<
fn add() { unsafe { LEVEL += 1; } } <<
"""

LUA = """local level = 0
function put(n) level = n end <<
function some() level, other = read() end <<
if a then level = 1 end <<
function own() local level = 3; level = 4 end
function parameter(level) level = 4 end
"""


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("a.js", SCRIPT, "level"),
        ("a.ts", SCRIPT, "level"),
        ("a.py", PYTHON, "level"),
        ("a.c", C, "level"),
        ("a.cpp", C, "level"),
        ("a.rs", RUST, "LEVEL"),
        ("a.lua", LUA, "level"),
    ],
)
def test_what_sets_a_variable_uses_it(name: str, text: str, target: str) -> None:
    found, expected = uses_in({name: text}, f"{name}:{target}")
    assert found == expected
