"""Finds the files that belong to a worktree, and detects if a walk may now find others.

`Surveyor` asks `scope` for the members of a worktree or folder. It stores signatures of everything
that decides them, in addition to the folders: git's index file, ignore files, git's config, sparse
patterns, `.git` entries of nested repositories, and codelens's settings. Folders alone are not
enough: `git add -f` changes no file and no folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

from codelens.config import Settings
from codelens.paths import from_printed, printed
from codelens.scan.stat_check import RACY, is_racy, signature, signature_to_store
from codelens.scope.commits import expand_tree
from codelens.scope.git_index import (
    NOTHING_TRACKED,
    IndexContent,
    TrackedSet,
    index_files,
    read_content,
)
from codelens.scope.ignore_rules import Ignore, IgnoreSettings, OwnRules
from codelens.scope.membership import Membership, Walker, marks_hold, own_rules
from codelens.scope.repository import Repository, Scope
from codelens.scope.untouched_blobs import untouched_blobs
from codelens.store.views.views import ViewRow

_MISSING = "-"
_RACY_MARK = "racy "
_SYSTEM_ATTRIBUTES = ("/etc/gitattributes",)
INVALID = "invalid patterns"
"""Key in a view's notes for lines of codelens's own ignore rules that can match nothing."""

_last_read: dict[str, tuple[dict[str, str], TrackedSet]] = {}
"""The state and the paths of the git index that was read last.

Each save by an editor that replaces the file changes a folder, and to list that folder takes these
paths; to read them again would be most of the cost of the question that follows.
"""

Sources = dict[str, Any]  # JSON: string keys to signatures in hex, to flags for `marks`


Blob = tuple[bytes, bytes]
"""The object id of an unchanged file, and the file's signature."""


class Survey(NamedTuple):
    """The result of a walk, or of a rescan of some folders."""

    started_ns: int
    files: dict[bytes, os.stat_result]
    folders: dict[bytes, os.stat_result]
    folders_gone: list[bytes]
    notes: dict[str, list[str]]
    sources: str
    unlisted: int
    """Folders not listed for lack of time: `files` lacks their files."""


