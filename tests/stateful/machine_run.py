"""Runs a state machine as a test; the machine of an engine that lives through a history."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness_sizes import ANY_HEALTH
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from stateful.view_contents import git

from codelens.config import Settings
from codelens.engine.engine import Engine


class LivedHistory(RuleBasedStateMachine):
    """A repository with one worktree, and the engine that is asked throughout its history."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp(prefix="codelens-history-"))
        self.main = self.scratch / "repo"
        self.main.mkdir()
        git(self.main, "init", "-q", "-b", "main")
        self.trees = [self.main]
        self.here = self.main
        self.engine = Engine(Settings(home=self.scratch / "home"))

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    @contextmanager
    def fresh_engine(self) -> Iterator[Engine]:
        """An engine with an empty home."""
        home = Path(tempfile.mkdtemp(prefix="fresh-", dir=self.scratch))
        with Engine(Settings(home=home)) as fresh:
            yield fresh
        shutil.rmtree(home)


def run_machine(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> None:
    """Runs this many histories; a failing one is shrunk, and printed so that it can be repeated."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None,
            suppress_health_check=ANY_HEALTH, print_blob=True,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        ),
    )  # fmt: skip


def report(counts: Mapping[str, int], record_property: Callable[[str, object], None]) -> None:
    """Puts the counts of a run into the test's report and its output."""
    for name, count in counts.items():
        record_property(name, count)
    print(dict(counts))
