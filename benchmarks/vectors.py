"""Measures what an embedding model on this machine does to the ranking.

    python benchmarks/retrieval.py prepare MIRROR CHECKOUTS          # once
    python benchmarks/vectors.py sync FOLDER MODEL [--repo NAME ...] [--home HOME]
    python benchmarks/vectors.py retrieval FOLDER [--repo NAME ...] [--fusion NAME ...]
    python benchmarks/vectors.py retrieval FOLDER MODEL ...          # also vectors of definitions
    python benchmarks/vectors.py definitions FOLDER [--repo NAME ...] [--fusion NAME ...]

`MODEL` is a folder that the provider `local` reads. `sync` makes vectors of each repository in
`FOLDER`, once; a later run continues. `retrieval` asks the questions of `retrieval.py` of the
repositories that have all their vectors, with each way to combine vectors with the ranking
(`FUSIONS`), and prints NDCG@10. Repositories are split into two halves in alphabetical order, every
second one: a fusion is chosen on the first half and judged on the other. `definitions` asks the
questions of `definitions.py`. All else is as in a search, without the check for changed files. What
ships is `instead 1.25`: the vectors of a provider replace the table of words, with its weight.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import definitions
import numpy
import retrieval
from home_settings import home_settings

from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.embedding import question_vectors
from codelens.engine.engine import Engine
from codelens.meaning import question_likeness
from codelens.meaning.providers.embedding_client import Connection, Kind
from codelens.meaning.providers.local_provider import LocalClient
from codelens.rank import ranking_weights, search_pipeline
from codelens.rank.query.query_analysis import Query, analyse
from codelens.rank.scoring import definition_features
from codelens.rank.scoring.definition_features import Evidence, Judged
from codelens.rank.scoring.file_features import FileFeatures, Meaning, add_meaning
from codelens.rank.search_request import CommonScale, Request
from codelens.store.views.snapshot import Snapshot

K = 60
"""Of reciprocal ranks."""
FIRST_LINES = 3
"""Of a definition's body, in its text."""
RANKS = (0.05, 0.1, 0.2, 0.5, 1.0)
ALLOWED_LOSS = 0.005


class Fusion(NamedTuple):
    """A way to combine the vectors of a model with the ranking."""

    vectors: float = 0.0
    """Weight of the likeness by vectors."""
    table: float = ranking_weights.WORDS["meaning"]
    """Weight of the table of words."""
    candidates: int = ranking_weights.MOST_ALIKE
    """Files that are candidates by vectors alone."""
    chunks: int = question_likeness.BEST_CHUNKS
    """A file's value is the mean of so many best chunks."""
    ranks: float = 0.0
    """Weight of the reciprocal rank by vectors; 0: features are summed."""
    on: bool = True
    """Whether vectors are used at all."""


def _fusions() -> dict[str, Fusion]:
    ways = {"default": Fusion(on=False), "no meaning": Fusion(on=False, table=0.0)}
    ways |= {
        f"instead {weight}": Fusion(weight, table=0.0) for weight in (0.25, 0.5, 1.0, 1.25, 2.0)
    }
    ways |= {f"added {weight}": Fusion(weight) for weight in (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 2.0)}
    ways |= {f"added {weight}, 1 chunk": Fusion(weight, chunks=1) for weight in (0.25, 0.5, 1.0)}
    ways |= {
        f"added {weight}, no candidates": Fusion(weight, candidates=0)
        for weight in (0.1, 0.25, 0.5, 0.75, 1.0, 1.25)
    }
    ways |= {f"ranks {weight}": Fusion(ranks=weight, candidates=0) for weight in RANKS}
    return ways


FUSIONS: Mapping[str, Fusion] = _fusions()


