"""Runs the command line on the shop; other test files override `committed`."""

from __future__ import annotations

from shop_fixtures import committed, repo, run

__all__ = ["committed", "repo", "run"]
