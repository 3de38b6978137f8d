"""Shows an answer that is longer than the terminal in a pager, as git does."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager

from codelens.cli import standard_streams
from codelens.cli.command_examples import PAGED

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for its pager: colours, and no full screen if the text fits on one."""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_NOT_RUN = frozenset({126, 127})
"""What a shell returns for a program that does not start or does not exist."""


@contextmanager
def paging(command: str, *, is_wanted: bool = True) -> Generator[None]:
    """Hold what the block prints; then print it, or show it in the pager if it is too long."""
    pager = program() if is_wanted and command in PAGED else ""
    if not pager:
        yield
        return
    with standard_streams.holding() as parts:
        yield
    text = "".join(part for _, part in parts)
    if _fits(text) or not _show(pager, text):
        standard_streams.release(parts)


def program() -> str:
    """The pager's command line; empty if answers are printed directly.

    An agent gets no pager, since it may not be able to leave it.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return ""
    from codelens.engine.contexts.asking_session import of_host

    if of_host(os.environ):
        return ""
    named = os.environ.get("CODELENS_PAGER", os.environ.get("PAGER"))
    if named is None:
        import shutil

        named = "less" if shutil.which("less") else ""
    return "" if named.strip() == "cat" else named.strip()


def _fits(text: str) -> bool:
    import shutil

    from codelens.cli.terminal_page import width_of

    size = shutil.get_terminal_size()
    used = 1  # the prompt of the shell
    for line in _STYLE.sub("", text).splitlines():
        used += max(-(-width_of(line) // size.columns), 1)
        if used > size.lines:
            return False
    return True


def _show(pager: str, text: str) -> bool:
    """Run the pager on the text; False if it does not start."""
    import signal
    import subprocess

    # The variable holds a command line, as in git; no repository can set it.
    process = subprocess.Popen(  # noqa: S602
        pager, shell=True, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ}
    )
    # Ctrl-C is for the pager.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text.encode(sys.stdout.encoding, "backslashreplace"))
        return process.returncode not in _NOT_RUN
    finally:
        signal.signal(signal.SIGINT, before)
