"""Runs git's own merge in an empty bare repository outside of the worktree.

The scratch repository has the repository's objects as alternates. Commands write there, and read
none of the repository's configuration, hooks, filters or merge drivers.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import pygit2

from codelens.errors import ReadError
from codelens.home_files import take_lock
from codelens.scope.repository import Repository
from codelens.scope.tree_changes import GITLINK

_MEMORY = "/dev/shm"  # noqa: S108 - a folder of a random name in it, by mkdtemp
_LEAST_FREE = 1 << 30
_PREFIX = "codelens-git-"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_SETTLED_S = 60
"""A new folder is locked long before this age."""


class ScratchRepository:
    """Borrows the objects of a repository. A context manager.

    It holds a lock on its folder, so that the next one can remove the folders of killed processes.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.git = shutil.which("git")
        """The path of the git program; None if it is not installed."""
        self.root = Path()
        """The folder, while it exists."""
        self._lock = -1

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_memory_folder()))
        with suppress(OSError):  # Windows opens no folders
            self._lock = os.open(self.root, _FOLDER)
            take_lock(self._lock)
            _sweep(self.root.parent)
        root, common = self.root, self._repository.common_dir
        for folder in ("objects/info", "refs"):
            (root / folder).mkdir(parents=True)
        (root / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        (root / "config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        objects = os.path.join(common, "objects")
        (root / "objects/info/alternates").write_bytes(os.fsencode(objects) + b"\n")
        shallow = os.path.join(common, "shallow")
        if os.path.isfile(shallow):
            shutil.copyfile(shallow, root / "shallow")
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)

    def environment(self) -> dict[str, str]:
        """Returns variables with which git reads no other configuration and fetches nothing."""
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("GIT_")
        }
        return environment | {
            "GIT_DIR": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "XDG_CONFIG_HOME": str(self.root),
            "LC_ALL": "C",
        }


def _sweep(folder: Path) -> None:
    """Remove the scratch repositories of this user's killed processes."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            about = path.lstat()
            if about.st_uid != os.geteuid() or time.time() - about.st_mtime < _SETTLED_S:
                continue
            descriptor = os.open(path, _FOLDER)
            try:
                if take_lock(descriptor):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)


def _memory_folder() -> str | None:
    """Returns a folder in memory; None for the default folder.

    Hundreds of small objects are written and deleted. On a disk that costs more than the merges.
    """
    if os.environ.get("TMPDIR"):
        return None
    try:
        status = os.statvfs(_MEMORY)
    except (OSError, AttributeError):
        return None  # not Linux
    roomy = status.f_bavail * status.f_frsize >= _LEAST_FREE
    return _MEMORY if roomy and os.access(_MEMORY, os.W_OK | os.X_OK) else None


# git's own merge of two trees.
#
# `git merge-tree --write-tree` writes its results to the scratch repository. Settings that affect
# how text is merged and run nothing are copied (attributes `merge=union`, `-merge`, `binary`;
# limits of rename detection). libgit2's merge finds other renames and no renamed folders, so its
# results would differ from git's.

_TREE = 0o040000
_CONFIG = (
    "merge.renames", "merge.renamelimit", "merge.directoryrenames", "diff.renames",
    "diff.renamelimit",
)  # fmt: skip
_ATTRIBUTE = re.compile(rb"[-!]?merge(?:=\S+)?|binary|conflict-marker-size=\d+")
_STATUS = re.compile(rb"-?\d+\Z")
_PERSON = b"codelens <codelens@localhost> 0 +0000"


class TextConflict(NamedTuple):
    """A path that git cannot merge, and the reason in git's words: `CONFLICT (contents)`."""

    path: bytes
    kind: str


class TextMerge(NamedTuple):
    """The result of git's merge of two commits."""

    clean: bool
    conflicts: tuple[TextConflict, ...]
    paths: tuple[bytes, ...]
    """Paths with entries in several stages."""


