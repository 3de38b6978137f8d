"""A crowd at work: agents edit, switch and ask in four worktrees of one repository, all at once.

    python tests/load/crowd.py REPOSITORY [--seconds 600]

Each worktree has an editor, a person at the command line (a process a question) and an MCP server
with its client: eight processes of ours at a time, with one that prunes in between. Every answer is
compared with `git grep` and the files themselves, which know nothing of codelens. An answer given
while the worktree was being changed is held to less: nothing in it is of neither state.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitrepo import GitRepo, git_environment

COMMAND = [sys.executable, "-P", "-m", "codelens"]
WORDS = ("retry", "session", "encoding", "redirect", "timeout", "cookie")
TRIES = 60
STILL = 0.7
"""Share of the questions during which nobody edits the worktree they are about."""
LIMIT = 100
SPARE_KB = 20 * 1024
"""What a server may grow by late in the run: it keeps what it worked out of the last views."""


class Report:
    """Counts, and what went wrong; shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.resident: dict[str, list[int]] = {}

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)

    def memory(self, who: str, kilobytes: int) -> None:
        with self._lock:
            self.resident.setdefault(who, []).append(kilobytes)


class Tree:
    """One worktree, and a number that changes with every edit; odd while one is under way.

    `still` keeps the editor of this worktree waiting for an answer; all others go on.
    """

    def __init__(self, repo: GitRepo, name: str, seed: int) -> None:
        self.repo, self.name = repo, name
        self.edits = 0
        self._turn = threading.Condition()
        self._asking = 0
        self._waiting = False
        self.tokens: list[str] = []
        self._random = random.Random(seed)
        self._made = 0

    def edit(self, report: Report) -> None:
        """Change something as an agent would."""
        ways = (self._append, self._append, self._append, self._create, self._remove, self._rename,
                self._commit, self._switch, self._reset)  # fmt: skip
        way = self._random.choice(ways)
        with self._turn:
            self._waiting = True
            self._turn.wait_for(lambda: not self._asking)
            self.edits += 1
            try:
                way()
            finally:
                self.edits += 1
                self._waiting = False
                self._turn.notify_all()
        report.count(f"edit {way.__name__[1:]}")

    @contextmanager
    def still(self) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._waiting)
            self._asking += 1
        try:
            yield
        finally:
            with self._turn:
                self._asking -= 1
                self._turn.notify_all()

    def _source(self) -> Path | None:
        listed = self.repo.text("ls-files", "--", "*.py").splitlines()
        found = [path for name in listed if (path := self.repo.path(name)).is_file()]
        return self._random.choice(found) if found else None

    def _token(self) -> str:
        self._made += 1
        # None is the beginning of another.
        token = f"zq{self.name}n{self._made}e"
        self.tokens = [*self.tokens[-30:], token]
        return token

    def _append(self) -> None:
        target = self._source()
        if target is not None:
            with target.open("a", encoding="utf-8") as file:
                file.write(f"\n\ndef {self._token()}():\n    return {self._made}\n")

    def _create(self) -> None:
        text = f"class {self._token()}:\n    kept = {self._made}\n"
        self.repo.write(f"made_{self.name}/part{self._made}.py", text)

    def _remove(self) -> None:
        made = sorted(self.repo.path(f"made_{self.name}").glob("*.py"))
        if made:
            self._random.choice(made).unlink()

    def _rename(self) -> None:
        made = sorted(self.repo.path(f"made_{self.name}").glob("*.py"))
        if made:
            self._made += 1
            self._random.choice(made).rename(made[0].parent / f"moved{self._made}.py")

    def _commit(self) -> None:
        self.repo.commit(f"work of {self.name}")

    def _switch(self) -> None:
        branch = f"{self.name}-{self._random.randrange(3)}"
        known = self.repo.git("branch", "--list", branch).strip()
        self.repo.commit("before the switch")
        self.repo.git("checkout", "-q", *([branch] if known else ["-b", branch]))

    def _reset(self) -> None:
        self.repo.git("reset", "-q", "--hard", "HEAD")

    def grep(self, text: str, *at: str) -> set[str]:
        """Paths with the text, by git alone."""
        how = ["--untracked"] if not at else []
        done = subprocess.run(
            ["git", "grep", "-I", "-l", "-i", "-z", *how, "-F", "-e", text, *at],
            cwd=self.repo.root, env=git_environment(), capture_output=True,
        )  # fmt: skip
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return {name.partition(":")[2] if at else name for name in names if name}


