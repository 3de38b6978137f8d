"""Kills commands at random moments and compares what is kept with what they said that they kept.

    python tests/faults/killed_commands.py [--rounds 1000] [--seed 1]

Each round runs one command that changes a store of the home (saved contexts, pins, the index, a
pack, the trail and topics of a session) in a process that is killed after a random delay, or that
ends by itself. A change that a command confirmed must be there afterwards; one that was killed may
be there or not, and nothing else may differ. Now and then a search is compared with one by a new
index, and the doctor must find nothing damaged.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forked_commands import import_all, run_with_streams
from gitrepo import GitRepo, git_environment

SESSION = "11111111-2222-3333-4444-555555555555"
_COMPARE_EVERY = 10
_SETTLED_S = 60.0
"""A command that takes longer than this hangs."""
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Command:
    """A command in a fork of this process, which has all imports."""

    def __init__(self, folder: Path, home: Path, root: Path) -> None:
        self._out, self._in = folder / "out", folder / "in"
        self._root = root
        own = {"CODELENS_HOME": str(home), "HOME": str(folder)}
        self._environment = git_environment(own)

    def run(
        self, *args: str, given: str = "", kill_after_s: float | None = None
    ) -> tuple[int | None, str]:
        """Runs a command; returns its exit code, None if it was killed, and what it printed."""
        self._in.write_text(given)
        child = os.fork()
        if not child:
            streams = [
                os.open(self._in, os.O_RDONLY),
                *(os.open(self._out, _FRESH, 0o600) for _ in range(2)),
            ]
            run_with_streams(list(args), str(self._root), self._environment, streams)
        started = time.monotonic()
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                return (None if code == -signal.SIGKILL else code), self._out.read_text()
            spent = time.monotonic() - started
            if kill_after_s is not None and spent >= kill_after_s:
                os.kill(child, signal.SIGKILL)
                kill_after_s = None
            elif spent > _SETTLED_S:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise AssertionError(f"{args} hangs: {self._out.read_text()!r}")
            time.sleep(0.0005)


class Kept:
    """What the home must hold, as far as commands confirmed it.

    `notes` and `pins` map a name to what it may be: the confirmed state, and after a killed change
    the one that it would have made; None means that it is not there.
    """

    def __init__(self) -> None:
        self.notes: dict[str, set[str | None]] = {}
        self.pins: dict[str, set[str | None]] = {}

    @staticmethod
    def changes(
        states: dict[str, set[str | None]], name: str, state: str | None, code: int | None
    ) -> None:
        """Takes a command that should have led to a state, and its exit code."""
        if code == 0:
            states[name] = {state}
        elif code is None:
            states[name] = states.get(name, {None}) | {state}


class Rounds:
    """A repository, its home, and commands on both."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.home = folder, folder / "home"
        self.pick = Random(seed)
        self.kept = Kept()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.repo = GitRepo.init(folder / "repo")
        for number in range(30):
            self._write(number)
        self.repo.commit("first")
        self._commits: dict[str, str] = {}
        """The commit of each branch; the overview lists views of refs by commit."""
        for number in range(3):
            self._commits[self.repo.commit(f"side {number}")] = f"side{number}"
            self.repo.git("branch", f"side{number}")
        self._command = Command(folder, self.home, self.repo.root)
        self._took = 0.2
        self._number = 0
        self._said("pack", "-o", str(folder / "first.pack"))

    def run(self, rounds: int, killed: float = 2 / 3) -> None:
        """Runs this many commands, each killed with this chance unless it ends before."""
        changes: tuple[Callable[[float | None], None], ...] = (
            self._save, self._save, self._save, self._forget, self._replace, self._pin,
            self._unpin, self._search, self._rebuild, self._unpack, self._drop, self._prompt,
            self._mark,
        )  # fmt: skip
        for number in range(rounds):
            change = self.pick.choice(changes)
            delay = self.pick.random() * self._took * 1.3 if self.pick.random() < killed else None
            self.counts[change.__name__.strip("_")] += 1
            change(delay)
            self._check_kept(change.__name__)
            if number % _COMPARE_EVERY == 0:
                self._check_answers()
        self._check_left_over()

    def _run(self, delay: float | None, *args: str, given: str = "") -> int | None:
        started = time.monotonic()
        code, said = self._command.run(*args, given=given, kill_after_s=delay)
        if code is None:
            self.counts["killed"] += 1
        else:
            self._took = 0.8 * self._took + 0.2 * (time.monotonic() - started)
        refused = code == 2 and "no view matches" in said
        if not (refused or code in {0, 1, None}) or "Traceback" in said or "is a bug" in said:
            self.faults.append(f"{args} ended with {code}: {said[-500:]}")
        return code

    def _said(self, *args: str) -> str:
        code, said = self._command.run(*args)
        if code not in {0, 1} or "Traceback" in said:
            self.faults.append(f"{args} ended with {code}: {said[-500:]}")
        return said

    def _save(self, delay: float | None) -> None:
        self._number += 1
        name, note = f"note-{self._number}", f"the lamp {self._number} burns oil"
        code = self._run(delay, "save", name, "--note", note, "src/mod1.py")
        Kept.changes(self.kept.notes, name, note, code)

    def _forget(self, delay: float | None) -> None:
        names = [name for name, states in self.kept.notes.items() if None not in states]
        if names:
            name = self.pick.choice(names)
            Kept.changes(self.kept.notes, name, None, self._run(delay, "forget", name))

    def _replace(self, delay: float | None) -> None:
        names = [name for name, states in self.kept.notes.items() if None not in states]
        if names:
            self._number += 1
            name, note = self.pick.choice(names), f"the lamp {self._number} was cleaned"
            code = self._run(delay, "save", name, "--note", note, "--replace")
            Kept.changes(self.kept.notes, name, note, code)

    def _pin(self, delay: float | None) -> None:
        ref = f"side{self.pick.randrange(3)}"
        Kept.changes(self.kept.pins, ref, "pinned", self._run(delay, "pin", ref))

    def _unpin(self, delay: float | None) -> None:
        ref = f"side{self.pick.randrange(3)}"
        Kept.changes(self.kept.pins, ref, None, self._run(delay, "unpin", ref))

    def _search(self, delay: float | None) -> None:
        self._write(self.pick.randrange(40))
        if self.pick.random() < 0.3:
            self.repo.commit("more")
        self._run(delay, "search", "kindle")

    def _rebuild(self, delay: float | None) -> None:
        self._run(delay, "index", "--rebuild")

    def _unpack(self, delay: float | None) -> None:
        self._run(delay, "unpack", str(self.folder / "first.pack"))

    def _drop(self, delay: float | None) -> None:
        # It drops the pins too, if it comes that far.
        if self._run(delay, "drop", "--repository", "--force") != 1:
            for states in self.kept.pins.values():
                states.add(None)

    def _prompt(self, delay: float | None) -> None:
        event = {"session_id": SESSION, "cwd": str(self.repo.root), "prompt": "paint the harbour"}
        self._run(delay, "hook", "prompt", given=json.dumps(event))

    def _mark(self, delay: float | None) -> None:
        event = {"session_id": SESSION, "cwd": str(self.repo.root), "source": "startup"}
        self._run(delay, "hook", "session-start", given=json.dumps(event))

    def _write(self, number: int) -> None:
        text = f"def kindle_{self.pick.randrange(1_000)}(lamp):\n    return lamp\n"
        self.repo.write(f"src/mod{number}.py", text * self.pick.randrange(1, 20))

    def _check_kept(self, after: str) -> None:
        found = json.loads(self._said("load", "--json", "--limit", "1000"))
        notes: dict[str, str | None] = {one["name"]: one["note"] for one in found["results"]}
        for name, states in self.kept.notes.items():
            if notes.get(name) not in states:
                self.faults.append(f"after {after}: {name} is {notes.get(name)!r}, not {states}")
            self.kept.notes[name] = {notes.get(name)}
        if extra := notes.keys() - self.kept.notes.keys():
            self.faults.append(f"after {after}: {extra} were never saved")
        if after == "_rebuild":
            # A killed one leaves the pins, and their views to the next question about them.
            for ref in self.kept.pins:
                self._said("search", "kindle", "--ref", ref)
        overview = json.loads(self._said("status", "--all", "--json"))
        views = [view for index in overview["results"] for view in index["views"]]
        pinned = {self._commits.get(view["head"]) for view in views if view["pinned"]}
        for ref, states in self.kept.pins.items():
            state = "pinned" if ref in pinned else None
            if state not in states:
                self.faults.append(f"after {after}: {ref} is {state}, not {states}")
            self.kept.pins[ref] = {state}
        self.counts["checks of notes and pins"] += 1

    def _check_answers(self) -> None:
        self.counts["comparisons with a new index"] += 1
        args = ("search", "kindle lamp", "--json", "--limit", "50")
        lived = json.loads(self._said(*args))["results"]
        other = Command(self.folder, self.folder / "fresh", self.repo.root)
        _, said = other.run(*args)
        shutil.rmtree(self.folder / "fresh")
        fresh = json.loads(said)["results"]
        if [one["handle"] for one in lived] != [one["handle"] for one in fresh]:
            self.faults.append(f"{lived} instead of {fresh}")
        said = self._said("doctor")
        if "damaged" in said:
            self.faults.append(f"the doctor says {said}")

    def _check_left_over(self) -> None:
        """Kills leave drafts behind; the next commands of each kind must have taken them away."""
        for args in (("search", "kindle"), ("save", "last", "--note", "x"), ("pin", "side0")):
            self._said(*args)
        left = [
            str(file.relative_to(self.home))
            for file in self.home.rglob("*")
            if ".damaged-" in file.name or file.name.endswith((".part", ".new"))
        ]
        if left:
            self.faults.append(f"left over: {sorted(left)}")


def main() -> int:
    """Prints the counts and faults; exits with 1 if there is any fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    import_all()
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        rounds = Rounds(Path(folder), given.seed)
        rounds.run(given.rounds)
    for what, count in sorted(rounds.counts.items()):
        print(f"{count:6,}  {what}")
    for fault in rounds.faults[:30]:
        print(f"FAULT {fault}")
    print(f"{len(rounds.faults)} faults")
    return 1 if rounds.faults else 0


if __name__ == "__main__":
    sys.exit(main())
