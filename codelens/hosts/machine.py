"""The machine that is wired: its system, its home, its environment; and paths written for it.

A path in a descriptor may start with `~` and hold `${NAME:-default}`. A variable that is not set,
or holds no absolute path, gives its default: so `XDG_CONFIG_HOME` is defined, and a host started
elsewhere would take a relative one differently.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

_VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Machine:
    """Where hosts live.

    Attributes:
        system: `linux`, `macos` or `windows`.
        home: the user's home folder.
        environ: the environment variables.
    """

    system: str
    home: PurePath
    environ: Mapping[str, str]

    def expand(self, template: str) -> PurePath:
        """The path that a descriptor's template means here."""
        kind = PureWindowsPath if self.system == "windows" else PurePosixPath

        def value(match: re.Match[str]) -> str:
            variable = self.environ.get(match.group(1), "")
            return variable if variable and kind(variable).is_absolute() else match.group(2)

        text = _VARIABLE.sub(value, template)
        if text == "~" or text.startswith("~/"):
            return self.home / text[2:]
        return kind(text)

    def has_program(self, name: str) -> bool:
        """Whether a command of this name is on the PATH."""
        return shutil.which(name, path=self.environ.get("PATH")) is not None

    def shown(self, path: PurePath) -> str:
        """A path as people read it, the home folder as `~`."""
        try:
            return str("~" / path.relative_to(self.home))
        except ValueError:
            return str(path)


def this_machine() -> Machine:
    """The machine that this runs on."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    return Machine(system, Path.home(), dict(os.environ))
