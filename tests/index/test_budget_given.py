"""A user's budget always holds; a server's default may be exceeded once, while others finish."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from gitrepo import GitRepo

from codelens.cli.shared_options import limits
from codelens.cli.standard_streams import Bar
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.index.view_update import FEW_FILES, Budget

SECONDS = 1000.0
"""Far longer than a test takes, so that no clock decides."""


def test_a_given_budget_ends_the_scan_where_it_ends() -> None:
    budget = Budget.starting_now(SECONDS * 1000)
    assert budget.deadline is not None
    assert budget.scan_until == budget.deadline
    assert budget.extract_s <= SECONDS / 4
    looked = budget.after_look()
    assert looked.deadline == looked.scan_until == budget.deadline
    assert budget.for_a_part() == budget


def test_a_look_that_took_all_of_it_leaves_a_fifth() -> None:
    over = Budget.starting_now(SECONDS * 1000)
    now = time.monotonic()
    over = Budget(now - 1, scan_until=now - 1, extract_s=over.extract_s, seconds=SECONDS)
    looked = over.after_look()
    assert looked.deadline is not None
    assert now < looked.deadline == looked.scan_until <= time.monotonic() + SECONDS / 5


def test_a_server_may_scan_longer_as_it_finishes_the_rest() -> None:
    budget = Budget.starting_now(SECONDS * 1000, leaves_rest=True)
    assert budget.deadline is not None
    assert budget.scan_until > budget.deadline + SECONDS


def test_names_of_very_many_files_are_written_while_there_is_time_alone() -> None:
    many = FEW_FILES + 1
    within = Budget.starting_now(SECONDS * 1000)
    over = Budget(time.monotonic() - 1, seconds=SECONDS)
    assert not within.has_no_time_for(many)
    assert over.has_no_time_for(many)
    assert not over.has_no_time_for(FEW_FILES)
    assert not Budget().has_no_time_for(many)


def test_without_time_all_files_are_reported_and_none_is_written(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {f"src/f{n}.py": f"lantern{n} = {n}\n" for n in range(FEW_FILES + 50)})
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        answer = engine.search("lantern7", path=repo.root, budget_ms=0)
        assert answer.receipt.status == "partial"
        # Plus the top folder, which was not listed.
        assert answer.receipt.unread >= FEW_FILES + 50
        assert answer.receipt.indexed == 0
        assert engine.search("lantern7", path=repo.root).receipt.indexed == FEW_FILES + 50


def test_the_start_of_the_process_counts(tmp_path: Path) -> None:
    with Engine(Settings(home=tmp_path)) as engine:

        def left(given: float | None) -> float | None:
            return limits(Namespace(path=".", budget=given), engine, Bar())["budget_ms"]

        for given, least in ((1e9, 5e8), (1e-6, 5e-7)):
            budget_ms = left(given)
            assert budget_ms is not None
            assert least <= budget_ms < given
        assert left(0.0) == 0
        assert left(None) is None
