"""Where codelens keeps things, and the printed form of a path.

A path inside a worktree is bytes (`RelPath`). Its printed form is text without loss: `:`, `#`,
`%`, control characters and bytes that are no UTF-8 are percent-escaped, so that handles can be
cut at `:` and `#`, and a terminal is never sent a control character from a file name.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from codelens.errors import BadHandle, DiskFull, HomeNotReadable, HomeNotWritable, SettingError
from codelens.types import RelPath

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says of a full disk, and of a user who has had their share of it."""

VECTORS_FOLDER = "vectors"
"""In the home folder; there is none before somebody asks what a provider would be sent."""

_PACKAGE = Path(__file__).resolve().parent
_ESCAPED = re.compile(r"[:#%\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\udc80-\udcff]")
_HEX = re.compile(rb"%([0-9A-Fa-f]{2})")


def printed(path: bytes) -> str:
    """The printed form of a path: readable, and turned back by `from_printed`."""
    text = path.decode("utf-8", "surrogateescape")
    return _ESCAPED.sub(percent_escaped, text) if _ESCAPED.search(text) else text


def percent_escaped(match: re.Match[str]) -> str:
    """What a regular expression matched, each of its bytes as `%XX`."""
    raw = match.group().encode("utf-8", "surrogateescape")
    return "".join(f"%{byte:02X}" for byte in raw)


def can_be_named(text: str) -> bool:
    """Whether a file or ref can have this name: half a surrogate pair, which JSON can hold, not."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def from_printed(text: str) -> RelPath:
    """The path that `text` prints; a `%` that starts no escape stands for itself.

    Raises:
        BadHandle: the text holds a NUL, which no path can.
    """
    if not can_be_named(text):
        raise BadHandle(text, "a path cannot contain this character")
    raw = _HEX.sub(lambda match: bytes([int(match.group(1), 16)]), os.fsencode(text))
    if b"\0" in raw:
        raise BadHandle(text, "a path cannot contain a NUL")
    return RelPath(raw)


def default_home(environ: dict[str, str]) -> Path:
    """`CODELENS_HOME`, or `~/.codelens`.

    Raises:
        SettingError: nothing says where the user's home folder is.
    """
    named = environ.get("CODELENS_HOME") or "~/.codelens"
    try:
        return Path(named).expanduser()
    except RuntimeError as error:
        raise SettingError(
            f"cannot resolve {named!r}; set CODELENS_HOME to an absolute path"
        ) from error


def repository_id(common_dir: str) -> str:
    """Names a repository by its git common directory: equal for all its worktrees."""
    return hashlib.sha256(os.fsencode(common_dir)).hexdigest()[:16]


def index_file(home: Path, repo_id: str) -> Path:
    """The index of a repository; one file for all its worktrees."""
    return home / "indexes" / f"index-{repo_id}.db"


def contexts_file(home: Path, repo_id: str) -> Path:
    """What was saved of a repository; apart from its index, which can be built again."""
    return home / "contexts" / f"contexts-{repo_id}.db"


def pins_file(home: Path, repo_id: str) -> Path:
    """Which views of a repository are pinned; apart from its index, which can be built again."""
    return home / "pins" / f"pins-{repo_id}.json"


def vectors_file(home: Path, repo_id: str) -> Path:
    """Vectors of a repository by a provider; apart from its index, since they cost money."""
    return home / VECTORS_FOLDER / f"vectors-{repo_id}.db"


def usage_file(home: Path) -> Path:
    """How much codelens was used, in all repositories."""
    return home / "usage.db"


def barred(path: Path) -> HomeNotReadable | None:
    """Why this user may not read a file or list a folder; None if they may, or it is not there.

    It names the outermost of the path's folders that cannot be entered.
    """
    for ancestor in (*reversed(path.parents), path):
        try:
            about = ancestor.stat()
        except OSError:
            return None
        folder = stat.S_ISDIR(about.st_mode)
        needed = (os.X_OK if folder else 0) | (os.R_OK if ancestor == path else 0)
        if not os.access(ancestor, needed):
            why = f"its mode {stat.S_IMODE(about.st_mode):04o} does not let you"
            mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
            why = why if mine else f"it belongs to user {about.st_uid}, and {why}"
            return HomeNotReadable(ancestor, why, other_owner=not mine)
    return None


def make_private(folder: Path) -> None:
    """Make `folder` and its parents, readable by its owner alone.

    Raises:
        HomeNotWritable: it cannot be made.
        DiskFull: there is no room for it.
    """
    try:
        # `parents=True` would make those with the mode that the user has for all folders.
        for missing in reversed([parent for parent in folder.parents if not parent.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(folder) from error
        raise barred(folder) or HomeNotWritable(folder, error.strerror or str(error)) from error


def shipped(name: str) -> Path:
    """A folder that ships with codelens (`migrations`, `install`): in a wheel or a checkout."""
    in_wheel = _PACKAGE / "_shipped" / name
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parent / name


def matching(paths: Sequence[bytes], pattern: re.Pattern[bytes]) -> list[int]:
    """Which of many paths a pattern matches somewhere in lower case; by number, in their order.

    One search through all of them: of 200,000 it takes 50 ms, and one by one ten times as long.
    The pattern must match no NUL.
    """
    joined = b"\0".join(paths).lower()
    hashes: dict[int, None] = {}
    number = at = 0
    for match in pattern.finditer(joined):
        number += joined.count(b"\0", at, match.start())
        at = match.start()
        hashes[number] = None
    return list(hashes)
