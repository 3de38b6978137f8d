"""Agents edit and ask at once: is the first answer right, within the server's own budget?

    python tests/load/first_answers.py [REPOSITORY] [--agents 8] [--rounds 10] [--budget-ms 500]

Each agent has a separate server, and all work in one worktree at the same time. In each round an
agent renames the function that it planted in a file and asks for both names at once: the new one
must be found in its place, the old one nowhere. No agent waits for another.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitrepo import GitRepo, git_environment
from load.faces import Server
from load.trees import Tree


class Answered(NamedTuple):
    """One first answer."""

    right: bool
    seconds: float
    status: str
    why: str


class Agent:
    """Edits a file and asks a server, both private to the agent."""

    def __init__(self, tree: Tree, server: Server, number: int) -> None:
        self._tree, self._server, self._number = tree, server, number
        self._path = f"agents/agent{number}.py"
        self.answers: list[Answered] = []

    def name(self, round_number: int) -> str:
        # No name is a prefix of another.
        return f"zq{self._number}x{round_number}e"

    def plant(self, round_number: int) -> None:
        body = f"def {self.name(round_number)}():\n    return {round_number}\n"
        self._tree.repo.write(self._path, body)

    def edit_and_ask(self, round_number: int) -> None:
        self.plant(round_number)
        started = time.monotonic()
        answer = self._ask(self.name(round_number))
        seconds = time.monotonic() - started
        paths = {hit["path"] for hit in answer["results"]}
        old = {hit["path"] for hit in self._ask(self.name(round_number - 1))["results"]}
        why = ""
        if paths != {self._path}:
            why = f"{self.name(round_number)} found in {sorted(paths)}: {answer['receipt']}"
        elif self._path in old:
            why = f"{self.name(round_number - 1)} is still found"
        self.answers.append(Answered(not why, seconds, answer["receipt"]["status"], why))

    def _ask(self, name: str) -> dict:
        return self._server.search(self._tree, name, "text", "")


def first_answers(
    source: Path | None, folder: Path, agents: int, rounds: int, budget_ms: float
) -> list[Answered]:
    """All first answers of a run below `folder`."""
    env = {
        **os.environ, **git_environment(), "CODELENS_HOME": str(folder / "home"),
        "HOME": str(folder), "CODELENS_BUDGET_MS": str(budget_ms),
    }  # fmt: skip
    repo = GitRepo(folder / "tree")
    if source is None:
        repo = GitRepo.init(folder / "tree")
        repo.commit("one", {f"src/m{n}.py": f"def lamp{n}(): ...\n" for n in range(200)})
    else:
        shutil.copytree(source, repo.root, symlinks=True)
    tree = Tree(repo, "tree", 0)
    servers = [Server(env) for _ in range(agents)]
    crew = [Agent(tree, server, number) for number, server in enumerate(servers)]
    try:
        for agent in crew:
            agent.plant(0)
        _until_fresh(servers, tree)
        start = threading.Barrier(agents)

        def work(agent: Agent) -> None:
            start.wait()
            for round_number in range(1, rounds + 1):
                agent.edit_and_ask(round_number)

        threads = [threading.Thread(target=work, args=(agent,)) for agent in crew]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for server in servers:
            server.close()
    return [answer for agent in crew for answer in agent.answers]


def _until_fresh(servers: list[Server], tree: Tree) -> None:
    for server in servers:
        for _ in range(600):
            if server.search(tree, "lamp", "text", "")["receipt"]["status"] == "fresh":
                break
            time.sleep(0.1)
        else:
            raise RuntimeError("the index was not built within a minute")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path, nargs="?")
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--budget-ms", type=float, default=500)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agents-") as folder:
        answers = first_answers(
            args.repository, Path(folder), args.agents, args.rounds, args.budget_ms
        )
    right = sum(answer.right for answer in answers)
    times = sorted(answer.seconds for answer in answers)
    partial = sum(answer.status == "partial" for answer in answers)
    print(f"{right} of {len(answers)} first answers right, {partial} of them partial; "
          f"p50 {times[len(times) // 2] * 1000:,.0f} ms, "
          f"p95 {times[len(times) * 95 // 100] * 1000:,.0f} ms, "
          f"at most {times[-1] * 1000:,.0f} ms")  # fmt: skip
    for answer in answers:
        if not answer.right:
            print(f"WRONG {answer.why}")
    return 0 if right == len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
