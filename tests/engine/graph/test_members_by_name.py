"""Members that a string names, and members read from values of unknown type.

A line that ends with `<<` certainly uses the member, one that ends with `<?` may use it.
"""

from __future__ import annotations

import pytest
from gitrepo import GitRepo

from codelens import Engine

PYTHON = {
    "node.py": "class Node:\n    def save(self): ...\n    @property\n    def size(self): ...\n",
    "use.py": """from operator import attrgetter, methodcaller
import operator
from unittest import mock
from node import Node
def certain(monkeypatch, node: Node):
    getattr(node, "save")() <<
    setattr(node, "save", print) <<
    monkeypatch.setattr(Node, "save", print) <<
    with mock.patch.object(Node, "save"): <<
        pass
def unknown(one, rows):
    hasattr(one, "save") <?
    rows.sort(key=methodcaller("save")) <?
    rows.sort(key=operator.attrgetter("a", "save")) <?
    return one.save <?
def other(one, save, name):
    getattr(one, name, "save")
    print("save", one.text("save"))
    return save
""",
}
SIZE = {
    **PYTHON,
    "use.py": """from operator import attrgetter
def unknown(one, rows):
    rows.sort(key=attrgetter("size")) <?
    one.size = 2 <?
    print(one.size, size) <?
    print("size")
""",
}
SCRIPT = {
    "node.ts": "export class Node { save() { return 1 } }\n",
    "use.ts": """import { Node } from "./node";
export function certain(node: Node) {
  node["save"](); <<
  node?.["save"](); <<
  const f = node["save"]; <<
}
export function unknown(one: any, table: Record<string, number>) {
  one["save"](); <?
  return one.save; <?
}
export const other = ["save"].concat("save");
""",
}
LUA = {
    "node.lua": "local M = {}\nfunction M.save(one) return 1 end\nreturn M\n",
    "use.lua": """local M = require("node")
M["save"](1) <<
local f = M["save"] <<
local g = { ["save"] = 1 }
print("save")
""",
}
PHP = {
    "node.php": "<?php\nclass Node { public function save() {} }\n",
    "use.php": """<?php
function certain(Node $node) {
    method_exists($node, 'save'); <<
}
function unknown($one) {
    method_exists($one, 'save'); <?
    strpos($one, 'save');
}
""",
}


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README.md": "members\n"}


@pytest.mark.parametrize(
    ("files", "target"),
    [
        (PYTHON, "Node.save"),
        (SIZE, "Node.size"),
        (SCRIPT, "Node.save"),
        (LUA, "node.lua#M.save"),
        (PHP, "Node.save"),
    ],
    ids=["python", "property", "typescript", "lua", "php"],
)
def test_members_by_name_are_uses(repo: GitRepo, files: dict[str, str], target: str) -> None:
    marks: dict[str, set[tuple[str, int]]] = {"<<": set(), "<?": set()}
    for path, text in files.items():
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            if line[-2:] in marks:
                marks[line[-2:]].add((path, number))
                lines[number - 1] = line[:-3]
        repo.write(path, "\n".join(lines) + "\n")
    answer = Engine().references(target, limit=1_000)
    found = {
        certain: {(site.path, site.line) for site in answer.references if site.certain is certain}
        for certain in (True, False)
    }
    assert found == {True: marks["<<"], False: marks["<?"]}


def test_a_value_may_have_the_member_only_if_nothing_else_has_the_name(repo: GitRepo) -> None:
    repo.write("node.py", "class Node:\n    def save(self): ...\nclass Leaf:\n    save = 1\n")
    repo.write("use.py", "def unknown(one):\n    return one.save\n")
    assert not Engine().references("node.py#Node.save", limit=100).references


def test_an_assignment_that_defines_another_field_is_no_use(repo: GitRepo) -> None:
    repo.write("node.py", "class Node:\n    def __init__(self):\n        self.size = 1\n")
    repo.write(
        "leaf.py",
        "class Leaf:\n    def __init__(self, one):\n        self.size = 1\n\n\nclass Copy:\n"
        "    def __init__(self, one):\n        self.size = one.size\n",
    )
    repo.write("use.ts", "class Box {\n  constructor() { this.size = 1; }\n}\n")
    answer = Engine().references("node.py#Node.size", limit=100)
    assert [(site.path, site.line) for site in answer.references] == [("leaf.py", 8)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("A.java#A.trimmed", ["A.java:3"]),
        ("A.java#A.open", ["A.java:5", "C.java:2"]),
        ("B.kt#B.cut", ["B.kt:3"]),
        ("B.kt#B.free", ["B.kt:5", "C.java:4"]),
    ],
)
def test_no_other_file_may_use_a_private_member(
    repo: GitRepo, asked: str, expected: list[str]
) -> None:
    repo.write(
        "A.java",
        "class A {\n    private void trimmed() {}\n    void a(Unknown x) { x.one().trimmed(); }\n"
        "    void open() {}\n    void b(Unknown x) { x.one().open(); }\n}\n",
    )
    repo.write(
        "B.kt",
        "class B {\n    private fun cut() {}\n    fun a(x: Unknown) { x.one().cut() }\n"
        "    fun free() {}\n    fun b(x: Unknown) { x.one().free() }\n}\n",
    )
    repo.write(
        "C.java",
        "class C {\n    void a(Unknown x) { x.one().open(); }\n"
        "    void b(Unknown x) { x.one().trimmed(); x.one().cut(); }\n"
        "    void c(Unknown x) { x.one().free(); }\n}\n",
    )
    may = Engine().related(asked).may
    assert sorted(line for use in may for line in use.sites) == expected
