"""The ranking by meaning: methods of `Engine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.meaning_answers import (
        Enabled,
        EnabledRepository,
        MeaningStatus,
        MeaningTest,
        PrunedVectors,
        SendingPlan,
        Synced,
    )


def meaning_status(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MeaningStatus:
    """The table of words, the provider if one is enabled, and what of the view has vectors."""
    from codelens.engine.reading.meaning_report import status

    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view, view.reading():
        return status(view)


def meaning_test(engine: EngineCore, query: str) -> MeaningTest:
    """What the table of words makes of a question; no repository is looked at.

    Raises:
        QueryError: the question is empty.
        WordTableDamaged: the table cannot be read.
    """
    from codelens.engine.reading.meaning_report import test

    return test(query)


def meaning_list(engine: EngineCore) -> list[EnabledRepository]:
    """The repositories for which a provider is enabled, by state; none of them is looked at."""
    from codelens.engine.embedding.provider_report import enabled_repositories

    return enabled_repositories(engine.settings)


def meaning_plan(
    engine: EngineCore,
    provider: str,
    *,
    model: str = "",
    endpoint: str = "",
    store: str = "",
    hybrid: bool = False,
    path: str | Path = ".",
    ref: str | None = None,
    progress: Progress = silent,
) -> SendingPlan:
    """What a sync with a provider would send; nothing is sent for it.

    Args:
        provider: `openai`, `voyage`, `gemini` or `ollama`.
        model: of the provider; empty: its default.
        endpoint: URL; empty: the provider's own.
        store: see `meaning_enable`; so is `hybrid`.

    Raises:
        SettingError: there is no such provider, or the endpoint or store is no URL.
    """
    from codelens.engine.embedding.provider_consent import plan

    with engine.pool.view(ViewRequest(path, ref, None, progress)) as view, view.reading():
        return plan(view, provider, model, endpoint, store=store, hybrid=hybrid)


def meaning_enable(
    engine: EngineCore,
    provider: str,
    *,
    model: str = "",
    endpoint: str = "",
    store: str = "",
    hybrid: bool = False,
    path: str | Path = ".",
) -> Enabled:
    """Let texts of a repository be sent to a provider, from all its worktrees, from now on.

    The provider is asked for a vector of a text that is in no repository. Its key comes from the
    environment. What was enabled before counts no more; its vectors stay.

    Args:
        store: URL of a Milvus or Zilliz in which vectors are searched (docs/providers.md); empty:
            the repository's own file.
        hybrid: the store gets the terms of texts, too, and ranks by them in mode `meaning`.

    Raises:
        ProviderError: the provider cannot be used; nothing changed.
        VectorStoreError: the store cannot be used; nothing changed.
        SettingError: there is no such provider, or the endpoint or store is no URL.
    """
    from codelens.engine.embedding.provider_consent import enable

    return enable(
        engine.pool.open_any(path), provider=provider, model=model, endpoint=endpoint,
        store=store, hybrid=hybrid,
    )  # fmt: skip


def meaning_disable(engine: EngineCore, *, path: str | Path = ".") -> bool:
    """Send nothing of a repository any more; vectors stay. Whether a provider was enabled."""
    from codelens.engine.embedding.provider_consent import disable

    return disable(engine.settings, engine.pool.open_any(path).scope.repo_id)


def meaning_sync(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    most_texts: int | None = None,
    progress: Progress = silent,
) -> Synced:
    """Send what has no vector yet to the provider that is enabled.

    Args:
        most_texts: so many texts at most; None: as the setting `most_texts` says.

    Raises:
        ProviderError: none is enabled, or it failed; what was stored before stays.
        VectorStoreError: the store failed; vectors on this machine stay.
        IndexLocked: another process does it.
    """
    from codelens.engine.embedding.vector_sync import sync

    return sync(engine.pool, ViewRequest(path, ref, None, progress), most_texts)


def meaning_prune(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    progress: Progress = silent,
) -> PrunedVectors:
    """Remove the vectors of texts that no view of the index has: no branch, worktree or ref.

    Those of questions stay, and what a store on another machine has, which others may use. A branch
    whose view was pruned from the index loses its vectors.

    Raises:
        IndexLocked: another process is adding some.
    """
    from codelens.engine.embedding.vector_pruning import prune

    return prune(engine.pool, ViewRequest(path, None, None, progress))


def meaning_clear(engine: EngineCore, *, path: str | Path = ".") -> int:
    """Remove all vectors by providers of a repository; the bytes that this freed.

    Raises:
        IndexLocked: another process is adding some.
    """
    from codelens.engine.embedding.provider_consent import clear

    return clear(engine.settings, engine.pool.open_any(path).scope.repo_id)
