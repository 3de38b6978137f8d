"""The files and folders of views, in blocks of 64 ids.

Views of a repository have nearly all of their files in common. So file rows belong to blocks, which
views share: a view refers to one block for every 64 path ids, and keeps only the stat signatures of
these files itself. A second worktree or branch costs a row per 64 files, and a new block for each
block in which a file differs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from codelens.errors import IndexCorrupt
from codelens.store.database.database import Database
from codelens.store.facts.contents import batched

BLOCK = 64
SIGNATURE_BYTES = 8
_NO_SIGNATURE = bytes(SIGNATURE_BYTES)
_ABSENT, _RACY_FOLDER = bytes(SIGNATURE_BYTES), b"\xff" * SIGNATURE_BYTES

_FILES = """
SELECT p.path, f.path, f.content, f.state
FROM view_blocks v CROSS JOIN block_files f ON f.block = v.block CROSS JOIN paths p ON p.id = f.path
WHERE v.view = ? AND v.changed > ? ORDER BY v.number, f.path
"""
_SIGNATURES = """
SELECT files, signatures FROM view_blocks WHERE view = ? AND changed > ? ORDER BY number
"""
_STORED = """
SELECT number, block, files, signatures FROM view_blocks WHERE view = ? AND number IN ({marks})
"""
_ROWS = """
SELECT block, path, content, state FROM block_files WHERE block IN ({marks}) ORDER BY block, path
"""
_WITH_DIGEST = "SELECT digest, id FROM blocks WHERE digest IN ({marks})"
_ADD_BLOCK = "INSERT INTO blocks (digest) VALUES (?)"
_SET_DIGEST = "UPDATE blocks SET digest = ? WHERE id = ?"
_ADD_ROW = "INSERT INTO block_files (block, path, content, state) VALUES (?, ?, ?, ?)"
_PUT_BLOCK = """
INSERT INTO view_blocks (view, number, block, files, signatures, changed) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (view, number) DO UPDATE SET block = excluded.block, files = excluded.files,
    signatures = excluded.signatures, changed = excluded.changed
"""
_DROP_BLOCK = "DELETE FROM view_blocks WHERE view = ? AND number = ?"
_DROP_UNUSED_OF = """
DELETE FROM blocks WHERE id IN ({marks})
    AND NOT EXISTS (SELECT 1 FROM view_blocks v WHERE v.block = blocks.id)
"""
_DROP_UNUSED = "DELETE FROM blocks WHERE id NOT IN (SELECT block FROM view_blocks)"
_COPY = (
    """
    INSERT INTO view_blocks (view, number, block, files, signatures, changed)
    SELECT ?, number, block, files, signatures, 0 FROM view_blocks WHERE view = ?
    """,
    """
    INSERT INTO view_folders (view, number, signatures)
    SELECT ?, number, signatures FROM view_folders WHERE view = ?
    """,
)
_BLOCKS = "SELECT number, block, files FROM view_blocks WHERE view = ? ORDER BY number"
_FOLDER_BLOCKS = "SELECT number, signatures FROM view_folders WHERE view = ?"
_FOLDER_NAMES = "SELECT id, path FROM folders"
_FOLDER_IDS = "SELECT path, id FROM folders WHERE path IN ({marks})"
_ADD_FOLDER = "INSERT INTO folders (path) VALUES (?)"
_PUT_FOLDERS = "INSERT OR REPLACE INTO view_folders (view, number, signatures) VALUES (?, ?, ?)"
_DROP_FOLDERS = "DELETE FROM view_folders WHERE view = ? AND number = ?"
_ALL_FOLDERS = "SELECT number, signatures FROM view_folders"
_DROP_NAMES = "DELETE FROM folders WHERE id IN ({marks})"

T = TypeVar("T")
File = tuple[int | None, int, bytes]
"""Content, state and signature of a file."""
SharedRow = tuple[bytes, int, int | None, int]
"""Path, path id, content and state of a file in the view that shares it."""
SignaturesOf = Callable[[Sequence[SharedRow]], list[bytes]]
"""Returns the signatures of a view's files from their rows in another view."""


class _Stored(NamedTuple):
    block: int
    files: dict[int, File]


