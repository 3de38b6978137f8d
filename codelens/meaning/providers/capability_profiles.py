"""How many results a search by vectors alone gives, and whether results are reranked unasked."""

from __future__ import annotations

from typing import NamedTuple


class CapabilityProfile(NamedTuple):
    """Limits of a kind of provider."""

    name: str
    default_limit: int
    """Results where nobody says how many."""
    largest_limit: int
    """More are never given."""
    reranks: bool
    """Whether a search is reranked where nobody says so, and the provider has a reranker."""


LOCAL_SLOW = CapabilityProfile("local slow", 10, 15, reranks=False)
CLOUD_FAST = CapabilityProfile("cloud fast", 50, 50, reranks=True)
CLOUD_STANDARD = CapabilityProfile("cloud standard", 25, 30, reranks=True)
