"""Turns files into stored contents: path facts, hashing, extraction of new texts, and progress."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from codelens.cancellation import check_cancelled
from codelens.extract.language_detection import extractor_version, language_by_path, language_of
from codelens.extract.tokenizer import terms_of_text
from codelens.index.text_facts import ANY_SIZE, Source, Unavailable, Work
from codelens.index.worker_pool import Extractor
from codelens.index.worker_process import Task
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.store.database.database import BUSY_S, QUESTION_S, Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, TIER_TEXT, ContentKey
from codelens.store.facts.postings import Doc
from codelens.store.facts.resolution_facts import PackedFacts
from codelens.store.views import views
from codelens.store.views.views import CURRENT, PENDING, Change, PathFacts
from codelens.types import ContentHash, Tier


class Progress(Protocol):
    """A callback for progress, called from the working thread; must be quick and must not raise."""

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """`stage` is `reading` or `indexing`, for display; `done` of `total` files or texts."""
        ...


def silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


# Facts of a path: the terms of its stem and folders, and the role of its file.

# Only the folder of such a file shows its topic (worth .034 on the retrieval benchmark).
_FACELESS = frozenset(b"index mod init __init__ lib main __main__ root".split())
_FOLDERS_KEPT = 3

_TEST_FOLDERS = frozenset(
    b"test tests __tests__ spec specs testing testdata test-data e2e __mocks__ mocks fixtures "
    b"testutil testutils unittest unittests __fixtures__ __snapshots__ step_definitions "
    b"cypress".split()
)
# Source sets (`jvmTest`, `integrationTest`), projects (`Shop.UnitTests`), `integration-tests`.
_TEST_FOLDER = re.compile(
    rb".*[a-z0-9](?:Tests?|Specs)$|.*[._-](?:[A-Z]\w*)?(?:Tests?|Specs)$|.*[a-z0-9][_-]tests$"
)
_EXAMPLE_FOLDERS = frozenset(
    b"example examples demo demos sample samples tutorial tutorials docs_src playground "
    b"benchmark benchmarks bench".split()
)
_VENDOR_FOLDERS = frozenset(
    b"vendor vendored _vendor node_modules third_party third-party thirdparty bower_components "
    b"site-packages".split()
)
_GENERATED_FOLDERS = frozenset(b"generated __generated__ gen dist".split())
_COMPAT_FOLDERS = frozenset(b"compat legacy deprecated".split())

_TEST_NAME = re.compile(
    rb"(?:^test[_.-].*|.*[_.-]tests?(?:\.\w+)+|.*[_.-]specs?(?:\.\w+)+|conftest\.py|tests?\.\w+"
    rb"|.*[_-]unittests?\.\w+|.+\.(?:feature|bats|robot|phpt|\w*test|cy\.\w+)"
    rb"|.+(?:Test|Tests|TestCase|Spec|Specs)\.(?:java|kts?|scala|cs|swift|php|groovy|hs|mm?|cc|cpp|cxx"
    rb"|[cm]?[jt]sx?|dart|vb|fs))$"
)
_GENERATED_NAME = re.compile(
    rb"(?:.*\.pb\.\w+|.*_pb2(?:_grpc)?\.pyi?|.*\.min\.(?:js|css)|.*\.generated\.\w+|.*\.g\.\w+"
    rb"|.*\.lock|package-lock\.json|pnpm-lock\.yaml|go\.sum|.*\.map|.*\.snap)$"
)
_COMPAT_NAME = re.compile(rb"(?:^|.*[_.-])(?:compat|legacy|deprecated)(?:[_.-].*|)\.\w+$")
# Translations of a program's texts, and files that tools write: each repeats thousands of words
# from the code, and none of it is what a question looks for.
_TRANSLATION_NAME = re.compile(
    rb"(?i).*\.(?:po|pot|xlf|xliff|resx|strings|stringsdict|xcstrings|arb|ftl|qm|lproj)$"
)
_TRANSLATION_FOLDERS = frozenset(b"locale locales i18n l10n translations lang langs".split())
_TRANSLATION_FORMAT = re.compile(rb"(?i).*\.(?:json5?|ya?ml|properties|ini|toml|xml|csv|php)$")
_DATA_NAME = re.compile(
    rb"(?i).*\.(?:csv|tsv|svg|geojson|vcxproj|filters|pbxproj|xcscheme|sln|storyboard|xib|ipr|iml"
    rb"|pem|crt|har|out|dat|tmlanguage|plist)$|^\.(?:git|docker|npm|eslint|prettier|hg)ignore$"
    rb"|^\.(?:gitattributes|editorconfig|gitmodules|mailmap|git-blame-ignore-revs)$|^codeowners$"
)
_PROSE_NAME = re.compile(
    rb"(?i).*\.(?:md|markdown|mdx|rst|txt|adoc|asciidoc|org|tex|textile)$|^(?:readme|changelog|"
    rb"changes|licen[cs]e|copying|authors|contributing|news|history|notice)(?:[-_]\w+)?$"
)

# Files that only tools read: they share many words with questions, but describe no behaviour.
_TOOLING_FOLDERS = frozenset(
    b".github .gitlab .circleci .changeset .husky .vscode .idea .devcontainer .buildkite".split()
)
_TOOLING_NAMES = frozenset(
    b"angular.json appveyor.yml bower.json build.bat build.bazel build.cmd build.gradle "
    b"build.gradle.kts build.ps1 build.sbt build.sh build.xml build.zig cargo.toml "
    b"cmakelists.txt composer.json deno.json dockerfile fabfile.py gemfile go.mod go.work "
    b"jenkinsfile justfile lerna.json makefile meson.build mix.exs noxfile.py nx.json "
    b"package.json package.swift podfile pom.xml project.json project.toml pyproject.toml "
    b"rakefile rebar.config renovate.json settings.gradle settings.gradle.kts setup.cfg "
    b"setup.py stack.yaml tox.ini turbo.json vagrantfile workspace.bazel wscript "
    b".gitlab-ci.yml .golangci.yml .goreleaser.yml .pre-commit-config.yaml .readthedocs.yaml "
    b".travis.yml".split()
)
_TOOLING_NAME = re.compile(
    rb".*\.config\.[cm]?[jt]sx?|.*\.(?:gemspec|csproj|fsproj|vbproj|nuspec|props|targets)"
    rb"|\.(?:babel|commitlint|eslint|npm|prettier|stylelint)rc.*|tsconfig.*\.json"
    rb"|(?:gulp|grunt)file\..+|(?:docker-)?compose.*\.ya?ml",
    re.DOTALL,
)

# Manual pages, and the parts of documentation other than its prose.
_MANUAL_PAGE = re.compile(rb".*[a-z]\.[1-9](?:\.(?:in|prebuilt|html))?$")
_DOC_FOLDERS = frozenset(b"doc docs documentation manual man website".split())
_DOC_FORMAT = re.compile(rb"(?i).*\.(?:x?html?|ya?ml|json5?|toml|xml|css|scss|less|liquid|njk)$")

# Scripts of a documentation's pages, bundles, and copies of released libraries
# (`jquery-3.7.1.js`). A migration finds the same paths by GLOB, so these are no stricter.
_ASSET_FOLDERS = frozenset(b"assets static _static public javascripts".split())
_SCRIPT_NAME = re.compile(rb".*\.[cm]?js", re.DOTALL)
_BUNDLE_NAME = re.compile(rb".*\.(?:umd|iife|bundle)\.[cm]?js", re.DOTALL)
_LIBRARY_NAME = re.compile(rb".*-[0-9].*\.[0-9].*\.[0-9].*\.(?:[cm]?js|css)", re.DOTALL)


def role_of_path(path: bytes) -> str:
    """The role that `path_facts` determines, without the terms; empty for ordinary code."""
    folder, _, name = path.rpartition(b"/")
    return _role(_folder(folder), name)


def path_facts(path: bytes) -> PathFacts:
    """The facts of one path.

    `role` is the first that applies of `vendored`, `test`, `example`, `generated`, `compat`,
    `translation`, `data`, `prose`, `tooling`, or empty.
    """
    *folders, name = path.split(b"/")
    stem = name.split(b".")[0] or name
    if stem.lower() in _FACELESS and folders:
        stem = folders[-1]
    near = folders[-_FOLDERS_KEPT:]
    return PathFacts(
        path, " ".join(_terms(stem)), " ".join(_terms(b"/".join(near))), role_of_path(path)
    )


def _terms(text: bytes) -> list[str]:
    return terms_of_text(text.decode("utf-8", "replace"))


class _Folder(NamedTuple):
    """What the folders of a path state about it."""

    names: frozenset[bytes]
    role: str
    """The role of all files in them; empty if it depends on the file."""


@lru_cache(maxsize=4096)
def _folder(path: bytes) -> _Folder:
    """The facts of a path's folders; cached, since a dozen files share them."""
    folders = path.split(b"/") if path else []
    names = frozenset(folder.lower() for folder in folders)
    if names & _VENDOR_FOLDERS:
        role = "vendored"
    elif names & _TEST_FOLDERS or any(map(_TEST_FOLDER.match, folders)):
        role = "test"
    elif names & _EXAMPLE_FOLDERS:
        role = "example"
    elif names & _GENERATED_FOLDERS:
        role = "generated"
    else:
        role = "compat" if names & _COMPAT_FOLDERS else ""
    return _Folder(names, role)


