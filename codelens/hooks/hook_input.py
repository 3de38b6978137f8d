"""What a host says on stdin, in whichever of their shapes, as one value."""

from __future__ import annotations

import json
import os
from typing import NamedTuple, cast

LARGEST = 16_000_000
"""Bytes of input; a host that sends more is not listened to."""
EVENTS = ("prompt", "session-start", "stop", "before-edit", "after-tool")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_MOST_PATHS = 20


class HookInput(NamedTuple):
    """One event."""

    host_event: str
    """The host's own name for it; empty where it says none."""
    is_cursor: bool
    session: str
    folder: str
    """Where the agent stands."""
    prompt: str
    source: str
    """Of a session's start: `startup`, `resume`, `clear`, `compact`."""
    answer: str
    """The model's last message."""
    transcript: str
    """A file with the conversation; empty where there is none."""
    tool: str
    arguments: dict[str, object]
    response: str


def parsed(data: bytes) -> HookInput | None:
    """The event; None where the input is no JSON object."""
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    said = cast("dict[str, object]", found)

    def text(*names: str) -> str:
        return next((one for name in names if isinstance(one := said.get(name), str) and one), "")

    response = said.get("tool_response", said.get("toolResult", said.get("tool_output", "")))
    return HookInput(
        host_event=text("hook_event_name", "hookEventName"),
        is_cursor="conversation_id" in said,
        session=text("session_id", "sessionId", "conversation_id"),
        folder=_folder(said, text("cwd")),
        prompt=text("prompt", "user_prompt"),
        source=text("source", "trigger"),
        answer=text("last_assistant_message", "prompt_response", "response", "text"),
        transcript=text("transcript_path", "transcriptPath"),
        # Cursor's own event after an edit names no tool.
        tool=text("tool_name", "toolName") or ("edit_file" if "edits" in said else ""),
        arguments=_arguments(said),
        response=response if isinstance(response, str) else json.dumps(response)[:20_000],
    )


def edited_paths(event: HookInput) -> list[str]:
    """The absolute paths of the files that a tool edits; empty for a tool that edits none."""
    arguments = event.arguments
    names = ("file_path", "filePath", "notebook_path", "path", "absolute_path")
    found = [one for name in names if isinstance(one := arguments.get(name), str) and one][:1]
    for key in ("command", "input", "patch"):
        patch = arguments.get(key)
        lines = cast("list[object]", patch) if isinstance(patch, list) else [patch]
        for one in lines:
            if isinstance(one, str) and "*** Begin Patch" in one:
                found += _patched(one)
    if "\0" in "".join(found):
        return []
    return [os.path.normpath(os.path.join(event.folder, one)) for one in found[:_MOST_PATHS]]


def _patched(patch: str) -> list[str]:
    return [
        line.removeprefix(mark).strip()
        for line in patch.splitlines()
        for mark in _PATCHED
        if line.startswith(mark)
    ]


def _arguments(said: dict[str, object]) -> dict[str, object]:
    found = said.get("tool_input", said.get("toolArgs", said.get("toolInput")))
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    if isinstance(found, dict):
        return cast("dict[str, object]", found)
    return {"file_path": said["file_path"]} if "file_path" in said else {}


def _folder(said: dict[str, object], cwd: str) -> str:
    roots = said.get("workspace_roots")
    listed = cast("list[object]", roots) if isinstance(roots, list) else []
    first = next((one for one in listed if isinstance(one, str) and one), "")
    for one in (cwd, first, os.environ.get("CLAUDE_PROJECT_DIR", "")):
        if one and "\0" not in one and os.path.isabs(one):
            return one
    return os.getcwd()
