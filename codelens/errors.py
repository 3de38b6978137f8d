"""The base of all errors, and errors that several packages raise or handle.

    CodelensError
    +-- ScopeError                 the place that a question is about
    |   +-- NoSuchPath             the path does not exist
    |   +-- WorkingFolderGone      the working directory was deleted
    |   +-- RefusedFolder          home, `/`, a host's config folder
    |   +-- UnclearWorktree        no worktree is named, or several are
    |   +-- UnsupportedRepository  libgit2 cannot open it (SHA-256, reftable, ...)
    |   +-- NoSuchRef              the ref names no commit here
    |   +-- BrokenRef              its commit is damaged or not in this clone
    |   +-- BareRepository         needs a ref: it has no files
    |   +-- NotInGit               a question about commits outside of git
    +-- HandleError                the handle in a question
    |   +-- BadHandle              does not follow the grammar
    |   +-- HandleNotFound         no match; carries the nearest candidates
    |   +-- AmbiguousHandle        several matches; carries them
    |   +-- OutsideWorktree        the path leads outside the worktree
    +-- QueryError                 the query or a filter is invalid
    +-- SettingError               a setting or an argument has an invalid value
    |   +-- InvalidArgument        an argument, by the name that the caller uses
    +-- ReadError                  a file or object could not be read
    +-- StoreError                 the index file
        +-- HomeNotWritable        CODELENS_HOME cannot be written
        +-- HomeNotReadable        CODELENS_HOME cannot be read
        +-- DiskFull
        +-- IndexLocked            another process is still writing
        +-- LeaseLost              another process took over the lease
        +-- SchemaTooNew           written by a newer codelens
        +-- IndexCorrupt           damaged, or not a database

Errors of a single package are in that package: `memory/context_fields.py`, `hosts/host_files.py`,
`scope/location.py`, `meaning/word_table.py`, `serve/call_answers.py`, `cli/argument_parser.py`.

The command line and the server report errors. Lower layers catch an error only if the answer can
continue without what failed, and mention it: one handle of several, one rival, one host.

Each message says what happened, where, and what to do next. `str(error)` is the message for the
command line; `in_call` is the one for an MCP tool. They differ only in the next step and in the
names of arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from codelens.types import Receipt

_OPTIONS = {"kinds": "--kind", "languages": "--lang", "globs": "--glob"}
"""Options that can be repeated have a singular name."""
_MOST_CHARACTERS = 4_000
"""Maximum length of a message; names in files can have any length."""


class CodelensError(Exception):
    """Base of all errors that codelens raises on purpose.

    Args:
        problem: what happened and where; includes the next step if it is the same for all callers.
        typed: the next step on the command line.
        called: the next step for an MCP client.
    """

    receipt: Receipt | None = None
    """The state that the failed answer was based on, if known."""

    def __init__(self, problem: str, *, typed: str = "", called: str = "") -> None:
        if len(problem) > _MOST_CHARACTERS:
            left_out = len(problem) - _MOST_CHARACTERS
            half = _MOST_CHARACTERS // 2
            problem = (
                f"{problem[:half]} ... ({left_out:,} characters left out) ... {problem[-half:]}"
            )
        self.in_call = f"{problem}; {called}" if called else problem
        """The message for an MCP client."""
        super().__init__(f"{problem}; {typed}" if typed else problem)


class ScopeError(CodelensError):
    """The place that a question is about cannot be served."""


class NoSuchPath(ScopeError):
    """The given path does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        super().__init__(f"no such path: {self.path!r}; give a path inside a worktree")


class WorkingFolderGone(ScopeError):
    """The folder that relative paths are relative to no longer exists."""

    def __init__(self) -> None:
        super().__init__(
            "the working directory no longer exists: it was deleted or moved",
            typed="change to another directory, or give one with -C PATH",
            called="pass path, an absolute path inside your project",
        )


class RefusedFolder(ScopeError):
    """The folder is never indexed as a whole."""

    def __init__(self, path: str | Path, why: str) -> None:
        self.path = str(path)
        self.why = why
        super().__init__(
            f"refusing to index {self.path!r}: it is {why}",
            typed="give a project folder with -C PATH instead",
            called="pass path, an absolute path inside your project",
        )