@contextmanager
def fused(fusion: Fusion) -> Iterator[None]:
    """Rank by a fusion."""
    weights, judge = ranking_weights.WORDS, definition_features.judge
    most, chunks = ranking_weights.MOST_ALIKE, question_likeness.BEST_CHUNKS
    add = definition_features.add_meaning
    ranking_weights.WORDS = {**weights, "meaning": fusion.table, "vectors": fusion.vectors}
    ranking_weights.MOST_ALIKE = fusion.candidates
    question_likeness.BEST_CHUNKS = fusion.chunks
    definition_features.add_meaning = add_both
    if fusion.ranks:
        definition_features.judge = by_ranks(judge, fusion.ranks)
    try:
        yield
    finally:
        ranking_weights.WORDS, definition_features.judge = weights, judge
        ranking_weights.MOST_ALIKE, question_likeness.BEST_CHUNKS = most, chunks
        definition_features.add_meaning = add


def add_both(
    view: Snapshot,
    text: str,
    seen: Sequence[FileFeatures],
    likeness: question_likeness.QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Meaning:
    """Add the feature `meaning` by the table, and `vectors` by a model."""
    if likeness is not None:
        add_meaning(view, text, seen, likeness, common)
        for candidate in seen:
            candidate.features["vectors"] = candidate.features["meaning"]
    return add_meaning(view, text, seen, None, common)


def by_ranks(
    judge: Callable[[Sequence[Evidence], Query], list[Judged]], weight: float
) -> Callable[[Sequence[Evidence], Query], list[Judged]]:
    """A judge by reciprocal ranks: of the sum of features, and of the feature `vectors`.

    Files whose role has a penalty come last by vectors, as they do by features.
    """

    def judged(candidates: Sequence[Evidence], query: Query) -> list[Judged]:
        order = judge(candidates, query)
        if query.single or not any("vectors" in row.evidence.features for row in order):
            return order
        roles = ranking_weights.pushed_down(False, query.roles)
        alike = sorted(
            order,
            key=lambda row: (
                definition_features.role_of(row.evidence) in roles,
                -row.evidence.features.get("vectors", 0.0),
            ),
        )
        place = {row.evidence.file.path_id: at for at, row in enumerate(alike, 1)}
        best = order[0].score
        scores = [
            best * (1 / (K + at) + weight / (K + place[row.evidence.file.path_id]))
            * K / (1 + weight)
            for at, row in enumerate(order, 1)
        ]  # fmt: skip
        rows = [row._replace(score=score) for row, score in zip(order, scores, strict=True)]
        return sorted(rows, key=lambda row: (-row.score, row.evidence.file.path))

    return judged


def sync(engine: Engine, folders: Sequence[Path], model: Path) -> None:
    for folder in folders:
        started, cpu = time.perf_counter(), time.process_time()
        engine.meaning_enable("local", model=str(model.resolve()), path=folder)
        done = engine.meaning_sync(path=folder, ref="HEAD")
        print(
            f"{folder.name}: {done.texts:,} texts, {done.tokens:,} tokens, "
            f"{time.perf_counter() - started:.0f} s, {time.process_time() - cpu:.0f} s of CPU",
            flush=True,
        )


class WithDefinitions(question_likeness.QuestionLikeness):
    """The similarity of chunks and of definitions."""

    def __init__(
        self, chunks: question_likeness.QuestionLikeness, definitions: Mapping[int, list[float]]
    ) -> None:
        super().__init__(chunks.made_by, chunks._chunks)
        self._definitions = definitions

    def of_content(self, content: int | None) -> float | None:
        every = [*self._chunks.get(content or 0, ()), *self._definitions.get(content or 0, ())]
        best = sorted(every, reverse=True)[: question_likeness.BEST_CHUNKS]
        return sum(best) / len(best) if best else None


class DefinitionVectors:
    """Vectors of all definitions of a view: qualified name, signature, doc, first lines."""

    def __init__(self, view: CurrentView, model: Path) -> None:
        connection = Connection("local", str(model.resolve()), "", "", "", 60.0)
        self._client = LocalClient(connection)
        texts: list[str] = []
        self._contents: list[int] = []
        for content, symbols in view.snapshot.symbols(view.snapshot.by_content).items():
            data = view.bytes_of(view.snapshot.by_content[content][0]) or b""
            for symbol in symbols:
                body = data[symbol.start_byte : symbol.end_byte].decode("utf-8", "replace")
                lines = body.split("\n")[1 : 1 + FIRST_LINES]
                parts = (symbol.qualified, symbol.signature, symbol.doc, *lines)
                texts.append("\n".join(parts))
                self._contents.append(content)
        self._rows = self._embedded(texts, "document")

    def _embedded(self, texts: list[str], kind: Kind) -> numpy.ndarray:
        vectors = [
            vector
            for at in range(0, len(texts), 64)
            for vector in self._client.request(texts[at : at + 64], kind).vectors
        ]
        rows = numpy.array(vectors)
        return rows / numpy.linalg.norm(rows, axis=1)[:, None]

    def beside(
        self, question: str, chunks: question_likeness.QuestionLikeness
    ) -> question_likeness.QuestionLikeness:
        cosines = self._rows @ self._embedded([question], "query")[0]
        by_content: dict[int, list[float]] = collections.defaultdict(list)
        for content, cosine in zip(self._contents, cosines.tolist(), strict=True):
            by_content[content].append(cosine)
        return WithDefinitions(chunks, by_content)


class Asker:
    """Asks questions of one view, with and without vectors."""

    def __init__(self, engine: Engine, view: CurrentView, model: Path | None = None) -> None:
        self._engine = engine
        self._view = view
        self._definitions = None if model is None else DefinitionVectors(view, model)

    def likeness(self, question: str) -> question_likeness.QuestionLikeness | None:
        if analyse(question).single:
            return None
        provider = question_vectors.ask(self._engine.settings, self._view.scope.repo_id, question)
        if provider is None:
            raise SystemExit("no provider is enabled: run `sync` first")
        likeness, note = question_vectors.likeness(self._view, provider)
        if likeness is None or note:
            raise SystemExit(f"{self._view.scope.root}: {note}; run `sync` first")
        if self._definitions is not None:
            return self._definitions.beside(question, likeness)
        return likeness

    def search(
        self, question: str, likeness: question_likeness.QuestionLikeness | None, fusion: Fusion
    ) -> search_pipeline.Outcome:
        request = Request(question, likeness=likeness if fusion.on else None)
        with fused(fusion):
            return search_pipeline.search(self._view.snapshot, request, self._view.read)


def retrieved(
    engine: Engine, folder: Path, names: Sequence[str], model: Path | None
) -> dict[str, list[float]]:
    """NDCG@10 of each question about a repository, by fusion."""
    sys.path.insert(0, str(retrieval.RETRIEVAL))
    from score import ndcg  # pyright: ignore[reportMissingImports]  # it comes with the data set

    roots = {row["name"]: row for row in json.loads(retrieval.REPOS.read_text())}
    root = roots[folder.name].get("benchmark_root") or ""
    values: dict[str, list[float]] = {name: [] for name in names}
    with engine.pool.view(ViewRequest(folder, "HEAD")) as view, view.reading():
        asker = Asker(engine, view, model)
        for question in retrieval.questions():
            if question["repo"] != folder.name:
                continue
            wanted = {
                retrieval.full_path(folder, root, target["path"]): target["path"]
                for target in question["relevant"]
            }
            likeness = asker.likeness(question["query"])
            for name in names:
                outcome = asker.search(question["query"], likeness, FUSIONS[name])
                rows = [retrieval.row(ShownPlace.of(place), wanted) for place in outcome.results]
                values[name].append(ndcg(rows, question["relevant"]))
    return values


class ShownPlace(NamedTuple):
    """A result as the benchmarks read it."""

    path: str
    start_line: int
    end_line: int

    @classmethod
    def of(cls, place: search_pipeline.Ranked) -> ShownPlace:
        path = place.file.path.decode("utf-8", "replace")
        return cls(path, place.start_line, place.end_line)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def report_retrieval(table: Mapping[str, Mapping[str, list[float]]], names: Sequence[str]) -> None:
    """Means over questions, and the largest loss and gain of a repository."""
    halves = (sorted(table)[::2], sorted(table)[1::2])
    asked = sum(len(rows[names[0]]) for rows in table.values())
    print(f"{len(table)} repositories, {asked} questions; first half: {', '.join(halves[0])}")
    print("| fusion | first half | worst | other half | worst | all | lose | gain |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        before = {repo: mean(rows[names[0]]) for repo, rows in table.items()}
        changes = {repo: mean(rows[name]) - before[repo] for repo, rows in table.items()}
        cells = []
        for half in halves:
            worst = min(half, key=lambda repo: changes[repo])
            cells += [compared(table, half, name, names[0]), f"{worst} {changes[worst]:+.4f}"]
        cells.append(compared(table, list(table), name, names[0]))
        cells.append(str(sum(change < -ALLOWED_LOSS for change in changes.values())))
        cells.append(str(sum(change > ALLOWED_LOSS for change in changes.values())))
        print(f"| {name} | " + " | ".join(cells) + " |")


def compared(
    table: Mapping[str, Mapping[str, list[float]]], repos: Sequence[str], name: str, with_: str
) -> str:
    """The mean over the questions about some repositories, and its change."""
    after, before = (
        mean([value for repo in repos for value in table[repo][fusion]]) for fusion in (name, with_)
    )
    return f"{after:.4f} ({after - before:+.4f})"


def defined(
    engine: Engine, folder: Path, names: Sequence[str], each: int
) -> dict[str, list[definitions.Ranks]]:
    """The positions of the definition that each question is about, by fusion."""
    ranks: dict[str, list[definitions.Ranks]] = collections.defaultdict(list)
    pairs = definitions.pairs(engine, folder, folder.name, each)
    with engine.pool.view(ViewRequest(folder, "HEAD")) as view, view.reading():
        asker = Asker(engine, view)
        for pair in pairs:
            likeness = asker.likeness(pair.question)
            for name in names:
                outcome = asker.search(pair.question, likeness, FUSIONS[name])
                at = definitions.Ranks()
                for rank, place in enumerate(map(ShownPlace.of, outcome.results), 1):
                    if place.path == pair.path:
                        at = at._replace(file=min(at.file, rank))
                    if definitions.is_it(pair, *place):
                        at = at._replace(shown=min(at.shown, rank))
                ranks[name].append(at)
    return ranks


def report_definitions(
    table: Mapping[str, Mapping[str, list[definitions.Ranks]]], names: Sequence[str]
) -> None:
    print(f"{len(table)} repositories: {', '.join(table)}")
    print(
        "| fusion | questions | first | in 3 | in 10 | file first | in 3 | in 10 | NDCG@10 file |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        rows = [row for repo in table.values() for row in repo[name]]
        cells = [mean([row.shown <= cut for row in rows]) for cut in (1, 3, 10)]
        cells += [mean([row.file <= cut for row in rows]) for cut in (1, 3, 10)]
        cells.append(mean([gain(row.file) for row in rows]))
        print(f"| {name} | {len(rows)} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


def gain(rank: int) -> float:
    from score import DISCOUNT  # pyright: ignore[reportMissingImports]

    return DISCOUNT[rank - 1] if rank <= len(DISCOUNT) else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=("sync", "retrieval", "definitions"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--fusion", action="append", default=[], choices=list(FUSIONS))
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-vectors"))
    args = parser.parse_args()
    names = ["default", *(args.fusion or list(FUSIONS)[1:])]
    repos = args.repo or sorted(folder.name for folder in args.folder.iterdir())
    folders = [args.folder / repo for repo in repos]
    sys.path.insert(0, str(retrieval.RETRIEVAL))
    with Engine(home_settings(args.home)) as engine:
        if args.command == "sync":
            sync(engine, folders, args.model)
        elif args.command == "retrieval":
            report_retrieval(
                {folder.name: retrieved(engine, folder, names, args.model) for folder in folders},
                names,
            )
        else:
            report_definitions(
                {folder.name: defined(engine, folder, names, args.each) for folder in folders},
                names,
            )


if __name__ == "__main__":
    main()
