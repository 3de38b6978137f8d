"""Gives access to a repository at one moment: its scopes, refs, worktrees, objects and settings."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codelens.errors import (
    BareRepository,
    BrokenRef,
    CodelensError,
    NoSuchRef,
    ReadError,
    UnsupportedRepository,
)
from codelens.paths import repository_id
from codelens.scope.ignore_rules import IgnoreSettings
from codelens.scope.location import (
    ANY_BYTES,
    BLOB_BYTES,
    LOG_BYTES,
    Place,
    locate,
    read_plain,
    refuse_special_file,
    refuse_special_ref,
    shared_dir,
)
from codelens.scope.plain_repository import GitSettings, NotPlain, config_files, plain_repository
from codelens.types import CommitId

if TYPE_CHECKING:
    import pygit2


def root_commit(repository: Repository, head: CommitId) -> str:
    """Returns the first commit along first parents from `head`; empty if it cannot be determined.

    It identifies a repository that was moved. Costs about 10 us per commit. A shallow clone lacks
    it.
    """
    if not head or not repository.is_git or repository.git.is_shallow:
        return ""
    import pygit2
    from pygit2.enums import SortMode

    last = ""
    try:
        walk = repository.git.walk(pygit2.Oid(hex=head), SortMode.NONE)
        walk.simplify_first_parent()
        for commit in walk:
            last = str(commit.id)
    except (KeyError, pygit2.GitError):
        return ""
    return last


def has_commit(repository: Repository, commit: str) -> bool:
    """Whether a repository has a commit; True if unknown, as in a shallow clone."""
    if not repository.is_git or repository.git.is_shallow:
        return True
    import pygit2

    try:
        return pygit2.Oid(hex=commit) in repository.git
    except ValueError:
        return False


# The linked worktrees that git has recorded.

_PATH_BYTES = 64 * 1024


def listed_worktrees(common_dir: str) -> dict[str, bool]:
    """Returns the roots of the linked worktrees, and whether they are locked.

    Raises:
        OSError: the list cannot be read.
    """
    admin = os.path.join(common_dir, "worktrees")
    is_locked: dict[str, bool] = {}
    if not os.path.isdir(admin):
        os.stat(common_dir)
        return is_locked
    for name in os.listdir(admin):
        own = os.path.join(admin, name)
        try:
            text = read_plain(os.path.join(own, "gitdir"), _PATH_BYTES).strip()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not text or b"\0" in text:
            continue
        # The path may be relative since git 2.48.
        dot_git = os.path.join(own, os.fsdecode(text))
        is_locked[os.path.realpath(os.path.dirname(dot_git))] = os.path.exists(f"{own}/locked")
    return is_locked


# Finds names of branches and tags to suggest for a mistyped one. No file is opened as a ref.

BRANCHES = "refs/heads/"
_KINDS = (BRANCHES, "refs/tags/")
_REMOTES = ("refs/remotes/",)
_PACKED_BYTES = 64 * 1024 * 1024
"""Bytes of packed-refs to read for suggestions; some 700,000 refs."""


def ref_names(common_dir: str, kinds: Sequence[str] = _KINDS) -> list[str]:
    """Returns short names of local branches and tags, sorted, except for names that git refuses.

    A file in `refs` counts regardless of its content. Lists each folder there and reads
    packed-refs.

    Args:
        common_dir: where the repository keeps its refs.
        kinds: prefixes of the whole names.
    """
    every_name = {*_loose(common_dir, kinds), *_packed(common_dir, kinds)}
    return sorted(name for name in every_name if name.isprintable())


def _loose(common_dir: str, kinds: Sequence[str]) -> Iterator[str]:
    for kind in kinds:
        pending = [os.path.join(common_dir, kind)]
        start = len(pending[0])
        while pending:
            try:
                with os.scandir(pending.pop()) as listing:
                    entries = list(listing)
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry.path[start:].replace(os.sep, "/")


def _packed(common_dir: str, kinds: Sequence[str]) -> Iterator[str]:
    try:
        with open(os.path.join(common_dir, "packed-refs"), "rb") as file:
            lines = file.read(_PACKED_BYTES).decode("utf-8", "backslashreplace").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, name = line.partition(" ")
        for kind in kinds:
            if name.startswith(kind):
                yield name.removeprefix(kind)


# The current state of a repository: `Scope`, its objects, its refs, its settings.
#
# All access to pygit2 goes through here. It is imported on demand, since a search of a plain
# worktree does not need it (`codelens.scope.plain_repository`). Nothing of a repository is run (no
# hook, filter or fsmonitor) and nothing is fetched: libgit2 reads objects, refs and config.

_STATES = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
_NAMED = re.compile(r"[~^@:]")
"""The characters that end the name at the start of a revision."""
_WHOLE_NAMES = (
    "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD",
)  # fmt: skip
"""What a short name of a ref may stand for, in addition to itself; gitrevisions(7)."""
_PARENTS_FOLLOWED = 10_000
"""The most parents to follow in search of a missing commit."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The tree that a question is about."""

    kind: Literal["worktree", "folder", "ref"]
    root: str
    """The top of the worktree or folder; for a ref, of the worktree where it was asked."""
    git_dir: str
    common_dir: str
    branch: str
    """The short name; empty if detached, for a folder, and for a ref (see `ref`)."""
    head: CommitId
    """Empty while there is no commit."""
    state: str
    """`rebase`, `merge`, ... while one is in progress, else empty."""
    ref: str = ""
    """As the caller wrote it."""

    @property
    def repo_id(self) -> str:
        """Identifies the repository: equal for all its worktrees."""
        return repository_id(self.common_dir)

    @property
    def index_id(self) -> str:
        """Identifies the state of a view: repository, worktree, branch, HEAD."""
        worktree = "" if self.kind == "ref" else self.root
        parts = (self.common_dir, worktree, self.branch, self.head)
        return hashlib.sha256(b"\0".join(os.fsencode(part) for part in parts)).hexdigest()

    @property
    def key(self) -> str:
        """Identifies the view: one per worktree and branch, or per commit of a ref."""
        if self.kind == "ref":
            return f"ref\0{self.head}"
        detached = bool(self.head) and not self.branch
        branch = "HEAD" if detached else self.branch
        parts = (self.kind, self.root, "detached" if detached else "branch", branch)
        return os.fsencode("\0".join(parts)).decode("utf-8", "backslashreplace")

    @property
    def worktree(self) -> str:
        """The root as text that can be printed and stored."""
        return os.fsencode(self.root).decode("utf-8", "backslashreplace")


