"""codelens: a git-native, branch-aware local index of code."""

from __future__ import annotations

__version__ = "0.1.0"
