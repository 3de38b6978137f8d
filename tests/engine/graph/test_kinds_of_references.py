"""What counts as a use in `references` and what does not: exports, patterns, texts, aliases."""

from __future__ import annotations

import json

import pytest
from gitrepo import GitRepo
from shop_repository import Run

Lines = set[tuple[str, int]]


def found(run: Run, target: str) -> tuple[Lines, Lines]:
    """The certain lines and the possible ones."""
    answer = run("references", target, "--limit", "1000", "--json").json
    lines: dict[bool, Lines] = {True: set(), False: set()}
    for one in answer["results"]:
        lines[bool(one["certain"])].add((one["path"], one["line"]))
    assert len(lines[True]) == answer["certain"]
    assert len(lines[False]) == answer["possible"]
    return lines[True], lines[False]


CERTAIN: dict[str, tuple[dict[str, str], str, Lines]] = {
    "__all__": (
        {
            "a.py": "__all__ = ['f']\n__all__ += [\n    'f',\n]\nTABLE = ['f']\n\n\n"
            "def f():\n    pass\n",
        },
        "a.py#f", {("a.py", 1), ("a.py", 3)},
    ),
    "class patterns": (
        {
            "a.py": "class Shop:\n    n = 1\n",
            "b.py": "import a\nfrom a import Shop\n\n\ndef go(x):\n    match x:\n"
            "        case Shop(n=3):\n            pass\n        case [a.Shop(), *_]:\n"
            "            pass\n",
        },
        "Shop", {("b.py", 2), ("b.py", 7), ("b.py", 9)},
    ),
    "value patterns": (
        {
            "a.py": "class Color:\n    RED = 1\n\n\ndef go(x):\n    match x:\n"
            "        case Color.RED:\n            pass\n",
        },
        "Color.RED", {("a.py", 7)},
    ),
    "a type used without its name": (
        {"a.py": "class Shop:\n    @classmethod\n    def make(cls):\n        return cls()\n"},
        "Shop", {("a.py", 4)},
    ),
    "a constructor used without its name": (
        {"A.java": "class A {\n  A() {\n    this(1);\n  }\n  A(int n) {}\n}\n"},
        "A.java#A", {("A.java", 3)},
    ),
    "an alias of Python": (
        {
            "a.py": "def f():\n    pass\n\n\ng = f\n",
            "b.py": "from a import g\n\n\ndef go():\n    g()\n",
        },
        "a.py#f", {("a.py", 5), ("b.py", 1), ("b.py", 5)},
    ),
    "an alias of JavaScript": (
        {
            "a.js": "export function f() {}\nexport const g = f;\n",
            "b.js": "import { g } from './a.js';\ng();\n",
        },
        "a.js#f", {("a.js", 2), ("b.js", 1), ("b.js", 2)},
    ),
    "an alias of Go": (
        {"a.go": "package a\n\nfunc F() {}\n\nvar G = F\n\nfunc use() {\n\tG()\n}\n"},
        "a.go#F", {("a.go", 5), ("a.go", 8)},
    ),
    "an exported name": (
        {
            "a.ts": "function f() {}\nexport { f as g };\n",
            "b.ts": "import { g } from './a';\ng();\n",
        },
        "a.ts#f", {("a.ts", 2), ("b.ts", 1), ("b.ts", 2)},
    ),
    "an exported type": (
        {"a.ts": "interface Row {}\nexport { Row };\n"}, "a.ts#Row", {("a.ts", 2)},
    ),
    "members that a pattern takes": (
        {
            "a.js": "export function f() {}\nexport function k() {}\n",
            "b.js": "import * as ns from './a.js';\n\nfunction go() {\n  const { k: other } = ns;\n"
            "  other();\n}\n",
        },
        "a.js#k", {("b.js", 4), ("b.js", 5)},
    ),
    "code behind magics of a notebook": (
        {
            "a.py": "def f():\n    pass\n",
            "n.ipynb": json.dumps(
                {
                    "cells": [
                        {
                            "cell_type": "code",
                            "source": [
                                "%matplotlib inline\n", "!pip install x\n", "from a import f\n",
                                "%time f()\n", "f()",
                            ],
                        },
                        {"cell_type": "code", "source": ["%%time\n", "f()"]},
                        {"cell_type": "code", "source": ["%%bash\n", "f()"]},
                    ],
                    "metadata": {"kernelspec": {"language": "python"}},
                },
                indent=1,
            ),
        },
        "a.py#f", {("n.ipynb", 8), ("n.ipynb", 9), ("n.ipynb", 10), ("n.ipynb", 17)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(CERTAIN))
def test_certain_uses(repo: GitRepo, run: Run, case: str) -> None:
    files, target, certain = CERTAIN[case]
    repo.commit(case, files)
    assert found(run, target) == (certain, set())


def test_a_line_that_names_an_alias_says_so(repo: GitRepo, run: Run) -> None:
    repo.commit("alias", {"a.py": "def f():\n    pass\n\n\ng = f\n\n\ndef go():\n    g()\n"})
    answer = run("references", "a.py#f", "--json").json
    assert {one["line"]: one.get("why") for one in answer["results"]} == {5: None, 9: "through g"}
    hit = run("impact", "a.py#f", "--json").json
    assert "a.py#go" in {one["handle"] for one in hit["results"]}


def test_a_reassigned_alias_is_not_an_alias(repo: GitRepo, run: Run) -> None:
    text = "def f():\n    pass\n\n\ng = f\ng = print\n\n\ndef go():\n    g()\n"
    repo.commit("two", {"a.py": text})
    assert found(run, "a.py#f") == ({("a.py", 5)}, set())


VARIABLES = {
    "python": (
        "def load():\n    pass\n",
        "def p(load):\n    load()\n\n\ndef q(things):\n    for load in things:\n        load()\n"
        "\n\n"
        "def r(thing):\n    load = thing.load\n    load()\n\n\ndef s(thing):\n    thing.load()\n",
        "py", {12, 16},
    ),
    "javascript": (
        "export function load() {}\n",
        "function p(load) {\n  load();\n}\nconst q = (load) => {\n  load();\n};\n"
        "function r(thing) {\n  thing.load();\n}\n",
        "js", {8},
    ),
    "lua": (
        "function load2() end\n",
        "local function p(load2)\n  load2()\nend\nlocal function r(thing)\n  thing.load2()\nend\n",
        "lua", {5},
    ),
    "go": (
        "package a\n\nfunc load() {}\n",
        "package a\n\nfunc p(load func()) {\n\tload()\n}\n",
        "go", set[int](),
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(VARIABLES))
def test_a_variable_of_the_same_name_is_not_a_use(repo: GitRepo, run: Run, language: str) -> None:
    defining, using, ending, lines = VARIABLES[language]
    repo.commit(language, {f"a.{ending}": defining, f"b.{ending}": using})
    name = "load2" if language == "lua" else "load"
    assert found(run, f"a.{ending}#{name}") == (set(), {(f"b.{ending}", line) for line in lines})


def test_lines_of_the_target_itself_are_not_possible_uses(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "own",
        {
            "a.py": "import functools\nfrom lib import orm\n\n\n"
            "partial = functools.partial(print)\n"
            "\n\nclass Query(orm.Query):\n    pass\n\n\ndef go():\n    orm.Query()\n",
            "b.py": "from lib import thing\n\n\ndef go():\n    thing.partial()\n",
        },
    )
    assert found(run, "a.py#partial") == (set(), {("b.py", 5)})
    assert found(run, "a.py") == (set(), {("b.py", 5)})


def test_texts_that_name_a_definition_by_its_path(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "texts",
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "def f():\n    pass\n\n\nclass Shop:\n    def sell(self):\n        pass\n",
            "pkg/b.py": "from pkg.a import f\n",
            "pyproject.toml": '[project.scripts]\nrun = "pkg.a:f"\n',
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    run = pkg.a:f\n",
            "settings.py": 'APPS = ["pkg.a"]\nSHOP = "pkg.a.Shop"\n',
            "tests/test_a.py": 'patch("pkg.a.f")\npatch("pkg.b.f")\npatch("other.a.f")\n'
            'patch("pkg.a.Shop.sell")\nprint("see pkg.a.f for more")\n',
        },
    )
    names = {("pyproject.toml", 2), ("setup.cfg", 3)}
    test = "tests/test_a.py"
    assert found(run, "pkg/a.py#f") == ({("pkg/b.py", 1)}, names | {(test, 1), (test, 2)})
    assert found(run, "Shop") == (set(), {("settings.py", 2), (test, 4)})
    assert found(run, "Shop.sell") == (set(), {(test, 4)})
    _, possible = found(run, "pkg/a.py")
    assert possible == names | {("settings.py", 1), ("settings.py", 2), (test, 1), (test, 4)}
    text = run("references", "pkg/a.py#f").out
    assert "named in text only" in text
    assert "names pkg.b.f" in text


@pytest.mark.parametrize(
    ("ending", "definition", "text", "name"),
    [
        ("java", "package com.foo;\npublic class Shop {}\n", "<bean class='com.foo.Shop'/>\n",
         "Shop"),
        ("php", "<?php\nnamespace App\\Models;\nclass Shop {}\n", "", "Shop"),
    ],
)  # fmt: skip
def test_texts_that_name_a_class_by_its_package(
    repo: GitRepo, run: Run, ending: str, definition: str, text: str, name: str
) -> None:
    users = {
        "java": 'class B {\n  Object o = Class.forName("com.foo.Shop");\n}\n',
        "php": "<?php\n$x = 'App\\Models\\Shop';\n",
    }
    repo.commit(
        "class", {f"s/Shop.{ending}": definition, f"B.{ending}": users[ending], "beans.xml": text}
    )
    texts = {(f"B.{ending}", 2)} | ({("beans.xml", 1)} if text else set[tuple[str, int]]())
    assert found(run, name) == (set(), texts)


def test_an_imported_name_means_the_imported_definition(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "names",
        {
            "pkg/__init__.py": "from .a import f as public_f\n",
            "pkg/a.py": "def f():\n    pass\n",
            "b.py": "from pkg import public_f\npublic_f()\n",
            "a.ts": "function g() {}\nexport { g as publicG };\n",
            "b.ts": "import { publicG } from './a';\npublicG();\n",
        },
    )
    for name, handle in (("public_f", "pkg/a.py#f"), ("publicG", "a.ts#g")):
        answer = run("references", name, "--json").json
        assert answer["target"]["handle"] == handle
        assert f"{name} is the name of an import or export; it means {handle}" in answer["notes"]
        assert found(run, name) == found(run, handle)
    assert run("references", "pkg/__init__.py#public_f").code == 0
    assert run("references", "nobody_has_this").code != 0


def test_impact_separates_files_from_definitions_and_calls_from_imports(
    repo: GitRepo, run: Run
) -> None:
    repo.commit(
        "head",
        {
            "a.py": "def f():\n    pass\n",
            "b.py": "from a import f\n\n\ndef go():\n    f()\n\n\nf()\n",
            "c.py": "class Plan:\n    def get_plan(self):\n        pass\n",
            "d.py": "def go(thing):\n    thing.get_plan()\n",
        },
    )
    hit = run("impact", "a.py#f")
    assert "1 definition and the top level of 1 file hit, 1 other file" in hit.out
    assert "b.py  calls a.py#f at :8\n" in hit.out
    hidden = run("impact", "Plan.get_plan").out
    assert "nothing hit for certain, 1 more may use it" in hidden
    assert "0 " not in hidden.splitlines()[0].partition(";")[0]
