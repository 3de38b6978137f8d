"""The oracle with a watch: what a server does not check again has not changed.

The histories of `test_oracle`, asked of an engine that watches. In one run it trusts only the
kernel's events. In others events are dropped, late or doubled, and the sweep must find the changes.
"""

from __future__ import annotations

import sys
from types import MethodType

import pytest
from stateful.machine_run import run_machine
from stateful.test_oracle import SEQUENCES, STEPS, Histories

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.scan import watched_tree
from codelens.scan.watched_tree import Events, FolderWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes")


class Watched(Histories):
    """The same histories, asked of a server."""

    def __init__(self) -> None:
        super().__init__()
        self.engine.close()
        self.engine = Engine(Settings(home=self.scratch / "home"), keep_going=True)


class Unreliable:
    """Falsifies the events."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.before: set[bytes] = set()
        self.readings = 0

    def spoiled(self, events: Events) -> Events:
        self.readings += 1
        before, self.before = self.before, events.paths
        if self.fault == "dropped":
            return events._replace(paths=set())
        if self.fault == "late":
            return events._replace(paths=before)
        return events._replace(paths=events.paths | before)


@pytest.mark.parametrize("fault", ["none", "dropped", "late", "doubled"])
def test_a_watched_view_equals_one_built_from_nothing(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches: list[FolderWatch] = []
    unreliable = Unreliable(fault)
    real_read, begun = FolderWatch.read, FolderWatch.__init__

    def noted(self: FolderWatch, root: bytes) -> None:
        begun(self, root)
        watches.append(self)
        if fault != "none":
            self.read = MethodType(lambda self: unreliable.spoiled(real_read(self)), self)  # type: ignore[method-assign]

    monkeypatch.setattr(watched_tree, "WORTH_WATCHING", 0)
    monkeypatch.setattr(FolderWatch, "__init__", noted)
    # With complete events nothing else is checked; with faults, everything at each question.
    monkeypatch.setattr(watched_tree, "SWEEP_EVERY_S", 1e9 if fault == "none" else 0.0)
    run_machine(Watched, max(SEQUENCES // 10, 2), STEPS)
    assert watches
    assert fault == "none" or unreliable.readings > STEPS
