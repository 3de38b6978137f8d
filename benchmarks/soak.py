"""Does a server over HTTP stay as it was through many calls? Memory, open files, processes (Linux).

    python benchmarks/soak.py WORKTREE [--calls 20000] [--edit-every 20] [--clients 4]

One server answers a clone of the worktree with a linked worktree. Clients call all reading tools in
turn, about definitions that a search found; the files are edited, committed, switched and deleted
between, contexts are saved and forgotten, and sessions are opened and abandoned. Each client also
asks for a definition that the last edit wrote, which must be the one found. The memory, threads,
open files and child processes are sampled; they are printed every 2,000 calls and for each quarter.
The run fails if an answer is wrong, or if the last quarter's memory exceeds the second's by more
than 24 MiB, or if it has more open files, threads or children.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

GIT = ("git", "-c", "user.name=m", "-c", "user.email=m@example.com", "-c", "core.hooksPath=")
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "soak", "version": "1"},
}
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
WORDS = ("request", "session", "parse", "error", "config", "token", "build", "name", "cache")
_SPARE_MB = 24.0
_SAMPLES = 80
_NEW_SESSION_EVERY = 50
_PRINTED_EVERY = 2_000


class Sample(NamedTuple):
    """The state of the server's process."""

    resident_mb: float
    files: int
    threads: int
    children: int


class Server:
    """A server over HTTP on a free port."""

    def __init__(self, home: Path, roots: list[Path]) -> None:
        env = {**os.environ, "CODELENS_HOME": str(home), "CODELENS_TOOLS": "all"}
        chosen = [part for root in roots for part in ("--root", str(root))]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codelens", "serve", "--http", "--port", "0", *chosen],
            env=env, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        self.port = int(said.partition("127.0.0.1:")[2].partition("/")[0])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.token = (home / "http-token").read_text().strip()

    def sample(self) -> Sample:
        """The process as it is now."""
        at = Path(f"/proc/{self.process.pid}")
        status = (at / "status").read_text()
        children = sum(len(task.read_text().split()) for task in (at / "task").glob("*/children"))
        return Sample(
            int(status.partition("VmRSS:")[2].split()[0]) / 1024,
            len(os.listdir(at / "fd")),
            int(status.partition("Threads:")[2].split()[0]),
            children,
        )


class Client:
    """A client that opens a session now and then and never ends one."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = ""
        self._calls = 0

    def call(self, tool: str, **arguments: object) -> tuple[bool, str]:
        """Whether a call failed, and the text of its answer."""
        if self._calls % _NEW_SESSION_EVERY == 0:
            self._session = ""
            self._post("initialize", HELLO)
        self._calls += 1
        answer = self._post("tools/call", {"name": tool, "arguments": arguments})
        return bool(answer.get("isError")), answer["content"][0]["text"]

    def _post(self, method: str, params: dict) -> dict:
        headers = {**HEADERS, "Authorization": f"Bearer {self._server.token}"}
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        with closing(http.client.HTTPConnection("127.0.0.1", self._server.port, 300)) as wire:
            wire.request("POST", "/mcp", body, headers)
            reply = wire.getresponse()
            text = reply.read().decode()
        if reply.status != 200:
            raise RuntimeError(f"{method} was answered {reply.status}: {text}")
        self._session = reply.headers.get("Mcp-Session-Id") or self._session
        for line in text.splitlines():
            data = line.removeprefix("data:").strip()
            if data.startswith("{"):
                return json.loads(data)["result"]
        raise RuntimeError(f"{method} was answered {text!r}")


class Tree:
    """A worktree and its edits."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self._pick = root, random.Random(seed)
        self.lock = threading.Lock()
        self.newest = ""
        self._made = 0

    def edit(self) -> None:
        """Changes something: a definition that only this edit has, and sometimes git's state."""
        self._made += 1
        if self._pick.random() < 0.05:
            self._git("checkout", "-q", "--", ".")
        token = f"soaked{self._made}e"
        listed = self._git("ls-files", "*.py", "*.js", "*.go", "*.c").split()
        target = self.root / self._pick.choice(listed)
        if target.is_file() and self._pick.random() < 0.3:
            with target.open("a") as file:
                file.write(f"\n// {token}\n")
        made = self.root / f"soak/part{self._made % 40}.py"
        made.parent.mkdir(exist_ok=True)
        made.write_text(f"def {token}():\n    return {self._made}\n")
        self.newest = token
        draw = self._pick.random()
        if draw < 0.2:
            self._git("add", "-A")
            self._git("commit", "-qm", f"soak {self._made}")
        elif draw < 0.25:
            self._git("add", "-A")
            self._git("commit", "-qm", "before a switch")
            self._git("checkout", "-qB", f"{self.root.name}-{self._pick.randrange(5)}")

    def _git(self, *args: str) -> str:
        run = [*GIT, *args]
        return subprocess.run(run, cwd=self.root, capture_output=True, text=True).stdout


