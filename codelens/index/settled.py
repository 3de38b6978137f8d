"""Whether what a look suspects is as the view has it: then nobody needs to wait for a writer.

A file written within a timestamp's granularity of the last look is suspected once more (git's racy
rule), and so is one that was only touched. Its bytes tell.
"""

from __future__ import annotations

from codelens.index.compare import Delta
from codelens.index.sources import Source, Unavailable
from codelens.scan.content import hash_of
from codelens.scope.repository import Scope
from codelens.store.database import Database
from codelens.store.hashes import hashes
from codelens.store.views import CURRENT, FileRow, ViewRow

_MOST_FILES = 100


def is_settled(
    db: Database,
    scope: Scope,
    view: ViewRow,
    files: list[FileRow],
    delta: Delta,
    source: Source,
) -> bool:
    """Whether nothing but signatures differs between a view and the disk.

    Only few files are read for it; where many are suspected the answer is no.
    """
    if len(delta.works) > _MOST_FILES:
        return False
    suspected = {work.path for work in delta.works}
    # Folders that were listed anew and brought no other file differ by their signature alone.
    bare = delta._replace(works=[], folders={})
    if not bare.nothing(view, scope) or delta.unchecked:
        return False
    rows = {file.path: file for file in files if file.path in suspected and file.state == CURRENT}
    known = hashes(db, (row.content for row in rows.values() if row.content is not None))
    for work in delta.works:
        row = rows.get(work.path)
        if row is None or row.content is None:
            return False
        try:
            data, _ = source.fetch(work)
        except (FileNotFoundError, Unavailable):
            return False
        if hash_of(data) != known.get(row.content):
            return False
    return True
