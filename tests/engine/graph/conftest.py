"""Graph commands run on the shop, as they are typed."""

from __future__ import annotations

from shop_fixtures import committed, repo, run

__all__ = ["committed", "repo", "run"]
