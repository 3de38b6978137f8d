"""Before a prompt: the focus block. After an answer: the guide, and where the session stands."""

from __future__ import annotations

import json
import os
import sys
from typing import cast

from codelens.focus import focus_switch
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import usable_settings
from codelens.focus.focus_turn import take_answer, take_prompt
from codelens.hooks import hook_log, pending_recovery
from codelens.hooks.hook_input import HookInput
from codelens.hooks.session_standing import standing_at
from codelens.hooks.written_prompt import as_written
from codelens.trail import session_marks

_TAIL = 64_000
"""Bytes of a transcript that are read for the last answer."""


def before_prompt(home: str, event: HookInput, place: Checkout) -> str:
    """The block beside this prompt; before it the recovery that a compaction has left."""
    recovery = pending_recovery.take(home, place.repository, event.session)
    if not event.prompt:
        hook_log.note(home, "prompt", "the input has no prompt: a text under `prompt`")
    prompt = as_written(event.prompt)
    if not prompt.strip() or not focus_switch.is_on(home, place.repository):
        return recovery
    settings, damage = usable_settings(home)
    turn = take_prompt(home, place, prompt, settings, session=event.session)
    for note in (*filter(None, (damage,)), *turn.notes):
        _tell(home, "prompt", note)
    return "" if event.is_cursor else "\n".join(filter(None, (recovery, turn.block)))


def after_answer(home: str, event: HookInput, place: Checkout) -> None:
    """Take the model's answer into the guide."""
    try:
        session_marks.mark(home, event.session, standing_at(place))
    except OSError as error:
        # The answer is worth keeping all the same.
        hook_log.note(home, "stop", f"where the session stands is not kept: {error}")
    if not focus_switch.is_on(home, place.repository):
        return
    if not event.answer and not event.transcript:
        hook_log.note(home, "stop", "the input has neither an answer nor the path of a transcript")
    answer = event.answer or _last_answer(event.transcript)
    if answer:
        settings, _ = usable_settings(home)
        for note in take_answer(home, place, answer, settings, session=event.session):
            _tell(home, "stop", note)


def _tell(home: str, event: str, message: str) -> None:
    """Damage is told on stderr too, where a person may see it."""
    hook_log.note(home, event, message)
    if sys.stderr is not None:
        sys.stderr.write(f"codelens: note: {message}\n")


def _last_answer(transcript: str) -> str:
    """The last text that the model wrote, from the end of a transcript of JSON lines."""
    if not transcript or "\0" in transcript or not os.path.isfile(transcript):
        return ""
    with open(transcript, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _TAIL))
        lines = file.read(_TAIL).split(b"\n")
    for line in reversed(lines):
        if b"assistant" not in line:
            continue
        try:
            parsed: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        text = _text_of(parsed)
        if text:
            return text
    return ""


def _text_of(line: object) -> str:
    """The text of an assistant's message, in the shapes of Claude Code, Codex and Copilot."""
    if not isinstance(line, dict):
        return ""
    fields = cast("dict[str, object]", line)
    is_answer = fields.get("type") == "assistant.message"
    for key in ("message", "payload", "data"):
        inner = fields.get(key)
        if isinstance(inner, dict):
            fields = cast("dict[str, object]", inner)
    if not is_answer and fields.get("role") != "assistant":
        return ""
    content = fields.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    texts = [
        text
        for part in parts
        if isinstance(part, dict)
        and isinstance(text := cast("dict[str, object]", part).get("text"), str)
    ]
    return "\n".join(texts)
