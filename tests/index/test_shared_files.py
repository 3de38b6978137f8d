"""A new view takes the files that another view has too, and no others."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.index import view_refresh, worktree_comparison
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.views import views

HEADER = "int burn(int wick) { return wick; }\n"
FILES = {
    **{f"src/p{number}/part{number}.py": f"def part{number}(): pass\n" for number in range(150)},
    "src/changed.py": "def before(): pass\n",
    "src/only_here.py": "def only_here(): pass\n",
    "include/a.h": HEADER,
    "empty.py": "",
}


@pytest.fixture(autouse=True)
def few_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """git's index is used for any number of files."""
    monkeypatch.setattr(worktree_comparison, "MANY_FILES", 1)


def differing(repo: GitRepo, place: Path) -> GitRepo:
    """A worktree that adds, changes, moves and lacks files of `repo`."""
    second = repo.worktree(place, branch="second")
    second.git("rm", "-q", "src/only_here.py")
    second.git("mv", "src/p7/part7.py", "src/p7/moved.py")
    second.write("src/p9/new.py", "def added(): pass\n")
    second.write("src/changed.py", "def after(): pass\n")
    # A text of the first view at a path that had another one.
    second.write("src/p3/part3.py", "def part4(): pass\n")
    second.git("add", "-A")
    second.git("commit", "-qm", "two")
    second.write("src/p5/part5.py", "def uncommitted(): pass\n")
    second.settle()
    return second


def rows(db: Database, root: Path) -> list[tuple[object, ...]]:
    """The files of a worktree's view and its statistics."""
    files = db.rows(
        "SELECT p.path, hex(c.hash), c.language, f.state FROM views v"
        " JOIN view_files f ON f.view = v.id JOIN paths p ON p.id = f.path"
        " LEFT JOIN contents c ON c.id = f.content WHERE v.worktree = ? ORDER BY p.path",
        (str(root),),
    )
    sums = db.rows(
        "SELECT files, chunk_count, body_terms, name_terms, doc_terms, complete FROM views"
        " WHERE worktree = ?",
        (str(root),),
    )
    return [*files, *sums]


def rows_of(engine: Engine, root: Path, asked: Path | None = None) -> list[tuple[object, ...]]:
    """The same; the index is found by asking about `asked`, whose view that brings up to date."""
    with closing(open_index(Path(engine.status(path=asked or root).index_path))) as db:
        return rows(db, root)


def test_a_worktree_that_differs_has_its_own_files(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    second = differing(repo, tmp_path / "second")
    look = engine.look(path=second.root)
    assert (look.status, look.files, look.indexed) == ("fresh", len(FILES), 3)
    with Engine(Settings(home=tmp_path / "fresh")) as fresh:
        fresh.look(path=second.root)
        assert rows_of(engine, second.root) == rows_of(fresh, second.root)
        for words in ("only_here", "after", "before", "uncommitted", "part4", "part7"):
            found, expected = (
                [(hit.path, hit.handle) for hit in one.search(words, path=second.root).results]
                for one in (engine, fresh)
            )
            assert found == expected
    assert engine.look(path=second.root).indexed == 0
    # The first worktree keeps its own.
    assert [hit.path for hit in engine.search("only_here", path=repo.root).results[:1]] == [
        "src/only_here.py"
    ]


def test_until_the_rest_is_read_the_view_has_only_files_that_are_right(
    repo: GitRepo, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = differing(repo, tmp_path / "second")

    def killed(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(view_refresh, "_updated", killed)
        with pytest.raises(KeyboardInterrupt):
            engine.look(path=second.root)
    with Engine(Settings(home=tmp_path / "fresh")) as fresh:
        fresh.look(path=second.root)
        *expected, (*_, expected_complete) = rows_of(fresh, second.root)
    *found, (count, *_, complete) = rows_of(engine, second.root, asked=repo.root)
    assert (complete, expected_complete) == (0, 1)
    assert count == len(found) == len(FILES) - 5
    assert set(found) < set(expected)
    # The next look completes it.
    assert engine.look(path=second.root).indexed == 3
    assert rows_of(engine, second.root)[:-1] == expected


def test_a_server_answers_about_a_second_worktree_at_once(repo: GitRepo, tmp_path: Path) -> None:
    # More files than a server reads within one question.
    many = {f"lib/q{number}/q{number}.py": f"def q{number}(): pass\n" for number in range(250)}
    repo.commit("many", many)
    second = repo.worktree(tmp_path / "second", branch="second")
    second.settle()
    with Engine(Settings(home=tmp_path / "home"), keep_going=True) as server:
        server.look(path=repo.root, budget_ms=60_000)
        look = server.look(path=second.root, budget_ms=500)
        assert (look.status, look.files) == ("fresh", len(FILES) + len(many))


def test_the_view_of_other_settings_is_not_shared(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second", branch="second")
    second.settle()
    with Engine(Settings(home=engine.settings.home, languages={"*.h": "c"})) as other:
        other.look(path=second.root)
        languages = {row[0]: row[2] for row in rows_of(other, second.root)[:-1]}
    assert languages[b"include/a.h"] == "c"


def test_a_view_without_files_shares_nothing_with_an_unfinished_one(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    with closing(open_index(Path(engine.status(path=repo.root).index_path))) as db:
        (view,) = views.all_views(db)
        db.execute("UPDATE views SET complete = 0")
        assert views.sibling_of(db, view.id + 1, view.extractor, "") == 0
    second = repo.worktree(tmp_path / "second", branch="second")
    assert engine.look(path=second.root).status == "fresh"