class Surveyor:
    """Finds the members of a worktree or folder at this moment; make a new one for every look."""

    def __init__(self, repository: Repository, scope: Scope, settings: Settings) -> None:
        self.root = os.fsencode(scope.root)
        self._repository = repository
        self._scope = scope
        self._settings = settings
        self._started_ns = time.time_ns()
        self._plain: Collection[bytes] = ()
        """Folders that the walk found to have no file of git's attributes."""
        self._index = os.path.join(scope.git_dir, "index") if repository.is_git else ""

    def same_members(self, view: ViewRow) -> bool:
        """Whether all that decides membership, except for folders, is as `view` recorded it."""
        recorded: Sources = json.loads(view.sources)
        if not recorded or not self.same_settings(view):
            return False
        if self.own_rules.digest != recorded.get("own", ""):
            return False
        if self._rules() != recorded["rules"] or self._ignore_files(recorded) != recorded["ignore"]:
            return False
        marks = ((bytes(from_printed(path)), flag) for path, flag in recorded["marks"].items())
        if not marks_hold(self.root, marks, self._scope.git_dir or None):
            return False
        return self._index_state() == recorded["index"] or view.membership == self.membership()

    def same_settings(self, view: ViewRow) -> bool:
        """Whether `view` was made with the current settings."""
        return view.membership.startswith(self._settings_key())

    def membership(self) -> str:
        """A key of the settings and the tracked files, whose changes need not change a folder."""
        return f"{self._settings_key()}{self._tracked.digest.hex()}"

    def sources_of(self, view: ViewRow) -> str:
        """The `sources` of a view with unchanged members, with the current state of git's index."""
        recorded: Sources = json.loads(view.sources)
        recorded["index"] = self._index_state()
        return json.dumps(recorded, sort_keys=True)

    @property
    def tracked_paths(self) -> list[bytes]:
        """The paths in git's index, in order, without submodules; they may be missing on disk."""
        gitlinks = self._tracked.gitlinks
        paths = [path for path in self._tracked.in_order if path not in gitlinks]
        if not self.own_rules.digest:
            return paths
        return [path for path in paths if not self.own_rules.leaves_out(path)]

    @property
    def tracks_files(self) -> bool:
        """Whether git's index contains any file."""
        return len(self._tracked.in_order) > len(self._tracked.gitlinks)

    def survey(self, deadline: float | None = None) -> Survey:
        """Walk the whole tree, until the deadline (a `time.monotonic` value)."""
        membership = self._walker().walk(deadline)
        self._plain = membership.plain
        sources = {
            "index": self._index_state(),
            "rules": self._rules(),
            "ignore": {
                printed(path): _stored(stat, self._started_ns)
                for path, stat in membership.ignore_files.items()
            },
            "marks": {printed(path): flag for path, flag in membership.marks.items()},
            "own": self.own_rules.digest,
        }
        return self._as_survey(membership, json.dumps(sources, sort_keys=True))

    def blobs_of(self, files: Mapping[bytes, os.stat_result]) -> dict[bytes, Blob]:
        """The blobs of the files that git's index shows to be unchanged, by path.

        If a blob has the size of the file, its bytes are those of the file.
        """
        if not self._index:
            return {}
        written_ns, content = self._read_index
        untouched = untouched_blobs(
            content, files, root=self.root,
            outside=[*_SYSTEM_ATTRIBUTES, *self._repository.attribute_files()],
            tracked=self._tracked.paths, plain=self._plain,
        )  # fmt: skip
        settled_ns = min(written_ns, self._started_ns)
        return {
            path: (oid, signature(stat))
            for path, oid, stat in untouched
            if not is_racy(stat, settled_ns)
        }

    def rescan(
        self,
        folders: list[bytes],
        known: dict[bytes, bytes],
        view: ViewRow,
        deadline: float | None = None,
    ) -> Survey | None:
        """List folders that changed, and all below new ones; None if all must be walked."""
        sources: Sources = json.loads(view.sources)
        ignore = {bytes(from_printed(path)) for path in sources["ignore"]}
        membership = self._walker().rescan(folders, known, ignore, deadline)
        if membership is None or any(path not in ignore for path in membership.ignore_files):
            return None
        marks = {printed(path): flag for path, flag in membership.marks.items()}
        if marks.items() - sources["marks"].items():
            return None
        return self._as_survey(membership, "")

    def merge_notes(self, notes: dict[str, list[str]], again: Survey) -> dict[str, list[str]]:
        """The notes of a view after a rescan of some of its folders."""
        listed = {printed(path) for path in again.folders}
        gone = {printed(path) for path in again.folders_gone}
        merged: dict[str, list[str]] = {}
        for kind, paths in notes.items():
            if kind == INVALID:
                # These notes change only with the rules, and then the whole tree is walked.
                merged[kind] = paths
                continue
            kept_paths = [
                path
                for path in paths
                if os.path.dirname(path) not in listed and not _below(path, gone)
            ]
            merged[kind] = sorted({*kept_paths, *again.notes[kind]})
        return merged

    def _settings_key(self) -> str:
        return f"{self._settings.membership_key()}|"

    @cached_property
    def own_rules(self) -> OwnRules:
        """The current codelens rules that leave out more than git ignores."""
        return own_rules(self._repository, self._scope, self._settings)

    @cached_property
    def _tracked(self) -> TrackedSet:
        if not self._index:
            return NOTHING_TRACKED
        # Before the index is read: if git replaces it meanwhile, the next look sees another state.
        state = self._index_state()
        if (last := _last_read.get(self._index)) is not None and last[0] == state:
            return last[1]
        tracked = self._read_index[1].tracked()
        _last_read.clear()
        if not any(map(_is_unsettled, state.values())):
            _last_read[self._index] = state, tracked
        return tracked

    @cached_property
    def _read_index(self) -> tuple[int, IndexContent]:
        """When git wrote its index, and the index."""
        # Before it is read: if git replaces it meanwhile, its entries count as newer.
        written_ns = min((_modified_ns(file) for file in index_files(self._index)), default=0)
        return written_ns, read_content(
            self._index, expand_tree=partial(expand_tree, self._repository)
        )

    @cached_property
    def _ignore_settings(self) -> IgnoreSettings:
        return self._repository.ignore_settings()

    def _walker(self) -> Walker:
        if not self._repository.is_git:
            return Walker(self.root, Ignore(self.root))
        ignore = Ignore(
            self.root,
            self._ignore_settings,
            common_dir=self._scope.common_dir,
            blobs=self._tracked.ignore_blobs,
            read_blob=self._repository.read_blob,
        )
        return Walker(self.root, ignore, self._tracked, self._scope.git_dir)

    def _rules(self) -> dict[str, str]:
        if not self._repository.is_git:
            return {}
        own = Ignore(self.root, self._ignore_settings, common_dir=self._scope.common_dir).own_files
        files = [os.fsdecode(path) for path in own]
        files += self._repository.config_files()
        files.append(os.path.join(self._scope.git_dir, "info", "sparse-checkout"))
        signatures = self._signatures(files)
        # Files that the config includes need no signature here: the settings from them have one.
        signatures["(values)"] = repr(self._ignore_settings)
        return signatures

    def _index_state(self) -> dict[str, str]:
        return self._signatures(index_files(self._index)) if self._index else {}

    def _ignore_files(self, sources: Sources) -> dict[str, str]:
        signatures: dict[str, str] = {}
        for path in sources["ignore"]:
            try:
                signatures[path] = signature(
                    os.lstat(os.path.join(self.root, from_printed(path)))
                ).hex()
            except OSError:
                signatures[path] = _MISSING
        return signatures

    def _signatures(self, files: list[str]) -> dict[str, str]:
        signatures: dict[str, str] = {}
        for file in files:
            try:
                signatures[printed(os.fsencode(file))] = _stored(os.stat(file), self._started_ns)
            except OSError:
                signatures[printed(os.fsencode(file))] = _MISSING
        return signatures

    def _as_survey(self, membership: Membership, sources: str) -> Survey:
        files, rules = membership.files, self.own_rules
        if rules.digest:
            files = {path: stat for path, stat in files.items() if not rules.leaves_out(path)}
        notes = {
            "links": membership.links.keys(),
            "nested": membership.nested,
            "tools": membership.tools,
            "submodules": membership.gitlinks,
            "unreadable": membership.unreadable.keys(),
        }
        return Survey(
            self._started_ns,
            files,
            membership.folders,
            sorted(membership.gone),
            {
                **{kind: sorted(map(printed, paths)) for kind, paths in notes.items()},
                INVALID: list(rules.invalid),
            },
            sources,
            membership.unlisted,
        )


def _stored(stat: os.stat_result, look_ns: int) -> str:
    signature = signature_to_store(stat, look_ns)
    # A file may change again within the granularity of its timestamps, so no two looks may store an
    # equal signature for it.
    return f"{_RACY_MARK}{look_ns}" if signature == RACY else signature.hex()


def _modified_ns(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _is_unsettled(stored: str) -> bool:
    """Whether a signature cannot show that a file is as it was."""
    return stored == _MISSING or stored.startswith(_RACY_MARK)


def _below(path: str, folders: set[str]) -> bool:
    while path:
        if path in folders:
            return True
        path = os.path.dirname(path)
    return False
