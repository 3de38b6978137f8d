"""By what a repository is known again when it was moved: the commit its history begins with."""

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
    """The first commit along first parents from `head`; empty where it cannot be told.

    Costs about 10 us a commit. A shallow clone does not have it.
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
    """Whether a repository has a commit; True where that cannot be told, as in a shallow clone."""
    if not repository.is_git or repository.git.is_shallow:
        return True
    import pygit2

    try:
        return pygit2.Oid(hex=commit) in repository.git
    except ValueError:
        return False


# The linked worktrees that git knows of, by its own notes on them.

_PATH_BYTES = 64 * 1024


def listed_worktrees(common_dir: str) -> dict[str, bool]:
    """Roots of the linked worktrees, and whether they are locked.

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
        # Relative since git 2.48, if so configured.
        dot_git = os.path.join(own, os.fsdecode(text))
        is_locked[os.path.realpath(os.path.dirname(dot_git))] = os.path.exists(f"{own}/locked")
    return is_locked


# Names of branches and tags, for who wrote one wrong: read without opening what may be no ref.

BRANCHES = "refs/heads/"
_KINDS = (BRANCHES, "refs/tags/")
_PACKED_BYTES = 64 * 1024 * 1024
"""So much of packed-refs is read for names to suggest; some 700,000 refs."""


