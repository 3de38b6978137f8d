"""Stores the documents of a SCIP index under the texts that were indexed; all or nothing.

A document's text comes from the index if the index contains it, else from the file at the ref.
Without a ref, it is the file of the checked-out commit, or the worktree's file if the document fits
that one instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from codelens.answers.upkeep_answers import ImportedIndex, OmittedDocuments
from codelens.cancellation import check_cancelled
from codelens.engine.current_view import (
    CurrentView,
    OpenRepository,
    ViewRequest,
    current_view,
)
from codelens.engine.graph.candidate_files import edge_cache_of
from codelens.engine.index_pool import IndexPool
from codelens.errors import SettingError
from codelens.extract.file_kinds import readable
from codelens.index.ingestion import Progress
from codelens.paths import printed
from codelens.scan.content_hash import hash_of
from codelens.scip.index_stream import IndexStream, Left, ScipError, opened_index
from codelens.scip.placed_document import (
    DEFINITION,
    PlacedDocument,
    inside,
    placed_in,
    unit_of,
)
from codelens.store.database import writer_lease
from codelens.store.facts import precise_facts
from codelens.store.facts.precise_facts import KNOWN_THERE, Imported, Mention, Related

if TYPE_CHECKING:
    from codelens.scip import scip_pb2

_LEASE_S = 600.0
_NAMED = 3
"""Maximum number of omitted documents that are named as examples."""
_SIDE_ROLES = 0xFF
_LEADS_OUT = "whose paths lead out of the repository"
_ABSENT = "not in this repository at {at}"
_OTHER_TEXT = "made from a different text than the one at {at}"
_NOTHING_SAID = "without occurrences"
_TWICE = "listed twice"


class _Outline(NamedTuple):
    """What a first pass over an index finds."""

    defined: frozenset[str]
    """Symbols that its documents define."""
    paths: tuple[str, ...]
    has_unread: bool
    """Whether it has documents that are too large to be read."""

    def knows(self, symbol: str) -> bool:
        """Whether a document defines a symbol; one that is unread may define any."""
        return self.has_unread or symbol in self.defined


class ScipImport:
    """The import of one index into the index of a repository; call `run` once.

    Args:
        view: the files at the ref, or at the checked-out commit.
        worktree: the files on disk, if they count as well.
        root: folder of the repository that the paths of the index start from; None: deduce it.
        progress: called with the number of documents.
    """

    def __init__(
        self, view: CurrentView, worktree: CurrentView | None, root: str | None, progress: Progress
    ) -> None:
        self._sides = [view] if worktree is None else [view, worktree]
        self._root = root
        self._progress = progress
        self._db = self._sides[-1].index.db
        self._left: dict[str, list[str]] = {}
        self._differing: list[str] = []
        self._uses = 0

    def run(self, stream: IndexStream, name: str, *, add: bool) -> ImportedIndex:
        """Import an index, and count what was left out; with `add`, earlier facts remain."""
        view, db = self._sides[-1], self._db
        outline = _outline(stream)
        prefix = self._prefix(stream, outline.paths)
        tool = " ".join(
            filter(None, (stream.metadata.tool_info.name, stream.metadata.tool_info.version))
        )
        with writer_lease.held(db, _LEASE_S) as lease, db.write(lease):
            rows = self._documents(stream, outline, prefix)
            day = time.strftime("%Y-%m-%d", time.gmtime())
            stored = precise_facts.save(db, tool or "an unnamed indexer", day, rows, add=add)
            if not stored:
                raise ScipError(self._why_nothing_imported(name, prefix))
        with view.reading():
            precise = len(edge_cache_of(view).precise.document_by_path)
        return ImportedIndex(
            receipt=replace(view.receipt(), precise=precise),
            tool=tool,
            at=self._at,
            root=prefix,
            documents=len(outline.paths),
            stored=stored,
            uses=self._uses,
            left_out=tuple(
                OmittedDocuments(why, len(paths), tuple(sorted(paths)[:_NAMED]))
                for why, paths in sorted(self._left.items())
            ),
            differing=len(self._differing),
            differing_paths=tuple(sorted(self._differing)[:_NAMED]),
        )

    @property
    def _at(self) -> str:
        scope = self._sides[0].scope
        return scope.head[:12] if scope.kind == "ref" else "the worktree"

    def _why_nothing_imported(self, name: str, prefix: str) -> str:
        reasons = "; ".join(f"{len(paths):,} {why}" for why, paths in sorted(self._left.items()))
        where = f"the folder {prefix!r}" if prefix else "the top of the repository"
        return (
            f"nothing was imported from {name!r}: {reasons or 'it has no documents'}; its paths "
            f"were taken from {where}: name another folder with --root, or the commit that was "
            "indexed with --ref"
        )

    def _prefix(self, stream: IndexStream, paths: tuple[str, ...]) -> str:
        """The folder that paths start from, with a slash at its end; empty for the top."""
        if self._root is not None:
            folder = self._root.strip("/")
            if inside(f"{folder}/x", "") is None and folder not in {"", "."}:
                raise SettingError(f"{self._root!r} is not a folder of the repository")
            return "" if folder in {"", "."} else f"{folder}/"
        made_in = _path_of(stream.metadata.project_root)
        top = os.path.realpath(self._sides[-1].scope.root).replace("\\", "/")
        if made_in == top:
            return ""
        view_paths = {os.fsdecode(path) for side in self._sides for path in side.snapshot.by_path}
        deepest = max((path.count("/") for path in view_paths), default=0)
        parts = [part for part in made_in.split("/") if part not in {"", ".", ".."}]
        depths = range(1, min(deepest, len(parts)) + 1)
        prefixes = ["", *("/".join(parts[-depth:]) + "/" for depth in depths)]
        hits = {prefix: sum(prefix + path in view_paths for path in paths) for prefix in prefixes}
        return max(prefixes, key=lambda prefix: (hits[prefix], -len(prefix)))

    def _leave_out(self, why: str, path: str) -> None:
        self._left.setdefault(why.format(at=self._at), []).append(path)

    def _documents(self, stream: IndexStream, outline: _Outline, prefix: str) -> Iterator[Imported]:
        seen: set[str] = set()
        tool = stream.metadata.tool_info.name
        for done, document in enumerate(stream.documents()):
            check_cancelled()
            self._progress("importing", done + 1, max(len(outline.paths), done + 1))
            if isinstance(document, Left):
                self._leave_out(document.why, document.path)
                continue
            shown = document.relative_path
            path = inside(shown, prefix)
            if path is None:
                self._leave_out(_LEADS_OUT, shown)
            elif path in seen:
                self._leave_out(_TWICE, shown)
            elif not document.occurrences:
                self._leave_out(_NOTHING_SAID, shown)
            else:
                seen.add(path)
                fitting = self._fitting(document, os.fsencode(path), unit_of(document, tool))
                if fitting is not None:
                    yield self._row(os.fsencode(path), *fitting, outline)

    def _fitting(
        self, document: scip_pb2.Document, path: bytes, unit: int
    ) -> tuple[bytes, PlacedDocument] | None:
        """The hash of the text that was indexed, and the document placed in it."""
        here = [self._text_in(side, path) for side in self._sides]
        texts = [text for text in here if text is not None]
        if document.text:
            own = document.text.encode()
            # The same text may have different bytes on disk: a byte order mark, another encoding.
            same = [text for text in texts if readable(text) == own]
            is_anywhere = bool(texts) or precise_facts.is_indexed(self._db, hash_of(own))
            texts = same[:1] or ([own] if is_anywhere else [])
        if not texts:
            self._leave_out(_ABSENT, document.relative_path)
            return None
        placements = [
            (text, placed)
            for text in dict.fromkeys(texts)
            if (placed := placed_in(document, readable(text), unit)) is not None
        ]
        if not placements:
            self._leave_out(_OTHER_TEXT, document.relative_path)
            return None
        text, placed = max(placements, key=lambda placement: placement[1].whole)
        if here[-1] not in {None, text}:
            self._differing.append(printed(path))
        return hash_of(text), placed

    def _text_in(self, side: CurrentView, path: bytes) -> bytes | None:
        file = side.snapshot.by_path.get(path)
        return side.bytes_of(file) if file is not None else None

    def _row(
        self, path: bytes, content_hash: bytes, placed: PlacedDocument, outline: _Outline
    ) -> Imported:
        is_defined = [outline.knows(symbol) for symbol in placed.symbols]
        uses = [
            Mention(
                use.line, use.column, use.name, use.symbol,
                use.roles & _SIDE_ROLES | KNOWN_THERE * is_defined[use.symbol],
            )
            for use in placed.occurrences
        ]  # fmt: skip
        self._uses += len(uses)
        related = [Related(*row) for row in placed.relations]
        return Imported(content_hash, path, placed.symbols, uses, related)


def _path_of(uri: str) -> str:
    """The path of a root that an indexer wrote, which may be no URI; without a slash at its end."""
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = ""
    return unquote(path).replace("\\", "/").rstrip("/")


def _outline(stream: IndexStream) -> _Outline:
    defined: set[str] = set()
    paths: list[str] = []
    has_unread = False
    for document in stream.documents():
        check_cancelled()
        if isinstance(document, Left):
            has_unread = True
            paths.append(document.path)
            continue
        paths.append(document.relative_path)
        defined.update(
            occurrence.symbol
            for occurrence in document.occurrences
            if occurrence.symbol_roles & DEFINITION
        )
    return _Outline(frozenset(defined), tuple(paths), has_unread)


def import_index(
    pool: IndexPool, request: ViewRequest, file: Path, root: str | None, *, add: bool
) -> ImportedIndex:
    """Import an index file into the index of a repository; see `Engine.scip_import`."""
    with opened_index(file) as stream, pool.view(request) as view:
        head = view.scope.head
        if request.ref is not None or not head:
            run = ScipImport(view, None, root, request.progress)
        else:
            committed = current_view(view.opened.at("HEAD"), request)
            run = ScipImport(committed, view, root, request.progress)
        return run.run(stream, str(file), add=add)


def forget(opened: OpenRepository) -> int:
    """Remove all imported facts of a repository; see `Engine.scip_forget`."""
    with opened.index.lock, opened.index.mended():
        db = opened.index.db
        count = sum(row.documents for row in precise_facts.imports(db))
        with writer_lease.held(db, _LEASE_S) as lease, db.write(lease):
            precise_facts.delete_all(db)
    return count