class UnclearWorktree(ScopeError):
    """A server cannot determine which worktree a call is about."""

    def __init__(self, why: str, choices: Sequence[str] = ()) -> None:
        self.choices = tuple(choices)
        listed = f": {', '.join(choices)}" if choices else " you mean"
        super().__init__(
            f"cannot determine which worktree is meant ({why})",
            typed=f"give a path inside the one{listed} with -C PATH",
            called=f"pass `path`, an absolute path inside the one{listed}",
        )


class UnsupportedRepository(ScopeError):
    """A repository that libgit2 cannot open."""

    def __init__(self, path: str | Path, why: str, remedy: str) -> None:
        self.path = str(path)
        super().__init__(f"cannot open the repository at {self.path!r}: {why}; {remedy}")


class NoSuchRef(ScopeError):
    """The ref names no commit in this repository.

    Args:
        ref: the ref as given.
        where: the root of the worktree.
        near: similar names.
        or_worktree: the argument can also name a worktree.
    """

    def __init__(
        self, ref: str, where: str, near: Sequence[str] = (), *, or_worktree: bool = False
    ) -> None:
        self.ref = ref
        self.near = tuple(near)
        hint = f"did you mean {', '.join(near)}?" if near else "`git for-each-ref` lists the refs"
        if or_worktree and not near:
            hint = "`git worktree list` lists the worktrees, `git for-each-ref` the refs"
        noun = "worktree or ref" if or_worktree else "ref"
        super().__init__(f"no {noun} {ref!r} in {where!r}; {hint}")


class BrokenRef(ScopeError):
    """The commit of the ref is damaged or missing in this clone."""

    def __init__(self, ref: str, where: str, why: str, remedy: str) -> None:
        self.ref = ref
        super().__init__(f"ref {ref!r} in {where!r}: {why}; {remedy}")


class BareRepository(ScopeError):
    """A question about a bare repository needs a ref."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        super().__init__(
            f"{self.path!r} is a bare repository and has no files",
            typed="name a ref (--ref REF) if the command takes one, or give a worktree (-C PATH)",
            called="pass ref, a branch, tag or commit, or the path of a worktree",
        )


class NotInGit(ScopeError):
    """The question is about commits, and the folder is not in a git repository.

    Args:
        root: the folder.
        why: what cannot be answered without git.
    """

    def __init__(self, root: str, why: str) -> None:
        self.root = root
        super().__init__(
            f"{root!r} is not in a git repository, so {why}",
            typed="give a worktree with -C PATH",
            called="pass path, an absolute path inside a worktree",
        )


class HandleError(CodelensError):
    """A handle cannot be resolved."""


class BadHandle(HandleError):
    """The text does not follow the grammar of handles."""

    def __init__(self, text: str, why: str) -> None:
        self.text = text
        super().__init__(
            f"bad handle {text[:200]!r}: {why}; "
            "handles look like src/auth.py#Session.validate or src/auth.py:10-42"
        )


def _readable(handle: str) -> str:
    """Unescape printable ASCII in a handle: `A%3A%3AB` becomes `A::B`."""
    first, *parts = handle.split("%")
    shown = first
    for part in parts:
        digits = part[:2]
        is_escape = len(digits) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
        byte = int(digits, 16) if is_escape else 0
        shown += chr(byte) + part[2:] if 0x20 <= byte < 0x7F else f"%{part}"
    return shown


class HandleNotFound(HandleError):
    """Nothing in this view matches the handle."""

    def __init__(self, text: str, near: Sequence[str] = (), why: str = "", unread: int = 0) -> None:
        self.text = text
        self.near = tuple(near)
        self.why = why
        hint = f"nearest: {', '.join(near)}" if near else "search for it instead"
        if unread:
            files = "file is" if unread == 1 else "files are"
            outcome = f"was not found yet, but {unread:,} {files} unread: ask again"
        else:
            outcome = f"was not found{why and f' ({why})'}"
        super().__init__(f"{_readable(text[:200])!r} {outcome}; {hint}")

    def while_reading(self, unread: int) -> Self:
        """Return the error for a view with unread files, where the handle may still be found."""
        return type(self)(self.text, self.near, self.why, unread)


class AmbiguousHandle(HandleError):
    """The bare name has several owners."""

    def __init__(self, text: str, owners: Sequence[str]) -> None:
        self.text = text
        self.owners = tuple(owners)
        shown = ", ".join(owners[:10])
        more = f" and {len(owners) - 10} more" if len(owners) > 10 else ""
        super().__init__(
            f"{_readable(text[:200])!r} has {len(owners)} owners: {shown}{more}; name one of them"
        )


class OutsideWorktree(HandleError):
    """The path leads outside the worktree."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path[:200]!r} leads outside the worktree; use a path relative to its root"
        )


