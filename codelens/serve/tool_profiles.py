"""Which tools a server lists: `core`, `all`, or names; each costs an agent tokens at every turn."""

from __future__ import annotations

from codelens.errors import SettingError

CORE = (
    "cl_search", "cl_expand", "cl_outline", "cl_map", "cl_related", "cl_impact", "cl_current",
)  # fmt: skip
"""What is listed where nothing is said; all of it only reads."""
KEEPING = ("cl_save", "cl_load", "cl_forget")
"""Saved contexts."""
UPKEEP = ("cl_index", "cl_prune", "cl_drop")
"""The index itself."""
ALL = (*CORE, *KEEPING, *UPKEEP)


def chosen(wanted: str) -> tuple[str, ...]:
    """The names that `CODELENS_TOOLS` asks for, in the order of `ALL`.

    Args:
        wanted: profiles (`core`, `all`) and names of tools, commas between; empty is `core`.

    Raises:
        SettingError: a word is neither.
    """
    words = [word.strip() for word in wanted.split(",") if word.strip()] or ["core"]
    names: set[str] = set()
    for word in words:
        if word in {"core", "all"}:
            names.update(CORE if word == "core" else ALL)
        elif word in ALL:
            names.add(word)
        else:
            raise SettingError(
                f"CODELENS_TOOLS: there is no tool or profile {word[:50]!r}; "
                f"there are core, all, {', '.join(ALL)}"
            )
    return tuple(name for name in ALL if name in names)
