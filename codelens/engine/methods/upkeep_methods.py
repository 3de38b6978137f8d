"""The indexes themselves, and how much was used: methods of `Engine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

# What answers are made of is imported with the capability that makes them.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelens.answers.context_answers import UsageAnswer
    from codelens.answers.pack_answers import PackAnswer, UnpackAnswer
    from codelens.answers.upkeep_answers import Dropped, Pinned, PruneAnswer, RepositoryLife


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
