"""The entry point: takes arguments, returns an exit code; answers hooks before heavy imports.

Exit codes: 0 done or found, 1 nothing found, 2 error, 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None takes the process's own.
    """
    # Resolving a view keeps hundreds of thousands of facts in memory. With Python's defaults, the
    # garbage collector takes a third of that time (the server sets this too). One search,
    # imports included, allocates less than the first threshold; one collection takes 11 ms.
    gc.set_threshold(150_000, 20, 50)
    # Skip the interpreter's collection at exit: it takes a tenth of a search, and the system
    # frees the memory anyway.
    atexit.register(gc.freeze)
    # Only the user may read and write codelens's files, regardless of their umask.
    os.umask(os.umask(0o077) & 0o077)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"]:
        from codelens.hooks import hook_run

        return hook_run.run(arguments[1:])
    from codelens.cli.command_run import run_command

    return run_command(arguments)
