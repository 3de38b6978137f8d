"""`codelens impact`: who is hit and which tests to run; answers follow every edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from gitrepo import GitRepo
from shop_repository import BASE, BOOK, CART, Run

from codelens.config import load
from codelens.engine.engine import Engine


def test_only_files_that_a_runner_accepts_are_tests_to_run(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "README.md": "# Shop\n\nText.\n",
            "tests/certs/README.md": "# Certificates\n",
            "lib/shop/api.rb": "class Api\n  def go\n  end\nend\n",
            "lib/shop/test_api.rb": "class TestApi\n  def on(api)\n    Api.new.go\n  end\nend\n",
            "test/test_api.rb": "class ApiTest\n  def test_go\n    Api.new.go\n  end\nend\n",
        }
    )
    assert run("impact", "README.md", "--json").json["tests"] == []
    found = run("impact", "lib/shop/api.rb", "--json").json
    assert [one["path"] for one in found["tests"]] == ["test/test_api.rb"]
    assert [one["handle"] for one in found["results"]] == ["lib/shop/test_api.rb#TestApi.on"]


def test_impact_lists_affected_users_by_distance_and_tests_to_run(repo: GitRepo, run: Run) -> None:
    found = run("impact", "tax", "--depth", "5", "--json").json
    assert [(one["handle"], one["distance"]) for one in found["results"]] == [
        ("shop/book.py#Book.price", 1),
        ("shop/cart.py#total", 2),
        ("shop/base.py#Item.price", 2),
        ("shop/cart.py#show", 3),
    ]
    assert [one["path"] for one in found["tests"]] == ["tests/test_book.py", "tests/test_cart.py"]
    assert found["tests"][1]["handles"] == ["tests/test_cart.py#test_show"]
    # Callers of an ambiguous `price` may mean this one.
    assert found["at_least"] is True


def test_impact_of_a_change_takes_the_definitions_whose_lines_differ(
    repo: GitRepo, run: Run
) -> None:
    repo.write("shop/book.py", BOOK.replace("return amount", "return amount * 2"))
    found = run("impact", "--diff", "--json").json
    assert [(one["handle"], one["how"], one["lines"]) for one in found["changed"]] == [
        ("shop/book.py#tax", "changed", "10")
    ]
    assert "shop/cart.py#total" in {one["handle"] for one in found["results"]}
    assert found["base"].startswith("HEAD@")


def test_impact_of_a_change_covers_new_deleted_and_untracked_files(repo: GitRepo, run: Run) -> None:
    repo.write("shop/book.py", BOOK.replace("def tax(amount):\n    return amount\n\n\n", ""))
    repo.write("shop/new.py", "def fresh():\n    return 1\n")
    repo.write("shop/cart.py", CART + "\n\ndef more():\n    return show(1)\n")
    ran = run("impact", "--diff", "--json")
    changed = {(one["handle"], one["how"]) for one in ran.json["changed"]}
    assert changed == {
        ("HEAD:shop/book.py#tax", "removed"),
        ("shop/cart.py#more", "added"),
        ("shop/new.py", "added"),
        ("shop/new.py#fresh", "added"),
    }
    assert any("tax is gone; 1 use of its name" in note for note in ran.json["notes"])


def test_impact_of_a_deleted_file_names_its_definitions(repo: GitRepo, run: Run) -> None:
    repo.remove("shop/book.py")
    ran = run("impact", "--diff", "--json")
    changed = {(one["handle"], one["how"]) for one in ran.json["changed"]}
    assert ("HEAD:shop/book.py", "removed") in changed
    assert ("HEAD:shop/book.py#Book", "removed") in changed
    assert any("Book is gone" in note for note in ran.json["notes"])


def test_impact_of_no_change_says_so(repo: GitRepo, run: Run) -> None:
    ran = run("impact", "--diff")
    assert ran.code == 1
    assert ran.out.startswith("nothing differs against HEAD@")


def test_impact_compares_two_commits_without_a_checkout(repo: GitRepo, run: Run) -> None:
    first = repo.head()
    repo.commit("second", {"shop/book.py": BOOK.replace("return amount", "return 3")})
    repo.write("shop/book.py", BOOK)
    found = run("impact", "--diff", first, "--ref", "main", "--json").json
    assert [one["handle"] for one in found["changed"]] == ["main:shop/book.py#tax"]
    assert run("impact", "--diff", first).code == 1


def test_line_ends_are_not_a_change(repo: GitRepo, run: Run) -> None:
    repo.write("shop/book.py", BOOK.replace("\n", "\r\n"))
    found = run("impact", "--diff", "--json").json
    assert found["changed"] == []


def test_the_graph_of_an_edited_tree_is_that_of_a_new_index(
    repo: GitRepo, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run("related", "tax", "--depth", "3")
    run("map")
    repo.write("shop/cart.py", CART.replace("Book().price()", "Book().price() + tax(1)").replace(
        "import Book", "import Book, tax"))  # fmt: skip
    repo.rename("shop/base.py", "shop/things.py")
    repo.write("shop/book.py", BOOK.replace("shop.base", "shop.things"))
    commands = [
        ("related", "tax", "--depth", "3", "--json"),
        ("related", "shop/things.py", "--json"),
        ("impact", "shop/things.py", "--json"),
        ("map", "--json"),
    ]
    edited = [run(*one).json for one in commands]
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "other"))
    fresh = [run(*one).json for one in commands]
    for one in (*edited, *fresh):
        del one["receipt"]
    assert edited == fresh
    assert "shop/cart.py#total" in {one["handle"] for one in edited[0]["results"]}


@pytest.mark.slow
def test_a_server_that_stays_sees_every_edit(repo: GitRepo, tmp_path: Path) -> None:
    def answers(engine: Engine) -> list[object]:
        found = [
            engine.related("tax", path=repo.root, depth=3),
            engine.related("shop/base.py", path=repo.root),
            engine.impact(["shop/base.py"], path=repo.root, depth=5),
            engine.map(path=repo.root),
        ]
        return [replace(one, receipt=found[0].receipt) for one in found]

    edits = [
        {"shop/cart.py": CART.replace("return total()", "return Book().price()")},
        {"shop/more.py": "from shop.book import tax as levy\n\n\ndef go():\n    levy(1)\n"},
        {"shop/base.py": "X = 1\n\n\n" + BASE},
        {"shop/book.py": BOOK.replace("def tax", "def rate(x):\n    return tax(x)\n\n\ndef tax")},
        {"shop/more.py": ""},
    ]
    with Engine(load()) as staying:
        answers(staying)
        for number, files in enumerate(edits):
            repo.write_all(files)
            settings = replace(load(), home=tmp_path / f"new{number}")
            with Engine(settings) as new:
                seen, wanted = answers(staying), answers(new)
            for one, other in zip(seen, wanted, strict=True):
                assert replace(cast("Any", one), receipt=cast("Any", other).receipt) == other


def test_nothing_of_another_branch_is_seen(repo: GitRepo, run: Run) -> None:
    repo.checkout("-b", "other")
    repo.commit("other", {"shop/extra.py": "from shop.book import tax\n\n\ndef x():\n    tax(1)\n"})
    assert "shop/extra.py#x" in run("related", "tax").out
    repo.checkout("main")
    assert "extra" not in run("related", "tax").out
    assert "other:shop/extra.py#x" in run("related", "tax", "--ref", "other").out
    assert "extra" not in run("map").out
