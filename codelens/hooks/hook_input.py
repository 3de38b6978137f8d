"""Parses the hosts' events and logs errors of hooks, in `logs/hooks.log` under the home."""

from __future__ import annotations

import json
import os
import re
import time
from typing import NamedTuple, cast

from codelens.focus.checkout import Checkout, head_commit
from codelens.focus.context_block import BEGIN, END
from codelens.home_files import NO_LINK
from codelens.secret_masking import masked
from codelens.trail import trail_log
from codelens.trail.session_marks import WorktreeState

_LARGEST = 256_000
_LONGEST = 500


def log_note(home: str, event: str, message: str) -> None:
    """Add a line to the log; ignore errors, because the agent must continue."""
    line = masked(" ".join(message.split()))[:_LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        path = log_path(home)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _LARGEST:
            os.replace(path, f"{path}.1")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINK
        descriptor = os.open(path, flags, 0o600)
        try:
            text = f"{stamp} {event}: {line}\n"
            os.write(descriptor, text.encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
    except OSError:
        return


def log_path(home: str) -> str:
    """The path of the log."""
    return os.path.join(home, "logs", "hooks.log")


# The commit and branch of a worktree, for marks of sessions; read without pygit2.


def worktree_state(place: Checkout) -> WorktreeState:
    """The commit and branch of a worktree."""
    worktree = trail_log.worktree_key(place.root)
    return WorktreeState(place.repository, worktree, head_commit(place), place.branch)


# Removes text of hosts and hooks from a prompt, so that only the user's words remain.
#
# Conversely, text that we give to a host must not contain the tags that hosts and hooks use. All
# functions take linear time for any text.

_TAGS = r"(?:<|&lt;)(/?)(hook_context|system-reminder)(?:>|&gt;)"
"""The tags that hosts put around text of hooks; Gemini CLI escapes them when it passes it on."""


def as_written(prompt: str) -> str:
    """A prompt without our block and without text that hosts marked as output of hooks.

    Gemini CLI adds the output of session-start hooks to the first prompt. A block or tag that never
    ends counts as the user's text.
    """
    if BEGIN in prompt:
        prompt = _without(prompt, _blocks(prompt))
    if "hook_context" in prompt or "system-reminder" in prompt:
        prompt = _without(prompt, _tagged(prompt))
    return prompt


def tamed(text: str) -> str:
    """A text with the tags of hosts disabled; the rest stays."""
    if "hook_context" not in text and "system-reminder" not in text:
        return text
    return re.sub(_TAGS, r"(\1\2)", text)


def _blocks(prompt: str) -> list[tuple[int, int]]:
    """The spans of our blocks: from a head with a number of prompts to the end line."""
    spans: list[tuple[int, int]] = []
    begin = prompt.find(BEGIN)
    while begin >= 0:
        after = begin + len(BEGIN)
        if prompt[after : after + 1].isdigit():
            end = prompt.find(END, after)
            if end < 0:
                break
            after = end + len(END)
            spans.append((begin, after))
        begin = prompt.find(BEGIN, after)
    return spans


def _tagged(prompt: str) -> list[tuple[int, int]]:
    """The spans from each opening tag to the next closing tag of the same name."""
    tags = [
        (match.start(), match.end(), match[2], bool(match[1]))
        for match in re.finditer(_TAGS, prompt)
    ]
    closing = {name: [end for _, end, tag, closes in tags if closes and tag == name]
               for name in {tag for _, _, tag, _ in tags}}  # fmt: skip
    for ends in closing.values():
        ends.reverse()
    spans: list[tuple[int, int]] = []
    taken = 0
    for start, end, name, closes in tags:
        if closes or start < taken:
            continue
        while closing[name] and closing[name][-1] <= end:
            closing[name].pop()
        if closing[name]:
            taken = closing[name][-1]
            spans.append((start, taken))
    return spans


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.append(text[at:start])
        at = end
    return " ".join([*pieces, text[at:]])


# Parses the event on stdin, in the format of any host.

LARGEST = 16_000_000
"""Maximum size of the input in bytes; larger input is ignored."""
EVENTS = ("prompt", "session-start", "stop", "before-edit", "after-tool", "before-compact")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_MOST_PATHS = 20
_REPLACED = ("old_string", "oldString", "old_str")


class HookInput(NamedTuple):
    """An event of a host."""

    host_event: str
    """The host's id of the session; empty if it sends none."""
    is_cursor: bool
    session: str
    folder: str
    """The agent's working directory."""
    prompt: str
    source: str
    """For a session's start: `startup`, `resume`, `clear` or `compact`."""
    answer: str
    """The model's last message."""
    transcript: str
    """The file with the conversation, or an empty string."""
    tool: str
    arguments: dict[str, object]
    response: str
    has_failed: bool
    """Whether the tool reports that the call failed."""


def parsed(data: bytes) -> HookInput | None:
    """The event; None if the input is not a JSON object."""
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
        # Cursor's event after an edit names no tool.
        tool=text("tool_name", "toolName") or ("edit_file" if "edits" in fields else ""),
        arguments=_arguments(fields),
        response=response if isinstance(response, str) else json.dumps(response)[:20_000],
        has_failed=_has_failed(response),
    )


def _has_failed(response: object) -> bool:
    """Whether a tool's answer is an error, in the forms of hosts and of MCP."""
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
    """The absolute paths of the files that a tool edits; empty if it edits none."""
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
    """The texts that an edit replaces; empty if it writes a whole file, or does not say."""
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
