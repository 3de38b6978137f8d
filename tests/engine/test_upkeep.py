"""Prune, drop, pin and the overview on a real repository with worktrees and other engines."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.upkeep_answers import ViewLife
from codelens.config import Settings
from codelens.engine import background_work
from codelens.engine.engine import Engine
from codelens.engine.upkeep import pruning
from codelens.engine.upkeep.view_survey import limits_of
from codelens.errors import IndexLocked, SettingError
from codelens.render.upkeep_text import overview_lines
from codelens.store.database import writer_lease
from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S
from codelens.store.saved.pins import pinned_scopes, pins_file_for


class Kept:
    """A repository, a home, an engine."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo.init(folder / "repo")
        self.repo.commit("first", {"src/a.py": "def lantern():\n    return 1\n"})
        self.folder = folder
        self.home = folder / "home"
        self.engine = Engine(Settings(home=self.home))

    def ask(self, root: Path | None = None, ref: str | None = None) -> str:
        return self.engine.search("lantern", path=root or self.repo.root, ref=ref).receipt.status

    def views(self) -> dict[str, ViewLife]:
        (one,) = self.engine.overview()
        return {view.branch or view.kind: view for view in one.views}

    @property
    def index(self) -> Path:
        (path,) = (self.home / "indexes").glob("index-*.db")
        return path

    def age(self, days: float) -> None:
        """Advances the index's own clock."""
        db = open_index(self.index)
        with db.write(None):
            db.execute("UPDATE upkeep SET clock_s = clock_s + ?", (days * DAY_S,))
        db.close()


@pytest.fixture
def kept(tmp_path: Path):
    made = Kept(tmp_path)
    yield made
    made.engine.close()


def with_old_branch(kept: Kept) -> None:
    kept.repo.git("checkout", "-q", "-b", "old")
    kept.repo.commit("much", {f"old/{n}.py": f"class Beacon{n}:\n    pass\n" for n in range(20)})
    kept.ask()
    kept.repo.git("checkout", "-q", "main")
    kept.ask()


def test_each_kind_of_view_goes_in_its_time_and_not_before(kept: Kept) -> None:
    with_old_branch(kept)
    kept.ask(ref="old")
    kept.repo.git("checkout", "-q", "--detach")
    kept.ask()
    kept.repo.git("checkout", "-q", "main")
    kept.age(2.9)
    kept.ask()
    assert kept.engine.prune().results == ()
    kept.age(0.2)
    kept.ask()
    (done,) = kept.engine.prune().results
    assert {(view.kind, view.standing) for view in done.views} == {
        ("ref", "ref"), ("worktree", "detached"),
    }  # fmt: skip
    kept.age(10)
    kept.ask()
    assert not any(one.views for one in kept.engine.prune().results)
    kept.age(2)
    (done,) = kept.engine.prune().results
    assert [view.branch for view in done.views] == ["old"]
    assert set(kept.views()) == {"main"}


def test_the_active_view_stays_however_long_nobody_asks(kept: Kept) -> None:
    kept.ask()
    kept.age(10_000)
    assert kept.engine.prune(days=0).results == ()
    assert kept.views()["main"].why == "checked out in a worktree"


def test_a_pinned_view_stays(kept: Kept) -> None:
    with_old_branch(kept)
    assert kept.engine.pin("old", path=kept.repo.root).changed
    assert not kept.engine.pin("old", path=kept.repo.root).changed
    kept.age(1000)
    assert kept.engine.prune().results == ()
    with pytest.raises(SettingError, match="pinned"):
        kept.engine.drop("old", path=kept.repo.root)
    kept.engine.pin("old", path=kept.repo.root, pinned=False)
    (done,) = kept.engine.prune().results
    assert [view.branch for view in done.views] == ["old"]


def test_pins_outlive_the_index(kept: Kept) -> None:
    with_old_branch(kept)
    kept.engine.pin("old", path=kept.repo.root)
    kept.repo.git("checkout", "-q", "old")
    kept.engine.index(path=kept.repo.root, rebuild=True)
    assert kept.views()["old"].pinned
    path = kept.index
    path.write_bytes(b"damaged" + path.read_bytes()[7:])
    kept.ask()
    assert kept.views()["old"].pinned
    kept.engine.pin("old", path=kept.repo.root, pinned=False)
    kept.engine.index(path=kept.repo.root, rebuild=True)
    assert not kept.views()["old"].pinned


