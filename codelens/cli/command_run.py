"""Runs one command; turns errors and interruptions into a message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from codelens import __version__
from codelens.cli import standard_streams
from codelens.cli.command_examples import DONE, FAILED, INTERRUPTED

if TYPE_CHECKING:
    from codelens.errors import CodelensError

_SHORT = f"""codelens {__version__}: search the code of the branch and worktree you are in

  codelens search "validate session"   ranked places, best first
  codelens expand src/auth.py#login    read what a handle names
  codelens outline src/                the definitions of a file or folder
  codelens map                         the repository at a glance
  codelens related src/auth.py#login   who calls and uses it, and what it uses
  codelens references src/auth.py#login   every line that uses it
  codelens impact --diff               what your changes affect, and which tests to run
  codelens status                      the current scope and how fresh the index is
  codelens install                     connect your coding agents to `codelens serve`

You do not need to index first. `codelens help` lists all commands.
"""


def run_command(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; return its exit code."""
    try:
        standard_streams.prepare()
        code = _run(list(arguments))
        standard_streams.flush()
        _count()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        standard_streams.discard(sys.stdout)
        return DONE
    except standard_streams.Unwritable as error:
        return standard_streams.fail(f"cannot write to stdout: {error}")
    return code


def _run(arguments: list[str]) -> int:
    if not arguments:
        standard_streams.emit(_SHORT)
        return DONE
    if arguments in (["--version"], ["-V"], ["version"]):
        standard_streams.emit(f"codelens {__version__}\n")
        return DONE
    from codelens.errors import CodelensError, WorkingFolderGone

    args = None
    try:
        from codelens.cli.argument_parser import parse
        from codelens.cli.screen import paging

        args = parse(_as_options(arguments))
        with _as_host_session(), paging(args.command, is_wanted=not args.no_pager):
            code: int = args.run(args)
    except SystemExit as end:  # argparse, after --help
        return end.code if isinstance(end.code, int) else FAILED
    except CodelensError as error:
        return _failed(error, as_json=getattr(args, "json", False))
    except (KeyboardInterrupt, BrokenPipeError, standard_streams.Unwritable):
        raise
    except Exception as error:
        if os.environ.get("CODELENS_DEBUG"):
            raise
        if isinstance(error, FileNotFoundError) and _is_working_folder_gone():
            return standard_streams.fail(str(WorkingFolderGone()))
        description = f"{type(error).__name__}: {error}"
        return standard_streams.fail(
            f"unexpected {description}; this is a bug in codelens; CODELENS_DEBUG=1 shows the "
            "traceback"
        )
    return code


def _as_host_session() -> AbstractContextManager[None]:
    """Record calls in the session of the agent that runs the command, if its host names one.

    Only `--session` leaves out code: a pipe may cut off output that the agent then never read.
    """
    from codelens.engine.contexts.asking_session import Session, asked_by, of_host

    session_id = of_host(os.environ)
    return asked_by(Session(session_id, "host")) if session_id else nullcontext()


def _failed(error: CodelensError, *, as_json: bool) -> int:
    """Print the error, and the receipt if a view was read."""
    code = standard_streams.fail(str(error))
    if error.receipt is not None:
        from codelens.render import reading_text
        from codelens.render.text_pieces import receipt_line

        standard_streams.remark(receipt_line(error.receipt))
        if as_json:
            import json

            fields = {"receipt": reading_text.receipt_json(error.receipt), "error": str(error)}
            standard_streams.emit(json.dumps(fields, ensure_ascii=False) + "\n")
    return code


def _as_options(arguments: list[str]) -> list[str]:
    """Turn `help` and `help COMMAND` into `--help` and `COMMAND --help`."""
    return [*arguments[1:2], "--help"] if arguments[0] == "help" else arguments


def _is_working_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _count() -> None:
    """Count the call, after its answer was printed and only if it used the engine."""
    usage = sys.modules.get("codelens.engine.upkeep.usage_counter")
    if usage is not None:
        home = usage.served(standard_streams.emitted_bytes())
        if home is not None:
            usage.tidy(home)