class CommandLine:
    """A process a question."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env

    def search(self, tree: Tree, query: str, mode: str, ref: str) -> dict:
        extra = ["--ref", ref] if ref else []
        return self._ask(
            "-C", str(tree.repo.root), "search", query, "--json",
            "--mode", mode, "--limit", str(LIMIT), *extra,
        )  # fmt: skip

    def expand(self, tree: Tree, handle: str) -> dict:
        return self._ask("-C", str(tree.repo.root), "expand", handle, "--json")

    def prune(self) -> None:
        self._ask("prune", "--json")

    def _ask(self, *args: str) -> dict:
        done = subprocess.run(
            [*COMMAND, *args], env=self._env, capture_output=True, text=True, timeout=300
        )
        if "Traceback" in done.stderr or not done.stdout:
            raise RuntimeError(f"{args} ended with {done.returncode}: {done.stderr[-600:]}")
        return json.loads(done.stdout)

    def close(self) -> None:
        """Nothing is open."""


class Server:
    """An MCP server, asked one question after another."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "serve"], env=env | {"CODELENS_TOOLS": "all"}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/",
        )  # fmt: skip
        self._id = 0
        me = {"name": "crowd", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
        self._call("initialize", given)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def search(self, tree: Tree, query: str, mode: str, ref: str) -> dict:
        return self._tool(
            "cl_search", query=query, mode=mode, limit=LIMIT, ref=ref, max_tokens=100_000,
            path=str(tree.repo.root), format="json",
        )  # fmt: skip

    def expand(self, tree: Tree, handle: str) -> dict:
        return self._tool("cl_expand", handles=[handle], path=str(tree.repo.root), format="json")

    def resident_kb(self) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def _tool(self, name: str, **arguments: object) -> dict:
        found = self._call("tools/call", {"name": name, "arguments": arguments})
        text = found["content"][0]["text"]
        if found.get("isError"):
            raise RuntimeError(f"{name} {arguments}: {text}")
        return json.loads(text)

    def _call(self, method: str, params: dict) -> dict:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._id:
                return message["result"]
        raise RuntimeError("the server ended")

    def _send(self, message: dict) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


Face = CommandLine | Server


class Asker:
    """Asks by one face about one worktree, and compares."""

    def __init__(self, tree: Tree, face: Face, others: list[Tree], report: Report, seed: int):
        self.tree, self.face, self.others, self.report = tree, face, others, report
        self._random = random.Random(seed)
        self._who = f"{type(face).__name__} {tree.name}"

    def ask(self) -> None:
        """One question of some kind."""
        what = self._random.choice((self.token, self.token, self.foreign, self.word, self.old))
        with self.tree.still() if self._random.random() < STILL else nullcontext():
            what()

    def token(self) -> None:
        """A name that was planted in this worktree, and may be gone by now."""
        if self.tree.tokens:
            self._compare(self._random.choice(self.tree.tokens), "symbol", "")

    def foreign(self) -> None:
        """A name of another worktree."""
        tokens = [token for other in self.others for token in other.tokens]
        if tokens:
            self._compare(self._random.choice(tokens), "text", "")

    def word(self) -> None:
        """A word of the repository."""
        self._compare(self._random.choice(WORDS), "text", "")

    def old(self) -> None:
        """A word at a commit that is not checked out."""
        self._compare(self._random.choice(WORDS), "text", f"start~{self._random.randrange(4)}")

    def _compare(self, text: str, mode: str, ref: str) -> None:
        at = (ref,) if ref else ()
        for _ in range(TRIES):
            before = self.tree.edits
            wanted = self.tree.grep(text, *at)
            answer = self.face.search(self.tree, text, mode, ref)
            after = self.tree.grep(text, *at)
            quiet = (before == self.tree.edits and before % 2 == 0) or bool(ref)
            status = answer["receipt"]["status"]
            self.report.count(f"{type(self.face).__name__} {status}")
            if status != "fresh":
                why = "another wrote" if "being written" in answer["receipt"]["note"] else "no time"
                self.report.count(f"partial: {why}")
            found = set[str]()
            for one in answer["results"]:
                found.add(one["path"])
                found |= {handle.partition("#")[0].rsplit(":", 1)[0] if ":" in handle else
                          handle.partition("#")[0]
                          for handle in (*one.get("alike", ()), *one.get("also", ()))}  # fmt: skip
            if mode == "symbol":
                # Near names are offered where the asked one is not defined.
                found = {one["path"] for one in answer["results"] if one["symbol"] == text}
            where = f"{self._who}: {text!r} {mode} {ref}"
            if not quiet:
                self.report.count("asked during an edit")
                self._check_both(where, found, wanted | after)
                return
            if status == "fresh":
                self.report.count("compared")
                cut = len(answer["results"]) >= LIMIT or answer.get("more")
                if found - wanted or (wanted - found and not cut):
                    more, less = sorted(found - wanted), sorted(wanted - found)
                    self.report.fault(f"{where}: too much {more}, too little {less}; "
                                      f"{answer['receipt']}")  # fmt: skip
                elif mode == "symbol" and found:
                    self._read(answer, text, before)
                return
            time.sleep(0.5)
        self.report.fault(f"{self._who}: never fresh for {text!r} {ref}: {answer['receipt']}")

    def _check_both(self, where: str, found: set[str], allowed: set[str]) -> None:
        # Edits may have come and gone between the two looks; files of another worktree never do.
        if found - allowed:
            self.report.count("of a state in between")
        own = f"made_{self.tree.name}/"
        foreign = [name for name in found if name.startswith("made_") and not name.startswith(own)]
        if foreign:
            self.report.fault(f"{where}: {foreign} of another worktree")

    def _read(self, answer: dict, text: str, before: int) -> None:
        handle = next(one["handle"] for one in answer["results"] if one["symbol"] == text)
        (read,) = self.face.expand(self.tree, handle)["results"]
        if before != self.tree.edits:
            return
        self.report.count("read")
        lines = self.tree.repo.path(read.get("path", "")).read_text().splitlines(keepends=True)
        if read.get("text") != "".join(lines[read["start_line"] - 1 : read["end_line"]]):
            self.report.fault(f"{self._who}: expand {handle} gave {read}")


def crowd(source: Path, folder: Path, seconds: float, edit_every_s: float = 2.0) -> Report:
    """Let the crowd loose on a copy of `source` below `folder`; what it saw."""
    report = Report()
    home = folder / "home"
    env = {**os.environ, **git_environment(), "CODELENS_HOME": str(home), "HOME": str(folder)}
    folder.mkdir(parents=True, exist_ok=True)
    main = GitRepo(folder / "tree0")
    shutil.copytree(source, main.root, symlinks=True)
    main.git("config", "gc.auto", "0")
    main.git("tag", "start")
    trees = [Tree(main, "w0", 0)]
    for number in range(1, 4):
        linked = main.worktree(folder / f"tree{number}", branch=f"w{number}-0")
        trees.append(Tree(linked, f"w{number}", number))
    stop = time.monotonic() + seconds
    threads: list[threading.Thread] = []
    servers: list[Server] = []

    def run(work: Callable[[], None], pause: Callable[[], float], who: str) -> None:
        def loop() -> None:
            while time.monotonic() < stop:
                try:
                    work()
                except Exception as error:
                    report.fault(f"{who}: {type(error).__name__}: {error}")
                    time.sleep(1)
                time.sleep(pause())

        threads.append(threading.Thread(target=loop, name=who))

    for tree in trees:
        others = [other for other in trees if other is not tree]
        server = Server(env)
        servers.append(server)
        run(
            lambda tree=tree: tree.edit(report),
            lambda tree=tree: tree._random.uniform(0.5, 1.5) * edit_every_s,
            f"editor {tree.name}",
        )
        for face in (CommandLine(env), server):
            asker = Asker(tree, face, others, report, len(threads))
            run(asker.ask, lambda: 0.05, asker._who)
    run(CommandLine(env).prune, lambda: 15.0, "prune")

    def weigh() -> None:
        for number, server in enumerate(servers):
            report.memory(f"server {number}", server.resident_kb())

    run(weigh, lambda: max(1.0, seconds / 60), "memory")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in servers:
        server.close()
    for pid in left_over(home):
        report.fault(f"process {pid} is left")
    for who, values in report.resident.items():
        growth = grown(values)
        print(f"{who}: {values[0] // 1024} MiB at first, {values[-1] // 1024} at the end, "
              f"{growth / 1024:+.1f} from the third to the last quarter")  # fmt: skip
        if growth > SPARE_KB:
            report.fault(f"{who} grew from its third to its last quarter: {values}")
    return report


def grown(values: list[int]) -> float:
    """How much more the last quarter weighs than the third, in kilobytes."""
    quarter = len(values) // 4
    if not quarter:
        return 0.0
    third, last = values[2 * quarter : 3 * quarter], values[-quarter:]
    return statistics.median(last) - statistics.median(third)


def left_over(home: Path) -> list[int]:
    """Processes that still know of the home folder, three seconds after all have closed."""
    mark = f"CODELENS_HOME={home}".encode()
    for _ in range(30):
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        if not found:
            return []
        time.sleep(0.1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--edit-every", type=float, default=2.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crowd-") as folder:
        report = crowd(args.repository, Path(folder), args.seconds, args.edit_every)
    for what, count in sorted(report.counts.items()):
        print(f"{count:8,}  {what}")
    for fault in report.faults[:40]:
        print(f"FAULT {fault}")
    print(f"{len(report.faults)} faults")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
