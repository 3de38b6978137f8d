"""`references`, and its agreement with `related`, `impact` and the exported edges."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from gitrepo import GitRepo
from shop_repository import Run

SOURCES: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "a.py", "def setup(n):\n    return setup(n - 1)\n\n\nTABLE = {'s': setup}\nsetup(1)\n",
        "b.py", "from a import setup\n\n\ndef main():\n    setup(2)\n    setup(3)\n    setup(4)\n"
        "    return setup(5)\n\n\nsetup(6)\n",
    ),
    "javascript": (
        "a.js", "export function setup(n) { return setup(n - 1); }\nconst table = { s: setup };\n"
        "setup(1);\n",
        "b.js", "import { setup } from './a.js';\nfunction main() {\n  setup(2);\n  setup(3);\n"
        "  setup(4);\n  setup(5);\n}\nsetup(6);\n",
    ),
    "typescript": (
        "a.ts", "export function setup(n: number): number { return setup(n - 1); }\n"
        "const table = { s: setup };\nsetup(1);\n",
        "b.ts", "import { setup } from './a';\nfunction main() {\n  setup(2);\n  setup(3);\n"
        "  setup(4);\n  setup(5);\n}\nsetup(6);\n",
    ),
    "go": (
        "a/a.go", "package a\n\nfunc Setup(n int) int { return Setup(n - 1) }\n\n"
        "var V = Setup(2)\n",
        "a/b.go", "package a\n\nvar W = Setup(3)\n\nfunc main() {\n\tSetup(4)\n\tSetup(5)\n"
        "\tSetup(6)\n"
        "\tSetup(7)\n}\n",
    ),
    "rust": (
        "src/lib.rs", "pub fn setup(n: u32) -> u32 { setup(n - 1) }\nmod b;\n"
        "static V: fn(u32) -> u32 = setup;\n",
        "src/b.rs", "use crate::setup;\nfn main() {\n    setup(2);\n    setup(3);\n    setup(4);\n"
        "    setup(5);\n}\n",
    ),
    "java": (
        "p/A.java", "package p;\npublic class A {\n"
        "  static int setup(int n) { return setup(n - 1); }\n"
        "  static int v = setup(1);\n}\n",
        "p/B.java", "package p;\nclass B {\n  int w = A.setup(2);\n  void main() {\n"
        "    A.setup(3);\n"
        "    A.setup(4);\n    A.setup(5);\n    A.setup(6);\n  }\n}\n",
    ),
    "kotlin": (
        "p/A.kt", "package p\n\nfun setup(n: Int): Int = setup(n - 1)\n\nval v = setup(1)\n",
        "p/B.kt", "package p\n\nval w = setup(2)\n\nfun main() {\n    setup(3)\n    setup(4)\n"
        "    setup(5)\n    setup(6)\n}\n",
    ),
    "c": (
        "a.h", "/* a */\nint setup(int n);\n",
        "a.c", "#include \"a.h\"\nint setup(int n) { return setup(n - 1); }\nint run(void) {\n"
        "  setup(1);\n  setup(2);\n  setup(3);\n  return setup(4);\n}\n"
        "int (*table)(int) = setup;\n",
    ),
    "cpp": (
        "a.hpp", "// a\nint setup(int n);\n",
        "a.cpp", "#include \"a.hpp\"\nint setup(int n) { return setup(n - 1); }\n"
        "int v = setup(9);\n"
        "int run() {\n  setup(1);\n  setup(2);\n  setup(3);\n  return setup(4);\n}\n",
    ),
    "csharp": (
        "A.cs", "namespace P;\npublic class A {\n"
        "  public static int Setup(int n) => Setup(n - 1);\n"
        "  static int v = Setup(1);\n}\n",
        "B.cs", "namespace P;\nclass B {\n  int w = A.Setup(2);\n  void Main() {\n    A.Setup(3);\n"
        "    A.Setup(4);\n    A.Setup(5);\n    A.Setup(6);\n  }\n}\n",
    ),
    "php": (
        "a.php", "<?php\nfunction setup($n) { return setup($n - 1); }\nsetup(1);\n",
        "b.php", "<?php\nrequire 'a.php';\nfunction main() {\n  setup(2);\n  setup(3);\n"
        "  setup(4);\n"
        "  setup(5);\n}\nsetup(6);\n",
    ),
    "ruby": (
        "a.rb", "# a\ndef setup(n)\n  setup(n - 1)\nend\n\nsetup(1)\n",
        "b.rb", "require_relative 'a'\n\ndef main\n  setup(2)\n  setup(3)\n  setup(4)\n  setup(5)\n"
        "end\n\nsetup(6)\n",
    ),
    "lua": (
        "a.lua", "local M = {}\nfunction M.setup(n) return M.setup(n - 1) end\nM.setup(1)\n"
        "return M\n",
        "b.lua", "local a = require('a')\nlocal function main()\n  a.setup(2)\n  a.setup(3)\n"
        "  a.setup(4)\n  a.setup(5)\nend\na.setup(6)\n",
    ),
}  # fmt: skip
"""For each language, a function that calls itself and is called at the top level and four times in
one function: its file and text, and those of its users.
"""
_IN_KINDS = ("callers", "users", "importers", "subtypes", "overridden", "tests")

KINDS = {"call", "ref", "export", "inherit", "import", "protocol", "override", "satisfy"}
"""Kinds of edges that are uses; the others are structure."""


@pytest.fixture
def committed() -> dict[str, str]:
    return {}


def exported(run: Run) -> dict[tuple[str, int], set[tuple[str, int]]]:
    """The certain uses of each definition that is alone on the line of its name, by that line."""
    uses: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
    defined: dict[tuple[str, int], set[str]] = defaultdict(set)
    for line in run("export", "edges").out.splitlines():
        edge = json.loads(line)
        target = edge["dst_file"], edge["dst_line"]
        if edge["kind"] in KINDS:
            uses[target].add((edge["src_file"], edge["line"]))
        elif edge["kind"] == "defines":
            defined[target].add(edge["name"])
    for target in [target for target, names in defined.items() if len(names) > 1]:
        uses.pop(target, None)
    return uses


def listed(run: Run, target: str) -> set[tuple[str, int]]:
    found = run("references", target, "--limit", "100000", "--json").json
    assert found["left"] == 0
    certain = {(one["path"], one["line"]) for one in found["results"] if one["certain"]}
    assert len(certain) == found["certain"]
    return certain


def related(run: Run, target: str) -> set[tuple[str, int]]:
    kinds = [word for kind in _IN_KINDS for word in ("--kind", kind)]
    return sites(run("related", target, *kinds, "--limit", "1000", "--json").json["results"])


def sites(rows: list[dict[str, Any]]) -> set[tuple[str, int]]:
    every = [site.rpartition(":") for row in rows for site in row["sites"]]
    return {(path, int(line)) for path, _, line in every}


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_every_answer_lists_every_edge(repo: GitRepo, run: Run, language: str) -> None:
    first, text, second, users = SOURCES[language]
    repo.commit(language, {first: text, second: users})
    uses = exported(run)
    name = next(
        line["handle"]
        for line in run("search", "setup", "--mode", "symbol", "--json").json["results"]
        if line["handle"].lower().endswith("setup")
    )
    places = run("references", name, "--json").json["places"]
    expected = set[tuple[str, int]]().union(
        *(uses[one["path"], one["start_line"]] for one in places)
    )
    assert len(expected) >= 6
    assert listed(run, name) == expected
    assert related(run, name) == expected
    for place in places:
        assert listed(run, f"{place['path']}:{place['start_line']}") == expected
    found = run("impact", name, "--depth", "1", "--json").json
    inside = {
        (one["path"], line)
        for one in places
        for line in range(one["start_line"], one["end_line"] + 1)
    }
    imports = {
        (one["path"], one["line"])
        for one in run("references", name, "--json").json["results"]
        if one["kinds"] == ["import"]
    }
    assert sites(found["results"]) | inside | imports == expected | inside


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", ["codelens/resolve/walk", "editors/vscode/src", "codelens/ui/page"]
)
def test_real_sources_are_listed_like_their_edges(repo: GitRepo, run: Run, folder: str) -> None:
    source = Path(__file__).parents[3] / folder
    files = [file for file in source.rglob("*") if file.suffix in {".py", ".ts", ".js"}]
    repo.commit("real", {str(file.relative_to(source)): file.read_bytes() for file in files})
    uses = exported(run)
    targets = sorted(target for target in uses if target[1] > 1)
    assert targets
    for path, line in targets[:: max(len(targets) // 60, 1)]:
        handle = f"{path}:{line}"
        places = run("references", handle, "--json").json["places"]
        assert listed(run, handle) >= uses[path, line]
        assert related(run, handle) >= uses[path, line], handle
        assert places


OVERLOADS = {
    "ts": (
        "a.ts",
        "export function f(a: string): string;\nexport function f(a: number): number;\n"
        "export function f(a: any): any { return a; }\nf(1);\n",
        (1, 2, 3),
    ),
    "py": (
        "a.py",
        "from typing import overload\n\n\n@overload\ndef f(a: int) -> int: ...\n\n\n@overload\n"
        "def f(a: str) -> str: ...\n\n\ndef f(a):\n    return a\n\n\nf(1)\n",
        (5, 9, 12),
    ),
    "merged": (
        "a.ts",
        "export interface Shape { side: number }\n"
        "export const Shape = (side: number) => ({ side });\n"
        "const one: Shape = Shape(1);\nShape(2);\n",
        (1, 2),
    ),
    "wrapped function": (
        "a.py",
        "def run(n):\n    return n\n\n\nrun = wrap(run)\nrun(1)\n",
        (1, 5),
    ),
    "wrapped class": (
        "a.py",
        "class R:\n    pass\n\n\nR = wrap(R)\n\n\ndef f():\n    R()\n",
        (1, 5),
    ),
}


@pytest.mark.parametrize("kind", sorted(OVERLOADS))
def test_a_line_of_one_overload_is_asked_for_all(repo: GitRepo, run: Run, kind: str) -> None:
    path, text, lines = OVERLOADS[kind]
    repo.commit(kind, {path: text})
    answers = [related(run, f"{path}:{line}") for line in lines]
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)
    assert all(listed(run, f"{path}:{line}") == answers[0] for line in lines)


@pytest.mark.parametrize(
    ("stub", "code", "text"),
    [
        ("a.pyi", "a.py", "def f(): ...\n"),
        ("a.d.ts", "a.js", "export declare function f(): void;\n"),
    ],
)
def test_a_stub_is_the_code_next_to_it(
    repo: GitRepo, run: Run, stub: str, code: str, text: str
) -> None:
    uses = {
        "a.py": ("def f():\n    pass\n", "b.py", "from a import f\nf()\n"),
        "a.js": ("export function f() {}\n", "b.js", "import { f } from './a.js';\nf();\n"),
    }
    body, user, used = uses[code]
    repo.commit("stub", {stub: text, code: body, user: used})
    assert listed(run, f"{stub}:1") == listed(run, f"{code}:1") == {(user, 1), (user, 2)}


def test_two_functions_of_one_name_in_two_callbacks_stay_apart(repo: GitRepo, run: Run) -> None:
    text = "".join(f"it('{name}', () => {{\n  function f() {{}}\n  f();\n}});\n" for name in "ab")
    repo.commit("two", {"a.ts": text})
    assert listed(run, "a.ts:2") == {("a.ts", 3)}
    assert listed(run, "a.ts:6") == {("a.ts", 7)}


def test_a_line_with_a_function_is_not_a_property_of_its_signature(repo: GitRepo, run: Run) -> None:
    repo.commit("ts", {"a.ts": "function id(state: { id: number }[]) {\n  return 1;\n}\nid([]);\n"})
    assert listed(run, "a.ts:1") == {("a.ts", 4)}


def test_pages_give_each_line_once_while_other_files_change(repo: GitRepo, run: Run) -> None:
    users = {f"u{at}.py": "from a import f\n\n\ndef g():\n    f()\n    f()\n" for at in range(6)}
    repo.commit("many", {"a.py": "def f():\n    pass\n", **users})
    seen: list[tuple[str, int]] = []
    cursor = ""
    for page in range(100):
        found = run("references", "a.py#f", "--limit", "4", "--cursor", cursor, "--json").json
        assert found["certain"] == 18
        seen += [(one["path"], one["line"]) for one in found["results"]]
        assert found["left"] == 18 - len(seen)
        cursor = found["cursor"]
        if page == 1:
            # Lines before a use move in a file that is not listed yet.
            repo.write("u5.py", "from a import f\n\n\n\n\ndef g():\n    f()\n    f()\n")
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 18
    assert ("u5.py", 7) in seen


def test_a_cursor_of_nobody_is_refused(repo: GitRepo, run: Run) -> None:
    repo.commit("one", {"a.py": "def f():\n    pass\n\n\nf()\n"})
    ran = run("references", "f", "--cursor", "nonsense")
    assert ran.code == 2
    assert "--cursor must come from a previous answer" in ran.err


def test_unresolved_uses_are_all_listed_with_the_likeliest_first(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "untyped",
        {
            "lib/vars.py": "class VariableManager:\n    def get_vars(self):\n        return 1\n",
            "lib/near.py": "def near(thing):\n    thing.get_vars()\n",
            "far.py": "def far(variable_manager, get_vars):\n    variable_manager.get_vars()\n"
            "    get_vars()\n" + "    variable_manager.get_vars()\n" * 5,
        },
    )
    found = run("references", "VariableManager.get_vars", "--json").json
    assert (found["certain"], found["possible"]) == (0, 7)
    possible = [(one["path"], one["line"]) for one in found["results"]]
    assert possible == [("far.py", line) for line in (2, 4, 5, 6, 7, 8)] + [("lib/near.py", 2)]
    assert "variable_manager resembles VariableManager" in found["results"][0]["why"]
    hit = run("impact", "VariableManager.get_vars")
    assert "2 more may use it" in hit.out.splitlines()[0]
    (far, near) = run("related", "VariableManager.get_vars", "--json").json["may"]
    assert (far["handle"], far["count"], near["handle"]) == ("far.py#far", 6, "lib/near.py#near")


def test_uses_of_the_family_of_a_method_follow_its_own(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "family",
        {
            "a.py": "class Base:\n    def save(self):\n        pass\n\n\nclass Sub(Base):\n"
            "    def save(self):\n        pass\n\n\ndef go(base: Base, sub: Sub):\n"
            "    base.save()\n    sub.save()\n",
        },
    )
    found = run("references", "Base.save", "--json").json
    why = {one["line"]: one.get("why", "") for one in found["results"] if one["certain"]}
    assert why == {12: "", **dict.fromkeys((7, 13), "a.py#Sub.save, which overrides it")}
    assert (found["certain"], found["in_family"], found["possible"]) == (3, 2, 0)


COMMONJS = {
    "option.js": "class Option {\n  go() {}\n}\nexports.Option = Option;\n",
    "index.js": "const { Option } = require('./option.js');\nexports.Option = Option;\n"
    "exports.make = () => new Option();\n",
    "named.mjs": "import whole from './index.js';\n"
    "export const {\n  make,\n  Option,\n} = whole;\n",
    "use.mjs": "import whole from './index.js';\nnew whole.Option().go();\n"
    "const { Option: Own } = whole;\nnew Own();\nwhole.make();\n",
    "again.mjs": "import { Option } from './named.mjs';\nnew Option().go();\n",
}


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (
            "option.js:1",
            {
                ("option.js", 4), ("index.js", 1), ("index.js", 2), ("index.js", 3),
                ("named.mjs", 4), ("use.mjs", 2), ("use.mjs", 3), ("use.mjs", 4),
                ("again.mjs", 1), ("again.mjs", 2),
            },
        ),
        ("option.js:2", {("use.mjs", 2), ("again.mjs", 2)}),
        ("index.js:3", {("named.mjs", 3), ("use.mjs", 5)}),
    ],
)  # fmt: skip
def test_a_default_import_of_commonjs_has_the_members_of_its_exports(
    repo: GitRepo, run: Run, asked: str, lines: set[tuple[str, int]]
) -> None:
    repo.commit("commonjs", COMMONJS)
    assert listed(run, asked) == lines


def test_a_default_import_of_a_module_with_a_default_is_only_that(repo: GitRepo, run: Run) -> None:
    files = {
        "a.js": "export const f = () => 1;\nexport default { f: 2 };\n",
        "b.js": "import a from './a.js';\na.f;\n",
    }
    repo.commit("default", files)
    assert listed(run, "a.js:1") == set()


TYPED_PACKAGE = {
    "package.json": '{"name": "pack", "type": "module", "main": "./index.js",'
    ' "exports": {".": {"types": "./typings/index.d.ts", "default": "./index.js"}}}',
    "index.js": "import { Option } from './lib/option.js';\nexport { Option };\n",
    "lib/option.js": "export class Option {\n  go() {}\n}\n",
    "typings/index.d.ts": "export class Option {\n  go(): void;\n}\n"
    "export function f(o: Option): void;\n",
    "examples/a.js": "import { Option } from 'pack';\nnew Option().go();\n",
    "tests/b.js": "import { Option } from '../index.js';\nnew Option().go();\n",
}


@pytest.mark.parametrize("asked", ["lib/option.js", "typings/index.d.ts"])
def test_the_declarations_of_a_package_are_one_with_its_code(
    repo: GitRepo, run: Run, asked: str
) -> None:
    repo.commit("typed", TYPED_PACKAGE)
    uses = {("examples/a.js", 2), ("tests/b.js", 2)}
    imports = {("examples/a.js", 1), ("tests/b.js", 1), ("index.js", 1), ("index.js", 2)}
    assert listed(run, f"{asked}:1") == {*uses, *imports, ("typings/index.d.ts", 4)}
    assert listed(run, f"{asked}:2") == uses


UNNAMED: dict[str, tuple[str, str, str, str, str]] = {
    "python call": (
        "m.py", "class Repo:\n    def __call__(self, n): return n\n",
        "n.py", "from m import Repo\ndef third(r: Repo):\n    r(5)\n", "Repo.__call__",
    ),
    "python with": (
        "m.py", "class Repo:\n    def __enter__(self): return self\n",
        "n.py", "from m import Repo\ndef third(r: Repo):\n    with r: pass\n", "Repo.__enter__",
    ),
    "python sum": (
        "m.py", "class Repo:\n    def __add__(self, o): return self\n",
        "n.py", "from m import Repo\ndef third(r: Repo):\n    return r + 1\n", "Repo.__add__",
    ),
    "cpp": (
        "m.h", "#pragma once\nclass Vec { public:\n  Vec operator+(const Vec& o) const;\n};\n",
        "n.cpp", '#include "m.h"\nVec twice(Vec a) {\n  return a + a;\n}\n', "Vec.operator+",
    ),
    "kotlin": (
        "M.kt", "class Vec { operator fun plus(o: Vec): Vec = this }\n",
        "N.kt", "// twice\nfun twice(a: Vec): Vec {\n  return a + a\n}\n", "Vec.plus",
    ),
    "rust": (
        "src/lib.rs", "pub mod n;\npub struct Vec2;\nimpl std::ops::Add for Vec2 {\n"
        "  type Output = Vec2;\n  fn add(self, o: Vec2) -> Vec2 { self }\n}\n",
        "src/n.rs", "use crate::Vec2;\npub fn twice(a: Vec2, b: Vec2) -> Vec2 {\n  a + b\n}\n",
        "src/lib.rs:5",
    ),
    "php": (
        "m.php", "<?php\nclass Repo { function __invoke($n) { return $n; } }\n",
        "n.php", "<?php\nfunction third(Repo $r) {\n  return $r(5);\n}\n", "Repo.__invoke",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNNAMED)
def test_a_call_in_another_file_that_does_not_name_the_method(
    repo: GitRepo, run: Run, case: str
) -> None:
    file, text, other, use, target = UNNAMED[case]
    repo.commit("one", {file: text, other: use})
    assert (other, 3) in listed(run, target)
    assert (other, 3) in related(run, target)


@pytest.mark.parametrize(
    ("export", "use"),
    [
        ("export { over as renamed };", "import { renamed } from './mid';\nrenamed(1);\n"),
        ("export default over;", "import wrapped from './mid';\nwrapped(1);\n"),
        ("export { over as default };", "import wrapped from './mid';\nwrapped(1);\n"),
        (
            "export { over as one };\nexport { over as two };",
            "import { two } from './mid';\ntwo(1);\n",
        ),
    ],
)
@pytest.mark.parametrize("ending", ["ts", "js", "mjs"])
def test_an_import_that_is_exported_under_another_name(
    repo: GitRepo, run: Run, export: str, use: str, ending: str
) -> None:
    mid = f"import {{ over }} from './lib.{ending}';\n{export}\n"
    files = {
        f"lib.{ending}": "export function over(n) { return n; }\n",
        f"mid.{ending}": mid if ending != "ts" else mid.replace(".ts", ""),
        f"use.{ending}": use if ending == "ts" else use.replace("./mid", f"./mid.{ending}"),
    }
    repo.commit("one", files)
    assert (f"use.{ending}", 2) in listed(run, f"lib.{ending}:1")
    assert (f"use.{ending}", 2) in related(run, f"lib.{ending}:1")


def test_a_line_of_a_file_without_definitions(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "one", {"lib.ts": "export const a = 1;\n", "mid.ts": "export { a } from './lib';\n"}
    )
    assert run("references", "mid.ts:1").code in {0, 1}


CPP_OVERLOADS = {
    "m.h": (
        "#pragma once\n#include <string>\nvoid f(int n);\nvoid f(double);\n"
        "void f(const std::string& s);\nvoid g(size_t n);\n"
    ),
    "m.cpp": (
        '#include "m.h"\nusing std::string;\nvoid f(int) {}\nvoid f(double value) {}\n'
        "void f(const string &s) {}\nvoid g(std::size_t count) {}\n"
    ),
    "n.cpp": (
        '#include "m.h"\nvoid u(std::string s) {\n  f(1);\n  f(1.5);\n  f(s);\n  f(2e3);\n'
        "  g(4);\n}\n"
    ),
}


@pytest.mark.parametrize(("line", "uses"), [(3, [3]), (4, [4, 6]), (5, [5]), (6, [7])])
@pytest.mark.parametrize("file", ["m.h", "m.cpp"])
def test_overloads_of_cpp_with_as_many_parameters_stay_apart(
    repo: GitRepo, run: Run, file: str, line: int, uses: list[int]
) -> None:
    repo.commit("one", CPP_OVERLOADS)
    certain = listed(run, f"{file}:{line}")
    assert [line for path, line in sorted(certain) if path == "n.cpp"] == uses


EITHER_OVERLOAD = {
    "a.kt": (
        "class A {\n  fun put(k: String) = 1\n  fun put(k: Boolean) = 2\n}\n"
        "fun use(a: A, u: Unknown) {\n  a.put(u.name())\n}\n"
    ),
    "B.java": (
        "class B {\n  int put(String k) { return 1; }\n  int put(boolean k) { return 2; }\n"
        "  static int use(B b, Unknown u) {\n    return b.put(u.name());\n  }\n}\n"
    ),
    "C.cs": (
        "class C {\n  int Put(string k) { return 1; }\n  int Put(bool k) { return 2; }\n"
        "  static int Use(C c, Unknown u) {\n    return c.Put(u.Name());\n  }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("asked", "site"), [("A.put", ("a.kt", 6)), ("B.put", ("B.java", 5)), ("C.Put", ("C.cs", 5))]
)
def test_a_use_of_either_overload_is_certain_for_the_name_and_possible_for_one(
    repo: GitRepo, run: Run, asked: str, site: tuple[str, int]
) -> None:
    repo.commit("one", EITHER_OVERLOAD)
    assert site in listed(run, asked)
    assert site in related(run, asked)
    assert site not in listed(run, f"{site[0]}:2")


def test_a_use_of_either_overload_is_possible_where_the_answer_is_grouped(
    repo: GitRepo, run: Run
) -> None:
    sources = {
        "A.java": (
            "class A {\n  int put(String k) { return 1; }\n  int put(boolean k) { return 2; }\n}\n"
        ),
        "Z.java": "class Z {\n  int put(String k) { return 1; }\n}\n",
        "U.java": "class U {\n  int use(A a, Unknown u) {\n    return a.put(u.name());\n  }\n}\n",
    }
    repo.commit("one", sources)
    assert ("U.java", 3) in listed(run, "put")
    answer = run("related", "put", "--json").json
    assert len(answer["owners"]) == len({owner["handle"] for owner in answer["owners"]}) == 3
    assert ("U.java", 3) in sites([*answer["results"], *answer["may"]])
