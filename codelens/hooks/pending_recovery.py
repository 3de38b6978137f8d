"""What a session is told after a compaction, kept for its next prompt.

Some hosts say that they will compact, and take no context then, nor start a session afterwards. The
recovery is made while they compact; the prompt hook only reads a file.
"""

from __future__ import annotations

import hashlib
import os
import time

from codelens import file_owner
from codelens.small_files import open_regular, replace_file

_ENDING = ".recovery"
_LARGEST = 40_000
_KEPT_S = 86_400


def put(home: str, repository: str, session: str, text: str) -> None:
    """Keep a text, in place of an earlier one; those of sessions that never went on are deleted.

    Raises:
        OSError: it cannot be written.
    """
    path = _path(home, repository, session)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(_ENDING):
            _delete_old(os.path.join(folder, name))
    data = file_owner.head(path) + text.encode("utf-8", "replace")
    replace_file(path, data, beside=f"{path}.{os.getpid()}")


def take(home: str, repository: str, session: str) -> str:
    """The text that was kept for a session, once; empty where there is none, or it is a day old."""
    path = _path(home, repository, session)
    try:
        with open_regular(path) as file:
            is_old = time.time() - os.fstat(file.fileno()).st_mtime > _KEPT_S
            head, _, text = file.read(_LARGEST).partition(b"\n")
        os.unlink(path)
    except OSError:
        return ""
    if is_old or head + b"\n" != file_owner.head(path):
        return ""
    return text.decode("utf-8", "replace")


def _delete_old(path: str) -> None:
    try:
        if time.time() - os.stat(path).st_mtime > _KEPT_S:
            os.unlink(path)
    except OSError:
        # Another process was first, or nothing can be deleted here; it is too old to be given.
        return


def _path(home: str, repository: str, session: str) -> str:
    name = hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return os.path.join(home, "trails", f"{repository}-{name}{_ENDING}")
