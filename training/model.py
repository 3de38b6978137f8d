"""The model: a vector and two gates per term, trained so that descriptions are close to their code.

A text is the sum of its terms' vectors, each times log(1 + count) and the term's gate for the side
(said, code); the score is the cosine. In-batch softmax both ways; a batch has several pairs of
each of a few packages, so that most negatives come from the same project.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from training.harvest import Matrix, PairSet

SEED = 20261123


class Settings(NamedTuple):
    """Hyperparameters."""

    dimension: int = 128
    steps: int = 700
    batch: int = 1536
    of_one_package: int = 192
    temperature: float = 0.06
    rate: float = 0.0452
    """Of the first steps, divided by the root of the dimension."""
    length: float = 0.1
    """Length of the random initial vectors: a rarely seen term must not weigh much."""
    named_left_out: float = 0.5


class Model(NamedTuple):
    """Vectors and gates, by term."""

    vectors: np.ndarray
    said: np.ndarray
    code: np.ndarray


class _Adam:
    """Adam over a few arrays (Kingma and Ba, 2015)."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays = arrays
        self._mean = [np.zeros_like(array) for array in arrays]
        self._square = [np.zeros_like(array) for array in arrays]
        self._step = 0

    def step(self, gradients: list[np.ndarray], rates: list[float]) -> None:
        self._step += 1
        corrections = 1 - 0.9**self._step, 1 - 0.99**self._step
        for at, (array, gradient) in enumerate(zip(self._arrays, gradients, strict=True)):
            self._mean[at] += 0.1 * (gradient - self._mean[at])
            self._square[at] += 0.01 * (gradient * gradient - self._square[at])
            scale = np.sqrt(self._square[at] / corrections[1]) + 1e-8
            change = rates[at] * (self._mean[at] / corrections[0]) / scale
            np.subtract(array, change.astype(np.float32), out=array)


def start(terms: int, shares: np.ndarray, settings: Settings) -> Model:
    """Random vectors; gates by the rarity of a term."""
    random = np.random.default_rng(SEED)
    dimension = settings.dimension
    vectors = random.standard_normal((terms, dimension)) * (settings.length / dimension**0.5)
    rare = np.log1p(1.0 / np.maximum(shares, 1e-6)).astype(np.float32)
    gates = rare / rare.mean()
    return Model(vectors.astype(np.float32), gates.copy(), gates.copy())


def frequency(pairs: PairSet) -> np.ndarray:
    """The share of code sides that contain each term."""
    return np.bincount(pairs.code.indices, minlength=pairs.code.shape[1]) / len(pairs.kinds)


def train(pairs: PairSet, settings: Settings, log: bool = True) -> Model:
    """Trains a model on pairs; the same pairs and settings give the same model."""
    width = pairs.query.shape[1]
    model = start(width, frequency(pairs), settings)
    adam = _Adam(list(model))
    random = np.random.default_rng(SEED + 1)
    top = settings.rate / settings.dimension**0.5
    by_package = [np.flatnonzero(pairs.package == at) for at in range(pairs.package.max() + 1)]
    by_package = [rows for rows in by_package if len(rows) >= 24]
    chance = np.array([min(len(rows), 1200) ** 0.7 for rows in by_package])
    chance /= chance.sum()
    for step in range(settings.steps):
        rows = _batch(by_package, chance, settings, random)
        query = pairs.query[rows]
        code = _without_names(pairs, rows, settings.named_left_out, random)
        loss, gradients = _gradients(model, query, code, settings.temperature)
        rate = top * min(1.0, (step + 1) / 30) * (1 - step / settings.steps)
        adam.step(gradients, [rate, rate * 2, rate * 2])
        np.maximum(model.said, 0.0, out=model.said)
        np.maximum(model.code, 0.0, out=model.code)
        if log and step % 50 == 0:
            print(f"step {step}: loss {loss:.3f}", flush=True)
    return model


def _batch(
    by_package: list[np.ndarray], chance: np.ndarray, settings: Settings,
    random: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    count = settings.batch // settings.of_one_package
    chosen = random.choice(len(by_package), count, replace=False, p=chance)
    rows = [
        random.choice(by_package[at], min(settings.of_one_package, len(by_package[at])), False)
        for at in chosen
    ]
    return np.concatenate(rows)


def _without_names(
    pairs: PairSet, rows: np.ndarray, share: float, random: np.random.Generator
) -> Matrix:
    code = pairs.code[rows]
    named: Matrix = sparse.csr_matrix(
        (pairs.named.astype(np.float32), pairs.code.indices, pairs.code.indptr), pairs.code.shape
    )[rows]
    drop = (random.random(len(rows)) < share).astype(np.float32)
    code.data = code.data * (1.0 - named.data * np.repeat(drop, np.diff(code.indptr)))
    return code


def _gradients(
    model: Model, query: Matrix, code: Matrix, temperature: float
) -> tuple[float, list[np.ndarray]]:
    said, said_norm = _embed(model.vectors, model.said, query)
    coded, code_norm = _embed(model.vectors, model.code, code)
    scores = said @ coded.T / temperature
    size = len(scores)
    forward, backward = _softmax(scores), _softmax(scores.T).T
    right = np.arange(size)
    loss = (
        -np.log(forward[right, right] + 1e-9).mean() - np.log(backward[right, right] + 1e-9).mean()
    )
    wrong = (forward + backward) / (2 * size)
    wrong[right, right] -= 1.0 / size
    wrong /= temperature
    d_said = _through_norm(wrong @ coded, said, said_norm)
    d_coded = _through_norm(wrong.T @ said, coded, code_norm)
    d_vectors = np.zeros_like(model.vectors)
    gates: list[np.ndarray] = []
    for matrix, gate, outer in ((query, model.said, d_said), (code, model.code, d_coded)):
        back = matrix.T.tocsr() @ outer
        gates.append((back * model.vectors).sum(axis=1))
        d_vectors += back * gate[:, None]
    return float(loss) / 2, [d_vectors, *gates]


def _embed(vectors: np.ndarray, gate: np.ndarray, matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    raw = matrix @ (vectors * gate[:, None])
    norm = np.sqrt((raw * raw).sum(axis=1, keepdims=True)) + 1e-6
    return raw / norm, norm


def _through_norm(gradient: np.ndarray, unit: np.ndarray, norm: np.ndarray) -> np.ndarray:
    return (gradient - unit * (gradient * unit).sum(axis=1, keepdims=True)) / norm


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def reciprocal_rank(model: Model, pairs: PairSet, kinds: tuple[int, ...], most: int = 400) -> float:
    """Mean reciprocal rank of the described code within its package; the mean over packages."""
    means: list[float] = []
    for package in np.unique(pairs.package):
        rows = np.flatnonzero((pairs.package == package) & np.isin(pairs.kinds, kinds))[:most]
        if len(rows) < 20:
            continue
        said, _ = _embed(model.vectors, model.said, pairs.query[rows])
        code, _ = _embed(model.vectors, model.code, pairs.code[rows])
        scores = said @ code.T
        right = scores[np.arange(len(rows)), np.arange(len(rows))]
        means.append(float((1.0 / (scores >= right[:, None]).sum(axis=1)).mean()))
    return float(np.mean(means)) if means else 0.0
