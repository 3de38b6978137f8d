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
