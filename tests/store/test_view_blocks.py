"""Views with the same files share their rows, and none sees a change of another."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given, settings
from hypothesis import strategies as st
from older_index import older_index

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import IndexCorrupt
from codelens.index.ingestion import path_facts
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.views import garbage_collection, view_blocks, views
from codelens.store.views.view_blocks import BLOCK, File
from codelens.store.views.views import CURRENT, PENDING, PathFacts

PATHS = 3 * BLOCK
NAMES = [f"src/m{n:03}.py".encode() for n in range(PATHS)]
FOLDERS = [f"src/{n}".encode() for n in range(2 * BLOCK)]


def with_views(path: Path, count: int) -> Database:
    db = open_index(path)
    for number in range(count):
        views.create_view(
            db, None, f"worktree:/{number}", "worktree", worktree=f"/{number}", branch="main",
            head="", index_id="",
        )  # fmt: skip
    with db.write(None):
        views.add_paths(db, [PathFacts(name, "m", "src", "") for name in NAMES])
    return db


def files(db: Database, view: int) -> dict[int, File]:
    return {row.path_id: row[2:] for row in views.files_of(db, view)}


Step = tuple[int, dict[int, File | None]]
SIGNATURES = st.sampled_from([b"", b"12345678", b"abcdefgh", bytes(7) + b"1"])
FILE = st.tuples(st.none(), st.sampled_from([CURRENT, PENDING]), SIGNATURES)
STEPS = st.lists(
    st.tuples(
        st.integers(1, 2),
        st.dictionaries(st.integers(1, PATHS), st.none() | FILE, max_size=5),
    ),
    max_size=10,
)


@given(steps=STEPS)
@settings(deadline=None, max_examples=60)
def test_views_hold_what_was_put_and_no_block_is_left_over(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "index-0123456789abcdef.db"
    model: dict[int, dict[int, File]] = {1: {}, 2: {}}
    with closing(with_views(path, 2)) as db:
        for number, (view, changes) in enumerate(steps):
            with db.write(None):
                view_blocks.put_files(db, view, changes, number)
            model[view] = {
                path: file for path, file in {**model[view], **changes}.items() if file is not None
            }
            assert {view: files(db, view) for view in model} == model
        used = {row[0] for row in db.rows("SELECT block FROM view_blocks")}
        assert {row[0] for row in db.rows("SELECT id FROM blocks")} == used
        distinct = {
            frozenset((path, *file[:2]) for path, file in rows.items() if path // BLOCK == number)
            for rows in model.values()
            for number in {path // BLOCK for path in rows}
        }
        assert len(used) == len(distinct), "equal blocks are stored once"
        assert db.fault(thorough=True) == ""


@given(
    steps=st.lists(
        st.tuples(
            st.integers(1, 2),
            st.dictionaries(st.sampled_from(FOLDERS), SIGNATURES, max_size=5),
            st.sets(st.sampled_from(FOLDERS), max_size=3),
        ),
        max_size=10,
    )
)
@settings(deadline=None, max_examples=60)
def test_folders_are_those_that_were_put(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, dict[bytes, bytes], set[bytes]]],
) -> None:
    path = tmp_path_factory.mktemp("folders") / "index-0123456789abcdef.db"
    model: dict[int, dict[bytes, bytes]] = {1: {}, 2: {}}
    with closing(with_views(path, 2)) as db:
        for view, put, drop in steps:
            with db.write(None):
                view_blocks.put_folders(db, view, put, drop - put.keys())
            model[view] = {
                folder: signature
                for folder, signature in {**model[view], **put}.items()
                if folder in put or folder not in drop
            }
            assert {view: view_blocks.folders_of(db, view) for view in model} == model
        with db.write(None):
            view_blocks.delete_unused(db)
        names = {row[0] for row in db.rows("SELECT path FROM folders")}
        assert names == model[1].keys() | model[2].keys()


def test_a_block_that_lost_rows_is_damage(tmp_path: Path) -> None:
    with closing(with_views(tmp_path / "index-0123456789abcdef.db", 1)) as db:
        with db.write(None):
            view_blocks.put_files(db, 1, {1: (None, CURRENT, b""), 2: (None, CURRENT, b"")}, 1)
            db.execute("DELETE FROM block_files WHERE path = 2")
        with pytest.raises(IndexCorrupt):
            views.files_of(db, 1)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {f"src/m{n}.py": f"def wick_{n}(): pass\n" for n in range(200)})
    return made


def blocks(home: Path) -> set[int]:
    (path,) = (home / "indexes").glob("index-*.db")
    with closing(open_index(path)) as db:
        assert db.fault(thorough=True) == ""
        return {row[0] for row in db.rows("SELECT id FROM blocks")}


def test_a_worktree_and_a_branch_cost_the_blocks_that_differ(repo: GitRepo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine(Settings(home=home)) as engine:
        engine.look(path=repo.root)
        first = blocks(home)
        second = repo.worktree(tmp_path / "second", branch="second")
        engine.look(path=second.root)
        engine.look(path=repo.root, ref="HEAD")
        assert blocks(home) == first
        second.git("checkout", "-q", "-b", "edited")
        second.commit("edit", {"src/m7.py": "def snuffer(): pass\n"})
        engine.look(path=second.root)
        assert len(blocks(home) - first) == 1
        assert engine.search("snuffer", path=second.root).results[0].path == "src/m7.py"
        assert engine.search("wick_7", path=repo.root).results[0].path == "src/m7.py"
        second.git("checkout", "-q", "second")
        engine.drop("edited", path=repo.root)
        assert blocks(home) == first


FILES_OF_14 = """
INSERT INTO views (id, scope, kind, worktree, branch, head, index_id, complete, sources, changes,
    generation, files, created_s, accessed_s)
