"""An index's clock counts only time that certainly passed, regardless of the wall clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S, Moment, machine, passed
from codelens.store.views import index_metadata
from codelens.store.views.garbage_collection import Case, Limits, prune_verdict

HOUR_S = 3600.0


@pytest.mark.parametrize(
    ("wall_s", "up_s", "boot", "wanted"),
    [
        (HOUR_S, HOUR_S, "a", HOUR_S),
        (1e9, HOUR_S, "a", HOUR_S),
        (-1e9, HOUR_S, "a", 0.0),
        (HOUR_S, -5.0, "a", 0.0),
        (HOUR_S, 10.0, "b", HOUR_S),
        (1e9, 10.0, "b", DAY_S),
        (-1e9, 10.0, "b", 0.0),
        (1e9, HOUR_S, "", DAY_S),
    ],
)
def test_counted_time_never_exceeds_elapsed_time(
    wall_s: float, up_s: float, boot: str, wanted: float
) -> None:
    before = Moment(1e6, 1e3, "a" if boot else "")
    assert passed(before, Moment(1e6 + wall_s, 1e3 + up_s, boot)) == wanted


def test_the_index_clock_adds_up_elapsed_time(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index.db")
    readings = [
        Moment(100.0, 10.0, "a"), Moment(160.0, 70.0, "a"), Moment(1e9, 80.0, "a"),
        Moment(170.0, 90.0, "a"), Moment(180.0, 100.0, "a"),
    ]  # fmt: skip
    with db.write(None):
        reached = [index_metadata.tick(db, lambda now=now: now) for now in readings]
    assert reached == [0.0, 60.0, 70.0, 70.0, 80.0]
    assert index_metadata.clock_s(db, lambda: Moment(185.0, 105.0, "a")) == 85.0
    db.close()


def test_the_machine_knows_its_boot_and_how_long_it_is_up() -> None:
    first, second = machine(), machine()
    assert first.boot == second.boot
    assert 0 < first.up_s <= second.up_s


@pytest.mark.parametrize(
    ("case", "goes"),
    [
        (Case("inactive", False, 14 * DAY_S), True),
        (Case("inactive", False, 14 * DAY_S - 1), False),
        (Case("inactive", True, 1e9), False),
        (Case("detached", False, 3 * DAY_S), True),
        (Case("ref", False, 3 * DAY_S), True),
        (Case("ref", False, 3 * DAY_S - 1), False),
        (Case("gone", False, 1e9, 2 * DAY_S), True),
        (Case("gone", False, 1e9, 2 * DAY_S - 1), False),
        (Case("gone", False, HOUR_S, 2 * DAY_S), False),
        (Case("active", False, 1e9), False),
        (Case("unreachable", False, 1e9, 1e9), False),
    ],
)
def test_the_rule_decides_which_views_go(case: Case, goes: bool) -> None:
    assert prune_verdict(case, Limits()).goes is goes


def test_recently_used_views_stay_under_any_settings() -> None:
    nothing = Limits(0.0, 0.0, 0.0, 0.0)
    assert not prune_verdict(Case("inactive", False, HOUR_S), nothing).goes
    assert prune_verdict(Case("inactive", False, 3 * HOUR_S), nothing).goes
