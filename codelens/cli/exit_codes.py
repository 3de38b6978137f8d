"""What each command's exit code says."""

from __future__ import annotations

DONE, NOTHING, FAILED, INTERRUPTED = 0, 1, 2, 130
"""Done or found; nothing found; error; interrupted."""
