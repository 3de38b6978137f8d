"""Generated sessions: `sent earlier` appears only for text that was sent, byte for byte.

The sent text is taken from what a client receives, not from codelens' own log.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gitrepo import GitRepo
from harness_sizes import ANY_HEALTH, size_of
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.serve import answer_shapes
from codelens.trail import sent_log
from codelens.trail.trail_log import worktree_key

BODY = "".join(f"    lamp.step_{at} = lamp.level + {at}\n" for at in range(9))
LIGHT = f'def light(lamp):\n    """Light a lamp."""\n{BODY}    return lamp\n'
DIM = f'# Dims slowly.\ndef dim(lamp):\n    """Dim a lamp."""\n{BODY}    return None\n'
SHELF = (
    f"class Shelf:\n    lamps = []\n\n    def put(self, lamp):\n{BODY}        self.lamps = lamp\n"
)
TEXTS = (
    LIGHT, DIM, f"{LIGHT}\n\n{DIM}", f"{DIM}\n\n{LIGHT}", LIGHT.replace("step_4", "pause_4"),
    f"WICK = 1\n\n\n{LIGHT}", LIGHT.replace("return lamp", "return lamp or None"), SHELF,
    f"{SHELF}\n\n{LIGHT}", LIGHT.replace("\n", "\r\n"), LIGHT.rstrip("\n"), "",
    LIGHT.replace("    ", "\t"), LIGHT.replace("Light a lamp", "Lïght a lämp"),
)  # fmt: skip
"""Possible contents of a file: definitions whole, moved, edited, with other line ends."""
FILES = ("lamps.py", "shop.py")
TASKS = ("light a lamp", "dim a lamp slowly", "Shelf.put", "lamp step level", "fix light and dim")
HANDLES = ("lamps.py#light", "lamps.py#dim", "shop.py#light", "lamps.py:2-8", "lamps.py", "shop.py",
           "shop.py#Shelf", "shop.py#Shelf.put")  # fmt: skip
SESSIONS = ("one", "two")

STEP = st.one_of(
    st.tuples(st.just("edit"), st.sampled_from(FILES), st.sampled_from(TEXTS)),
    st.tuples(st.just("branch"), st.sampled_from(["main", "other"])),
    st.tuples(
        st.just("explore"), st.sampled_from(SESSIONS), st.sampled_from(TASKS),
        st.sampled_from([250, 400, 700, 3000]), st.booleans(), st.sampled_from(["concise", "json"]),
    ),
    st.tuples(
        st.just("expand"), st.sampled_from(SESSIONS),
        st.lists(st.sampled_from(HANDLES), min_size=1, max_size=3),
        st.sampled_from([200, 260, 2000]), st.booleans(),
    ),
    st.just(("compaction",)),
)  # fmt: skip


@dataclass
class Client:
    """What a client of one session has read, in runs of consecutive lines."""

    runs: list[tuple[str, int, list[str]]] = field(default_factory=list)

    def read(self, path: str, number: int, line: str) -> None:
        last = self.runs[-1] if self.runs else None
        if last and last[0] == path and last[1] + len(last[2]) == number:
            last[2].append(line)
        else:
            self.runs.append((path, number, [line]))

    def has_read(self, path: str, lines: list[str]) -> bool:
        return any(
            run == path and any(read[at : at + len(lines)] == lines for at in range(len(read)))
            for run, _, read in self.runs
        )


class Play:
    """A repository, an engine, and the clients of two sessions."""

    def __init__(self, folder: Path) -> None:
        self.repo = GitRepo.init(folder / "repo")
        self.repo.commit("first", {"lamps.py": LIGHT, "shop.py": SHELF})
        self.repo.git("branch", "other")
        self.engine = Engine(Settings(home=folder / "home"))
        self.clients = {name: Client() for name in SESSIONS}

    def lines(self, path: str) -> list[str]:
        file = self.repo.root / path
        text = file.read_bytes().decode("utf-8") if file.exists() else ""
        return [line.removesuffix("\r") for line in text.split("\n")]

    def take(self, step: tuple) -> None:
        kind, *rest = step
        getattr(self, kind)(*rest)

    def edit(self, path: str, text: str) -> None:
        (self.repo.root / path).write_bytes(text.encode("utf-8"))

    def branch(self, name: str) -> None:
        self.repo.git("add", "-A")
        self.repo.git("commit", "-q", "--allow-empty", "-m", "as it is")
        self.repo.git("checkout", "-q", name)

    def compaction(self) -> None:
        scope = self.engine.pool.open_any(self.repo.root).scope
        sent_log.end_all(self.engine.settings.home, scope.repo_id, worktree_key(scope.root))
        self.clients = {name: Client() for name in SESSIONS}

    def explore(self, session: str, task: str, tokens: int, again: bool, form: str) -> None:
        client = self.clients[session]
        with self.engine.as_session(session):
            answer = self.engine.explore(task, path=self.repo.root, max_tokens=tokens, again=again)
            answer = answer_shapes.explore_delivered(answer, form, tokens)  # type: ignore[arg-type]
            text = answer_shapes.explore(answer, "concise", tokens)
            self.engine.note_sent(answer)
        repeats = [one for one in answer.pieces if one.sent == "unchanged"]
        assert text.count("sent earlier, unchanged") == len(repeats)
        assert not (again and repeats)
        for one in repeats:
            assert one.sent_lines
            for start, end in one.sent_lines:
                assert client.has_read(one.path, self.lines(one.path)[start - 1 : end]), one
        self._read_explored(client, text)

    def _read_explored(self, client: Client, text: str) -> None:
        path, repeat = "", False
        for row in text.split("\n"):
            if row in FILES:
                path = row
            elif row.startswith("#") or re.match(r"\d+(-\d+)? lines", row):
                repeat = "sent earlier, unchanged" in row
            elif path and not repeat and (found := re.match(r"(\d+):(.*)", row)):
                client.read(path, int(found[1]), found[2])

    def expand(self, session: str, handles: list[str], tokens: int, again: bool) -> None:
        client = self.clients[session]
        with self.engine.as_session(session):
            answer = self.engine.expand(handles, path=self.repo.root, again=again, max_lines=tokens)
            text = answer_shapes.expand(answer, "concise", tokens)
            self.engine.note_sent(answer_shapes.delivered(answer, "concise", tokens))
        for one in answer.items:
            if one.sent == "unchanged" and not one.error:
                assert not again
                now = self.lines(one.path)[one.start_line - 1 : one.end_line]
                assert client.has_read(one.path, now), one
        blocks = re.split(r"^==> ", text, flags=re.MULTILINE)[1:]
        for block in blocks:
            head, *rows = block.split("\n")
            place = re.search(r"  (\S+):(\d+)(?:-(\d+))?$", head)
            assert place is not None, head
            if any(" sent earlier, unchanged" in row for row in rows):
                continue
            start, end = int(place[2]), int(place[3] or place[2])
            rows = [row for row in rows if not row.startswith("note: ")]
            for number, row in zip(range(start, end + 1), rows, strict=False):
                if "...[line cut]" not in row:
                    client.read(place[1], number, row)


@settings(
    max_examples=size_of("CODELENS_SENT_SESSIONS"), deadline=None, suppress_health_check=ANY_HEALTH,
    derandomize=True,
)  # fmt: skip
@given(st.lists(STEP, min_size=4, max_size=14))
def test_sent_earlier_is_said_of_nothing_that_was_not_sent(steps: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as made:
        play = Play(Path(made))
        with play.engine:
            for step in steps:
                play.take(step)
