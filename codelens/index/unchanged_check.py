"""Whether what a look suspects is as the view has it: then nobody needs to wait for a writer.

A file written within a timestamp's granularity of the last look is suspected once more (git's racy
rule), and so is one that was only touched. Its bytes tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.index.text_sources import Source, Unavailable, Work
from codelens.index.worktree_comparison import Delta
from codelens.scan.content_hash import hash_of
from codelens.scope.repository import Scope
from codelens.store.database.database import Database
from codelens.store.facts.raw_hashes import hashes
from codelens.store.views.views import CURRENT, FileRow, ViewRow

_MOST_FILES = 100


def changed_works(
    db: Database, files: Iterable[FileRow], works: list[Work], source: Source
) -> list[Work]:
    """Those whose bytes are not what the view has.

    Only few files are read for it; where many are suspected all of them are given back.
    """
    if len(works) > _MOST_FILES:
        return works
    suspected = {work.path for work in works}
    rows = {file.path: file for file in files if file.path in suspected and file.state == CURRENT}
    known = hashes(db, (row.content for row in rows.values() if row.content is not None))

    def is_same(work: Work) -> bool:
        row = rows.get(work.path)
        if row is None or row.content is None:
            return False
        try:
            data, _ = source.fetch(work)
        except (FileNotFoundError, Unavailable):
            return False
        return hash_of(data) == known.get(row.content)

    return [work for work in works if not is_same(work)]


def is_settled(view: ViewRow, scope: Scope, delta: Delta) -> bool:
    """Whether nothing but signatures differs, given the works that `changed_works` left.

    Folders that were listed anew, and sources of ignore rules that were read anew, and brought no
    other file differ by their signature alone.
    """
    bare = delta._replace(folders={}, sources=view.sources)
    return bare.nothing(view, scope) and not delta.unchecked
