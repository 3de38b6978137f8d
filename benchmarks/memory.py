"""Does a server grow with its questions? Measures its resident memory (Linux), one server per row.

    python benchmarks/memory.py WORKTREE [--calls 3600] [--edits 1200] [--only ROW,...]
    python benchmarks/memory.py WORKTREE --mixed 1000

Each row calls one tool repeatedly in a clone of the worktree, with a separate index. `edits`
changes a file before each question, `switches` checks out another branch, and both call several
tools in turn. The figure is the growth per call over the second half: caches fill in the first.
`--mixed` asks one server that many different questions: those of `queries.py`, and every fourth
time another tool. It then waits a minute and prints the memory in between, the peak, and the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from queries import queries

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "memory", "version": "1"},
}
_IDLE_S = 60
COMMAND = [sys.executable, "-m", "codelens"]
GIT = ("git", "-c", "user.name=m", "-c", "user.email=m@example.com", "-c", "core.hooksPath=")


class Server:
    """A server on a clone of a worktree, which is deleted with it."""

    def __init__(self, worktree: Path, scratch: Path) -> None:
        self.root = scratch / "clone"
        run = [*GIT, "clone", "-q", str(worktree), str(self.root)]
        subprocess.run(run, check=True)
        home = str(scratch / "home")
        self._env = {**os.environ, "CODELENS_HOME": home, "CODELENS_TOOLS": "all"}
        self._codelens("index")
        self._process = subprocess.Popen(
            [*COMMAND, "serve"], cwd=self.root, env=self._env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        self._ask("initialize", HELLO)
        self._send({"method": "notifications/initialized"})

    def git(self, *args: str) -> None:
        subprocess.run([*GIT, *args], cwd=self.root, check=True, capture_output=True)

    def definitions(self, word: str) -> list[str]:
        """Handles of definitions that a search finds."""
        said = self._codelens("search", "--json", "--limit", "50", word).stdout
        found = json.loads(said)["results"]
        return [one["handle"] for one in found if one["kind"] in {"class", "function", "method"}]

    def call(self, tool: str, **arguments: object) -> str:
        """The text of an answer; a refusal ends the program."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = answer["content"][0]["text"]
        if answer.get("isError"):
            raise SystemExit(f"{tool}: {text}")
        return text

    def rss(self) -> int:
        """Resident bytes."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        """Closes its stdin and waits."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _codelens(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args], cwd=self.root, env=self._env, check=True, capture_output=True,
            text=True,
        )  # fmt: skip

    def _ask(self, method: str, params: dict) -> dict:
        assert self._process.stdout
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while (said := json.loads(self._process.stdout.readline())).get("id") != self._number:
            pass
        return said["result"]

    def _send(self, message: dict) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


class Session:
    """The questions of each row, about a few definitions of the worktree."""

    def __init__(self, server: Server, word: str) -> None:
        self.server = server
        self.call = server.call
        self._handles = server.definitions(word)[:4]
        if not self._handles:
            raise SystemExit(f"no definition is found for {word!r}; name another --word")
        self._files = list(dict.fromkeys(one.partition("#")[0] for one in self._handles))
        self.word = word

    def prepare(self) -> None:
        """Makes a saved context and a branch that differs."""
        self.server.call("cl_save", name="kept", note="a note", handles=[self._handles[0]])
        self.server.git("checkout", "-q", "-b", "memory-other")
        for file in self._files:
            self._append(file, "other")
        self.server.git("commit", "-qam", "other")

    def handle(self, at: int) -> str:
        return self._handles[at % len(self._handles)]

    def file(self, at: int) -> str:
        return self._files[at % len(self._files)]

    def after_an_edit(self, at: int) -> None:
        self.server.git("checkout", "-q", "--", self.file(at))
        self._append(self.file(at), f"edited_{at}")
        self.asked(at)

    def after_a_switch(self, at: int) -> None:
        self.server.git("checkout", "-q", "-")
        self.asked(at)

    def asked(self, at: int) -> None:
        asked = list(ROWS)[: -len(CHANGING)]
        ROWS[asked[at % len(asked)]](self, at)

    def _append(self, file: str, name: str) -> None:
        with (self.server.root / file).open("a", encoding="utf-8") as text:
            text.write(f"\n\n# {name} {name}_more {name}_most\n" * 20)


