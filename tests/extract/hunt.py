"""Hunts for texts that crash, hang or slow a grammar, each language in separate processes.

    python tests/extract/hunt.py [--cases 5000] [--language NAME]... [--random] [--tokens]

A seed determines each case, so a case that killed a process can be rebuilt from its number. The
random cases are joined by those of `hostile.nestings` and `long_texts`, and with `--tokens` by each
token of the grammar 10,000 times. Findings: `OUT/<language>-<n>.bin`, one line each on stdout.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from extract.hostile import check_facts, hostile, long_texts, nestings  # noqa: E402
from extract.rendering import fixture_sources  # noqa: E402

from codelens.extract.language_settings import language_info, languages  # noqa: E402
from codelens.extract.parse.grammars import grammar  # noqa: E402

_HANG_S = 15
"""CPU seconds, user and system."""
_SLOW_S = 1.0
_SLOW_S_PER_MB = 12.0
"""Ten times the cost of sound texts."""
_TOKEN_TIMES = 10_000


def targeted(
    language: str, texts: list[bytes], args: argparse.Namespace
) -> Iterator[tuple[str, bytes]]:
    if args.random:
        return
    yield from nestings().items()
    yield from long_texts(max(texts, key=len)).items()
    if args.tokens and language_info(language).grammar:
        for token in sorted(_tokens(language)):
            for name, joint in (("", " "), ("a", " a "), ("lines", "\n"), ("called", "(a) ")):
                row = ((token + joint) * 20 + "\n") if joint != "\n" else token + joint
                times = _TOKEN_TIMES // (20 if joint != "\n" else 1)
                yield f"token {token!r} {name}", (row * times).encode()


def _tokens(language: str) -> set[str]:
    rules = grammar(language).language
    found: set[str] = set()
    for at in range(rules.node_kind_count):
        kind = rules.node_kind_for_id(at)
        if kind and not rules.node_kind_is_named(at) and rules.node_kind_is_visible(at):
            found.add(kind)
    return found - {"end", "ERROR"}


def work(args: argparse.Namespace) -> None:
    """Runs cases of one language; writes the number of each before it runs."""
    faulthandler.enable()
    language = args.language[0]
    texts, others = _texts(language, args), _others()
    special = list(targeted(language, texts, args))
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(args.start, len(special) + args.cases):
        os.pwrite(args.progress, number.to_bytes(8, "little"), 0)
        name, data = special[number] if number < len(special) else ("random", b"")
        if not data:
            name, data = f"random {number}", hostile(texts, others, random.Random(number).randint)
        _one(language, name, data, number, args, outcomes)
    print(f"{language}: done, {dict(outcomes)}")


def _others() -> list[bytes]:
    return [path.read_bytes() for path in fixture_sources()]


def _texts(language: str, args: argparse.Namespace) -> list[bytes]:
    own = [path.read_bytes() for path in fixture_sources() if path.parent.name == language]
    return (own or _others()) + [path.read_bytes() for path in args.extra]


def _one(
    language: str,
    name: str,
    data: bytes,
    number: int,
    args: argparse.Namespace,
    outcomes: collections.Counter[str],
) -> None:
    signal.setitimer(signal.ITIMER_PROF, _HANG_S)
    started = time.process_time()
    try:
        facts = check_facts(data, language)
        took = time.process_time() - started
        outcomes[facts.outcome] += 1
        if took > _SLOW_S + len(data) / 1e6 * _SLOW_S_PER_MB:
            _save(args, language, number, data)
            print(f"{language}: SLOW {took:.1f} s, {len(data):,} bytes, {facts.outcome}, {name}")
        elif number % 3 == 0 and len(data) < 100_000 and check_facts(data, language) != facts:
            _save(args, language, number, data)
            print(f"{language}: DIFFERS on a second run, {name}")
    except Exception:
        _save(args, language, number, data)
        where = traceback.format_exc(limit=-2).replace("\n", " | ")
        print(f"{language}: FAILS {name}, {len(data):,} bytes: {where}")
    sys.stdout.flush()


def _save(args: argparse.Namespace, language: str, number: int, data: bytes) -> None:
    (args.out / f"{language}-{number}.bin").write_bytes(data)


def lead(args: argparse.Namespace) -> None:
    """Starts workers, and restarts them after a case that killed one."""
    args.out.mkdir(parents=True, exist_ok=True)
    waiting = args.language or [info.name for info in languages()]
    running: list[tuple[str, subprocess.Popen[bytes], Path]] = []
    starts = dict.fromkeys(waiting, 0)
    while waiting or running:
        while waiting and len(running) < args.jobs:
            name = waiting.pop(0)
            progress = args.out / f"{name}.progress"
            progress.write_bytes(starts[name].to_bytes(8, "little"))
            command = [
                sys.executable, __file__, "--worker", str(progress), "--language", name,
                "--cases", str(args.cases), "--start", str(starts[name]), "--out", str(args.out),
                *(f"--{key}" for key in ("tokens", "random") if getattr(args, key)),
                *(f"--extra={one}" for one in args.extra),
            ]  # fmt: skip
            log = (args.out / f"{name}.stderr").open("wb")
            running.append((name, subprocess.Popen(command, stderr=log), progress))
        time.sleep(0.2)
        for one in [one for one in running if one[1].poll() is not None]:
            running.remove(one)
            name, process, progress = one
            if process.returncode:
                number = int.from_bytes(progress.read_bytes(), "little")
                died = signal.Signals(-process.returncode).name if process.returncode < 0 else "?"
                print(f"{name}: DIED of {died} at {_case(name, number, args)}", flush=True)
                starts[name] = number + 1
                waiting.insert(0, name)


def _case(language: str, number: int, args: argparse.Namespace) -> str:
    texts = _texts(language, args)
    special = list(targeted(language, texts, args))
    if number < len(special):
        name, data = special[number]
    else:
        name, data = f"random {number}", hostile(texts, _others(), random.Random(number).randint)
    _save(args, language, number, data)
    return f"{number}, {len(data):,} bytes, {name}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--language", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tokens", action="store_true")
    parser.add_argument("--random", action="store_true", help="random cases only")
    parser.add_argument("--extra", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("/tmp/hunt"))
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        args.progress = os.open(args.worker, os.O_WRONLY)
        work(args)
    else:
        lead(args)


if __name__ == "__main__":
    main()