VALUES (1, 'a', 'worktree', '/a', 'main', '', '', 1, '{"index": {}}', 5, 5, 100, 0, 0),
    (2, 'b', 'ref', '/a', '', '', '', 1, '{}', 5, 5, 2, 0, 0);
INSERT INTO contents (id, hash, language, version, tier, size_bytes, lines, outcome, generated,
    chunk_count, body_terms, name_terms, doc_terms, chunks, refs, imports)
VALUES (7, x'07', 'text', 1, 1, 0, 0, 'text', 0, 0, 0, 0, 0, x'', x'', x'');
WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
INSERT INTO paths (id, path, stem, folders, role)
SELECT n, CAST('f' || n AS BLOB), '', '', '' FROM n;
INSERT INTO view_files (view, path, content, state, signature)
SELECT 1, id, 7, id = 3, zeroblob(32) FROM paths;
INSERT INTO view_files (view, path, content, state, signature)
SELECT 2, id, 7, 0, CAST('unread' AS BLOB) FROM paths WHERE id IN (3, 90);
INSERT INTO view_folders VALUES (1, x'', zeroblob(32));
"""


NAMED_PATHS = """
.github/ISSUE_TEMPLATE/bug.yml .GitHub/x.yml web/.vscode/tasks.json github/x.yml src/.github
vite.config.ts web/jest.config.cjs web/config.ts a.config.tsx a.config.json Shop/Shop.csproj
.eslintrc web/.eslintrc.cjs .rc tsconfig.json tsconfig.build.json gulpfile.js gulpfile compose.yaml
docker-compose.dev.yml Makefile a/b/a/b/Makefile makefile.py package.json src/package.ts mix.exs
docs/conf.py website/a/conf.py src/conf.py setup.py src/setup.ts tests/package.json docs/index.md
""".split()


def test_paths_of_an_older_index_get_the_role_of_tooling(tmp_path: Path) -> None:
    roles = {path: path_facts(path.encode()).role for path in NAMED_PATHS}
    assert 15 < list(roles.values()).count("tooling") < len(NAMED_PATHS)
    path = tmp_path / "index-0123456789abcdef.db"
    with closing(older_index(path, 16)) as connection:
        connection.executemany(
            "INSERT INTO paths (path, stem, folders, role) VALUES (?, '', '', ?)",
            [(name.encode(), "" if role == "tooling" else role) for name, role in roles.items()],
        )
    with closing(open_index(path)) as db:
        rows = db.rows("SELECT path, role FROM paths")
        assert {bytes(name).decode(): role for name, role in rows} == roles


COPIED_PATHS = """
docs/assets/lib/mirror.js Docs/Public/app.mjs website/static/worker.cjs docs/assets/page.css
docs/src/app.js src/assets/app.js docs/assets/app.ts assets/docs/app.js docs/assets.js
lib/box.umd.js lib/box.iife.mjs public/app.bundle.cjs lib/umd.js lib/bundle.js lib/box.bundle.ts
js/lid-3.7.1.js js/lid-2.1.min.js css/lid-ui-1.13.2.css js/lid-3.7.1.slim.js js/lid-3.js
.yarn/releases/yarn-4.9.1.cjs .yarn/plugins/typed.cjs .yarn/x .yarn tests/lid-3.7.1.js
js/Lid-3.7.1.JS js/lid3.7.1.js docs/assets/lid-3.7.1.js docs/assets/app.umd.js
""".split()


def test_paths_of_an_older_index_get_the_roles_of_copies(tmp_path: Path) -> None:
    roles = {path: path_facts(path.encode()).role for path in COPIED_PATHS}
    before = {
        "docs/assets/page.css": "prose",
        "js/lid-2.1.min.js": "generated",
        "tests/lid-3.7.1.js": "test",
    }
    assert {roles[path] for path in COPIED_PATHS} == {"prose", "vendored", "generated", "test", ""}
    path = tmp_path / "index-0123456789abcdef.db"
    with closing(older_index(path, 17)) as connection:
        connection.executemany(
            "INSERT INTO paths (path, stem, folders, role) VALUES (?, '', '', ?)",
            [(name.encode(), before.get(name, "")) for name in roles],
        )
    with closing(open_index(path)) as db:
        rows = db.rows("SELECT path, role FROM paths")
        assert {bytes(name).decode(): role for name, role in rows} == roles


def test_views_of_an_older_index_keep_their_files(tmp_path: Path) -> None:
    path = tmp_path / "index-0123456789abcdef.db"
    with closing(older_index(path, 14)) as connection:
        connection.execute(FILES_OF_14)
    with closing(open_index(path)) as db:
        assert db.fault(thorough=True) == ""
        assert files(db, 1) == {n: (7, int(n == 3), b"") for n in range(1, 101)}
        assert files(db, 2) == dict.fromkeys((3, 90), (7, 0, b"(unread)"))
        worktree, ref = sorted(views.all_views(db))
        # The worktree is walked at the next look; the ref never changes.
        assert (worktree.sources, worktree.changes, ref.changes) == ("{}", 6, 5)
        assert view_blocks.folders_of(db, 1) == {}
        with db.write(None):
            view_blocks.put_files(db, 2, {3: (7, 1, b"(unread)")}, 6)
        assert files(db, 2)[3] == (7, 1, b"(unread)")
        with db.write(None):
            view_blocks.put_files(db, 2, {3: (7, 0, b"(unread)")}, 7)
        garbage_collection.collect(db)
        assert {row[0] for row in db.rows("SELECT id FROM contents")} == {7}
