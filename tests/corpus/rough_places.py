"""Replaces each small file of git, of a worktree and of the home with something else.

    python tests/corpus/rough_places.py [--kind KIND]... [--file WORD]... [--share N]

For each pair a repository with two worktrees is made, asked once, damaged and asked every question
of `every_question.py`. Faults are printed; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from corpus.every_question import Asked, ask_all
from gitrepo import GitRepo

HUGE = 3 * 1024**3
"""Bytes; sparse on disk."""
GIT_FILES = (
    *("HEAD", "config", "index", "packed-refs", "description", "ORIG_HEAD", "FETCH_HEAD"),
    *("MERGE_HEAD", "COMMIT_EDITMSG", "config.worktree", "shallow", "commondir", "gitdir"),
    *("info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "index.lock"),
    *("hooks/post-checkout", "hooks/fsmonitor", "refs/heads/main", "refs/heads/side"),
    *("refs/tags/v1", "refs/stash", "refs/remotes/origin/HEAD", "logs/HEAD"),
    *("logs/refs/heads/main", "logs/refs/stash", "objects/info/alternates"),
    *("objects/info/commit-graph", "objects/info/packs", "rebase-merge/head-name"),
    *("worktrees/side/gitdir", "worktrees/side/HEAD", "worktrees/side/commondir"),
    *("worktrees/side/index", "worktrees/side/locked", "worktrees/side/logs/HEAD", "MERGE_MSG"),
    *("refs", "refs/heads", "objects", "worktrees", "worktrees/side", "logs", "info", "hooks"),
)
"""Below `.git`; some do not exist by default."""
TREE_FILES = (
    *(".gitignore", ".gitattributes", ".gitmodules", ".codelensignore", ".mailmap", "lamp.py"),
    *("src", "src/.gitignore", "src/.gitattributes", "../side/.git", "../side/lamp.py"),
    *("package.json", "tsconfig.json", "go.mod", "pyproject.toml", "Cargo.toml", ".editorconfig"),
)
HOME_FILES = (
    *("config.toml", "ignore", "usage.db", "usage.log", "indexes", "contexts", "pins", "trails"),
    *("logs", "logs/hooks.log", "focus", "focus/switches.json", "vectors", "server.json", "tokens"),
)
"""Below the home; files that a first pass of all questions creates are added."""


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, HUGE)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _noise(path: Path) -> None:
    path.write_bytes(bytes((n * 167 + n // 7) % 256 for n in range(5_000)))


def _zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _long_line(path: Path) -> None:
    path.write_bytes(b"ref: " + b"a/" * 5_000_000)


def _barred(path: Path) -> None:
    path.touch()
    path.chmod(0)


KINDS: dict[str, Callable[[Path], object]] = {
    "3 GB": _huge, "a pipe": os.mkfifo, "a folder": Path.mkdir, "nothing in it": Path.touch,
    "noise": _noise, "a link to itself": _loop, "a link to /dev/zero": _zeros,
    "a line of 10 MB": _long_line, "gone": lambda path: None,
}  # fmt: skip


class Place(NamedTuple):
    """A repository with a home that was used before."""

    repo: GitRepo
    home: Path
    answers: list[Asked]
    """To the questions that used it."""


def made_place(folder: Path) -> Place:
    """Makes two worktrees, a tag, a stash, a remote's HEAD, and what questions leave in a home."""
    repo = GitRepo.init(folder / "repo")
    body = "def kindle():\n    return 1\n"
    repo.commit("one", {"lamp.py": body, "src/wick.py": "from lamp import kindle\n"})
    repo.commit("two", {"src/wick.py": "from lamp import kindle\n\ndef trim():\n    kindle()\n"})
    repo.git("tag", "v1")
    repo.write("lamp.py", body + "\n\n")
    repo.git("stash", "-q")
    repo.git("worktree", "add", "-q", "-b", "side", str(folder / "side"))
    head = repo.git("rev-parse", "HEAD").decode().strip()
    for name in ("refs/remotes/origin/main", "refs/heads/old"):
        repo.git("update-ref", name, head)
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return Place(repo, folder / "home", ask_all(repo.root, folder / "home"))


def damaged_files(place: Place) -> list[Path]:
    """Every file that may be replaced."""
    left = [
        path.relative_to(place.home).as_posix()
        for path in sorted(place.home.rglob("*"))
        if not path.is_dir()
    ]
    return [
        *(place.repo.root / ".git" / name for name in GIT_FILES),
        *(place.repo.root / name for name in TREE_FILES),
        *(place.home / name for name in dict.fromkeys((*HOME_FILES, *left))),
    ]


def replaced(path: Path, kind: str) -> None:
    """Replaces a file with an object of this kind."""
    path = path.parent.resolve() / path.name if path.parent.exists() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    KINDS[kind](path)


def pairs(template: Place, kinds: list[str], words: list[str]) -> list[tuple[Path, str]]:
    """The pairs to try: files, relative to the folder of the place, and kinds."""
    folder = template.home.parent
    names = [Path(os.path.relpath(file, folder)) for file in damaged_files(template)]
    return [
        (name, kind)
        for name in names
        if not words or any(word in str(name) for word in words)
        for kind in kinds
    ]


def faults_of(template: Path, folder: Path, name: Path, kind: str) -> Iterator[tuple[Asked, str]]:
    """The faults of one pair, in a copy of the template at `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder, symlinks=True)
    replaced(folder / name, kind)
    for answer in ask_all(folder / "repo", folder / "home"):
        fault = answer.fault()
        if fault:
            yield answer, fault


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", action="append", default=[], choices=list(KINDS))
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--share", type=int, default=1, help="try one pair of so many")
    args = parser.parse_args()
    counts = Counter[str]()
    with tempfile.TemporaryDirectory(prefix="rough-") as scratch:
        # A linked worktree records its path: each copy stays where the first one was made.
        folder, template = Path(scratch) / "place", Path(scratch) / "template"
        place = made_place(folder)
        tried = pairs(place, args.kind or list(KINDS), args.file)[:: args.share]
        folder.rename(template)
        for name, kind in tried:
            counts["pairs"] += 1
            for answer, fault in faults_of(template, folder, name, kind):
                counts["faults"] += 1
                said = answer.err.strip()[-600:] or answer.out[-300:]
                print(f"FAULT {name} as {kind}: {answer.question}: {fault}: {said}", flush=True)
    print(f"{counts['pairs']} pairs of a file and what replaced it: {counts['faults']} faults")
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
