"""Which tools a server lists: profiles or names; each tool costs an agent tokens at every turn."""

from __future__ import annotations

from codelens.errors import SettingError
from codelens.serve.tools.tool_table import ROWS

ALL = tuple(ROWS)
CORE = tuple(row.name for row in ROWS.values() if row.profile == "core")
"""What is listed where nothing is said; all of it only reads."""
_PROFILES = {
    profile: tuple(row.name for row in ROWS.values() if row.profile == profile)
    for profile in dict.fromkeys(row.profile for row in ROWS.values())
} | {"all": ALL}


def chosen(setting: str) -> tuple[str, ...]:
    """The names that `CODELENS_TOOLS` asks for, in the order of `ALL`.

    Args:
        setting: profiles (`all` or the `profile` of rows) and names of tools, commas between;
            empty is `core`.

    Raises:
        SettingError: a word is neither.
    """
    words = [word.strip() for word in setting.split(",") if word.strip()] or ["core"]
    names: set[str] = set()
    for word in words:
        if word in _PROFILES:
            names.update(_PROFILES[word])
        elif word in ALL:
            names.add(word)
        else:
            raise SettingError(
                f"CODELENS_TOOLS: unknown tool or profile {word[:50]!r}; "
                f"the choices are {', '.join(_PROFILES)}, {', '.join(ALL)}"
            )
    return tuple(name for name in ALL if name in names)
