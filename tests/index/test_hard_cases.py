"""Cases with which a tester broke an early version; each is a rule now."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from gitrepo import GitRepo, git_environment

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import BareRepository, SettingError, UnsupportedRepository
from codelens.index import ingestion, view_update
from codelens.store.database.database_opening import open_index


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {f"part{n}.py": f"def kindle_part{n}(): pass\n" for n in range(30)})
    return made


def names(engine: Engine, root: Path, ref: str | None = None) -> set[str]:
    return {one.name for one in engine.export_symbols(path=root, ref=ref)}


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupted_first_index_is_never_called_fresh(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    steps = 0
    real = view_update._Update._grow

    def dying(self, *args, **options):
        nonlocal steps
        steps += 1
        if steps == at:
            raise KeyboardInterrupt
        return real(self, *args, **options)

    monkeypatch.setattr(ingestion, "_COMMIT_S", 0.0)
    monkeypatch.setattr(view_update._Update, "_grow", dying)
    with pytest.raises(KeyboardInterrupt):
        engine.look(path=repo.root)
    assert engine.look(path=repo.root, budget_ms=0).status == "partial"
    monkeypatch.undo()
    assert engine.look(path=repo.root).files == 30
    assert len(names(engine, repo.root)) == 30


def test_work_done_a_second_before_a_kill_is_kept(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kill -9` three seconds into an index of 743 files lost 735 of them."""
    real = ingestion.Ingest._store
    stored = 0

    def dying(self, batch):
        nonlocal stored
        if stored >= 20:
            raise KeyboardInterrupt
        real(self, batch)
        stored += len(batch)

    # Commits after each text, as if each took longer than the interval.
    monkeypatch.setattr(ingestion, "_COMMIT_S", 0.0)
    monkeypatch.setattr(ingestion, "_COMMIT_SHARE", 0.0)
    monkeypatch.setattr(ingestion.Ingest, "_store", dying)
    with pytest.raises(KeyboardInterrupt):
        engine.look(path=repo.root)
    monkeypatch.undo()
    assert engine.look(path=repo.root).indexed == 10


def many(repo: GitRepo) -> None:
    """Writes enough files that git's index is used."""
    repo.commit("many", {f"many/file{n}.py": f"def name_{n}(): pass\n" for n in range(250)})
    for file in (repo.root / "many").iterdir():
        os.utime(file, (1_600_000_000, 1_600_000_000))
    repo.git("update-index", "--refresh", "-q", env={"GIT_OPTIONAL_LOCKS": "1"})


