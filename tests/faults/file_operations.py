"""Kills a command at each of its operations on files in turn: create, write, rename, remove.

Python reports them before they happen (`sys.addaudithook`), so that a loop reaches every state in
which a process can leave its own small files. Operations of SQLite are not reported.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

MOST = 2_000

_KILL = """
import os, signal, sys

EVENTS = {{"open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.chmod"}}
left = {number}

def audit(event, args):
    global left
    if event not in EVENTS or not args or not isinstance(args[0], (str, bytes, os.PathLike)):
        return
    reads = event == "open" and not (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if reads or not os.fsdecode(args[0]).startswith({below!r}):
        return
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(audit)
"""


def kills(
    below: Path, run: Callable[[str], CompletedProcess[str]], step: int = 1
) -> Iterator[CompletedProcess[str]]:
    """Yields after each kill, before the operation that comes next; ends with the whole command.

    Args:
        below: only operations on files below this folder count.
        run: runs the command after a piece of Python (`forked_commands.codelens_text`).
        step: 1 kills at every operation, 3 at every third.
    """
    for number in range(1, MOST, step):
        done = run(_KILL.format(number=number, below=str(below)))
        if done.returncode != -signal.SIGKILL:
            assert number > 1, "nothing was killed"
            return
        yield done
    raise AssertionError("the command never ends")
