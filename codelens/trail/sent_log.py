"""What was sent in a session: for each body its place and a hash of every line, never its text.

`SentLog` is the file of one session in one worktree, `SentBodies` what it says. A text counts as
sent only where each run of its lines stands, line by line and in order, in one body that was sent.
What was sent long ago is forgotten: a host may have dropped it from what its model reads.
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
"""Of the texts sent last; about 60,000 tokens. Hosts compact what is older without a word."""
REMEMBERED_S = 6 * 3600
_KEPT_S = 2 * 86_400
_HASH = 8
"""Bytes of a line's hash."""
_LARGEST = 2_000_000
_WAIT_S = 0.05
_ENDING = ".sent"


class SentBody(NamedTuple):
    """Lines of a definition, or of a file, as they were sent."""

    path: str
    """Printed."""
    handle: str
    """What they are of; an edit of it is noticed by this name."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of each, in order."""


class _Run(NamedTuple):
    """Consecutive lines that were sent."""

    handle: str
    start_line: int
    hashes: bytes
    call: int = 0
    """Which call sent it; the later the higher."""


class SentLog:
    """What was sent in one session in one worktree.

    Args:
        home: `CODELENS_HOME`.
        repository: its id.
        worktree: its key, of `codelens.trail.trail_log.worktree_key`.
        session: the session's id; any text but an empty one.
    """

    def __init__(
        self, home: str | os.PathLike[str], repository: str, worktree: str, session: str
    ) -> None:
        self._folder = os.path.join(os.fspath(home), "trails")
        name = hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        self._path = os.path.join(self._folder, f"{repository}-{worktree}-{name}{_ENDING}")

    def read(self, now: float | None = None) -> SentBodies:
        """What was sent lately; nothing of a file that cannot be read."""
        oldest = (time.time() if now is None else now) - REMEMBERED_S
        calls: list[list[tuple[str, _Run]]] = []
        size = 0
        for at, length, runs in reversed(list(_calls(self._path))):
            size += length
            if at < oldest or size > REMEMBERED_BYTES:
                break
            calls.append(runs)
        return SentBodies(
            (path, run._replace(call=call))
            for call, runs in enumerate(reversed(calls))
            for path, run in runs
        )

    def add(self, bodies: Sequence[SentBody], now: float | None = None) -> None:
        """Note what one answer sent.

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
            # Unwritten, the text is only sent once more.
            if home_files.take_lock(descriptor, wait_s=_WAIT_S):
                new = not os.lseek(descriptor, 0, os.SEEK_END)
                before = home_files.owner_head(self._path) if new else b"\n"
                os.write(descriptor, before + _written(bodies, at) + b"\n")
        finally:
            os.close(descriptor)

    def end(self) -> None:
        """Forget all of it: what was sent is sent again."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)


def end_all(home: str | os.PathLike[str], repository: str, worktree: str) -> int:
    """Forget what was sent in every session of a worktree; how many there were.

    A compaction is told with a session id that a server need not know: forgetting too much costs
    tokens, forgetting too little an answer.
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
        """Where lines stood when they were sent, in these very bytes; None where they were not.

        Args:
            path: printed.
            lines: number and text, in order; where numbers are missing each part counts by itself.

        Returns:
            The number that the first line had; that of the latest sending.
        """
        known = self._runs.get(path)
        if not known or not lines:
            return None
        first: int | None = None
        for run in _runs_of("", lines):
            start = next((at for other in reversed(known) if (at := _within(run, other))), None)
            if start is None:
                return None
            first = start if first is None else first
        return first

    def differs(self, path: str, handle: str, lines: Sequence[str]) -> bool:
        """Whether something of a definition, as it was sent last, is not in its file any more.

        Args:
            path: printed.
            handle: of the definition.
            lines: all of its file, as they are now.
        """
        runs = [run for run in self._runs.get(path, ()) if run.handle == handle]
        if not runs:
            return False
        last = max(run.call for run in runs)
        whole = _Run("", 1, b"".join(map(_hash_of, lines)))
        return any(run.call == last and not _within(run, whole) for run in runs)


def _within(run: _Run, other: _Run) -> int:
    """The line at which `run` begins in `other`; 0 where it is not in it."""
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
    # How a line ends is nothing that a model sees.
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
    """Of each call when it was, the bytes it sent, and its runs; damaged lines are left out."""
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
