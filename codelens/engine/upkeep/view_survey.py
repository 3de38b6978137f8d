"""The lives of an index: which views it has, what they stand on, what would go and why.

`survey` only reads; `engine/upkeep/view_removal.py` acts on it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from codelens.answers.upkeep_answers import RepositoryLife, ViewLife
from codelens.config import Settings
from codelens.engine.upkeep.last_use import folder_text
from codelens.paths import barred, printed
from codelens.scope.worktree_presence import (
    Standing,
    State,
    Whereabouts,
    repository_state,
    standing,
)
from codelens.store.database.database import Database
from codelens.store.database.store_clock import DAY_S, Clock, machine
from codelens.store.saved import pins
from codelens.store.views import garbage_collection, index_metadata, prune_rules, views
from codelens.store.views.index_metadata import Site
from codelens.store.views.prune_rules import Case, Limits
from codelens.store.views.views import ViewRow

_SHORT_ID = 12
_PREFIX, _SUFFIX = "index-", ".db"


class Survey(NamedTuple):
    """What an index holds, and how it is with the folders that its views are of."""

    repo_id: str
    common_dir: str
    state: State | None
    """None: which repository it is of was never written down."""
    rows: tuple[ViewRow, ...]
    lives: tuple[ViewLife, ...]
    folders: dict[str, State]
    """Each folder, the repository's own too."""
    leftover: str
    """Why the whole index goes; empty if it stays."""


def index_files(home: Path, only: Path | None = None) -> list[Path]:
    """Every index of a home folder, or `only` that one if it is there.

    Raises:
        HomeNotReadable: they cannot be listed.
    """
    # A folder that may not be listed globs as an empty one.
    unreadable = barred(home / "indexes")
    if unreadable is not None:
        raise unreadable
    paths = sorted((home / "indexes").glob(f"{_PREFIX}*{_SUFFIX}"))
    return [path for path in paths if only in {None, path}]


def repo_id_of(path: Path) -> str:
    """Which repository an index file is of."""
    return path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)


def limits_of(settings: Settings, days: float | None = None) -> Limits:
    """How long views are kept; `days` for all kinds, in place of the settings."""
    if days is not None:
        return Limits(*(days * DAY_S for _ in Limits._fields))
    return Limits(
        settings.prune_branch_days * DAY_S,
        settings.prune_detached_days * DAY_S,
        settings.prune_gone_days * DAY_S,
        settings.prune_ref_days * DAY_S,
    )


def survey(db: Database, limits: Limits, clock: Clock = machine) -> Survey:
    """Look at all views of an index and at the folders they are of; writes nothing."""
    repo_id = repo_id_of(db.path)
    pins.adopt(db)
    pinned = pins.pinned_scopes(pins.file_beside(db.path))
    with db.read():
        rows = views.all_views(db)
        common_dir = os.fsdecode(index_metadata.common_dir(db))
        sites = index_metadata.sites(db)
        now_s = index_metadata.clock_s(db, clock)
        sizes, own = views.sizes_of(db)
    standings: dict[str, Standing] = {}
    for folder in {row.worktree for row in rows if row.kind != "ref"}:
        odd = os.name == "posix" and "\\" in folder
        standings[folder] = standing(
            folder, repo_id, common_dir, _where(sites.get(folder)), printed=odd
        )
    lives: list[ViewLife] = []
    for row in rows:
        case = _case(
            row, standings.get(row.worktree), sites.get(row.worktree), now_s, row.scope in pinned
        )
        is_due, why = prune_rules.verdict(case, limits)
        lives.append(
            _life(
                row, case, goes=is_due, why=why, bytes_=sizes.get(row.id, 0), own=own.get(row.id, 0)
            )
        )
    own_site = sites.get(folder_text(common_dir)) if common_dir else None
    state = repository_state(common_dir, _where(own_site)) if common_dir else None
    folders: dict[str, State] = {
        folder: view_standing.state for folder, view_standing in standings.items()
    }
    if state is not None:
        folders[folder_text(common_dir)] = state
    leftover = ""
    missed = own_site.gone_s if own_site else None
    if state == "gone" and missed is not None and now_s - missed >= limits.branch_s:
        is_kept = any(life.pinned or life.standing in {"active", "unreachable"} for life in lives)
        if not is_kept:
            leftover = f"its repository was removed, missing for {prune_rules.span(now_s - missed)}"
    return Survey(repo_id, common_dir, state, tuple(rows), tuple(lives), folders, leftover)


def as_life(db: Database, surveyed: Survey) -> RepositoryLife:
    """A survey as an answer."""
    return RepositoryLife(
        surveyed.repo_id,
        printed(os.fsencode(surveyed.common_dir)),
        surveyed.state or "unknown",
        str(db.path),
        db.size_bytes(),
        surveyed.lives,
        garbage_collection.waiting(db),
        bool(surveyed.leftover),
        surveyed.leftover,
    )


def _where(site: Site | None) -> Whereabouts | None:
    return Whereabouts(site.mount, site.filesystem) if site else None


def _case(
    row: ViewRow, standing: Standing | None, site: Site | None, now_s: float, pinned: bool
) -> Case:
    unused_s = max(0.0, now_s - row.used_s)
    if row.kind == "ref":
        return Case("ref", pinned, unused_s)
    assert standing is not None
    if standing.state == "unreachable":
        return Case("unreachable", pinned, unused_s)
    if standing.state == "gone":
        missed = site.gone_s if site else None
        return Case("gone", pinned, unused_s, 0.0 if missed is None else now_s - missed)
    if standing.key == row.scope:
        return Case("active", pinned, unused_s)
    detached = row.kind == "worktree" and row.head and not row.branch
    return Case("detached" if detached else "inactive", pinned, unused_s)


def _life(row: ViewRow, case: Case, *, goes: bool, why: str, bytes_: int, own: int) -> ViewLife:
    return ViewLife(
        index_id=row.index_id[:_SHORT_ID],
        kind=row.kind,
        standing=case.standing,
        worktree="" if row.kind == "ref" else row.worktree,
        branch=row.branch,
        head=row.head,
        files=row.files,
        source_bytes=bytes_,
        own_bytes=own,
        created_s=row.created_s,
        accessed_s=row.accessed_s,
        unused_s=round(case.unused_s, 1),
        pinned=case.pinned,
        complete=bool(row.complete),
        goes=goes,
        why=why,
    )