def _role(folder: _Folder, name: bytes) -> str:
    """The first applicable role in the order of `path_facts`, by folder or by name."""
    if folder.role in {"vendored", "test"}:
        return folder.role
    if _TEST_NAME.match(name):
        return "test"
    if folder.role in {"example", "generated"}:
        return folder.role
    if _GENERATED_NAME.match(name):
        return "generated"
    if folder.role or _COMPAT_NAME.match(name):
        return "compat"
    return _role_outside_code(folder.names, name)


def _role_outside_code(folders: frozenset[bytes], name: bytes) -> str:
    """`translation`, `data`, `prose`, `tooling`, or empty."""
    if _TRANSLATION_NAME.match(name) or (
        folders & _TRANSLATION_FOLDERS and _TRANSLATION_FORMAT.match(name)
    ):
        return "translation"
    if _DATA_NAME.match(name):
        return "data"
    if _PROSE_NAME.match(name) or _MANUAL_PAGE.match(name):
        return "prose"
    if folders & _DOC_FOLDERS and _DOC_FORMAT.match(name):
        return "prose"
    lower = name.lower()
    if folders & _DOC_FOLDERS and lower == b"conf.py":
        return "tooling"
    if lower in _TOOLING_NAMES or _TOOLING_NAME.fullmatch(lower) or folders & _TOOLING_FOLDERS:
        return "tooling"
    return _role_of_copy(folders, lower)


