"""What a reranker does: it reads a question beside each of some texts, and scores them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class Relevance(NamedTuple):
    """What a reranker made of texts."""

    scores: Mapping[int, float]
    """How well a text answers the question, by its place among those that were sent."""
    tokens: int
    """As the provider counts them; 0 where it does not say."""

    def fault(self, count: int) -> str:
        """Why these are not the scores of so many texts; empty if they are."""
        if set(self.scores) != set(range(count)):
            return f"scores of {len(self.scores)} texts for {count}"
        if not all(map(math.isfinite, self.scores.values())):
            return "a score is NaN or infinite"
        return ""


class RerankingClient(Protocol):
    """A provider's official client."""

    def request(self, question: str, texts: Sequence[str]) -> Relevance:
        """One request, sent once.

        Raises:
            ProviderError: as far as it is known why.
        """
        ...

    def close(self) -> None:
        """End its connections."""
        ...
