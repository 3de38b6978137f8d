"""A repository, a home and a saved context to damage, and checks that must hold afterwards.

`CODELENS_FAULT_ROUNDS` sets the rounds of each kind in full runs (300); without it each test runs
a small share. Rounds are counted in `COUNTS` and printed at the end.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from forked_commands import codelens_text
from gitrepo import GitRepo, git_environment
from harness_sizes import size_of
from stateful.view_contents import answer, dump

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import CodelensError, IndexCorrupt
from codelens.paths import contexts_file
from codelens.scope.repository import Repository
from codelens.store.saved import context_rows
from codelens.store.saved.context_rows import Context, Terms
from codelens.store.saved.contexts_file import open_contexts

FULL = size_of("CODELENS_FAULT_ROUNDS")
COUNTS: Counter[str] = Counter()
QUERIES = ("lamp kindle", "harbour.py", "how does the beacon turn")
_SPAWN = multiprocessing.get_context("forkserver")
_SPAWN.set_forkserver_preload(["codelens.engine.engine", "codelens.extract.facts", "faults.world"])


def rounds(share: int) -> int:
    """The number of rounds: the flag's, or a small share of it."""
    return FULL or share


class World:
    """A repository with a separate home, and a context that must never be lost."""

    def __init__(
        self, scratch: Path, files: int = 24, seed: int = 1, home: Path | None = None
    ) -> None:
        self.scratch = scratch
        self.repo = GitRepo.init(scratch / "repo")
        self.home = home or scratch / "home"
        self.settings = Settings(home=self.home, workers=2)
        self.pick = random.Random(seed)
        self._fresh = 0
        for number in range(files):
            self.write(f"src/part{number % 5}/mod{number}.py")
        self.repo.commit("one")
        self._save()

    @property
    def root(self) -> Path:
        return self.repo.root

    @property
    def index(self) -> Path:
        return next((self.home / "indexes").glob("index-*.db"))

    @property
    def contexts(self) -> Path:
        return contexts_file(self.home, Repository.at(self.root).scope(None).repo_id)

    def write(self, name: str) -> None:
        pick = self.pick
        body = "\n".join(
            f"def {pick.choice(('kindle', 'turn', 'moor'))}_{pick.randrange(1000)}(lamp):\n"
            f"    '''Beacon {pick.randrange(99)} of the harbour.'''\n"
            f"    return lamp.light({pick.randrange(9)})\n"
            for _ in range(pick.randrange(1, 9))
        )
        self.repo.write(name, body)

    def edit(self) -> None:
        """Writes a few files, deletes one, and sometimes commits or switches branches."""
        pick = self.pick
        for _ in range(pick.randrange(1, 6)):
            self.write(f"src/part{pick.randrange(5)}/mod{pick.randrange(30)}.py")
        files = sorted((self.root / "src").rglob("*.py"))
        if len(files) > 8:
            pick.choice(files).unlink()
        if pick.random() < 0.3:
            self.repo.commit("more")
        if pick.random() < 0.1:
            self.repo.git("checkout", "-q", "-B", f"branch{pick.randrange(3)}")

    def engine(self) -> Engine:
        return Engine(self.settings)

    def check(self) -> None:
        """The next answer is right: it matches an index built from scratch."""
        COUNTS["oracle comparisons"] += 1
        self._fresh += 1
        home = self.scratch / f"fresh{self._fresh}"
        with self.engine() as lived, Engine(Settings(home=home, workers=1)) as fresh:
            # The first question after a fault.
            first = answer(lived, QUERIES[0], self.root, None)
            assert first == answer(fresh, QUERIES[0], self.root, None)
            assert self._all_of(lived) == dump(fresh, self.root, None)
            for query in QUERIES[1:]:
                assert answer(lived, query, self.root, None) == answer(
                    fresh, query, self.root, None
                )
        shutil.rmtree(home)
        self.check_context()

    def _all_of(self, lived: Engine) -> dict:
        try:
            return dump(lived, self.root, None)
        except IndexCorrupt:
            # A page that no question had read was damaged. The file is reported and set aside now.
            COUNTS["damages that only reading all met"] += 1
            return dump(lived, self.root, None)

    def asks(self) -> str:
        """Outcome of the next question: `right`, or the words of a clear error."""
        home = self.scratch / "fresh-ask"
        with self.engine() as lived, Engine(Settings(home=home, workers=1)) as fresh:
            expected = answer(fresh, QUERIES[0], self.root, None)
            shutil.rmtree(home)
            try:
                found = answer(lived, QUERIES[0], self.root, None)
            except CodelensError as error:
                return str(error)
            assert found == expected, "a wrong answer"
        return "right"

    def check_context(self) -> None:
        opened = open_contexts(self.contexts, _terms, make=False)
        assert opened is not None, "the saved context is lost"
        with opened:
            saved = context_rows.named(opened.db, "decision")
        assert saved is not None
        assert saved.note == "the lamp burns oil"

    def _save(self) -> None:
        opened = open_contexts(self.contexts, _terms, make=True)
        assert opened is not None
        one = Context(
            "decision", "the lamp burns oil", "decision", (), True, 1, 1, None, "", "", ()
        )
        with opened, opened.changed():
            context_rows.put(opened.db, one, _terms(one))

    def run(
        self, *args: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs the command line as a user; drops root's right to write anywhere."""
        return codelens_text(*args, cwd=self.root, home=self.home, env=env, first=_OBEYS_MODES)

    def environment(self) -> dict[str, str]:
        """A minimal environment: `HOME` would be root's."""
        return git_environment() | {
            "CODELENS_HOME": str(self.home), "HOME": str(self.scratch), "PYTHONPATH": _PYTHONPATH,
        }  # fmt: skip

    def look(self) -> None:
        """Updates the index."""
        with self.engine() as engine:
            engine.look(path=self.root)

    def killed_after(self, seconds: float) -> bool:
        """Updates the index in a process killed after a delay; False if it finished first."""
        process = _SPAWN.Process(target=_refresh, args=(self.settings, str(self.root)))
        process.start()
        process.join(seconds)
        done = not process.is_alive()
        if not done:
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        process.close()
        return not done

    def time_of_refresh(self) -> float:
        """Seconds that an undisturbed refresh takes, including the start of the process."""
        started = time.monotonic()
        process = _SPAWN.Process(target=_refresh, args=(self.settings, str(self.root)))
        process.start()
        process.join()
        process.close()
        return time.monotonic() - started

    def killed_at_statement(self, number: int) -> bool:
        """The same, killed at the n-th statement that it executes; False if it had fewer."""
        args = (self.settings, str(self.root), number)
        process = _SPAWN.Process(target=_refresh_until, args=args)
        process.start()
        process.join()
        killed = process.exitcode == -signal.SIGKILL
        process.close()
        return killed


_OBEYS_MODES = "from faults.world import obey_modes; obey_modes()"
_PYTHONPATH = os.pathsep.join(entry for entry in sys.path if os.path.isabs(entry))


def obey_modes() -> None:
    """Makes file modes bind this process and its children, even as root (Linux)."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    # Effective, permitted and inheritable, for two words of capabilities.
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # what a program started here gets
        for at in range(3):
            sets[at] &= ~(1 << capability)
    assert libc.capset(header, sets) == 0


_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2
_CAPABILITY_VERSION = 0x20080522


def _terms(one: Context) -> Terms:
    return Terms(one.name, " ".join(one.tags), one.note, "")


def _refresh(settings: Settings, root: str) -> None:
    with Engine(settings) as engine:
        engine.search("beacon", path=root)


def _refresh_until(settings: Settings, root: str, number: int) -> None:
    from codelens.store.database.database import Database

    left = [number]
    for name in ("execute", "execute_many"):
        inner = getattr(Database, name)

        def counted(self, *args, inner=inner):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return inner(self, *args)

        setattr(Database, name, counted)
    _refresh(settings, root)


def processes_below(pid: int) -> set[int]:
    """Processes whose parent is `pid`, by /proc."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.add(int(folder.name))
    return found
