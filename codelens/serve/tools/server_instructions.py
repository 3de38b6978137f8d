"""What a model is told of the server as a whole, beside the descriptions of its tools."""

from __future__ import annotations

from collections.abc import Iterable

from codelens.serve.tools.tool_table import ROWS

_OPENING = """codelens searches the code of the current worktree as it is now; no set-up and no \
re-indexing is needed. Use it before grep and before reading whole files; for an exact string, \
grep is fine."""
_CLOSING = """Every answer starts with a receipt: fresh, or partial with pending files (ask again \
in a moment). For another worktree pass path, an absolute path inside it; for code that is not \
checked out pass ref."""


def instructions(names: Iterable[str]) -> str:
    """What a model is told of a server that lists the tools of these names."""
    rows = (ROWS[name] for name in names)
    purposes = "; ".join(f"{row.name} {row.purpose}" for row in rows if row.purpose)
    return "\n".join(
        part for part in (_OPENING, f"{purposes}." if purposes else "", _CLOSING) if part
    )
