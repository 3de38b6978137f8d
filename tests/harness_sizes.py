"""Sizes of the long harnesses: a share by default and in CI, all with CODELENS_TESTS=full.

Random harnesses draw other cases in each run, so that shares add up over many runs. A share of a
fixed list (`..._SHARE`, pairs) is the same in each run: it guards against changes of this code, and
only the full run looks for new cases.

The environment variable with its name sets a single size.
"""

from __future__ import annotations

import os
from typing import NamedTuple, cast

from hypothesis import HealthCheck

FULL = os.environ.get("CODELENS_TESTS") == "full"

# The metaclass of HealthCheck hides its type; iterating leaves deprecated members out.
ANY_HEALTH = cast("list[HealthCheck]", list(HealthCheck))
"""For `suppress_health_check`: examples may be slow and large."""


class Size(NamedTuple):
    """The default and the full size of a harness."""

    share: int
    full: int


SIZES = {
    "CODELENS_ORACLE_SEQUENCES": Size(16, 2_000),  # histories of edits and branch switches
    "CODELENS_ORACLE_STEPS": Size(14, 14),  # steps of one history
    "CODELENS_BRANCH_ORACLE_SEQUENCES": Size(8, 300),  # the same, for questions about branches
    "CODELENS_BRANCH_ORACLE_STEPS": Size(12, 14),  # steps of one history
    "CODELENS_SHARED_ORACLE_SEQUENCES": Size(6, 300),  # histories of worktrees that share files
    "CODELENS_SHARED_ORACLE_STEPS": Size(12, 14),  # steps of one history
    "CODELENS_PRECISE_HISTORIES": Size(8, 40),  # histories with facts of a compiler in play
    "CODELENS_PRUNE_HISTORIES": Size(25, 400),  # histories of views that come and go
    "CODELENS_FAULT_ROUNDS": Size(0, 300),  # of each kind of fault; 0: each test's own small number
    "CODELENS_FUZZ_INPUTS": Size(3_000, 100_000),  # queries, handles and MCP arguments
    "CODELENS_FUZZ_TINY_FILES": Size(3_000, 200_000),  # in one repository
    "CODELENS_HOSTILE_CASES": Size(5_000, 200_000),  # damaged texts, over all languages
    "CODELENS_GROWTH_SHARE": Size(150, 1),  # tries one of this many patterns in each language
    "CODELENS_HOSTILE_SHARE": Size(20, 1),  # extracts one of this many built texts
    "CODELENS_CAPSULE_TASKS": Size(40, 10_000),  # tasks explored, each within a drawn budget
    "CODELENS_SENT_SESSIONS": Size(40, 3_000),  # sessions that must not hide unsent text
    "CODELENS_MANGLED_VIEWS": Size(4, 400),  # views of damaged sources, in each language
    "CODELENS_CORPUS_TEXT_BYTES": Size(40_000, 1_000_000),  # of each text in one repository
    "CODELENS_ROUGH_PAIRS": Size(1, 1_000),  # of a small file and its replacement
    "CODELENS_LOAD_SECONDS": Size(8, 600),  # of the crowd
    "CODELENS_ZEROS_MB": Size(800, 3_000),  # of a commit that git stores compactly
    "CODELENS_HTTP_FLOOD": Size(2_100, 100_000),  # requests of every kind over HTTP
    "CODELENS_HTTP_CROWD_SECONDS": Size(8, 300),  # twenty clients of one server over HTTP
    "CODELENS_TEST_SCALE": Size(1, 10),  # multiplies the examples of generated trees
}


def size_of(name: str) -> int:
    """The size to run with: the environment's, or else the share or the full one."""
    said = os.environ.get(name)
    if said:
        return int(said)
    size = SIZES[name]
    return size.full if FULL else size.share
