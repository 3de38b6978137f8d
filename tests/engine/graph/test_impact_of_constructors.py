"""A change of a constructor reports those who construct the type."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from gitrepo import GitRepo
from shop_repository import Run


class Case(NamedTuple):
    """A type with one constructor, and `ask`, which constructs it, in one language."""

    files: dict[str, str]
    old: str
    """The list of parameters, which occurs once in one file."""
    now: str
    """With a required parameter."""
    constructor: str
    """Handle."""


PYTHON_USER = "from shop import Shop\n\n\ndef ask():\n    return Shop(1)\n"
CASES = {
    "python": Case(
        {"shop.py": "class Shop:\n    def __init__(self, a):\n        self.a = a\n",
         "user.py": PYTHON_USER},
        "(self, a)", "(self, a, b)", "shop.py#Shop.__init__",
    ),
    "python, of the base": Case(
        {"base.py": "class Base:\n    def __init__(self, a):\n        self.a = a\n",
         "shop.py": "from base import Base\n\n\nclass Shop(Base):\n    pass\n",
         "user.py": PYTHON_USER},
        "(self, a)", "(self, a, b)", "base.py#Base.__init__",
    ),
    "php": Case(
        {"Shop.php": "<?php\nclass Shop {\n    function __construct($a) {}\n}\n",
         "user.php": "<?php\nrequire 'Shop.php';\nfunction ask() { return new Shop(1); }\n"},
        "($a)", "($a, $b)", "Shop.php#Shop.__construct",
    ),
    "ruby": Case(
        {"shop.rb": "class Shop\n  def initialize(a)\n    @a = a\n  end\nend\n",
         "user.rb": "require_relative 'shop'\ndef ask\n  Shop.new(1)\nend\n"},
        "(a)", "(a, b)", "shop.rb#Shop.initialize",
    ),
    "typescript": Case(
        {"shop.ts": "export class Shop {\n  constructor(a: number) {}\n}\n",
         "user.ts": "import { Shop } from './shop';\n"
         "export function ask() { return new Shop(1); }\n"},
        "(a: number)", "(a: number, b: number)", "shop.ts#Shop.constructor",
    ),
    "java": Case(
        {"a/Shop.java": "package a;\nclass Shop {\n    Shop(int a) {}\n}\n",
         "a/User.java": "package a;\nclass User {\n    Shop ask() { return new Shop(1); }\n}\n"},
        "(int a)", "(int a, int b)", "a/Shop.java#Shop.Shop",
    ),
    "csharp": Case(
        {"Shop.cs": "namespace A {\n  public class Shop {\n    public Shop(int a) {}\n  }\n}\n",
         "User.cs": "namespace A {\n  class User {\n    Shop Ask() { return new Shop(1); }\n  }\n"
         "}\n"},
        "(int a)", "(int a, int b)", "Shop.cs#Shop.Shop",
    ),
    "cpp": Case(
        {"shop.h": "class Shop {\n public:\n  Shop(int a);\n  int a;\n};\n",
         "shop.cc": '#include "shop.h"\nShop::Shop(int a) : a(a) {}\n',
         "user.cc": '#include "shop.h"\nShop* ask() { return new Shop(1); }\n'},
        "(int a)", "(int a, int b)", "shop.cc#Shop.Shop",
    ),
}  # fmt: skip


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README": "\n"}


@pytest.mark.parametrize("name", CASES)
def test_a_changed_constructor_affects_users_that_construct_the_type(
    repo: GitRepo, run: Run, name: str
) -> None:
    case = CASES[name]
    repo.commit("case", case.files)
    for path, text in case.files.items():
        if case.old in text:
            repo.write(path, text.replace(case.old, case.now))
    results = run("impact", "--diff", "--json", "--depth", "1").json["results"]
    hit = {one["symbol"].rpartition(".")[2].lower(): one for one in results}
    assert hit["ask"]["how"] == "call"
    assert hit["ask"]["fit"] == "breaks"


@pytest.mark.parametrize("name", CASES)
def test_a_constructor_is_called_by_those_who_build_the_type(
    repo: GitRepo, run: Run, name: str
) -> None:
    case = CASES[name]
    repo.commit("case", case.files)
    results = run("related", case.constructor, "--kind", "callers", "--json").json["results"]
    assert [one["symbol"].rpartition(".")[2].lower() for one in results] == ["ask"]


OVERLOADED = """package a;
class Shop {
    Shop(int a) {}
    Shop(int a, int b) {}
    Shop(String a, int b) {}
}
"""
BUILDING = """package a;
class User {
    Shop one() { return new Shop(1); }
    Shop two() { return new Shop(1, 2); }
}
"""


def test_the_number_of_arguments_selects_the_constructor(repo: GitRepo, run: Run) -> None:
    repo.commit("case", {"a/Shop.java": OVERLOADED, "a/User.java": BUILDING})
    first = run("related", "a/Shop.java#Shop.Shop", "--json").json
    second = run("related", "a/Shop.java#Shop.Shop~2", "--json").json
    assert [one["symbol"] for one in first["results"] if one["relation"] == "callers"] == [
        "User.one"
    ]
    assert "may" not in first
    assert not [one for one in second["results"] if one["relation"] == "callers"]
    assert [(one["symbol"], one["choices"]) for one in second["may"]] == [("User.two", 2)]


def test_a_subtype_with_a_constructor_of_its_own_does_not_build_by_its_bases(
    repo: GitRepo, run: Run
) -> None:
    repo.commit("case", {
        "base.py": "class Base:\n    def __init__(self, a):\n        self.a = a\n",
        "shop.py": "from base import Base\n\n\nclass Shop(Base):\n    def __init__(self):\n"
        "        pass\n",
        "user.py": "from shop import Shop\n\n\ndef ask():\n    return Shop()\n",
    })  # fmt: skip
    results = run("related", "base.py#Base.__init__", "--kind", "callers", "--json").json["results"]
    assert results == []


def test_a_changed_overload_declaration_affects_callers(repo: GitRepo, run: Run) -> None:
    text = (
        "from typing import overload\n\n\n@overload\ndef price(a: int) -> int: ...\n@overload\n"
        "def price(a: str) -> str: ...\ndef price(a):\n    return a\n"
    )
    user = "from shop import price\n\n\ndef ask():\n    return price(1)\n"
    repo.commit("case", {"shop.py": text, "user.py": user})
    repo.write("shop.py", text.replace("(a: str) -> str", "(a: str, b: str) -> str"))
    results = run("impact", "--diff", "--json").json["results"]
    assert [one["symbol"] for one in results] == ["ask"]


def test_a_change_of_the_header_alone_affects_callers(repo: GitRepo, run: Run) -> None:
    header = "class Shop {\n public:\n  int price(int a);\n};\n"
    repo.commit("case", {
        "shop.h": header,
        "shop.cc": '#include "shop.h"\nint Shop::price(int a) { return a; }\n',
        "user.cc": '#include "shop.h"\nint ask(Shop* shop) { return shop->price(1); }\n',
    })  # fmt: skip
    repo.write("shop.h", header.replace("price(int a)", "price(long a)"))
    results = run("impact", "--diff", "--json").json["results"]
    assert "ask" in {one["symbol"] for one in results if one["how"] == "call"}


def test_a_body_outside_its_type_affects_callers_of_the_base(repo: GitRepo, run: Run) -> None:
    body = '#include "shop.h"\nint Shop::price(int a) { return a; }\n'
    repo.commit("case", {
        "base.h": "class Base {\n public:\n  virtual int price(int a) = 0;\n};\n",
        "shop.h": '#include "base.h"\nclass Shop : public Base {\n public:\n'
        "  int price(int a) override;\n};\n",
        "shop.cc": body,
        "user.cc": '#include "base.h"\nint ask(Base* base) { return base->price(1); }\n',
    })  # fmt: skip
    repo.write("shop.cc", body.replace("return a", "return a + 1"))
    results = run("impact", "--diff", "--json").json["results"]
    assert "ask" in {one["symbol"] for one in results}


def test_a_property_of_the_same_name_is_not_what_a_method_overrides(
    repo: GitRepo, run: Run
) -> None:
    sub = "<?php\nrequire 'Base.php';\nclass Shop extends Base {\n}\n"
    repo.commit("case", {
        "Base.php": "<?php\nclass Base {\n    protected int $price = 1;\n"
        "    function price() { return $this->price; }\n}\n",
        "Shop.php": sub,
        "user.php": "<?php\nrequire 'Base.php';\n"
        "function ask(Base $base) { return $base->price(); }\n",
    })  # fmt: skip
    repo.write("Shop.php", sub.replace("Base {\n", "Base {\n    function price() { return 2; }\n"))
    results = run("impact", "--diff", "--json").json["results"]
    assert {"Base.price", "ask"} <= {one["symbol"] for one in results}


def test_test_helpers_are_reported_like_other_code(repo: GitRepo, run: Run) -> None:
    text = "def price(a):\n    return a\n"
    repo.commit("case", {
        "shop.py": text,
        "tests/server.py": "from shop import price\n\n\ndef serve():\n    return price(1)\n",
        "tests/test_server.py": "from tests.server import serve\n\n\ndef test_serves():\n"
        "    assert serve()\n",
    })  # fmt: skip
    repo.write("shop.py", text.replace("(a)", "(a, b)"))
    answer = run("impact", "--diff", "--json").json
    assert [(one["path"], one["fit"]) for one in answer["results"]] == [
        ("tests/server.py", "breaks")
    ]
    assert [one["path"] for one in answer["tests"]] == ["tests/test_server.py"]
