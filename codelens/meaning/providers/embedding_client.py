"""What goes wrong with an embedding provider.

ProviderError
+-- ProviderNotInstalled   its client is an extra; so are the libraries of a cross-encoder
+-- ProviderKeyMissing     the environment has no key
+-- ProviderRefused        the key is wrong, or may not do that
+-- RequestRejected        the model or the request does not please it; asking again is no use
+-- ProviderBusy           too many requests; it may say when to ask again
+-- ProviderFailed         it is down, hangs, or broke off
+-- AnswerInvalid          what it sent are no vectors, or scores, as they were asked for
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

from codelens.errors import CodelensError

_MOST_QUOTED = 300
"""Characters of what a provider says that a message has."""


class ProviderError(CodelensError):
    """An embedding provider gives no vectors."""


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
    """The provider rejects the request as such."""

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
        why: what it says.
        retry_after_s: when it may be asked again; None if it does not say.
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
    """The provider sent something else than the vectors or scores that were asked for."""

    def __init__(self, provider: str, model: str, why: str) -> None:
        super().__init__(
            f"{provider} sent nothing usable of model {model!r}: {why}; nothing of it was "
            "stored: check the model and the endpoint"
        )


def quoted(text: str) -> str:
    """What a provider said, in one line of readable length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED]} ..."


# What each provider's client is wrapped in: one request, and one tree of errors.

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
