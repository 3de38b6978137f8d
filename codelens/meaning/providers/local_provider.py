"""Embedding models on this machine: a folder, or a model in Hugging Face's cache.

A model is in ONNX form (`codelens.meaning.onnx_model`). It may have the files of
sentence-transformers: `1_Pooling/config.json` says how the vectors of tokens become one, and
`config_sentence_transformers.json` what comes before a question or a text (`prompts`), and
`sentence_bert_config.json` how many tokens of a text the model reads (`max_seq_length`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from codelens.errors import SettingError
from codelens.meaning.onnx_model import (
    FOLDER_NEEDED,
    MODELS,
    MOST_TOKENS,
    TOKENIZER,
    ModelUse,
    onnx_model,
)
from codelens.meaning.providers.embedding_client import (
    Connection,
    Embedded,
    Kind,
    ProviderFailed,
    library,
    numbers,
)

EXTRA = "local"
_USE = ModelUse("model", EXTRA, f"enable it with {FOLDER_NEEDED}")
_MARKS = 2
"""Tokens that a tokenizer adds to a text; a shorter length would leave nothing of it."""
_AT_ONCE = 8
"""Texts that run together, sorted by length, since each is padded to the longest."""
_POOLING = "1_Pooling/config.json"
_WAY = "pooling_mode_"
_POOLINGS = {
    "cls": "cls", "cls_token": "cls", "mean": "mean", "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",
}  # fmt: skip
"""What is done for each way to make one vector; the last differs from the mean in length only."""
_PROMPTS = "config_sentence_transformers.json"
_LENGTH = "sentence_bert_config.json"
_FILES = (*MODELS, "*.onnx_data", "onnx/model.onnx_data", TOKENIZER, _POOLING, _PROMPTS, _LENGTH)
"""What is downloaded of a model; its other forms (PyTorch, quantized, ...) are not."""


class Download(NamedTuple):
    """What the download of a model fetches."""

    server: str
    folder: str
    files: tuple[str, ...]
    size_bytes: int


def files_to_download(model: str) -> Download:
    """The files of a model on Hugging Face, by its name (`OWNER/NAME`); asks its server.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        SettingError: it is no model in ONNX form.
        ProviderFailed: the server does not answer, or does not have the model.
    """
    hub = library(EXTRA, "huggingface_hub")
    try:
        info = hub.HfApi().model_info(model, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        names = tuple(hub.utils.filter_repo_objects(sizes, allow_patterns=list(_FILES)))
    except Exception as error:
        raise _failed(hub, model, error) from error
    if not any(name in MODELS for name in names) or TOKENIZER not in names:
        raise SettingError(
            f"{model[:100]!r} has no {MODELS[1]} and {TOKENIZER}: choose a model in ONNX form"
        )
    size = sum(sizes[name] for name in names)
    return Download(hub.constants.ENDPOINT, str(hub.constants.HF_HUB_CACHE), names, size)


def download(model: str) -> Path:
    """Fetch a model into Hugging Face's cache; continue an interrupted download.

    Raises:
        ProviderFailed: the server does not answer, or the disk is full.
    """
    hub = library(EXTRA, "huggingface_hub")
    try:
        return Path(hub.snapshot_download(model, allow_patterns=list(_FILES)))
    except Exception as error:
        raise _failed(hub, model, error) from error


def _failed(hub: Any, model: str, error: Exception) -> ProviderFailed:  # noqa: ANN401 (untyped)
    return ProviderFailed(model, hub.constants.ENDPOINT, f"{type(error).__name__}: {error}")


class LocalClient:
    """Embeddings by a model on this machine; nothing leaves it."""

    def __init__(self, connection: Connection) -> None:
        self._model = onnx_model(_model_folder(connection), _USE)
        self._model.read_at_most(_most_tokens(self._model.folder))
        self._pooling = _pooling(self._model.folder)
        self._prompts = _prompts(self._model.folder)

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """See `EmbeddingClient`."""
        prompt = self._prompts.get(kind, "")
        rows: list[Any] = [self._model.encode(prompt + text) for text in texts]
        order = sorted(range(len(rows)), key=lambda at: (len(rows[at].ids), at))
        vectors: dict[int, list[float]] = {}
        for first in range(0, len(order), _AT_ONCE):
            batch = order[first : first + _AT_ONCE]
            vectors.update(zip(batch, self._vectors([rows[at] for at in batch]), strict=True))
        tokens = sum(sum(row.attention_mask) for row in rows)
        return Embedded([vectors[at] for at in range(len(texts))], tokens)

    def _vectors(self, rows: Sequence[Any]) -> list[list[float]]:
        output = self._model.run(rows)
        if output.ndim == 2:
            return numbers(output)
        if output.ndim != 3 or output.shape[0] != len(rows):
            why = f"for {len(rows)} texts it returned numbers of the shape {output.shape}"
            raise _USE.unusable(self._model.place, why)
        if self._pooling == "cls":
            return numbers(output[:, 0])
        mask = library(EXTRA, "numpy").array([row.attention_mask for row in rows], "float32")
        return numbers((output * mask[:, :, None]).sum(1) / mask.sum(1)[:, None])

    def close(self) -> None:
        """See `EmbeddingClient`; the model stays loaded for the next question."""


def _model_folder(connection: Connection) -> str:
    """The folder of a model: the named one, or where `download` put it."""
    model = connection.model
    if os.path.isabs(os.path.expanduser(model)):
        return model
    hub = library(EXTRA, "huggingface_hub")
    try:
        file = hub.try_to_load_from_cache(model, TOKENIZER)
    except ValueError as error:
        raise SettingError(
            f"{model[:100]!r} is neither an absolute path nor a model's name (OWNER/NAME)"
        ) from error
    if not isinstance(file, str):
        raise SettingError(
            f"the model {model[:100]!r} is not on this machine",
            typed=f"`codelens meaning download --model {model[:100]}` fetches it",
            called="a person fetches it with `codelens meaning download`",
        )
    return str(Path(file).parent)


def _pooling(folder: Path) -> str:
    """`cls` or `mean`: how the vectors of tokens become one.

    Raises:
        ModelUnusable: the model was trained with another way, so that its vectors would be wrong.
    """
    settings = _json(folder / _POOLING)
    ways = {
        key.removeprefix(_WAY)
        for key, value in settings.items()
        if key.startswith(_WAY) and value is True
    }
    if "pooling_mode" in settings:
        ways.add(str(settings["pooling_mode"]))
    known = {_POOLINGS.get(way, "") for way in ways} or {"mean"}
    if len(known) > 1 or "" in known:
        why = f"its pooling is {' and '.join(sorted(ways))}, not cls or mean"
        raise _USE.unusable(str(folder), why)
    return known.pop()


def _most_tokens(folder: Path) -> int:
    """The tokens of a text that the model was made to read, `MOST_TOKENS` at most."""
    most = _json(folder / _LENGTH).get("max_seq_length")
    return min(most, MOST_TOKENS) if isinstance(most, int) and most > _MARKS else MOST_TOKENS


def _prompts(folder: Path) -> Mapping[str, str]:
    prompts = _json(folder / _PROMPTS).get("prompts")
    if not isinstance(prompts, dict):
        return {}
    return {str(kind): str(text) for kind, text in cast("dict[object, object]", prompts).items()}


def _json(file: Path) -> Mapping[str, object]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _USE.unusable(str(file), str(error)) from error
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
