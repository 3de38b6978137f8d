"""Containment: the members of a type, what a file defines and exports; also in `export edges`."""

from __future__ import annotations

import json

import pytest
from gitrepo import GitRepo
from shop_repository import Run


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README": "\n"}


LANGUAGES: dict[str, tuple[dict[str, str], str, str]] = {
    "python": ({"a.py": "class A:\n    def f(self):\n        pass\n"}, "a.py#A.f", "a.py#A"),
    "typescript": ({"a.ts": "export class A { f() {} }\n"}, "a.ts#A.f", "a.ts#A"),
    "javascript": ({"a.js": "export class A { f() {} }\n"}, "a.js#A.f", "a.js#A"),
    "java": ({"A.java": "public class A { public void f() {} }\n"}, "A.java#A.f", "A.java#A"),
    "kotlin": ({"A.kt": "class A { fun f() {} }\n"}, "A.kt#A.f", "A.kt#A"),
    "csharp": ({"A.cs": "public class A { public void F() {} }\n"}, "A.cs#A.F", "A.cs#A"),
    "php": ({"A.php": "<?php\nclass A { public function f() {} }\n"}, "A.php#A.f", "A.php#A"),
    "ruby": ({"a.rb": "class A\n  def f\n  end\nend\n"}, "a.rb#A.f", "a.rb#A"),
    "lua": ({"a.lua": "local A = {}\nfunction A.f() end\nreturn A\n"}, "a.lua#A.f", "a.lua#A"),
    "go": (
        {"a.go": "package a\ntype A struct{}\n", "b.go": "package a\nfunc (a *A) F() {}\n"},
        "b.go#A.F", "a.go#A",
    ),
    "rust": (
        {"src/lib.rs": "mod a;\nmod b;\n", "src/a.rs": "pub struct A;\n",
         "src/b.rs": "use crate::a::A;\nimpl A { pub fn f(&self) {} }\n"},
        "src/b.rs#A.f", "src/a.rs#A",
    ),
    "cpp": (
        {"a.h": "class A {\n public:\n  void f();\n};\n",
         "a.cc": '#include "a.h"\nvoid A::f() {}\n'},
        "a.cc#A.f", "a.h#A",
    ),
    "c": ({"a.c": "struct A { int f; };\n"}, "a.c#A.f", "a.c#A"),
}  # fmt: skip


def related(run: Run, target: str, kind: str, *more: str) -> list[str]:
    reported = run("related", target, "--kind", kind, "--json", *more).json
    return [one["handle"] for one in reported["results"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_member_belongs_to_its_type_and_the_type_defines_it(
    repo: GitRepo, run: Run, language: str
) -> None:
    files, member, owner = LANGUAGES[language]
    repo.commit("case", files)
    file = owner.partition("#")[0]
    assert related(run, member, "belongs_to") == [owner]
    assert related(run, member, "belongs_to", "--depth", "2") == [owner, file]
    assert member in related(run, owner, "defines")
    assert related(run, file, "defines") == [owner]
    # Kinds that are not requested by name are left out.
    assert "belongs_to" not in run("related", member, "--json").json["totals"]


@pytest.mark.parametrize(
    ("files", "target", "shown"),
    [
        ({"a.py": "class A:\n    pass\n\n\ndef _b():\n    pass\n"}, "a.py", ["a.py#A"]),
        ({"p/__init__.py": "from .a import A\n\n__all__ = ['A']\n", "p/a.py": "class A: pass\n"},
         "p/__init__.py", ["p/a.py#A"]),
        ({"a.ts": "export function a() {}\nfunction b() {}\n"}, "a.ts", ["a.ts#a"]),
        ({"a.ts": "import { b } from './b';\nexport { b };\n", "b.ts": "export function b() {}\n"},
         "a.ts", ["b.ts#b"]),
        ({"a.rs": "pub fn a() {}\nfn b() {}\n"}, "a.rs", ["a.rs#a"]),
        ({"a.go": "package a\nfunc A() {}\nfunc b() {}\n"}, "a.go", ["a.go#A"]),
        ({"A.java": "public class A {\n    public void f() {}\n    private void g() {}\n}\n"},
         "A.java#A", ["A.java#A.f"]),
        ({"A.kt": "class A {\n    fun f() {}\n    private fun g() {}\n}\n"},
         "A.kt#A", ["A.kt#A.f"]),
        ({"A.php": "<?php\nclass A {\n public function f() {}\n private function g() {}\n}\n"},
         "A.php#A", ["A.php#A.f"]),
        ({"A.cs": "namespace N {\n  public class A { }\n}\n"}, "A.cs", ["A.cs#N", "A.cs#A"]),
    ],
)  # fmt: skip
def test_a_file_and_a_type_export_visible_names(
    repo: GitRepo, run: Run, files: dict[str, str], target: str, shown: list[str]
) -> None:
    repo.commit("case", files)
    assert related(run, target, "exports") == shown


def test_they_are_refused_where_the_direction_leaves_nothing_of_them(
    repo: GitRepo, run: Run
) -> None:
    repo.commit("case", LANGUAGES["python"][0])
    assert run("related", "a.py#A", "--kind", "defines", "--direction", "in").code == 2
    assert related(run, "a.py#A", "defines", "--direction", "out") == ["a.py#A.f"]


def test_export_edges_has_them(repo: GitRepo, run: Run) -> None:
    repo.commit("case", LANGUAGES["go"][0])
    rows = [json.loads(one) for one in run("export", "edges").out.splitlines()]
    reported = {
        tuple(one[key] for key in ("kind", "src_file", "src_line", "dst_file", "dst_line", "line"))
        for one in rows
        if one["kind"] in {"belongs_to", "defines", "exports"}
    }  # fmt: skip
    assert reported == {
        ("belongs_to", "a.go", 2, "a.go", 1, 2),
        ("defines", "a.go", 0, "a.go", 2, 2),
        ("exports", "a.go", 0, "a.go", 2, 2),
        ("belongs_to", "b.go", 2, "a.go", 2, 2),
        ("defines", "a.go", 2, "b.go", 2, 2),
    }
