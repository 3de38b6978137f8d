"""The log of the session trail is appended under a lock, and stays readable after a crash."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from typing import NamedTuple, cast

from codelens import home_files
from codelens.home_files import open_regular


def tail_lines(path: str, most: int) -> list[bytes]:
    """The whole lines in the last `most` bytes of a log; empty if it cannot be read.

    If the first line names another owner, the log was copied here and is set aside.
    """
    try:
        with open_regular(path) as file:
            other = home_files.other_owner_head(path, file.read(home_files.OWNER_HEAD_BYTES))
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - most, 0))
            if size > most:
                file.readline()
            data = file.read(most)
    except OSError:
        return []
    if other:
        home_files.set_aside(path, home_files.written_for(other))
        return []
    return data.split(b"\n")


# The trail: written by `append`, read by `entries`.
#
# One JSON object per line, 100 to 200 bytes, never code. A repository has one file a month under
# `CODELENS_HOME/trails`, so old entries are deleted with their file, and nothing is ever rewritten.
# Hooks call this within 60 ms of CPU.

KEPT_DAYS = 90
LONGEST_LINE = 200
"""Bytes; a line may only exceed this if its first handle alone requires it."""
_LONGEST_HANDLE = 400
_LONGEST_READ = 4_000_000
"""Bytes read from the end of one file: 20,000 calls a month and more."""
_TAIL = 16_384
_MOST_HANDLES = 4
_ID_LENGTH = 12
_DAY_S = 86_400
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


class TrailEntry(NamedTuple):
    """One call that touched definitions."""

    at: int
    """Seconds since the epoch."""
    session: str
    """As `session_key` returns it; empty if the session is unknown."""
    worktree: str
    """As `worktree_key` returns it."""
    branch: str
    """Empty if detached, or outside of git."""
    tool: str
    """The action: `explored`, `expanded`, `impact`, `edited`."""
    summary: str
    """The call in a few words: `'Database' (3 definitions)`."""
    handles: tuple[str, ...] = ()
    """The most important handles, best first; for an edit the path that was edited."""
    ms: int = 0
    """Milliseconds after `at`, to order calls and prompts within one second."""

    def seconds(self) -> float:
        """The time in seconds since the epoch, to the millisecond."""
        return self.at + self.ms / 1000


def moment() -> tuple[int, int]:
    """The current time for an entry: seconds since the epoch, and milliseconds."""
    seconds, ms = divmod(time.time_ns() // 1_000_000, 1000)
    return seconds, ms


def session_key(session_id: str) -> str:
    """The end of a host's session id: unlike the start of a UUID, it never depends on a clock."""
    return _one_line(session_id)[-_ID_LENGTH:]


