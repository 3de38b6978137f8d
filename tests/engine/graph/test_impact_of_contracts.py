"""`impact` of methods in contracts: interfaces, traits and their implementations."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from gitrepo import GitRepo
from shop_repository import Run


class Case(NamedTuple):
    """A declared method, an implementation of it, and a caller of each."""

    files: dict[str, str]
    file: str
    """The file that declares it; the method's name occurs once in it."""
    asked: str
    """The handle to ask about."""
    implementing: str
    old: str
    new: str
    distance: int = 2
    """Distance of the caller that calls it on the implementing type."""
    binding: bool = True
    """Whether an interface declares it, so that any change affects its implementers."""


CASES = {
    "rust": Case(
        {
            "Cargo.toml": '[package]\nname = "a"\n',
            "src/lib.rs": "pub mod shop;\npub mod book;\npub mod user;\n",
            "src/shop.rs": "pub trait Shop {\n    fn price(&self, a: u8) -> u8;\n}\n",
            "src/book.rs": "use crate::shop::Shop;\npub struct Book;\nimpl Shop for Book {\n"
            "    fn price(&self, a: u8) -> u8 { a }\n}\n",
            "src/user.rs": "use crate::book::Book;\nuse crate::shop::Shop;\n"
            "pub fn direct(b: &Book) -> u8 { b.price(1) }\n"
            "pub fn through(s: &dyn Shop) -> u8 { s.price(1) }\n",
        },
        "src/shop.rs", "src/shop.rs#Shop.price", "src/book.rs#Book.price",
        "a: u8", "a: u16", distance=1,
    ),
    "java": Case(
        {
            "a/Shop.java": "package a;\ninterface Shop {\n  int price(int a);\n}\n",
            "a/Book.java": "package a;\nclass Book implements Shop {\n"
            "  public int price(int a) { return a; }\n}\n",
            "a/User.java": "package a;\nclass User {\n"
            "  int direct(Book b) { return b.price(1); }\n"
            "  int through(Shop s) { return s.price(1); }\n}\n",
        },
        "a/Shop.java", "a/Shop.java#Shop.price", "a/Book.java#Book.price", "int a", "long a",
    ),
    "kotlin": Case(
        {
            "a/Shop.kt": "package a\n\ninterface Shop {\n  fun price(a: Int): Int\n}\n",
            "a/Book.kt": "package a\n\nclass Book : Shop {\n"
            "  override fun price(a: Int): Int = a\n}\n",
            "a/User.kt": "package a\n\nfun direct(b: Book): Int = b.price(1)\n"
            "fun through(s: Shop): Int = s.price(1)\n",
        },
        "a/Shop.kt", "a/Shop.kt#Shop.price", "a/Book.kt#Book.price", "a: Int", "a: Long",
    ),
    "csharp": Case(
        {
            "Shop.cs": "namespace A {\n  interface Shop {\n    int Price(int a);\n  }\n}\n",
            "Book.cs": "namespace A {\n  class Book : Shop {\n"
            "    public int Price(int a) { return a; }\n  }\n}\n",
            "User.cs": "namespace A {\n  class User {\n"
            "    int direct(Book b) { return b.Price(1); }\n"
            "    int through(Shop s) { return s.Price(1); }\n  }\n}\n",
        },
        "Shop.cs", "Shop.cs#Shop.Price", "Book.cs#Book.Price", "int a", "long a",
    ),
    "go": Case(
        {
            "go.mod": "module a\n",
            "shop.go": "package a\n\ntype Shop interface {\n\tPrice(a int) int\n}\n",
            "book.go": "package a\n\ntype Book struct{}\n\n"
            "func (b Book) Price(a int) int { return a }\n",
            "user.go": "package a\n\nfunc direct(b Book) int { return b.Price(1) }\n\n"
            "func through(s Shop) int { return s.Price(1) }\n",
        },
        "shop.go", "shop.go#Shop.Price", "book.go#Book.Price", "a int", "a int8",
    ),
    "typescript": Case(
        {
            "shop.ts": "export interface Shop {\n  price(a: number): number;\n}\n",
            "book.ts": 'import { Shop } from "./shop";\nexport class Book implements Shop {\n'
            "  price(a: number): number { return a; }\n}\n",
            "user.ts": 'import { Shop } from "./shop";\nimport { Book } from "./book";\n'
            "export function direct(b: Book): number { return b.price(1); }\n"
            "export function through(s: Shop): number { return s.price(1); }\n",
        },
        "shop.ts", "shop.ts#Shop.price", "book.ts#Book.price", "a: number", "a: string",
    ),
    "php": Case(
        {
            "shop.php": "<?php\ninterface Shop {\n  function price(int $a);\n}\n",
            "book.php": "<?php\nclass Book implements Shop {\n"
            "  function price(int $a) { return $a; }\n}\n",
            "user.php": "<?php\nfunction direct(Book $b) { return $b->price(1); }\n"
            "function through(Shop $s) { return $s->price(1); }\n",
        },
        "shop.php", "shop.php#Shop.price", "book.php#Book.price", "int $a", "string $a",
    ),
    "cpp": Case(
        {
            "shop.h": "class Shop {\n public:\n  virtual int price(int a) = 0;\n};\n",
            "book.h": '#include "shop.h"\nclass Book : public Shop {\n public:\n'
            "  int price(int a) { return a; }\n};\n",
            "user.cc": '#include "book.h"\nint direct(Book* b) { return b->price(1); }\n'
            "int through(Shop* s) { return s->price(1); }\n",
        },
        "shop.h", "shop.h#Shop.price", "book.h#Book.price", "int a", "long a", binding=False,
    ),
    "python": Case(
        {
            "shop.py": "class Shop:\n    def price(self, a: int):\n        ...\n",
            "book.py": "from shop import Shop\n\n\nclass Book(Shop):\n"
            "    def price(self, a: int):\n        return a\n",
            "user.py": "from shop import Shop\nfrom book import Book\n\n\n"
            "def direct(b: Book):\n    return b.price(1)\n\n\n"
            "def through(s: Shop):\n    return s.price(1)\n",
        },
        "shop.py", "shop.py#Shop.price", "book.py#Book.price", "a: int", "a: str", binding=False,
    ),
}  # fmt: skip


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README": "\n"}


