"""Embedding models on this machine: small models in the usual format, and a download of one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from onnx_models import slow_down, write_embedding_model

from codelens.errors import CodelensError, SettingError
from codelens.meaning.onnx_model import ModelUnusable
from codelens.meaning.providers.embedder import FOR_A_QUESTION, connected, seconds_a_text
from codelens.meaning.providers.embedding_client import ProviderNotInstalled
from codelens.meaning.providers.provider_registry import PROVIDERS, checked_endpoint

LOCAL = PROVIDERS["local"]
WORDS = "cancel halt job"


def vectors(folder: Path, *texts: str, kind: str = "document") -> list[list[float]]:
    with connected(LOCAL, str(folder), "", patience=FOR_A_QUESTION) as embedder:
        return [list(vector) for vector in embedder.embed(texts, kind).vectors]  # type: ignore[arg-type]


def test_a_text_is_the_mean_of_its_tokens_in_any_batch(tmp_path: Path) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    texts = [f"{'cancel ' * (at % 7)}{'job ' * (at % 5)}" for at in range(40)]
    together = vectors(folder, *texts)
    # Two more tokens for the marks at both ends.
    for at, vector in enumerate(together):
        count = at % 7 + at % 5 + 2
        assert vector[4] == pytest.approx(at % 7 / count)
        assert vector[6] == pytest.approx(at % 5 / count)
        assert vector[0] == 0
    assert vectors(folder, texts[9]) == [together[9]]


def test_the_first_token_counts_alone_if_the_model_says_so(tmp_path: Path) -> None:
    (vector,) = vectors(write_embedding_model(tmp_path, WORDS, "cls"), "cancel a job")
    assert [at for at, number in enumerate(vector) if number] == [2]


def test_a_question_begins_with_the_prompt_of_the_model(tmp_path: Path) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    prompts = {"prompts": {"query": "halt ", "document": ""}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    question, text = (vectors(folder, "job", kind=kind)[0] for kind in ("query", "document"))
    assert (question[5] > 0, text[5] > 0) == (True, False)


@pytest.mark.parametrize(("length", "read"), [(6, 6), (9_999, 512), (0, 512), ("long", 512)])
def test_a_text_is_cut_where_the_model_was_made_to_end(tmp_path: Path, length, read) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    settings = {"max_seq_length": length}
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    (vector,) = vectors(folder, "cancel " * (read - 2) + "job")
    assert (vector[4], vector[6]) == (pytest.approx((read - 2) / read), 0)


def test_the_time_of_a_text_is_measured(tmp_path: Path) -> None:
    assert 0 < seconds_a_text(LOCAL, str(write_embedding_model(tmp_path, WORDS))) < 1


ENDED_DURING_A_RUN = """
import sys, threading, time
from codelens.meaning.providers.embedder import FOR_A_QUESTION, connected
from codelens.meaning.providers.provider_registry import PROVIDERS

started = threading.Event()

def send():
    with connected(PROVIDERS["local"], sys.argv[1], "", patience=FOR_A_QUESTION) as embedder:
        started.set()
        while True:
            embedder.embed(["cancel"], "document")

threading.Thread(target=send, daemon=True).start()
assert started.wait(60)
time.sleep(0.3)  # Now a model runs; if it does not yet, the test passes anyway.
"""


def test_a_process_may_end_while_a_model_runs(tmp_path: Path) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    slow_down(folder)
    words = [sys.executable, "-c", ENDED_DURING_A_RUN, str(folder)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    "pooling",
    [{"pooling_mode_max_tokens": True}, {"pooling_mode": "new"},
     {"pooling_mode_lasttoken": True, "cls": 1},
     {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
     {"pooling_mode": "lasttoken"}],
)  # fmt: skip
def test_a_model_with_another_pooling_is_refused(tmp_path: Path, pooling: dict) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    with pytest.raises(ModelUnusable, match=r"its pooling is .*, not cls or mean"):
        vectors(folder, "job")


@pytest.mark.parametrize(
    ("pooling", "dimensions"),
    [({"pooling_mode": "cls"}, [2]), ({"pooling_mode_mean_sqrt_len_tokens": True}, [2, 3, 4, 6]),
     ({}, [2, 3, 4, 6])],
)  # fmt: skip
def test_other_ways_to_state_the_pooling(tmp_path: Path, pooling: dict, dimensions) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    (vector,) = vectors(folder, "cancel job")
    assert [at for at, number in enumerate(vector) if number] == dimensions


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "onnx/model.onnx").unlink(), "it has no model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "it has no tokenizer.json"),
        (lambda folder: (folder / "onnx/model.onnx").write_bytes(b"\0" * 99), "InvalidProtobuf"),
        (
            lambda folder: (folder / "1_Pooling/config.json").write_text("{"),
            "config.json cannot be",
        ),
    ],
)
def test_a_folder_that_is_no_model_is_refused_with_the_reason(tmp_path: Path, spoil, why) -> None:
    folder = write_embedding_model(tmp_path, WORDS)
    spoil(folder)
    with pytest.raises(ModelUnusable, match=why) as raised:
        vectors(folder, "job")
    assert "enable it with a folder with tokenizer.json and model.onnx" in str(raised.value)


def test_a_model_that_is_not_here_says_how_to_fetch_it() -> None:
    with pytest.raises(SettingError, match="is not on this machine") as raised:
        vectors(Path("OWNER/NAME"), "job")
    assert "codelens meaning download --model OWNER/NAME" in str(raised.value)
    with pytest.raises(SettingError, match="neither an absolute path nor a model's name"):
        vectors(Path("a/b/c"), "job")


@pytest.mark.parametrize("absent", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(ProviderNotInstalled, match=r"pip install 'codelens\[local\]'"):
        vectors(write_embedding_model(tmp_path, WORDS), "job")


def test_an_endpoint_is_refused() -> None:
    assert checked_endpoint(LOCAL, "") == ""
    with pytest.raises(CodelensError, match="runs on this machine"):
        checked_endpoint(LOCAL, "http://127.0.0.1:1")
