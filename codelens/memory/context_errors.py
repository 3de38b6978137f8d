"""Errors about saved contexts.

CodelensError
+-- ContextError       a saved context
+-- ContextExists  the name is taken
+-- NoSuchContext  nothing of that name; carries the nearest
+-- NotSaved       handles that cannot be followed; carries why
"""

from __future__ import annotations

from collections.abc import Sequence

from codelens.errors import CodelensError


class ContextError(CodelensError):
    """A saved context cannot be kept or found."""


class ContextExists(ContextError):
    """Something else was saved under the name."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        super().__init__(
            f"{name!r} is taken ({about}); nothing was saved",
            typed="choose another name, or replace it with --replace",
            called="choose another name, or replace it with replace: true",
        )


class NoSuchContext(ContextError):
    """Nothing was saved under the name."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        self.name = name
        self.near = tuple(near)
        hint = f"did you mean {', '.join(near)}?" if near else ""
        super().__init__(
            f"nothing is saved as {name[:200]!r}",
            typed=hint or "`codelens load` lists all saved contexts",
            called=hint or "cl_load without a query lists all saved notes",
        )


class NotSaved(ContextError):
    """Handles that name nothing in this view.

    Args:
        reasons: one for each of them.
        of: how many handles were given.
        partial: some files were not looked at yet, and may hold what is missing.
    """

    def __init__(self, reasons: Sequence[str], of: int, *, partial: bool = False) -> None:
        self.reasons = tuple(reasons)
        count = f"{len(reasons)} of {of} handles" if of > 1 else "its handle"
        shown_reasons = list(reasons)
        if partial:
            shown_reasons.append("not all files were checked yet: ask again in a moment")
        super().__init__(
            f"nothing was saved: {count} cannot be followed here: {'; '.join(shown_reasons)}"
        )
