"""`impact --diff` of a function with a changed signature: its callers, and whether they fit."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from gitrepo import GitRepo
from shop_repository import Run


class Case(NamedTuple):
    """A function and its callers in one language."""

    files: dict[str, str]
    old: str
    """The list of parameters, which occurs once in one file."""
    more: str
    """With a required parameter."""
    optional: str = ""
    """With an optional parameter."""


JAVA = "package a;\nclass Shop {\n    static int price(int a) { return a; }\n}\n"
KOTLIN = "package a\n\nclass Shop {\n    fun price(a: Int): Int { return a }\n}\n"
CSHARP = (
    "namespace A {\n  public class Shop {\n    "
    "public static int Price(int a) { return a; }\n  }\n}\n"
)
SHOP_C = '#include "shop.h"\nint price(int a) { return a; }\n'
USER_C = '#include "shop.h"\nint ask(void) { return price(1); }\n'
USER_CSHARP = "namespace A {\n  class User {\n    int Ask() { return Shop.Price(1); }\n  }\n}\n"
USER_JS = "import { price } from './shop.js';\nexport function ask() { return price(1); }\n"
USER_TS = USER_JS.replace("shop.js", "shop")
USER_RUBY = "require_relative 'shop'\nclass User\n  def ask\n    Shop.price(1)\n  end\nend\n"
CASES = {
    "java": Case(
        {"a/Shop.java": JAVA,
         "a/User.java": "package a;\nclass User {\n    int ask() { return Shop.price(1); }\n}\n"},
        "(int a)", "(int a, int b)",
    ),
    "kotlin": Case(
        {"a/Shop.kt": KOTLIN,
         "a/User.kt": "package a\n\nfun ask(shop: Shop): Int { return shop.price(1) }\n"},
        "(a: Int)", "(a: Int, b: Int)", "(a: Int, b: Int = 0)",
    ),
    "csharp": Case(
        {"Shop.cs": CSHARP,
         "User.cs": USER_CSHARP},
        "(int a)", "(int a, int b)", "(int a, int b = 0)",
    ),
    "php": Case(
        {"shop.php": "<?php\nfunction price($a) { return $a; }\n",
         "user.php": "<?php\nrequire 'shop.php';\nfunction ask() { return price(1); }\n"},
        "($a)", "($a, $b)", "($a, $b = 0)",
    ),
    "cpp": Case(
        {"shop.h": "int price(int a);\n", "shop.cc": SHOP_C, "user.cc": USER_C},
        "(int a)", "(int a, int b)",
    ),
    "c": Case(
        {"shop.h": "int price(int a);\n", "shop.c": SHOP_C, "user.c": USER_C},
        "(int a)", "(int a, int b)",
    ),
    "go": Case(
        {"go.mod": "module a\n", "shop.go": "package a\n\nfunc Price(a int) int { return a }\n",
         "user.go": "package a\n\nfunc Ask() int { return Price(1) }\n"},
        "(a int)", "(a int, b int)", "(a int, b ...int)",
    ),
    "python": Case(
        {"shop.py": "def price(a):\n    return a\n",
         "user.py": "from shop import price\n\n\ndef ask():\n    return price(1)\n"},
        "(a)", "(a, b)", "(a, b=0)",
    ),
    "rust": Case(
        {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": "pub mod shop;\npub mod user;\n",
         "src/shop.rs": "pub fn price(a: u8) -> u8 { a }\n",
         "src/user.rs": "use crate::shop::price;\npub fn ask() -> u8 { price(1) }\n"},
        "(a: u8)", "(a: u8, b: u8)",
    ),
    "typescript": Case(
        {"shop.ts": "export function price(a: number): number { return a; }\n",
         "user.ts": USER_TS},
        "(a: number)", "(a: number, b: number)", "(a: number, b?: number)",
    ),
    "javascript": Case(
        {"shop.js": "export function price(a) { return a; }\n",
         "user.js": USER_JS},
        "(a)", "(a, b)", "(a, b = 0)",
    ),
    "ruby": Case(
        {"shop.rb": "class Shop\n  def self.price(a)\n    a\n  end\nend\n",
         "user.rb": USER_RUBY},
        "(a)", "(a, b)", "(a, b = 0)",
    ),
    "lua": Case(
        {"shop.lua": "local M = {}\nfunction M.price(a)\n  return a\nend\nreturn M\n",
         "user.lua": "local shop = require('shop')\nlocal function ask()\n"
         "  return shop.price(1)\nend\nreturn ask\n"},
        "(a)", "(a, b)",
    ),
}  # fmt: skip
TOLERANT = {"javascript", "lua"}


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README": "\n"}


def fits(repo: GitRepo, run: Run, case: Case, now: str) -> dict[str, str | None]:
    """What `impact --diff` says about each direct user, after every declaration was rewritten."""
    repo.commit("case", case.files)
    for path, text in case.files.items():
        if case.old in text:
            repo.write(path, text.replace(case.old, now))
    ran = run("impact", "--diff", "--json").json
    direct = [one for one in ran["results"] if one["distance"] == 1]
    # A declaration uses nothing; its file imports it.
    return {one["symbol"].lower(): one.get("fit") for one in direct if one["how"] == "call"}


@pytest.mark.parametrize("language", CASES)
def test_a_parameter_more_keeps_the_callers_and_breaks_them(
    repo: GitRepo, run: Run, language: str
) -> None:
    case = CASES[language]
    (reported,) = fits(repo, run, case, case.more).items()
    name, fit = reported
    assert name.rpartition(".")[2] == "ask"
    assert fit == ("uncertain" if language in TOLERANT else "breaks")


@pytest.mark.parametrize("language", [one for one in CASES if CASES[one].optional])
def test_a_parameter_that_need_not_be_given_keeps_the_calls_fitting(
    repo: GitRepo, run: Run, language: str
) -> None:
    case = CASES[language]
    assert list(fits(repo, run, case, case.optional).values()) == ["fits"]


@pytest.mark.parametrize(
    ("language", "now"),
    [("java", "(String a)"), ("csharp", "(string a)"), ("kotlin", "(a: String)"),
     ("go", "(a string)"), ("python", "(b)"), ("rust", "(a: &str)"), ("cpp", "(Text a)")],
)  # fmt: skip
def test_a_parameter_of_another_type_or_name_keeps_the_callers_as_uncertain(
    repo: GitRepo, run: Run, language: str, now: str
) -> None:
    assert list(fits(repo, run, CASES[language], now).values()) == ["uncertain"]


def test_a_method_that_is_gone_breaks_its_callers(repo: GitRepo, run: Run) -> None:
    files = CASES["java"].files
    repo.commit("case", files)
    repo.write("a/Shop.java", "package a;\nclass Shop {\n}\n")
    (hit,) = run("impact", "--diff", "--json").json["results"]
    assert (hit["symbol"], hit["fit"]) == ("User.ask", "breaks")
    assert "calls HEAD:a/Shop.java#Shop.price at :3, no longer fits" in run("impact", "--diff").out


def test_only_the_changed_overload_is_queried(repo: GitRepo, run: Run) -> None:
    shop = (
        "package a;\nclass Shop {\n    static int price(int a) { return a; }\n"
        "    static int price(String a) { return 1; }\n}\n"
    )
    users = (
        "package a;\nclass User {\n    int number() { return Shop.price(1); }\n"
        '    int text() { return Shop.price("a"); }\n}\n'
    )
    repo.commit("case", {"a/Shop.java": shop, "a/User.java": users})
    repo.write("a/Shop.java", shop.replace("(int a)", "(int a, int b)"))
    ran = run("impact", "--diff", "--json").json
    assert [(one["symbol"], one["fit"]) for one in ran["results"]] == [("User.number", "breaks")]
    assert ran["fits"] == {"breaks": 1}
    assert "direct (1; 1 no longer fits)" in run("impact", "--diff").out
    # A second definition of that name is new; the others are unchanged.
    repo.write("a/Shop.java", shop.replace("}\n}", "}\n    static int price() { return 0; }\n}"))
    reported = run("impact", "--diff", "--json").json["changed"]
    assert [(one["handle"], one["how"]) for one in reported] == [
        ("a/Shop.java#Shop.price~3", "added")
    ]
    # The first of them is gone: its handle is that of the commit.
    repo.write("a/Shop.java", shop.replace("    static int price(int a) { return a; }\n", ""))
    reported = run("impact", "--diff", "--json").json["changed"]
    assert [(one["handle"], one["how"]) for one in reported] == [
        ("HEAD:a/Shop.java#Shop.price", "removed")
    ]


def test_callers_have_their_current_lines_and_fixed_ones_fit(repo: GitRepo, run: Run) -> None:
    files = CASES["java"].files
    repo.commit("case", files)
    repo.write("a/Shop.java", JAVA.replace("(int a)", "(int a, int b)"))
    more = (
        "    int mended() { return Shop.price(1, 2); }\n    int old() { return Shop.price(1); }\n"
    )
    user = files["a/User.java"].replace("class User {\n", f"class User {{\n\n{more}")
    repo.write("a/User.java", user)
    ran = run("impact", "--diff", "--json").json
    assert {one["symbol"]: one["site"] for one in ran["results"]} == {"User.ask": "a/User.java:6"}


def test_tests_follow_the_callers_of_the_commit(repo: GitRepo, run: Run) -> None:
    test = (
        "package a;\nclass UserTest {\n    @Test void asks() { new User().ask(); }\n"
        "    @Test void direct() { Shop.price(3); }\n}\n"
    )
    repo.commit("case", {**CASES["java"].files, "test/a/UserTest.java": test})
    repo.write("a/Shop.java", JAVA.replace("(int a)", "(int a, int b)"))
    (reported,) = run("impact", "--diff", "--json").json["tests"]
    assert reported["path"] == "test/a/UserTest.java"
    assert reported["count"] == 2
