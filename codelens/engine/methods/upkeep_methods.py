"""The indexes themselves, and how much was used: methods of `Engine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelens.answers.context_answers import UsageAnswer
    from codelens.answers.upkeep_answers import (
        Dropped,
        Enabled,
        EnabledRepository,
        MeaningStatus,
        MeaningTest,
        PackAnswer,
        Pinned,
        PruneAnswer,
        PrunedVectors,
        RepositoryLife,
        SendingPlan,
        Synced,
        UnpackAnswer,
    )


def usage(engine: EngineCore, *, days: int = 30) -> UsageAnswer:
    """How much codelens was used on this machine, in all repositories.

    Args:
        days: so many, today among them; 1 to 400.
    """
    return engine.usage_reports.report(days)


def prune(
    engine: EngineCore,
    *,
    dry_run: bool = False,
    days: float | None = None,
    only: str | Path | None = None,
) -> PruneAnswer:
    """Remove views that nobody has asked for long, and what no view needs, of all indexes.

    Never: a pinned view, the active one of a worktree that is there, one used lately, one whose
    folder cannot be reached, any while its index is being written.

    Args:
        dry_run: show what would be removed; remove nothing.
        days: how long a view is kept unused, for all kinds, in place of the settings.
        only: prune the repository that this path lies in, and no other.
    """
    return engine.upkeep.prune(dry_run=dry_run, days=days, only=only)


def overview(engine: EngineCore, *, only: str | Path | None = None) -> list[RepositoryLife]:
    """Every index with its views: size, age, last use, and why each would go or not."""
    return engine.upkeep.overview(only)


def drop(
    engine: EngineCore, target: str, *, path: str | Path = ".", force: bool = False
) -> Dropped:
    """Remove one view of the repository that `path` lies in.

    Args:
        target: an index id, a branch, a ref, or a worktree's folder.
        force: also what is active or pinned.

    Raises:
        SettingError: no view is called so, several are, or it is not removed without force.
    """
    return engine.upkeep.drop(target, path, force=force)


def drop_repository(
    engine: EngineCore, *, path: str | Path = ".", repo_id: str = "", force: bool = False
) -> Dropped:
    """Remove all views of a repository and, if no other process has it open, its index.

    Saved contexts stay.

    Args:
        repo_id: names it instead of `path`, when its folders are gone.
        force: also if views are active or pinned.

    Raises:
        SettingError: there is no such index, or it is not removed without force.
    """
    return engine.upkeep.drop_repository(path, repo_id, force=force)


def pin(
    engine: EngineCore,
    target: str = "",
    *,
    path: str | Path = ".",
    pinned: bool = True,
    progress: Progress = silent,
) -> Pinned:
    """Keep a view whatever its age, or with `pinned` False no longer.

    Args:
        target: as in `drop`; empty: the view one stands in. To pin a ref that has no view
            makes it.
        pinned: whether to pin or to unpin.

    Raises:
        SettingError: no view is called so, or several are.
    """
    view = ViewRequest(path, target or None, None, progress)
    return engine.upkeep.pin(view, target, pinned=pinned)


def pack(
    engine: EngineCore,
    file: str | Path,
    *,
    refs: Sequence[str] = (),
    since: str = "",
    path: str | Path = ".",
    progress: Progress = silent,
) -> PackAnswer:
    """Write the facts of commits into a file, for other clones; the same facts, the same bytes.

    Only what git tracks is in it: no path, no uncommitted text, no saved note.

    Args:
        file: the pack; replaced if it is there.
        refs: branches, tags or commits; none: HEAD.
        since: leave out the facts of the texts of this ref, too.

    Raises:
        NoSuchRef: one of the refs names no commit.
        ReadError: a commit is not whole in this clone.
        SettingError: the file cannot be written.
    """
    return engine.packs.pack(path, Path(file), refs, since, progress)


def unpack(
    engine: EngineCore,
    file: str | Path,
    *,
    path: str | Path = ".",
    progress: Progress = silent,
) -> UnpackAnswer:
    """Merge a pack into the index of the repository that `path` lies in; all of it, or nothing.

    Files are read and hashed as always: the pack spares their extraction alone.

    Args:
        file: of `pack`.

    Raises:
        UnusablePack: it is damaged, malformed, of another version, or says what is not so.
        SettingError: the file cannot be read.
    """
    return engine.packs.unpack(path, Path(file), progress)


# The ranking by meaning: methods of `Engine`.


def meaning_status(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MeaningStatus:
    """The table of words, the provider if one is enabled, and what of the view has vectors."""
    from codelens.engine.reading.code_reader import meaning_status

    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view, view.reading():
        return meaning_status(view)


def meaning_test(engine: EngineCore, query: str) -> MeaningTest:
    """What the table of words makes of a question; no repository is looked at.

    Raises:
        QueryError: the question is empty.
        WordTableDamaged: the table cannot be read.
    """
    from codelens.engine.reading.code_reader import test

    return test(query)


def meaning_list(engine: EngineCore) -> list[EnabledRepository]:
    """The repositories for which a provider is enabled, by state; none of them is looked at."""
    from codelens.engine.embedding.provider_consent import enabled_repositories

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
    from codelens.engine.embedding.vector_sync import prune

    return prune(engine.pool, ViewRequest(path, None, None, progress))


def meaning_clear(engine: EngineCore, *, path: str | Path = ".") -> int:
    """Remove all vectors by providers of a repository; the bytes that this freed.

    Raises:
        IndexLocked: another process is adding some.
    """
    from codelens.engine.embedding.provider_consent import clear

    return clear(engine.settings, engine.pool.open_any(path).scope.repo_id)
