"""Starts `codelens serve` in a fork of one process that imported it and the SDK of MCP.

    subprocess.Popen([*forked_servers.command(), "serve"], stdin=PIPE, stdout=PIPE, env=env)

That process is a relay of 20 ms, which hands its streams, folder and variables to the fork, passes
signals on, and ends with its exit code. A new interpreter with its imports takes a second of CPU.
Where the start itself is the subject, use a real process.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_MOST_BYTES = 1 << 20
_STREAMS = 3


def command() -> list[str]:
    """The beginning of a command line; the arguments of `codelens` follow."""
    if not hasattr(os, "fork"):
        return [sys.executable, "-P", "-m", "codelens"]
    return [sys.executable, "-I", "-S", __file__, str(_address())]


@cache
def _address() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="codelens-servers-")
    address = Path(folder.name) / "s"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))}
    forking = subprocess.Popen(
        [sys.executable, __file__, "--fork-at", str(address)], env=env, cwd="/",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert forking.stdout is not None
    assert forking.stdout.readline() == b"ready\n", "the process that forks has ended"

    def close() -> None:
        forking.kill()
        forking.wait()
        folder.cleanup()

    forking.stdout.close()
    atexit.register(close)
    return address


def _fork_at(address: str) -> None:
    """Forks a server for each relay that connects."""
    from forked_commands import import_all

    from codelens.serve import sdk_server as _sdk_server  # noqa: F401

    import_all()
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            relay, _ = listening.accept()
            with relay:
                data, streams, _, _ = socket.recv_fds(relay, _MOST_BYTES, _STREAMS)
                if not os.fork():
                    listening.close()
                    _watch(relay, json.loads(data), streams)
                for stream in streams:
                    os.close(stream)


def _reap(*_: object) -> None:
    """Takes the exit codes of forks that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(relay: socket.socket, asked: dict, streams: list[int]) -> None:
    """Forks the server; sends its process id to the relay, then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = os.fork()
    if not server:
        from forked_commands import run_with_streams

        relay.close()
        run_with_streams(asked["args"], asked["cwd"], asked["env"], streams)
    for stream in streams:
        os.close(stream)
    relay.sendall(b"%d\n" % server)
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    relay.sendall(b"%d\n" % (code if code >= 0 else 128 - code))
    os._exit(0)


def _relay(address: str, args: list[str]) -> int:
    """Hands this process's streams to a fork; returns its exit code, as a shell does."""
    with socket.socket(socket.AF_UNIX) as fork:
        fork.connect(address)
        asked = {"args": args, "env": dict(os.environ), "cwd": os.getcwd()}
        socket.send_fds(fork, [json.dumps(asked).encode()], list(range(_STREAMS)))
        for number in range(_STREAMS):
            os.close(number)  # else a closed stream of the fork would stay open here
        answers = fork.makefile("rb")
        process = int(answers.readline() or 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda sent, _: os.kill(process, sent))
        return int(answers.readline() or 1)


if __name__ == "__main__":
    if sys.argv[1] == "--fork-at":
        _fork_at(sys.argv[2])
    else:
        sys.exit(_relay(sys.argv[1], sys.argv[2:]))
