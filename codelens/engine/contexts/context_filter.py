"""Which saved contexts are about a piece of code, and which have handles in a certain state."""

from __future__ import annotations

from codelens.answers.context_answers import SavedContext, SavedHandle
from codelens.errors import SettingError
from codelens.handles.handle_grammar import Handle, parse_handle
from codelens.memory.staleness import CHANGED, CURRENT, GONE, MOVED, UNKNOWN

STALE, VALID = "stale", "valid"
_STATES = {
    CURRENT: {CURRENT}, MOVED: {MOVED}, CHANGED: {CHANGED}, GONE: {GONE}, UNKNOWN: {UNKNOWN},
    STALE: {CHANGED, GONE},
}  # fmt: skip
STATUSES = (*_STATES, VALID)
"""What contexts can be filtered by: a state of any handle, `stale`, or `valid`: none is stale."""


def status_of(status: str) -> str:
    """A state to filter by; empty for any.

    Raises:
        SettingError: there is no such state.
    """
    state = status.strip().lower()
    if state and state not in STATUSES:
        raise SettingError(
            f"unknown status {status[:50]!r}; the statuses are {', '.join(STATUSES)}"
        )
    return state


def handle_of(handle: str, root: str) -> Handle | None:
    """A handle, file, folder or name to filter by; None for any.

    Raises:
        BadHandle: it is none.
        OutsideWorktree: it leads out of the worktree.
    """
    return parse_handle(handle.strip().rstrip("/"), root) if handle.strip() else None


def matches(context: SavedContext, handle: Handle | None, status: str) -> bool:
    """Whether a context has an item on the code of `handle`, and its items are in a state."""
    items = [item for item in context.items if handle is None or _is_on(item, handle)]
    if handle is not None and not items:
        return False
    if not status:
        return True
    states = {item.status for item in items}
    return not states & _STATES[STALE] if status == VALID else bool(states & _STATES[status])


def _is_on(item: SavedHandle, handle: Handle) -> bool:
    """Whether an item, as it was saved or as it is now, lies in, holds or is what is meant."""
    return any(_touch(parse_handle(text), handle) for text in {item.handle, item.was})


def _touch(saved: Handle, handle: Handle) -> bool:
    # A path alone may be read as a name, too; what is saved is the file.
    symbol = "" if saved.bare else saved.symbol
    if handle.path is None:
        return _is_part(symbol, handle.symbol)
    if saved.path != handle.path:
        in_folder = saved.path is not None and saved.path.startswith(handle.path + b"/")
        return in_folder or (handle.bare and _is_part(symbol, handle.symbol))
    if handle.lines is not None and saved.lines is not None:
        first, last = saved.lines.start_line, saved.lines.end_line
        return first <= handle.lines.end_line and handle.lines.start_line <= last
    # A whole file holds all of its definitions; how far those reach is not in a handle.
    if handle.bare or not handle.symbol or not symbol:
        return True
    inside = symbol.startswith(f"{handle.symbol}.")
    return inside or _is_part(symbol, handle.symbol)


def _is_part(symbol: str, name: str) -> bool:
    return bool(name) and (symbol == name or symbol.endswith(f".{name}"))
