"""How many results a search by vectors alone gives, by what the provider is good for."""

from __future__ import annotations

from typing import NamedTuple


class CapabilityProfile(NamedTuple):
    """Limits of a kind of provider."""

    name: str
    default_limit: int
    """Results where nobody says how many."""
    largest_limit: int
    """More are never given."""


LOCAL_SLOW = CapabilityProfile("local slow", 10, 15)
CLOUD_FAST = CapabilityProfile("cloud fast", 50, 50)
CLOUD_STANDARD = CapabilityProfile("cloud standard", 25, 30)
