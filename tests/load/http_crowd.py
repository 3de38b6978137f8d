"""Many clients of one server over HTTP, each asking about one of four worktrees under edit.

    python tests/load/http_crowd.py [--clients 20] [--seconds 300] [--restart-every 40]

Clients are the SDK's own, half of each protocol. The definitions of each worktree have a unique
text, so each answer is compared with the only right one. A file that a writer constantly replaces
must be read as it was at some moment between question and answer. Clients leave and come back.
After all have left, and again after the server was stopped, the run checks for leftovers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitrepo import GitRepo, git_environment
from http_server import HttpServer, http_server
from load.report import Report, grown
from sdk_client import Asker

TREES = 4
PROTOCOLS = ("legacy", "2026-07-28")
_EDITS_A_S = 5.0
_SPARE_KB = 20 * 1024
"""How much the server may grow late in the run."""
_WARM_S = 120.0
"""Shorter runs end while the server still fills its caches."""


class EditedTree:
    """A worktree with unique definitions, one of which a writer constantly replaces."""

    def __init__(self, repo: GitRepo, number: int) -> None:
        self.repo, self.number, self.root = repo, number, str(repo.root)
        self.begun = self.edits = 0
        """Edits begun, and edits on disk."""
        keeper = f"def lantern_{number}():\n    return wick_{number}()\n"
        repo.commit("own", {
            "own.py": f"{keeper}\n\ndef wick_{number}():\n    return {number}\n",
            "edited.py": self._text(0),
        })  # fmt: skip

    def edit(self) -> None:
        """Replaces a file in one step, as editors do."""
        self.begun += 1
        written = self.repo.write(".git-edit.tmp", self._text(self.begun))
        os.replace(written, self.repo.path("edited.py"))
        self.edits = self.begun

    def _text(self, edit: int) -> str:
        return f"def edited_{self.number}():\n    return 'edit {edit} of tree {self.number}.'\n"


def made_trees(folder: Path) -> list[EditedTree]:
    """A repository of 200 files with four worktrees."""
    repo = GitRepo.init(folder / "tree0")
    files = {f"lib/part{at}.py": f"def part{at}():\n    return {at}\n" for at in range(200)}
    repo.commit("first", files)
    others = [repo.worktree(folder / f"tree{at}", branch=f"b{at}") for at in range(1, TREES)]
    return [EditedTree(tree, number) for number, tree in enumerate([repo, *others])]


class Question:
    """The kinds of questions, each with the texts that its answer must and must not contain."""

    def __init__(self, asker: Asker, tree: EditedTree, trees: list[EditedTree]) -> None:
        self._asker, self._tree = asker, tree
        self._others = [other for other in trees if other is not tree]
        self.kinds: tuple[Callable[[], str], ...] = (
            self.search, self.expand, self.edited, self.related, self.outline, self.several,
        )  # fmt: skip

    def search(self) -> str:
        number = self._tree.number
        return self._judged(self._ask("cl_search", query="lantern"), f"own.py#lantern_{number}")

    def expand(self) -> str:
        number = self._tree.number
        text = self._ask("cl_expand", handles=[f"own.py#wick_{number}"], again=True)
        return self._judged(text, f"return {number}")

    def related(self) -> str:
        number = self._tree.number
        text = self._ask("cl_related", target=f"own.py#wick_{number}")
        return self._judged(text, f"lantern_{number}")

    def outline(self) -> str:
        return self._judged(self._ask("cl_outline", target="own.py"), f"wick_{self._tree.number}")

    def several(self) -> str:
        other = self._others[0]
        roots = [self._tree.root, other.root]
        text = self._asker.text("cl_search", query="lantern", repositories=roots, format="json")
        found = {one["handle"] for one in json.loads(text)["results"]}
        wanted = {f"{tree.root}/own.py#lantern_{tree.number}" for tree in (self._tree, other)}
        return "" if wanted <= found else f"{sorted(wanted)} are not all in {sorted(found)}"

    def edited(self) -> str:
        before, number = self._tree.edits, self._tree.number
        text = self._ask("cl_expand", handles=[f"edited.py#edited_{number}"], again=True)
        after = self._tree.begun
        allowed = [f"'edit {edit} of tree {number}.'" for edit in range(before, after + 1)]
        if any(one in text for one in allowed):
            return ""
        return f"none of {allowed} is in {text!r}"

    def _ask(self, tool: str, **arguments: object) -> str:
        return self._asker.text(tool, path=self._tree.root, **arguments)

    def _judged(self, text: str, wanted: str) -> str:
        foreign = [other.root for other in self._others if f"{other.root} " in text]
        foreign += [
            name
            for other in self._others
            for name in (f"lantern_{other.number}", f"wick_{other.number}")
            if name in text
        ]
        if wanted in text and self._tree.root in text and not foreign:
            return ""
        return f"not {wanted!r} of {self._tree.root} alone: {text!r}"


class HttpCrowd:
    """Clients that ask until `until`, and a concurrent writer."""

    def __init__(
        self, server: HttpServer, trees: list[EditedTree], until: float, restart_every: int
    ) -> None:
        self._server, self._trees, self._until = server, trees, until
        self._restart_every = restart_every
        self._least = 0
        self.report = Report()

    def run(self, clients: int) -> Report:
        """Runs all of them concurrently; returns the observations."""
        self._least = clients
        workers = [threading.Thread(target=self._client, args=(at,)) for at in range(clients)]
        workers += [threading.Thread(target=self._write), threading.Thread(target=self._weigh)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return self.report

    def _client(self, number: int) -> None:
        tree = self._trees[number % TREES]
        protocol = PROTOCOLS[number // TREES % len(PROTOCOLS)]
        drawn = random.Random(number)
        try:
            while self._is_open():
                with self._server.client(protocol) as asker:
                    self.report.count("connections")
                    question = Question(asker, tree, self._trees)
                    for _ in range(self._restart_every):
                        if self._is_open():
                            self._ask(drawn.choice(question.kinds), f"{protocol} {tree.number}")
        except Exception as error:
            self.report.fault(f"client {number} of {protocol} failed: {error!r}")

    def _ask(self, kind: Callable[[], str], who: str) -> None:
        started = time.monotonic()
        wrong = kind()
        self.report.took(kind.__name__, time.monotonic() - started)
        self.report.count("answers")
        if wrong:
            self.report.fault(f"{who} {kind.__name__}: {wrong}")

    def _write(self) -> None:
        drawn = random.Random(0)
        while self._is_open():
            drawn.choice(self._trees).edit()
            self.report.count("edits")
            time.sleep(1 / _EDITS_A_S)

    def _weigh(self) -> None:
        while self._is_open():
            status = Path(f"/proc/{self._server.process.pid}/status").read_text()
            self.report.memory("server", int(status.partition("VmRSS:")[2].split()[0]))
            time.sleep(1)

    def _is_open(self) -> bool:
        """Whether there is time left, or a slow machine has not answered each client once."""
        if time.monotonic() < self._until:
            return True
        return self.report.counts["answers"] <= self._least and not self.report.faults


def open_connections(server: HttpServer) -> int:
    """Open client connections at the server's port."""
    rows = [
        line.split() for table in ("tcp", "tcp6") for line in _lines(f"/proc/net/{table}")[1:]
    ]  # address, peer, state: 01 is established, 08 waits for the server to close
    port = f":{server.port:04X}"
    return sum(row[1].endswith(port) and row[3] in {"01", "08"} for row in rows)


