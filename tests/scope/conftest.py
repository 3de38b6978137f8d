"""The initial repository of most membership tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A repository without a commit or a file."""
    return GitRepo.init(tmp_path / "repo")
