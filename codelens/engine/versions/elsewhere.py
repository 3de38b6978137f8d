"""Who else changes a file: the same file in other worktrees, read where it lies.

No view is looked at: one file a worktree is read, and compared with the merge base of its HEAD and
ours. Cheap enough to be asked before every edit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from codelens.answers.branch_answers import Elsewhere
from codelens.branches.definition_diff import definition_diff
from codelens.branches.file_definitions import FileText
from codelens.branches.sides import CommitSide, Facts, SideFile, texts_of
from codelens.engine.current_view import CurrentView
from codelens.engine.versions.diff_query import compared
from codelens.engine.versions.uncommitted import files_side, own_edits
from codelens.errors import CodelensError, ReadError
from codelens.extract.file_kinds import decode
from codelens.handles.handle_naming import handles_of
from codelens.index.text_facts import Text, text_facts
from codelens.paths import printed
from codelens.scan.content_hash import blob_oid, hash_of, read_file
from codelens.scope.commits.tree_changes import entry_at, merge_base
from codelens.scope.repository import Repository, Scope
from codelens.scope.text_diff import changed_lines
from codelens.types import CommitId

_MOST_WORKTREES, _MOST_EDITS = 30, 100
"""That a status looks at."""
_SHOWN = 3


def changed_elsewhere(
    repository: Repository,
    scope: Scope,
    paths: Sequence[bytes],
    facts: Facts,
    *,
    roots: Sequence[str],
) -> Iterator[Elsewhere]:
    """Definitions of some files that the worktrees at `roots` changed, by root, path and line."""
    if not repository.is_git or not scope.head:
        return
    for root in roots:
        try:
            there = Repository.at(root)
            other = there.scope()
            base = merge_base(repository, scope.head, other.head) if other.head else None
            if base:
                yield from _in_worktree(there, other, base, paths, facts)
        except CodelensError:
            continue  # it is being made or deleted


def _in_worktree(
    there: Repository, other: Scope, base: CommitId, paths: Sequence[bytes], facts: Facts
) -> Iterator[Elsewhere]:
    for path in paths:
        entry = entry_at(there, base, path)
        if entry is None:
            continue
        data = _on_disk(other.root, path, facts.max_bytes)
        if data is None or blob_oid(data) == entry.oid:
            continue
        side = CommitSide(there, base, "base")
        ((before,),) = texts_of([(side, [SideFile(entry.path, entry.mode, entry.oid)])], facts)
        after = _text(path, data, facts)
        diff = definition_diff([before], [after], changed_lines)
        for file in diff.files:
            handles = handles_of(path, before.symbols)
            for definition in file.definitions:
                if definition.old is not None:
                    yield Elsewhere(
                        handles[definition.old.at], printed(path),
                        definition.old.symbol.qualified, definition.how,
                        other.root, other.branch,
                    )  # fmt: skip


def _on_disk(root: str, path: bytes, most: int) -> bytes | None:
    full = os.path.join(os.fsencode(root), path)
    if os.path.realpath(os.path.dirname(full)) != os.path.normpath(os.path.dirname(full)):
        return None
    try:
        return read_file(full, most).data
    except (OSError, ReadError):
        return None


def _text(path: bytes, data: bytes, facts: Facts) -> FileText:
    (known,) = text_facts(
        facts.db, [Text(path, data)], languages=facts.languages, max_bytes=facts.max_bytes
    )
    return FileText(path, decode(data), known.symbols, known.language, "text", hash_of(data))


def also_changed_here(view: CurrentView, facts: Facts) -> tuple[str, ...]:
    """One sentence for each worktree that changed definitions with uncommitted changes here."""
    if view.scope.kind != "worktree" or not view.repository.worktrees():
        return ()
    mine = sorted(own_edits(view, facts.db).by_path)[:_MOST_EDITS]
    roots = view.repository.worktrees()[:_MOST_WORKTREES]
    changes = changed_elsewhere(view.repository, view.scope, mine, facts, roots=roots)
    elsewheres = [elsewhere for elsewhere in changes if not elsewhere.is_quiet]
    if not elsewheres:
        return ()
    head = CommitSide(view.repository, view.scope.head, "HEAD")
    paths = sorted({elsewhere.path for elsewhere in elsewheres})
    here = compared(head, files_side(view, "files"), facts, paths)
    changed = {
        (printed(change.old.file.path), change.old.symbol.qualified)
        for file in here.diff.files
        for change in file.definitions
        if change.old is not None
    }
    by_root: dict[tuple[str, str], list[str]] = {}
    for elsewhere in elsewheres:
        if (elsewhere.path, elsewhere.symbol) in changed:
            by_root.setdefault((elsewhere.worktree, elsewhere.branch), []).append(elsewhere.handle)
    return tuple(
        f"{root} ({branch or 'detached'}) is changing definitions that you have changed: "
        + ", ".join(handles[:_SHOWN])
        + (f" and {len(handles) - _SHOWN} more" if len(handles) > _SHOWN else "")
        for (root, branch), handles in by_root.items()
    )
