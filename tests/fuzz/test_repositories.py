"""Repositories built to break an indexer: each is answered, and nothing outside is read.

`CODELENS_FUZZ_TINY_FILES=200000` sets the number of tiny files (default 3,000).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from extract.hostile import DEEP
from fuzz.inputs import SECRET
from gitrepo import GitRepo
from harness_sizes import size_of

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import CodelensError

TINY = size_of("CODELENS_FUZZ_TINY_FILES")


def answered(root: Path, home: Path, query: str = "lantern") -> list[str]:
    with Engine(Settings(home=home, workers=2)) as engine:
        found = engine.search(query, path=root, limit=50)
        assert found.receipt.status == "fresh"
        return [one.path for one in found.results]


def test_ten_thousand_levels_in_each_of_several_languages(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    for name, opening, closing in (
        ("a.py", "(", ")"), ("a.js", "[", "]"), ("a.c", "{", "}"), ("a.json", "[", "]"),
        ("a.rs", "{", "}"), ("a.html", "<div>", "</div>"), ("a.md", "> ", ""), ("a.jl", "(", ")"),
    ):  # fmt: skip
        rows = "\n".join([opening * 40] * (DEEP // 40))
        repo.write(name, f"lantern\n{rows}\n" + "\n".join([closing * 40] * (DEEP // 40)))
    deep = "/".join(["d"] * 400) + "/lantern.py"
    repo.write(deep, "def lantern(): pass\n")
    assert deep in answered(repo.root, tmp_path / "home")
    with Engine(Settings(home=tmp_path / "home", workers=2)) as engine:
        found = engine.search("lantern", path=repo.root, mode="text", limit=50).results
    assert {one.path for one in found} >= {
        f"a.{end}" for end in "py js c json rs html md jl".split()
    }


def test_lines_of_fifty_megabytes(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("long.js", b"var lantern=1;" * (50_000_000 // 14))
    repo.write("near.js", b"var lantern=1;" * (990_000 // 14))
    repo.write("lantern.py", "def lantern(): pass\n")
    found = answered(repo.root, tmp_path / "home")
    assert "lantern.py" in found
    with Engine(Settings(home=tmp_path / "home", max_file_bytes=100_000_000, workers=1)) as engine:
        assert engine.search("lantern", path=repo.root).results


def test_very_many_tiny_files(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    for number in range(TINY):
        repo.write(f"d{number % 997}/f{number}.py", f"lantern{number} = {number}\n")
    assert answered(repo.root, tmp_path / "home", f"lantern{TINY - 1}")
    assert answered(repo.root, tmp_path / "home", "lantern0")


EVIL_NAMES = (
    b"a\nlantern.py", b"a\x1b[2Jlantern.py", b"a\x07.py", b"\xff\xfelantern.py", b"lantern\x7f.py",
    b"a:b#c%d~2.py", b" lantern .py", b"-lantern.py", b"--help", b"$(touch owned).py", b"`id`.py",
    "\u202elantern.py".encode(), "lántern.py".encode(), b"con.py", b"a\\b.py", b"x" * 250 + b".py",
    b"lantern\r.py", b"~", b"#", b"'\".py", b"*?.py",
)  # fmt: skip


def test_names_of_any_bytes_are_found_and_read_again(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    for name in EVIL_NAMES:
        repo.write(name, "def lantern():\n    return 1\n")
    repo.commit("names")
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        for ref in (None, "HEAD"):
            found = engine.search("lantern", path=repo.root, ref=ref, limit=100)
            handles = [one.handle for one in found.results if one.symbol]
            read = engine.expand(handles, path=repo.root, ref=ref).items
            assert [one.error for one in read] == [""] * len(handles)
            assert {one.text for one in read} == {"def lantern():\n    return 1\n"}
            assert not [one for one in handles if any(ord(char) < 32 for char in one)]
    assert not (tmp_path / "owned").exists()
    assert not (repo.root / "owned").exists()


def test_links_lead_nowhere_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text(f"lantern = '{SECRET}'\n")
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("src/lantern.py", "def lantern(): pass\n")
    for link, target in (
        ("loop", "loop"), ("ping", "pong"), ("pong", "ping"), ("up", ".."), ("here", "."),
        ("src/deep", "../src"), ("out", "../outside"), ("secret.py", "../outside/secret.py"),
        ("abs", str(tmp_path / "outside")), ("git", ".git"), ("dev", "/dev/zero"),
    ):  # fmt: skip
        os.symlink(target, repo.path(link))
    repo.commit("links")
    if hasattr(os, "mkfifo"):
        os.mkfifo(repo.path("pipe.py"))
    assert answered(repo.root, tmp_path / "home") == ["src/lantern.py"]
    # A tracked folder becomes a link to outside.
    repo.commit("kept", {"kept/secret.py": "lantern = 1\n"})
    answered(repo.root, tmp_path / "home")
    repo.path("kept").rename(repo.path("moved"))
    os.symlink("../outside", repo.path("kept"))
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        every = engine.search("lantern", path=repo.root, limit=50)
        assert SECRET not in repr(every)
        for target in (
            "kept/secret.py",
            "out/secret.py",
            "secret.py",
            "git/config",
            "up/outside/secret.py",
        ):
            for ref in (None, "HEAD"):
                assert SECRET not in repr(engine.expand([target], path=repo.root, ref=ref))


@pytest.mark.parametrize(
    "text",
    [b"gitdir: ../victim/.git\n", b"gitdir: /nowhere\n", b"gitdir: .\n", b"junk", b"",
     b"gitdir: \0x", b"gitdir: .git\n", b"gitdir: " + b"a/" * 5000],
)  # fmt: skip
def test_a_git_file_that_points_elsewhere(tmp_path: Path, text: bytes) -> None:
    victim = GitRepo.init(tmp_path / "victim")
    victim.commit("theirs", {"secret.py": f"lantern = '{SECRET}'\n"})
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "lantern.py").write_text("def lantern(): pass\n")
    (folder / ".git").write_bytes(text)
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        try:
            found = engine.search("lantern", path=folder)
        except CodelensError as error:
            assert str(error)
        else:
            # git treats it as a worktree of the other repository, with the files on disk.
            assert SECRET not in repr(found)


def test_nothing_of_a_repository_is_run(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    trap.chmod(0o755)
    repo.commit(
        "one", {"lantern.py": "def lantern(): pass\n", ".gitattributes": "*.py filter=x diff=x\n"}
    )
    for name in (
        "core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.pager", "core.editor",
        "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.external",
        "diff.x.command", "credential.helper", "gpg.program", "core.askPass",
        "uploadpack.packObjectsHook",
    ):  # fmt: skip
        repo.config(name, str(trap))
    for hook in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman"):
        repo.write(f".git/hooks/{hook}", trap.read_bytes()).chmod(0o755)
    for name in ("sitecustomize.py", "apsw.py", "tree_sitter.py", "pygit2.py", "conftest.py"):
        repo.write(name, f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with Engine(Settings(home=tmp_path / "home", workers=2)) as engine:
        for ref in (None, "HEAD"):
            assert engine.search("lantern", path=repo.root, ref=ref).results
        engine.outline("lantern.py", path=repo.root)
        repo.write("lantern.py", "def lantern(): return 1\n")
        engine.impact([], diff="HEAD", path=repo.root)
        engine.map(path=repo.root)
        engine.status(path=repo.root)
    assert not (tmp_path / "ran").exists()
