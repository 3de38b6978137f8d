"""HEAD to the files on disk: every change that git sees is reported, and nothing else."""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.branch_answers import FileDiff
from codelens.engine.engine import Engine

LF = b"def load(name):\n    return name\n\n\nLIMIT = 1\n"
CRLF = LF.replace(b"\n", b"\r\n")
MIXED = b"def load(name):\r\n    return name\n\n\nLIMIT = 1\r\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"lib.py": LF, "run.sh": "echo\n"})
    return repo


def committed_as_is(repo: GitRepo, files: dict[str, bytes]) -> None:
    """Commits unfiltered bytes; git's index stores no stat of the files."""
    for path, data in files.items():
        oid = repo.git("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{oid},{path}")
    repo.commit_staged("as is")


def reported(engine: Engine, repo: GitRepo, **options) -> dict[str, FileDiff]:
    return {file.path: file for file in engine.diff(path=repo.root, **options).files}


def seen_by_git(repo: GitRepo) -> set[str]:
    names = repo.text("diff", "HEAD", "--name-only", "-z", "--no-renames")
    return set(names.split("\0")) - {""}


def outside(file: FileDiff) -> list[tuple[str, object]]:
    return [(part.how, part.new_lines) for part in file.outside]


@pytest.mark.parametrize(
    ("before", "after"), [(LF, CRLF), (CRLF, LF), (LF, MIXED), (MIXED, CRLF), (LF, LF[:-1])]
)
def test_changed_line_ends_are_reported_with_their_lines(
    engine: Engine, repo: GitRepo, before: bytes, after: bytes
) -> None:
    committed_as_is(repo, {"lib.py": before})
    repo.write("lib.py", after)
    assert seen_by_git(repo) == {"lib.py"}
    (part,) = reported(engine, repo)["lib.py"].outside
    assert part.how == "line ends"
    lines = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    changed = {number for number, (old, new) in enumerate(lines, 1) if old != new}
    if after == LF[:-1]:
        changed = {5}
    shown = {line for first, last in part.new_lines for line in range(first, last + 1)}
    assert shown == changed


def test_line_ends_are_reported_next_to_a_changed_definition(engine: Engine, repo: GitRepo) -> None:
    repo.write("lib.py", CRLF.replace(b"return name", b"return 2"))
    file = reported(engine, repo)["lib.py"]
    assert [line.how for line in file.definitions] == [("body",)]
    assert outside(file) == [("line ends", ((3, 5),))]


def test_trailing_blanks_are_reported_next_to_other_changes(engine: Engine, repo: GitRepo) -> None:
    repo.write("lib.py", LF.replace(b"return name", b"return 2").replace(b"= 1", b"= 1  "))
    file = reported(engine, repo)["lib.py"]
    covered = {line for definition in file.definitions for line in definition.new_lines}
    covered |= {span for part in file.outside for span in part.new_lines}
    assert {(1, 2), (5, 5)} <= covered


@pytest.mark.parametrize("autocrlf", ["false", "true", "input"])
@pytest.mark.parametrize(
    "attributes", ["", "* text=auto\n", "* text\n", "* -text\n", "* eol=crlf\n"]
)
def test_only_changes_that_git_sees_are_reported(
    engine: Engine, repo: GitRepo, autocrlf: str, attributes: str
) -> None:
    repo.config("core.autocrlf", autocrlf)
    if attributes:
        repo.write(".gitattributes", f"{attributes}\n")
        repo.git("add", ".gitattributes")
    texts = {"lf": LF, "crlf": CRLF, "mixed": MIXED}
    pairs = {f"{old}_{new}.py": (old, new) for old, new in itertools.product(texts, texts)}
    committed_as_is(repo, {path: texts[old] for path, (old, _) in pairs.items()})
    for path, (_, new) in pairs.items():
        repo.write(path, texts[new])
    differing = {path for path, (old, new) in pairs.items() if old != new}
    # If git would store equal bytes differently, it reports them until it has a stat.
    assert set(reported(engine, repo)) == seen_by_git(repo) & differing
    other = repo.worktree(repo.root.parent / "other")
    repo.write("lf_lf.py", LF.replace(b"1", b"2"))
    assert "lf_lf.py" in reported(engine, repo, other=str(other.root))