class ScratchMerge(ScratchRepository):
    """Merges commits of one repository. A context manager.

    Raises:
        ReadError: git 2.38 or newer is not installed.
    """

    def __init__(self, repository: Repository, attributes: Mapping[bytes, bytes]) -> None:
        super().__init__(repository)
        self._attributes = attributes
        """Path of each `.gitattributes` -> its text."""

    def __enter__(self) -> Self:
        if self.git is None:
            raise ReadError("git is not installed, so textual conflicts cannot be detected")
        super().__enter__()
        with (self.root / "config").open("a", encoding="utf-8") as file:
            file.writelines(line for name in _CONFIG for line in self._setting(name))
        (self.root / "info").mkdir()
        (self.root / "info/attributes").write_bytes(_merged_attributes(self._attributes))
        return self

    def _setting(self, name: str) -> list[str]:
        """Returns a setting of the repository as lines of a config file."""
        try:
            value = self._repository.git.config[name]
        except KeyError:
            return []
        section, key = name.split(".")
        simple = value and re.fullmatch(r"\w+", value)
        return [f"[{section}]\n", f"\t{key} = {value}\n"] if simple else []

    def with_edits(self, commit: str, edits: Mapping[bytes, tuple[int, bytes] | None]) -> str:
        """Returns a new commit with edits on top of another one, in the scratch repository.

        Args:
            commit: the parent; empty for none.
            edits: path -> mode and bytes (the commit of a submodule); None deletes the path.

        Raises:
            ReadError: there is not enough disk space.
        """
        try:
            return self._with_edits(commit, edits)
        except OSError as error:
            raise ReadError(
                f"uncommitted edits cannot be written to {self.root} ({error.strerror}), so "
                "textual conflicts were not detected; set TMPDIR to a folder with more room"
            ) from error

    def _with_edits(self, commit: str, edits: Mapping[bytes, tuple[int, bytes] | None]) -> str:
        blobs = {
            path: (edit[0], self._object(*edit)) if edit is not None else None
            for path, edit in edits.items()
        }
        tree = self._tree(commit, blobs)
        lines = [b"tree " + tree.hex().encode()]
        if commit:
            lines.append(b"parent " + commit.encode())
        lines += [b"author " + _PERSON, b"committer " + _PERSON, b"", b"uncommitted edits\n"]
        return self._write(b"commit", b"\n".join(lines)).hex()

    def _object(self, mode: int, data: bytes) -> bytes:
        # Only the submodule's own repository has the commit.
        return data if mode == GITLINK else self._write(b"blob", data)

    def _tree(self, commit: str, blobs: Mapping[bytes, tuple[int, bytes] | None]) -> bytes:
        root = self._repository.git[commit].peel(pygit2.Tree) if commit else None
        folders: dict[bytes, dict[bytes, tuple[int, bytes] | None]] = {b"": {}}
        for path, blob in blobs.items():
            folder, _, name = path.rpartition(b"/")
            folders.setdefault(folder, {})[name] = blob
            while folder:
                folder = folder.rpartition(b"/")[0]
                folders.setdefault(folder, {})
        for folder in sorted(folders, key=lambda path: (-path.count(b"/") - bool(path), path)):
            entries = _entries(root, folder)
            for name, entry in folders[folder].items():
                if entry is None:
                    entries.pop(name, None)
                else:
                    entries[name] = entry
            above, _, name = folder.rpartition(b"/")
            written = self._write(b"tree", _tree_bytes(entries))
            if not folder:
                return written
            # git stores no empty folders.
            folders[above][name] = (_TREE, written) if entries else None
        raise AssertionError("the root is the last folder")

    def _write(self, kind: bytes, data: bytes) -> bytes:
        whole = kind + b" %d\0" % len(data) + data
        oid = hashlib.sha1(whole, usedforsecurity=False)
        name = oid.hexdigest()
        folder = self.root / "objects" / name[:2]
        folder.mkdir(exist_ok=True)
        file = folder / name[2:]
        if not file.exists():
            file.write_bytes(zlib.compress(whole, 1))
        return oid.digest()

    def merges(self, pairs: Sequence[tuple[str, str]]) -> list[TextMerge]:
        """Merges pairs of commits with common history, all in one process.

        Raises:
            ReadError: git failed; the message quotes it.
        """
        if not pairs:
            return []
        pair_lines = "".join(f"{mine} {other}\n" for mine, other in pairs).encode()
        try:
            done = subprocess.run(  # noqa: S603 - our own arguments, object ids from libgit2
                [self.git or "git", "merge-tree", "--write-tree", "-z", "--messages", "--stdin"],
                input=pair_lines, cwd=self.root, env=self.environment(), capture_output=True,
                check=False,
            )  # fmt: skip
        except OSError as error:
            raise ReadError(f"git cannot be run: {error}") from error
        text_merges = list(_parsed(done.stdout))
        if len(text_merges) != len(pairs):
            error_lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ReadError(
                "`git merge-tree` did not answer "
                f"({error_lines[0] if error_lines else 'no message'}); "
                "textual conflicts need git 2.39 or newer and a clone with all objects"
            )
        return text_merges


