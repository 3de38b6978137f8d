"""Handles one turn: adds a prompt to the forest and returns the block, then adds the answer.

Hooks call `take_prompt` and `take_answer`; both write under the lock of the forest's file.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import NamedTuple

from codelens.focus import forest_file, waiting_turns
from codelens.focus.checkout import Checkout
from codelens.focus.context_block import block, first_sentence, listen, reinforce, shorten
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, Node, grow
from codelens.focus.prompt_terms import LONGEST_TEXT, counted, terms_of
from codelens.focus.topic_code import note_handles, remember_turn, true_handles
from codelens.focus.waiting_turns import Utterance, Waiting
from codelens.secret_masking import masked

_LONGEST_ID = 100
_LONGEST_KEPT = 300
"""How many characters of a prompt are stored; its terms come from a longer part."""


class Turn(NamedTuple):
    """The result of a prompt."""

    block: str
    notes: tuple[str, ...] = ()
    """Problems, for the log."""
    is_waiting: bool = False
    """Whether the forest was locked for too long, so that the next turn adds the prompt."""


def home_folder() -> str:
    """`CODELENS_HOME` or `~/.codelens`, like `codelens.paths.default_home`."""
    return os.path.abspath(os.path.expanduser(os.environ.get("CODELENS_HOME") or "~/.codelens"))


def path_of(home: str, place: Checkout, settings: FocusSettings, session: str) -> str:
    """The file of the forest for a prompt."""
    name = place.repository
    if settings.scope == "worktree":
        name += f"-{place.worktree}"
    elif settings.scope == "session":
        name += f"-s{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()[:12]}"
    return forest_file.forest_path(home, name)


def take_prompt(
    home: str, place: Checkout, prompt: str, settings: FocusSettings, *,
    session: str = "", now: float | None = None,
) -> Turn:  # fmt: skip
    """Add a prompt to the forest, and return its block.

    If another process has the forest's lock for 50 ms, the block is returned anyway and the next
    turn adds the prompt. If nothing can be written, the prompt is not remembered.
    """
    now = time.time() if now is None else now
    utterance = _as_remembered(prompt, place, session, now)
    path = path_of(home, place, settings, session)
    notes: list[str] = []
    state = forest_file.State(Forest(), [])
    before = 0
    is_waiting = False
    try:
        with forest_file.ForestLock(path) as is_locked:
            state = forest_file.load(path)
            if state.note:
                notes.append(state.note)
            if is_locked:
                waiting = waiting_turns.take(path, state.taken)
                notes += waiting.notes
                state = _with_waiting(home, place, settings, state=state, waiting=waiting)
            before = state.forest.next_id
            _add_utterance(home, place, utterance, settings, state=state)
            if is_locked:
                forest_file.save(path, state._replace(root=place.root))
                notes += waiting_turns.release(path, state.taken)
            else:
                waiting_turns.put(path, utterance)
                is_waiting = True
    except OSError as error:
        notes.append(f"the prompt is not remembered: {error}")
        state = _as_read(path, state)
    newest = _newest(state.forest, before)
    text = block(
        state.forest, state.guide, settings, now=now, branch=place.label, newest=newest,
        handles=lambda topic: true_handles(topic, place.root),
    )  # fmt: skip
    return Turn(text, tuple(notes), is_waiting)


def take_answer(
    home: str, place: Checkout, answer: str, settings: FocusSettings, *,
    session: str = "", now: float | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Add the model's answer to the guide; return problems, for the log."""
    now = time.time() if now is None else now
    utterance = Utterance("answer", first_sentence(answer), {}, now, place.label, place.root)
    if not utterance.text:
        return ()
    path = path_of(home, place, settings, session)
    try:
        with forest_file.ForestLock(path) as is_locked:
            if not is_locked:
                waiting_turns.put(path, utterance)
                return ()
            state = forest_file.load(path)
            notes = [state.note] if state.note else []
            waiting = waiting_turns.take(path, state.taken)
            notes += waiting.notes
            state = _with_waiting(home, place, settings, state=state, waiting=waiting)
            _add_utterance(home, place, utterance, settings, state=state)
            forest_file.save(path, state._replace(root=place.root))
            notes += waiting_turns.release(path, state.taken)
    except OSError as error:
        return (f"the answer is not remembered: {error}",)
    return tuple(notes)


def as_next_prompt_finds(
    home: str, place: Checkout, path: str, settings: FocusSettings
) -> forest_file.State:
    """The state of a forest with the waiting prompts and answers; no file changes.

    Raises:
        OSError: the forest cannot be read.
    """
    state = forest_file.load(path)
    is_any = os.path.isdir(os.path.dirname(path))
    waiting = waiting_turns.read(path, state.taken) if is_any else Waiting((), (), ())
    note = "; ".join(filter(None, (state.note, *waiting.notes)))
    return _with_waiting(home, place, settings, state=state, waiting=waiting)._replace(note=note)


def _as_remembered(prompt: str, place: Checkout, session: str, now: float) -> Utterance:
    """The stored part of a prompt: its terms, and the start of its text without secrets."""
    text = masked(prompt)[:LONGEST_TEXT]
    shortened = " ".join(_printable(text).split())[:_LONGEST_KEPT]
    terms = counted(terms_of(text))
    return Utterance(
        "prompt", shortened, terms, now, place.label, place.root, session[-_LONGEST_ID:]
    )


def _with_waiting(
    home: str, place: Checkout, settings: FocusSettings, *,
    state: forest_file.State, waiting: Waiting,
) -> forest_file.State:  # fmt: skip
    """The state with prompts and answers that arrived while another process had the lock."""
    for utterance in waiting.utterances:
        _add_utterance(home, place, utterance, settings, state=state)
    return state._replace(taken=waiting.names)


def _add_utterance(
    home: str, place: Checkout, utterance: Utterance, settings: FocusSettings, *,
    state: forest_file.State,
) -> None:  # fmt: skip
    """Add a prompt to the forest, or an answer to the guide."""
    forest = state.forest
    if utterance.kind == "answer":
        listen(state.guide, utterance.text, settings, utterance.at)
        return
    shorten(state.guide, settings)
    reinforce(forest, state.guide)
    note_handles(home, place, forest, utterance.at)
    classification = grow(
        forest, utterance.text, utterance.terms, settings, now=utterance.at,
        branch=utterance.branch, worktree=utterance.worktree,
    )  # fmt: skip
    has_topic = classification.action != "none"
    remember_turn(forest, utterance.session, utterance.at, has_topic=has_topic)


def _as_read(path: str, state: forest_file.State) -> forest_file.State:
    """The state, read without a lock, because the home folder is read-only."""
    if state.forest.nodes:
        return state
    try:
        return forest_file.load(path)
    except OSError:
        return state


def _printable(text: str) -> str:
    """A text without control characters and half surrogate pairs, which hosts may reject."""
    return text.translate(_CONTROLS).encode("utf-8", "replace").decode()


_CONTROLS = {**dict.fromkeys(range(32), " "), 127: " "}


def _newest(forest: Forest, before: int) -> int:
    """The prompt that was added with the number `before` or higher; 0 if none was."""
    fresh: list[Node] = [
        node for node in forest.nodes.values() if node.id >= before and node.kind == "prompt"
    ]
    return fresh[-1].id if fresh else 0
