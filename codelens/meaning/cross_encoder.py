"""Reranking, which scores a text together with the question: its interface and a local model."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from codelens.cancellation import check_cancelled
from codelens.meaning.onnx_model import (
    FOLDER_NEEDED,
    ModelUnusable,
    ModelUse,
    OnnxModel,
    onnx_model,
)


class Relevance(NamedTuple):
    """A reranker's answer."""

    scores: Mapping[int, float]
    """How well each text answers the question, by its position among the texts sent."""
    tokens: int
    """The number of tokens that the provider reports; 0 if it reports none."""

    def fault(self, count: int) -> str:
        """Why these are not valid scores of `count` texts; empty if they are."""
        if set(self.scores) != set(range(count)):
            return f"scores of {len(self.scores)} texts for {count}"
        if not all(map(math.isfinite, self.scores.values())):
            return "a score is NaN or infinite"
        return ""


class RerankingClient(Protocol):
    """A provider's official client."""

    def request(self, question: str, texts: Sequence[str]) -> Relevance:
        """Send one request, once.

        Raises:
            ProviderError: with the reason, if known.
        """
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


# A reranker on this machine: a cross-encoder (`codelens.meaning.onnx_model`).
#
# Such a model reads a question and a text together, and returns a number for how well the text
# answers it.

MOST_SECONDS = 30.0
"""Time limit, since somebody waits: 30 texts of 512 tokens take a small model 7 s of CPU."""
_AT_ONCE = 4
"""Pairs in a batch; the time limit is checked between batches."""
_USE = ModelUse(
    "cross-encoder",
    "cross-encoder",
    f"set `cross_encoder` to {FOLDER_NEEDED}, or remove it from the settings",
)


class CrossEncoder(NamedTuple):
    """A loaded cross-encoder."""

    model: OnnxModel

    def relevance(
        self, question: str, texts: Sequence[str], seconds: float = MOST_SECONDS
    ) -> Relevance:
        """Score how well texts answer a question, by the model's raw numbers.

        Raises:
            ModelUnusable: it returns something else, or is too slow.
            CallCancelled: nobody waits for the answer any more.
        """
        deadline = time.monotonic() + seconds
        encoded: list[Any] = [self.model.encode(question, text) for text in texts]
        tokens = sum(len(row.ids) for row in encoded)
        # Sorted by length, since each text is padded to the longest of its batch.
        order = sorted(range(len(texts)), key=lambda at: (len(encoded[at].ids), at))
        scores: dict[int, float] = {}
        for first in range(0, len(order), _AT_ONCE):
            check_cancelled()
            if time.monotonic() > deadline:
                raise self._unusable(
                    f"it scored {len(scores)} of {len(texts)} texts in {seconds:g} s"
                )
            batch = order[first : first + _AT_ONCE]
            scores.update(zip(batch, self._scores([encoded[at] for at in batch]), strict=True))
        relevance = Relevance(scores, tokens)
        if fault := relevance.fault(len(texts)):
            raise self._unusable(fault)
        return relevance

    def _scores(self, rows: Sequence[Any]) -> list[float]:
        numbers = self.model.run(rows)
        if numbers.size != len(rows):
            raise self._unusable(
                f"for {len(rows)} texts it returned numbers of the shape {numbers.shape}"
            )
        return [float(number) for number in numbers.flat]

    def _unusable(self, why: str) -> ModelUnusable:
        return _USE.unusable(self.model.place, why)


def cross_encoder(place: str) -> CrossEncoder:
    """Load the model at a place in the settings, once per process.

    Args:
        place: a folder, or a model file; its tokenizer is in the same folder, or one up.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ModelUnusable: there is no model, or it is not a cross-encoder.
    """
    return CrossEncoder(onnx_model(place, _USE))
