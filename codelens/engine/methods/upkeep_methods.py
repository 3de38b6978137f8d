"""The methods of `Engine` for index upkeep, usage, fact packs and the ranking by meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine_core import EngineCore
from codelens.engine.index_pool import check_limit
from codelens.engine.upkeep import usage_counter, view_survey
from codelens.index.ingestion import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelens.answers.context_answers import UsageAnswer
    from codelens.answers.upkeep_answers import (
        CheckedEdges,
        Dropped,
        Enabled,
        EnabledRepository,
        ExportedIndex,
        ImportedIndex,
        MeaningStatus,
        MeaningTest,
        ModelFiles,
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
        days: number of days, including today; 1 to 400.
    """
    return usage_counter.report(engine.settings, days, engine.now_s())


def prune(
    engine: EngineCore,
    *,
    dry_run: bool = False,
    days: float | None = None,
    only: str | Path | None = None,
) -> PruneAnswer:
    """Remove views that were unused for long, and data that no view needs, from all indexes.

    Keeps every view that is pinned, active in an existing worktree, recently used, in an
    unreachable folder, or in an index that is being written.

    Args:
        dry_run: report what would be removed; remove nothing.
        days: how long an unused view stays, for all kinds; overrides the settings.
        only: prune only the repository that contains this path.
    """
    from codelens.engine.upkeep import view_removal

    return view_removal.prune(engine.pool, dry_run=dry_run, days=days, only=only)


def overview(engine: EngineCore, *, only: str | Path | None = None) -> list[RepositoryLife]:
    """Every index with its views: size, age, last use, and why each would be removed or not."""
    from codelens.engine.upkeep import view_removal

    file = view_removal.index_of(engine.pool, only) if only is not None else None
    return view_removal.overview(
        engine.settings.home, view_survey.limits_of(engine.settings), only=file
    )


def drop(
    engine: EngineCore, target: str, *, path: str | Path = ".", force: bool = False
) -> Dropped:
    """Remove one view of the repository that contains `path`.

    Args:
        target: an index id, a branch, a ref, or a worktree's folder.
        force: also if the view is active or pinned.

    Raises:
        SettingError: no view or several views match, or removal requires `force`.
    """
    from codelens.engine.upkeep import view_removal

    return view_removal.drop(engine.pool, target, path, force=force)


def drop_repository(
    engine: EngineCore, *, path: str | Path = ".", repo_id: str = "", force: bool = False
) -> Dropped:
    """Remove all views of a repository and, if no other process has it open, its index.

    Saved contexts remain.

    Args:
        repo_id: identifies the repository instead of `path`, when its folders are gone.
        force: also if views are active or pinned.

    Raises:
        SettingError: the index does not exist, or removal requires `force`.
    """
    from codelens.engine.upkeep import view_removal

    return view_removal.drop_repository(engine.pool, path, repo_id, force=force)


def pin(
    engine: EngineCore,
    target: str = "",
    *,
    path: str | Path = ".",
    pinned: bool = True,
    progress: Progress = silent,
) -> Pinned:
    """Keep a view regardless of its age; with `pinned` False, undo that.

    Args:
        target: as in `drop`; empty: the current view. Pinning a ref without a view indexes it.
        pinned: whether to pin or to unpin.

    Raises:
        SettingError: no view or several views match.
    """
    from codelens.engine.upkeep import view_removal

    view = ViewRequest(path, target or None, None, progress)
    return view_removal.pin(engine.pool, view, target, pinned=pinned)


def pack(
    engine: EngineCore,
    file: str | Path,
    *,
    refs: Sequence[str] = (),
    since: str = "",
    path: str | Path = ".",
    progress: Progress = silent,
) -> PackAnswer:
    """Write the facts of commits to a file, for other clones; output is deterministic.

    It contains only what git tracks: no absolute path, no uncommitted text, no saved note.

    Args:
        file: the pack; overwritten if it exists.
        refs: branches, tags or commits; empty: HEAD.
        since: leave out the facts of texts that this ref has.

    Raises:
        NoSuchRef: one of the refs does not name a commit.
        ReadError: this clone lacks objects of a commit.
        SettingError: the file cannot be written.
    """
    from codelens.engine.upkeep import fact_packs

    return fact_packs.pack(engine.pool, path, Path(file), refs=refs, since=since, progress=progress)