def test_pins_that_cannot_be_read_stop_a_prune(kept: Kept) -> None:
    with_old_branch(kept)
    kept.engine.pin("old", path=kept.repo.root)
    kept.age(1000)
    (pins,) = kept.folder.glob("**/pins-*.json")
    pins.write_text("{")
    pins.with_name(f"{pins.name}.backup").unlink()
    answer = kept.engine.prune()
    assert answer.failed
    assert "pins" in answer.results[0].error
    pins.unlink()
    assert "old" in kept.views()


def test_pins_that_are_damaged_or_lost_come_back_from_their_copy(kept: Kept) -> None:
    with_old_branch(kept)
    kept.engine.pin("old", path=kept.repo.root)
    (pins,) = kept.folder.glob("**/pins-*.json")
    pins.write_text("{")
    assert kept.views()["old"].pinned
    pins.unlink()
    assert kept.views()["old"].pinned
    kept.engine.drop_repository(path=kept.repo.root, force=True)
    kept.ask()
    assert not any(view.pinned for view in kept.views().values())


def test_a_ref_is_pinned_before_anybody_asked_for_it(kept: Kept) -> None:
    kept.repo.git("tag", "v1")
    kept.repo.commit("second", {"src/b.py": "x = 1\n"})
    kept.ask()
    assert kept.engine.pin("v1", path=kept.repo.root).view.kind == "ref"


def test_views_of_a_removed_worktree_go_two_days_after_it_was_missed(kept: Kept) -> None:
    linked = kept.repo.worktree(kept.folder / "linked", branch="other")
    kept.ask(linked.root)
    kept.age(40)
    assert not any(one.views for one in kept.engine.prune().results)
    shutil.rmtree(linked.root)
    assert not any(one.views for one in kept.engine.prune().results)
    kept.age(1.9)
    assert not any(one.views for one in kept.engine.prune().results)
    kept.age(0.2)
    (done,) = kept.engine.prune().results
    assert [(view.branch, view.standing) for view in done.views] == [("other", "gone")]


def test_a_worktree_that_came_back_is_not_counted_as_missed(kept: Kept) -> None:
    linked = kept.repo.worktree(kept.folder / "linked", branch="other")
    kept.ask(linked.root)
    kept.ask()
    away = kept.folder / "away"
    linked.root.rename(away)
    kept.engine.prune()
    kept.age(1.5)
    away.rename(linked.root)
    kept.engine.prune()
    linked.root.rename(away)
    kept.engine.prune()
    kept.age(1.5)
    assert not any(one.views for one in kept.engine.prune().results)


