"""A trained model in the format that codelens ships: vectors in int8, gates in 10 bits."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import numpy as np

from codelens.meaning.word_table import HEAD, MAGIC
from training.model import Model

_MOST_GATE = 1023


def quantized(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of uint8, 128 for zero, each as long as a byte allows, its length in the gates."""
    tops = np.abs(model.vectors).max(axis=1, keepdims=True) + 1e-9
    vectors = np.clip(np.rint(model.vectors / tops * 127), -127, 127).astype(np.int16) + 128
    said, code = (_gates(gate * tops[:, 0]) for gate in (model.said, model.code))
    return vectors.astype(np.uint8), said, code


def _gates(gate: np.ndarray) -> np.ndarray:
    # The few largest gates are clipped, so that the others keep their differences.
    top = float(np.quantile(gate, 0.9995))
    return np.clip(np.rint(gate / top * _MOST_GATE), 0, _MOST_GATE).astype(np.uint16)


def write(file: Path, terms: list[str], model: Model, version: int) -> str:
    """Writes the table; returns its digest."""
    vectors, said, code = quantized(model)
    text = "\n".join(terms).encode()
    gates = said.astype("<u2").tobytes() + code.astype("<u2").tobytes()
    body = text + gates + vectors.tobytes()
    digest = hashlib.sha256(body)
    head = HEAD.pack(
        MAGIC, version, vectors.shape[1], len(terms), len(text), zlib.crc32(body), digest.digest()
    )
    file.write_bytes(head + body)
    return digest.hexdigest()
