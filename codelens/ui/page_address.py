"""Where the page is, and which requests are its own.

The token is the first part of each path: no cookie carries it, so no other page can use it, and
with `Referrer-Policy: no-referrer` no link gives it away.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")
_OWN_SITES = frozenset({"same-origin", "none"})
"""Of `Sec-Fetch-Site`: the page itself, or an address that a person opened."""
_OPENED = {"sec-fetch-mode": ["navigate"], "sec-fetch-dest": ["document"]}
"""Whoever follows a link to the page, in a terminal on the web, opens it in a window of its own."""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A port of this machine, and the secret that opens the page there."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def url(self) -> str:
        """What is opened in a browser."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def path_within(self, path: str) -> str | None:
        """What follows the token in a path; None if it does not begin with it."""
        first, slash, rest = path.removeprefix("/").partition("/")
        is_ours = secrets.compare_digest(first.encode("utf-8", "replace"), self.token.encode())
        return rest if is_ours and slash else None

    def is_foreign(self, headers: Mapping[str, Sequence[str]]) -> bool:
        """Whether a request was made for another name, or by another page.

        A page whose name was made to lead here (DNS rebinding) sends its own name as Host.

        Args:
            headers: by lower-case name, each with all its values.
        """
        hosts = {f"{name}:{self.port}" for name in _NAMES}
        host = headers.get("host", ())
        if len(host) != 1 or host[0].lower() not in hosts:
            return True
        origins = {f"http://{name}" for name in hosts}
        if any(origin.lower() not in origins for origin in headers.get("origin", ())):
            return True
        if all(list(headers.get(name, ())) == value for name, value in _OPENED.items()):
            return False
        return any(site not in _OWN_SITES for site in headers.get("sec-fetch-site", ()))
