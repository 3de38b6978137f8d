"""Small indexes for the tests of ranking: files in, a snapshot out, without a repository.

store = Store(tmp_path / "index.db")
view = store.view({"src/auth.py": "def validate(): ..."})
store.search(view, "validate").results
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.index.ingestion import path_facts
from codelens.rank.search_pipeline import search
from codelens.rank.search_request import Outcome, Ranked, Request
from codelens.store.database.database_opening import open_index
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL
from codelens.store.facts.resolution_facts import pack_facts
from codelens.store.views import views
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import CURRENT, Change, FileRow, ViewState
from codelens.types import ContentHash


class Store:
    """An index file and the texts stored in it."""

    def __init__(self, path: Path) -> None:
        self.db = open_index(path)
        self._texts: dict[tuple[int, bytes], bytes] = {}
        self._ids: dict[tuple[bytes, str], int] = {}

    def view(
        self, files: Mapping[str, str | bytes], *, name: str = "main", per_segment: int = 512
    ) -> Snapshot:
        """A view of `files`, inserted in their order."""
        texts = {
            path.encode(): text.encode() if isinstance(text, str) else text
            for path, text in files.items()
        }
        with self.db.write(None):
            rows = self._contents(texts, per_segment)
            stored_ids = views.find_paths(self.db, texts)
            facts = [path_facts(path) for path in texts if path not in stored_ids]
            ids = {**stored_ids, **views.add_paths(self.db, facts)}
            self.db.execute(
                "INSERT INTO views (scope, kind, worktree, branch, head, index_id, created_s,"
                " accessed_s) VALUES (?, 'worktree', 'w', 'b', 'h', 'i', 0, 0)",
                (name,),
            )
            state = ViewState("h", "i", "", "{}", "{}", 1, True)
            views.apply(
                self.db, self.db.last_id(),
                changes=rows, drop=(), put_folders={}, drop_folders=(), state=state,
                path_ids=ids, text_changed=True,
            )  # fmt: skip
        row = views.find_view(self.db, name)
        assert row is not None
        self._texts.update({(row.id, path): text for path, text in texts.items()})
        return Snapshot(self.db, row, views.files_of(self.db, row.id))

    def _contents(self, texts: Mapping[bytes, bytes], per_segment: int) -> list[Change]:
        changes, docs = [], []
        for path, text in texts.items():
            language = language_of(path, text[:4096], {})
            key = (hashlib.md5(text).digest(), language)
            if key not in self._ids:
                facts = facts_of(text, language)
                hashed = (ContentHash(key[0]), language)
                docs.append(
                    contents.insert(
                        self.db, hashed, 1, TIER_FULL, size_bytes=len(text), facts=pack_facts(facts)
                    )
                )
                self._ids[key] = docs[-1].content
            changes.append(Change(path, self._ids[key], CURRENT, b""))
        for start in range(0, len(docs), per_segment):
            postings.write_segment(self.db, docs[start : start + per_segment])
        return changes

    def search(self, view: Snapshot, query: str, **options: object) -> Outcome:
        """Searches a view; reads texts as they were stored."""

        def read(file: FileRow) -> bytes | None:
            return self._texts[view.row.id, file.path]

        return search(view, Request(query, **options), read)  # type: ignore[arg-type]


def paths(outcome: Outcome) -> list[str]:
    """The paths of the results, in order."""
    return [one.file.path.decode("utf-8", "surrogateescape") for one in outcome.results]


def places(outcome: Outcome) -> list[tuple[str, int, int]]:
    """Path, first and last line of each result, in order."""
    return [(one.file.path.decode(), one.start_line, one.end_line) for one in outcome.results]


def shown(outcome: Outcome) -> Sequence[object]:
    """All that a caller sees of an outcome; equal values are equal to the byte."""
    return [
        outcome.mode,
        outcome.notes,
        [_row(one) for one in outcome.results],
    ]


def _row(one: Ranked) -> tuple[object, ...]:
    near = [[_row(other) for other in others] for others in (one.alike, one.also)]
    bare = one._replace(explain={}, alike=(), also=())
    return (one.file.path, *bare[1:], sorted(one.explain.items()), near)