def ref_names(common_dir: str, kinds: Sequence[str] = _KINDS) -> list[str]:
    """Short names of the local branches and tags, sorted; those that git would refuse are left out.

    A file in `refs` counts whatever it holds. Costs a listing of each folder there, and
    packed-refs.

    Args:
        common_dir: where the repository keeps its refs.
        kinds: what their whole names begin with.
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


# A repository as it stands at this moment: `Scope`, its objects, its refs, its settings.
#
# What pygit2 is asked goes through here; it is imported where it is asked, since a search of a
# plain worktree need not (`plain/plain_repository.py`). Nothing of a repository is run (no hook,
# filter or fsmonitor) and nothing is fetched: libgit2 reads objects, refs and config.

_STATES = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
_NAMED = re.compile(r"[~^@:]")
"""What ends the name that a revision begins with."""
_WHOLE_NAMES = (
    "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD",
)  # fmt: skip
"""What a short name of a ref may stand for, beside itself; gitrevisions(7)."""
_PARENTS_FOLLOWED = 10_000
"""How far back is looked for a commit that is missing."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which tree a question is about."""

    kind: Literal["worktree", "folder", "ref"]
    root: str
    """Top of the worktree or folder; for a ref, of the worktree it was asked from."""
    git_dir: str
    common_dir: str
    branch: str
    """Short name; empty when detached, for a folder, and for a ref (see `ref`)."""
    head: CommitId
    """Empty while no commit exists."""
    state: str
    """`rebase`, `merge`, ... while one is under way, else empty."""
    ref: str = ""
    """As the caller wrote it."""

    @property
    def repo_id(self) -> str:
        """Names the repository: equal for all its worktrees."""
        return repository_id(self.common_dir)

    @property
    def index_id(self) -> str:
        """Names the state that a view stands at: repository, worktree, branch, HEAD."""
        worktree = "" if self.kind == "ref" else self.root
        parts = (self.common_dir, worktree, self.branch, self.head)
        return hashlib.sha256(b"\0".join(os.fsencode(part) for part in parts)).hexdigest()

    @property
    def key(self) -> str:
        """Names the view: one a worktree and branch, one a commit; kept while HEAD moves."""
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
    """A place that was opened: a git repository, or a plain folder.

    Cheap to make anew for every question (a quarter of a millisecond), so nothing in it is stale.
    libgit2 opens it when it is first needed, which a repository of the plainest kind may not see.
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
        # pygit2's object and its `branches`, `references` and so on hold each other: without
        # this, what libgit2 read stays until Python looks for cycles, which servers seldom do.
        weakref.finalize(self, vars(git).clear).atexit = False
        self._git = git
        return git

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Repository:
        """Open what `path` lies in; see `locate` for what it raises.

        Raises:
            UnsupportedRepository: libgit2 cannot open it.
            ForeignRepository: another user owns it.
        """
        return cls(locate(path))

    @property
    def git(self) -> pygit2.Repository:
        """The open repository; never asked of a plain folder.

        Raises:
            UnsupportedRepository: libgit2 cannot open it, which is told here only where what was
                found before has changed since.
        """
        assert self.is_git
        return self._open() if self._git is None else self._git

    @property
    def is_git(self) -> bool:
        """Whether there is a repository at all."""
        return self.place.kind != "folder"

    @cached_property
    def common_dir(self) -> str:
        """The folder that all worktrees share."""
        return os.path.realpath(shared_dir(self.place.git_dir))

    def scope(self, ref: str | None = None) -> Scope:
        """The scope of the worktree or folder, or of a ref.

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
            near = difflib.get_close_matches(ref, ref_names(self.common_dir), 3)
            raise NoSuchRef(ref, self.place.root, near) from error
        return CommitId(str(commit.id))

    def _refuse_special_ref(self, name: str, *, by_log: bool) -> None:
        """Look at each file that libgit2 would open for the short name of a ref."""
        root, common_dir = self.place.root, self.common_dir
        # A branch may be called as a file of git's is: `index`.
        refuse_special_file(root, os.path.join(common_dir, name), ANY_BYTES)
        for whole in _WHOLE_NAMES:
            refuse_special_ref(root, common_dir, whole.format(name))
        if by_log:
            refuse_special_file(root, os.path.join(self.place.git_dir, "logs", name), LOG_BYTES)
            for whole in ("{}", *_WHOLE_NAMES):
                log = os.path.join(common_dir, "logs", whole.format(name))
                refuse_special_file(root, log, LOG_BYTES)

    def _broken(self, ref: str, name: str) -> BrokenRef | None:
        """Why a ref leads to no commit, where it is there itself; None if it is not."""
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
        """Roots of the other worktrees of this repository that still exist."""
        if not self.is_git:
            return []
        roots: list[str] = []
        main = os.path.dirname(self.common_dir)
        if os.path.basename(self.common_dir) == ".git":
            roots.append(main)
        # Who cannot read the list still has an answer to the rest of the question.
        with contextlib.suppress(OSError):
            roots += listed_worktrees(self.common_dir)
        return sorted(
            root for root in set(roots) if root != self.place.root and os.path.isdir(root)
        )

    def release(self) -> None:
        """Give back what libgit2 read, which is 90 KiB for `is_dirty` in a worktree of 130 files.

        It is read anew where it is asked again. What keeps a look for later, as graphs do, then
        keeps no objects of git with it.
        """
        if self._git is not None:
            self._git.free()

    @cached_property
    def settings(self) -> GitSettings:
        """What git's config says here."""
        # A proxy, since what is held in a circle stays until Python looks for cycles.
        this = weakref.proxy(self)
        return GitSettings(self.config_files(), lambda: this.git, plain=self._plain is not None)

    def ignore_settings(self) -> IgnoreSettings:
        """What of git's config decides which files belong."""
        settings = self.settings
        return IgnoreSettings(
            excludes_file=settings.path("core.excludesFile"),
            ignore_case=settings.truth("core.ignoreCase"),
            precompose_unicode=sys.platform == "darwin"
            and settings.truth("core.precomposeUnicode"),
            sparse_checkout=settings.truth("core.sparseCheckout"),
        )

    def rule_files(self) -> list[str]:
        """Files that libgit2 reads for attributes and ignore rules, outside of the worktree."""
        return [
            *self.attribute_files(),
            *self._rule_files("exclude", "core.excludesFile", "ignore"),
        ]

    def attribute_files(self) -> list[str]:
        """Those of them that are for attributes."""
        return self._rule_files("attributes", "core.attributesFile", "attributes")

    def _rule_files(self, own: str, setting: str, personal: str) -> list[str]:
        xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(Path.home(), ".config")
        named = self.settings.path(setting) or os.path.join(xdg, "git", personal)
        info = os.path.join(self.common_dir, "info", own)
        return [info, os.path.join(self.place.root, named)]

    def rules_above(self, path: bytes) -> Iterator[str]:
        """The same of the folders that a path is in."""
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
        """Files whose change may change what `ignore_settings` and attributes say."""
        return config_files(self.place.git_dir, self.common_dir)

    def object_size(self, oid: bytes) -> int:
        """Bytes of an object, which is not read for that; 0 where it cannot be told."""
        import pygit2

        try:
            return self.git.odb.read_header(pygit2.Oid(raw=oid))[1]
        except (KeyError, ValueError, pygit2.GitError):
            return 0

    def read_blob(self, oid: bytes) -> bytes:
        """Bytes of a blob.

        Raises:
            ReadError: the object is not here (a partial clone), is damaged, is no blob, or has
                more than `BLOB_BYTES`.
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
