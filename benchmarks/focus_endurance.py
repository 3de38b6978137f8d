"""Measures the CPU of the prompt hook with a full forest, and kills two concurrent writers.

    python benchmarks/focus_endurance.py [--runs 50] [--prompts 10000]

First: `codelens hook prompt` and a bare `python -I -c pass` in turn. Reports median and quartiles
of user + system milliseconds, and of the ratios of neighbours, which vary least on a busy machine.
Bytecode is cached, as it is for users. There are three kinds of prompts: plain words; prompts that
need regular expressions (a password, a URL with a name); and prompts for which a topic's file has
changed and words are not ASCII. `--prompts 0` stops here.

Then two processes write generated prompts to one forest and are killed at random moments. After
each kill the state is loaded and must be whole. Each prompt counts by the reply that its writer
got: kept, or waiting because the other process held the lock for 50 ms. At the end the waiting
prompts are merged, and the forest must count each prompt once. A writer killed between the write
and its reply may add one more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from codelens.focus import forest_file, waiting_turns
from codelens.focus.checkout import checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt
from codelens.trail.trail_log import TrailEntry, append, worktree_key

STEMS = "token cookie schema index query column pixel font border layout".split()
ENDS = ("", "reader", "writer", "cache", "lock", "queue", "parser", "socket")
WORDS = [f"{stem}{end}" for stem in STEMS for end in ENDS]
WRITER = """
import random, sys
from codelens.focus.checkout import checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import take_answer, take_prompt
sys.path.insert(0, sys.argv[4])
from focus_endurance import prompt
home, folder, seed = sys.argv[1:4]
chance, place = random.Random(int(seed)), checkout_at(folder)
while True:
    turn = take_prompt(home, place, prompt(chance), FocusSettings())
    print("waiting" if turn.is_waiting else turn.notes or "kept", flush=True)
    take_answer(home, place, f"Did {prompt(chance)}.", FocusSettings())
"""


def prompt(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 25)))


def cpu_ms(command: list[str], data: bytes, env: dict[str, str], cwd: str) -> float:
    # `os.times` counts in steps of 10 ms.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=data, env=env, cwd=cwd, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def with_secrets(chance: random.Random) -> str:
    return f"{prompt(chance)}; password: hunter2, see https://me:x@example.com/a"


def in_changed_files(chance: random.Random) -> str:
    Path("till.py").write_text(f"x = {chance.random()}\n\n\ndef charge(): ...\n")
    return f"{prompt(chance)} — café"


KINDS = {"plain": prompt, "secrets": with_secrets, "changed files": in_changed_files}


def cost(runs: int, home: str, folder: str) -> None:
    chance, place, chosen = random.Random(1), checkout_at(folder), FocusSettings()
    os.chdir(folder)
    for _ in range(300):
        in_changed_files(chance)
        entry = TrailEntry(int(time.time()), "s", worktree_key(place.root), "main", "expanded",
                           "charge", ("till.py#charge",))  # fmt: skip
        append(home, place.repository, entry)
        take_prompt(home, place, prompt(chance), chosen)
        take_answer(home, place, f"Did {prompt(chance)}.", chosen)
    state = forest_file.load(path_of(home, place, chosen, ""))
    print(f"forest: {len(state.forest.nodes)} nodes, {len(state.guide)} answers")
    env = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env["CODELENS_HOME"] = home
    hook = [str(Path(sys.executable).with_name("codelens")), "hook", "prompt"]
    bare = [sys.executable, "-I", "-c", "pass"]
    for kind, generated in KINDS.items():
        times: list[tuple[float, float]] = []
        for _ in range(runs + 3):
            said = json.dumps({"session_id": "s", "cwd": folder, "prompt": generated(chance),
                               "hook_event_name": "UserPromptSubmit"}).encode()  # fmt: skip
            times.append((cpu_ms(hook, said, env, folder), cpu_ms(bare, b"", env, folder)))
        del times[:3]  # the first runs compile
        for name, found in (
            ("hook", [one for one, _ in times]),
            ("bare", [one for _, one in times]),
        ):
            low, middle, high = statistics.quantiles(found, n=4)
            print(f"{kind}, {name}: median {middle:.1f} ms, quartiles {low:.1f} to {high:.1f}")
        print(f"{kind}: ratio {statistics.median(one / other for one, other in times):.2f}"
              f" ({runs} runs, load {os.getloadavg()[0]:.1f})")  # fmt: skip


def kills(prompts: int, home: str, folder: str) -> None:
    chance, place, chosen = random.Random(2), checkout_at(folder), FocusSettings()
    path = path_of(home, place, chosen, "")
    replies: Counter[str] = Counter()
    rounds = 0
    first = forest_file.load(path).forest.prompts
    here = str(Path(__file__).parent)
    while replies.total() < prompts:
        rounds += 1
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, home, folder, str(rounds * 2 + one), here],
                stdout=subprocess.PIPE,
            )
            for one in (0, 1)
        ]  # fmt: skip
        time.sleep(chance.uniform(0.5, 6.0))
        for one in writers:
            one.send_signal(signal.SIGKILL)
            replies.update((one.communicate()[0] or b"").decode().splitlines())
        state = forest_file.load(path)
        assert not state.note, state.note
        assert len(state.forest.nodes) <= chosen.memory_size
    while waiting_turns.names(path):
        take_answer(home, place, f"Did {prompt(chance)}.", chosen)
    counted = forest_file.load(path).forest.prompts - first
    assert set(replies) <= {"kept", "waiting"}, replies
    assert replies.total() <= counted <= replies.total() + 2 * rounds
    print(f"{replies.total()} prompts of two writers, {2 * rounds} kills: the state was whole "
          f"after each; replies {dict(replies)}; counted in the forest {counted}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--prompts", type=int, default=10_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home, folder = os.path.join(scratch, "home"), os.path.join(scratch, "work")
        os.makedirs(os.path.join(folder, ".git"))
        Path(folder, ".git", "HEAD").write_text("ref: refs/heads/main\n")
        cost(args.runs, home, folder)
        if args.prompts:
            kills(args.prompts, home, folder)


if __name__ == "__main__":
    main()
