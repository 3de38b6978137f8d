"""Commands on a pseudo-terminal: what they send to a person's screen."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from gitrepo import git_environment

STYLE = re.compile(r"\x1b\[[0-9]+m")
_BAR = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h|\x1b\[2K|\x1b\[1A|\r", re.DOTALL)


def on_a_terminal(
    folder: Path, *args: str, columns: int = 200, home: Path, extra: Mapping[str, str] = {}
) -> str:
    """What a command sends to a terminal: stdout and stderr.

    Args:
        folder: where it is started.
        args: its arguments.
        columns: how wide the terminal is.
        home: the user's home folder, which holds the index as well.
        extra: more environment variables.
    """
    import pty

    env = git_environment() | {
        "CODELENS_HOME": str(home / "home"), "HOME": str(home), "TERM": "xterm",
        "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": str(columns),
        **extra,
    }  # fmt: skip
    pid, terminal = pty.fork()
    if not pid:
        try:
            os.chdir(folder)
            os.execve(sys.executable, [sys.executable, "-m", "codelens", *args], env)
        finally:
            os._exit(127)
    found = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not part:
            break
        found += part
    os.close(terminal)
    os.waitpid(pid, 0)
    return found.decode("utf-8", "replace")


def without_bar(shown: str) -> str:
    """What stays on the screen: the progress bar hides the cursor and draws over its own line."""
    return _BAR.sub("", shown)
