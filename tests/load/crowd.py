"""A crowd at work: agents edit, switch and ask in four worktrees of one repository, concurrently.

    python tests/load/crowd.py REPOSITORY [--seconds 600]

Each worktree has an editor, a person at the command line (one process per question) and an MCP
server with its client: eight codelens processes at a time, and now and then one that prunes or
rebuilds. Every answer is compared with `git grep` and the files themselves, which are independent
of codelens. An answer given during a change of the worktree is checked less strictly: each part of
it must belong to one of the two states.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitrepo import GitRepo, git_environment
from load.faces import LIMIT, CommandLine, Face, Server
from load.report import Report, grown
from load.trees import Tree

WORDS = ("retry", "session", "encoding", "redirect", "timeout", "cookie")
TRIES = 60
STILL = 0.7
"""Share of the questions during which nobody edits the worktree in question."""
REBUILD_EVERY_S = 60.0
SPARE_KB = 20 * 1024
"""How much a server may grow late in the run: it caches results for the last views."""


class Asker:
    """Asks through one face about one worktree, and compares."""

    def __init__(self, tree: Tree, face: Face, others: list[Tree], report: Report, seed: int):
        self.tree, self.face, self.others, self.report = tree, face, others, report
        self._random = random.Random(seed)
        self._who = f"{type(face).__name__} {tree.name}"
        self._compared = False

    def has_nothing_compared(self) -> bool:
        """Whether a slow machine has not let it compare an answer yet; not after a fault."""
        return not self._compared and not self.report.faults

    def ask(self) -> None:
        """Asks one question of some kind."""
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
            started = time.monotonic()
            answer = self.face.search(self.tree, text, mode, ref)
            self.report.took(type(self.face).__name__, time.monotonic() - started)
            after = self.tree.grep(text, *at)
            quiet = (before == self.tree.edits and before % 2 == 0) or bool(ref)
            status = answer["receipt"]["status"]
            self.report.count(f"{type(self.face).__name__} {status}")
            if status != "fresh":
                why = "another wrote" if "being written" in answer["receipt"]["note"] else "no time"
                self.report.count(f"partial: {why}")
            found = set[str]()
            for one in answer["results"]:
                # Near names are offered if the name is not defined.
                if mode == "symbol" and one["symbol"] != text:
                    continue
                found.add(one["path"])
                # Copies are folded: a file that was renamed, and came back by a reset.
                folded = (*one.get("alike", ()), *one.get("also", ()))
                found |= {_file_of(handle) for handle in folded}
            where = f"{self._who}: {text!r} {mode} {ref}"
            if not quiet:
                self.report.count("asked during an edit")
                self._check_both(where, found, wanted | after)
                return
            if status == "fresh":
                self.report.count("compared")
                self._compared = True
                cut = len(answer["results"]) >= LIMIT or answer.get("more")
                if found - wanted or (wanted - found and not cut):
                    more, less = sorted(found - wanted), sorted(wanted - found)
                    self.report.fault(f"{where}: too much {more}, too little {less} of "
                                      f"{sorted(wanted)}; {answer['receipt']}")  # fmt: skip
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
        try:
            (read,) = self.face.expand(self.tree, handle)["results"]
        except RuntimeError:
            if before == self.tree.edits:
                raise
        if before != self.tree.edits:
            self.report.count("asked during an edit")
            return
        self.report.count("read")
        lines = self.tree.repo.path(read.get("path", "")).read_text().splitlines(keepends=True)
        if read.get("text") != "".join(lines[read["start_line"] - 1 : read["end_line"]]):
            self.report.fault(f"{self._who}: expand {handle} gave {read}")


def _file_of(handle: str) -> str:
    path = handle.partition("#")[0]
    return path.rsplit(":", 1)[0] if ":" in handle else path


def crowd(source: Path, folder: Path, seconds: float, edit_every_s: float = 2.0) -> Report:
    """Runs the crowd on a copy of `source` below `folder`; returns its observations."""
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

    def run(
        work: Callable[[], None],
        pause: Callable[[], float],
        who: str,
        is_wanted: Callable[[], bool] = bool,
    ) -> None:
        def loop() -> None:
            while time.monotonic() < stop or is_wanted():
                try:
                    work()
                except Exception as error:
                    report.fault(f"{who}: {type(error).__name__}: {error}")
                    time.sleep(1)
                time.sleep(min(pause(), max(0.05, stop - time.monotonic())))

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
            run(asker.ask, lambda: 0.05, asker._who, asker.has_nothing_compared)
    run(CommandLine(env).prune, lambda: 15.0, "prune")
    run(lambda: CommandLine(env).rebuild(trees[0]), lambda: REBUILD_EVERY_S, "rebuild")

    def weigh() -> None:
        for number, server in enumerate(servers):
            report.memory(f"server {number}", server.resident_kb())
        for name, suffix in (("index", ""), ("log of the index", "-wal")):
            files = (home / "indexes").glob(f"index-*.db{suffix}")
            report.size(name, sum(file.stat().st_size for file in files) // 1024)

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


def left_over(home: Path) -> list[int]:
    """Processes that still use the home folder, a minute after all have closed."""
    mark = f"CODELENS_HOME={home}".encode()
    for _ in range(600):
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
    for line in report.lines():
        print(line)
    locked = sum("database is locked" in fault for fault in report.faults)
    print(f"{locked} times `database is locked`")
    for fault in report.faults[:40]:
        print(f"FAULT {fault}")
    print(f"{len(report.faults)} faults")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
