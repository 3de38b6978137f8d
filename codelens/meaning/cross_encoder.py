"""What a reranker does: it reads a question beside each of some texts, and scores them."""

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


# A reranker on this machine: a cross-encoder in ONNX form, by `onnxruntime` and `tokenizers`.
#
# Such a model reads a question and a text together, and gives one number for how well the text
# answers it. Folders as Hugging Face has them fit: `tokenizer.json`, and `model.onnx` or
# `onnx/model.onnx`. Nothing is fetched and nothing is sent.

EXTRA = "cross-encoder"
"""It installs both libraries."""
MOST_SECONDS = 30.0
"""Who asks for it waits: 30 texts of 512 tokens take a small model 7 s of CPU."""
_MOST_TOKENS = 512
"""Of a question and a text together: what models of this kind are trained with."""
_AT_ONCE = 4
"""Pairs that are read together; between such batches the time is looked at."""
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Input of a model -> what the tokenizer calls it."""
_MODELS, _TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
_PADDING = ("[PAD]", "<pad>")
_NUMBERS = "tensor(float)"
"""What a model must give."""


class CrossEncoderUnusable(ProviderError):
    """The cross-encoder of the settings cannot rerank."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"the cross-encoder {place} cannot be used: {why}; set `cross_encoder` to a folder "
            f"with {_TOKENIZER} and {_MODELS[0]}, or take it out of the settings"
        )


class CrossEncoder(NamedTuple):
    """A model that is loaded."""

    place: str
    """As the settings have it."""
    session: Any
    tokenizer: Any

    def relevance(
        self, question: str, texts: Sequence[str], seconds: float = MOST_SECONDS
    ) -> Relevance:
        """How well texts answer a question, by the model's own numbers.

        Raises:
            CrossEncoderUnusable: it gives something else, or is too slow.
            CallCancelled: nobody waits any more.
        """
        deadline = time.monotonic() + seconds
        # One by one: `encode_batch` starts threads, and complains in a process that forks later.
        encoded: list[Any] = [self.tokenizer.encode(question, text) for text in texts]
        tokens = sum(len(row.ids) for row in encoded)
        # Texts of a length beside each other: each is filled up to the longest of its batch.
        order = sorted(range(len(texts)), key=lambda at: (len(encoded[at].ids), at))
        scores: dict[int, float] = {}
        for first in range(0, len(order), _AT_ONCE):
            check_cancelled()
            if time.monotonic() > deadline:
                why = f"it read {len(scores)} of {len(texts)} texts in {seconds:g} s"
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
            why = f"for {len(rows)} texts it gives numbers of the form {numbers.shape}"
            raise CrossEncoderUnusable(self.place, why)
        return [float(number) for number in numbers.flat]


def cross_encoder(place: str) -> CrossEncoder:
    """The model at a place of the settings, loaded once a process.

    Args:
        place: a folder, or a file with a model; its tokenizer lies beside it, or one folder up.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        CrossEncoderUnusable: there is none, or it is no cross-encoder.
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
    beside = (model.parent / _TOKENIZER, model.parent.parent / _TOKENIZER)
    tokenizer = next((file for file in beside if file.is_file()), None)
    if tokenizer is None:
        raise CrossEncoderUnusable(place, f"it has no {_TOKENIZER}")
    return model, tokenizer


@lru_cache(maxsize=1)
def _loaded(place: str, model: Path, tokenizer: Path, _stamps: object) -> CrossEncoder:
    runtime, tokens = library(EXTRA, "onnxruntime"), library(EXTRA, "tokenizers")
    try:
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # What is wrong is raised, too.
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        words = tokens.Tokenizer.from_file(str(tokenizer))
    except Exception as error:
        why = f"{type(error).__name__}: {quoted(str(error))}"
        raise CrossEncoderUnusable(place, why) from error
    if strange := [name for name in _inputs(session) if name not in _INPUTS]:
        raise CrossEncoderUnusable(place, f"it takes {', '.join(strange)}, which no text has")
    if session.get_outputs()[0].type != _NUMBERS:
        raise CrossEncoderUnusable(place, f"it gives {session.get_outputs()[0].type}")
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