def test_a_dry_run_reports_the_same_and_changes_nothing(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(15)
    before = kept.index.read_bytes()
    (planned,) = kept.engine.prune(dry_run=True).results
    assert kept.index.read_bytes() == before
    (done,) = kept.engine.prune().results
    assert [view.index_id for view in planned.views] == [view.index_id for view in done.views]


def test_a_second_prune_finds_nothing_to_do(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(15)
    kept.engine.close()
    with Engine(Settings(home=kept.home)) as engine:
        (done,) = engine.prune().results
        assert done.views and done.contents and done.freed_bytes >= 0
        assert engine.prune().results == ()


@pytest.mark.slow
def test_an_index_that_is_being_written_is_left_alone(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(15)
    db = open_index(kept.index)
    lease = writer_lease.acquire(db, 0)
    (one,) = kept.engine.prune().results
    assert one.skipped and not one.views
    assert not kept.engine.prune().failed
    with pytest.raises(IndexLocked):
        kept.engine.drop("old", path=kept.repo.root)
    lease.release(db)
    db.close()
    assert set(kept.views()) == {"main", "old"}


def test_an_index_of_a_removed_repository_goes_two_weeks_after_it_was_missed(kept: Kept) -> None:
    kept.ask()
    kept.engine.close()
    shutil.rmtree(kept.repo.root)
    with Engine(Settings(home=kept.home)) as engine:
        engine.prune()
        kept.age(13)
        engine.prune()
        assert kept.index.exists()
        kept.age(1.1)
        (done,) = engine.prune().results
        assert done.removed
    assert not list((kept.home / "indexes").glob("index-*"))


def test_an_index_with_a_pinned_view_outlives_its_repository(kept: Kept) -> None:
    kept.ask()
    kept.engine.pin(path=kept.repo.root)
    kept.engine.close()
    shutil.rmtree(kept.repo.root)
    with Engine(Settings(home=kept.home)) as engine:
        engine.prune()
        kept.age(1000)
        engine.prune()
    assert kept.index.exists()


def test_one_broken_index_does_not_keep_the_others_from_being_pruned(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(15)
    folder = kept.index.parent / "index-0000000000000000.db"
    folder.mkdir()
    answer = kept.engine.prune()
    assert answer.failed
    assert {bool(one.error) for one in answer.results} == {True, False}
    assert {view.branch for one in answer.results for view in one.views} == {"old"}
    folder.rmdir()


def test_drop_refuses_an_active_view_and_explains_force(kept: Kept) -> None:
    kept.ask()
    with pytest.raises(SettingError, match="--force"):
        kept.engine.drop("main", path=kept.repo.root)
    assert kept.engine.drop("main", path=kept.repo.root, force=True).views
    assert kept.ask() == "fresh"


def test_drop_lists_the_views_that_one_name_has(kept: Kept) -> None:
    linked = kept.repo.worktree(kept.folder / "linked", branch="other")
    kept.ask(linked.root)
    kept.repo.git("checkout", "-q", "-b", "more")
    linked.git("checkout", "-q", "--detach")
    kept.repo.git("checkout", "-q", "other")
    kept.ask()
    with pytest.raises(SettingError, match="matches 2 views"):
        kept.engine.drop("other", path=kept.repo.root)
    with pytest.raises(SettingError, match="status --all"):
        kept.engine.drop("nothing", path=kept.repo.root)


def test_a_dropped_repository_is_answered_for_again(kept: Kept) -> None:
    kept.ask()
    with pytest.raises(SettingError, match="--force"):
        kept.engine.drop_repository(path=kept.repo.root)
    assert kept.engine.drop_repository(path=kept.repo.root, force=True).whole
    assert not list((kept.home / "indexes").glob("index-*.db"))
    assert kept.ask() == "fresh"


def test_a_repository_is_dropped_while_a_server_keeps_answering(kept: Kept) -> None:
    kept.ask()
    with Engine(Settings(home=kept.home)) as other:
        done = other.drop_repository(path=kept.repo.root, force=True)
        assert done.whole
        (hit,) = kept.engine.search("lantern", path=kept.repo.root).results
        assert hit.handle == "src/a.py#lantern"
        assert kept.ask() == "fresh"


def test_the_overview_shows_size_use_and_why_each_view_stays(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(5)
    (one,) = kept.engine.overview()
    assert one.repository == str(kept.repo.root / ".git")
    assert one.index_bytes == sum(
        file.stat().st_size for file in kept.index.parent.glob("index-*.db*")
        if not file.name.endswith(("-shm", ".checked"))
    )  # fmt: skip
    views = kept.views()
    assert views["old"].own_bytes > 0 == views["main"].own_bytes
    assert views["old"].files == 21
    assert "to be pruned in 8 days" in views["old"].why and not views["old"].goes


def test_the_use_of_a_view_is_noted(kept: Kept) -> None:
    with_old_branch(kept)
    kept.age(13)
    kept.repo.git("checkout", "-q", "old")
    kept.ask()
    kept.repo.git("checkout", "-q", "main")
    kept.age(2)
    assert not any(one.views for one in kept.engine.prune().results)


def test_bring_reads_everything_during_questions_and_reports_progress(kept: Kept) -> None:
    reported: list[tuple[str, int, int]] = []
    kept.repo.write_all({f"many/{n}.py": f"x{n} = {n}\n" for n in range(300)})

    def tell(stage: str, done: int, total: int) -> None:
        reported.append((stage, done, total))

    status = kept.engine.bring(path=kept.repo.root, progress=tell)
    assert status.receipt.status == "fresh" and status.files == 301
    assert reported and reported[-1][1:] == (301, 301)


def test_a_server_prunes_by_itself_and_stops_with_its_engine(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_old_branch(kept)
    kept.age(15)
    monkeypatch.setattr(background_work, "_FIRST_PRUNE_S", 0.0)
    with Engine(Settings(home=kept.home), keep_going=True) as serving:
        while set(kept.views()) != {"main"}:
            time.sleep(0.02)
        assert serving.pool.background is not None
        thread = serving.pool.background._thread
    assert thread is not None
    thread.join()


def test_a_server_leaves_an_index_alone_that_was_pruned_lately(kept: Kept) -> None:
    with_old_branch(kept)
    kept.engine.prune()
    kept.age(0.2)
    every_s = 6 * 3600.0
    limits = limits_of(Settings(home=kept.home), 0.0)
    assert pruning.prune(kept.home, limits, every_s=every_s).results == ()
    kept.age(0.1)
    (done,) = pruning.prune(kept.home, limits, every_s=every_s).results
    assert [view.branch for view in done.views] == ["old"]


def test_a_rebuild_keeps_the_pinned_view_of_a_ref(kept: Kept) -> None:
    kept.repo.git("tag", "v1")
    kept.repo.commit("later", {"later.py": "def later():\n    return 1\n"})
    root = kept.repo.root
    for ref in ("v1", "HEAD~0"):
        kept.engine.search("later", path=root, ref=ref)
    kept.engine.pin("v1", path=root)
    kept.engine.index(path=root, rebuild=True)
    (repository,) = kept.engine.overview()
    refs = [(view.head, view.pinned) for view in repository.views if view.kind == "ref"]
    assert refs == [(kept.repo.text("rev-parse", "v1"), True)]


def test_a_pin_whose_view_is_gone_can_be_undone(kept: Kept) -> None:
    """A rebuild that was killed keeps pins, and not the views that it had not built again."""
    root = kept.repo.root
    kept.repo.git("tag", "v1")
    kept.repo.commit("later", {"later.py": "def later():\n    return 1\n"})
    kept.engine.pin("v1", path=root)
    file = pins_file_for(kept.index)
    (scope,) = pinned_scopes(file)
    kept.index.unlink()
    with Engine(Settings(home=kept.home, workers=1)) as engine:
        assert engine.pin("v1", path=root, pinned=False).changed
        assert pinned_scopes(file) == frozenset()
        assert not engine.pin("v1", path=root, pinned=False).changed
        with pytest.raises(SettingError, match="no view matches"):
            engine.pin("HEAD~0", path=root, pinned=False)
    assert scope


def test_the_overview_shows_pins_whose_views_are_not_built(kept: Kept) -> None:
    root = kept.repo.root
    kept.repo.git("tag", "v1")
    commit = kept.repo.text("rev-parse", "v1")
    kept.repo.commit("later", {"later.py": "def later():\n    return 1\n"})
    kept.engine.pin("v1", path=root)
    kept.engine.pin(path=root)
    kept.index.unlink()
    with Engine(Settings(home=kept.home, workers=1)) as engine:
        (before,) = engine.overview()
        titles = {pin.title for pin in before.unbuilt_pins}
        assert titles == {f"ref {commit[:12]}", f"main in {root}"}
        assert (before.index_bytes, before.views) == (0, ())
        engine.search("later", path=root)
        (after,) = engine.overview()
        assert [pin.title for pin in after.unbuilt_pins] == [f"ref {commit[:12]}"]
        assert f"ref {commit[:12]}  pinned;" in "\n".join(overview_lines([after]))
        engine.index(path=root, rebuild=True)
        (built,) = engine.overview()
        assert built.unbuilt_pins == ()
        assert [view.pinned for view in built.views if view.kind == "ref"] == [True]


def test_the_draft_of_a_killed_pin_goes_with_the_next_one(kept: Kept) -> None:
    kept.ask()
    kept.engine.pin("main", path=kept.repo.root)
    file = pins_file_for(kept.index)
    (file.parent / f"{file.name}.new").write_text("{")
    kept.engine.pin("main", path=kept.repo.root, pinned=False)
    assert pinned_scopes(file) == frozenset()
    assert not list(file.parent.glob("*.new"))
