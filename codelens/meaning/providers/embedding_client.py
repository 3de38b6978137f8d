"""What each provider's client is wrapped in: one request, and one tree of errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

from codelens.meaning.providers.provider_errors import (
    AnswerInvalid,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderNotInstalled,
    ProviderRefused,
    RequestRejected,
)

T = TypeVar("T")

Kind = Literal["document", "query"]
"""What a text is: providers make other vectors of a question than of what answers it."""


class Embedded(NamedTuple):
    """What a provider made of texts."""

    vectors: Sequence[Sequence[float]]
    """One a text, in their order."""
    tokens: int
    """As the provider counts them; 0 where it does not say."""


class Connection(NamedTuple):
    """Where requests go, and as whom."""

    provider: str
    model: str
    endpoint: str
    """URL. It is always given to the client: what its own variables say does not count."""
    key: str
    key_variable: str
    """The environment variable that has the key; empty where none is needed."""
    timeout_s: float
    remedy: str = ""
    """What to do where the provider rejects a request as such; empty: enable another model."""


class EmbeddingClient(Protocol):
    """A provider's official client."""

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One request, sent once.

        Raises:
            ProviderError: as far as it is known why.
        """
        ...

    def close(self) -> None:
        """End its connections."""
        ...


def library(provider: str, module: str) -> Any:  # noqa: ANN401 (clients are partly untyped)
    """A provider's client, or what else its extra installs, imported now.

    Raises:
        ProviderNotInstalled: the extra, which has the provider's name, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ProviderNotInstalled(provider, provider) from error


def sent(connection: Connection, request: Callable[[], T]) -> T:
    """The outcome of a request; whatever the client raises is told as a `ProviderError`.

    Raises:
        ProviderError: it failed.
    """
    try:
        return request()
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        why = f"an answer of another form ({type(error).__name__}: {error})"
        raise AnswerInvalid(connection.provider, connection.model, why) from error
    except Exception as error:
        raise _translated(connection, error) from error


def numbers(rows: Iterable[Iterable[float]]) -> list[list[float]]:
    """Vectors as lists of numbers, whatever the client has them in.

    Raises:
        TypeError: it has something else.
    """
    return [[float(number) for number in row] for row in rows]


def _translated(connection: Connection, error: Exception) -> ProviderError:
    """By the status of HTTP, which each client has under a name of its own."""
    provider, why = connection.provider, str(error) or type(error).__name__
    if connection.key:
        why = why.replace(connection.key, "***")
    codes = (getattr(error, name, None) for name in ("status_code", "http_status", "code"))
    status = next((code for code in codes if isinstance(code, int) and code > 0), 0)
    if status in {401, 403}:
        return ProviderRefused(provider, connection.key_variable, why)
    if status == 429:
        return ProviderBusy(provider, why, _retry_after_s(error))
    if 400 <= status < 500 and status != 408:
        return RequestRejected(provider, connection.model, why, connection.remedy)
    return ProviderFailed(provider, connection.endpoint, f"{type(error).__name__}: {why}")


def _retry_after_s(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", error), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    named = cast("Mapping[str, object]", headers)
    text = next((str(named[name]) for name in named if name.lower() == "retry-after"), "")
    try:
        return max(0.0, float(text))
    except ValueError:
        # None, or a date: then the usual pause is made.
        return None
