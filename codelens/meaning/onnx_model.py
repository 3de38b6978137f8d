"""A model on this machine in ONNX form, run by `onnxruntime` and `tokenizers`.

The cross-encoder and the provider `local` load their models here. A model is a folder with the
layout of Hugging Face: `tokenizer.json`, and `model.onnx` or `onnx/model.onnx`. Nothing is
downloaded and nothing is sent.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from codelens.meaning.providers.embedding_client import ProviderError, library, quoted

MOST_TOKENS = 512
"""Maximum tokens of a text, or of a question and a text together; models of this kind are trained
with it."""
MODELS, TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
FOLDER_NEEDED = f"a folder with {TOKENIZER} and {MODELS[0]}"
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Input of a model -> the tokenizer's name for it."""
_PADDING = ("[PAD]", "<pad>")
_NUMBERS = "tensor(float)"
"""The type of output that a model must have."""
_THREADS = 2


class _Runs:
    """The runs of models in this process, so that it does not end during one.

    A question with a time limit, or an interrupted sync, leaves a run in its thread behind. If the
    process ends then, Python stops the thread within onnxruntime, which aborts the process.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way: set[Any] = set()
        self._ended = False

    @contextmanager
    def under_way(self, options: Any) -> Generator[None]:  # noqa: ANN401 (the library is untyped)
        """Take part with a run that has these `RunOptions`.

        Once `end` was called, its thread waits forever, before or after: a run that was stopped is
        no failure of the model.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._ended)
            self._under_way.add(options)
        try:
            yield
        finally:
            with self._changed:
                self._under_way.discard(options)
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._ended)

    def end(self) -> None:
        """Stop all runs, and wait for them."""
        with self._changed:
            self._ended = True
            for options in self._under_way:
                options.terminate = True
            self._changed.wait_for(lambda: not self._under_way)


_RUNS = _Runs()
atexit.register(_RUNS.end)


class ModelUnusable(ProviderError):
    """A model cannot be loaded, or does not return what it should."""


class ModelUse(NamedTuple):
    """What a model is loaded for."""

    title: str
    """What messages call it."""
    extra: str
    """The extra that installs the libraries."""
    remedy: str
    """What to do if a model cannot be used."""

    def unusable(self, place: str, why: str) -> ModelUnusable:
        """The error for a model that cannot be used, and why."""
        return ModelUnusable(f"the {self.title} {place} cannot be used: {why}; {self.remedy}")


class OnnxModel(NamedTuple):
    """A loaded model."""

    place: str
    """Its path, as the user wrote it."""
    folder: Path
    """The folder of its tokenizer."""
    use: ModelUse
    session: Any
    tokenizer: Any

    def encode(self, *texts: str) -> Any:  # noqa: ANN401 (the library is untyped)
        """The tokens of a text, or of a question and a text."""
        # One at a time: `encode_batch` starts threads, and warns in a process that forks later.
        return self.tokenizer.encode(*texts)

    def read_at_most(self, tokens: int) -> None:
        """Cut texts after this many tokens."""
        self.tokenizer.enable_truncation(tokens, strategy="longest_first")

    def run(self, rows: Sequence[Any]) -> Any:  # noqa: ANN401 (numpy is imported late)
        """The first output for some encoded texts, padded to the longest of them.

        Raises:
            ModelUnusable: the model cannot run.
        """
        width = max(len(row.ids) for row in rows)
        number, token = _padding(self.tokenizer)
        for row in rows:
            row.pad(width, pad_id=number, pad_token=token)
        array = library(self.use.extra, "numpy").array
        inputs = {
            name: array([getattr(row, _INPUTS[name]) for row in rows], "int64")
            for name in _inputs(self.session)
        }
        options = library(self.use.extra, "onnxruntime").RunOptions()
        try:
            with _RUNS.under_way(options):
                return self.session.run(None, inputs, options)[0]
        except Exception as error:
            raise self.use.unusable(self.place, _reason(error)) from error


def onnx_model(place: str, use: ModelUse) -> OnnxModel:
    """Load a model, once per process.

    Args:
        place: a folder, or a model file; its tokenizer is in the same folder, or one up.
        use: what it is loaded for.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ModelUnusable: there is no model, or it has inputs or outputs of another kind.
    """
    model, tokenizer = _files(place, use)
    stamps = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in (model, tokenizer))
    return _loaded(place, model, tokenizer, use, stamps)


def _files(place: str, use: ModelUse) -> tuple[Path, Path]:
    path = Path(place).expanduser()
    if not path.is_absolute():
        raise use.unusable(place, "its path must be absolute")
    models = [path] if path.is_file() else [path / name for name in MODELS]
    model = next((file for file in models if file.is_file()), None)
    if model is None:
        why = "there is no such folder" if not path.exists() else f"it has no {MODELS[0]}"
        raise use.unusable(place, why)
    tokenizer_files = (model.parent / TOKENIZER, model.parent.parent / TOKENIZER)
    tokenizer = next((file for file in tokenizer_files if file.is_file()), None)
    if tokenizer is None:
        raise use.unusable(place, f"it has no {TOKENIZER}")
    return model, tokenizer


@lru_cache(maxsize=2)
def _loaded(place: str, model: Path, tokenizer: Path, use: ModelUse, _stamps: object) -> OnnxModel:
    runtime, tokens = library(use.extra, "onnxruntime"), library(use.extra, "tokenizers")
    try:
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # Errors are raised anyway.
        options.intra_op_num_threads = _THREADS
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        words = tokens.Tokenizer.from_file(str(tokenizer))
    except Exception as error:
        raise use.unusable(place, _reason(error)) from error
    if strange := [name for name in _inputs(session) if name not in _INPUTS]:
        raise use.unusable(place, f"it needs unknown inputs: {', '.join(strange)}")
    if session.get_outputs()[0].type != _NUMBERS:
        raise use.unusable(place, f"its output is {session.get_outputs()[0].type}")
    words.no_padding()
    words.enable_truncation(MOST_TOKENS, strategy="longest_first")
    return OnnxModel(place, tokenizer.parent, use, session, words)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {quoted(str(error))}"


def _inputs(session: Any) -> list[str]:  # noqa: ANN401 (the library is untyped)
    return [tensor.name for tensor in session.get_inputs()]


def _padding(tokenizer: Any) -> tuple[int, str]:  # noqa: ANN401 (the library is untyped)
    for token in _PADDING:
        number = tokenizer.token_to_id(token)
        if number is not None:
            return number, token
    return 0, _PADDING[0]
