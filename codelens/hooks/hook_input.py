"""What a host says on stdin, in whichever of their shapes, as one value."""

from __future__ import annotations

import json
import os
from typing import NamedTuple, cast

LARGEST = 16_000_000
"""Bytes of input; a host that sends more is not listened to."""
EVENTS = ("prompt", "session-start", "stop", "before-edit", "after-tool", "before-compact")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_MOST_PATHS = 20
_REPLACED = ("old_string", "oldString", "old_str")


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
    has_failed: bool
    """Whether the tool says that nothing came of the call."""


def parsed(data: bytes) -> HookInput | None:
    """The event; None where the input is no JSON object."""
    try:
        data_read: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data_read, dict):
        return None
    fields = cast("dict[str, object]", data_read)

    def text(*names: str) -> str:
        return next(
            (value for name in names if isinstance(value := fields.get(name), str) and value), ""
        )

    response = fields.get("tool_response", fields.get("toolResult", fields.get("tool_output", "")))
    return HookInput(
        host_event=text("hook_event_name", "hookEventName"),
        is_cursor="conversation_id" in fields,
        session=text("session_id", "sessionId", "conversation_id"),
        folder=_folder(fields, text("cwd")),
        prompt=text("prompt", "user_prompt"),
        source=text("source", "trigger"),
        answer=text("last_assistant_message", "prompt_response", "response", "text"),
        transcript=text("transcript_path", "transcriptPath"),
        # Cursor's own event after an edit names no tool.
        tool=text("tool_name", "toolName") or ("edit_file" if "edits" in fields else ""),
        arguments=_arguments(fields),
        response=response if isinstance(response, str) else json.dumps(response)[:20_000],
        has_failed=_has_failed(response),
    )


def _has_failed(response: object) -> bool:
    """Whether an answer of a tool is an error, in the shapes of hosts and of MCP."""
    if isinstance(response, str):
        if response.lstrip().startswith("{"):
            try:
                return _has_failed(json.loads(response))
            except (ValueError, RecursionError):
                return False
        return response.lstrip()[:7].lower().startswith(("error:", "error "))
    if not isinstance(response, dict):
        return False
    fields = cast("dict[str, object]", response)
    return (
        any(fields.get(name) is True for name in ("isError", "is_error", "failed"))
        or fields.get("success") is False
        or fields.get("resultType") in {"failure", "denied", "rejected"}
        or bool(fields.get("error"))
    )


def edited_paths(event: HookInput) -> list[str]:
    """The absolute paths of the files that a tool edits; empty for a tool that edits none."""
    arguments = event.arguments
    names = ("file_path", "filePath", "notebook_path", "path", "absolute_path")
    touched = [value for name in names if isinstance(value := arguments.get(name), str) and value][
        :1
    ]
    for key in ("command", "input", "patch"):
        patch = arguments.get(key)
        lines = cast("list[object]", patch) if isinstance(patch, list) else [patch]
        for line in lines:
            if isinstance(line, str) and "*** Begin Patch" in line:
                touched += _patched(line)
    if "\0" in "".join(touched):
        return []
    return [os.path.normpath(os.path.join(event.folder, path)) for path in touched[:_MOST_PATHS]]


def replaced_texts(event: HookInput) -> list[str]:
    """The texts that an edit replaces; none where it writes a whole file, or does not say."""
    edits = event.arguments.get("edits")
    listed = cast("list[object]", edits) if isinstance(edits, list) else [event.arguments]
    texts = [
        next((value for name in _REPLACED if isinstance(value := edit.get(name), str)), "")
        for edit in (cast("dict[str, object]", row) for row in listed if isinstance(row, dict))
    ]
    return [text for text in texts if text]


def _patched(patch: str) -> list[str]:
    return [
        line.removeprefix(mark).strip()
        for line in patch.splitlines()
        for mark in _PATCHED
        if line.startswith(mark)
    ]


def _arguments(fields: dict[str, object]) -> dict[str, object]:
    arguments = fields.get("tool_input", fields.get("toolArgs", fields.get("toolInput")))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    if isinstance(arguments, dict):
        return cast("dict[str, object]", arguments)
    return {"file_path": fields["file_path"]} if "file_path" in fields else {}


def _folder(fields: dict[str, object], cwd: str) -> str:
    roots = fields.get("workspace_roots")
    listed = cast("list[object]", roots) if isinstance(roots, list) else []
    first = next((folder for folder in listed if isinstance(folder, str) and folder), "")
    for candidate in (cwd, first, os.environ.get("CLAUDE_PROJECT_DIR", "")):
        if candidate and "\0" not in candidate and os.path.isabs(candidate):
            return candidate
    return os.getcwd()
