"""Reading git's index file equals the output of `git ls-files --stage --debug`."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from membership_trees import examples, fresh_repo, make_file, paths, track

from codelens.errors import ReadError, UnsupportedRepository
from codelens.scope.git_index import index_files, read_by_path, read_index, read_tracked
from codelens.scope.git_index_file import IndexEntry, IndexGlance

_DEBUG = re.compile(
    rb"(?P<mode>\d+) (?P<oid>[0-9a-f]{40}) (?P<stage>\d)\t(?P<path>[^\0]+)\0"
    rb"  ctime: (?P<c_s>\d+):(?P<c_ns>\d+)\n  mtime: (?P<m_s>\d+):(?P<m_ns>\d+)\n"
    rb"  dev: \d+\tino: (?P<ino>\d+)\n  uid: \d+\tgid: \d+\n"
    rb"  size: (?P<size>\d+)\tflags: (?P<flags>[0-9a-f]+)\n",
    re.DOTALL,
)


def entries_by_git(repo: GitRepo) -> list[IndexEntry]:
    said = repo.git("ls-files", "--stage", "--debug", "-z")
    found = list(_DEBUG.finditer(said))
    assert sum(len(one.group()) for one in found) == len(said)
    return [_entry(one) for one in found]


def _entry(said: re.Match[bytes]) -> IndexEntry:
    flags = int(said["flags"], 16)
    return IndexEntry(
        said["path"],
        int(said["mode"], 8),
        bytes.fromhex(said["oid"].decode()),
        int(said["stage"]),
        int(said["m_s"]) * 10**9 + int(said["m_ns"]),
        int(said["c_s"]) * 10**9 + int(said["c_ns"]),
        int(said["size"]),
        int(said["ino"]),
        bool(flags & 0x40000000),
        bool(flags & 0x8000),
        bool(flags & 0x20000000),
    )


def index_of(repo: GitRepo) -> Path:
    return Path(repo.text("rev-parse", "--path-format=absolute", "--git-path", "index"))


def expand(repo: GitRepo, oid: str, prefix: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    for line in repo.git("ls-tree", "-r", "-z", oid).split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        mode, _, blob = head.split(b" ")
        yield prefix + path, int(mode, 8), bytes.fromhex(blob.decode())


def assert_read_as_git_does(repo: GitRepo) -> list[IndexEntry]:
    def opened(oid: str, prefix: bytes) -> Iterator[tuple[bytes, int, bytes]]:
        return expand(repo, oid, prefix)

    entries = read_index(index_of(repo), expand_tree=opened)
    assert entries == entries_by_git(repo)
    by_path = read_by_path(index_of(repo), expand_tree=opened)
    first_or_ours = {entry.path: entry for entry in reversed(entries)}
    first_or_ours |= {entry.path: entry for entry in entries if entry.stage == 2}
    assert dict(by_path) == first_or_ours
    assert {entry.path for entry in by_path.of_types({0o160000})} == {
        path for path, entry in first_or_ours.items() if entry.mode == 0o160000
    }
    assert all(path in by_path for path in first_or_ours)
    assert_no_entry_is_denied(repo, entries)
    assert b"no such" not in by_path
    tracked = read_tracked(index_of(repo), expand_tree=opened)
    assert tracked.paths == {entry.path for entry in entries}
    assert tracked.gitlinks == {entry.path for entry in entries if entry.mode == 0o160000}
    assert tracked.folders == {
        entry.path[:at] for entry in entries for at, byte in enumerate(entry.path) if byte == 0x2F
    }
    return entries


def assert_no_entry_is_denied(repo: GitRepo, entries: list[IndexEntry]) -> None:
    glance = IndexGlance(str(index_of(repo)))
    for entry in entries:
        assert glance.may_hold(entry.path, entry.oid, entry.__eq__), entry


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {f"{folder}/{name}.py": name for folder in "abc" for name in "xyz"})
    return repo


def test_a_glance_denies_entries_outside_the_index(repo: GitRepo) -> None:
    glance = IndexGlance(str(index_of(repo)))
    (entry, *_) = read_index(index_of(repo))
    assert glance.may_hold(entry.path, entry.oid, lambda found: found == entry)
    assert not glance.may_hold(entry.path, entry.oid, lambda found: found.assume_unchanged)
    assert not glance.may_hold(entry.path, b"\1" * 20, lambda _: True)
    assert not glance.may_hold(b"w.py", entry.oid, lambda _: True)
    repo.git("update-index", "--index-version", "4")
    assert IndexGlance(str(index_of(repo))).may_hold(b"x.py", entry.oid, lambda _: True)


@pytest.mark.slow
@given(
    first=st.lists(paths, max_size=30),
    second=st.lists(paths, max_size=30),
    dropped=st.randoms(use_true_random=False),
    version=st.sampled_from(["2", "4", "split"]),
    flags=st.sampled_from(["--skip-worktree", "--assume-unchanged"]),
)
@examples(25)
def test_every_version_is_read_as_git_reads_it(
    tmp_path_factory, first, second, dropped, version, flags
):
    with fresh_repo(tmp_path_factory.getbasetemp()) as repo:
        if version != "split":
            repo.git("update-index", "--index-version", version)
        track(repo, dict.fromkeys(first, b"100644"))
        if version == "split":
            repo.git("update-index", "--split-index")
        for path in second:
            make_file(repo.root, path, b"text")
        track(repo, dict.fromkeys(second, b"100755"))
        track(repo, {path: b"160000" for path in second if dropped.random() < 0.1})
        track(repo, dict.fromkeys(second[:2], b"100644"), stage=1)
        track(repo, dict.fromkeys(second[:2], b"100644"), stage=3)
        repo.git("update-index", "-q", "--refresh", check=False)
        tracked = [entry.path for entry in entries_by_git(repo) if entry.stage == 0]
        gone = [path for path in tracked if dropped.random() < 0.3]
        repo.git("update-index", "-z", "--force-remove", "--stdin", stdin=_lines(gone))
        left = [path for path in tracked if path not in gone and dropped.random() < 0.2]
        repo.git("update-index", flags, "-z", "--stdin", stdin=_lines(left))

        assert_read_as_git_does(repo)


def _lines(names: list[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)


def test_names_longer_than_the_length_field_are_read(repo: GitRepo) -> None:
    long = b"/".join([b"n" * 200] * 25)
    for version in ("2", "4"):
        repo.git("update-index", "--index-version", version)
        track(repo, {long + b"/1": b"100644", long + b"/22": b"100644", b"z": b"100644"})
        assert long + b"/22" in {entry.path for entry in assert_read_as_git_does(repo)}


def test_a_split_index_with_many_changes_is_put_together(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    many = {b"d%d/f%04d" % (number % 7, number): b"100644" for number in range(1500)}
    track(repo, many)
    repo.git("update-index", "--split-index")
    repo.git("config", "splitIndex.maxPercentChange", "100")
    names = sorted(many)
    repo.git("update-index", "-z", "--force-remove", "--stdin", stdin=_lines(names[200:500]))
    track(repo, dict.fromkeys(names[600:900:3], b"100755"))
    track(repo, {b"new/%d" % number: b"100644" for number in range(20)})

    assert len(assert_read_as_git_does(repo)) == 1220
    assert [Path(file).name[:12] for file in index_files(index_of(repo))] == [
        "index",
        "sharedindex.",
    ]


def test_a_conflict_has_an_entry_for_each_side(repo: GitRepo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("side", {"a/x.py": "side"})
    repo.checkout("main")
    repo.commit("main", {"a/x.py": "main"})
    repo.git("merge", "side", check=False)

    entries = assert_read_as_git_does(repo)

    assert [entry.stage for entry in entries if entry.path == b"a/x.py"] == [1, 2, 3]


def test_an_intent_to_add_is_an_entry(repo: GitRepo) -> None:
    repo.write("new.py", "text")
    repo.git("add", "-N", "new.py")

    entries = assert_read_as_git_does(repo)

    assert [entry.path for entry in entries if entry.intent_to_add] == [b"new.py"]


@pytest.mark.parametrize("version", ["2", "4"])
def test_the_folders_of_a_sparse_index_are_expanded(repo: GitRepo, version: str) -> None:
    repo.git("update-index", "--index-version", version)
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "b")
    assert b"a/\0" in repo.git("ls-files", "--sparse", "-z")

    entries = assert_read_as_git_does(repo)

    assert {entry.path for entry in entries if entry.skip_worktree} == {
        b"%c/%c.py" % (folder, name) for folder in b"ac" for name in b"xyz"
    }
    with pytest.raises(ReadError, match="sparse"):
        read_index(index_of(repo))


def test_a_sparse_checkout_without_a_sparse_index_is_read(repo: GitRepo) -> None:
    repo.git("sparse-checkout", "set", "--no-cone", "*x.py")

    assert sum(entry.skip_worktree for entry in assert_read_as_git_does(repo)) == 6


def test_a_linked_worktree_has_a_separate_index(repo: GitRepo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", branch="other")
    linked.git("rm", "-q", "-r", "a")

    assert len(assert_read_as_git_does(linked)) == 6
    assert len(assert_read_as_git_does(repo)) == 9


def test_no_index_file_means_nothing_is_tracked(tmp_path: Path) -> None:
    assert read_index(tmp_path / "index") == []
    assert read_tracked(tmp_path / "index").paths == frozenset()
    assert index_files(tmp_path / "index") == [str(tmp_path / "index")]


def test_the_digest_depends_on_tracked_files_not_on_stat_data(repo: GitRepo) -> None:
    def digest() -> bytes:
        return read_tracked(index_of(repo)).digest

    before = digest()
    for path in sorted(repo.root.glob("*/*.py")):
        path.touch()
    repo.git("update-index", "--refresh")
    repo.git("update-index", "--index-version", "4")
    assert digest() == before
    track(repo, {b"a/x.py": b"160000"})
    assert digest() != before


def test_the_digest_is_the_same_for_a_split_and_a_sparse_index(repo: GitRepo) -> None:
    before = read_tracked(index_of(repo)).digest
    repo.git("update-index", "--split-index")
    assert read_tracked(index_of(repo)).digest == before
    repo.git("update-index", "--no-split-index")
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "b")
    sparse = read_tracked(index_of(repo), expand_tree=lambda oid, at: expand(repo, oid, at))
    assert sparse.digest == before


def test_skipped_ignore_files_are_reported_with_their_blobs(repo: GitRepo) -> None:
    repo.commit("ignore", {"a/.gitignore": "*.o\n", ".gitignore": "*.c\n"})
    repo.git("update-index", "--skip-worktree", "a/.gitignore", "a/x.py")

    tracked = read_tracked(index_of(repo))

    assert tracked.ignore_blobs == {
        b"a/.gitignore": bytes.fromhex(repo.text("rev-parse", "HEAD:a/.gitignore"))
    }


def test_an_unknown_extension_that_matters_is_refused(repo: GitRepo) -> None:
    index = index_of(repo)
    data = index.read_bytes()
    index.write_bytes(data[:-20] + b"zzzz" + struct.pack(">I", 3) + b"abc" + data[-20:])
    with pytest.raises(UnsupportedRepository, match="zzzz"):
        read_index(index)
    index.write_bytes(data[:-20] + b"ZZZZ" + struct.pack(">I", 3) + b"abc" + data[-20:])
    assert len(read_index(index)) == 9


@pytest.mark.parametrize("length", [0, 10, 31, 200, 500, -1, -21, -40])
def test_a_truncated_index_is_an_error_that_says_what_to_do(repo: GitRepo, length: int) -> None:
    index = index_of(repo)
    index.write_bytes(index.read_bytes()[:length])
    for read in (read_index, read_by_path, read_tracked):
        with pytest.raises(ReadError, match="git reset"):
            read(index)


@given(st.binary(max_size=300), st.sampled_from([2, 3, 4]), st.integers(0, 9))
@examples(100)
def test_any_bytes_give_entries_or_a_codelens_error(tmp_path_factory, data, version, count):
    index = tmp_path_factory.getbasetemp() / "any-index"
    index.write_bytes(b"DIRC" + struct.pack(">II", version, count) + data)
    for read in (read_index, read_by_path, read_tracked, index_files):
        try:
            read(index)
        except (ReadError, UnsupportedRepository):
            continue


def test_a_missing_shared_part_is_an_error_that_says_so(repo: GitRepo) -> None:
    repo.git("update-index", "--split-index")
    shared = Path(index_files(index_of(repo))[1])
    other = shared.with_name("sharedindex." + "1" * 40)
    shared.rename(other)
    with pytest.raises(ReadError, match="missing"):
        read_index(index_of(repo))


def test_an_unreadable_index_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    with pytest.raises(ReadError, match="cannot read git's index"):
        read_index(tmp_path / "index")
