"""Small models in the usual format, in folders with Hugging Face's layout.

A cross-encoder whose score of a text counts certain words in it, and an embedding model whose
vector of a token has a number for each word that it knows.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy
from onnx import TensorProto, helper, load_model, numpy_helper, save_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

_STEPS = 200
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_cross_encoder(
    folder: Path, weights: dict[str, float], inputs: tuple[str, ...] = INPUTS, outputs: int = 1
) -> Path:
    """Writes a folder with a model and its tokenizer, in Hugging Face's layout."""
    vocabulary = _write_tokenizer(folder, weights)
    numbers = [[weights.get(word, 0.0)] * outputs for word in vocabulary]
    save_model(_model(numpy.array(numbers, numpy.float32), inputs), folder / "onnx/model.onnx")
    return folder


def write_embedding_model(folder: Path, words: str, pooling: str = "mean") -> Path:
    """Writes a folder with a model that gives each token a vector, and its tokenizer.

    Args:
        folder: is created.
        words: those that the model knows; each has a dimension of its own, and all others one.
        pooling: how vectors of tokens become one: `mean` or `cls`.
    """
    vocabulary = _write_tokenizer(folder, dict.fromkeys(words.split(), 1.0))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    fields = {
        f"pooling_mode_{name}": name.startswith(pooling) for name in ("cls_token", "mean_tokens")
    }
    (folder / "1_Pooling/config.json").write_text(json.dumps(fields))
    # Padding would show in a mean that counts it.
    rows = numpy.eye(len(vocabulary), dtype=numpy.float32)
    rows[0] = 100.0
    info = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "m"]) for name in INPUTS[:2]
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["n", "m", len(vocabulary)]
    )
    nodes = [helper.make_node("Gather", ["rows", "input_ids"], ["last_hidden_state"])]
    graph = helper.make_graph(
        nodes, "tokens", info, [output], [numpy_helper.from_array(rows, "rows")]
    )
    save_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10),
        folder / "onnx/model.onnx",
    )
    return folder


def slow_down(folder: Path) -> None:
    """Make each run of a model take most of a second, with the same numbers as before."""
    file = folder / "onnx/model.onnx"
    model = load_model(file)
    graph = model.graph
    (given,) = graph.output
    graph.node[-1].output[0] = "quick"
    graph.initializer.append(numpy_helper.from_array(numpy.zeros((512, 512), "float32"), "none"))
    graph.node.append(helper.make_node("ReduceSum", ["quick"], ["sum"], keepdims=0))
    graph.node.append(helper.make_node("Mul", ["none", "sum"], ["product_0"]))
    for at in range(_STEPS):
        graph.node.append(
            helper.make_node("MatMul", [f"product_{at}", "product_0"], [f"product_{at + 1}"])
        )
    graph.node.append(helper.make_node("ReduceSum", [f"product_{_STEPS}"], ["zero"], keepdims=0))
    graph.node.append(helper.make_node("Add", ["quick", "zero"], [given.name]))
    save_model(model, file)


def _write_tokenizer(folder: Path, weights: dict[str, float]) -> list[str]:
    """Writes a tokenizer that knows the words; returns its vocabulary."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(weights)]
    tokenizer = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Punctuation(), pre_tokenizers.Whitespace()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # Some exported models do this: it would pad or truncate each text to this length.
    tokenizer.enable_padding(length=7)
    tokenizer.enable_truncation(max_length=7)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "onnx").mkdir(exist_ok=True)
    return vocabulary


def _model(weights: numpy.ndarray, inputs: tuple[str, ...]):
    """The sum of the weights of the text's tokens: those of type 1, without padding."""
    inputs_info = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "m"]) for name in inputs
    ]
    nodes = [helper.make_node("Gather", ["weights", "input_ids"], ["weighed"])]
    last = "weighed"
    for name in inputs[1:]:
        nodes += [
            helper.make_node("Cast", [name], [f"{name}_number"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", [f"{name}_number", "axis"], [f"{name}_column"]),
            helper.make_node("Mul", [last, f"{name}_column"], [f"by_{name}"]),
        ]
        last = f"by_{name}"
    nodes.append(helper.make_node("ReduceSum", [last, "over"], ["logits"], keepdims=0))
    given = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", weights.shape[1]])]
    constants = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(numpy.array([2], numpy.int64), "axis"),
        numpy_helper.from_array(numpy.array([1], numpy.int64), "over"),
    ]
    graph = helper.make_graph(nodes, "words", inputs_info, given, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