class QueryError(CodelensError):
    """The query or a filter is invalid."""


class SettingError(CodelensError):
    """A setting or an argument has an invalid value."""


class InvalidArgument(SettingError):
    """An argument has an invalid value.

    Args:
        name: of the argument in Python and MCP (`max_tokens`); the message for the command line
            has the option (`--max-tokens`).
        why: what is wrong with the value, and which values are valid.
    """

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        super().__init__(f"{option_of(name)} {why}")
        self.in_call = f"{name} {why}"


def option_of(argument: str) -> str:
    """Return the command-line option of a Python or MCP argument."""
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}")


class ReadError(CodelensError):
    """A file or a git object could not be read."""


class StoreError(CodelensError):
    """The index file cannot be used."""


class HomeNotWritable(StoreError):
    """The folder that holds the indexes cannot be written."""

    def __init__(self, path: str | Path, why: str) -> None:
        self.path = str(path)
        super().__init__(
            f"cannot write to {self.path!r}: {why}; "
            "make it writable or set CODELENS_HOME to another folder"
        )


class HomeNotReadable(StoreError):
    """The user may not read a folder or file of codelens.

    Args:
        path: the folder or file.
        why: what prevents reading.
        other_owner: another user owns it.
    """

    def __init__(self, path: str | Path, why: str, *, other_owner: bool = False) -> None:
        self.path = str(path)
        self.why = why
        remedy = "make it readable (`codelens doctor --fix` does)"
        if other_owner:
            remedy = "ask its owner to make it readable for you"
        CodelensError.__init__(
            self,
            f"cannot read {self.path!r}: {why}; {remedy}, or set CODELENS_HOME to another folder",
        )


class DiskFull(StoreError):
    """The disk has no space left for the index; earlier commits stay.

    Args:
        path: the file.
        is_shared: other processes have it open; exclusive access would allow more.
    """

    def __init__(self, path: str | Path, *, is_shared: bool = False) -> None:
        self.path = str(path)
        self.is_shared = is_shared
        problem = f"no space left while writing {self.path!r}"
        if is_shared:
            super().__init__(
                f"{problem}, and it is open elsewhere; free some space, or stop the agents and "
                "servers that have it open, and try again"
            )
            return
        super().__init__(
            problem,
            typed="free some space (`codelens doctor` shows what codelens uses)",
            called="free some space and ask again",
        )


class IndexLocked(StoreError):
    """Another process holds the writer's lease and did not release it in time."""

    def __init__(self, path: str | Path, holder: str) -> None:
        self.path = str(path)
        self.holder = holder
        super().__init__(f"{self.path!r} is being written by {holder}; ask again when it is done")


class LeaseLost(StoreError):
    """Another process took over the writer's lease; nothing more was written."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        super().__init__(f"another process took over writing {self.path!r}; ask again")


class SchemaTooNew(StoreError):
    """The index was written by a newer codelens."""

    def __init__(self, path: str | Path, found_schema: int, supported: int) -> None:
        self.path = str(path)
        self.found = found_schema
        self.known = supported
        super().__init__(
            f"{self.path!r} is at schema {found_schema}, this codelens reads up to {supported}: "
            "upgrade codelens"
        )


class IndexCorrupt(StoreError):
    """The file is damaged or not a database; or, if `foreign`, valid but for another repository."""

    def __init__(self, path: str | Path, why: str, *, foreign: bool = False) -> None:
        self.path = str(path)
        self.why = why
        self.foreign = foreign
        super().__init__(f"{self.path!r} is damaged ({why}); it will be set aside and rebuilt")