@pytest.mark.slow
def test_a_filter_that_keeps_the_size_is_seen_through(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    many(repo)
    assert "name_7" in names(engine, repo.root)
    repo.config("filter.up.smudge", "tr a-z A-Z")
    repo.config("filter.up.clean", "tr A-Z a-z")
    second = repo.worktree(tmp_path / "second")
    for file in (second.root / "many").iterdir():
        file.unlink()
    second.write(".gitattributes", "*.py filter=up\n")
    second.git("checkout", "--", "many")
    assert second.path("many/file7.py").read_text() == "DEF NAME_7(): PASS\n"
    assert "name_7" not in names(engine, second.root)


FILTER_SETUPS = ("clean alone", "set for one command", "unset after the checkout")


@pytest.mark.parametrize("setup", FILTER_SETUPS)
def test_the_disk_is_read_where_git_vouches_for_a_stat_alone(
    repo: GitRepo, engine: Engine, tmp_path: Path, setup: str
) -> None:
    repo.write(".gitattributes", "many/*.py filter=r\n")
    many(repo)
    # The blobs are indexed, and contain `name_7`.
    assert "name_7" in names(engine, repo.root, "HEAD")
    place = tmp_path / "second"
    smudge, clean = "sed s/name_/eman_/", "sed s/eman_/name_/"
    if setup == "clean alone":
        repo.config("filter.r.clean", clean)
        second = repo.worktree(place)
        for file in (second.root / "many").iterdir():
            file.write_text(file.read_text().replace("name_", "eman_"))
            os.utime(file, (1_600_000_000, 1_600_000_000))
        second.git("add", "-A")
    elif setup == "set for one command":
        repo.git("-c", f"filter.r.smudge={smudge}", "worktree", "add", "-q", "--detach", str(place))
        second = GitRepo(place)
    else:
        repo.config("filter.r.smudge", smudge)
        second = repo.worktree(place)
        repo.git("config", "--unset", "filter.r.smudge")
    assert b"eman_7" in second.path("many/file7.py").read_bytes()
    found = names(engine, second.root)
    assert "eman_7" in found
    assert "name_7" not in found


def test_a_lower_limit_holds_for_texts_that_are_known(repo: GitRepo, tmp_path: Path) -> None:
    many(repo)
    home = tmp_path / "home"
    with Engine(Settings(home=home)) as engine:
        assert len(names(engine, repo.root)) == len(names(engine, repo.root, "HEAD")) == 280
    with Engine(Settings(home=home, max_file_bytes=10)) as small:
        assert not names(small, repo.root)
        assert not names(small, repo.root, "HEAD")


def test_a_ref_with_missing_objects_is_partial_and_heals(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    repo.commit("two", {"part3.py": "def lantern(): pass\n"})
    repo.config("uploadpack.allowFilter", "true")
    clone = GitRepo.clone(repo.root, tmp_path / "clone", "--filter=blob:none")
    before = engine.search("kindle_part3", path=clone.root, ref="HEAD~1")
    assert before.receipt.status == "partial"
    assert "not in this clone" in before.receipt.note
    clone.checkout("HEAD~1")
    after = engine.search("kindle_part3", path=clone.root, ref="HEAD")
    assert after.receipt.status == "fresh"
    assert after.results[0].path == "part3.py"


def test_an_included_config_counts(repo: GitRepo, engine: Engine, tmp_path: Path) -> None:
    included = tmp_path / "included"
    included.write_text("[core]\n\tignoreCase = false\n")
    repo.git("config", "--unset", "core.ignoreCase", check=False)
    repo.config("include.path", str(included))
    repo.write(".gitignore", "*.LOG\n")
    repo.write("notes.log", "kindle\n")
    assert engine.look(path=repo.root).files == 32
    included.write_text("[core]\n\tignoreCase = true\n")
    assert engine.look(path=repo.root).files == 31


def test_files_kept_elsewhere_are_refused(repo: GitRepo, engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    repo.config("core.worktree", str(tmp_path / "other"))
    with pytest.raises(UnsupportedRepository, match=r"core\.worktree"):
        engine.look(path=repo.root)


def test_a_bare_repository_with_worktrees_has_no_files(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    bare = GitRepo.clone(repo.root, project / ".bare", "--bare")
    (project / ".git").write_text("gitdir: ./.bare\n")
    tree = bare.worktree(project / "main")
    with pytest.raises(BareRepository):
        engine.look(path=project)
    assert "kindle_part7" in names(engine, tree.root)
    assert "kindle_part7" in names(engine, project, "main")


def test_a_submodule_answers_for_itself(repo: GitRepo, engine: Engine, tmp_path: Path) -> None:
    outer = GitRepo.init(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.root), "sub")
    outer.commit("one", {"outer.py": "def outer(): pass\n"})
    assert names(engine, outer.root) == {"outer"}
    assert engine.status(path=outer.root).submodules == ("sub",)
    assert "kindle_part7" in names(engine, outer.root / "sub")


def test_a_branch_may_have_any_name(repo: GitRepo, engine: Engine) -> None:
    command = ["git", "checkout", "-q", "-b", b"br\xffx/\xe4"]
    subprocess.run(command, cwd=repo.root, env=git_environment(), check=True)
    receipt = engine.look(path=repo.root)
    assert receipt.status == "fresh"
    assert receipt.branch == r"br\xffx/\xe4"


def test_an_empty_ref_is_refused(repo: GitRepo, engine: Engine) -> None:
    for ask in (engine.look, engine.outline, engine.status):
        with pytest.raises(SettingError, match="empty"):
            ask(path=repo.root, ref="")


@pytest.mark.parametrize("is_known", [True, False])
def test_an_object_under_the_name_of_another_is_not_shown(
    repo: GitRepo, engine: Engine, is_known: bool
) -> None:
    """A swapped file has valid checksums, and git itself shows the wrong text."""
    if is_known:
        engine.look(path=repo.root, ref="HEAD")
    kept = repo.root / ".git/objects"
    repo.commit("two", {"wrong.py": "def wrong(): pass\n", "right.py": "def right(): pass\n"})
    oids = [repo.git("rev-parse", f"HEAD:{name}.py").decode().strip() for name in
            ("part1" if is_known else "wrong", "right")]  # fmt: skip
    source, place = (kept / oid[:2] / oid[2:] for oid in oids)
    place.chmod(0o600)
    place.write_bytes(source.read_bytes())
    assert b"right" not in repo.git("cat-file", "-p", oids[1])
    look = engine.look(path=repo.root, ref="HEAD")
    assert look.status == "partial"
    assert "git fsck" in look.note
    assert names(engine, repo.root, "HEAD") == {f"kindle_part{n}" for n in range(30)} | {"wrong"}
    # Another worktree or a checkout with the right text is not affected.
    assert names(engine, repo.root) >= {"right", "wrong"}


def test_a_damaged_index_is_set_aside_and_rebuilt(repo: GitRepo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine(Settings(home=home)) as engine:
        path = Path(engine.status(path=repo.root).index_path)
    db = open_index(path)
    db.execute("UPDATE symbols SET name = CAST(x'ff41' AS TEXT)")
    db.close()
    with Engine(Settings(home=home)) as engine:
        answers = []
        for _ in range(2):
            try:
                answers.append(names(engine, repo.root))
            except Exception as error:
                assert "damaged" in str(error)
        assert len(answers[-1]) == 30
    assert [one for one in path.parent.iterdir() if ".damaged-" in one.name]
