"""A small cross-encoder in the usual format: a text's score counts certain words in it."""

from __future__ import annotations

from pathlib import Path

import numpy
from onnx import TensorProto, helper, numpy_helper, save_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_cross_encoder(
    folder: Path, weights: dict[str, float], inputs: tuple[str, ...] = INPUTS, outputs: int = 1
) -> Path:
    """Writes a folder with a model and its tokenizer, in Hugging Face's layout."""
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
    numbers = [[weights.get(word, 0.0)] * outputs for word in vocabulary]
    save_model(_model(numpy.array(numbers, numpy.float32), inputs), folder / "onnx/model.onnx")
    return folder


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
