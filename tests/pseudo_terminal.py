"""Runs commands on a pseudo-terminal, and captures what they send to the screen."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from forked_commands import codelens_on
from gitrepo import git_environment

STYLE = re.compile(r"\x1b\[[0-9]+m")
_BAR = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h|\x1b\[2K|\x1b\[1A|\r", re.DOTALL)


def on_a_terminal(
    folder: Path, *args: str, columns: int = 200, home: Path, extra: Mapping[str, str] = {}
) -> str:
    """A command's output to a terminal: stdout and stderr.

    Args:
        folder: working directory.
        args: the command's arguments.
        columns: width of the terminal.
        home: the user's home folder, which holds the index as well.
        extra: more environment variables.
    """
    import pty

    env = git_environment() | {
        "CODELENS_HOME": str(home / "home"), "HOME": str(home), "TERM": "xterm",
        "LC_ALL": "C.UTF-8", "COLUMNS": str(columns), "PAGER": "cat", **extra,
    }  # fmt: skip
    terminal, device = pty.openpty()
    parts: list[bytes] = []
    reading = threading.Thread(target=lambda: parts.extend(_parts(terminal)))
    reading.start()
    codelens_on(os.ttyname(device), *args, cwd=folder, env=env)
    os.close(device)
    reading.join()
    os.close(terminal)
    return b"".join(parts).decode("utf-8", "replace")


def _parts(terminal: int) -> Iterator[bytes]:
    try:
        while part := os.read(terminal, 65536):
            yield part
    except OSError:  # Linux raises this when the other side is closed
        return


def without_bar(shown: str) -> str:
    """The text that stays on the screen: the progress bar overwrites its own line."""
    return _BAR.sub("", shown)
