"""What a path says by itself: the terms of its stem and folders, and the role of its file."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text
from codelens.store.views.views import PathFacts

# For these the folder says what the file is about (worth .034 on the retrieval benchmark).
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
# Texts of a program in another language, and files that tools write: each has words of the code by
# the thousand and is no answer to where the code is.
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

# Manual pages, and what documentation is made of besides its prose.
_MANUAL_PAGE = re.compile(rb".*[a-z]\.[1-9](?:\.(?:in|prebuilt|html))?$")
_DOC_FOLDERS = frozenset(b"doc docs documentation manual man website".split())
_DOC_FORMAT = re.compile(rb"(?i).*\.(?:x?html?|ya?ml|json5?|toml|xml|css|scss|less|liquid|njk)$")


def role_of_path(path: bytes) -> str:
    """The role that `path_facts` gives, without the terms; empty for the code itself."""
    folder, _, name = path.rpartition(b"/")
    return _role(_folder(folder), name)


def path_facts(path: bytes) -> PathFacts:
    """The facts of one path.

    `role` is the first that holds of `vendored`, `test`, `example`, `generated`, `compat`,
    `translation`, `data`, `prose`, or empty.
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
    """What the folders of a path say."""

    names: frozenset[bytes]
    role: str
    """Of all that lies in them; empty where it depends on the file."""


@lru_cache(maxsize=4096)
def _folder(path: bytes) -> _Folder:
    """The folders of one path: a dozen files share them."""
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
    """The first in the order of `path_facts`, by folder or by name."""
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
    return _role_beside_code(folder.names, name)


def _role_beside_code(folders: frozenset[bytes], name: bytes) -> str:
    """`translation`, `data`, `prose`, or empty."""
    if _TRANSLATION_NAME.match(name) or (
        folders & _TRANSLATION_FOLDERS and _TRANSLATION_FORMAT.match(name)
    ):
        return "translation"
    if _DATA_NAME.match(name):
        return "data"
    if _PROSE_NAME.match(name) or _MANUAL_PAGE.match(name):
        return "prose"
    return "prose" if folders & _DOC_FOLDERS and _DOC_FORMAT.match(name) else ""
