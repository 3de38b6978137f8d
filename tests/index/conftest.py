"""An engine with a separate home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codelens.config import Settings
from codelens.engine.engine import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as made:
        yield made
