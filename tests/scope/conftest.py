"""The repository that most tests of membership begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Without a commit or a file."""
    return GitRepo.init(tmp_path / "repo")
