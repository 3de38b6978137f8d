"""Runs `codelens hook EVENT`: reads the host's JSON on stdin, writes text for the model to stdout.

It never fails: the exit code is always 0, and stdout only gets complete answers.
"""

from __future__ import annotations

import json
import os
import sys

from codelens.focus.checkout import Checkout, checkout_at
from codelens.focus.focus_turn import home_folder
from codelens.hooks import hook_input
from codelens.hooks.hook_input import EVENTS, LARGEST, HookInput, parsed, tamed

_USAGE = f"""usage: codelens hook EVENT [--home PATH] < JSON

For coding agents; `codelens install --hooks` sets it up. Events: {", ".join(EVENTS)}.
On any error the exit code is 0 and nothing is printed; the error is written to logs/hooks.log
under CODELENS_HOME.
"""


def run(arguments: list[str]) -> int:
    """Answer one event; always return 0."""
    event = arguments[0] if arguments else ""
    # An agent that names no event must not get the usage text as an answer.
    if event in {"-h", "--help"} or (not event and sys.stdin is not None and sys.stdin.isatty()):
        sys.stdout.write(_USAGE)
        return 0
    home = os.path.expanduser("~/.codelens")
    try:
        # Only the owner may read files of codelens.
        os.umask(os.umask(0o077) & 0o077)
        home = _home(arguments)
        _write(_answer(home, event))
    except BaseException as error:
        hook_input.log_note(home, event[:40], f"{type(error).__name__}: {error}")
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        # A thread may still wait for the engine; the agent must not.
        os._exit(0)
    return 0


def _home(arguments: list[str]) -> str:
    """The folder of `--home PATH`, which install writes if CODELENS_HOME is set, or the default."""
    if arguments[1:2] == ["--home"] and len(arguments) > 2 and arguments[2]:
        return os.path.abspath(arguments[2])
    return home_folder()


def _answer(home: str, event: str) -> str:
    if event not in EVENTS:
        complaint = f"unknown event {event[:40]!r}" if event else "no event was named"
        hook_input.log_note(home, "hook", f"{complaint}; the events are {', '.join(EVENTS)}")
        return ""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)
    hook = parsed(data) if len(data) <= LARGEST else None
    if hook is None:
        hook_input.log_note(home, event, f"the input is not a JSON object ({len(data)} bytes)")
        return ""
    place = checkout_at(hook.folder)
    text = _context(home, event, hook, place)
    if not text:
        return ""
    text = _in_utf_8(tamed(text))
    if hook.is_cursor:
        return json.dumps({"continue": True, "additional_context": text})
    if not hook.host_event:
        return json.dumps({"additionalContext": text})
    output = {"hookEventName": hook.host_event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output})


def _in_utf_8(text: str) -> str:
    """A text with U+FFFD for half surrogate pairs, which occur in names that are not UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _context(home: str, event: str, hook_input: HookInput, place: Checkout) -> str:
    """The text for the model; may be empty."""
    if event == "prompt":
        from codelens.hooks import prompt_hooks

        return prompt_hooks.before_prompt(home, hook_input, place)
    if event == "stop":
        from codelens.hooks import prompt_hooks

        prompt_hooks.after_answer(home, hook_input, place)
        return ""
    if event == "session-start":
        from codelens.hooks import session_start

        return session_start.at_start(home, hook_input, place)
    if event == "before-compact":
        from codelens.hooks import session_start

        session_start.before_compaction(home, hook_input, place)
        return ""
    from codelens.hooks import edit_hooks

    if event == "before-edit":
        return edit_hooks.before_edit(home, hook_input, place)
    edit_hooks.after_tool(home, hook_input, place)
    return ""


def _write(text: str) -> None:
    if text and sys.stdout is not None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
