"""A client at a terminal, for what it does only there: keys in, the screen out."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_LONGEST_S = 120.0
_KEY_S = 0.03
"""A client takes faster keys for pasted text."""


class Terminal:
    """A program on a new terminal, until the block ends."""

    def __init__(self, command: list[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.screen = ""
        self._process, self._terminal = pty.fork()
        if not self._process:
            os.chdir(cwd)
            os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
        size = struct.pack("HHHH", 50, 120, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._terminal)

    def wait(self, seconds: float) -> None:
        """Reads what is drawn for that many seconds."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self._terminal], [], [], min(left, 0.2))[0]:
                self.screen += os.read(self._terminal, 65_536).decode("utf-8", "replace")

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Reads what is drawn until a condition holds."""
        until = time.monotonic() + _LONGEST_S
        while not condition():
            assert time.monotonic() < until, self.screen[-3_000:]
            self.wait(0.2)

    def enter(self, line: str) -> None:
        """Types a line, then Enter once the client has taken it in."""
        for key in line:
            os.write(self._terminal, key.encode())
            self.wait(_KEY_S)
        self.wait(1.5)
        os.write(self._terminal, b"\r")
