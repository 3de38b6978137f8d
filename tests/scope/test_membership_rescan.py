"""A rescan of the changed folders gives the same result as a full walk."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from membership_trees import NO_EXCLUDES, examples, fresh_repo, make_file, on_disk, track, walker

from codelens.scope.membership import Membership, marks_hold

parts = st.sampled_from([b"a", b"b", b"c", b"out", b"x.o"])
paths = st.lists(parts, min_size=1, max_size=4).map(b"/".join)
KINDS = [
    "write", "write", "remove", "remove", "mkdir", "rename", "rename", "link", "repository",
    "no repository", "ignore", "fifo",
]  # fmt: skip
changes = st.tuples(st.sampled_from(KINDS), paths, paths)


@dataclass(frozen=True)
class Names:
    """The parts of a membership that must be equal."""

    files: frozenset[bytes]
    links: frozenset[bytes]
    folders: frozenset[bytes]
    nested: frozenset[bytes]

    @classmethod
    def of(cls, found: Membership) -> Names:
        kinds = (found.files, found.links, found.folders, found.nested)
        return cls(*(frozenset(kind) for kind in kinds))


def age(root: Path) -> None:
    """Sets the times of all folders back, so that the next change is sure to show."""
    for number, (folder, _, _) in enumerate(os.walk(os.fsencode(root))):
        os.utime(folder, ns=(10**18 + number, 10**18 + number))


def change(root: Path, kind: str, path: bytes, other: bytes) -> None:
    full = os.path.join(os.fsencode(root), path)
    try:
        match kind:
            case "write":
                make_file(root, path)
            case "remove" if os.path.isdir(full) and not os.path.islink(full):
                shutil.rmtree(full)
            case "remove":
                os.remove(full)
            case "mkdir":
                os.makedirs(full)
            case "rename":
                os.rename(full, os.path.join(os.fsencode(root), other))
            case "link":
                os.symlink(os.path.join(os.fsencode(root), other), full)
            case "repository":
                make_file(root, path + b"/.git/HEAD", b"ref: refs/heads/main\n")
                os.makedirs(full + b"/.git/objects")
                os.makedirs(full + b"/.git/refs")
            case "no repository":
                shutil.rmtree(full + b"/.git")
            case "ignore":
                make_file(root, path + b"/.gitignore", b"*.o\n")
            case _:
                os.mkfifo(full)
    except OSError:
        return  # this change is impossible here


def same(root: Path, path: bytes, before: os.stat_result) -> bool:
    try:
        now = os.lstat(os.path.join(os.fsencode(root), path))
    except OSError:
        return False
    return (now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_mode) == (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_ino,
        before.st_mode,
    )


def looked_again(repo: GitRepo, before: Membership) -> Names | None:
    """Rescans as the engine does: None if a source changed, which requires a full walk."""
    if not all(same(repo.root, path, stat) for path, stat in before.ignore_files.items()):
        return None
    if not marks_hold(repo.root, before.marks.items()):
        return None
    changed = [path for path, stat in before.folders.items() if not same(repo.root, path, stat)]
    again = walker(repo, NO_EXCLUDES).rescan(changed, before.folders, before.ignore_files)
    if again is None:
        return None

    def stays(path: bytes) -> bool:
        lost = any(path == one or path.startswith(one + b"/") for one in again.gone)
        return not lost and path.rpartition(b"/")[0] not in again.folders

    return Names(
        frozenset(again.files)
        | {path for path in before.files if stays(path) and on_disk(repo.root, path)},
        frozenset(again.links) | {path for path in before.links if stays(path)},
        frozenset(again.folders)
        | {
            path
            for path in before.folders
            if not any(path == one or path.startswith(one + b"/") for one in again.gone)
        },
        frozenset(again.nested) | {path for path in before.nested if stays(path)},
    )


@pytest.mark.slow
@given(
    files=st.lists(paths, min_size=5, max_size=20),
    tracked=st.lists(paths, max_size=6),
    ignore=st.sampled_from([b"", b"out\n", b"out/\n*.o\n", b"/a/b\n!out\n", b"a/*\n"]),
    nested=st.lists(paths, max_size=2),
    rounds=st.lists(st.lists(changes, min_size=1, max_size=6), min_size=1, max_size=4),
)
@examples(120)
def test_a_rescan_equals_a_walk(tmp_path_factory, files, tracked, ignore, nested, rounds):
    with fresh_repo(tmp_path_factory.getbasetemp()) as repo:
        make_file(repo.root, b".gitignore", ignore)
        for path in files:
            make_file(repo.root, path)
        for path in nested:
            change(repo.root, "repository", path, b"")
        track(repo, dict.fromkeys([*tracked, *files[:3]], b"100644"))
        for steps in rounds:
            age(repo.root)
            before = walker(repo, NO_EXCLUDES).walk()
            for step in steps:
                change(repo.root, *step)
            found = looked_again(repo, before)
            now = walker(repo, NO_EXCLUDES).walk()
            assert found is None or found == Names.of(now)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write_all({".gitignore": "out/\n", "src/a.py": "", "src/deep/b.py": "", "out/kept": ""})
    repo.add("out/kept", force=True)
    age(repo.root)
    return repo


def rescanned(repo: GitRepo, before: Membership, *folders: bytes) -> Membership:
    found = walker(repo, NO_EXCLUDES).rescan(folders, before.folders, before.ignore_files)
    assert found is not None
    return found


def test_a_rescan_lists_the_folder_and_all_of_a_new_one(repo: GitRepo) -> None:
    before = walker(repo, NO_EXCLUDES).walk()
    repo.write_all({"src/new.py": "", "src/fresh/in/c.py": "", "src/deep/unseen.py": ""})

    found = rescanned(repo, before, b"src")

    assert found.files.keys() == {b"src/a.py", b"src/new.py", b"src/fresh/in/c.py"}
    assert found.folders.keys() == {b"src", b"src/fresh", b"src/fresh/in"}
    assert found.gone == set()


def test_a_tracked_file_that_comes_back_to_an_ignored_folder_is_found(repo: GitRepo) -> None:
    repo.remove("out/kept")
    before = walker(repo, NO_EXCLUDES).walk()
    assert b"out" in before.folders
    repo.write_all({"out/kept": "", "out/other": ""})

    assert rescanned(repo, before, b"out").files.keys() == {b"out/kept"}


def test_a_folder_that_went_or_became_a_link_or_a_repository_is_gone(repo: GitRepo) -> None:
    repo.write_all({"one/f": "", "two/f": "", "three/in/f": ""})
    before = walker(repo, NO_EXCLUDES).walk()
    shutil.rmtree(repo.path("one"))
    shutil.rmtree(repo.path("two"))
    repo.path("two").symlink_to("src")
    GitRepo.init(repo.path("three"))

    found = rescanned(repo, before, b"one", b"two", b"three", b"three/in", b"two/gone")

    assert found.gone == {b"one", b"two", b"two/gone", b"three", b"three/in"}
    assert found.nested == {b"three"}
    assert found.files == {}


def test_an_ignore_file_that_comes_or_goes_asks_for_a_walk(repo: GitRepo) -> None:
    before = walker(repo, NO_EXCLUDES).walk()
    one = walker(repo, NO_EXCLUDES)
    repo.write("src/.gitignore", "*.o\n")
    assert one.rescan([b"src"], before.folders, before.ignore_files) is None
    repo.remove(".gitignore")
    assert one.rescan([b""], before.folders, before.ignore_files) is None
