"""A definition named `default` calls like any other, in each language that allows the name."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

NAMED = {
    "a.rs": "struct A;\nimpl Default for A { fn default() -> A { make() } }\nfn make() -> A { A }",
    "a.py": "def make():\n    pass\n\n\nclass A:\n    def default(self):\n        make()\n",
    "a.rb": "class A\n  def default\n    make\n  end\n  def make\n  end\nend\n",
    "a.php": "<?php\nfunction make() {}\nclass A { function default() { make(); } }\n",
    "a.kt": "fun make() {}\nclass A { fun default() { make() } }\n",
    "a.lua": "local A = {}\nlocal function make() end\nfunction A.default() make() end\nreturn A\n",
    "a.js": "function make() {}\nclass A { default() { make() } }\n",
    "a.ts": "function make() {}\nclass A { default() { make() } }\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_a_method_named_default_is_a_caller(name: str) -> None:
    (edge,) = edges_of({name: NAMED[name]})
    source, _, target = edge.partition(" -> ")
    assert source == f"{name}:A.default"
    assert target in {"make", "A.make"}


@pytest.mark.parametrize("name", ["a.js", "a.ts"])
def test_an_unnamed_default_export_is_a_caller(name: str) -> None:
    files = {name: "function make() {}\nexport default function () { make() }\n"}
    assert edges_of(files) == [f"{name}:default -> make"]
