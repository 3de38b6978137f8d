"""Excludes the ranking's judges from training: by the names of packages and by content.

    python -m training.leave_out MIRROR ARCHIVES

`MIRROR` has a git folder `owner+name/repo` for each repository that judges. A file counts as a copy
if half of its long lines are in one of them. `LEFT_OUT.tsv` stores the findings, so training needs
no mirror.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from training import archives
from training.corpus import SourceText, texts_of
from training.judges import judges

HERE = Path(__file__).parent
SOURCES, LEFT_OUT = HERE / "SOURCES.tsv", HERE / "LEFT_OUT.tsv"
_LONG_LINE = 25
_LEAST_LINES = 4
_SHARE = 0.5


def read_left_out() -> dict[str, set[str]]:
    """Package -> paths in it that are copies."""
    by_package: dict[str, set[str]] = {}
    for line in LEFT_OUT.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            package, path = line.split("\t")
            by_package.setdefault(package, set()).add(path)
    return by_package


def long_lines(text: bytes) -> np.ndarray:
    """Hashes of the distinct long lines of a text, without blanks."""
    lines = {b"".join(line.split()) for line in text.splitlines()}
    digests = [
        hashlib.blake2b(line, digest_size=8).digest() for line in lines if len(line) >= _LONG_LINE
    ]
    return np.frombuffer(b"".join(digests), np.uint64)


def lines_of_judges(mirror: Path) -> np.ndarray:
    """The long lines of every text of the repositories that judge, sorted."""
    every: list[np.ndarray] = []
    for judge in judges():
        folder = mirror / judge.replace("/", "+") / "repo"
        if not folder.exists():
            print(f"not in the mirror: {judge}", file=sys.stderr)
            continue
        every.append(np.unique(np.concatenate([long_lines(text) for text in _blobs(folder)])))
    return np.unique(np.concatenate(every))


def _blobs(repository: Path) -> Iterator[bytes]:
    git = ["git", "--git-dir", str(repository)]
    tree = subprocess.run([*git, "ls-tree", "-r", "-l", "HEAD"], capture_output=True, check=True)
    rows = [line.split(None, 4) for line in tree.stdout.splitlines()]
    oids = [
        row[2] for row in rows if row[1] == b"blob" and row[3].isdigit() and int(row[3]) < 400_000
    ]
    yield b""
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for oid in oids:
            process.stdin.write(oid + b"\n")
            process.stdin.flush()
            head = process.stdout.readline().split()
            if len(head) == 3:
                yield process.stdout.read(int(head[2]))
                process.stdout.read(1)


def is_copy(text: SourceText, judged: np.ndarray) -> bool:
    """Whether half of a text's long lines are in a repository that judges."""
    lines = long_lines(text.text)
    if len(lines) < _LEAST_LINES:
        return False
    at = np.minimum(np.searchsorted(judged, lines), len(judged) - 1)
    return float(np.mean(judged[at] == lines)) >= _SHARE


def main() -> None:
    """Writes LEFT_OUT.tsv."""
    mirror, folder = map(Path, sys.argv[1:3])
    judged = lines_of_judges(mirror)
    print(f"{len(judged):,} long lines of {len(judges())} repositories", file=sys.stderr)
    rows: list[str] = []
    for source in archives.read_sources(SOURCES):
        archive = archives.find(
            source.registry, source.name, source.version, folder / source.registry
        )
        if archive is None:
            continue
        package = archives.open_package(archive, source.registry)
        left: set[str] = set()
        # The files that replace excluded ones are checked as well.
        while copies := [text.path for text in texts_of(package, left)[0] if is_copy(text, judged)]:
            left.update(copies)
        rows += [f"{source.name}\t{path}" for path in sorted(left)]
    head = "# Files that are copies of what judges the ranking: package, path\n"
    LEFT_OUT.write_text(head + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} files left out", file=sys.stderr)


if __name__ == "__main__":
    main()
