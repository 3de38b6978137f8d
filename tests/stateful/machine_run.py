"""Runs a state machine as a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness_sizes import ANY_HEALTH
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


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
