"""Records the use of views, and determines which views and indexes are due for removal."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codelens.config import Settings
from codelens.engine.current_view import CurrentView
from codelens.errors import DiskFull, StoreError
from codelens.paths import barred, index_file, pins_file, printed
from codelens.scope.worktree_presence import (
    Presence,
    State,
    Whereabouts,
    presence,
    repository_state,
    whereabouts,
)
from codelens.store.database import database_opening
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_index
from codelens.store.database.writer_lease import DAY_S, Clock, machine
from codelens.store.saved import pins
from codelens.store.views import garbage_collection, index_metadata, views
from codelens.store.views.garbage_collection import Case, Limits
from codelens.store.views.index_metadata import Site
from codelens.store.views.views import ViewRow

if TYPE_CHECKING:
    from codelens.answers.upkeep_answers import RepositoryLife, UnbuiltPin, ViewLife

logger = logging.getLogger(__name__)


def folder_text(folder: str) -> str:
    """A folder as text that can be stored, like `Scope.worktree`."""
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def note_use(view: CurrentView) -> None:
    """Record the use of a view: best effort, rarely, and without waiting for locks."""
    row, scope = view.snapshot.row, view.scope
    if not row.id:
        return
    folders = {folder_text(scope.common_dir): scope.common_dir}
    if scope.kind != "ref":
        folders[scope.worktree] = scope.root

    def seen() -> dict[str, Site]:
        return {text: Site(*whereabouts(folder)) for text, folder in folders.items()}

    try:
        index_metadata.touch(view.snapshot.db, row.id, row.used_s, os.fsencode(scope.common_dir),
                     folders=folders, seen=seen)  # fmt: skip
    except (StoreError, OSError) as error:
        logger.debug("could not record the use of a view: %s", error)


# Surveys an index: its views, their folders, what would be removed and why.
#
# `survey` only reads; `engine/upkeep/view_removal.py` acts on it.

_SHORT_ID = 12
_PREFIX, _SUFFIX = "index-", ".db"


class Survey(NamedTuple):
    """The views of an index, and the state of the folders that they belong to."""

    repo_id: str
    common_dir: str
    state: State | None
    """None: its repository was never recorded."""
    rows: tuple[ViewRow, ...]
    lives: tuple[ViewLife, ...]
    folders: dict[str, State]
    """Each folder, including the repository's own."""
    leftover: str
    """Why the whole index is removed; empty if it stays."""
    unbuilt: tuple[UnbuiltPin, ...] = ()


def pinned_indexes(home: Path, only: Path | None = None) -> list[Path]:
    """The paths of indexes that have pins, whether or not the indexes exist; `only` as above."""
    pinned_ids = [
        file.stem.removeprefix("pins-") for file in pins_file(home, "").parent.glob("pins-*.json")
    ]
    paths = [index_file(home, repo_id) for repo_id in pinned_ids]
    return [path for path in paths if only in {None, path}]


def index_files(home: Path, only: Path | None = None) -> list[Path]:
    """Every index of a home folder, or only `only` if it exists.

    Raises:
        HomeNotReadable: the folder cannot be listed.
    """
    # A folder without list permission globs as an empty one.
    unreadable = barred(home / "indexes")
    if unreadable is not None:
        raise unreadable
    paths = sorted((home / "indexes").glob(f"{_PREFIX}*{_SUFFIX}"))
    return [path for path in paths if only in {None, path}]


def repo_id_of(path: Path) -> str:
    """The id of an index file's repository."""
    return path.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)


def limits_of(settings: Settings, days: float | None = None) -> Limits:
    """How long views are kept; `days` overrides the settings for all kinds."""
    if days is not None:
        return Limits(*(days * DAY_S for _ in Limits._fields))
    return Limits(
        settings.prune_branch_days * DAY_S,
        settings.prune_detached_days * DAY_S,
        settings.prune_gone_days * DAY_S,
        settings.prune_ref_days * DAY_S,
    )


def survey(db: Database, limits: Limits, clock: Clock = machine) -> Survey:
    """Examine all views of an index and their folders; writes nothing."""
    repo_id = repo_id_of(db.path)
    pinned = pins.pinned_scopes(pins.pins_file_for(db.path))
    with db.read():
        rows = views.all_views(db)
        common_dir = os.fsdecode(index_metadata.common_dir(db))
        sites = index_metadata.sites(db)
        now_s = index_metadata.clock_s(db, clock)
        sizes, own = views.sizes_of(db)
    presences: dict[str, Presence] = {}
    for folder in {row.worktree for row in rows if row.kind != "ref"}:
        odd = os.name == "posix" and "\\" in folder
        presences[folder] = presence(
            folder, repo_id, common_dir, _where(sites.get(folder)), printed=odd
        )
    lives: list[ViewLife] = []
    for row in rows:
        case = _case(
            row, presences.get(row.worktree), sites.get(row.worktree), now_s, row.scope in pinned
        )
        is_due, why = garbage_collection.prune_verdict(case, limits)
        lives.append(
            _life(
                row, case, goes=is_due, why=why, bytes_=sizes.get(row.id, 0), own=own.get(row.id, 0)
            )
        )
    own_site = sites.get(folder_text(common_dir)) if common_dir else None
    state = repository_state(common_dir, _where(own_site)) if common_dir else None
    folders: dict[str, State] = {folder: state_now.state for folder, state_now in presences.items()}
    if state is not None:
        folders[folder_text(common_dir)] = state
    unbuilt = unbuilt_pins(pinned.difference(row.scope for row in rows))
    leftover = ""
    missed = own_site.gone_s if own_site else None
    if state == "gone" and missed is not None and now_s - missed >= limits.branch_s:
        is_kept = any(life.pinned or life.standing in {"active", "unreachable"} for life in lives)
        if not (is_kept or unbuilt):
            span = garbage_collection.prune_span(now_s - missed)
            leftover = f"its repository was removed, missing for {span}"
    return Survey(repo_id, common_dir, state, tuple(rows), tuple(lives), folders, leftover, unbuilt)