def descendants(process: int) -> list[int]:
    """The processes below one."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    children = [int(pid) for task in tasks for pid in task.read_text().split()]
    return children + [pid for child in children for pid in descendants(child)]


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines()


def left_after_clients(server: HttpServer) -> list[str]:
    """Connections and files that are still open after every client has left."""
    wanted = time.monotonic() + 60
    while (count := open_connections(server)) and time.monotonic() < wanted:
        time.sleep(0.1)
    return [f"{count} connections are open after all clients left"] if count else []


def left_after_the_end(server: HttpServer, home: Path, temporary: Path) -> list[str]:
    """Stops the server; returns leftover processes, files, leases and messages."""
    below = descendants(server.process.pid)
    code, said = server.stop()
    is_polite = code == 0 and said.endswith("stopped\n") and "Traceback" not in said
    left = [] if is_polite else [f"it ended with {code} and said {said!r}"]
    left += [f"process {pid} is left" for pid in below if Path(f"/proc/{pid}").exists()]
    left += [f"{file} is left" for file in temporary.rglob("*")]
    left += [
        f"{file} is left"
        for file in home.rglob("*")
        if file.suffix in {".tmp", ".part"} or (file.name.endswith("-wal") and file.stat().st_size)
    ]
    for index in (home / "indexes").glob("index-*.db"):
        with sqlite3.connect(f"file:{index}?mode=ro&immutable=1", uri=True) as database:
            (holders,) = database.execute(
                "SELECT count(*) FROM index_locks WHERE owner != ''"
            ).fetchone()
        left += [f"{holders} leases are left in {index}"] if holders else []
    return left


def http_crowd(folder: Path, clients: int, seconds: float, restart_every: int) -> Report:
    """Runs the crowd on a server in `folder`; leftovers count as faults."""
    home, temporary = folder / "home", folder / "tmp"
    temporary.mkdir(parents=True)
    trees = made_trees(folder)
    env = {**git_environment(), "CODELENS_HOME": str(home), "TMPDIR": str(temporary)}
    with http_server(env, "--root", trees[0].root) as server:
        crowd = HttpCrowd(server, trees, time.monotonic() + seconds, restart_every)
        report = crowd.run(clients)
        left = [*left_after_clients(server), *left_after_the_end(server, home, temporary)]
    for line in left:
        report.fault(line)
    report.counts["left over"] = len(left)
    growth_kb = grown(report.resident["server"]) if seconds >= _WARM_S else 0.0
    if growth_kb > _SPARE_KB:
        report.fault(f"the server grew by {growth_kb / 1024:.0f} MiB in its last quarter")
    return report


def main() -> int:
    """Prints the observations; exits with 1 if anything was wrong or left over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--restart-every", type=int, default=40, help="answers of a connection")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = http_crowd(Path(name), given.clients, given.seconds, given.restart_every)
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(report.counts.items()))
    print(f"{given.clients} clients, {counts}, {len(report.faults)} faults")
    weights = report.resident["server"]
    print(*report.lines(), sep="\n")
    shares = [weights[len(weights) * part // 8 - (part > 0)] // 1024 for part in range(9)]
    print(f"memory of the server, each eighth of the time: {', '.join(map(str, shares))} MiB")
    print(*report.faults[:5], sep="\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
