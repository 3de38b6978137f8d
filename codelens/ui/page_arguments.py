"""What a request of the page says, read from the query of its address."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from codelens.errors import CodelensError

_LONGEST = 8_000
"""Characters of one value: a pasted stack trace is a query, too."""
_MOST = 20
EVERYWHERE = frozenset({"worktree", "ref"})


class BadRequest(CodelensError):
    """A request that no page of ours makes."""


class PageArguments:
    """The values of a request, each named once.

    Args:
        query: what follows `?` in the address.
        known: names that the question takes, beside those that all take.

    Raises:
        BadRequest: a name is not known or stands twice, or a value is too long.
    """

    def __init__(self, query: str, known: Iterable[str]) -> None:
        try:
            pairs = parse_qsl(
                query, keep_blank_values=True, strict_parsing=bool(query), errors="strict",
                max_num_fields=_MOST,
            )  # fmt: skip
        except ValueError as error:
            raise BadRequest("the address of a request cannot be read; reload the page") from error
        allowed = EVERYWHERE.union(known)
        self._values: dict[str, str] = {}
        for name, value in pairs:
            if name not in allowed or name in self._values:
                raise BadRequest(f"unexpected argument {name[:50]!r}; reload the page")
            if len(value) > _LONGEST:
                raise BadRequest(f"{name} is longer than {_LONGEST:,} characters; shorten it")
            self._values[name] = value

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self._values.get(name, default)

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to `most`.

        Raises:
            BadRequest: it is none.
        """
        text = self._values.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise BadRequest(f"{name} must be a whole number from 1 to {most:,}, not {text[:50]!r}")
        return int(text)

    def words(self, name: str) -> list[str]:
        """Values with a line each."""
        return [line for line in self._values.get(name, "").splitlines() if line]
