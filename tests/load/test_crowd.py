"""Eight processes edit, switch and ask in four worktrees: no lock error, no wrong answer.

CODELENS_LOAD_SECONDS sets the duration (default 8, the full run is 600). CODELENS_LOAD_REPOSITORY
sets the repository; without it one is generated.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo
from harness_sizes import size_of
from load.crowd import WORDS, crowd

SECONDS = size_of("CODELENS_LOAD_SECONDS")
NAMED = os.environ.get("CODELENS_LOAD_REPOSITORY")


def made_repository(root: Path) -> Path:
    """Four commits of a small project that contains the searched words."""
    repo = GitRepo.init(root)
    for number in range(4):
        files = {
            f"src/{word}{part}.py": f"class {word.title()}{part}:\n"
            + "".join(
                f"    def {WORDS[(part + n) % len(WORDS)]}_{n}(self, value):\n"
                f"        return value + {n + number}\n\n"
                for n in range(8)
            )
            for word in WORDS
            for part in range(6)
        }
        repo.commit(f"c{number}", files)
    return root


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="counts processes in /proc")
def test_a_crowd_is_answered_rightly_without_errors_growth_or_leftovers(tmp_path: Path) -> None:
    source = Path(NAMED) if NAMED else made_repository(tmp_path / "source")
    report = crowd(source, tmp_path / "crowd", SECONDS)
    print(dict(report.counts))
    assert not report.faults, report.faults[:5]
    assert report.counts["compared"] > 0
    assert report.counts["CommandLine fresh"] > 0
