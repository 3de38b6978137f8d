"""The interface of a provider's client, and the errors of a provider.

ProviderError
+-- ProviderNotInstalled   its client, or a cross-encoder's libraries, are a missing extra
+-- ProviderKeyMissing     the environment has no key
+-- ProviderRefused        the key is wrong, or lacks the permission
+-- RequestRejected        it rejects the model or the request; a retry does not help
+-- ProviderBusy           too many requests; it may say when to retry
+-- ProviderFailed         it is down, hangs, or broke off
+-- AnswerInvalid          it did not return the requested vectors or scores
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

from codelens.errors import CodelensError

_MOST_QUOTED = 300
"""The most characters of a provider's text in a message."""


class ProviderError(CodelensError):
    """An embedding provider returned no vectors."""


class ProviderNotInstalled(ProviderError):
    """The provider's client is not installed."""

    def __init__(self, provider: str, extra: str) -> None:
        super().__init__(
            f"the client of {provider} is not installed; run `pip install 'codelens[{extra}]'`"
        )


class ProviderKeyMissing(ProviderError):
    """The environment has no key for the provider."""

    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(f"{provider} needs a key; set the environment variable {variable}")


class ProviderRefused(ProviderError):
    """The provider does not accept the key."""

    def __init__(self, provider: str, variable: str, why: str) -> None:
        remedy = f"check {variable}" if variable else "check its endpoint"
        super().__init__(f"{provider} refused access: {quoted(why)}; {remedy}")


class RequestRejected(ProviderError):
    """The provider rejects this request in any case."""

    def __init__(self, provider: str, model: str, why: str, remedy: str = "") -> None:
        enable = f"`codelens meaning enable --provider {provider} --model NAME`"
        remedy = remedy or f"check the model's name, or run {enable}"
        super().__init__(
            f"{provider} rejected a request for model {model!r}: {quoted(why)}; {remedy}"
        )


class ProviderBusy(ProviderError):
    """The provider takes no more requests for now.

    Args:
        provider: its name.
        why: its message.
        retry_after_s: when to retry; None if it does not say.
    """

    def __init__(self, provider: str, why: str, retry_after_s: float | None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(
            f"{provider} takes no more requests for now: {quoted(why)}; try again later"
        )


class ProviderFailed(ProviderError):
    """The provider is down, hangs, or broke off its answer."""

    def __init__(self, provider: str, endpoint: str, why: str) -> None:
        super().__init__(f"{provider} at {endpoint} did not answer: {quoted(why)}; try again later")


class AnswerInvalid(ProviderError):
    """The provider did not return the requested vectors or scores."""

    def __init__(self, provider: str, model: str, why: str) -> None:
        super().__init__(
            f"{provider} returned an unusable answer for model {model!r}: {why}; nothing was "
            "stored: check the model and the endpoint"
        )


def quoted(text: str) -> str:
    """A provider's message on one line of readable length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED]} ..."


# The interface of a provider's client: one request, and one tree of errors.

T = TypeVar("T")

Kind = Literal["document", "query"]
"""The kind of a text: providers embed a question differently from a text that answers it."""


class Embedded(NamedTuple):
    """A provider's answer."""

    vectors: Sequence[Sequence[float]]
    """One per text, in order."""
    tokens: int
    """As the provider counts them; 0 if it does not say."""


class Connection(NamedTuple):
    """Where requests go, and with which key."""

    provider: str
    model: str
    endpoint: str
    """URL. It is always passed to the client, so that the client's own variables do not count."""
    key: str
    key_variable: str
    """The environment variable with the key; empty if none is needed."""
    timeout_s: float
    remedy: str = ""
    """What to do if the provider rejects a request; empty: enable another model."""


class EmbeddingClient(Protocol):
    """A provider's official client."""

    def request(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """Send one request, once.

        Raises:
            ProviderError: with the reason, if known.
        """
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


def library(provider: str, module: str) -> Any:  # noqa: ANN401 (clients are partly untyped)
    """Import a provider's client, or another library of its extra.

    Raises:
        ProviderNotInstalled: the extra, which has the provider's name, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ProviderNotInstalled(provider, provider) from error


def sent(connection: Connection, request: Callable[[], T]) -> T:
    """Send a request, and raise all errors of the client as a `ProviderError`.

    Raises:
        ProviderError: it failed.
    """
    try:
        return request()
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        why = f"an answer in an unexpected format ({type(error).__name__}: {error})"
        raise AnswerInvalid(connection.provider, connection.model, why) from error
    except Exception as error:
        raise _translated(connection, error) from error


def numbers(rows: Iterable[Iterable[float]]) -> list[list[float]]:
    """Convert a client's vectors to lists of numbers.

    Raises:
        TypeError: they are something else.
    """
    return [[float(number) for number in row] for row in rows]


def _translated(connection: Connection, error: Exception) -> ProviderError:
    """Classify an error by its HTTP status, for which each client has another name."""
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
        # None, or a date: then the usual pause applies.
        return None
