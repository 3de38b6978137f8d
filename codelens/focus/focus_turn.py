"""One turn: a prompt comes in, the forest takes it, the block goes out. And the answer after it.

`take_prompt` and `take_answer` are for hooks; both write under the lock of the forest's file.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from codelens.focus import forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.context_block import block
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, Node, grow
from codelens.focus.guide import listen, reinforce
from codelens.focus.prompt_terms import LONGEST_TEXT, terms_of
from codelens.focus.term_vectors import counted
from codelens.focus.topic_handles import note, true_handles
from codelens.secret_masking import masked
from codelens.trail import trail_log

_LONGEST_KEPT = 300
"""Characters of a prompt that are kept to show; its terms are counted on more."""


class Turn(NamedTuple):
    """What came of a prompt."""

    block: str
    notes: tuple[str, ...] = ()
    """What was wrong on the way, for the log."""


def home_folder() -> str:
    """`CODELENS_HOME` or `~/.codelens`, as `codelens.paths.default_home` has it."""
    return os.path.abspath(os.path.expanduser(os.environ.get("CODELENS_HOME") or "~/.codelens"))


def path_of(home: str, place: Checkout, settings: FocusSettings, session: str) -> str:
    """The file of the forest that a prompt belongs to."""
    name = place.repository
    if settings.scope == "worktree":
        name += f"-{place.worktree}"
    elif settings.scope == "session":
        from hashlib import sha256

        name += f"-s{sha256(session.encode('utf-8', 'replace')).hexdigest()[:12]}"
    return forest_file.forest_path(home, name)


def take_prompt(
    home: str, place: Checkout, prompt: str, settings: FocusSettings, *,
    session: str = "", now: float | None = None,
) -> Turn:  # fmt: skip
    """Take a prompt into the forest, and give the block that goes beside it.

    Where another process holds the forest's lock for 50 ms, or nothing can be written, the block
    is still given, and the prompt is not remembered.
    """
    now = time.time() if now is None else now
    path = path_of(home, place, settings, session)
    notes: list[str] = []
    state = forest_file.State(Forest(), [])
    before = 0
    try:
        with forest_file.locked(path) as ours:
            state = forest_file.load(path)
            if state.note:
                notes.append(state.note)
                if ours:
                    forest_file.set_aside(path)
            before = state.forest.next_id
            _grow(home, place, prompt, settings, state=state, now=now)
            if ours:
                forest_file.save(path, state.forest, state.guide, place.root)
            else:
                notes.append(f"{path} is locked by another process; the prompt is not remembered")
    except OSError as error:
        notes.append(f"the prompt is not remembered: {error}")
        state = _as_read(path, state)
    newest = _newest(state.forest, before)
    text = block(
        state.forest, state.guide, settings, now=now, branch=place.label, newest=newest,
        handles=lambda topic: true_handles(topic, place.root),
    )  # fmt: skip
    return Turn(text, tuple(notes))


def take_answer(
    home: str, place: Checkout, answer: str, settings: FocusSettings, *,
    session: str = "", now: float | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Add the model's answer to the guide; what was wrong on the way, for the log."""
    path = path_of(home, place, settings, session)
    try:
        with forest_file.locked(path) as ours:
            if not ours:
                return (f"{path} is locked by another process; the answer is not remembered",)
            state = forest_file.load(path)
            added = listen(state.guide, answer, settings, time.time() if now is None else now)
            if added:
                if state.note:
                    forest_file.set_aside(path)
                forest_file.save(path, state.forest, state.guide, place.root)
    except OSError as error:
        return (f"the answer is not remembered: {error}",)
    return (state.note,) if state.note else ()


def _as_read(path: str, state: forest_file.State) -> forest_file.State:
    """The state, read without a lock where it could not be had: of a home for reading alone."""
    if state.forest.nodes:
        return state
    try:
        return forest_file.load(path)
    except OSError:
        return state


def _grow(
    home: str, place: Checkout, prompt: str, settings: FocusSettings,
    *, state: forest_file.State, now: float,
) -> None:  # fmt: skip
    forest = state.forest
    forest.set_back(now)
    reinforce(forest, state.guide)
    if forest.last:
        _note_handles(home, place, forest)
    text = masked(prompt)
    terms = counted(terms_of(text[:LONGEST_TEXT]))
    shortened = " ".join(_printable(text[:LONGEST_TEXT]).split())[:_LONGEST_KEPT]
    grow(forest, shortened, terms, settings, now=now, branch=place.label, worktree=place.root)


def _printable(text: str) -> str:
    """A text without control characters and halves of surrogate pairs, which hosts may refuse."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode()


_CONTROLS = {**dict.fromkeys(range(32), " "), 127: " "}


def _note_handles(home: str, place: Checkout, forest: Forest) -> None:
    """Give the last topic the code that was looked at since its last prompt."""
    topic = forest.nodes[forest.last]
    worktree = trail_log.worktree_key(place.root)
    for entry in trail_log.latest(home, place.repository, since=int(forest.seen)):
        if entry.worktree == worktree:
            for handle in reversed(entry.handles[:2]):
                note(topic, place.root, handle)


def _newest(forest: Forest, before: int) -> int:
    """The prompt that was added since the number `before` was the next; 0 if none was."""
    fresh: list[Node] = [
        node for node in forest.nodes.values() if node.id >= before and node.kind == "prompt"
    ]
    return fresh[-1].id if fresh else 0