def _role_of_copy(folders: frozenset[bytes], name: bytes) -> str:
    """`vendored`, `generated`, or `prose`, for copies that no folder of that role contains."""
    if b".yarn" in folders or _LIBRARY_NAME.fullmatch(name):
        return "vendored"
    if folders & _DOC_FOLDERS and folders & _ASSET_FOLDERS and _SCRIPT_NAME.fullmatch(name):
        return "prose"
    return "generated" if _BUNDLE_NAME.fullmatch(name) else ""


# Ingests files: reads, hashes, looks up, extracts if new, stores.
#
# Each distinct text in a language is extracted once. Contents are written in batches, each in a
# separate transaction: no view refers to them yet, so readers do not notice.

_GROUP_FILES = 128
_GROUP_BYTES = 4_000_000
_FLUSH_BYTES = 64_000_000
_COMMIT_S, _COMMIT_SHARE = 1.0, 1 / 8
"""A run commits after a second, or after this share of its time so far if that is longer. A killed
process loses the work since its last commit. But each commit writes a segment, and a query seeks
every term in every segment: with a sixteenth and 24 MB, Django got 25 segments on a busy machine,
and the first sixth of Linux 51.
"""


class Ingested(NamedTuple):
    """The outcome of a run over a list of work items."""

    changes: list[Change]
    dropped: list[bytes]
    extracted: int
    left: list[Work]
    """Work items not reached before the deadline."""


