"""Tokens that stay the same between starts, each in a file that only its owner can read.

`http-token` is what clients of `codelens serve --http` must send; what `codelens install --http`
wrote into agents' settings keeps working. From `page-secret` the addresses of `codelens ui` are
made, so that a link to the page works again after the next start.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from codelens.errors import DiskFull, HomeNotWritable, SettingError
from codelens.home_files import unique_draft
from codelens.paths import NO_ROOM, barred, make_private

HTTP_TOKEN = "http-token"  # noqa: S105
PAGE_SECRET = "page-secret"  # noqa: S105
_AFTERWARDS = {HTTP_TOKEN: ", and `codelens install --http` gives it to your agents"}
"""What else is needed after a token was replaced."""
_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
_MOST_BYTES = 1024
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Token(NamedTuple):
    """A token and its file."""

    text: str
    file: Path
    is_new: bool
    """Whether it was just created, so that no agent has it yet."""


class UnusableToken(SettingError):
    """The token file cannot be used in its current state.

    Args:
        file: the token file.
        why: what is wrong with it.
    """

    def __init__(self, file: Path, why: str) -> None:
        self.file = file
        super().__init__(
            f"the token in {str(file)!r} cannot be used: {why}; delete the file: a new one is "
            f"made at the next start{_AFTERWARDS.get(file.name, '')}"
        )


def bearer_token(home: Path, name: str = HTTP_TOKEN) -> Token:
    """Return a token of a home; create it with mode 0600 if it is missing.

    Args:
        home: the folder of codelens.
        name: `HTTP_TOKEN` or `PAGE_SECRET`.

    Raises:
        UnusableToken: others may read the file, another user owns it, or it holds no token.
        HomeNotWritable: the token cannot be written.
        DiskFull: there is no room for it.
        HomeNotReadable: the user may not read the file.
    """
    file = home / name
    text = _token_in(file)
    if text is not None:
        return Token(text, file, is_new=False)
    make_private(home)
    fresh = secrets.token_urlsafe(_BYTES)
    draft = Path(unique_draft(str(file)))
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(f"{fresh}\n")
        try:
            # Two servers may start at once: the first one's token wins.
            os.link(draft, file)
        except FileExistsError:
            return Token(_token_in(file) or "", file, is_new=False)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(file) from error
        raise barred(home) or HomeNotWritable(file, error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            draft.unlink()
    return Token(fresh, file, is_new=True)


def _token_in(file: Path) -> str | None:
    """Return the token in a file, or None if there is no file."""
    try:
        with os.fdopen(os.open(file, _READ_FLAGS), "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UnusableToken(file, "it is not a regular file")
            _refuse_shared(file, about)
            text = opened.read(_MOST_BYTES).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise barred(file) or UnusableToken(file, error.strerror or str(error)) from error
    if not _TOKEN.fullmatch(text):
        raise UnusableToken(file, "it holds no token")
    return text


def _refuse_shared(file: Path, about: os.stat_result) -> None:
    if not hasattr(os, "geteuid"):
        return
    if about.st_uid != os.geteuid():
        raise UnusableToken(file, f"it belongs to user {about.st_uid}")
    if about.st_mode & 0o077:
        raise UnusableToken(file, f"its mode {stat.S_IMODE(about.st_mode):04o} lets others read it")
