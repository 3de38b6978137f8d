"""`codelens conflicts --changing`: which definitions of a file other worktrees have changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import BOOK, Run


@pytest.fixture
def other(repo: GitRepo, tmp_path: Path) -> GitRepo:
    worktree = repo.worktree(tmp_path / "other", branch="other")
    worktree.write("shop/book.py", BOOK.replace("def tax(amount)", "def tax(amount, rate)"))
    return worktree


def test_a_definition_that_another_worktree_changed_is_listed(
    run: Run, repo: GitRepo, other: GitRepo
) -> None:
    done = run("conflicts", "--changing", "shop/book.py", "--json")
    assert done.json == {
        "results": [
            {
                "handle": "shop/book.py#tax", "path": "shop/book.py", "symbol": "tax",
                "how": ["signature"], "worktree": str(other.root), "branch": "other",
            }
        ]
    }  # fmt: skip
    assert done.code == 0


def test_a_file_that_nobody_changed_has_nothing(run: Run, other: GitRepo) -> None:
    done = run("conflicts", "--changing", "shop/cart.py")
    assert (done.code, done.out) == (1, "")
    assert done.err == "no other worktree has changed a definition in shop/cart.py\n"


def test_the_file_path_may_be_relative_or_absolute(
    run: Run, repo: GitRepo, other: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "shop")
    files = ("book.py", "./book.py", str(repo.root / "shop" / "book.py"))
    done = run("conflicts", *(word for file in files for word in ("--changing", file)))
    assert done.out == f"shop/book.py#tax\tsignature  in {other.root} (other)\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--changing", "/etc/passwd"), "outside the worktree"),
        (("--changing", "shop/book.py", "--with", "other"), "--changing cannot be combined"),
    ],
)
def test_an_invalid_question_is_an_error(
    run: Run, other: GitRepo, words: tuple[str, ...], problem: str
) -> None:
    done = run("conflicts", *words)
    assert done.code == 2 and problem in done.err


def test_changes_of_documentation_alone_are_counted_and_given_by_all(
    run: Run, repo: GitRepo, other: GitRepo
) -> None:
    other.write("shop/book.py", BOOK.replace("def lonely():", 'def lonely():\n    """Alone."""'))
    command = ("conflicts", "--changing", "shop/book.py")
    quiet = run(*command)
    assert (quiet.code, quiet.out) == (1, "")
    assert "1 change of documentation or formatting only, not shown: --all" in quiet.err
    assert run(*command, "--json").json == {"results": [], "left": 1}
    listed = f"shop/book.py#lonely\tdocumentation  in {other.root} (other)\n"
    assert run(*command, "--all").out == listed


def test_every_worktree_is_read(run: Run, repo: GitRepo, other: GitRepo) -> None:
    changed = (other.root / "shop/book.py").read_text()
    for at in range(31):
        repo.worktree(repo.root.parent / f"more{at}", branch=f"more{at}").write(
            "shop/book.py", changed
        )
    done = run("conflicts", "--changing", "shop/book.py", "--json")
    assert len(done.json["results"]) == 32
