"""Reranking, which scores a text together with the question: the interface and a local model."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from codelens.cancellation import check_cancelled
from codelens.meaning.providers.embedding_client import ProviderError, library, quoted


class Relevance(NamedTuple):
    """A reranker's answer."""

    scores: Mapping[int, float]
    """How well each text answers the question, by its position among the texts sent."""
    tokens: int
    """As the provider counts them; 0 if it does not say."""

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


# A reranker on this machine: a cross-encoder in ONNX form, run by `onnxruntime` and `tokenizers`.
#
# Such a model reads a question and a text together, and returns a number for how well the text
# answers it. It is read from a folder as on Hugging Face: `tokenizer.json`, and `model.onnx` or
# `onnx/model.onnx`. Nothing is downloaded and nothing is sent.

EXTRA = "cross-encoder"
"""The extra that installs both libraries."""
MOST_SECONDS = 30.0
"""Time limit, since somebody waits: 30 texts of 512 tokens take a small model 7 s of CPU."""
_MOST_TOKENS = 512
"""For a question and a text together: models of this kind are trained with this limit."""
_AT_ONCE = 4
"""Pairs in a batch; the time limit is checked between batches."""
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Input of a model -> the tokenizer's name for it."""
_MODELS, _TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
_PADDING = ("[PAD]", "<pad>")
_NUMBERS = "tensor(float)"
"""The type of output that a model must have."""


class CrossEncoderUnusable(ProviderError):
    """The cross-encoder in the settings cannot rerank."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"the cross-encoder {place} cannot be used: {why}; set `cross_encoder` to a folder "
            f"with {_TOKENIZER} and {_MODELS[0]}, or take it out of the settings"
        )


class CrossEncoder(NamedTuple):
    """A loaded model."""

    place: str
    """Its path in the settings."""
    session: Any
    tokenizer: Any

    def relevance(
        self, question: str, texts: Sequence[str], seconds: float = MOST_SECONDS
    ) -> Relevance:
        """Score how well texts answer a question, by the model's raw numbers.

        Raises:
            CrossEncoderUnusable: it returns something else, or is too slow.
            CallCancelled: nobody waits for the answer any more.
        """
        deadline = time.monotonic() + seconds
        # One at a time: `encode_batch` starts threads, and warns in a process that forks later.
        encoded: list[Any] = [self.tokenizer.encode(question, text) for text in texts]
        tokens = sum(len(row.ids) for row in encoded)
        # Sorted by length, since each text is padded to the longest of its batch.
        order = sorted(range(len(texts)), key=lambda at: (len(encoded[at].ids), at))
        scores: dict[int, float] = {}
        for first in range(0, len(order), _AT_ONCE):
            check_cancelled()
            if time.monotonic() > deadline:
                why = f"it scored {len(scores)} of {len(texts)} texts in {seconds:g} s"
                raise CrossEncoderUnusable(self.place, why)
            batch = order[first : first + _AT_ONCE]
            scores.update(zip(batch, self._scores([encoded[at] for at in batch]), strict=True))
        relevance = Relevance(scores, tokens)
        if fault := relevance.fault(len(texts)):
            raise CrossEncoderUnusable(self.place, fault)
        return relevance

    def _scores(self, rows: Sequence[Any]) -> list[float]:
        width = max(len(row.ids) for row in rows)
        number, token = _padding(self.tokenizer)
        for row in rows:
            row.pad(width, pad_id=number, pad_token=token)
        array = library(EXTRA, "numpy").array
        inputs = {
            name: array([getattr(row, _INPUTS[name]) for row in rows], "int64")
            for name in _inputs(self.session)
        }
        try:
            numbers = self.session.run(None, inputs)[0]
        except Exception as error:
            why = f"{type(error).__name__}: {quoted(str(error))}"
            raise CrossEncoderUnusable(self.place, why) from error
        if numbers.size != len(rows):
            why = f"for {len(rows)} texts it returned numbers of the shape {numbers.shape}"
            raise CrossEncoderUnusable(self.place, why)
        return [float(number) for number in numbers.flat]


def cross_encoder(place: str) -> CrossEncoder:
    """Load the model at a place in the settings, once per process.

    Args:
        place: a folder, or a model file; its tokenizer is in the same folder, or one up.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        CrossEncoderUnusable: there is no model, or it is not a cross-encoder.
    """
    model, tokenizer = _files(place)
    stamps = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in (model, tokenizer))
    return _loaded(place, model, tokenizer, stamps)


def _files(place: str) -> tuple[Path, Path]:
    path = Path(place).expanduser()
    if not path.is_absolute():
        raise CrossEncoderUnusable(place, "its path must be absolute")
    models = [path] if path.is_file() else [path / name for name in _MODELS]
    model = next((file for file in models if file.is_file()), None)
    if model is None:
        why = "there is no such folder" if not path.exists() else f"it has no {_MODELS[0]}"
        raise CrossEncoderUnusable(place, why)
    tokenizer_files = (model.parent / _TOKENIZER, model.parent.parent / _TOKENIZER)
    tokenizer = next((file for file in tokenizer_files if file.is_file()), None)
    if tokenizer is None:
        raise CrossEncoderUnusable(place, f"it has no {_TOKENIZER}")
    return model, tokenizer


@lru_cache(maxsize=1)
def _loaded(place: str, model: Path, tokenizer: Path, _stamps: object) -> CrossEncoder:
    runtime, tokens = library(EXTRA, "onnxruntime"), library(EXTRA, "tokenizers")
    try:
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # Errors are raised anyway.
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        words = tokens.Tokenizer.from_file(str(tokenizer))
    except Exception as error:
        why = f"{type(error).__name__}: {quoted(str(error))}"
        raise CrossEncoderUnusable(place, why) from error
    if strange := [name for name in _inputs(session) if name not in _INPUTS]:
        raise CrossEncoderUnusable(place, f"it needs unknown inputs: {', '.join(strange)}")
    if session.get_outputs()[0].type != _NUMBERS:
        raise CrossEncoderUnusable(place, f"its output is {session.get_outputs()[0].type}")
    words.no_padding()
    words.enable_truncation(_MOST_TOKENS, strategy="longest_first")
    return CrossEncoder(place, session, words)


def _inputs(session: Any) -> list[str]:  # noqa: ANN401 (the library is untyped)
    return [tensor.name for tensor in session.get_inputs()]


def _padding(tokenizer: Any) -> tuple[int, str]:  # noqa: ANN401 (the library is untyped)
    for token in _PADDING:
        number = tokenizer.token_to_id(token)
        if number is not None:
            return number, token
    return 0, _PADDING[0]