def test_a_checkout_with_other_line_ends_merges_as_git_would_store_it(
    engine: Engine, repo: GitRepo
) -> None:
    repo.config("core.autocrlf", "true")
    other = repo.worktree(repo.root.parent / "other", branch="other")
    assert b"\r\n" in other.path("lib.py").read_bytes()
    repo.write("lib.py", CRLF.replace(b"return name", b"return 2"))
    other.write("lib.py", CRLF.replace(b"LIMIT = 1", b"LIMIT = 2"))
    answer = engine.conflicts(path=repo.root)
    assert (answer.results, answer.clean) == ((), 1)


def test_bytes_behind_a_zero_byte_are_compared_where_attributes_ask_for_line_ends(
    engine: Engine, repo: GitRepo
) -> None:
    attributes = b"* text=auto\n*.txt text\n"
    head, tail = b"a\r\n\0", b"\r\nold"
    repo.commit("two", {".gitattributes": attributes, "a.png": head + tail})
    repo.commit("three", {"forced.txt": b"a\n\0\nold"})
    other = repo.worktree(repo.root.parent / "other", branch="other")
    for root, end in ((repo.root, b"\r\nhere"), (other.root, b"\r\nthere")):
        (root / "a.png").write_bytes(head + end)
        (root / "forced.txt").write_bytes(b"a\r\n\0\r\nold")
    differing = {file.path for file in engine.diff(path=repo.root, other=str(other.root)).files}
    assert differing == {"a.png"}
    assert set(reported(engine, repo)) == {"a.png"} == seen_by_git(repo)
    (rival,) = engine.conflicts(path=repo.root).results
    assert {textual.path for textual in rival.textual} == {"a.png"}


