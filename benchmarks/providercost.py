"""Measures what a provider's vectors cost on this machine: a sync, a search, and the store.

    python benchmarks/providercost.py REPOSITORY [--dimension N]

The provider is a loopback server in a separate process (tests/embedding_server.py) whose vectors
are bags of words: it is free, and the figures do not measure quality. CPU is that of this process
alone, the median of ten questions that were asked before, so that none is sent.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codelens.config import Settings
from codelens.engine.engine import Engine

TESTS = Path(__file__).resolve().parent.parent / "tests"
SERVER = """
import sys, time
from embedding_server import embedding_server
with embedding_server() as server:
    server.dimension = int(sys.argv[1])
    print(server.endpoint("openai"), flush=True)
    sys.stdin.read()
"""
QUESTIONS = [
    f"how does it {verb} the {noun}"
    for verb in ("read", "write", "check", "find", "close")
    for noun in ("file", "result")
]


def cpu_ms(engine: Engine, repository: str, mode: str) -> float:
    costs = []
    for question in QUESTIONS:
        started = time.process_time()
        engine.search(question, path=repository, mode=mode)
        costs.append(1000 * (time.process_time() - started))
    return statistics.median(costs)


def measure(repository: str, endpoint: str, home: Path) -> None:
    with Engine(Settings(home=home)) as engine:
        engine.index(path=repository)
        for question in QUESTIONS:
            engine.search(question, path=repository)
        without = cpu_ms(engine, repository, "auto")
        engine.meaning_enable("openai", path=repository, endpoint=endpoint)
        started = time.process_time()
        synced = engine.meaning_sync(path=repository)
        sync_s = time.process_time() - started
        for question in QUESTIONS:
            engine.search(question, path=repository)
        by_words = cpu_ms(engine, repository, "auto")
        alone = cpu_ms(engine, repository, "meaning")
        (file,) = (home / "vectors").glob("vectors-*.db")
        size = file.stat().st_size
    texts = max(synced.texts, 1)
    print(f"texts {synced.texts}, requests {synced.requests}")
    print(f"sync: {1000 * sync_s / texts:.2f} ms of CPU a text, {size / texts:.0f} bytes a text")
    print(f"search: {without:.1f} ms of CPU without, {by_words:.1f} with, {alone:.1f} alone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository")
    parser.add_argument("--dimension", type=int, default=1536)
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "a-good-key"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(given.dimension)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        with tempfile.TemporaryDirectory() as home:
            measure(given.repository, server.stdout.readline().strip(), Path(home))
    finally:
        server.communicate("")


if __name__ == "__main__":
    main()
