"""Writes facts of commits to packs, and merges packs after verifying a sample of their facts."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from codelens.answers.upkeep_answers import PackAnswer, UnpackAnswer
from codelens.cancellation import check_cancelled
from codelens.engine.current_view import OpenRepository, ViewRequest
from codelens.engine.index_pool import IndexPool
from codelens.engine.output_file import output_file
from codelens.errors import DiskFull, NotInGit, ReadError, SettingError
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.extract.language_detection import all_traits, extractor_version, language_of
from codelens.index.ingestion import Progress
from codelens.index.worker_process import Task, extract
from codelens.paths import NO_ROOM, printed
from codelens.scan.content_hash import hash_of
from codelens.scope.commits import read_tree
from codelens.scope.repository import Repository
from codelens.secret_files import has_secret_values
from codelens.secret_masking import holds_key
from codelens.store.database import writer_lease
from codelens.store.facts.contents import ContentKey
from codelens.store.packs import (
    MalformedRecord,
    PackedContent,
    PackReader,
    PackWriter,
    UnusablePack,
    decoded,
    encoded,
    merge,
    packable,
    packed_contents,
)
from codelens.types import CommitId

SAMPLE_FILES = 48
_TITLE = "pack"
_SAMPLE_BYTES = 100_000
"""Maximum size of a sampled file: verifying must be cheaper than indexing."""


def sampled_texts(
    repository: Repository, commit: CommitId, languages: Mapping[str, str]
) -> dict[ContentKey, bytes]:
    """Random texts of files of a commit, by the key of their facts.

    Raises:
        ReadError: this clone lacks the commit's trees.
    """
    files = read_tree(repository, commit).files
    # Unpredictable for the author of the pack.
    drawn = random.SystemRandom().sample(files, min(len(files), SAMPLE_FILES))
    texts: dict[ContentKey, bytes] = {}
    for file in drawn:
        try:
            data = repository.read_blob(file.oid)
        except ReadError:
            continue  # A partial clone lacks it.
        if len(data) <= _SAMPLE_BYTES:
            texts[hash_of(data), language_of(file.path, data, languages)] = data
    return texts


def facts_again(texts: Mapping[ContentKey, bytes]) -> Iterator[tuple[ContentKey, object]]:
    """The facts of texts in the form of a pack, extracted now."""
    for key, data in texts.items():
        (facts,) = extract([Task(data, key[1], "full")])
        yield key, facts._replace(vectors=None, symbol_rows=list(facts.symbol_rows))


# Writes facts of commits to a pack, and merges a pack into the index of a repository.
#
# A pack is not trusted about the disk: it has no path and no object id. Files are read and hashed
# here, as always; a text whose hash and language are in the pack is not extracted again. Its facts
# are compared with those that this codelens extracts, for some texts selected at random.

_LEASE_S = 600.0
_BATCH = 512


def pack(
    pool: IndexPool,
    path: str | Path,
    file: Path,
    *,
    refs: Sequence[str],
    since: str,
    progress: Progress,
) -> PackAnswer:
    """See `Engine.pack`."""
    opened = pool.open_any(path)
    if opened.scope.kind == "folder":
        raise NotInGit(opened.scope.root, "it cannot be packed")
    hides = pool.settings.mask_secrets
    secret: set[object] = set()
    commits: list[str] = []
    ids: set[int] = set()
    for ref in dict.fromkeys(refs or ("HEAD",)):
        commit, contents = _contents_of(pool, path, ref, progress)
        commits.append(commit)
        ids |= contents.keys()
        if hides:
            secret |= {id_ for id_, is_secret in contents.items() if is_secret}
    ids -= secret
    since_commit = ""
    if since:
        since_commit, contents = _contents_of(pool, path, since, progress)
        ids -= contents.keys()
    head = {
        "extractor": EXTRACTOR_VERSION, "byteorder": sys.byteorder, "commits": commits,
        "since": since_commit,
    }  # fmt: skip
    with opened.index.lock, _spool() as spool:
        records = _Spooled(spool)
        with opened.index.db.read():
            for done, content in enumerate(packed_contents(opened.index.db, ids)):
                check_cancelled()
                record = encoded(content)
                if hides and holds_key(record.decode("latin-1")):
                    secret.add(content.key)
                else:
                    records.add(content.key, record)
                progress("packing", done + 1, len(ids))
        count, left_out = _written(file, head, records)
    size = file.stat().st_size
    return PackAnswer(str(file), tuple(commits), since_commit, count, left_out, size, len(secret))


def _contents_of(
    pool: IndexPool, path: str | Path, ref: str, progress: Progress
) -> tuple[str, dict[int, bool]]:
    """The commit of a ref, and the contents of its files: whether a name suggests secrets."""
    with pool.view(ViewRequest(path, ref, None, progress)) as view:
        if view.refreshed.status != "fresh":
            raise ReadError(f"{ref!r} could not be indexed completely: {view.refreshed.note}")
        contents = packable(view.index.db, view.refreshed.view.id, _versions())
        files = view.snapshot.by_content
        return view.scope.head, {
            content: any(has_secret_values(printed(file.path)) for file in files[content])
            for content in contents
        }


def unpack(pool: IndexPool, path: str | Path, file: Path, progress: Progress) -> UnpackAnswer:
    """See `Engine.unpack`."""
    opened = pool.open(path, None)
    try:
        with file.open("rb") as source:
            reader = PackReader(source, str(file))
            _refuse_other_version(reader, str(file))
            expected = _sample(opened)
            with opened.index.lock, opened.index.mended():
                return _Merge(str(file), expected, progress).run(opened, reader)
    except OSError as error:
        raise SettingError(
            f"cannot read the pack {str(file)!r}: {error.strerror or error}; name a file of "
            "`codelens pack`"
        ) from error


def _sample(opened: OpenRepository) -> Mapping[ContentKey, object]:
    if not opened.scope.head:
        return {}
    try:
        texts = sampled_texts(opened.repository, opened.scope.head, opened.settings.languages)
    except ReadError:
        return {}
    return dict(facts_again(texts))


def _refuse_other_version(reader: PackReader, name: str) -> None:
    made_by = reader.head.get("extractor")
    if made_by != EXTRACTOR_VERSION:
        raise UnusablePack(
            name,
            f"it was made with version {str(made_by)[:20]} of the extractor, this codelens has "
            f"{EXTRACTOR_VERSION}",
            "make it again with this version",
        )
    if reader.head.get("byteorder") != sys.byteorder:
        raise UnusablePack(name, "it was made on a machine with another byte order")


class _Merge:
    """The merge of one pack into an index; call `run` once.

    Args:
        file: the pack, for messages.
        expected: facts of some texts, as this codelens extracts them.
        progress: called with the progress.
    """

    def __init__(
        self, file: str, expected: Mapping[ContentKey, object], progress: Progress
    ) -> None:
        self._file = file
        self._expected = expected
        self._progress = progress
        self._count = self._outdated = self._compared = 0

    def run(self, opened: OpenRepository, reader: PackReader) -> UnpackAnswer:
        """Merge the whole pack, or nothing."""
        db, merged = opened.index.db, 0
        stated = reader.head.get("contents")
        total = stated if isinstance(stated, int) else 0
        with writer_lease.held(db, _LEASE_S) as lease, db.write(lease):
            for batch in self._batches(reader):
                merged += merge(db, batch)
                self._progress("merging", self._count, max(total, self._count))
        return UnpackAnswer(self._file, self._count, merged, self._outdated, self._compared)

    def _batches(self, reader: PackReader) -> Iterator[list[PackedContent]]:
        versions = _versions()
        batch: list[PackedContent] = []
        for content in self._contents(reader):
            self._count += 1
            if content.version != versions.get(content.key[1]):
                self._outdated += 1
                continue
            self._compare(content)
            batch.append(content)
            if len(batch) == _BATCH:
                yield batch
                batch = []
        yield batch

    def _contents(self, reader: PackReader) -> Iterator[PackedContent]:
        try:
            for record in reader.records():
                check_cancelled()
                yield decoded(record)
        except MalformedRecord as error:
            raise UnusablePack(self._file, f"it is malformed ({error})") from error

    def _compare(self, content: PackedContent) -> None:
        expected = self._expected.get(content.key)
        if expected is None:
            return
        if content.facts != expected:
            raise UnusablePack(
                self._file,
                "its facts differ from those of this repository's text",
                "do not use packs of its author",
            )
        self._compared += 1


def _versions() -> dict[str, int]:
    return {language: extractor_version(language) for language in all_traits()}


@contextmanager
def _spool() -> Generator[IO[bytes]]:
    """An unnamed temporary file: encoded records are sorted before they are written.

    Raises:
        DiskFull: there is no room for it, which may show only when it is closed.
        SettingError: it cannot be written for another reason.
    """
    try:
        with tempfile.TemporaryFile() as spool:
            yield spool
    except OSError as error:
        folder = tempfile.gettempdir()
        if error.errno in NO_ROOM:
            raise DiskFull(folder) from error
        raise SettingError(
            f"cannot write a temporary file in {folder!r}: {error.strerror or error}; set TMPDIR "
            "to another folder"
        ) from error


class _Spooled:
    """Records written in the order of the index, and read in the order of a pack."""

    def __init__(self, spool: IO[bytes]) -> None:
        self._spool = spool
        self._places: list[tuple[ContentKey, int, int]] = []

    def add(self, key: ContentKey, record: bytes) -> None:
        self._places.append((key, self._spool.tell(), len(record)))
        self._spool.write(record)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[bytes]:
        for _, at, length in sorted(self._places):
            self._spool.seek(at)
            yield self._spool.read(length)


def _written(file: Path, head: Mapping[str, Any], records: _Spooled) -> tuple[int, int]:
    """Write a pack; returns the records, and how many were too large."""
    left_out = 0
    with output_file(file, _TITLE) as out:
        writer = PackWriter(out, {**head, "contents": len(records)})
        for record in records:
            check_cancelled()
            left_out += not writer.add(record)
        writer.close()
    return writer.count, left_out