def test_a_filter_that_is_a_program_is_never_run_and_its_files_are_untouched(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    repo.config("filter.rot.clean", "tr a-z n-za-m")
    repo.config("filter.rot.smudge", "tr n-za-m a-z")
    repo.write_all({".gitattributes": "*.rot filter=rot\n", "a.rot": "hello\n"})
    os.utime(repo.path("a.rot"), ns=(10**18, 10**18))
    repo.commit("filtered")
    repo.config("filter.rot.clean", f"touch {tmp_path / 'ran'}; cat")
    assert reported(engine, repo) == {}
    repo.write("a.rot", "other\n")
    assert list(reported(engine, repo)) == ["a.rot"]
    assert not (tmp_path / "ran").exists()


def test_a_changed_mode_is_reported_with_and_without_a_changed_text(
    engine: Engine, repo: GitRepo
) -> None:
    script, lib = repo.path("run.sh"), repo.path("lib.py")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    lib.chmod(lib.stat().st_mode | stat.S_IXUSR)
    lib.write_bytes(LF.replace(b"1", b"2"))
    files = reported(engine, repo)
    assert {path: (file.how, file.old_mode, file.new_mode) for path, file in files.items()} == {
        "lib.py": ("changed", "100644", "100755"),
        "run.sh": ("mode", "100644", "100755"),
    }
    repo.config("core.fileMode", "false")
    assert list(reported(engine, repo)) == ["lib.py"]


def test_files_replaced_by_links_and_back_are_reported(engine: Engine, repo: GitRepo) -> None:
    for name in ("stays", "turns", "goes", "other"):
        repo.path(name).symlink_to("lib.py")
    repo.write("sub/inner.py", LF)
    repo.commit("links")
    assert reported(engine, repo) == {}
    repo.remove("lib.py")
    repo.path("lib.py").symlink_to("run.sh")
    repo.remove("turns")
    repo.write("turns", LF)
    repo.remove("goes")
    repo.remove("other")
    repo.path("other").symlink_to("run.sh")
    repo.remove("sub/inner.py")
    repo.path("sub").rmdir()
    repo.path("sub").symlink_to("elsewhere")
    repo.path("new").symlink_to("nowhere")
    repo.git("add", "new")
    files = reported(engine, repo)
    assert set(files) == seen_by_git(repo) - {"sub"}
    assert {path: (file.how, file.folded) for path, file in files.items()} == {
        "lib.py": ("changed", "link"), "turns": ("changed", "link"), "goes": ("removed", "link"),
        "other": ("changed", "link"), "sub/inner.py": ("removed", ""), "new": ("added", "link"),
    }  # fmt: skip
    assert (files["lib.py"].old_mode, files["lib.py"].new_mode) == ("100644", "120000")


def test_a_submodule_is_reported_by_commits_and_uncommitted_changes(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    inner = GitRepo.init(tmp_path / "inner")
    first = inner.commit("one", {"a.py": LF})
    allowed = ("-c", "protocol.file.allow=always")
    repo.git(*allowed, "submodule", "add", "-q", str(inner.root), "sub")
    added = reported(engine, repo)
    assert (added["sub"].how, added["sub"].folded, added["sub"].new_commit) == (
        "added", "submodule", first,
    )  # fmt: skip
    repo.commit("sub")
    assert reported(engine, repo) == {}
    checkout = GitRepo(repo.path("sub"))
    checkout.write("a.py", LF.replace(b"1", b"2"))
    dirty = reported(engine, repo)["sub"]
    assert (dirty.how, dirty.old_commit, dirty.new_commit) == ("changed", first, f"{first}-dirty")
    second = checkout.commit("two")
    moved = reported(engine, repo)["sub"]
    assert (moved.old_commit, moved.new_commit) == (first, second)
    checkout.write("a.py", LF.replace(b"1", b"3"))
    both = reported(engine, repo)["sub"]
    assert (both.old_commit, both.new_commit) == (first, f"{second}-dirty")
    repo.git("submodule", "deinit", "-q", "-f", "sub")
    assert reported(engine, repo) == {}
    repo.path("sub").rmdir()
    assert reported(engine, repo)["sub"].how == "removed"


def test_a_submodule_that_both_moved_on_is_a_conflict_of_git(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    inner = GitRepo.init(tmp_path / "inner")
    commits = [inner.commit(str(number), {"a.py": f"X = {number}\n"}) for number in range(3)]
    allowed = ("-c", "protocol.file.allow=always")
    inner.checkout(commits[0])
    repo.git(*allowed, "submodule", "add", "-q", str(inner.root), "sub")
    repo.commit("sub")
    other = repo.worktree(tmp_path / "other", branch="other")
    other.git(*allowed, "submodule", "update", "-q", "--init")
    GitRepo(repo.path("sub")).git("fetch", "-q", "origin", *commits)
    GitRepo(repo.path("sub")).checkout(commits[1])
    GitRepo(other.path("sub")).checkout("--orphan", "island")
    GitRepo(other.path("sub")).commit("island", {"a.py": "X = 9\n"})
    (rival,) = engine.conflicts(path=repo.root).results
    assert {conflict.path for conflict in rival.textual} == {"sub"}
    assert rival.uncommitted == 1


def test_a_changed_encoding_is_reported(engine: Engine, repo: GitRepo) -> None:
    repo.commit("wide", {"wide.txt": "grüße\n".encode("utf-16")})
    repo.write("wide.txt", "grüße\n")
    assert outside(reported(engine, repo)["wide.txt"]) == [("encoding", ())]


def test_a_file_that_git_must_ignore_is_not_reported(engine: Engine, repo: GitRepo) -> None:
    for flag in ("--assume-unchanged", "--skip-worktree"):
        repo.git("update-index", flag, "lib.py")
        repo.write("lib.py", LF.replace(b"1", b"2"))
        assert reported(engine, repo) == {}
        repo.git("update-index", flag.replace("--", "--no-"), "lib.py")
        assert list(reported(engine, repo)) == ["lib.py"]
