"""Marks slow tests and tests that must not run in parallel, and blocks the network.

`pytest -m "not slow"` is the quick run. The tables below mark whole folders and modules as slow;
`@pytest.mark.slow` marks a single test.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_sizes import ANY_HEALTH
from hypothesis import settings
from socket_guard import CONNECTIONS, GuardedConnect

# Must come before any import of gRPC: its fork handlers kill some children that tests start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# Tests install codelens into fresh environments, where most of what pip compiles is never run.
os.environ.setdefault("PIP_NO_COMPILE", "1")

# As `codelens` itself sets it. By default the collector takes a quarter of the time in which pytest
# imports the tests.
gc.set_threshold(150_000, 20, 50)

# No generated test fails because the machine is busy.
settings.register_profile("any-clock", deadline=None, suppress_health_check=ANY_HEALTH)
settings.load_profile("any-clock")

TESTS = Path(__file__).parent

SLOW = (
    "clients/", "e2e/", "editors/", "faults/", "fuzz/", "install/", "load/", "stateful/",
    "cli/test_install.py", "cli/test_last_resort.py", "cli/test_memory_commands.py",
    "cli/test_upkeep_commands.py", "corpus/test_repositories_of_the_corpus.py",
    "engine/test_while_another_writes.py", "engine/test_within.py",
    "extract/test_hostile.py", "extract/test_killers.py", "extract/test_structure.py",
    "focus/test_against_reference.py", "hosts/test_texts.py",
    "index/test_hard_cases.py", "scope/test_huge_files.py", "serve/test_abuse.py",
    "serve/test_first_turn.py", "serve/test_index_at_start.py", "serve/test_oversized_request.py",
    "serve/test_worktree.py", "test_wheel.py",
)  # fmt: skip
"""Slow folders and modules of `tests`."""

TOGETHER = {
    "clients": "clients", "load": "load", "test_error_messages.py": "trees",
    "test_language_homes.py": "trees", "test_layers.py": "trees", "test_tree_shape.py": "trees",
}  # fmt: skip
"""Folders and modules that share something on this machine, or syntax trees in a process: one
pytest-xdist worker runs them.
"""


@pytest.fixture(scope="session", autouse=True)
def no_other_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Blocks connections to other machines, in tests and in the Python processes they start."""
    begun = tmp_path_factory.mktemp("connections") / "begun"
    path = [str(TESTS / "guarded_children"), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, GuardedConnect(name), raising=False)
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        patch.setenv(CONNECTIONS, str(begun))
        yield
    assert not begun.exists(), f"processes of tests began connections:\n{begun.read_text()}"


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_reaches_children() -> Iterator[None]:
    """A shell starts background jobs with SIGINT ignored, and their children inherit that."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Adds the marks of the tables."""
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        if place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        group = TOGETHER.get(place.partition("/")[0])
        if group:
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_collection_finish() -> None:
    """Keeps the collector from the million objects that the imported tests are."""
    gc.freeze()
