"""Settings of a measured engine: a home of its own, and what the environment switches off."""

from __future__ import annotations

import os
from pathlib import Path

from codelens.config import Settings


def home_settings(home: Path) -> Settings:
    """`CODELENS_MEANING=off` ranks without meaning; all else is the default."""
    return Settings(home=home, meaning=os.environ.get("CODELENS_MEANING") != "off")
