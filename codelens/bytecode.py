"""Python's copies of compiled modules: one that is cut short stops each later process.

CPython takes a short write of a `.pyc`, by a full disk or a limit on the size of files, for a
whole one, and never looks at that file again until the source changes.
"""

from __future__ import annotations

from types import TracebackType

_LOADER = "<frozen importlib._bootstrap_external>"
_COMPILED = "bytecode_path"


def damaged_copy(error: BaseException) -> str:
    """What to do where a module's compiled copy is damaged; empty for any other error."""
    if not isinstance(error, EOFError | ValueError | TypeError | ImportError):
        return ""
    last: TracebackType | None = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code.co_filename != _LOADER:
        return ""
    path = last.tb_frame.f_locals.get(_COMPILED)
    if not path:
        return ""
    return (
        f"Python's compiled copy of a module is damaged, as a full disk leaves it: {str(path)!r}; "
        "remove that file and try again"
    )