class _Identified(NamedTuple):
    work: Work
    key: ContentKey
    size_bytes: int
    signature: bytes


class _New(NamedTuple):
    key: ContentKey
    size_bytes: int


class Ingest:
    """One run over a list of work items; call `run` once."""

    def __init__(
        self,
        db: Database,
        lease: Lease | None,
        source: Source,
        extractor: Extractor,
        *,
        tier: Tier = "full",
        languages: Mapping[str, str] | None = None,
        deadline: float | None = None,
        progress: Progress,
        grown: Callable[[list[Change]], None] | None = None,
    ) -> None:
        self._db = db
        self.wait_s = BUSY_S if lease else QUESTION_S
        """How long to wait for another process's transaction."""
        self.sibling = 0
        """Another view with the same settings: a path with the same bytes has the same language
        there.
        """
        self._lease = lease
        self._source = source
        self._extractor = extractor
        self._tier: Tier = tier
        self._overrides = languages or {}
        self._deadline = deadline
        self._progress = progress
        self._grown = grown
        """Called with the changes so far after each store; `run` returns the rest."""
        self._ids: dict[ContentKey, int] = {}
        self._partial: set[ContentKey] = set()
        """Contents of which only the text tier is stored."""
        self._identified: list[_Identified] = []
        self._changes: list[Change] = []
        self._dropped: list[bytes] = []
        self._left: list[Work] = []
        self._blobs: list[tuple[bytes, ContentHash, int]] = []
        self._extracted = 0

    def run(self, works: list[Work]) -> Ingested:
        """Determine the content of each work, storing new ones; the view is not changed."""
        batch: list[tuple[_New, PackedFacts]] = []
        size, stored = 0, time.monotonic()
        started = stored
        for new, facts in self._extractor.run(self._tasks(works)):
            batch.append((new, facts))
            size += new.size_bytes
            now = time.monotonic()
            late = now - stored >= max(_COMMIT_S, _COMMIT_SHARE * (now - started))
            if late or len(batch) >= postings.SEGMENT_DOCS or size >= _FLUSH_BYTES:
                self._store(batch)
                if self._grown is not None:
                    self._grown(self._finished_changes())
                batch, size, stored = [], 0, time.monotonic()
        self._store(batch)
        return Ingested(
            [*self._changes, *self._finished_changes()], self._dropped, self._extracted, self._left
        )

    def _finished_changes(self) -> list[Change]:
        """The changes for the work items whose contents are stored; returns each change once."""
        identified, self._identified = self._identified, []
        changes: list[Change] = []
        for text_state in identified:
            content = self._ids[text_state.key]
            if not content:
                # Its content is still being extracted.
                self._identified.append(text_state)
                continue
            behind = text_state.key in self._partial
            state, signature = (PENDING, b"") if behind else (CURRENT, text_state.signature)
            changes.append(Change(text_state.work.path, content, state, signature))
        return changes

    def _tasks(self, works: list[Work]) -> Iterator[tuple[_New, Task]]:
        done = 0
        for group in _groups(works):
            if self._is_past_deadline():
                self._left.extend(works[done:])
                return
            read = self._read(group)
            self._look_up([text_state.key for text_state, _ in read])
            for at, (text_state, data) in enumerate(read):
                new = text_state.key not in self._ids
                if new and at and self._is_past_deadline():
                    self._left.extend(text_state.work for text_state, _ in read[at:])
                    self._left.extend(works[done + len(group) :])
                    return
                self._identified.append(text_state)
                if new:
                    # A content that the store has already comes with its git object id.
                    self._blobs.append((blob_oid(data), text_state.key[0], len(data)))
                    # A placeholder: storing the facts sets the id before `run` reads it.
                    self._ids[text_state.key] = 0
                    yield _New(text_state.key, len(data)), Task(data, text_state.key[1], self._tier)
            done += len(group)
            stage = "indexing" if self._tier == "full" else "reading"
            self._progress(stage, done, len(works))

    def _is_past_deadline(self) -> bool:
        check_cancelled()
        return self._deadline is not None and time.monotonic() > self._deadline

    def _read(self, group: list[Work]) -> list[tuple[_Identified, bytes]]:
        """The work items of a group with their bytes; none for those identified by object id."""
        by_oid = self._by_oid(group)
        texts_read: list[tuple[_Identified, bytes]] = []
        for work in group:
            text_state = by_oid.get(work.path)
            if text_state is not None and text_state.key in self._ids:
                texts_read.append((text_state, b""))
                continue
            try:
                data, signature = self._source.fetch(work)
            except FileNotFoundError:
                self._dropped.append(work.path)
            except Unavailable as reason:
                self._changes.append(Change(work.path, None, reason.state, reason.signature))
            else:
                language = language_of(work.path, data, self._overrides)
                text_state = _Identified(work, (hash_of(data), language), len(data), signature)
                texts_read.append((text_state, data))
        return texts_read

    def _by_oid(self, group: list[Work]) -> dict[bytes, _Identified]:
        """The work items whose object id the store knows, by path."""
        known = contents.blobs(self._db, [work.oid for work in group if work.oid])
        certain = {
            work: known[work.oid]
            for work in group
            if work.oid in known
            and known[work.oid][1] <= self._source.limit
            and work.size_bytes in (ANY_SIZE, known[work.oid][1])
        }
        languages = {work: language_by_path(work.path, self._overrides) for work in certain}
        unclear = [work.path for work, language in languages.items() if language is None]
        there = views.languages_at(self._db, self.sibling, unclear) if self.sibling else {}
        by_oid: dict[bytes, _Identified] = {}
        for work, (content_hash, size) in certain.items():
            language = languages[work]
            if language is None and there.get(work.path, (b"",))[0] == content_hash:
                language = there[work.path][1]
            if language:
                key = (content_hash, language)
                by_oid[work.path] = _Identified(work, key, size, work.signature)
        self._look_up([text_state.key for text_state in by_oid.values()])
        return by_oid

    def _look_up(self, keys: list[ContentKey]) -> None:
        self._ids.update(self._stored_ids([key for key in keys if key not in self._ids]))

    def _store(self, batch: list[tuple[_New, PackedFacts]]) -> None:
        if not batch and not self._blobs:
            return
        tier = TIER_FULL if self._tier == "full" else TIER_TEXT
        with self._db.write(self._lease, self.wait_s):
            docs: list[Doc] = []
            # Another thread or process may have stored the same text since.
            there = self._stored_ids([new.key for new, _ in batch])
            for new, facts in batch:
                if new.key in there:
                    self._ids[new.key] = there[new.key]
                    continue
                version = extractor_version(new.key[1])
                doc = contents.insert(
                    self._db, new.key, version, tier, size_bytes=new.size_bytes, facts=facts
                )
                docs.append(doc)
                self._ids[new.key] = doc.content
                if tier == TIER_TEXT:
                    self._partial.add(new.key)
            postings.write_segment(self._db, docs)
            contents.insert_blobs(self._db, self._blobs)
        self._blobs.clear()
        self._extracted += len(batch)

    def _stored_ids(self, keys: list[ContentKey]) -> dict[ContentKey, int]:
        """Ids of the contents that need not be extracted."""
        least_tier = TIER_FULL if self._tier == "full" else TIER_TEXT
        tiers: dict[ContentKey, int] = {}
        for key, stored in contents.find(self._db, keys).items():
            # An older extractor never replaces the facts of a newer one.
            if stored.tier >= least_tier and stored.version >= extractor_version(key[1]):
                tiers[key] = stored.id
                if stored.tier == TIER_TEXT:
                    self._partial.add(key)
        return tiers


def _groups(works: list[Work]) -> Iterator[list[Work]]:
    group: list[Work] = []
    size = 0
    for work in works:
        group.append(work)
        size += work.size_bytes
        if len(group) >= _GROUP_FILES or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