CHANGING = ("edits", "switches")
ROWS: dict[str, Callable[[Session, int], object]] = {
    "cl_current": lambda on, _: on.call("cl_current"),
    "cl_search, the same": lambda on, _: on.call("cl_search", query=on.word),
    "cl_search, new words": lambda on, at: on.call("cl_search", query=f"{on.word} w{at}"),
    "cl_expand": lambda on, at: on.call("cl_expand", handles=[on.handle(at)]),
    "cl_outline": lambda on, at: on.call("cl_outline", target=on.file(at)),
    "cl_related": lambda on, at: on.call("cl_related", target=on.handle(at)),
    "cl_impact": lambda on, at: on.call("cl_impact", targets=[on.handle(at)]),
    "cl_map": lambda on, _: on.call("cl_map"),
    "cl_load": lambda on, _: on.call("cl_load", query="kept"),
    "edits": lambda on, at: on.after_an_edit(at),
    "switches": lambda on, at: on.after_a_switch(at),
}


def measured(worktree: Path, word: str, row: str, calls: int) -> str:
    """A line about one row."""
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(worktree, Path(scratch))
        session = Session(server, word)
        session.prepare()
        seen: dict[int, int] = {}
        for at in range(calls + 1):
            if at in {50, calls // 2, calls}:
                seen[at] = server.rss()
            ROWS[row](session, at)
        server.end()
    start, half, end = (seen[at] for at in sorted(seen))
    grown = (end - half) / (calls - calls // 2)
    cells = "".join(f"{size / 2**20:9.1f}" for size in (start, half, end))
    return f"{row:22}{calls:7,}{cells} MiB{grown:9.0f} bytes a call"


def mixed(worktree: Path, word: str, count: int) -> str:
    """Measures the memory of a server that gets `count` different questions."""
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(worktree, Path(scratch))
        session = Session(server, word)
        session.prepare()
        os.environ["CODELENS_HOME"] = str(Path(scratch, "home"))
        with Engine() as engine, engine.pool.view(ViewRequest(server.root)) as view:
            asked = [one for one in queries(view, count) if one.text.strip()][:count]
        sizes = [server.rss()]
        for at, one in enumerate(asked):
            if at % 4:
                server.call("cl_search", query=one.text, mode=one.mode)
            else:
                session.asked(at // 4)
            sizes.append(server.rss())
        time.sleep(_IDLE_S)
        sizes.append(server.rss())
        server.end()
    start, half, end, later = (sizes[at] / 2**20 for at in (0, len(sizes) // 2, -2, -1))
    return (
        f"{len(asked):,} questions: {start:.0f} MiB at first, {half:.0f} after half, {end:.0f} "
        f"after all, {max(sizes) / 2**20:.0f} at most, {later:.0f} a minute later"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--calls", type=int, default=3_600)
    parser.add_argument("--edits", type=int, default=1_200, help="edits, and switches")
    parser.add_argument("--word", default="session", help="finds some definitions")
    parser.add_argument("--only", default="", help="rows, commas between")
    parser.add_argument("--mixed", type=int, metavar="N", help="N different questions instead")
    args = parser.parse_args()
    if args.mixed:
        print(mixed(args.worktree.resolve(), args.word, args.mixed))
        return
    print(f"{'':22}{'calls':>7}{'after 50':>9}{'half':>9}{'all':>9}")
    for row in ROWS:
        if not args.only or row.split(",")[0] in args.only.split(","):
            calls = args.edits if row in CHANGING else args.calls
            print(measured(args.worktree.resolve(), args.word, row, calls), flush=True)


if __name__ == "__main__":
    main()