def hit(run: Run, *arguments: str) -> dict[str, int]:
    """The last part of each name that is hit, with its distance."""
    results = run("impact", *arguments, "--json").json["results"]
    return {one["handle"].rpartition("#")[2].rpartition(".")[2]: one["distance"] for one in results}


@pytest.mark.parametrize("name", CASES)
def test_a_method_that_is_declared_otherwise_hits_callers_of_what_implements_it(
    name: str, repo: GitRepo, run: Run
) -> None:
    case = CASES[name]
    repo.commit("more", case.files)
    text = case.files[case.file]
    repo.write(case.file, text.replace(case.old, case.new))
    ran = hit(run, "--diff")
    assert (ran["through"], ran["direct"]) == (1, case.distance)


@pytest.mark.parametrize("name", CASES)
def test_an_implementation_affects_callers_through_the_interface(
    name: str, repo: GitRepo, run: Run
) -> None:
    case = CASES[name]
    repo.commit("more", case.files)
    ran = hit(run, case.implementing)
    assert (ran["direct"], ran["through"]) == (1, 2)
    path = case.implementing.partition("#")[0]
    repo.write(path, case.files[path].replace(case.old, case.new))
    ran = hit(run, "--diff")
    assert (ran["direct"], ran["through"]) == (1, 2)


@pytest.mark.parametrize("name", CASES)
def test_a_method_of_an_interface_is_bound_to_hit_them_however_it_changes(
    name: str, repo: GitRepo, run: Run
) -> None:
    case = CASES[name]
    repo.commit("more", case.files)
    ran = hit(run, case.asked)
    assert ran.get("direct") == (case.distance if case.binding else None)


def test_a_changed_body_does_not_affect_callers_of_overrides(repo: GitRepo, run: Run) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\n',
        "src/lib.rs": "pub trait Shop {\n    fn price(&self) -> u8 { 1 }\n}\npub struct Book;\n"
        "impl Shop for Book {\n    fn price(&self) -> u8 { 2 }\n}\n"
        "pub fn direct(b: &Book) -> u8 { b.price() }\n"
        "pub fn through(s: &dyn Shop) -> u8 { s.price() }\n",
    }
    repo.commit("more", files)
    repo.write("src/lib.rs", files["src/lib.rs"].replace("{ 1 }", "{ 3 }"))
    assert hit(run, "--diff") == {"through": 1, "price": 1}


def test_a_line_of_overrides_is_followed_to_its_end(repo: GitRepo, run: Run) -> None:
    files = {
        "shop.ts": "export class Shop {\n  price(a: number) { return a; }\n}\n",
        "book.ts": 'import { Shop } from "./shop";\nexport class Book extends Shop {\n'
        "  price(a: number) { return a; }\n}\nexport class Old extends Book {\n"
        "  price(a: number) { return a; }\n}\nexport function old(o: Old) { o.price(1); }\n",
    }
    repo.commit("more", files)
    repo.write("shop.ts", files["shop.ts"].replace("a: number", "a: string"))
    assert hit(run, "--diff")["old"] == 3
