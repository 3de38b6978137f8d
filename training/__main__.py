"""Runs all steps of training: `python -m training --work FOLDER`; see docs/meaning.md."""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from codelens.meaning import word_table
from training import archives, leave_out, model, table_writer
from training.archives import Source
from training.harvest import Harvest, PairSet, harvest, is_held_out, joined, vocabulary
from training.pairs import KINDS

VERSION = 1
"""Version of the table; raised with every shipped table."""
TERMS = 19_600
LEAST_PACKAGES = 3
RULES = 1
"""Raised when pairs are extracted differently, to discard those of earlier runs."""

STARTED = time.monotonic()


def main() -> None:
    """Fetches, extracts pairs, trains, evaluates on held-out packages, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for archives and pairs")
    parser.add_argument("--table", type=Path, default=word_table.FILE)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--terms", type=int, default=TERMS)
    parser.add_argument("--version", type=int, default=VERSION)
    for name, value in model.Settings()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    args = parser.parse_args()
    settings = model.Settings(*(getattr(args, name) for name in model.Settings._fields))
    sources = archives.read_sources(leave_out.SOURCES)
    harvests = _harvests(sources, args.work, args.workers)
    learned = [one for name, one in harvests.items() if not is_held_out(name)]
    terms = vocabulary(learned, args.terms, LEAST_PACKAGES)
    pairs = joined(learned, terms)
    print(f"{len(learned)} packages, {len(pairs.kinds):,} pairs, {len(terms):,} terms", flush=True)
    for kind, name in enumerate(KINDS):
        print(f"  {name}: {int((pairs.kinds == kind).sum()):,}")
    apart = joined([one for name, one in harvests.items() if is_held_out(name)], terms)
    frequency = model.frequency(pairs)
    _tell("untrained", model.start(len(terms), frequency, settings), apart)
    trained = model.train(pairs, settings)
    _tell("trained", trained, apart)
    digest = table_writer.write(args.table, terms, trained, args.version)
    print(f"{args.table}: {args.table.stat().st_size:,} bytes, {digest}")
    _tell_cost("all of it")


def _harvests(sources: list[Source], work: Path, workers: int) -> dict[str, Harvest]:
    """The pairs of each package, cached in `work`."""
    left_out = leave_out.read_left_out()
    tasks: list[Task] = []
    (work / "pairs").mkdir(parents=True, exist_ok=True)
    for source in sources:
        archive = _archive(source, work / source.registry)
        without = frozenset(left_out.get(source.name, ()))
        tasks.append(Task(source, archive, without, work / "pairs"))
    _tell_cost("fetched")
    with ProcessPoolExecutor(workers) as pool:
        every = list(pool.map(_harvested, tasks, chunksize=4))
    _tell_cost("pairs taken")
    return {source.name: one for source, one in zip(sources, every, strict=True)}


class Task(NamedTuple):
    """A package to extract pairs from."""

    source: Source
    archive: Path
    left_out: frozenset[str]
    kept: Path


def _harvested(task: Task) -> Harvest:
    """The pairs of an earlier run if nothing changed."""
    source = task.source
    file = task.kept / f"{source.registry}-{source.name.replace('/', '+')}.pickle"
    key = (source.digest, sorted(task.left_out), RULES)
    if file.exists():
        before, harvested = pickle.loads(file.read_bytes())
        if before == key:
            return harvested
    harvested = harvest(task.archive, source.registry, task.left_out)
    file.write_bytes(pickle.dumps((key, harvested)))
    return harvested


def _archive(source: Source, folder: Path) -> Path:
    archives.fetch(source, folder)
    archive = archives.find(source.registry, source.name, source.version, folder)
    if archive is None or archives.digest_of(archive) != source.digest:
        raise SystemExit(f"{source.name} {source.version} is not what SOURCES.tsv lists")
    return archive


def _tell_cost(what: str) -> None:
    """Prints the CPU time of this process and its children, since the start."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    spent = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    print(f"{what}: {spent:.0f} s of CPU, {time.monotonic() - STARTED:.0f} s", flush=True)


def _tell(what: str, trained: model.Model, apart: PairSet) -> None:
    ranks = [
        f"{name} {model.reciprocal_rank(trained, apart, (kind,)):.4f}"
        for kind, name in enumerate(KINDS)
    ]
    print(f"{what}: mean reciprocal rank on packages kept apart: {', '.join(ranks)}", flush=True)


if __name__ == "__main__":
    main()
