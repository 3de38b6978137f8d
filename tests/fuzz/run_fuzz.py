"""Fuzzes the readers of foreign texts, one target after another, guided by coverage if possible.

    python tests/fuzz/run_fuzz.py [--target NAME]... [--seconds 60]

With atheris installed (`pip install atheris`, CPython up to 3.13) inputs are selected by the
coverage they reach; without it they are random mutations of the seeds in `tests/corpus/inputs`. An
input that breaks a target is stored there, so that CI tries it from then on. Prints tries and
failures per target; the exit code is 1 if any failed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

_PIECES = (
    *(
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\r\n",
        b"\n",
        b"'",
        b'"',
        b"\\",
        b"%",
        b"#",
        b":",
    ),
    *(b"[", b"]", b"{", b"}", b"(", b")", b"*", b"**/", b"~", b"@", b"-1", b"99999999999999999999"),
    *("\u2028".encode(), "\U0001f600".encode(), "e\u0301".encode(), b"NaN", b"1e999", b"null"),
)
_LONGEST = 4_000


def changed(pick: Random, seeds: tuple[bytes, ...]) -> bytes:
    """A mutated seed: cut, doubled, spliced with another, bytes flipped, pieces inserted."""
    data = bytearray(pick.choice(seeds) if seeds else b"")
    for _ in range(pick.randrange(1, 8)):
        at = pick.randrange(len(data) + 1)
        way = pick.randrange(6)
        if way == 0:
            data[at:at] = pick.choice(_PIECES)
        elif way == 1:
            data[at : at + pick.randrange(1, 9)] = b""
        elif way == 2 and data:
            data[at - 1] = pick.randrange(256)
        elif way == 3:
            data[at:at] = data[at : at + pick.randrange(1, 40)] * pick.randrange(1, 30)
        elif way == 4 and seeds:
            data[at:] = pick.choice(seeds)[pick.randrange(20) :]
        else:
            data[at:at] = bytes(pick.randrange(256) for _ in range(pick.randrange(1, 6)))
    return bytes(data[:_LONGEST])


def note(target: str, data: bytes) -> Path:
    """Stores an input that broke a target, for CI."""
    folder = HERE.parent / "corpus" / "inputs" / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"broke-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def by_chance(target: str, seconds: float) -> tuple[int, list[str]]:
    """Random mutations of the seeds until the time is up; returns tries and failures."""
    from fuzz.targets import TARGETS, seeds

    pick, tries, failures = Random(time.time_ns()), 0, list[str]()
    until = time.monotonic() + seconds
    while time.monotonic() < until and len(failures) < 5:
        data = changed(pick, seeds(target))
        tries += 1
        try:
            TARGETS[target](data)
        except Exception as error:
            failures.append(f"{note(target, data)}: {type(error).__name__}: {error}"[:300])
    return tries, failures


def by_coverage(target: str, seconds: float) -> tuple[int, list[str]]:
    """The same by atheris, in a separate process, because atheris exits the process."""
    parent, child = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=_run_atheris, args=(target, seconds, child)
    )
    process.start()
    child.close()
    tries, failures = 0, list[str]()
    while True:
        try:
            tries, failures = parent.recv()
        except EOFError:
            break
    process.join()
    if process.exitcode not in {0, 1, 77} and not failures:
        failures = [f"the process ended with {process.exitcode}"]
    return tries, failures


def _run_atheris(target: str, seconds: float, pipe: Any) -> None:
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["codelens"]):
        from fuzz.targets import TARGETS, seeds

    tries = 0
    failures: list[str] = []
    until = time.monotonic() + seconds

    def one_input(data: bytes) -> None:
        nonlocal tries
        tries += 1
        if tries % 1_000 == 0 or time.monotonic() > until:
            pipe.send((tries, failures))
        try:
            TARGETS[target](data)
        except Exception as error:
            if len(failures) < 5:
                failures.append(f"{note(target, data)}: {type(error).__name__}: {error}"[:300])
                pipe.send((tries, failures))

    folder = str(HERE.parent / "corpus" / "inputs" / target)
    assert seeds(target), "no seeds"
    options = [f"-max_total_time={int(seconds)}", f"-max_len={_LONGEST}", "-verbosity=0"]
    # A scratch folder first, or libFuzzer would write its findings next to the seeds.
    scratch = tempfile.mkdtemp(prefix=f"fuzz-{target}-")
    atheris.Setup([sys.argv[0], *options, scratch, folder], one_input)
    atheris.Fuzz()


def main() -> int:
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", action="append", default=[], choices=list(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    args = parser.parse_args()
    if importlib.util.find_spec("atheris") is not None:
        run, how = by_coverage, "guided by coverage"
    else:
        run, how = by_chance, "by chance"
    bad = 0
    for target in args.target or TARGETS:
        tries, failures = run(target, args.seconds)
        bad += len(failures)
        print(f"{target}: {tries:,} tries {how}, {len(failures)} failures", flush=True)
        for failure in failures:
            print(f"    {failure}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
