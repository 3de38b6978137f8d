"""The hooks before a prompt and after an answer; also stores the recovery after a compaction.

Some hosts announce a compaction but accept no context then, and start no new session afterwards. So
the recovery is written to a file while they compact, and the next prompt hook reads it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from typing import cast

from codelens import home_files
from codelens.focus import focus_settings
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import usable_settings
from codelens.focus.focus_turn import take_answer, take_prompt
from codelens.home_files import open_regular, replace_file, unique_draft
from codelens.hooks import hook_input
from codelens.hooks.hook_input import HookInput, as_written, worktree_state
from codelens.trail import session_marks

_ENDING = ".recovery"
_LARGEST = 40_000
_KEPT_S = 86_400


def put_recovery(home: str, repository: str, session: str, text: str) -> None:
    """Store a session's recovery; delete old ones of sessions that never continued.

    Raises:
        OSError: the file cannot be written.
    """
    path = _path(home, repository, session)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(_ENDING):
            _delete_old(os.path.join(folder, name))
    data = home_files.owner_head(path) + text.encode("utf-8", "replace")
    replace_file(path, data, temporary=unique_draft(path))


def take_recovery(home: str, repository: str, session: str) -> str:
    """Return and delete a session's recovery; empty if it does not exist or is a day old."""
    path = _path(home, repository, session)
    try:
        with open_regular(path) as file:
            is_old = time.time() - os.fstat(file.fileno()).st_mtime > _KEPT_S
            head, _, text = file.read(_LARGEST).partition(b"\n")
        os.unlink(path)
    except OSError:
        return ""
    if is_old or head + b"\n" != home_files.owner_head(path):
        return ""
    return text.decode("utf-8", "replace")


def _delete_old(path: str) -> None:
    try:
        if time.time() - os.stat(path).st_mtime > _KEPT_S:
            os.unlink(path)
    except OSError:
        # Another process deleted it, or it cannot be deleted; it is too old to be used anyway.
        return


def _path(home: str, repository: str, session: str) -> str:
    name = hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return os.path.join(home, "trails", f"{repository}-{name}{_ENDING}")


# Returns the focus block before a prompt; after an answer, updates the guide and the session's
# commit.

_TAIL = 64_000
"""How many bytes at the end of a transcript are searched for the last answer."""


def before_prompt(home: str, event: HookInput, place: Checkout) -> str:
    """The text for this prompt: the recovery after a compaction, if any, and the focus block."""
    recovery = take_recovery(home, place.repository, event.session)
    if not event.prompt:
        hook_input.log_note(home, "prompt", "the input has no prompt: a text under `prompt`")
    prompt = as_written(event.prompt)
    if not prompt.strip() or not focus_settings.is_on(home, place.repository):
        return recovery
    settings, damage = usable_settings(home)
    turn = take_prompt(home, place, prompt, settings, session=event.session)
    for note in (*filter(None, (damage,)), *turn.notes):
        _report(home, "prompt", note)
    return "" if event.is_cursor else "\n".join(filter(None, (recovery, turn.block)))


def after_answer(home: str, event: HookInput, place: Checkout) -> None:
    """Add the model's answer to the guide."""
    try:
        session_marks.mark(home, event.session, worktree_state(place))
    except OSError as error:
        # The answer is stored anyway.
        hook_input.log_note(home, "stop", f"cannot store the session's commit: {error}")
    if not focus_settings.is_on(home, place.repository):
        return
    if not event.answer and not event.transcript:
        hook_input.log_note(
            home, "stop", "the input has neither an answer nor the path of a transcript"
        )
    answer = event.answer or _last_answer(event.transcript)
    if answer:
        settings, _ = usable_settings(home)
        for note in take_answer(home, place, answer, settings, session=event.session):
            _report(home, "stop", note)


def _report(home: str, event: str, message: str) -> None:
    """Log damage, and print it on stderr, where a person may see it."""
    hook_input.log_note(home, event, message)
    if sys.stderr is not None:
        sys.stderr.write(f"codelens: note: {message}\n")


def _last_answer(transcript: str) -> str:
    """The model's last text, from the end of a transcript of JSON lines."""
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
    """The text of an assistant's message, in the forms of Claude Code, Codex and Copilot."""
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