def _entries(root: pygit2.Tree | None, folder: bytes) -> dict[bytes, tuple[int, bytes]]:
    tree: pygit2.Object | None = root
    if root is not None and folder:
        try:
            tree = root[os.fsdecode(folder)]
        except KeyError:
            tree = None
    if not isinstance(tree, pygit2.Tree):
        return {}
    return {entry.raw_name or b"": (int(entry.filemode), entry.id.raw) for entry in tree}


def _tree_bytes(entries: Mapping[bytes, tuple[int, bytes]]) -> bytes:
    # git sorts a folder as if its name ended with a slash.
    ordered = sorted(
        entries.items(), key=lambda item: item[0] + (b"/" if item[1][0] == _TREE else b"")
    )
    return b"".join(b"%o %s\0%s" % (mode, name, oid) for name, (mode, oid) in ordered)


def _parsed(output: bytes) -> Iterator[TextMerge]:
    """Parses the output of `merge-tree --stdin -z` (its manual, section OUTPUT)."""
    fields = iter(output.split(b"\0"))
    for status in fields:
        if not _STATUS.match(status.strip()):
            return
        clean = status.strip() == b"1"
        next(fields, b"")
        paths: dict[bytes, None] = {}
        for field in fields:
            if not field:
                break
            paths[field.partition(b"\t")[2]] = None
        yield TextMerge(clean, tuple(_messages(fields)), tuple(paths))


def _messages(fields: Iterator[bytes]) -> Iterator[TextConflict]:
    for count in fields:
        if not count or not count.isdigit():
            return
        named = [next(fields, b"") for _ in range(int(count))]
        kind = next(fields, b"").decode("utf-8", "replace")
        next(fields, b"")
        if kind.startswith("CONFLICT"):
            yield TextConflict(named[0] if named else b"", kind)


def _merged_attributes(files: Mapping[bytes, bytes]) -> bytes:
    """Returns the attributes that affect how text is merged, as one file at the top."""
    lines: list[bytes] = []
    for path in sorted(files, key=lambda path: (path.count(b"/"), path)):
        folder = path.rpartition(b"/")[0]
        lines += _attribute_lines(files[path].splitlines(), folder)
    return b"\n".join(lines) + b"\n"


def _attribute_lines(lines: Iterable[bytes], folder: bytes) -> Iterator[bytes]:
    for line in lines:
        pattern, *attributes = line.split() or [b""]
        allowed = [attribute for attribute in attributes if _ATTRIBUTE.fullmatch(attribute)]
        if not allowed or pattern.startswith((b"#", b'"', b"[", b"!")):
            continue
        if folder:
            inner = pattern.lstrip(b"/")
            pattern = folder + (b"/" if b"/" in pattern else b"/**/") + inner
        yield b" ".join([pattern, *allowed])
