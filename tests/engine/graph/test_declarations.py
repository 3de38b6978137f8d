"""C and C++: a declaration and its definition are one thing in two places."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

HEADER = "int tax(int amount);\nint tax_twice(int amount);\n\nstatic int own(int x);\n"
SOURCE = (
    '#include "tax.h"\n\nint tax(int amount) {\n  return amount / 5;\n}\n\n'
    "int tax_twice(int amount) {\n  return tax(tax(amount));\n}\n"
)
MAIN = '#include "tax.h"\n\nint main(void) {\n  return tax(3);\n}\n'


@pytest.fixture
def taxes(repo: GitRepo) -> GitRepo:
    repo.write("lib/tax.h", HEADER)
    repo.write("lib/taxes.c", SOURCE)
    repo.write("lib/main.c", MAIN)
    return repo


@pytest.mark.parametrize("asked", ["tax_twice", "lib/tax.h#tax_twice", "lib/taxes.c#tax_twice"])
def test_expand_shows_both_places(taxes: GitRepo, run: Run, asked: str) -> None:
    ran = run("expand", asked)
    assert ran.code == 0
    other = "lib/taxes.c#tax_twice" if ".h#" in asked else "lib/tax.h#tax_twice"
    assert f"the same function also at {other}" in ran.err


def test_a_name_means_the_definition(taxes: GitRepo, run: Run) -> None:
    assert "return tax(tax(amount))" in run("expand", "tax_twice").out


@pytest.mark.parametrize("asked", ["lib/tax.h#tax", "lib/taxes.c#tax"])
def test_the_users_of_either_place_are_those_of_both(taxes: GitRepo, run: Run, asked: str) -> None:
    users = {"lib/main.c#main", "lib/taxes.c#tax_twice"}
    related = run("related", asked, "--kind", "callers", "--json").json
    assert {one["handle"] for one in related["results"]} == users
    impact = run("impact", asked, "--json").json
    assert {one["handle"] for one in impact["results"] if one["distance"] == 1} == users


BRANCHES = {
    "a.c": (
        "#ifdef FAST\nstatic int best(int x) {\n  return x;\n}\n#else\n"
        "static int best(int x) {\n  return x + 1;\n}\n#endif\n"
        "int run(void) {\n  return best(2);\n}\n"
    ),
    "a.rs": (
        "fn run() -> i32 {\n    #[cfg(fast)]\n    fn best(x: i32) -> i32 { x }\n"
        "    #[cfg(not(fast))]\n    fn best(x: i32) -> i32 { x + 1 }\n    best(2)\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("asked", "user"),
    [
        ("a.c:2", "a.c#run"),
        ("a.c:6", "a.c#run"),
        ("a.rs:3", "a.rs#run"),
        ("a.rs:5", "a.rs#run"),
    ],
)
def test_a_use_of_what_has_a_definition_in_each_branch_is_certain(
    repo: GitRepo, run: Run, asked: str, user: str
) -> None:
    for name, text in BRANCHES.items():
        repo.write(name, text)
    related = run("related", asked, "--kind", "callers", "--json").json
    assert [row["handle"] for row in related["results"]] == [user]
    assert not related.get("may")
    references = run("references", asked, "--json").json
    assert [row["certain"] for row in references["results"]] == [True]


BUILDS = {
    "go.mod": "module example.com/app\n",
    "main.go": "package app\n\nfunc Use() int { return run() + tagged() }\n",
    "a_windows.go": "package app\n\nfunc run() int { return 1 }\n",
    "a_linux.go": "package app\n\nfunc run() int { return 2 }\n",
    "b.go": "//go:build special\n\npackage app\n\nfunc tagged() int { return 1 }\n",
    "c.go": "//go:build !special\n\npackage app\n\nfunc tagged() int { return 2 }\n",
    "gen.go": "//go:build ignore\n\npackage app\n\nfunc run() int { return 3 }\n",
    "x_test.go": "package app_test\n\nfunc run() int { return 4 }\n",
    "other/a.go": "package other\n\nfunc run() int { return 5 }\n",
}


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ("a_windows.go#run", ["a_linux.go#run"]),
        ("a_linux.go#run", ["a_windows.go#run"]),
        ("b.go#tagged", ["c.go#tagged"]),
        ("c.go#tagged", ["b.go#tagged"]),
    ],
)
def test_what_another_build_uses_instead_has_the_same_users(
    repo: GitRepo, run: Run, asked: str, others: list[str]
) -> None:
    for name, text in BUILDS.items():
        repo.write(name, text)
    related = run("related", asked, "--kind", "callers", "--json").json
    assert [row["handle"] for row in related["results"]] == ["main.go#Use"]
    impact = run("impact", asked, "--json").json
    assert [row["handle"] for row in impact["results"]] == ["main.go#Use"]
    references = run("references", asked)
    assert "main.go\n  #Use\n    3: " in references.out
    assert f"other builds use {', '.join(others)} instead" in references.err


@pytest.mark.parametrize("asked", ["gen.go#run", "x_test.go#run", "other/a.go#run"])
def test_no_build_replaces_a_definition_of_another_package(
    repo: GitRepo, run: Run, asked: str
) -> None:
    for name, text in BUILDS.items():
        repo.write(name, text)
    assert not run("related", asked, "--kind", "callers", "--json").json["results"]
    assert "other builds" not in run("references", asked).err


STAND_INS = {
    "lib/z.h": "int open_it(const char *name);\nint warn(const char *text);\n",
    "lib/z.c": (
        '#include "z.h"\nint open_it(const char *name) {\n  return warn(name);\n}\n'
        "int warn(const char *text) {\n  return 2;\n}\n"
    ),
    "tool/t.c": (
        '#include "../lib/z.h"\n#ifdef SOLO\nstatic int open_it(const char *name) {\n'
        '  return 2;\n}\n#endif\nint main(void) {\n  return open_it("a");\n}\n'
    ),
    "tool/u.c": (
        "static int warn(const char *text) {\n  return 3;\n}\n"
        'int other(void) {\n  return warn("a");\n}\n'
    ),
}


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("lib/z.c:2", ["tool/t.c:8"]),
        ("lib/z.h:1", ["tool/t.c:8"]),
        ("tool/t.c:3", ["tool/t.c:8"]),
        ("lib/z.c:5", ["lib/z.c:3"]),
        ("tool/u.c:1", ["tool/u.c:5"]),
    ],
)
def test_a_static_function_stands_in_for_one_of_a_header_in_its_own_file(
    repo: GitRepo, run: Run, asked: str, lines: list[str]
) -> None:
    for name, text in STAND_INS.items():
        repo.write(name, text)
    references = run("references", asked, "--json").json["results"]
    assert [f"{row['path']}:{row['line']}" for row in references if row["certain"]] == lines
    related = run("related", asked, "--kind", "callers", "--json").json
    assert [site for row in related["results"] for site in row["sites"]] == lines
    assert not related.get("may")


LIMITS = {
    "lib/limit.h": "extern int limit;\nextern const int most;\n",
    "lib/limit.c": '#include "limit.h"\nint limit = 10;\nconst int most = 99;\n',
    "lib/near.c": '#include "limit.h"\nint near(void) {\n  return limit + most;\n}\n',
    "app/far.c": "extern int limit;\n\nint far(void) {\n  return limit;\n}\n",
    "app/own.c": "static int limit = 3;\n\nint own(void) {\n  return limit;\n}\n",
}


@pytest.mark.parametrize("asked", ["limit", "lib/limit.h#limit", "lib/limit.c#limit"])
def test_a_variable_and_its_extern_declarations_are_one(
    repo: GitRepo, run: Run, asked: str
) -> None:
    for name, text in LIMITS.items():
        if asked != "limit" or name != "app/own.c":
            repo.write(name, text)
    related = run("related", asked, "--kind", "users", "--json").json
    assert {one["handle"] for one in related["results"]} == {"lib/near.c#near", "app/far.c#far"}
    if asked != "limit":
        own = run("related", "app/own.c#limit", "--kind", "users", "--json").json
        assert [one["handle"] for one in own["results"]] == ["app/own.c#own"]


@pytest.mark.slow
def test_overloads_are_joined_by_the_number_of_their_parameters(repo: GitRepo, run: Run) -> None:
    repo.write(
        "lib/put.hpp", "namespace n {\nvoid put(int a);\nvoid put(int a, int b = f(1, 2));\n}\n"
    )
    repo.write("lib/put.cpp", "namespace n {\nvoid put(int a, int b) {\n  use(a);\n}\n}\n")
    err = run("expand", "lib/put.cpp#n.put").err
    assert "lib/put.hpp#n.put~2" in err
    assert "lib/put.hpp#n.put," not in err


def test_static_functions_of_other_files_are_others(repo: GitRepo, run: Run) -> None:
    repo.write(
        "lib/one.c",
        "static int same(int x) {\n  return x;\n}\nint a(void) {\n  return same(1);\n}\n",
    )
    repo.write("lib/two.c", "static int same(int x) {\n  return 2 * x;\n}\n")
    ran = run("related", "same", "--json")
    assert ran.code == 0
    assert len(ran.json["owners"]) == 2
    assert "lib/one.c#a" in {one["handle"] for one in ran.json["results"]}
    assert not run("related", "lib/two.c#same", "--kind", "callers", "--json").json["results"]


def test_impact_of_a_name_that_several_have_answers_for_each(repo: GitRepo, run: Run) -> None:
    ran = run("impact", "price", "--json")
    changed = [one["handle"] for one in ran.json["changed"]]
    assert changed == ["shop/base.py#Item.price", "shop/book.py#Book.price"]


def test_a_namespace_that_other_files_reopen_does_not_belong_to_a_file(
    repo: GitRepo, run: Run
) -> None:
    space = "namespace acme {{\nint {name}(int x) {{\n  return x;\n}}\n}}\n"
    repo.write("lib/one.cc", space.format(name="one"))
    repo.write("lib/two.cc", space.format(name="two"))
    repo.write("lib/use.cc", "int used(int x) {\n  return acme::three(acme::four(x));\n}\n")
    ran = run("impact", "lib/one.cc", "--json").json
    assert ran["results"] == []
    assert not any("acme" in one for one in ran["notes"])
    assert ran["at_least"] is False
