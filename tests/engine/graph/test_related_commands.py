"""`related`, `impact` and `map` on real repositories: what they say, and what they refuse."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Ran, Run


def handles(ran: Ran, relation: str) -> list[str]:
    return [one["handle"] for one in ran.json["results"] if one["relation"] == relation]


def test_related_lists_each_relation_with_its_place(repo: GitRepo, run: Run) -> None:
    ran = run("related", "tax")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "shop/book.py#tax  9-10  function  def tax(amount)",
        "called by (1)",
        "  shop/book.py#Book.price  5-6  at :6",
        "tests (1)",
        "  tests/test_book.py  named for shop/book.py",
    ]


def test_a_use_that_may_mean_it_is_counted_and_never_made_an_edge(repo: GitRepo, run: Run) -> None:
    ran = run("related", "Book.price")
    assert "shop/cart.py#total" in ran.out
    why = "its file imports that of the definition, one of 3"
    assert f"shop/cart.py#show  8-10  at :9  {why}" in ran.out
    assert handles(run("related", "Book.price", "--json"), "callers") == ["shop/cart.py#total"]


def test_kinds_and_direction_choose_relations(repo: GitRepo, run: Run) -> None:
    ran = run("related", "Book", "--kind", "bases", "--kind", "callers", "--json")
    assert handles(ran, "bases") == ["shop/base.py#Item"]
    assert handles(ran, "callers") == ["shop/cart.py#total"]
    assert set(ran.json["totals"]) == {"bases", "callers"}
    out = run("related", "Book.price", "--direction", "out", "--json").json["totals"]
    assert set(out) == {"callees", "overrides"}


def test_depth_continues_and_names_the_steps(repo: GitRepo, run: Run) -> None:
    ran = run("related", "tax", "--kind", "callers", "--depth", "3", "--json")
    assert [(one["handle"], one["distance"]) for one in ran.json["results"]] == [
        ("shop/book.py#Book.price", 1),
        ("shop/cart.py#total", 2),
        ("shop/cart.py#show", 3),
    ]
    assert ran.json["results"][2]["via"] == "shop/cart.py#total"


def test_a_heading_does_not_own_a_name(repo: GitRepo, run: Run) -> None:
    example = "```python\ndef tax():\n    pass\n```\n"
    repo.write("docs/api.md", f"# API\n\n## tax\n\nText.\n\n{example}")
    assert run("related", "tax").out.startswith("shop/book.py#tax ")
    both = run("expand", "tax")
    assert both.code == 0
    assert "shop/book.py#tax" in both.out and "docs/api.md#API.tax" in both.out


def test_a_type_stands_for_its_constructors(repo: GitRepo, run: Run) -> None:
    repo.write("j/Gate.java", "class Gate {\n  Gate() {}\n  Gate(int a) {}\n}\n")
    assert run("related", "Gate", "--json").json["target"]["kind"] == "class"


def test_overloads_that_are_apart_are_taken_together_by_their_name(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "j/A.java": "class A {\n  void put(int one) {}\n  void put(String one) {}\n}\n",
            "j/B.java": "class B {\n  void go(A a) { a.put(1); }\n"
            '  void on(A a) { a.put("1"); }\n}\n',
            "docs/put.md": "# A.put\n\nText.\n",
        }
    )
    ran = run("related", "A.put", "--kind", "callers")
    assert "j/B.java#B.go" in ran.out
    assert "j/B.java#B.on" in ran.out
    assert "all 2 definitions of that name are combined, up to j/A.java#A.put~2" in ran.err
    assert "j/B.java#B.on" not in run("related", "j/A.java#A.put", "--kind", "callers").out


def test_a_limit_is_shared_and_what_is_left_out_is_counted(repo: GitRepo, run: Run) -> None:
    many = "".join(f"def f{at}():\n    tax(1)\n\n\n" for at in range(30))
    repo.write("shop/many.py", f"from shop.book import tax\n\n\n{many}")
    ran = run("related", "tax", "--limit", "5", "--json")
    assert len(ran.json["results"]) == 5
    assert ran.json["totals"]["callers"] == 31
    assert "not listed: kinds=callers" in run("related", "tax", "--limit", "5").out


def test_a_path_is_shown_step_by_step(repo: GitRepo, run: Run) -> None:
    ran = run("related", "show", "--to", "tax")
    assert ran.code == 0
    assert ran.out.splitlines()[2:] == [
        "path 1 (3 steps)",
        "  shop/cart.py#show  8-10",
        "  -> shop/cart.py#total  4-5  calls at shop/cart.py:10",
        "  -> shop/book.py#Book.price  5-6  calls at shop/cart.py:5",
        "  -> shop/book.py#tax  9-10  calls at shop/book.py:6",
    ]


def test_a_path_that_only_leads_back_is_said_to(repo: GitRepo, run: Run) -> None:
    ran = run("related", "tax", "--to", "show", "--json")
    assert ran.json["reversed"] is True
    assert "does not lead to" in ran.json["notes"][0]
    assert run("related", "lonely", "--to", "show").code == 1


def test_a_name_with_several_owners_answers_for_each(repo: GitRepo, run: Run) -> None:
    ran = run("related", "price")
    assert ran.code == 0
    heading = ran.out.splitlines()[:3]
    assert heading[0].startswith("2 definitions have that name")
    assert "shop/base.py#Item.price" in heading[1] and "shop/book.py#Book.price" in heading[2]
    assert "shop/book.py#tax" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("related", "tax", "--depth", "4"), "depth must be between 1 and 3"),
        (("related", "tax", "--limit", "5000"), "--limit must be between 1 and 1,000"),
        (("related", "tax", "--kind", "friends"), "invalid choice"),
        (("related", "tax", "--to", "show", "--paths", "99"), "paths must be between 1 and 20"),
        (("related", "shop/book.py", "--to", "tax"), "one contains the other"),
        (
            ("related", "show", "--to", "tax", "--depth", "2"),
            "omit --kind, --direction",
        ),
        (
            ("related", "show", "--to", "tax", "--kind", "callers"),
            "omit --kind, --direction",
        ),
        (
            ("related", "show", "--to", "tax", "--direction", "in"),
            "omit --kind, --direction",
        ),
        (("related", "show", "--paths", "5"), "also give --to GOAL"),
        (("related", "shop/book.py:99999"), "the file has 14 lines"),
        (("impact", "shop/book.py:99999"), "the file has 14 lines"),
        (("related", "nobody"), "was not found"),
        (("related", "\udcff\udcfe"), "was not found"),
        (("impact", "shop/book.py#\udcff"), "was not found"),
        (("map", "\udcff"), "was not found"),
        (("related", "tax", "--kind", "callers", "--direction", "out"), "callers lead in, not out"),
        (("map", "--json", "--format", "html"), "cannot be combined"),
        (("impact", "tax", "--depth", "6"), "depth must be between 1 and 5"),
        (("impact",), "nothing to look up; name handles"),
        (("impact", "tax", "--diff"), "cannot be combined"),
        (("impact", "--diff", "nosuch"), "no ref 'nosuch'"),
        (("map", "nosuch.py"), "was not found"),
        (("map", "--max-tokens", "3"), "--max-tokens must be between 200"),
    ],
)
def test_impossible_requests_are_refused_in_a_sentence(
    repo: GitRepo, run: Run, arguments: tuple[str, ...], said: str
) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "unexpected" not in ran.err


def test_without_time_one_sentence_says_so(repo: GitRepo, run: Run) -> None:
    run("index")
    ran = run("related", "shop/book.py#tax", "--budget", "0")
    assert ran.err.count("than could be followed") == 1
    assert "partial" in ran.err


@pytest.mark.parametrize(
    ("files", "target", "caller"),
    [
        (
            {"use.py": "from shop.book import tax as levy\n\n\ndef go():\n    levy(1)\n"},
            "shop/book.py#tax",
            "use.py#go",
        ),
        (
            {
                "front.py": "from shop.book import tax as levy\n",
                "use.py": "from front import levy as due\n\n\ndef go():\n    due(1)\n",
            },
            "shop/book.py#tax",
            "use.py#go",
        ),
        (
            {"use.py": "import shop.book\n\n\ndef go():\n    shop.book.tax(1)\n"},
            "shop/book.py#tax",
            "use.py#go",
        ),
        (
            {
                "web/sum.ts": "export default function sum(x: number) {\n  return x;\n}\n",
                "web/use.ts": "import add from './sum';\nexport function go() {\n"
                "  return add(1);\n}\n",
            },
            "web/sum.ts#sum",
            "web/use.ts#go",
        ),
        (
            {
                "web/sum.ts": "export function sum(x: number) {\n  return x;\n}\n",
                "web/index.ts": "export { sum as add } from './sum';\n",
                "web/use.ts": "import * as w from '.';\nexport function go() {\n"
                "  return w.add(1);\n}\n",
            },
            "web/sum.ts#sum",
            "web/use.ts#go",
        ),
    ],
    ids=["alias", "alias of an alias", "module", "default", "barrel"],
)
def test_callers_under_another_name_are_found_too(
    repo: GitRepo, run: Run, files: dict[str, str], target: str, caller: str
) -> None:
    repo.write_all(files)
    assert caller in handles(run("related", target, "--json"), "callers")


def test_overloads_are_one_thing(repo: GitRepo, run: Run) -> None:
    repo.write(
        "shop/many.py",
        "from typing import overload\n\n\n@overload\ndef pick(x: int) -> int: ...\n\n\n@overload\n"
        "def pick(x: str) -> str: ...\n\n\ndef pick(x):\n    return x\n\n\n"
        "def ask():\n    return pick(1)\n",
    )
    for name in ("pick", "shop/many.py#pick", "shop/many.py#pick~3"):
        assert "shop/many.py#ask" in run("related", name).out


@pytest.mark.slow
def test_thousands_of_one_name_are_answered(repo: GitRepo, run: Run) -> None:
    repo.write_all({f"many/m{at}.py": "def main():\n    pass\n\n\nmain()\n" for at in range(400)})
    ran = run("related", "main")
    assert ran.code == 2
    assert "has 400 owners" in ran.err
    found = run("related", "many/m7.py#main", "--json").json
    assert [one["handle"] for one in found["results"]] == ["many/m7.py"]


def test_interfaces_of_go_are_followed_or_said_to_be_open(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "go.mod": "module m\n",
            "one/one.go": "package one\n\ntype A struct{}\n\n"
            "func (A) Walk(n int) int { return n }\n",
            "one/use.go": "package one\n\ntype Walker interface {\n\tWalk(int) int\n}\n\n"
            "func Go(w Walker) { w.Walk(1) }\n",
            "two/two.go": "package two\n\ntype Far interface {\n\tWalk(m int) int\n}\n",
        }
    )
    ran = run("impact", "one/one.go#A.Walk", "--json")
    assert [one["handle"] for one in ran.json["results"]] == [
        "one/use.go#Walker.Walk",
        "one/use.go#Go",
    ]
    assert ran.json["at_least"] is True
    assert "calls through two/two.go#Far.Walk may reach it" in ran.json["notes"][0]
    found = run("related", "one/use.go#Walker", "--kind", "subtypes", "--json")
    assert handles(found, "subtypes") == ["one/one.go#A"]
    found = run("related", "one/use.go#Walker.Walk", "--json")
    assert handles(found, "overridden") == ["one/one.go#A.Walk"]


def test_methods_of_a_trait_list_their_implementations(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "Cargo.toml": '[package]\nname = "a"\n',
            "src/lib.rs": "pub mod flag;\nmod defs;\n",
            "src/flag.rs": "pub trait Flag { fn put(&self); }\n"
            "pub fn all(one: &dyn Flag) { one.put(); }\n",
            "src/defs.rs": "use crate::flag::Flag;\nstruct Q;\n"
            "impl Flag for Q {\n    fn put(&self) {}\n}\n",
        }
    )
    found = run("related", "src/flag.rs#Flag.put", "--json")
    assert handles(found, "overridden") == ["src/defs.rs#Q.put"]
    found = run("related", "src/flag.rs#Flag", "--kind", "subtypes", "--json")
    assert handles(found, "subtypes") == ["src/defs.rs#Q"]
    found = run("impact", "src/defs.rs#Q.put", "--json").json
    assert [one["handle"] for one in found["results"]] == [
        "src/flag.rs#Flag.put",
        "src/flag.rs#all",
    ]


def test_tests_of_a_method_come_last_and_are_few(repo: GitRepo, run: Run) -> None:
    body = "".join(f"def test_{at}():\n    total(Book())\n\n\n" for at in range(12))
    repo.write("tests/test_many.py", f"from shop.book import Book, total\n\n\n{body}")
    repo.write(
        "shop/book.py",
        "class Book:\n    def price(self):\n        return 1\n\n\n"
        "def total(book: Book):\n    return book.price()\n",
    )
    text = run("related", "Book.price").out
    relations = [line for line in text.splitlines() if line[:1] not in {"", " "}][1:]
    assert relations[0].startswith("called by") and relations[-1].startswith("tests (")
    tests = text.partition("\ntests (")[2].splitlines()
    assert "not listed: kinds=tests" in tests[0] and len(tests) == 1 + 3, text
    assert len(run("related", "Book.price", "--kind", "tests", "--json").json["results"]) >= 12