def files_of(
    db: Database,
    view: int,
    make: Callable[[bytes, int, int | None, int, bytes], T],
    since: int = -1,
) -> list[T]:
    """The files of a view, in order of their path ids.

    Args:
        db: the index.
        view: its id.
        make: what to make of path, path id, content, state and signature.
        since: only blocks that were changed after this number of changes of the view.
    """
    with _one_state(db):
        blocks = db.rows(_SIGNATURES, (view, since))
        rows = db.rows(_FILES, (view, since))
    signatures = [signature for count, packed in blocks for signature in _unpacked(packed, count)]
    if len(rows) != len(signatures):
        raise IndexCorrupt(db.path, "a view's signatures do not match its files")
    return [
        make(path, path_id, content, state, signature)
        for (path, path_id, content, state), signature in zip(rows, signatures, strict=True)
    ]


def put_files(db: Database, view: int, files: Mapping[int, File | None], change: int) -> None:
    """Set the files of a view by path id, or remove those that are None.

    In the caller's transaction. `change` is the number of this change of the view.
    """
    touched: dict[int, dict[int, File | None]] = {}
    for path, file in files.items():
        touched.setdefault(path // BLOCK, {})[path] = file
    for numbers in batched(touched):
        stored = _stored_blocks(db, view, numbers)
        now = {number: _with(stored.get(number), touched[number]) for number in numbers}
        ids = _block_ids(db, stored, now)
        db.execute_many(
            _PUT_BLOCK,
            [
                (view, number, ids[number], len(rows), _packed([row[2] for row in rows.values()]),
                 change)
                for number, rows in now.items() if rows
            ],
        )  # fmt: skip
        db.execute_many(_DROP_BLOCK, [(view, number) for number, rows in now.items() if not rows])
        left = {block.block for number, block in stored.items() if ids.get(number) != block.block}
        for blocks in batched(left):
            db.execute(_DROP_UNUSED_OF.format(marks=_marks(blocks)), blocks)


def _stored_blocks(db: Database, view: int, numbers: Sequence[int]) -> dict[int, _Stored]:
    blocks = db.rows(_STORED.format(marks=_marks(numbers)), (view, *numbers))
    ids = [row[1] for row in blocks]
    rows: dict[int, list[tuple[int, int | None, int]]] = {block: [] for block in ids}
    for block, *row in db.rows(_ROWS.format(marks=_marks(ids)), ids):
        rows[block].append((row[0], row[1], row[2]))
    return {
        number: _Stored(
            block,
            {
                path: (content, state, signature)
                for (path, content, state), signature in zip(
                    rows[block], _unpacked(packed, count), strict=True
                )
            },
        )
        for number, block, count, packed in blocks
    }


def _with(stored: _Stored | None, changes: Mapping[int, File | None]) -> dict[int, File]:
    """The files of a block after the changes, in order of their path ids."""
    files: dict[int, File | None] = {**(stored.files if stored else {}), **changes}
    return {path: file for path, file in sorted(files.items()) if file is not None}


def _block_ids(
    db: Database, stored: Mapping[int, _Stored], now: Mapping[int, dict[int, File]]
) -> dict[int, int]:
    """The block of each number that has files, stored if it is new."""
    digests = {number: _digest(files) for number, files in now.items() if files}
    ids: dict[bytes, int] = {}
    for batch in batched(digests.values()):
        ids.update(db.rows(_WITH_DIGEST.format(marks=_marks(batch)), batch))  # type: ignore[arg-type]
    by_number: dict[int, int] = {}
    rows: list[tuple[int, int, int | None, int]] = []
    for number, digest in digests.items():
        before = stored.get(number)
        if digest not in ids and before is not None and _digest(before.files) == digest:
            # A migration made the block, and could not compute its digest.
            db.execute(_SET_DIGEST, (digest, before.block))
            ids[digest] = before.block
        elif digest not in ids:
            db.execute(_ADD_BLOCK, (digest,))
            ids[digest] = db.last_id()
            rows += [(ids[digest], path, *file[:2]) for path, file in now[number].items()]
        by_number[number] = ids[digest]
    db.execute_many(_ADD_ROW, rows)
    return by_number


def _digest(files: Mapping[int, File]) -> bytes:
    rows = [(path, file[0], file[1]) for path, file in files.items()]
    return blake2b(repr(rows).encode(), digest_size=16).digest()


def _packed(signatures: Sequence[bytes]) -> bytes:
    packed = b"".join([signature or _NO_SIGNATURE for signature in signatures])
    assert len(packed) == len(signatures) * SIGNATURE_BYTES
    first = packed[:SIGNATURE_BYTES]
    return first if packed == first * len(signatures) else packed


def _unpacked(packed: bytes, count: int) -> list[bytes]:
    if len(packed) == SIGNATURE_BYTES:
        packed *= count
    signatures = [
        packed[at : at + SIGNATURE_BYTES] for at in range(0, len(packed), SIGNATURE_BYTES)
    ]
    if _NO_SIGNATURE in signatures:
        return [b"" if signature == _NO_SIGNATURE else signature for signature in signatures]
    return signatures


def copy(db: Database, view: int, base: int) -> None:
    """Give a new view the files and folders of another; in the caller's transaction."""
    for sql in _COPY:
        db.execute(sql, (view, base))


def share(
    db: Database, view: int, base: int, signatures_of: SignaturesOf, change: int
) -> dict[bytes, int]:
    """Give a view without files those of another, with its own signatures.

    In the caller's transaction.

    Args:
        db: the index.
        view: its id.
        base: the id of the other view.
        signatures_of: the signatures of all files; empty for those that differ there.
        change: the number of this change of the view.

    Returns:
        Path -> path id of the files that differ. The view has them now, and the caller has to
        replace or remove them.
    """
    rows: Sequence[SharedRow] = db.rows(_FILES, (base, -1))  # type: ignore[assignment]
    signatures = signatures_of(rows)
    shared: list[tuple[int, int, int, int, bytes, int]] = []
    at = 0
    for number, block, count in db.rows(_BLOCKS, (base,)):
        packed = _packed(signatures[at : at + count])
        shared.append((view, number, block, count, packed, change))
        at += count
    if at != len(rows):
        raise IndexCorrupt(db.path, "a view's blocks do not match its files")
    db.execute_many(_PUT_BLOCK, shared)
    return {row[0]: row[1] for row, own in zip(rows, signatures, strict=True) if not own}


def delete_unused(db: Database) -> None:
    """Remove blocks and names of folders that no view has; in the caller's transaction."""
    db.execute(_DROP_UNUSED)
    used = {
        number * BLOCK + at // SIGNATURE_BYTES
        for number, packed in db.rows(_ALL_FOLDERS)
        for at in range(0, len(packed), SIGNATURE_BYTES)
        if packed[at : at + SIGNATURE_BYTES] != _ABSENT
    }
    unused = [row[0] for row in db.rows(_FOLDER_NAMES) if row[0] not in used]
    for batch in batched(unused):
        db.execute(_DROP_NAMES.format(marks=_marks(batch)), batch)


def folders_of(db: Database, view: int) -> dict[bytes, bytes]:
    """Folder -> stat signature at the last look."""
    with _one_state(db):
        blocks = db.rows(_FOLDER_BLOCKS, (view,))
        names: dict[int, bytes] = dict(db.rows(_FOLDER_NAMES) if blocks else ())  # type: ignore[arg-type]
    return {
        names[number * BLOCK + at // SIGNATURE_BYTES]: b""
        if signature == _RACY_FOLDER
        else signature
        for number, packed in blocks
        for at in range(0, len(packed), SIGNATURE_BYTES)
        if (signature := packed[at : at + SIGNATURE_BYTES]) != _ABSENT
    }


def put_folders(db: Database, view: int, put: Mapping[bytes, bytes], drop: Iterable[bytes]) -> None:
    """Set and remove folders of a view; in the caller's transaction."""
    signatures = dict.fromkeys(drop, _ABSENT)
    signatures |= {path: signature or _RACY_FOLDER for path, signature in put.items()}
    ids: dict[bytes, int] = {}
    for paths in batched(signatures):
        ids.update(db.rows(_FOLDER_IDS.format(marks=_marks(paths)), paths))  # type: ignore[arg-type]
    for path in sorted(put.keys() - ids.keys()):
        db.execute(_ADD_FOLDER, (path,))
        ids[path] = db.last_id()
    blocks = {
        number: bytearray(packed) for number, packed in db.rows(_FOLDER_BLOCKS, (view,))
    } if signatures else {}  # fmt: skip
    touched: set[int] = set()
    for path, folder in ids.items():
        number, slot = divmod(folder, BLOCK)
        touched.add(number)
        packed = blocks.setdefault(number, bytearray(BLOCK * SIGNATURE_BYTES))
        at = slot * SIGNATURE_BYTES
        packed[at : at + SIGNATURE_BYTES] = signatures[path]
    present = {number for number in touched if any(blocks[number])}
    db.execute_many(_PUT_FOLDERS, [(view, number, bytes(blocks[number])) for number in present])
    db.execute_many(_DROP_FOLDERS, [(view, number) for number in touched - present])


@contextmanager
def _one_state(db: Database) -> Generator[None]:
    """Let all reads in the block see one state."""
    if db.is_reading:
        yield
        return
    with db.read():
        yield


def _marks(batch: Sequence[object]) -> str:
    return ",".join("?" * len(batch))
