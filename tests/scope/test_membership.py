"""What belongs equals `git ls-files -co --exclude-standard`, by generated trees and by hand."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from membership_trees import (
    examples,
    expected,
    fresh_repo,
    ignore_texts,
    listed,
    make_file,
    paths,
    track,
    walker,
)

from codelens.scope.gitindex import read_tracked
from codelens.scope.ignore import Ignore, IgnoreSettings
from codelens.scope.membership import Membership, Walker, marks_hold, sources_of

NO_EXCLUDES = IgnoreSettings(excludes_file="")

EXTRAS = [
    "fifo", "link", "dangling", "folder", "empty .git", "lost gitfile", "repository", "repository",
]  # fmt: skip


def make_extra(root: Path, path: bytes, kind: str) -> None:
    full = os.path.join(os.fsencode(root), path)
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        match kind:
            case "fifo":
                os.mkfifo(full)
            case "link":
                os.symlink(b".", full)
            case "dangling":
                os.symlink(b"nowhere", full)
            case "folder":
                os.makedirs(full, exist_ok=True)
            case "empty .git":
                os.makedirs(os.path.join(full, b".git"), exist_ok=True)
            case "lost gitfile":
                make_file(root, path + b"/.git", b"gitdir: /nowhere\n")
            case _:
                make_file(root, path + b"/.git/HEAD", b"ref: refs/heads/main\n")
                for name in (b"objects", b"refs"):
                    os.makedirs(os.path.join(full, b".git", name), exist_ok=True)
                make_file(root, path + b"/inner", b"")
    except OSError:
        return  # something of another kind is in the way


@given(
    files=st.lists(paths, min_size=8, max_size=25),
    missing=st.lists(paths, max_size=3),
    ignores=st.lists(st.tuples(paths, ignore_texts), min_size=1, max_size=4),
    at_root=ignore_texts,
    exclude=ignore_texts,
    excludes_file=ignore_texts,
    extras=st.lists(st.tuples(paths, st.sampled_from(EXTRAS)), min_size=2, max_size=6),
    seed=st.randoms(use_true_random=False),
    fold=st.booleans(),
    version=st.sampled_from(["2", "4", "split"]),
)
@examples(150)
def test_a_walk_finds_what_git_lists(
    tmp_path_factory, files, missing, ignores, at_root, exclude, excludes_file, extras, seed, fold,
    version,
):  # fmt: skip
    with fresh_repo(tmp_path_factory.getbasetemp()) as repo:
        repo.config("core.ignoreCase", str(fold).lower())
        global_ignore = repo.root / ".git" / "global-ignore"
        global_ignore.write_bytes(excludes_file)
        repo.config("core.excludesFile", str(global_ignore))
        (repo.root / ".git" / "info" / "exclude").write_bytes(exclude)
        make_file(repo.root, b".gitignore", at_root)
        for folder, text in ignores:
            make_file(repo.root, folder + b"/.gitignore", text)
        for path in files:
            make_file(repo.root, path)
        for path, kind in extras:
            make_extra(repo.root, path, kind)
        chosen = [path for path in [*files, *missing] if seed.random() < 0.4]
        chosen += [folder + b"/.gitignore" for folder, _ in ignores if seed.random() < 0.3]
        if version == "split":
            repo.git("update-index", "--split-index")
        else:
            repo.git("update-index", "--index-version", version)
        track(repo, {path: b"100644" for path in chosen if seed.random() < 0.9})
        track(repo, {path: b"160000" for path, _ in extras if seed.random() < 0.2})
        track(repo, {path: b"100644" for path in chosen[:2]}, stage=2)

        settings = IgnoreSettings(excludes_file=str(global_ignore), ignore_case=fold)
        found = walker(repo, settings).walk()

        assert listed(found) == expected(repo)
        assert not found.unreadable
