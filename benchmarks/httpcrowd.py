"""Many clients of one server over HTTP: `python benchmarks/httpcrowd.py [CLIENTS] [SECONDS]`.

Makes a repository with four worktrees, each with a definition of its own, and serves it. The
clients, half of them of each protocol, ask about their worktree while a writer edits another file
in it. Prints how many answers there were, how many were wrong (not of the client's worktree, or
without its definition), and what was left over when the server was told to stop.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from gitrepo import GitRepo  # noqa: E402
from http_server import HttpServer, http_server  # noqa: E402

TREES = 4


def worktrees(folder: Path) -> list[GitRepo]:
    repo = GitRepo.init(folder / "tree0")
    repo.commit("first", {f"lib/part{at}.py": f"def part{at}(): ...\n" for at in range(200)})
    trees = [
        repo,
        *(repo.worktree(folder / f"tree{at}", branch=f"b{at}") for at in range(1, TREES)),
    ]
    for at, tree in enumerate(trees):
        tree.commit("own", {"own.py": f"def lantern_{at}():\n    return {at}\n"})
    return trees


class Crowd:
    """Clients that ask until `until`, and a writer beside them."""

    def __init__(self, server: HttpServer, trees: list[GitRepo], until: float) -> None:
        self.server, self.trees, self.until = server, trees, until
        self.lock = threading.Lock()
        self.answers, self.wrong, self.failed = 0, list[str](), list[str]()

    def ask(self, number: int) -> None:
        at = number % TREES
        root = str(self.trees[at].root)
        try:
            with self.server.client("legacy" if number % 2 else "2026-07-28") as asker:
                while time.monotonic() < self.until:
                    text = asker.text("cl_search", query="lantern", path=root)
                    others = [f"lantern_{other}" for other in range(TREES) if other != at]
                    sound = root in text and f"own.py#lantern_{at}" in text
                    with self.lock:
                        self.answers += 1
                        if not sound or any(name in text for name in others):
                            self.wrong.append(text)
        except Exception as error:
            with self.lock:
                self.failed.append(repr(error))

    def write(self) -> None:
        count = 0
        while time.monotonic() < self.until:
            count += 1
            self.trees[count % TREES].write("edited.py", f"def edit_{count}(): ...\n")
            time.sleep(0.2)


def main() -> None:
    clients, seconds = (int(word) for word in (*sys.argv[1:], "20", "300")[:2])
    with tempfile.TemporaryDirectory() as name:
        trees = worktrees(Path(name))
        env = {"CODELENS_HOME": str(Path(name) / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
        with http_server(env, "--root", str(trees[0].root)) as server:
            crowd = Crowd(server, trees, time.monotonic() + seconds)
            threads = [threading.Thread(target=crowd.ask, args=(at,)) for at in range(clients)]
            threads.append(threading.Thread(target=crowd.write))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            code, said = server.stop()
        wrong, failed = len(crowd.wrong), len(crowd.failed)
        print(f"{clients} clients, {crowd.answers} answers, {wrong} wrong, {failed} clients failed")
        print(f"the server ended with {code} and said {said!r}")
        for line in [*crowd.failed[:2], *crowd.wrong[:1]]:
            print(line)


if __name__ == "__main__":
    main()
