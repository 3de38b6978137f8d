"""Records what a session was sent: for each body its place and a hash of every line, never text.

`SentLog` is the file of one session in one worktree, `SentBodies` its content. A text counts as
sent only if each run of its lines appears in order in one body that was sent. Old entries are
forgotten: the host may have dropped them from its model's context.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple, cast

from codelens import home_files
from codelens.trail.trail_log import tail_lines

REMEMBERED_BYTES = 180_000
"""Bytes of recent texts that count; about 60,000 tokens. Hosts silently compact older ones."""
REMEMBERED_S = 6 * 3600
_AHEAD_S = 60
_KEPT_S = 2 * 86_400
_HASH = 8
"""Bytes of a line's hash."""
_LARGEST = 2_000_000
_WAIT_S = 0.05
_ENDING = ".sent"


class SentBody(NamedTuple):
    """Lines of a definition, or of a file, that were sent."""

    path: str
    """Printed."""
    handle: str
    """The handle of the definition or file; edits of it are detected by this name."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of each line, in order."""


class _Run(NamedTuple):
    """Consecutive lines that were sent."""

    handle: str
    start_line: int
    hashes: bytes
    call: int = 0
    """Number of the call that sent it, ascending with time."""


class SentLog:
    """What was sent in one session in one worktree.

    Args:
        home: `CODELENS_HOME`.
        repository: its id.
        worktree: its key, from `codelens.trail.trail_log.worktree_key`.
        session: the session's id; any text but an empty one.
    """

    def __init__(
        self, home: str | os.PathLike[str], repository: str, worktree: str, session: str
    ) -> None:
        self._folder = os.path.join(os.fspath(home), "trails")
        name = hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        self._path = os.path.join(self._folder, f"{repository}-{worktree}-{name}{_ENDING}")

    def read(self, now: float | None = None) -> SentBodies:
        """What was sent recently; empty if the file cannot be read."""
        now = time.time() if now is None else now
        calls: list[list[tuple[str, _Run]]] = []
        size = 0
        for at, length, runs in reversed(list(_calls(self._path))):
            size += length
            if at < now - REMEMBERED_S or size > REMEMBERED_BYTES:
                break
            # Sent before the clock was set back: nobody knows how long ago.
            if at <= now + _AHEAD_S:
                calls.append(runs)
        return SentBodies(
            (path, run._replace(call=call))
            for call, runs in enumerate(reversed(calls))
            for path, run in runs
        )

    def add(self, bodies: Sequence[SentBody], now: float | None = None) -> None:
        """Record what one answer sent.

        Raises:
            OSError: it cannot be written.
        """
        bodies = [body for body in bodies if body.lines]
        if not bodies:
            return
        at = int(time.time() if now is None else now)
        if home_files.starts_over(self._path):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            _forget_old(self._folder, at)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            # Without this record the text is only sent once more.
            if home_files.take_lock(descriptor, wait_s=_WAIT_S):
                new = not os.lseek(descriptor, 0, os.SEEK_END)
                before = home_files.owner_head(self._path) if new else b"\n"
                os.write(descriptor, before + _written(bodies, at) + b"\n")
        finally:
            os.close(descriptor)

    def end(self) -> None:
        """Forget everything, so that it is sent again."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)


def end_all(home: str | os.PathLike[str], repository: str, worktree: str) -> int:
    """Forget what was sent in all sessions of a worktree; return their number.

    A host reports a compaction with a session id that the server may not know. Forgetting too much
    costs tokens; forgetting too little costs an answer.
    """
    folder = os.path.join(os.fspath(home), "trails")
    gone = 0
    for name in _names(folder):
        if name.startswith(f"{repository}-{worktree}-") and name.endswith(_ENDING):
            try:
                os.unlink(os.path.join(folder, name))
            except FileNotFoundError:
                continue
            gone += 1
    return gone


class SentBodies:
    """Bodies that were sent.

    Args:
        runs: by path, in the order in which they were sent.
    """

    def __init__(self, runs: Iterable[tuple[str, _Run]]) -> None:
        self._runs: dict[str, list[_Run]] = {}
        for path, run in runs:
            self._runs.setdefault(path, []).append(run)

    def __bool__(self) -> bool:
        return bool(self._runs)

    def start_of(self, path: str, lines: Sequence[tuple[int, str]]) -> int | None:
        """Find lines that were sent, byte for byte; None if they were not.

        Args:
            path: printed.
            lines: number and text, in order; a gap in the numbers separates runs, which are found
                independently.

        Returns:
            The number of the first line when it was last sent.
        """
        sent_runs = self._runs.get(path)
        if not sent_runs or not lines:
            return None
        first: int | None = None
        for run in _runs_of("", lines):
            start = next((at for other in reversed(sent_runs) if (at := _within(run, other))), None)
            if start is None:
                return None
            first = start if first is None else first
        return first

    def differs(self, path: str, handle: str, lines: Sequence[str]) -> bool:
        """Whether the file lacks a part of a definition as it was last sent.

        Args:
            path: printed.
            handle: the definition's handle.
            lines: all current lines of its file.
        """
        runs = [run for run in self._runs.get(path, ()) if run.handle == handle]
        if not runs:
            return False
        last = max(run.call for run in runs)
        whole = _Run("", 1, b"".join(map(_hash_of, lines)))
        return any(run.call == last and not _within(run, whole) for run in runs)


def _within(run: _Run, other: _Run) -> int:
    """The line at which `run` begins in `other`; 0 if it is not in it."""
    at = other.hashes.find(run.hashes)
    while at >= 0 and at % _HASH:
        at = other.hashes.find(run.hashes, at + 1)
    return other.start_line + at // _HASH if at >= 0 else 0


def _runs_of(handle: str, lines: Iterable[tuple[int, str]]) -> list[_Run]:
    runs: list[_Run] = []
    for number, text in lines:
        last = runs[-1] if runs else None
        if last is not None and last.start_line + len(last.hashes) // _HASH == number:
            runs[-1] = last._replace(hashes=last.hashes + _hash_of(text))
        else:
            runs.append(_Run(handle, number, _hash_of(text)))
    return runs


def _hash_of(text: str) -> bytes:
    # A model does not see line ends.
    line = text.rstrip("\r\n").encode("utf-8", "backslashreplace")
    return blake2b(line, digest_size=_HASH).digest()


def _written(bodies: Sequence[SentBody], at: int) -> bytes:
    texts = [text for body in bodies for _, text in body.lines]
    size = sum(len(text.encode("utf-8", "backslashreplace")) + 1 for text in texts)
    rows = [
        [body.path, body.handle, run.start_line, base64.b64encode(run.hashes).decode("ascii")]
        for body in bodies
        for run in _runs_of(body.handle, body.lines)
    ]
    text = json.dumps([at, size, rows], ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _calls(path: str) -> Iterator[tuple[int, int, list[tuple[str, _Run]]]]:
    """Time, bytes sent and runs of each call; damaged lines are skipped."""
    for line in tail_lines(path, _LARGEST):
        call = _call(line) if line else None
        if call is not None:
            yield call


def _call(line: bytes) -> tuple[int, int, list[tuple[str, _Run]]] | None:
    try:
        at, size, rows = cast("tuple[int, int, list[list[object]]]", json.loads(line))
        runs = [
            (str(path), _Run(str(handle), int(str(start)), base64.b64decode(str(hashes))))
            for path, handle, start, hashes in rows
        ]
        return int(at), int(size), [(path, run) for path, run in runs if run.hashes]
    except (ValueError, TypeError, RecursionError, binascii.Error):
        return None


def _forget_old(folder: str, now: int) -> None:
    for name in _names(folder):
        path = os.path.join(folder, name)
        if not name.endswith(_ENDING):
            continue
        try:
            if os.stat(path).st_mtime < now - _KEPT_S:
                os.unlink(path)
        except OSError:
            continue


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
