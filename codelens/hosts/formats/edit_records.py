"""Edits written down in the ledger and read back.

So uninstall takes out what an older version put in.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from codelens.hosts.formats.entry_edits import Block, Edit, Entry, Flags, Items, Whole
from codelens.hosts.formats.hook_edits import Hooks

_KINDS = {kind.__name__: kind for kind in (Entry, Items, Flags, Block, Whole, Hooks)}


def record(edit: Edit) -> dict[str, object]:
    """The edit as JSON can hold it."""
    fields: dict[str, object] = asdict(edit)  # type: ignore[reportArgumentType]
    return {"edit": type(edit).__name__, **fields}


def recalled(fields: dict[str, object]) -> Edit | None:
    """The edit that `record` wrote down; None for what this version does not understand."""
    kind = _KINDS.get(str(fields.get("edit")))
    if kind is None:
        return None
    arguments = {name: value for name, value in fields.items() if name != "edit"}
    for name in ("keys", "items"):
        if name in arguments:
            arguments[name] = tuple(cast("list[str]", arguments[name]))
    if "also" in arguments:
        arguments["also"] = tuple(
            tuple(keys) for keys in cast("list[list[str]]", arguments["also"])
        )
    try:
        return cast("Edit", kind(**arguments))  # type: ignore[reportArgumentType]
    except TypeError:
        return None
