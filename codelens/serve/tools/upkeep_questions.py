"""Questions of the upkeep tools that are about more than one method of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from codelens.errors import SettingError

if TYPE_CHECKING:
    from codelens.answers.reading_answers import StatusAnswer
    from codelens.answers.upkeep_answers import Dropped, PruneAnswer, RepositoryLife
    from codelens.engine.engine import Engine


def index(
    engine: Engine, *, action: str, path: str, ref: str | None,
    progress: Callable[[str, int, int], None],
) -> StatusAnswer | list[RepositoryLife]:  # fmt: skip
    """`cl_index`: a view brought up to date; with `status` every index, or that of `path`."""
    if action == "status":
        return engine.overview(only=path or None)
    return engine.bring(path=path, ref=ref, rebuild=action == "rebuild", progress=progress)


def prune(engine: Engine, *, dry_run: bool, path: str) -> PruneAnswer:
    """`cl_prune`: in every repository, or in that of `path`."""
    return engine.prune(dry_run=dry_run, only=path or None)


def drop(engine: Engine, *, view: str, repository: bool, force: bool, path: str) -> Dropped:
    """`cl_drop`: a view, or the whole index.

    Raises:
        SettingError: neither is named, or both are.
    """
    if view and repository:
        raise SettingError("view and repository cannot be combined; pass one of them")
    if not view and not repository:
        raise SettingError(
            "nothing to drop; pass view (a branch, ref, worktree folder, or an id of cl_index with "
            "action status), or repository: true for the whole index"
        )
    if view:
        return engine.drop(view, path=path, force=force)
    return engine.drop_repository(path=path, force=force)
