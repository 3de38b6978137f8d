"""How soon a server answers: processor time from its start to its first answers, by the kernel.

    python benchmarks/firstturn.py WORKTREE [--rounds N]

Two servers take turns: codelens, and one that imports the SDK before it reads a line. The worktree
is indexed first. `first call` is `cl_search`; times cover the whole process, so they include
Python's startup. The cost of the tool list and the instructions is printed as well: by characters
/ 4 and, with --tokenizer, by a real tokenizer (a file of the `tokenizers` package, such as
litellm_core_utils/tokenizers/anthropic_tokenizer.json in the wheel of litellm).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

SDK_FIRST = """
import os, sys
from codelens import config
from codelens.engine.engine import Engine
from codelens.serve.first_turn import CORE
from codelens.serve.call_answers import ClientCalls
from codelens.serve.sdk_server import sdk_server_for
calls = ClientCalls.of_process(Engine(config.load(), keep_going=True), None, 500)
sdk_server_for(calls, CORE).run("stdio")
"""
CODELENS = ["-m", "codelens", "serve"]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "firstturn", "version": "1"},
}


class Turn(NamedTuple):
    """Milliseconds of processor time and of wall time since the start of the process."""

    handshake: tuple[float, float]
    listed: tuple[float, float]
    called: tuple[float, float]


class Server:
    """A newly started server."""

    def __init__(self, arguments: list[str], worktree: Path) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *arguments], cwd=worktree, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, method: str, params: dict | None = None) -> tuple[dict, tuple[float, float]]:
        """The result, and the time spent so far."""
        assert self._process.stdin and self._process.stdout
        request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params or {}}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        while (said := json.loads(self._process.stdout.readline())).get("id") != method:
            pass
        return said["result"], (self._spent(), (time.perf_counter() - self._began) * 1000)

    def _spent(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Closes its stdin and waits."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def turn(arguments: list[str], worktree: Path) -> Turn:
    server = Server(arguments, worktree)
    _, handshake = server.ask("initialize", HELLO)
    _, listed = server.ask("tools/list")
    call = {"name": "cl_search", "arguments": {"query": "validate session", "path": str(worktree)}}
    result, called = server.ask("tools/call", call)
    assert not result.get("isError"), result
    server.end()
    return Turn(handshake, listed, called)


def advertised(worktree: Path) -> str:
    """The tool list and the instructions, as a client gets them."""
    server = Server(CODELENS, worktree)
    opening, _ = server.ask("initialize", HELLO)
    listed, _ = server.ask("tools/list")
    server.end()
    return json.dumps(listed["tools"], separators=(",", ":")) + opening["instructions"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokenizer", type=Path)
    args = parser.parse_args()
    worktree = args.worktree.resolve()
    subprocess.run([sys.executable, "-m", "codelens", "index", "-C", worktree], check=True)
    kinds = {"codelens": CODELENS, "the SDK first": ["-c", SDK_FIRST]}
    turns: dict[str, list[Turn]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for kind, arguments in kinds.items():
            turns[kind].append(turn(arguments, worktree))
    print(f"{'medians of ' + str(args.rounds):16} {'initialize':>18} {'tools/list':>18} first call")
    for kind, found in turns.items():
        cells = [
            f"{statistics.median(one[at][0] for one in found):.0f} ms CPU, "
            f"{statistics.median(one[at][1] for one in found):.0f} wall"
            for at in range(3)
        ]
        print(f"{kind:16} {'  '.join(cells)}")
    text = advertised(worktree)
    print(f"tools and instructions: {len(text)} characters, {len(text) / 4:.0f} tokens at 4 each")
    if args.tokenizer:
        from tokenizers import Tokenizer

        count = len(Tokenizer.from_file(str(args.tokenizer)).encode(text).ids)
        print(f"{args.tokenizer.name}: {count} tokens")


if __name__ == "__main__":
    main()