def unpack(
    engine: EngineCore,
    file: str | Path,
    *,
    path: str | Path = ".",
    progress: Progress = silent,
) -> UnpackAnswer:
    """Merge a pack into the index of the repository that contains `path`; all or nothing.

    Files are read and hashed as always: the pack only saves their extraction.

    Args:
        file: written by `pack`.

    Raises:
        UnusablePack: it is damaged, malformed, of another version, or has wrong facts.
        SettingError: the file cannot be read.
    """
    from codelens.engine.upkeep import fact_packs

    return fact_packs.unpack(engine.pool, path, Path(file), progress)


# The ranking by meaning.


def meaning_status(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MeaningStatus:
    """The table of words, the enabled provider, and how much of the view has vectors."""
    from codelens.engine.reading.code_reader import meaning_status

    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view, view.reading():
        return meaning_status(view)


def meaning_test(engine: EngineCore, query: str) -> MeaningTest:
    """How the table of words interprets a question; reads no repository.

    Raises:
        QueryError: the question is empty.
        WordTableDamaged: the table cannot be read.
    """
    from codelens.engine.reading.code_reader import test

    return test(query)


def meaning_list(engine: EngineCore) -> list[EnabledRepository]:
    """The repositories for which a provider is enabled, by state; reads none of them."""
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
    """What a sync with a provider would send; sends nothing.

    Args:
        provider: one of `codelens.meaning.providers.provider_registry.PROVIDERS`.
        model: the provider's model; empty: its default.
        endpoint: URL; empty: the provider's own.
        store: see `meaning_enable`; so is `hybrid`.

    Raises:
        SettingError: the provider does not exist, or the endpoint or store is not a URL.
    """
    from codelens.engine.embedding.provider_consent import plan

    with engine.pool.view(ViewRequest(path, ref, None, progress)) as view, view.reading():
        return plan(view, provider, model, endpoint, store=store, hybrid=hybrid)


def meaning_model(engine: EngineCore, model: str) -> ModelFiles:
    """The files of an embedding model for the provider `local`, before a download.

    Asks the server of Hugging Face (`HF_ENDPOINT`), and needs no repository.

    Args:
        model: its name there, OWNER/NAME.

    Raises:
        SettingError: it is no model in ONNX form.
        ProviderError: the server does not answer, or `codelens[local]` is not installed.
    """
    from codelens.answers.upkeep_answers import ModelFiles
    from codelens.meaning.providers import local_provider

    return ModelFiles(model, *local_provider.files_to_download(model))


def meaning_download(engine: EngineCore, model: str) -> Path:
    """Download an embedding model for the provider `local`; returns its folder.

    This is the only method that downloads something. Arguments as in `meaning_model`.

    Raises:
        ProviderError: the server does not answer, or `codelens[local]` is not installed.
    """
    from codelens.meaning.providers import local_provider

    return local_provider.download(model)


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
    """From now on, allow sending a repository's texts, from all its worktrees, to a provider.

    Requests a test vector of a text that is in no repository. The key comes from the
    environment. Replaces the previously enabled provider; its vectors remain.

    Args:
        store: URL of a Milvus or Zilliz that searches vectors (docs/providers.md); empty: the
            repository's own file.
        hybrid: the store also gets the terms of texts and ranks by them in mode `meaning`.

    Raises:
        ProviderError: the provider cannot be used; nothing was changed.
        VectorStoreError: the store cannot be used; nothing was changed.
        SettingError: the provider does not exist, or the endpoint or store is not a URL.
    """
    from codelens.engine.embedding.provider_consent import enable

    return enable(
        engine.pool.open_any(path), provider=provider, model=model, endpoint=endpoint,
        store=store, hybrid=hybrid,
    )  # fmt: skip


def meaning_disable(engine: EngineCore, *, path: str | Path = ".") -> bool:
    """Stop sending texts of a repository; keep vectors. Returns whether one was enabled."""
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
    """Send texts without vectors to the enabled provider.

    Args:
        most_texts: maximum number of texts; None: the setting `most_texts`.

    Raises:
        ProviderError: none is enabled, or it failed; vectors stored so far remain.
        VectorStoreError: the store failed; vectors on this machine remain.
        IndexLocked: another process is syncing.
    """
    from codelens.engine.embedding.vector_sync import sync

    return sync(engine.pool, ViewRequest(path, ref, None, progress), most_texts)


def meaning_prune(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    progress: Progress = silent,
) -> PrunedVectors:
    """Remove the vectors of texts that no view of the index (branch, worktree or ref) has.

    Keeps vectors of questions, and those in a store on another machine, which others may use. A
    branch whose view was pruned from the index loses its vectors.

    Raises:
        IndexLocked: another process is adding vectors.
    """
    from codelens.engine.embedding.vector_sync import prune

    return prune(engine.pool, ViewRequest(path, None, None, progress))


def meaning_clear(engine: EngineCore, *, path: str | Path = ".") -> int:
    """Remove all provider vectors of a repository; returns the number of freed bytes.

    Raises:
        IndexLocked: another process is adding vectors.
    """
    from codelens.engine.embedding.provider_consent import clear

    return clear(engine.settings, engine.pool.open_any(path).scope.repo_id)


# Facts from compilers: SCIP.


def scip_import(
    engine: EngineCore,
    file: str | Path,
    *,
    root: str | None = None,
    add: bool = False,
    path: str | Path = ".",
    ref: str | None = None,
    progress: Progress = silent,
) -> ImportedIndex:
    """Import a compiler's facts about this repository's texts from a SCIP index.

    The facts belong to the texts that were indexed: they apply on every branch and in every
    worktree with the same text, and nowhere else.

    Args:
        file: written by scip-python, scip-typescript, rust-analyzer and the like.
        root: folder of the repository that the paths of the index start from; None: the one under
            which most of them exist.
        add: earlier facts about the same texts remain, except where these say otherwise.
        ref: the commit that was indexed; None: the checked-out commit.

    Raises:
        ScipError: the file is damaged or no index, nothing in it belongs to this repository, or
            protobuf is not installed; nothing was imported.
        SettingError: the file cannot be read.
        IndexLocked: another process is writing.
    """
    from codelens.engine.precise.scip_import import import_index

    request = ViewRequest(path, ref, None, progress)
    return import_index(engine.pool, request, Path(file), root, add=add)


def scip_check(
    engine: EngineCore,
    *,
    limit: int = 50,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> CheckedEdges:
    """Compare our edges with those of compilers, in the files that are answered precisely.

    Args:
        limit: maximum number of differences; all are counted.
    """
    from codelens.engine.precise.scip_check import check

    check_limit(limit, 100_000)
    return check(engine.pool, ViewRequest(path, ref, budget_ms, progress), limit)


def scip_export(
    engine: EngineCore,
    file: str | Path,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    progress: Progress = silent,
) -> ExportedIndex:
    """Write definitions, references and relations of a view as a SCIP index.

    Args:
        file: overwritten if it exists.

    Raises:
        ScipError: protobuf is not installed.
        SettingError: the file cannot be written.
    """
    from codelens.engine.precise.scip_export import export_index

    return export_index(engine.pool, ViewRequest(path, ref, None, progress), Path(file))


def scip_forget(engine: EngineCore, *, path: str | Path = ".") -> int:
    """Remove all that was imported into a repository's index; returns the number of texts.

    Raises:
        IndexLocked: another process is writing.
    """
    from codelens.engine.precise.scip_import import forget

    return forget(engine.pool.open_any(path))
