"""Handles as they are typed in a shell: `./x` is relative to where one stands."""

from __future__ import annotations

import os


def from_here(target: str, path: str) -> str:
    """A handle that starts with `./` or `../`, with its path made absolute; others as they are.

    Args:
        target: a handle, a file or a folder.
        path: where one stands, `-C`.
    """
    if target in {".", ".."} or target.startswith(("./", "../", f".{os.sep}", f"..{os.sep}")):
        from codelens.paths import printed

        # Escaped as in a handle, and `#` and `:` left to be what follows the path.
        here = os.path.realpath(path)
        folder = here if os.path.isdir(here) else os.path.dirname(here)
        return f"{printed(os.fsencode(os.path.join(folder, '')))}{target}"
    return target
