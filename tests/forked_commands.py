"""Runs `codelens` in a fork of one process that imported it: a process per command, no start.

    codelens("search", "lamp", cwd=root, home=home)

A command costs as much as its work; a new interpreter with its imports takes half a second of CPU,
and what a command imports when it needs it a tenth. Where the start itself is the subject, use a
real process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pygit2
from gitrepo import git_environment
from pygit2.enums import ConfigLevel

import codelens as package

_NOT_IMPORTED = ("codelens.__main__", "codelens.serve.", "codelens.meaning.")
HANGS_S = 300
"""Seconds after which a command is killed: one that waits at a pipe needs no CPU."""


def codelens(
    *args: str,
    cwd: Path,
    home: Path,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    first: str = "",
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command to its end.

    Args:
        args: the command.
        cwd: its folder.
        home: its CODELENS_HOME.
        env: further variables.
        given: its stdin.
        first: Python that runs in its process before the command.
    """
    environ = git_environment({"CODELENS_HOME": str(home), "HOME": str(home.parent), **(env or {})})
    server = _server()
    files = [server.folder / name for name in ("in", "out", "err")]
    files[0].write_bytes(given)
    code = server.run(list(args), cwd, environ, first, [str(file) for file in files])
    out, err = (file.read_bytes() for file in files[1:])
    return subprocess.CompletedProcess(["codelens", *args], code, out, err)


def codelens_text(*args: str, given: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
    """The same in text; other arguments are those of `codelens`."""
    done = codelens(*args, given=given.encode(), **more)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def codelens_on(terminal: str, *args: str, cwd: Path, env: dict[str, str]) -> int:
    """Runs a command on a terminal, given by the path of its device; returns the exit code."""
    return _server().run(list(args), cwd, env, "", [terminal] * 3)


class _Server:
    """The process that forks; it answers one request at a time."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="codelens-forks-")
        self.folder = Path(self._folder.name)
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, __file__], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            cwd="/",
        )  # fmt: skip

    def run(
        self, args: list[str], cwd: Path, env: dict[str, str], first: str, files: list[str]
    ) -> int:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps([args, str(cwd), env, first, files]).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        assert line, "the process that forks has ended"
        return int(line)

    def close(self) -> None:
        # It is idle. Waiting for it to read the end of stdin could wait for whoever holds the pipe.
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._folder.cleanup()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


def serve() -> None:
    """Answers each line of stdin, a command, with its exit code."""
    for line in sys.stdin.buffer:
        pid = os.fork()
        if not pid:
            run_and_exit(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def import_all() -> None:
    """Imports what commands import, except the SDKs of MCP and of providers."""
    for module in pkgutil.walk_packages(package.__path__, "codelens."):
        if not module.name.startswith(_NOT_IMPORTED):
            importlib.import_module(module.name)


def run_and_exit(
    args: list[str], cwd: str, env: dict[str, str], first: str, files: list[str]
) -> None:
    """Runs the command in this process, with files for its streams, and ends the process."""
    signal.alarm(HANGS_S)
    streams = (
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDWR, 0o600)
        for number, path in enumerate(files)
    )
    run_with_streams(args, cwd, env, streams, first)


def run_with_streams(
    args: list[str], cwd: str, env: dict[str, str], streams: Iterable[int], first: str = ""
) -> None:
    """Runs the command in this process, with its streams, and ends the process.

    The streams are opened as they are taken: a terminal that a new session opens controls it.
    """
    code = 70
    # A gRPC channel of an earlier test crashes a fork that collects it.
    gc.freeze()
    try:
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        let_git_read(Path(env.get("HOME", os.devnull)))
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # As at the start of an interpreter: buffered by lines on a terminal.
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, "w" if number else "r", encoding="utf-8", errors=errors)  # noqa: SIM115
            for number, errors in enumerate((*("surrogateescape",) * 2, "backslashreplace"))
        )
        if first:
            exec(first, {})
        sys.argv = ["codelens", *args]
        code = code_of(args)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def let_git_read(home: Path) -> None:
    """Moves the user's settings of libgit2 to a home: it was loaded under another one."""
    search_path = pygit2.settings.search_path
    search_path[ConfigLevel.GLOBAL] = str(home)
    search_path[ConfigLevel.XDG] = str(home / ".config" / "git")


def code_of(args: list[str]) -> int:
    from codelens.cli.main import main

    try:
        return main(args)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1 if error.code else 0


if __name__ == "__main__":
    import_all()
    serve()
