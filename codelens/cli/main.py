"""The entry point: arguments in, exit code out; a hook is answered before all else is imported.

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
    # Hundreds of thousands of facts stay while a view is resolved: with Python's defaults looking
    # for cycles among them is a third of it. As in a server. What one search makes, imports
    # included, stays below the first number: to look through it once takes 11 ms.
    gc.set_threshold(150_000, 20, 50)
    # The interpreter looks for cycles once more as it ends, among all that the system takes back
    # anyway: a tenth of a search.
    atexit.register(gc.freeze)
    # What is codelens's own is for its user to read and write, whatever mask they have.
    os.umask(os.umask(0o077) & 0o077)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"]:
        from codelens.hooks import hook_run

        return hook_run.run(arguments[1:])
    from codelens.cli.command_run import run_command

    return run_command(arguments)
