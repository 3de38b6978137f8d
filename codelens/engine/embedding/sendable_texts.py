"""Selects the texts of a view that may be sent to a provider, and those without a vector."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.cancellation import check_cancelled
from codelens.engine.current_view import CurrentView
from codelens.extract.file_kinds import decode
from codelens.scan.content_hash import hash_of
from codelens.secret_files import may_hold_secrets
from codelens.secret_masking import holds_key
from codelens.store import vector_tables as table
from codelens.store.database.database import Database
from codelens.store.facts.contents import ScoredChunk, hashes
from codelens.store.vector_tables import ContentKey, ContentTexts

_NEVER = frozenset({"binary", "oversized", "minified"})
"""Outcomes without text worth a vector."""
_AT_ONCE = 200
NO_TEXT = bytes(table.HASH_BYTES)
"""Stands for a chunk of only whitespace, which providers reject."""


class Sendable(NamedTuple):
    """The part of a view that may be sent."""

    contents: Mapping[int, ContentKey]
    files: int
    left_out: int
    """Files whose names suggest secrets."""


class Lacking(NamedTuple):
    """Texts without a vector."""

    texts: Mapping[bytes, str]
    """By hash; at most the requested number."""
    total: int
    """Number of all texts without a vector."""
    size_bytes: int
    """Size of `texts`."""
    left_out: int
    """Contents that contain a key or token."""


def sendable(view: CurrentView) -> Sendable:
    """The contents of a view that may be sent, judging by names and kinds."""
    by_content = view.snapshot.by_content
    about = view.snapshot.about(by_content)
    secret = {
        content
        for content, files in by_content.items()
        if any(may_hold_secrets(file.path) for file in files)
    }
    chosen = [
        content
        for content, content_facts in about.items()
        if content not in secret
        and content_facts.outcome not in _NEVER
        and content_facts.size_bytes
    ]
    content_hashes = hashes(view.snapshot.db, chosen)
    keys = {
        content: (bytes(content_hashes[content]), about[content].language) for content in chosen
    }
    files = sum(len(by_content[content]) for content in chosen)
    return Sendable(keys, files, sum(len(by_content[content]) for content in secret))


def note_texts(view: CurrentView, db: Database, contents: Mapping[int, ContentKey]) -> None:
    """Store the texts of chunks for contents where they are not stored yet.

    A file that changed since the view was built is left for the next time.
    """
    texts_by_key = table.texts_of(db, contents.values())
    for batch in _batches(sorted(contents)):
        check_cancelled()
        chunks = view.snapshot.chunks(batch)
        rows: dict[ContentKey, ContentTexts] = {}
        for content in batch:
            key, cut = contents[content], chunks.get(content, [])
            spans = table.spans_of(cut)
            if key in texts_by_key and texts_by_key[key].spans == spans:
                continue
            texts = _texts(view, content, key, cut)
            if texts is not None:
                rows[key] = ContentTexts(spans, b"".join(map(_hash, texts)))
        if rows:
            with db.write(None):
                table.put_texts(db, rows)


def texts_by_content(
    db: Database, contents: Mapping[int, ContentKey]
) -> dict[int, Sequence[bytes]]:
    """The stored texts of contents' chunks; `NO_TEXT` among them."""
    texts_by_key = table.texts_of(db, contents.values())
    return {
        content: texts_by_key[key].hashes()
        for content, key in contents.items()
        if key in texts_by_key
    }


def lacking(
    view: CurrentView,
    db: Database,
    fingerprint: int | None,
    contents: Mapping[int, ContentKey],
    *,
    most_texts: int | None = None,
    elsewhere: Collection[bytes] = (),
) -> Lacking:
    """Texts of contents that have no vector, in a fixed order.

    Args:
        view: reads the files.
        db: the repository's vectors, after `note_texts`.
        fingerprint: of the vectors; None if there are none.
        contents: those that may be sent.
        most_texts: maximum number of texts; None: all.
        elsewhere: texts that have a vector in another store.
    """
    by_content = texts_by_content(db, contents)
    every = {text for row in by_content.values() for text in row} - {NO_TEXT}
    have = table.known_texts(db, fingerprint, every) if fingerprint is not None else set[bytes]()
    without = every - have - set(elsewhere)
    texts = read_texts(view, db, contents, without, most_texts)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts.values())
    with_keys = sum(1 for row in by_content.values() if not row)
    return Lacking(texts, len(without), size, with_keys)


def read_texts(
    view: CurrentView,
    db: Database,
    contents: Mapping[int, ContentKey],
    text_hashes: Collection[bytes],
    most_texts: int | None = None,
) -> dict[bytes, str]:
    """The words of texts by hash, in a fixed order; skips files that changed meanwhile.

    Args:
        view: reads the files.
        db: the repository's vectors, after `note_texts`.
        contents: where to find the texts.
        text_hashes: of the texts to read.
        most_texts: maximum number of texts; None: all.
    """
    by_content = texts_by_content(db, contents)
    texts: dict[bytes, str] = {}
    for batch in _batches(sorted(by_content)):
        open_contents = [
            content for content in batch
            if any(text in text_hashes and text not in texts for text in by_content[content])
        ]  # fmt: skip
        if not open_contents or (most_texts is not None and len(texts) >= most_texts):
            continue
        check_cancelled()
        chunks = view.snapshot.chunks(open_contents)
        for content in open_contents:
            cut = _texts(view, content, contents[content], chunks.get(content, []))
            pairs = zip(by_content[content], cut or (), strict=False)
            texts.update({text: words for text, words in pairs if text in text_hashes})
    if most_texts is not None:
        texts = dict(list(texts.items())[:most_texts])
    return texts


def _texts(
    view: CurrentView, content: int, key: ContentKey, chunks: Sequence[ScoredChunk]
) -> list[str] | None:
    """The text of each chunk; empty for a file with a key; None if it cannot be read."""
    text = text_of(view, content, key)
    if not text:
        return None if text is None else []
    return [
        text[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace").strip()
        for chunk in chunks
    ]


def text_of(view: CurrentView, content: int, key: ContentKey) -> bytes | None:
    """A content's text in UTF-8; empty if it has a key; None if its files changed."""
    text = unchanged_text(view, content, key[0])
    if text is None:
        return None
    return b"" if holds_key(text.decode("utf-8", "replace")) else text


def unchanged_text(view: CurrentView, content: int, content_hash: bytes) -> bytes | None:
    """A content's text in UTF-8 for use on this machine, with keys; None if its files changed."""
    data = next(
        (
            data
            for file in view.snapshot.by_content[content]
            if (data := view.bytes_of(file)) is not None and hash_of(data) == content_hash
        ),
        None,
    )
    return None if data is None else decode(data)


def _hash(text: str) -> bytes:
    return table.text_hash(text, "document") if text else NO_TEXT


def _batches(contents: Sequence[int]) -> Iterable[Sequence[int]]:
    return (contents[at : at + _AT_ONCE] for at in range(0, len(contents), _AT_ONCE))
