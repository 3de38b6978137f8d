"""The tour of docs/tutorial.md: each command runs and prints what the page promises."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = "".join(BLOCKS).splitlines()
FOR_PEOPLE = {"codelens ui --open", "codelens install"}
"""Need a browser or agents; tested in `tests/ui` and `tests/hosts`."""
TOURED = (
    "codelens/*.py", "codelens/memory/*.py", "codelens/render/*.py",
    "tests/faults/test_contexts.py", "tests/faults/test_contexts_beside.py",
)  # fmt: skip
"""A part of this repository, to avoid indexing all of it."""
PROMISED = {
    'codelens search "local day of a time" --limit 3': "codelens/wording.py#day_of\t",
    "codelens expand codelens/wording.py#day_of": "def day_of(time_s: int | None) -> str:",
    "codelens related day_of": "called by (6)",
    "codelens impact --diff": "direct (6; 6 no longer fit)",
    "codelens conflicts": "certain: both changed the same lines of day_of",
    "codelens -C ../codelens-side expand codelens/wording.py#day_of": "time_s: float | None",
    "codelens diff HEAD": "codelens/wording.py#day_of",
    "codelens expand side:codelens/wording.py#day_of": "def day_of(time_s: int | None) -> str:",
    "codelens history codelens/wording.py#day_of": "added",
    "codelens load day-format": "Answers print days, never times",
}


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """A repository to run the tour in."""
    folder = tmp_path / "codelens"
    for wanted in TOURED:
        for file in ROOT.glob(wanted):
            place = folder / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    repo = GitRepo.init(folder)
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "The tour's repository")
    yield folder


@pytest.mark.skipif(not shutil.which("perl"), reason="the tour edits with perl")
def test_every_command_of_the_tour_matches_the_page(clone: Path, tmp_path: Path) -> None:
    env = os.environ | {"CODELENS_HOME": str(tmp_path / "home")}
    printed: dict[str, str] = {}
    for command in filter(None, COMMANDS):
        if command in FOR_PEOPLE:
            continue
        words = shlex.split(command)
        if words[0] == "codelens":
            words = [sys.executable, "-P", "-m", *words]
        done = subprocess.run(words, cwd=clone, env=env, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        printed[command] = done.stdout
    assert set(PROMISED) <= set(printed)
    for command, promise in PROMISED.items():
        assert promise in printed[command], (command, printed[command])
    # Restored: nothing of the tour is left.
    status = subprocess.run(
        ["git", "status", "--porcelain", "--branch"], cwd=clone, capture_output=True, text=True
    )
    assert status.stdout == "## main\n"
    assert not (tmp_path / "codelens-side").exists()
