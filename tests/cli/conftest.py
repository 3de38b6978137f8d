"""The command line on the shop; tests of other files override `committed`."""

from __future__ import annotations

from shop_fixtures import committed, repo, run

__all__ = ["committed", "repo", "run"]
