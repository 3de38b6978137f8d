"""Ignore rules equal `git check-ignore`, pattern by pattern, and by generated batches."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from membership_trees import ODD_NAMES, PLAIN_NAMES, examples, fresh_repo, ignore_texts, make_file

from codelens.errors import ReadError
from codelens.scope.ignore_patterns import matcher, parse_pattern
from codelens.scope.ignore_rules import Ignore, IgnoreSettings, default_excludes_file

SOME_NAMES = [*PLAIN_NAMES, *ODD_NAMES, b"ab", b"ba", b"aab", b"abb", b"xa", b"C", b"a*b", b"foo"]
short_paths = st.lists(st.sampled_from(SOME_NAMES), min_size=1, max_size=4).map(b"/".join)


def ignored_by_git(repo: GitRepo, candidates: list[bytes]) -> set[bytes]:
    text = b"".join(path + b"\0" for path in candidates)
    said = repo.git("check-ignore", "--no-index", "--stdin", "-z", stdin=text, check=False)
    return set(said.split(b"\0")) - {b""}


def ignored_by_us(
    repo: GitRepo, candidates: list[bytes], settings: IgnoreSettings | None = None
) -> set[bytes]:
    ignore = Ignore(
        repo.root, settings or IgnoreSettings(excludes_file=""), common_dir=repo.root / ".git"
    )
    return {
        path
        for path in candidates
        if ignore.ignored(path, is_folder=os.path.isdir(os.fsencode(repo.root) + b"/" + path))
    }


@pytest.mark.slow
@given(
    batch=st.lists(
        st.tuples(ignore_texts, st.lists(short_paths, min_size=5, max_size=12), st.integers(0, 6)),
        min_size=15,
        max_size=30,
    ),
    fold=st.booleans(),
)
@examples(20)
def test_patterns_match_what_git_matches(tmp_path_factory, batch, fold):
    """Each text rules a separate folder, so that one call of git checks many."""
    with fresh_repo(tmp_path_factory.getbasetemp()) as repo:
        repo.config("core.ignoreCase", str(fold).lower())
        candidates = []
        for number, (text, below, folders) in enumerate(batch):
            make_file(repo.root, b"%d/.gitignore" % number, text)
            mine = [b"%d/%s" % (number, path) for path in below]
            for path in mine[:folders]:
                (repo.root / os.fsdecode(path)).mkdir(parents=True, exist_ok=True)
            candidates += mine

        settings = IgnoreSettings(excludes_file="", ignore_case=fold)
        assert ignored_by_us(repo, candidates, settings) == ignored_by_git(repo, candidates)


CANDIDATES = [
    b"a", b"b", b"c.o", b"d/a", b"d/e/a", b"d/e/f/a", b"d/c.o", b"foobar", b"foox/bar", b"foo/bar",
    b"foo/x/bar", b"A", b"a ", b"a\\", b"#a", b"!a", b"a\r", b"a\t", b"[a]", b"*", b"\xff", b"a\nb",
    b"d/foo.tar.gz", b"d/foo~", b"x\x0by", b"x y", b"d\\a", b"\xef\xbb\xbfa", b"ab", b"d/ab", b".a",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        b"a", b"/a", b"a/", b"d/a", b"d/*/a", b"d/**/a", b"**/a", b"d/**", b"/**", b"**", b"*",
        b"foo**/bar", b"foo**bar", b"foo/**/bar", b"**/**/a", b"d/**\\/a", b"d**", b"*/a", b"*/*/a",
        b"*.o", b"*.tar.gz", b"*~", b"*\\.o", b"?", b"??", b"[ab]", b"[!ab]", b"[^ab]", b"[a-]",
        b"[]a]", b"[", b"[a", b"[[:alpha:]", b"[[:alpha:]]", b"[[:nope:]]", b"[[:]a]", b"[:a]",
        b"\\", b"a\\", b"\\a", b"\\A", b"\\#a", b"\\!a", b"#a", b"!a", b"a\n!a", b"*\n!a",
        b"d\n!d/a",
        b"d/*\n!d/e", b"a ", b"a\\ ", b"a\t", b"a\r\nb\r\n", b"a\r", b"\xef\xbb\xbfa", b"\xff",
        b"a\x00b", b"//a", b"a//", b"/", b"!", b"!/", b"d//a", b"./a", b"a\\\nb", b"x[[:space:]]y",
        b"[[:cntrl:]]", b"x[[:punct:]]", b"\\[a\\]", b"\\*", b"d/e/", b"d/e/f", b"*a*b*", b"d/[ae]",
        b"f*r\n!fo?bar",
        b"!fo?bar\nf*r", b"d/*/a\n!d/?/a", b"!d/?/a\nd/*/a", b"*a\n!?\n[!b]", b"*.o\n!c.*\n!*b",
        b"d/?/a", b"d[/]a", b"d\\/a", b"[d]/a", b"***/a", b"d/***", b"d/e**/f/a", b"d/**e/f/a",
    ],
)  # fmt: skip
def test_a_pattern_ignores_the_same_paths_as_in_git(repo: GitRepo, text: bytes) -> None:
    make_file(repo.root, b".gitignore", text)
    (repo.root / "d" / "e" / "f").mkdir(parents=True)
    candidates = [*CANDIDATES, b"d", b"d/e", b"d/e/f"]
    for fold in (False, True):
        repo.config("core.ignoreCase", str(fold).lower())
        settings = IgnoreSettings(excludes_file="", ignore_case=fold)
        assert ignored_by_us(repo, candidates, settings) == ignored_by_git(repo, candidates)


def test_every_byte_of_every_class_is_as_in_git(repo: GitRepo) -> None:
    classes = (
        b"alnum alpha blank cntrl digit graph lower print punct space upper xdigit !alpha ^print"
    ).split()
    candidates = []
    for name in classes:
        sign, bare = (name[:1], name[1:]) if name[:1] in b"!^" else (b"", name)
        make_file(repo.root, name + b"/.gitignore", b"x[" + sign + b"[:" + bare + b":]]y\n")
        candidates += [name + b"/x%cy" % byte for byte in range(1, 256) if byte != 0x2F]
    for fold in (False, True):
        repo.config("core.ignoreCase", str(fold).lower())
        settings = IgnoreSettings(excludes_file="", ignore_case=fold)
        assert ignored_by_us(repo, candidates, settings) == ignored_by_git(repo, candidates)


def test_a_deeper_file_wins_and_exclude_wins_over_the_excludes_file(
    repo: GitRepo, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.write_text("a\nb\nc\nd\n")
    repo.config("core.excludesFile", str(own))
    (repo.root / ".git" / "info" / "exclude").write_text("!a\n!b\n!c\n")
    repo.write_all({".gitignore": "a\nb\n", "sub/.gitignore": "!a\n"})
    candidates = [folder + name for folder in (b"", b"sub/") for name in (b"a", b"b", b"c", b"d")]

    found = ignored_by_us(repo, candidates, IgnoreSettings(excludes_file=str(own)))

    assert found == {b"a", b"b", b"sub/b", b"d", b"sub/d"}
    assert found == ignored_by_git(repo, candidates)


def test_the_excludes_file_is_relative_to_the_root(repo: GitRepo) -> None:
    repo.config("core.excludesFile", "mine")
    repo.write("mine", "a\n")
    found = ignored_by_us(repo, [b"a", b"b"], IgnoreSettings(excludes_file="mine"))
    assert found == {b"a"} == ignored_by_git(repo, [b"a", b"b"])


def test_the_default_excludes_file_is_where_git_looks(tmp_path: Path) -> None:
    assert default_excludes_file({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == "/x/git/ignore"
    assert default_excludes_file({"XDG_CONFIG_HOME": "", "HOME": "/h"}) == "/h/.config/git/ignore"
    assert default_excludes_file({}) is None


def test_the_default_excludes_file_counts_when_none_is_set(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "ignore").write_text("a\n")
    assert ignored_by_us(repo, [b"a", b"b"], IgnoreSettings()) == {b"a"}


def test_an_excludes_file_that_is_a_folder_is_an_error_as_in_git(repo: GitRepo) -> None:
    repo.config("core.excludesFile", str(repo.root))
    with pytest.raises(AssertionError, match="exclude file"):
        repo.members()
    with pytest.raises(ReadError, match=r"core\.excludesFile"):
        ignored_by_us(repo, [b"a"], IgnoreSettings(excludes_file=str(repo.root)))


@pytest.mark.parametrize("kind", ["symlink", "folder", "fifo", "dangling"])
def test_an_ignore_file_that_is_not_a_file_is_skipped(repo: GitRepo, kind: str) -> None:
    repo.write("rules", "a\n")
    target = repo.path(".gitignore")
    match kind:
        case "symlink":
            target.symlink_to("rules")
        case "folder":
            target.mkdir()
        case "dangling":
            target.symlink_to("nowhere")
        case _:
            os.mkfifo(target)  # git would hang, so it is not asked
    assert ignored_by_us(repo, [b"a"]) == set()
    if kind != "fifo":
        assert ignored_by_git(repo, [b"a"]) == set()


def test_an_exclude_file_that_is_a_symlink_is_followed(repo: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("a\n")
    exclude = repo.root / ".git" / "info" / "exclude"
    exclude.unlink()
    exclude.symlink_to(tmp_path / "rules")
    assert ignored_by_us(repo, [b"a"]) == {b"a"} == ignored_by_git(repo, [b"a"])


def test_a_path_in_an_ignored_folder_cannot_be_reincluded(repo: GitRepo) -> None:
    repo.write_all({".gitignore": "build/\n!build/keep\n", "build/.gitignore": "!*\n"})
    candidates = [b"build", b"build/keep", b"build/deep/er"]
    assert ignored_by_us(repo, candidates) == set(candidates) == ignored_by_git(repo, candidates)


def test_a_plain_folder_heeds_its_own_ignore_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "git").mkdir(parents=True)
    (tmp_path / "config" / "git" / "ignore").write_text("b\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".gitignore").write_text("a\n")

    ignore = Ignore(tmp_path / "folder")

    assert ignore.ignored(b"a")
    assert not ignore.ignored(b"b")
    assert ignore.own_files == ()


def test_a_skipped_ignore_file_is_read_from_its_blob(repo: GitRepo) -> None:
    blobs = {b"d/.gitignore": b"1", b"e/.gitignore": b"2"}
    texts = {b"1": b"a\n"}

    def read_blob(oid: bytes) -> bytes:
        if oid not in texts:
            raise ReadError("not in this clone")
        return texts[oid]

    ignore = Ignore(repo.root, IgnoreSettings(""), blobs=blobs, read_blob=read_blob)

    assert ignore.ignored(b"d/a")
    assert not ignore.ignored(b"d/b")
    assert not ignore.ignored(b"e/a")


def test_a_folder_nested_a_thousand_deep_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("z\n")
    deep = b"/".join([b"a"] * 1500)
    ignore = Ignore(tmp_path)
    assert ignore.ignored(deep + b"/z")
    assert not ignore.ignored(deep + b"/y")


@pytest.mark.parametrize(
    "pattern", [b"*a" * 40 + b"b", b"**/a*/" * 12 + b"b", b"x/" + b"**/*a*a*/" * 10 + b"b"]
)
def test_a_pattern_made_to_be_slow_is_not(tmp_path: Path, pattern: bytes) -> None:
    """Without atomic groups, each would take longer than anyone waits."""
    (tmp_path / ".gitignore").write_bytes(pattern)
    ignore = Ignore(tmp_path)
    assert not ignore.ignored(b"x/" + b"/".join([b"a" * 60] * 60))
    assert not ignore.ignored(b"a" * 250)


def test_empty_lines_are_not_patterns() -> None:
    assert parse_pattern(b"\n# comment\n\n") == []
    assert [one.text for one in parse_pattern(b"a\n#b\n\\#c")] == [b"a", b"\\#c"]


@pytest.mark.slow
@given(text=ignore_texts, below=st.lists(short_paths, min_size=5, max_size=30), fold=st.booleans())
@examples(150)
def test_a_file_of_very_many_patterns_works_like_a_small_one(tmp_path_factory, text, below, fold):
    """`test_patterns_match_what_git_matches` compares small files with git."""
    many = b"".join(b"*q%dq*q\n" % number for number in range(600))
    said = []
    for data in (text, many + b"\n" + text.removeprefix(b"\xef\xbb\xbf"), text + b"\n" + many):
        root = tmp_path_factory.mktemp("folder")
        (root / ".gitignore").write_bytes(data)
        ignore = Ignore(root, IgnoreSettings(excludes_file="", ignore_case=fold))
        said.append(
            [ignore.ignored(path, is_folder=kind) for path in below for kind in (False, True)]
        )
    assert said[0] == said[1] == said[2]


def test_very_many_patterns_ignore_the_same_as_git(repo: GitRepo) -> None:
    lines = [b"a%d*b%d*c" % (number, number) for number in range(0, 3000, 3)]
    lines += [
        b"!a9*b?*c",
        b"*[x]9\\7y*",
        b"**/k*7",
        b"d/*5?",
        b"/w*1",
        b"!d/*55",
        b"a9*b9*c",
        b"[u]?",
    ]
    make_file(repo.root, b".gitignore", b"\n".join(lines))
    names = [b"a%db%dc" % (number, number) for number in (0, 1, 3, 9, 90, 91, 900, 2997)]
    names += [b"ax97yz", b"k7", b"k17", b"d/155", b"d/156", b"d/15", b"w1", b"d/w1", b"uv", b"vu"]
    candidates = [*names, *(b"e/" + name for name in names)]
    for fold in (False, True):
        repo.config("core.ignoreCase", str(fold).lower())
        settings = IgnoreSettings(excludes_file="", ignore_case=fold)
        assert ignored_by_us(repo, candidates, settings) == ignored_by_git(repo, candidates)


@pytest.mark.slow
def test_only_relevant_patterns_of_very_many_are_read(tmp_path: Path) -> None:
    """Each pattern that is read costs 0.2 ms, so several hundred thousand would take a minute."""
    lines = b"".join(b"a%d*b%d*c\n" % (number, number) for number in range(100_000))
    (tmp_path / ".gitignore").write_bytes(lines)
    ignore = Ignore(tmp_path)
    read: list[bytes] = []

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is matcher.__code__:
            read.append(frame.f_locals["pattern"].text)

    sys.setprofile(count)
    try:
        assert ignore.ignored(b"a4711xb4711xc")
        assert not ignore.ignored(b"lamp.py")
    finally:
        sys.setprofile(None)
    assert b"a4711*b4711*c" in read
    assert len(read) < 500
