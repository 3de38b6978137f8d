"""The index for a ranking test: an empty one, or one with the files of its module."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranking_index import Store

from codelens.store.views.snapshot import Snapshot


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "index.db")


@pytest.fixture(scope="module")
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Store, Snapshot]:
    """A view of the module's `FILES`, for tests that only read it."""
    made = Store(tmp_path_factory.mktemp("asked") / "index.db")
    return made, made.view(request.module.FILES)
