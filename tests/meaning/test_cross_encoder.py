"""The local reranker: small models in the usual format, and files that are not models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from onnx_models import INPUTS, write_cross_encoder

from codelens.meaning.cross_encoder import cross_encoder
from codelens.meaning.onnx_model import ModelUnusable
from codelens.meaning.providers.embedding_client import ProviderNotInstalled

WEIGHTS = {"cancel": 1.0, "halt": 0.25}


def scores(folder: Path, question: str, *texts: str) -> list[float]:
    relevance = cross_encoder(str(folder)).relevance(question, texts)
    return [relevance.scores[at] for at in range(len(texts))]


def test_each_text_has_its_score_in_any_batch(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS)
    texts = [f"{'cancel ' * (at % 7)} {'else ' * (at % 5)} halt" for at in range(23)]
    assert scores(folder, "cancel a job", *texts) == [0.25 + at % 7 for at in range(23)]
    assert scores(folder, "cancel a job", texts[9]) == [2.25]


def test_a_long_text_is_read_from_its_beginning(tmp_path: Path) -> None:
    """The tokenizer's own limit of seven tokens is ignored; it would cut every text."""
    folder = write_cross_encoder(tmp_path, WEIGHTS)
    # 512 tokens: 2 for the question, 3 for the marks.
    assert scores(folder, "a question", "cancel " * 2000, "x " * 506 + "cancel cancel") == [507, 1]


def test_a_file_may_be_named_and_fewer_inputs_are_taken(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS, INPUTS[:2])
    model = folder / "onnx/model.onnx"
    model.rename(folder / "small.onnx")
    assert scores(folder / "small.onnx", "halt", "cancel", "nothing") == [1.25, 0.25]


def test_a_replaced_model_is_read_again(tmp_path: Path) -> None:
    assert scores(write_cross_encoder(tmp_path, WEIGHTS), "x", "cancel") == [1.0]
    more = {**WEIGHTS, "more": 1.0, "cancel": 3.0}
    assert scores(write_cross_encoder(tmp_path, more), "x", "cancel") == [3.0]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "onnx/model.onnx").unlink(), "it has no model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "it has no tokenizer.json"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "cannot be used: Exception"),
        (lambda folder: (folder / "onnx/model.onnx").write_bytes(b"\0" * 99), "InvalidProtobuf"),
        (lambda folder: _cut(folder / "onnx/model.onnx"), "InvalidProtobuf"),
        (lambda folder: write_cross_encoder(folder, WEIGHTS, outputs=2), r"of the shape \(1, 2\)"),
        (lambda folder: write_cross_encoder(folder, {"a": float("nan")}), "NaN or infinite"),
        (
            lambda folder: write_cross_encoder(folder, WEIGHTS, ("input_ids", "pixel_mask")),
            "it needs unknown inputs: pixel_mask",
        ),
    ],
)
def test_a_model_that_is_not_a_cross_encoder_is_refused_with_a_remedy(
    tmp_path: Path, spoil, why: str
) -> None:
    folder = write_cross_encoder(tmp_path / "model", WEIGHTS)
    spoil(folder)
    with pytest.raises(ModelUnusable, match=why) as raised:
        scores(folder, "a", "a")
    assert str(folder) in str(raised.value) and "set `cross_encoder` to" in str(raised.value)


def test_a_missing_or_relative_model_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="there is no such folder"):
        cross_encoder(str(tmp_path / "absent"))
    with pytest.raises(ModelUnusable, match="its path must be absolute"):
        cross_encoder("models/small")


def test_it_is_given_up_between_two_batches_when_it_is_too_slow(tmp_path: Path) -> None:
    model = cross_encoder(str(write_cross_encoder(tmp_path, WEIGHTS)))
    with pytest.raises(ModelUnusable, match="it scored 0 of 2 texts in 0 s"):
        model.relevance("a", ["b", "c"], seconds=0)


@pytest.mark.parametrize("absent", ["onnxruntime", "tokenizers"])
def test_without_the_libraries_the_extra_is_named(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS)
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(ProviderNotInstalled, match=r"pip install 'codelens\[cross-encoder\]'"):
        cross_encoder(str(folder))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])
