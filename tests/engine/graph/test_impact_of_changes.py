"""`impact --diff` if a definition has moved or is gone, and the tests it says to run."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import BOOK, CART, Run

CONFTEST = """\
import pytest
from shop.book import tax


@pytest.fixture
def rate():
    return tax(1)


@pytest.fixture(name="due")
def make_due(rate):
    return rate


@pytest.fixture
def far():
    return 0
"""


def hits(run: Run, *args: str) -> dict[str, int]:
    return {
        one["handle"]: one["distance"] for one in run("impact", *args, "--json").json["results"]
    }


def runs_after(run: Run, *args: str) -> dict[str, str]:
    return {one["path"]: one["why"] for one in run("impact", *args, "--json").json["tests"]}


def test_importers_of_a_moved_file_are_affected(repo: GitRepo, run: Run) -> None:
    repo.git("mv", "shop/book.py", "shop/volume.py")
    found = hits(run, "--diff")
    assert found["shop/cart.py#total"] == 1
    assert found["shop/cart.py#show"] == 2
    assert runs_after(run, "--diff") == {
        "tests/test_book.py": "named for shop/book.py",
        "tests/test_cart.py": "reaches it in 3 steps",
    }
    out = run("impact", "--diff").out
    assert "moved  shop/volume.py  file (from shop/book.py)" in out
    assert "shop/cart.py#total  4-5  calls HEAD:shop/book.py#Book at :5" in out


MORE = "\n\n" + "\n".join(f"LATER_{at} = {at}" for at in range(60)) + "\n"


@pytest.mark.parametrize("edit", ["", MORE])
@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_file_is_followed_as_by_diff(
    repo: GitRepo, run: Run, edit: str, staged: bool
) -> None:
    if staged:
        repo.git("mv", "shop/book.py", "shop/volume.py")
    else:
        (repo.root / "shop/book.py").rename(repo.root / "shop/volume.py")
    repo.write("shop/volume.py", BOOK.replace("return amount", "return amount + 1") + edit)
    renamed = {
        file["path"]: file["old_path"]
        for file in run("diff", "--json").json["results"]
        if file["how"] == "renamed"
    }
    changes = run("impact", "--diff", "--json").json["changed"]
    moved = {one["path"] for one in changes if one["how"] == "moved"}
    # Without git's index, a file with so much more text is another file.
    assert moved == renamed.keys() == ({"shop/volume.py"} if staged or not edit else set())
    changed = {one["handle"] for one in changes if one["how"] == "changed"}
    assert ("shop/volume.py#tax" in changed) is bool(moved)


def test_callers_of_a_renamed_definition_and_their_tests_are_affected(
    repo: GitRepo, run: Run
) -> None:
    repo.write("shop/cart.py", CART.replace("def total", "def amount"))
    found = hits(run, "--diff")
    assert found == {"shop/cart.py#show": 1}
    assert runs_after(run, "--diff")["tests/test_cart.py"].startswith("named for")
    ran = run("impact", "--diff")
    assert "shop/cart.py#show  8-10  calls HEAD:shop/cart.py#total at :10" in ran.out
    assert "shop/cart.py#total".partition("#")[2] in ran.err


def test_users_of_a_removed_file_are_affected(repo: GitRepo, run: Run) -> None:
    repo.remove("shop/base.py")
    found = hits(run, "--diff")
    assert found["shop/book.py#Book"] == 1
    assert "tests/test_cart.py" in runs_after(run, "--diff", "--depth", "5")


def test_a_definition_deleted_several_commits_ago_is_asked_of_that_commit(
    repo: GitRepo, run: Run
) -> None:
    repo.checkout("-b", "work")
    repo.commit("rename", {"shop/book.py": BOOK.replace("tax", "levy")})
    repo.commit("other", {"shop/other.py": "X = 1\n"})
    repo.commit("use", {"shop/new.py": "from shop.book import tax\n\n\ndef ask():\n    tax(1)\n"})
    reported = {one["handle"] for one in run("impact", "--diff", "main", "--json").json["changed"]}
    assert "main:shop/book.py#tax" in reported
    assert "HEAD" not in " ".join(reported)
    # `shop/new.py` belongs to the change; its broken import is reported.
    assert (
        "tax is gone; 1 use of its name is now unresolved: shop/new.py:5"
        in run("impact", "--diff", "main").err
    )


def test_affected_users_have_their_current_lines(repo: GitRepo, run: Run) -> None:
    repo.write("shop/book.py", BOOK.replace("tax", "levy"))
    repo.write("shop/cart.py", "import os\nimport sys\n\n" + CART)
    repo.remove("shop/base.py")
    out = run("impact", "--diff", "--depth", "1", "--json").json
    site = {one["handle"]: one["site"] for one in out["results"]}
    assert site["shop/book.py#Book"] == "shop/book.py:4"
    repo.write("shop/book.py", BOOK.replace("class Book", "class Volume"))
    out = run("impact", "--diff", "--depth", "1", "--json").json
    site = {one["handle"]: one["site"] for one in out["results"]}
    assert site["shop/cart.py#total"] == "shop/cart.py:8"


def test_uses_in_unread_files_mark_the_answer_at_least(repo: GitRepo, run: Run) -> None:
    repo.write("shop/base.py", "class Item:\n    pass\n")
    ran = run("impact", "--diff", "--json")
    assert ran.json["at_least"] is True
    assert any("price could not be resolved at HEAD" in note for note in ran.json["notes"])


def test_unchanged_definitions_need_no_commit(repo: GitRepo, run: Run) -> None:
    repo.write("shop/book.py", BOOK.replace("    return amount", "    print()\n    return amount"))
    run("impact", "--diff")
    found = run("status", "--json").json["status"]
    assert found["views"] == 1
    repo.write("shop/book.py", BOOK.replace("tax", "levy"))
    run("impact", "--diff")
    assert run("status", "--json").json["status"]["views"] == 2


def test_a_test_that_takes_a_fixture_is_one_to_run(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "fixtures",
        {
            "tests/conftest.py": CONFTEST,
            "tests/test_a.py": "def test_a(rate: int = 1):\n    pass\n",
            "tests/test_b.py": "class TestB:\n    def test_b(self, due):\n        pass\n",
            "tests/test_c.py": "import pytest\n\n\n@pytest.mark.usefixtures('rate')\n"
            "def test_c():\n    pass\n",
            "tests/test_d.py": "def test_d(far):\n    pass\n",
            "tests/test_e.py": "def helper(rate):\n    pass\n",
            "tests/sub/conftest.py": CONFTEST.replace("tax(1)", "2").replace("from shop", "# "),
            "tests/sub/test_f.py": "def test_f(rate):\n    pass\n",
        },
    )
    why = "uses the fixture tests/conftest.py#rate"
    reported = runs_after(run, "tests/conftest.py#rate")
    assert reported == {
        "tests/test_a.py": why,
        "tests/test_b.py": "uses the fixture tests/conftest.py#make_due",
        "tests/test_c.py": why,
    }
    assert set(runs_after(run, "tests/conftest.py")) == {*reported, "tests/test_d.py"}
    # Tests that request a fixture use what the fixture uses.
    assert reported.keys() <= runs_after(run, "tax").keys()
    found = run("related", "tests/conftest.py#rate", "--kind", "tests", "--json").json["results"]
    assert "tests/test_a.py#test_a" in {one["handle"] for one in found}


def test_a_fixture_for_all_and_a_hook_call_for_all_tests_below(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "fixtures",
        {
            "tests/unit/conftest.py": "import pytest\n\n\n@pytest.fixture(\n    autouse=True\n)\n"
            "def clean():\n    pass\n\n\ndef pytest_configure(config):\n    pass\n",
            "tests/unit/test_x.py": "def test_x():\n    pass\n",
            "tests/unit/helper.py": "def help():\n    pass\n",
        },
    )
    assert set(runs_after(run, "tests/unit/conftest.py#clean")) == {"tests/unit/test_x.py"}
    assert set(runs_after(run, "tests/unit/conftest.py#pytest_configure")) == {
        "tests/unit/test_x.py"
    }


def test_test_helpers_are_not_tests_to_run(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "help",
        {
            "tests/helper.py": "from shop.book import tax\n\n\ndef help():\n    tax(1)\n",
            "tests/test_h.py": "from tests.helper import help\n\n\ndef test_h():\n    help()\n",
            "go.mod": "module m\n",
            "a/a.go": "package a\n\nfunc Sum() int { return 1 }\n",
            "a/other_test.go": 'package a\n\nimport "testing"\n\nfunc TestO(t *testing.T) {}\n',
            "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
        },
    )
    reported = runs_after(run, "tax")
    assert "tests/test_h.py" in reported
    assert "tests/helper.py" not in reported
    assert "tests/helper.py" not in runs_after(run, "tests/helper.py")
    assert runs_after(run, "a/a.go#Sum") == {"a/other_test.go": "in the package of a/a.go"}


def test_tests_inside_a_rust_file_are_tests(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "rust",
        {
            "Cargo.toml": '[package]\nname = "x"\n',
            "src/lib.rs": "pub fn add() -> u8 { 1 }\n\npub fn twice() -> u8 { add() }\n\n"
            "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
            "    fn adds() { assert_eq!(add(), 1); }\n}\n",
        },
    )
    assert hits(run, "src/lib.rs#add") == {"src/lib.rs#twice": 1}
    assert runs_after(run, "src/lib.rs#add") == {"src/lib.rs": "reaches it in 1 step"}


def test_a_folder_is_all_that_is_in_it(repo: GitRepo, run: Run) -> None:
    repo.commit("out", {"app/main.py": "from shop.cart import show\n\n\ndef go():\n    show(1)\n"})
    found = run("impact", "shop", "--json").json
    assert [one["handle"] for one in found["changed"]] == ["shop/"]
    assert [one["handle"] for one in found["results"]] == ["app/main.py#go"]
    related = run("related", "shop/", "--json").json
    assert related["target"]["kind"] == "folder"
    assert "app/main.py#go" in {one["handle"] for one in related["results"]}
    for ask in ("related", "impact"):
        ran = run(ask, ".")
        assert ran.code == 2
        assert "it is the whole repository" in ran.err


def test_the_same_target_twice_counts_once(repo: GitRepo, run: Run) -> None:
    once = run("impact", "tax", "--json").json
    twice = run("impact", "tax", "shop/book.py#tax", "tax", "--json").json
    assert len(twice["changed"]) == 1
    assert twice["results"] == once["results"]


def test_a_diff_without_git_or_commits_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    folder = tmp_path / "plain"
    folder.mkdir()
    folder.joinpath("a.py").write_text("def a():\n    pass\n")
    ran = run("-C", str(folder), "impact", "--diff")
    assert ran.code == 2
    assert "is not in a git repository" in ran.err
    empty = GitRepo.init(tmp_path / "empty")
    empty.write("a.py", "def a():\n    pass\n")
    ran = run("-C", str(empty.root), "impact", "--diff")
    assert ran.code == 2
    assert "has no commit yet" in ran.err


def test_a_call_of_an_ambiguous_overload_is_marked(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "java",
        {
            "j/A.java": "package j;\npublic class A {\n  public void put(int one) {}\n"
            "  public void put(String one) {}\n}\n",
            "j/B.java": "package j;\npublic class B {\n  void go(A a) { a.put(X.some()); }\n}\n",
        },
    )
    ran = run("impact", "j/A.java#A.put~2")
    assert "may be used by (1; each means one of several definitions of that name)" in ran.out
    assert "  j/B.java#B.go  3  at :3  one of 2" in ran.out.splitlines()
    found = run("impact", "j/A.java#A.put~2", "--json").json
    assert found["results"] == []
    assert found["at_least"] is True
    assert [(one["handle"], one["choices"]) for one in found["may"]] == [("j/B.java#B.go", 2)]
    calls = "  j/B.java#B.go  3  calls j/A.java#A.put at :3"
    assert calls in run("impact", "A.put").out.splitlines()
    ran = run("related", "j/A.java#A.put")
    assert ran.code == 0
    assert "  j/B.java#B.go  3  at :3  one of 2" in ran.out.splitlines()
    assert (
        "the first of 2 definitions of that name; the others are ~2 to j/A.java#A.put~2" in ran.err
    )


def test_reached_tests_are_counted_and_precede_helpers(repo: GitRepo, run: Run) -> None:
    many = "".join(f"def test_{at}():\n    help()\n\n\n" for at in range(9))
    help_ = "from shop.book import tax\n\n\ndef help():\n    tax(1)\n\n\n"
    repo.commit("many", {"tests/test_many.py": help_ + many})
    (found,) = [
        one
        for one in run("impact", "tax", "--json").json["tests"]
        if one["path"] == "tests/test_many.py"
    ]
    assert found["count"] == 10
    assert found["handles"] == [f"tests/test_many.py#test_{at}" for at in (*range(9),)] + [
        "tests/test_many.py#help"
    ]
    assert "test_3, test_4 +5" in run("impact", "tax").out


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("import os\n" + BOOK, False),
        ("# A comment.\n" + BOOK, False),
        ("print(3)\n" + BOOK, True),
        (BOOK.replace("import Item\n", "import Item  # noqa\n"), False),
        (BOOK.replace("from shop.base import Item\n", ""), True),
    ],
    ids=["an import", "a comment", "a statement", "a mark", "an import less"],
)
def test_an_import_or_comment_more_hits_nobody(
    repo: GitRepo, run: Run, text: str, hit: bool
) -> None:
    repo.write("shop/book.py", text)
    ran = run("impact", "--diff", "--json").json
    assert [one["handle"] for one in ran["changed"]] == ["shop/book.py"]
    assert ("shop/cart.py" in {one["path"] for one in ran["results"]}) is hit


@pytest.mark.parametrize(
    ("name", "before", "user", "mark"),
    [
        ("shelf.lua", "local M = {}\nreturn M\n", 'local shelf = require("shelf")\n', "--"),
        ("Shelf.hs", "module Shelf where\nput = 1\n", "module User where\nimport Shelf\n", "--"),
    ],
)
def test_comments_of_any_language_hit_nobody(
    repo: GitRepo, run: Run, name: str, before: str, user: str, mark: str
) -> None:
    other = "user." + name.rpartition(".")[2]
    repo.commit("a shelf", {name: before, other: user})
    for line, hit in ((f"{mark} How it is kept.", False), ("put()", True)):
        repo.write(name, f"{line}\n\n{before}")
        ran = run("impact", "--diff", "--json").json
        assert (other in {row["path"] for row in ran["results"]}) is hit, line


def test_a_new_definition_is_reported_by_its_container(repo: GitRepo, run: Run) -> None:
    repo.write("shop/book.py", BOOK + "\n\nclass Leaf:\n    def turn(self):\n        pass\n")
    repo.write("docs/a.md", "# Top\n\n## Inner\n\nText.\n")
    reported = [one["handle"] for one in run("impact", "--diff", "--json").json["changed"]]
    assert reported == ["docs/a.md", "shop/book.py#Leaf"]


def test_of_several_with_one_name_the_changed_one_is_reported(repo: GitRepo, run: Run) -> None:
    two = "class A:\n    def go(self):\n        pass\n\n    def go(self):\n        one()\n"
    repo.commit("two", {"two.py": two})
    repo.write("two.py", two.replace("        one()\n", "        two()\n"))
    reported = [one["handle"] for one in run("impact", "--diff", "--json").json["changed"]]
    assert reported == ["two.py#A.go~2"]


def test_an_example_in_prose_is_not_a_hidden_use(repo: GitRepo, run: Run) -> None:
    repo.write("docs/a.md", "# A\n\n```python\ntax(1)\n```\n")
    assert "at least" not in run("related", "tax").err
    repo.write("shop/x.py", "def x(thing):\n    thing.tax(1)\n")
    assert "at least: 1 use" in run("related", "tax").err
