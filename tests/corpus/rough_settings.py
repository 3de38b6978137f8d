"""Damaged settings: asks every question of `every_question.py` for each.

    python tests/corpus/rough_settings.py [--settings WORD]...

Questions continue with defaults and one warning that names the file and the remedy; nothing is
pruned; `doctor --fix` sets the file aside, and then all is as before. An unreadable file is an
error that names it, and `doctor --fix` makes it readable. Faults are printed; the exit code is 1
if there are any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from corpus.every_question import Asked, ask_all
from corpus.rough_places import KINDS, Place, made_place
from faults.world import obey_modes
from gitrepo import git_environment

_NUMBERS = (
    "budget_ms", "max_file_bytes", "workers", "most_texts", "prune_branch_days",
    "prune_detached_days", "prune_gone_days", "prune_ref_days",
)  # fmt: skip
_TRUTHS = (
    "usage", "trail", "sent", "mask_secrets", "meaning", "rerank", "telemetry", "index_at_start",
)  # fmt: skip
_NO_NUMBER = ("inf", "-inf", "nan", "-1", "1e300", "true", '"5"', "[]", "{}", "9" * 30)

TEXTS: dict[str, bytes] = {
    "no TOML": b"budget_ms = ???\n",
    "no UTF-8": b"tools = '\xff\xfe'\n",
    "UTF-16": "workers = 2\n".encode("utf-16"),
    "a mark of UTF-8 and no TOML": b"\xef\xbb\xbfworkers = 2\n",
    "NULs": b"\0" * 100,
    "one long line": b"a" * 900_000,
    "too long": b"# more\n" * 200_000,
    "deep lists": b"tools = " + b"[" * 20_000,
    "deep keys": b"a." * 50_000 + b"a = 1",
    "a number of 20,000 digits": b"workers = " + b"9" * 20_000,
    "a setting that there is not": b"colour = 'red'\n",
    "a setting twice": b"workers = 1\nworkers = 2\n",
    "no table of languages": b"languages = 3\n",
    "a language that is a number": b"languages = {'*.py' = 1}\n",
    "a pattern that is a number": b"ignore = [1]\n",
    "a tool that is a list": b"tools = []\n",
    "an editor that is a number": b"editor = 1\n",
    "ends of lines of a Mac": b"workers = 1\rtools = 'all'\r",
    **{
        f"{name} = {value[:12]}": f"{name} = {value}\n".encode()
        for at, name in enumerate(_NUMBERS)
        for value in (*_NO_NUMBER[at % 3 :: 3], "inf")
    },
    **{f"{name} = 'on'": f"{name} = 'on'\n".encode() for name in _TRUTHS},
}
"""Each is refused as a whole."""


def _write(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


SETTINGS: dict[str, Callable[[Path], object]] = {
    **{name: _write(data) for name, data in TEXTS.items()},
    **{f"as {kind}": KINDS[kind] for kind in ("3 GB", "a pipe", "a folder", "noise")},
    "as a link to itself": KINDS["a link to itself"],
    "as a link to /dev/zero": KINDS["a link to /dev/zero"],
}
QUIET = (
    "hook", "completion", "languages", "serve", "install", "uninstall", "ui", "cl_", "focus",
    "doctor", "the end of the server",
)  # fmt: skip
"""Prefixes of commands that need not warn: they do not read these settings, or say it elsewhere."""
PRUNES = ("prune --yes", "prune")


def faults_of(place: Place, name: str) -> Iterator[str]:
    """The faults of the settings with this name."""
    file = place.home / "config.toml"
    SETTINGS[name](file)
    for answer in ask_all(place.repo.root, place.home):
        yield from _faults_in(answer)
    found = _run(place, "doctor")
    if found.returncode != 1 or "config.toml" not in found.stdout:
        yield f"doctor: {found.returncode}: {found.stdout[-300:]} {found.stderr[-300:]}"
    fixed = _run(place, "doctor", "--fix")
    if "done" not in fixed.stdout or file.exists() or file.is_symlink():
        yield f"doctor --fix: {fixed.returncode}: {fixed.stdout[-300:]} {fixed.stderr[-300:]}"
    after = _run(place, "search", "kindle")
    if after.returncode or "warning" in after.stderr:
        yield f"after doctor --fix: {after.returncode}: {after.stderr[-300:]}"


def _faults_in(answer: Asked) -> Iterator[str]:
    said = (answer.err.strip() or answer.out)[-300:]
    if fault := answer.fault():
        yield f"{answer.question}: {fault}: {said}"
    elif answer.question in PRUNES:
        if answer.code != 2:
            yield f"{answer.question}: pruned: {said}"
    elif answer.code == 2:
        yield f"{answer.question}: refused: {said}"
    elif not answer.question.startswith(QUIET):
        if (warnings := answer.err.count("warning:")) != 1:
            yield f"{answer.question}: {warnings} warnings: {said}"
        elif "config.toml" not in answer.err or "doctor --fix" not in answer.err:
            yield f"{answer.question}: a warning that does not help: {said}"


def _run(place: Place, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codelens", *args], cwd=place.repo.root, text=True,
        env=git_environment({"CODELENS_HOME": str(place.home), "HOME": str(place.home.parent)}),
        capture_output=True, preexec_fn=obey_modes, timeout=120,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", action="append", default=[])
    args = parser.parse_args()
    bad = tried = 0
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    with tempfile.TemporaryDirectory(prefix="settings-") as scratch:
        place = made_place(Path(scratch) / "place")
        for name in SETTINGS:
            if args.settings and not any(word in name for word in args.settings):
                continue
            tried += 1
            for fault in faults_of(place, name):
                bad += 1
                print(f"FAULT {name}: {fault}", flush=True)
    print(f"{tried} kinds of settings, every question each: {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