class Soak:
    """Clients of one server, until this many calls are answered."""

    def __init__(self, server: Server, trees: list[Tree], calls: int, edit_every: int) -> None:
        self._server, self._trees = server, trees
        self._calls, self._edit_every = calls, edit_every
        self._lock = threading.Lock()
        self._begun = 0
        self.samples: list[Sample] = []
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def run(self, clients: int) -> None:
        """Calls with this many clients at once."""
        workers = [threading.Thread(target=self._client, args=(at,)) for at in range(clients)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _next(self) -> int | None:
        with self._lock:
            self._begun += 1
            return self._begun if self._begun <= self._calls else None

    def _client(self, seed: int) -> None:
        client, pick = Client(self._server), random.Random(seed)
        handles = ["README.md"]
        while (number := self._next()) is not None:
            tree = self._trees[number // self._edit_every % len(self._trees)]
            try:
                if number % self._edit_every == 0:
                    self._edit_and_find(client, tree)
                else:
                    self._any(client, tree, pick, handles)
            except Exception as error:
                self.faults.append(f"{type(error).__name__}: {error}")
            if number % max(1, self._calls // _SAMPLES) == 0:
                self.samples.append(self._server.sample())
            if number % _PRINTED_EVERY == 0:
                print("{:,} calls: {:.0f} MiB, {} open files, {} threads, {} children"
                      .format(number, *self._server.sample()), flush=True)  # fmt: skip

    def _edit_and_find(self, client: Client, tree: Tree) -> None:
        with tree.lock:
            tree.edit()
            token = tree.newest
            failed, text = client.call(
                "cl_search", query=token, mode="symbol", path=str(tree.root), format="json"
            )
        self.counts["cl_search of an edit"] += 1
        if failed:
            self.faults.append(f"{token}: {text[:300]}")
            return
        answer = json.loads(text)
        if answer["receipt"]["status"] != "fresh":
            self.counts["partial"] += 1
        elif token not in [result["symbol"] for result in answer["results"]]:
            self.faults.append(f"{token} is not in {text[:600]}")

    def _any(self, client: Client, tree: Tree, pick: random.Random, handles: list[str]) -> None:
        word, handle = pick.choice(WORDS), pick.choice(handles)
        calls: list[tuple[str, dict[str, object]]] = [
            ("cl_search", {"query": f"{word} {pick.choice(WORDS)}", "format": "json"}),
            ("cl_search", {"query": word, "mode": "text", "limit": 30}),
            ("cl_explore", {"task": f"change how the {word} is made", "max_tokens": 2000}),
            ("cl_expand", {"handles": [handle]}),
            ("cl_outline", {"target": handle.partition("#")[0]}),
            ("cl_related", {"target": handle}),
            ("cl_references", {"target": handle}),
            ("cl_impact", {"targets": [handle]}),
            ("cl_map", {}),
            ("cl_diff", {"base": "HEAD~1"}),
            ("cl_history", {"target": handle}),
            ("cl_conflicts", {}),
            ("cl_save", {"name": f"note-{pick.randrange(30)}", "note": word, "replace": True}),
            ("cl_load", {"query": word}),
            ("cl_nothing", {}),
            ("cl_search", {"query": word, "ref": f"HEAD~{pick.randrange(3)}"}),
        ]
        tool, arguments = pick.choice(calls)
        failed, text = client.call(tool, path=str(tree.root), **arguments)
        self.counts[tool] += 1
        self.counts["errors"] += failed
        if "this is a bug" in text or "being written" in text:
            self.faults.append(f"{tool} {arguments}: {text[:300]}")
        if tool == "cl_search" and arguments.get("format") and not failed:
            results = json.loads(text)["results"]
            handles[:] = [result["handle"] for result in results] or handles


def flat(samples: list[Sample]) -> list[str]:
    """What grew from the second quarter to the last."""
    size = len(samples) // 4
    second, last = samples[size : 2 * size], samples[-size:]
    grown: list[str] = []
    for name, spare in (("resident_mb", _SPARE_MB), ("files", 8), ("threads", 4), ("children", 0)):
        before, after = (
            statistics.median(getattr(sample, name) for sample in part) for part in (second, last)
        )
        if after > before + spare:
            grown.append(f"{name} grew from {before:,.0f} to {after:,.0f}")
    return grown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--edit-every", type=int, default=20)
    parser.add_argument("--clients", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        scratch = Path(name)
        subprocess.run([*GIT, "clone", "-q", str(given.worktree), scratch / "main"], check=True)
        linked = [*GIT, "worktree", "add", "-q", "-b", "linked", str(scratch / "linked")]
        subprocess.run(linked, cwd=scratch / "main", check=True)
        trees = [Tree(scratch / "main", 1), Tree(scratch / "linked", 2)]
        server = Server(scratch / "home", [tree.root for tree in trees])
        started = time.monotonic()
        try:
            soak = Soak(server, trees, given.calls, given.edit_every)
            soak.run(given.clients)
            spent = time.monotonic() - started
        finally:
            server.process.terminate()
            code = server.process.wait(60)
        if code:
            soak.faults.append(f"the server ended with {code}")
        size = len(soak.samples) // 4
        for quarter in range(4):
            part = soak.samples[quarter * size : (quarter + 1) * size]
            middle = [statistics.median(column) for column in zip(*part, strict=True)]
            print("quarter {}: {:.0f} MiB, {:.0f} open files, {:.0f} threads, {:.0f} children"
                  .format(quarter + 1, *middle))  # fmt: skip
        left = [str(file) for file in (scratch / "home").rglob("*.new*")]
    print(f"{given.calls:,} calls in {spent:,.0f} s: " + ", ".join(
        f"{count:,} {what}" for what, count in sorted(soak.counts.items())))  # fmt: skip
    soak.faults += [*flat(soak.samples), *(f"{file} is left" for file in left)]
    for fault in soak.faults[:20]:
        print(f"FAULT {fault}")
    print(f"{len(soak.faults)} faults")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
