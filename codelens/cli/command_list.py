"""The commands, in the order in which help and completion list them.

The module of each is `codelens/cli/commands/NAME_command.py`: `add` defines its arguments, and
`run` prints and returns the exit code.
"""

from __future__ import annotations

COMMANDS = (
    "search", "explore", "expand", "outline", "map", "related", "references",
    "impact",
    "diff", "history", "conflicts",
    "status", "save", "load", "forget", "session", "recover",
    "index", "pack", "unpack", "prune", "drop", "pin", "unpin",
    "meaning", "usage", "export", "languages", "doctor",
    "install", "uninstall", "completion", "serve", "ui", "focus", "hook",
)  # fmt: skip
