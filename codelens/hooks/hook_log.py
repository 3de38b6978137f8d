"""The log of hooks: one line for what went wrong, in `logs/hooks.log` under the home."""

from __future__ import annotations

import os
import time

from codelens.secret_masking import masked
from codelens.small_files import NO_WAIT

_LARGEST = 256_000
_LONGEST = 500


def note(home: str, event: str, message: str) -> None:
    """Add a line; where that fails too, nothing can be done, and the agent must go on."""
    line = masked(" ".join(message.split()))[:_LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        path = log_path(home)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _LARGEST:
            os.replace(path, f"{path}.1")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_WAIT
        descriptor = os.open(path, flags, 0o600)
        try:
            text = f"{stamp} {event}: {line}\n"
            os.write(descriptor, text.encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
    except OSError:
        return


def log_path(home: str) -> str:
    """Where the log lies."""
    return os.path.join(home, "logs", "hooks.log")
