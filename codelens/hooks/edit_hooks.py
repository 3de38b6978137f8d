"""The hooks around a tool: warn about parallel edits before, record what was touched after."""

from __future__ import annotations

import os
import re
import time

from codelens.focus import focus_settings
from codelens.focus.checkout import Checkout, checkout_at, sibling_roots
from codelens.home_files import read_small
from codelens.hooks import hook_input
from codelens.hooks.hook_input import HookInput, edited_paths, replaced_texts
from codelens.hooks.work_elsewhere import changed_definitions
from codelens.secret_masking import masked
from codelens.trail import trail_log
from codelens.trail.trail_log import TrailEntry

_RECENT_S = 3 * 86_400
_SAME_CALL_S = 15
"""A trail entry of the last seconds with one of the handles was written by the server itself."""
_LARGEST_COMPARED = 4_000_000
_READS = frozenset("cl_expand cl_explore cl_related cl_impact cl_outline cl_history".split())
_EDITS = frozenset(
    "edit write multiedit notebookedit apply_patch write_file replace edit_file create str_replace "
    "str_replace_editor str_replace_based_edit_tool create_file insert_edit_into_file".split()
)
_HANDLE = re.compile(r"[^\s\"'`\\:]+#[\w.$~]+|[\w./-]+\.\w+:\d+(?:-\d+)?")
_DID = {"expand": "expanded", "explore": "explored", "outline": "outlined"}


def before_edit(home: str, event: HookInput, place: Checkout) -> str:
    """A warning if another worktree changed the code that is about to be edited; else empty.

    It compares definitions if the repository is indexed, or else the files that sessions edited.
    """
    if not _is_edit(event.tool):
        return ""
    warnings: list[str] = []
    for path in edited_paths(event):
        name = _relative(path, place.root)
        roots = sibling_roots(place) if name else []
        differing = [root for root in roots if _differs(os.path.join(root, name), path)]
        if differing:
            definitions = _changed_definitions(home, event, place, name)
            by_file = definitions is None
            warnings += _edited_files(home, place, name, differing) if by_file else definitions
    if not warnings:
        return ""
    more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
    return f"codelens: {warnings[0]}{more}: your edit may collide with it."


def _changed_definitions(
    home: str, event: HookInput, place: Checkout, name: str
) -> list[str] | None:
    try:
        return changed_definitions(home, place, name, replaced_texts(event))
    except Exception as error:
        # The edit must continue in any case, and files are compared instead.
        hook_input.log_note(home, "before-edit", f"{type(error).__name__}: {error}")
        return None


def _edited_files(home: str, place: Checkout, name: str, roots: list[str]) -> list[str]:
    """Worktrees in which a session edited the file, from the trail of the last days."""
    recent = trail_log.latest(home, place.repository, since=int(time.time()) - _RECENT_S)
    warnings: list[str] = []
    for root in roots:
        key = trail_log.worktree_key(root)
        edits = [
            entry for entry in recent
            if entry.worktree == key and entry.tool == "edited" and name in entry.handles
        ]  # fmt: skip
        if edits:
            branch, ago = checkout_at(root).label, _ago(time.time() - edits[-1].at)
            warnings.append(
                f"{name} was edited {ago} in the worktree {root} ({branch}) and differs there"
            )
    return warnings


def after_tool(home: str, event: HookInput, place: Checkout) -> None:
    """Add a line to the session trail for an edit, or for a call of codelens about definitions."""
    if event.has_failed or not focus_settings.trail_is_on(home):
        return
    tool, handles = _touched(event, place)
    if not handles:
        return
    now, ms = trail_log.moment()
    worktree = trail_log.worktree_key(place.root)
    # A server that does not know the host's session id uses its own, but topics need the host's.
    sessions = {"", trail_log.session_key(event.session)}
    for trail_entry in trail_log.latest(home, place.repository, since=now - _SAME_CALL_S):
        if (
            trail_entry.worktree == worktree
            and trail_entry.session in sessions
            and trail_entry.tool == tool
            and set(trail_entry.handles) & set(handles)
        ):
            return
    entry = TrailEntry(
        now, event.session, worktree, place.branch, tool, ", ".join(handles[:2]), tuple(handles), ms
    )
    if not trail_log.append(home, place.repository, entry):
        hook_input.log_note(home, "after-tool", "the trail is locked by another process")


def _touched(event: HookInput, place: Checkout) -> tuple[str, list[str]]:
    """What the tool did, and the handles that it touched."""
    if _is_edit(event.tool):
        names = (_relative(path, place.root) for path in edited_paths(event))
        return "edited", [name for name in names if name]
    name = event.tool.rpartition("cl_")[2]
    if f"cl_{name}" not in _READS:
        return "", []
    requested_handles: list[str] = []
    for key in ("handles", "handle", "target", "targets"):
        value = event.arguments.get(key)
        listed: list[object] = value if isinstance(value, list) else [value]  # type: ignore[reportUnknownVariableType]
        requested_handles += [handle for handle in listed if isinstance(handle, str) and handle]
    # The answer to a query in words contains handles, the best first.
    touched = requested_handles or list(dict.fromkeys(_HANDLE.findall(masked(event.response))))
    touched = [handle for handle in touched if f"'{handle}' was not found" not in event.response]
    return _DID.get(name, name), [handle for handle in touched if masked(handle) == handle][:4]


def _is_edit(tool: str) -> bool:
    return tool.rpartition("__")[2].lower() in _EDITS


def _relative(path: str, root: str) -> str:
    """A path as in handles, relative to the worktree; empty if it is outside."""
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    inside = real.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(real, root).replace(os.sep, "/") if inside else ""


def _differs(there: str, here: str) -> bool:
    try:
        if os.path.getsize(there) != os.path.getsize(here):
            return True
        if os.path.getsize(there) > _LARGEST_COMPARED:
            return True
        return read_small(there, _LARGEST_COMPARED) != read_small(here, _LARGEST_COMPARED)
    except OSError:
        return os.path.exists(there) != os.path.exists(here)


def _ago(seconds: float) -> str:
    minutes = max(1, int(seconds // 60))
    if minutes < 120:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2880 else f"{minutes // 1440} days ago"