def worktree_key(root: str) -> str:
    """A short key of a worktree's root, since lines must stay short."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:8]


def append(
    home: str | os.PathLike[str], repository: str, entry: TrailEntry, *, wait_s: float = 0.05
) -> bool:
    """Add one line to the trail of a repository.

    Args:
        home: `CODELENS_HOME`.
        repository: its id, `Scope.repo_id`.
        entry: what to add; its texts are cut to fit the line.
        wait_s: how long to wait for another writer.

    Returns:
        Whether it was written; False if another writer held the file all that time.

    Raises:
        OSError: the file cannot be written.
    """
    path = _file(home, repository, entry.at)
    new = home_files.starts_over(path)
    if new:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # Also opened for reading, to check whether the last line is complete.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if not home_files.take_lock(descriptor, wait_s=wait_s):
            return False
        end = os.lseek(descriptor, 0, os.SEEK_END)
        before = home_files.owner_head(path)
        if end:
            os.lseek(descriptor, end - 1, os.SEEK_SET)
            before = b"" if os.read(descriptor, 1) == b"\n" else b"\n"
        os.write(descriptor, before + _line(entry))
    finally:
        os.close(descriptor)
    if new:
        forget_old(home, entry.at)
    return True


def entries(
    home: str | os.PathLike[str],
    repository: str,
    *,
    session: str = "",
    worktree: str = "",
    since: int = 0,
    now: int | None = None,
) -> list[TrailEntry]:
    """The trail of a repository, oldest first; incomplete or damaged lines are skipped.

    Args:
        home: `CODELENS_HOME`.
        repository: its id.
        session: only this session, by its key or its whole id.
        worktree: only this worktree, by its key.
        since: only from this time on, in seconds since the epoch.
        now: the current time; entries older than `KEPT_DAYS` are left out.
    """
    oldest = max(since, (int(time.time()) if now is None else now) - KEPT_DAYS * _DAY_S)
    session_id = session_key(session)
    trail_entries = [
        entry
        for path in _files(home, f"{repository}-")
        for entry in _read(path)
        if entry.at >= oldest
        and (not session_id or entry.session == session_id)
        and (not worktree or entry.worktree == worktree)
    ]
    return sorted(trail_entries, key=lambda entry: entry.at)


def latest(
    home: str | os.PathLike[str], repository: str, *, since: int, now: int | None = None
) -> list[TrailEntry]:
    """The entries since a time in the last 16 kB, oldest first: what a hook has time to read."""
    # A clock that was ahead for a while leaves a file and entries of the future.
    now = int(time.time()) if now is None else now
    paths = [path for path in _files(home, f"{repository}-") if _month_of(path) <= _month(now)]
    read = _read(paths[-1], _TAIL) if paths else ()
    return [entry for entry in read if since <= entry.at <= now + _DAY_S]


def forget_old(home: str | os.PathLike[str], now: int) -> int:
    """Delete all repositories' files without recent entries; return how many were deleted.

    Ages are counted from the last month with entries before this one: if the clock jumps ahead, all
    files seem old.
    """
    paths = [path for path in _files(home, "") if _MONTH.fullmatch(_month_of(path))]
    last = max((month for path in paths if (month := _month_of(path)) < _month(now)), default="")
    if not last:
        return 0
    # 90 days before its end.
    number = 12 * int(last[:4]) + int(last[5:]) - 3
    first = min(_month(now - KEPT_DAYS * _DAY_S), f"{number // 12:04}-{number % 12 + 1:02}")
    gone = 0
    for path in paths:
        if _month_of(path) < first:
            try:
                os.unlink(path)
            except OSError:
                continue
            gone += 1
    return gone


def _folder(home: str | os.PathLike[str]) -> str:
    return os.path.join(os.fspath(home), "trails")


def _file(home: str | os.PathLike[str], repository: str, at: int) -> str:
    return os.path.join(_folder(home), f"{repository}-{_month(at)}.jsonl")


def _month_of(path: str) -> str:
    """The month in a file's name."""
    return path.removesuffix(".jsonl")[-7:]


def _month(at: int) -> str:
    return time.strftime("%Y-%m", time.gmtime(max(at, 0)))


def _files(home: str | os.PathLike[str], prefix: str) -> list[str]:
    folder = _folder(home)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [
        os.path.join(folder, name)
        for name in names
        if name.startswith(prefix) and name.endswith(".jsonl")
    ]


def _line(entry: TrailEntry) -> bytes:
    handles = [
        handle
        for handle in map(_one_line, entry.handles)
        if len(handle.encode()) <= _LONGEST_HANDLE
    ]
    handles, summary = handles[:_MOST_HANDLES], _one_line(entry.summary)
    line = _written(entry, summary, handles)
    while len(line) > LONGEST_LINE and (len(handles) > 1 or summary):
        if len(handles) > 1:
            handles.pop()
        else:
            summary = summary[: -max(1, (len(line) - LONGEST_LINE) // 4)]
        line = _written(entry, summary, handles)
    return line


def _written(entry: TrailEntry, text_value: str, handles: list[str]) -> bytes:
    fields: dict[str, object] = {
        "t": entry.at,
        "s": session_key(entry.session),
        "w": entry.worktree,
        "b": _one_line(entry.branch)[:60],
        "k": _one_line(entry.tool)[:16],
        "d": text_value,
        "h": handles,
    }
    if entry.ms:
        fields["m"] = entry.ms
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"


def _one_line(text: str) -> str:
    """`text` as one line of valid UTF-8."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def _read(path: str, most: int = _LONGEST_READ) -> Iterator[TrailEntry]:
    """The entries in the last `most` bytes of a file."""
    for line in tail_lines(path, most):
        entry = _entry(line)
        if entry is not None:
            yield entry


def _entry(line: bytes) -> TrailEntry | None:
    if not line.startswith(b"{"):
        return None
    try:
        fields = cast("dict[str, object]", json.loads(line))
    except (ValueError, RecursionError):
        return None
    at, handles, ms = fields.get("t"), fields.get("h"), fields.get("m", 0)
    session, worktree, branch, tool, summary = (fields.get(key) for key in "swbkd")
    if (
        isinstance(at, int)
        and isinstance(ms, int)
        and isinstance(session, str)
        and isinstance(worktree, str)
        and isinstance(branch, str)
        and isinstance(tool, str)
        and isinstance(summary, str)
        and isinstance(handles, list)
    ):
        named = tuple(str(handle) for handle in cast("list[object]", handles))
        return TrailEntry(at, session, worktree, branch, tool, summary, named, ms)
    return None