def unbuilt_pins(scopes: Iterable[str]) -> tuple[UnbuiltPin, ...]:
    """The pins of scopes (`Scope.key`) that have no view."""
    from codelens.answers.upkeep_answers import UnbuiltPin

    unbuilt: list[UnbuiltPin] = []
    for scope in sorted(scopes):
        # A damaged file of an earlier version may name anything.
        kind, first, state, name = (scope.split("\0") + [""] * 3)[:4]
        if kind == "ref":
            unbuilt.append(UnbuiltPin(kind, "", "", first))
        else:
            unbuilt.append(UnbuiltPin(kind, first, name if state == "branch" else "", ""))
    return tuple(unbuilt)


class PinnedPlace(NamedTuple):
    """Where a pinned view comes from: a worktree, or a commit of any of them."""

    worktree: str
    ref: str | None


def pinned_places(db: Database) -> list[PinnedPlace]:
    """What to index to have the pinned views of an index again."""
    surveyed = survey(db, Limits())
    pairs = zip(surveyed.rows, surveyed.lives, strict=True)
    built = [
        PinnedPlace("", row.head) if row.kind == "ref" else PinnedPlace(row.worktree, None)
        for row, life in pairs
        if life.pinned and (row.kind == "ref" or life.standing == "active")
    ]
    # An earlier rebuild may have been killed before it built these.
    return built + [PinnedPlace("", pin.head) for pin in surveyed.unbuilt if pin.kind == "ref"]


def as_life(db: Database, surveyed: Survey) -> RepositoryLife:
    """A survey in the form of an answer."""
    from codelens.answers.upkeep_answers import RepositoryLife

    return RepositoryLife(
        surveyed.repo_id,
        printed(os.fsencode(surveyed.common_dir)),
        surveyed.state or "unknown",
        str(db.path),
        db.size_bytes(),
        surveyed.lives,
        surveyed.unbuilt,
        garbage_collection.waiting(db),
        bool(surveyed.leftover),
        surveyed.leftover,
    )


def _where(site: Site | None) -> Whereabouts | None:
    return Whereabouts(site.mount, site.filesystem) if site else None


def _case(
    row: ViewRow, presence: Presence | None, site: Site | None, now_s: float, pinned: bool
) -> Case:
    unused_s = max(0.0, now_s - row.used_s)
    if row.kind == "ref":
        return Case("ref", pinned, unused_s)
    assert presence is not None
    if presence.state == "unreachable":
        return Case("unreachable", pinned, unused_s)
    if presence.state == "gone":
        missed = site.gone_s if site else None
        return Case("gone", pinned, unused_s, 0.0 if missed is None else now_s - missed)
    if presence.key == row.scope:
        return Case("active", pinned, unused_s)
    detached = row.kind == "worktree" and row.head and not row.branch
    return Case("detached" if detached else "inactive", pinned, unused_s)


def _life(row: ViewRow, case: Case, *, goes: bool, why: str, bytes_: int, own: int) -> ViewLife:
    from codelens.answers.upkeep_answers import ViewLife

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


# Finds what codelens can delete when the disk is full.

LITTLE_BYTES = 500_000_000
"""Free space below this is scarce: an index of a large repository takes it."""
_SHOWN = 3


class IndexSize(NamedTuple):
    """The space that dropping an index would free."""

    repo_id: str
    size: int


@contextmanager
def opened(path: Path) -> Generator[Database]:
    """Open an index for reading, exclusively if there is no room to open it otherwise.

    Raises:
        DiskFull: it cannot even be read, or other processes have it open.
        StoreError: see `open_index`.
    """
    try:
        db = open_index(path)
    except DiskFull:
        db = database_opening.hold_index(path)
    try:
        yield db
    finally:
        db.close()


def is_scarce(home: Path) -> bool:
    """Whether the disk of the home folder, or of its future place, has little room."""
    return free_bytes(home) < LITTLE_BYTES


def free_bytes(home: Path) -> int:
    """Free space on the disk of the home folder, or of its future place."""
    place = home
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def largest(home: Path) -> list[IndexSize]:
    """The largest indexes, the largest first."""
    sizes = [IndexSize(repo_id_of(path), bytes_of(_files_of(path))) for path in index_files(home)]
    index_sizes = [size for size in sizes if size.size]
    return sorted(index_sizes, key=lambda index_size: -index_size.size)[:_SHOWN]


def disk_space_advice(home: Path) -> str:
    """Commands that free disk space, for command-line users."""
    index_sizes = largest(home)
    if not index_sizes:
        return "free some space; the indexes use none"
    drops = " or ".join(
        f"`codelens drop --force --repository {index_size.repo_id}` "
        f"({index_size.size / 1e6:,.1f} MB)"
        for index_size in index_sizes
    )
    return f"free some space, or remove an index (it is rebuilt when needed): {drops}"


def bytes_of(paths: Iterable[Path]) -> int:
    """The total size of those files that exist."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.stat().st_size
    return size


def _files_of(index: Path) -> list[Path]:
    return [index, *(index.with_name(index.name + suffix) for suffix in ("-wal", "-shm"))]
