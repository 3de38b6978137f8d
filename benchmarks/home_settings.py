"""Settings of a measured engine: a separate home, and the switches of the environment."""

from __future__ import annotations

import os
from pathlib import Path

from codelens.config import Settings


def home_settings(home: Path) -> Settings:
    """Default settings for `home`; `CODELENS_MEANING=off` ranks without meaning."""
    return Settings(home=home, meaning=os.environ.get("CODELENS_MEANING") != "off")
