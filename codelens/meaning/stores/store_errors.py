"""What goes wrong with a store of vectors on another machine.

VectorStoreError
+-- StoreClientMissing   its client is an extra
+-- StoreUnreachable     it is down, hangs, or broke off
+-- StoreRefused         it does not accept the token
+-- StoreFull            it takes no more collections
+-- StoreFailed          anything else that it says
"""

from __future__ import annotations

from codelens.errors import CodelensError
from codelens.meaning.providers.provider_errors import quoted


class VectorStoreError(CodelensError):
    """A store of vectors cannot be used; the vectors on this machine stay."""


class StoreClientMissing(VectorStoreError):
    """The client is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the client of Milvus is not installed; run `pip install 'codelens[milvus]'`"
        )


class StoreUnreachable(VectorStoreError):
    """The store is down, hangs, or broke off."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the store at {url} did not answer: {quoted(why)}; start it, or check its address "
            "and MILVUS_TOKEN: vectors on this machine stay, and the next sync sends what it lacks"
        )


class StoreRefused(VectorStoreError):
    """The store does not accept the token."""

    def __init__(self, url: str, variable: str, why: str) -> None:
        super().__init__(f"the store at {url} refused access: {quoted(why)}; check {variable}")


class StoreFull(VectorStoreError):
    """The store takes no more collections."""

    def __init__(self, url: str, ours: int, why: str) -> None:
        super().__init__(
            f"the store at {url} takes no more collections: {quoted(why)}; it has {ours} of "
            "codelens: remove one with `codelens meaning clear` in its repository, or raise the "
            "store's limit"
        )


class StoreFailed(VectorStoreError):
    """The store says that it cannot do it."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the store at {url} failed: {quoted(why)}; look into its log, then run "
            "`codelens meaning sync`"
        )
