"""Generated names, ignore files and trees for the tests of membership, and the oracle: git."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitrepo import GitRepo
from harness_sizes import ANY_HEALTH, size_of
from hypothesis import settings
from hypothesis import strategies as st

from codelens.scope.git_index import read_tracked
from codelens.scope.ignore_rules import Ignore, IgnoreSettings
from codelens.scope.membership import Membership, Walker

SCALE = size_of("CODELENS_TEST_SCALE")
NO_EXCLUDES = IgnoreSettings(excludes_file="")
SOME_OID = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"  # the empty blob; nothing looks it up


def examples(count: int) -> settings:
    """`count` examples, times CODELENS_TEST_SCALE."""
    return settings(
        max_examples=count * SCALE,
        deadline=None,
        database=None,
        suppress_health_check=ANY_HEALTH,
    )


PLAIN_NAMES = [b"a", b"b", b"c", b"src", b"build", b"x.c", b"x.o", b"a.c", b"README"]
ODD_NAMES = [
    b"A", b"Build", b"X.C", b"a b", b" ", b"a ", b"a\nb", b"\xff", b"\xc3\xa4", b"[a]", b"a*", b"?",
    b"\\", b"a\\b", b"!a", b"#a", b"-", b".hidden", b"..a", b".gitx", b"*", b"]", b"^", b"\t",
    b"\r", b"a.tar.gz", b"~", b"a~", b"$x", b".c", b"{a,b}", b"x'y", b'"q"',
]  # fmt: skip

odd_bytes = st.binary(min_size=1, max_size=4).filter(
    lambda name: not (set(name) & {0, 0x2F}) and name not in (b".", b"..")
)
names = st.one_of(st.sampled_from(PLAIN_NAMES), st.sampled_from(ODD_NAMES), odd_bytes)
tree_names = st.one_of(*([st.sampled_from(PLAIN_NAMES)] * 3), st.sampled_from(ODD_NAMES), odd_bytes)
paths = st.lists(tree_names, min_size=1, max_size=4).map(b"/".join)

ATOMS = [
    b"*", b"**", b"**/", b"/**", b"/", b"?", b"\\", b"[", b"]", b"!", b"#", b" ", b"-", b"^", b"a",
    b"b", b"A", b"c", b"x", b".c", b"[a-c]", b"[!a]", b"[^a]", b"[A-C]", b"[]a]", b"[\\]a]",
    b"[a-\\c]", b"[[:upper:]]", b"[[:alpha:]", b"[[:punct:]]", b"[[:space:]]", b"[[:foo:]]",
    b"[:a]", b"[[:]", b"[/]", b"[^/]", b"\\*", b"\\/", b"\\A", b"\xff", b"\t", b"\r", b"***",
    b"a/", b"b/", b"\x00",
]  # fmt: skip


def _escaped(name: bytes) -> bytes:
    return b"".join(
        b"\\" + bytes([byte]) if byte in b"*?[\\!# " else bytes([byte]) for byte in name
    )


wild_patterns = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=6).map(b"".join)
tame_patterns = st.one_of(
    names.map(_escaped),
    names,
    st.lists(tree_names.map(_escaped), min_size=1, max_size=3).map(b"/".join),
    st.sampled_from([b"*.c", b"*.o", b"*", b"a*", b"*~", b"**/a", b"a/**", b"**/src/*.c", b"*/b"]),
)
patterns = st.builds(
    lambda sign, anchor, body, end: sign + anchor + body + end,
    st.sampled_from([b"", b"", b"", b"!"]),
    st.sampled_from([b"", b"", b"/"]),
    st.one_of(tame_patterns, tame_patterns, wild_patterns),
    st.sampled_from([b"", b"", b"/", b" ", b"\\ "]),
)
ignore_texts = st.builds(
    lambda bom, lines, line_end, last: bom + line_end.join(lines) + last,
    st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"]),
    st.lists(patterns, max_size=5),
    st.sampled_from([b"\n", b"\n", b"\r\n"]),
    st.sampled_from([b"\n", b""]),
)


@contextmanager
def fresh_repo(base: Path) -> Iterator[GitRepo]:
    """A new repository below `base`, removed at the end."""
    repo = GitRepo.init(base / uuid.uuid4().hex[:12])
    repo.config("core.protectNTFS", "false")  # otherwise git refuses some of the names
    try:
        yield repo
    finally:
        shutil.rmtree(repo.root)


def make_file(root: Path, path: bytes, content: bytes = b"") -> bool:
    """Writes a file unless something of another kind is in its way; returns whether it did."""
    full = os.path.join(os.fsencode(root), path)
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb", opener=_unblocked) as file:
            file.write(content)
    except OSError:
        return False
    return True


def _unblocked(path: str, flags: int) -> int:
    """Opens without blocking: a pipe that nobody reads is an error, not an endless wait."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def track(repo: GitRepo, lines: dict[bytes, bytes], *, stage: int = 0) -> None:
    """Puts paths into git's index, whether they exist or not; values are modes."""
    text = b"".join(
        b"%s %s %d\t%s\0" % (mode, SOME_OID, stage, path) for path, mode in lines.items()
    )
    repo.git("update-index", "-z", "--replace", "--index-info", stdin=text)


def walker(repo: GitRepo, ignore_settings: IgnoreSettings, **more: object) -> Walker:
    """A walker for a worktree, as users of `codelens.scope` make one."""
    git_dir = repo.text("rev-parse", "--absolute-git-dir")
    common_dir = repo.text("rev-parse", "--path-format=absolute", "--git-common-dir")
    tracked = read_tracked(os.path.join(git_dir, "index"), **more)  # type: ignore[arg-type]
    ignore = Ignore(
        repo.root,
        ignore_settings,
        common_dir=common_dir,
        blobs=tracked.ignore_blobs,
        read_blob=lambda oid: repo.git("cat-file", "blob", oid.hex()),
    )
    return Walker(repo.root, ignore, tracked, git_dir)


def walk(repo: GitRepo, **more: object) -> Membership:
    """Walks without the user's global ignore file."""
    return walker(repo, NO_EXCLUDES, **more).walk()


def listed(found: Membership) -> set[bytes]:
    """The paths of a walk, in git's notation."""
    return {*found.files, *found.links, *(path + b"/" for path in found.nested)}


def expected(repo: GitRepo) -> set[bytes]:
    """git's listing, without tracked paths that are not files or links on disk."""
    return {path for path in repo.members() if path.endswith(b"/") or on_disk(repo.root, path)}


def found_as_git_lists(repo: GitRepo, **more: object) -> set[bytes]:
    """The paths of a walk, after asserting that git agrees."""
    found = listed(walk(repo, **more))
    assert found == expected(repo)
    return found


def on_disk(root: Path, path: bytes) -> bool:
    """Whether a path is a file or a link, reached only through real folders."""
    here = os.fsencode(root)
    *above, last = path.split(b"/")
    try:
        for part in above:
            here = os.path.join(here, part)
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                return False
        mode = os.lstat(os.path.join(here, last)).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
