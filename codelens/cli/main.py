"""The entry point: arguments in, exit code out; the one place where errors are printed.

Exit codes: 0 done or found, 1 nothing found, 2 error, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from codelens import __version__
from codelens.bytecode import damaged_copy
from codelens.cli import standard_streams

DONE, NOTHING, FAILED, INTERRUPTED = 0, 1, 2, 130

_SHORT = f"""codelens {__version__}: search code, true for the branch and worktree you stand in

  codelens search "validate session"   ranked places, best first
  codelens expand src/auth.py#login    read what a handle names
  codelens outline src/                a file or folder, folded
  codelens map                         the repository at a glance
  codelens related src/auth.py#login   who calls and uses it, and what it uses
  codelens impact --diff               who is hit by your changes, and which tests to run
  codelens status                      where you stand and how fresh the index is
  codelens install                     wire your coding agents, which `codelens serve` answers

There is no need to index first. `codelens --help` lists all commands.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None takes the process's own.
    """
    # Hundreds of thousands of facts stay while a view is resolved: with Python's defaults looking
    # for cycles among them is a third of it. As in a server.
    gc.set_threshold(50_000, 20, 50)
    # What is codelens's own is for its user to read and write, whatever mask they have.
    os.umask(os.umask(0o077) & 0o077)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        standard_streams.prepare()
        code = _run(arguments)
        standard_streams.flush()
        _count()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        standard_streams.discard(sys.stdout)
        return DONE
    except standard_streams.Unwritable as error:
        return fail(f"cannot write to stdout: {error}")
    return code


def _run(arguments: list[str]) -> int:
    if not arguments:
        standard_streams.emit(_SHORT)
        return DONE
    if arguments in (["--version"], ["-V"]):
        standard_streams.emit(f"codelens {__version__}\n")
        return DONE
    from codelens.errors import CodelensError, WorkingFolderGone

    try:
        from codelens.cli.argument_parser import parse

        args = parse(arguments)
        code: int = args.run(args)
    except SystemExit as end:  # argparse, after --help
        return end.code if isinstance(end.code, int) else FAILED
    except CodelensError as error:
        return fail(str(error))
    except (KeyboardInterrupt, BrokenPipeError, standard_streams.Unwritable):
        raise
    except Exception as error:
        if os.environ.get("CODELENS_DEBUG"):
            raise
        if isinstance(error, FileNotFoundError) and _stands_nowhere():
            return fail(str(WorkingFolderGone()))
        damaged = damaged_copy(error)
        if damaged:
            return fail(damaged)
        said = f"{type(error).__name__}: {error}"
        return fail(f"unexpected {said}; this is a fault of codelens, CODELENS_DEBUG=1 shows where")
    return code


def _stands_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _count() -> None:
    """Count the call, now that its answer is out; where the engine was not asked there is none."""
    usage = sys.modules.get("codelens.engine.usage.usage_counter")
    if usage is not None:
        home = usage.served(standard_streams.emitted_bytes())
        if home is not None:
            usage.tidy(home)


def fail(message: str) -> int:
    """Say on stderr what went wrong; the exit code for it."""
    from codelens.render.text_pieces import one_line

    standard_streams.remark(f"codelens: error: {one_line(message)}")
    return FAILED