class Repository:
    """A git repository, or a plain folder without git.

    A new instance is cheap (a quarter of a millisecond), so each question makes one and nothing is
    stale. libgit2 opens the repository on demand, which the simplest repositories may never need.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._git: pygit2.Repository | None = None
        self._plain = plain_repository(place)
        if self._plain is None and place.kind != "folder":
            self._open()

    def _open(self) -> pygit2.Repository:
        from codelens.scope.repository_opening import opened

        git, self.place = opened(self.place)
        # pygit2's object and its `branches`, `references` and so on form reference cycles. Without
        # this, what libgit2 read stays until Python collects cycles, which servers rarely do.
        weakref.finalize(self, vars(git).clear).atexit = False
        self._git = git
        return git

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Repository:
        """Opens the place that contains `path`; see `locate` for further errors.

        Raises:
            UnsupportedRepository: libgit2 cannot open it.
            ForeignRepository: another user owns it.
        """
        return cls(locate(path))

    @property
    def git(self) -> pygit2.Repository:
        """Returns the open repository. Must not be called for a plain folder.

        Raises:
            UnsupportedRepository: libgit2 cannot open it, because it has changed meanwhile.
        """
        assert self.is_git
        return self._open() if self._git is None else self._git

    @property
    def is_git(self) -> bool:
        """Whether it is a git repository."""
        return self.place.kind != "folder"

    @cached_property
    def common_dir(self) -> str:
        """Returns the folder that all worktrees share."""
        return os.path.realpath(shared_dir(self.place.git_dir))

    def scope(self, ref: str | None = None) -> Scope:
        """Returns the scope of the worktree or folder, or of a ref.

        Raises:
            NoSuchRef: `ref` names no commit here.
            BrokenRef: the commit that it names is missing or damaged.
            BareRepository: there are no files and no ref was named.
        """
        place = self.place
        if not self.is_git:
            if ref:
                raise NoSuchRef(ref, place.root)
            return Scope("folder", place.root, "", place.root, "", CommitId(""), "")
        if ref:
            commit = self._commit(ref)
            return Scope("ref", place.root, place.git_dir, self.common_dir, "", commit, "", ref=ref)
        if place.kind == "bare":
            raise BareRepository(place.root)
        branch, head = self._head()
        return Scope(
            "worktree", place.root, place.git_dir, self.common_dir, branch, head, self._state()
        )

    def _head(self) -> tuple[str, CommitId]:
        if self._plain is not None:
            with contextlib.suppress(NotPlain):
                branch, commit = self._plain.head()
                return branch, CommitId(commit)
        import pygit2

        git = self.git
        try:
            target = git.lookup_reference("HEAD").target
            branch = target.removeprefix("refs/heads/") if isinstance(target, str) else ""
            refuse_special_ref(self.place.root, self.common_dir, str(target))
            branch = os.fsencode(branch).decode("utf-8", "backslashreplace")
            if git.head_is_unborn:
                return branch, CommitId("")
            return branch, CommitId(str(git.head.target))
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise UnsupportedRepository(
                self.place.root, f"its HEAD cannot be read ({error})", "run `git status` there"
            ) from error

    def _state(self) -> str:
        git_dir = self.place.git_dir
        return next(
            (state for name, state in _STATES if os.path.exists(os.path.join(git_dir, name))), ""
        )

    def _commit(self, ref: str) -> CommitId:
        import difflib

        import pygit2

        name = _NAMED.split(ref, 1)[0]
        self._refuse_special_ref(name or "HEAD", by_log="@" in ref)
        try:
            commit = self.git.revparse_single(ref).peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError, UnicodeError) as error:
            broken = self._broken(ref, name or "HEAD")
            if broken is not None:
                raise broken from error
            # A branch that exists only on a remote comes before names that are merely similar.
            remote = [
                name for name in ref_names(self.common_dir, _REMOTES) if name.endswith(f"/{ref}")
            ]
            alike = difflib.get_close_matches(ref, ref_names(self.common_dir), 3)
            near = list(dict.fromkeys([*remote, *alike]))[:3]
            raise NoSuchRef(ref, self.place.root, near) from error
        return CommitId(str(commit.id))

    def _refuse_special_ref(self, name: str, *, by_log: bool) -> None:
        """Checks each file that libgit2 would open for the short name of a ref."""
        root, common_dir = self.place.root, self.common_dir
        # A branch may be named like a git file: `index`.
        refuse_special_file(root, os.path.join(common_dir, name), ANY_BYTES)
        for whole in _WHOLE_NAMES:
            refuse_special_ref(root, common_dir, whole.format(name))
        if by_log:
            refuse_special_file(root, os.path.join(self.place.git_dir, "logs", name), LOG_BYTES)
            for whole in ("{}", *_WHOLE_NAMES):
                log = os.path.join(common_dir, "logs", whole.format(name))
                refuse_special_file(root, log, LOG_BYTES)

    def _broken(self, ref: str, name: str) -> BrokenRef | None:
        """Returns why an existing ref leads to no commit; None if the ref does not exist."""
        import pygit2

        git, where = self.git, self.place.root
        if ":" in ref:
            return None
        try:
            oid = git.lookup_reference_dwim(name).resolve().target
        except (KeyError, ValueError, pygit2.GitError, UnicodeError):
            return None
        for _ in range(_PARENTS_FOLLOWED if name != ref else 1):
            try:
                parents = git[oid].peel(pygit2.Commit).parent_ids
            except pygit2.InvalidSpecError:
                return None  # it leads to a file or folder
            except (KeyError, ValueError, pygit2.GitError):
                why = f"object {oid} is missing or damaged"
                return BrokenRef(ref, where, why, "`git fsck` lists all damage")
            if parents:
                oid = parents[0]
            elif git.is_shallow and name != ref:
                why = "the history of this shallow clone ends before it"
                return BrokenRef(ref, where, why, "`git fetch --unshallow` fetches the rest")
            else:
                return None
        return None

    def worktrees(self) -> list[str]:
        """Returns the roots of the other worktrees of this repository that still exist."""
        if not self.is_git:
            return []
        roots: list[str] = []
        main = os.path.dirname(self.common_dir)
        if os.path.basename(self.common_dir) == ".git":
            roots.append(main)
        # Without the list, the rest of the question can still be answered.
        with contextlib.suppress(OSError):
            roots += listed_worktrees(self.common_dir)
        return sorted(
            root for root in set(roots) if root != self.place.root and os.path.isdir(root)
        )

    def release(self) -> None:
        """Frees the memory of libgit2: 90 KiB for `is_dirty` in a worktree of 130 files.

        libgit2 reads everything again on demand. Cached objects that refer to this one, such as
        graphs, then hold no git objects.
        """
        if self._git is not None:
            self._git.free()

    @cached_property
    def settings(self) -> GitSettings:
        """Returns the settings in git's config."""
        # A proxy, because a reference cycle would stay until Python collects cycles.
        this = weakref.proxy(self)
        return GitSettings(self.config_files(), lambda: this.git, plain=self._plain is not None)

    def ignore_settings(self) -> IgnoreSettings:
        """Returns the settings in git's config that decide which files belong."""
        settings = self.settings
        return IgnoreSettings(
            excludes_file=settings.path("core.excludesFile"),
            ignore_case=settings.truth("core.ignoreCase"),
            precompose_unicode=sys.platform == "darwin"
            and settings.truth("core.precomposeUnicode"),
            sparse_checkout=settings.truth("core.sparseCheckout"),
        )

    def rule_files(self) -> list[str]:
        """Returns the attribute and ignore files outside of the worktree that libgit2 reads."""
        return [
            *self.attribute_files(),
            *self._rule_files("exclude", "core.excludesFile", "ignore"),
        ]

    def attribute_files(self) -> list[str]:
        """Returns the attribute files among `rule_files`."""
        return self._rule_files("attributes", "core.attributesFile", "attributes")

    def _rule_files(self, own: str, setting: str, personal: str) -> list[str]:
        xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(Path.home(), ".config")
        named = self.settings.path(setting) or os.path.join(xdg, "git", personal)
        info = os.path.join(self.common_dir, "info", own)
        return [info, os.path.join(self.place.root, named)]

    def rules_above(self, path: bytes) -> Iterator[str]:
        """Yields the attribute and ignore files in the folders above a path."""
        folder: str = os.fsdecode(path)
        while folder:
            folder = os.path.dirname(folder)
            for name in (".gitattributes", ".gitignore"):
                yield os.path.join(self.place.root, folder, name)

    def has_object(self, oid: bytes) -> bool:
        """Whether an object is in this clone."""
        import pygit2

        return pygit2.Oid(raw=oid) in self.git

    def config_files(self) -> list[str]:
        """Returns the files that `ignore_settings` and attributes depend on."""
        return config_files(self.place.git_dir, self.common_dir)

    def object_size(self, oid: bytes) -> int:
        """Returns the size of an object without reading it; 0 if unknown."""
        import pygit2

        try:
            return self.git.odb.read_header(pygit2.Oid(raw=oid))[1]
        except (KeyError, ValueError, pygit2.GitError):
            return 0

    def read_blob(self, oid: bytes) -> bytes:
        """Returns the bytes of a blob.

        Raises:
            ReadError: the object is missing (a partial clone), damaged, not a blob, or larger than
                `BLOB_BYTES`.
        """
        import pygit2

        if self.object_size(oid) > BLOB_BYTES:
            raise ReadError(
                f"object {oid.hex()} has more than {BLOB_BYTES:,} bytes; check the file out to "
                "read it"
            )
        try:
            blob_object = self.git[pygit2.Oid(raw=oid)]
        except KeyError as error:
            raise ReadError(
                f"object {oid.hex()} is not in this clone, and nothing is fetched "
                "automatically; run `git fetch` or check the file out"
            ) from error
        except (ValueError, pygit2.GitError) as error:
            raise ReadError(
                f"object {oid.hex()} is damaged ({error}); `git fsck` lists all damage"
            ) from error
        if not isinstance(blob_object, pygit2.Blob):
            raise ReadError(f"object {oid.hex()} is not a file")
        return blob_object.data


def branch_at(root: str) -> str:
    """Return the branch of a worktree; empty if none is checked out, or if the worktree is broken.

    A broken worktree reports its error when it is used.
    """
    try:
        return Repository.at(root).scope().branch
    except CodelensError:
        return ""
