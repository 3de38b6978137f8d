"""A part of a name finds it, after exact matches; an exact, unique name is first."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranking_index import Store

from codelens.rank.query import near_matches
from codelens.rank.query.partial_names import abbreviates
from codelens.store.facts import vocabulary

FILES = {
    "auth/session.py": (
        "class Session:\n    pass\n\n\nclass SessionStore:\n    pass\n\n\n"
        "def validate_session(token):\n    return token\n"
    ),
    "auth/bluetooth.py": "def pair_device(x):\n    return x\n",
    "tests/test_auth.py": "def test_it():\n    assert True\n",
}


@pytest.mark.parametrize(
    ("typed", "first", "why"),
    [
        ("Sess", "Session", "name begins with Sess: Session"),
        ("alidate_sess", "validate_session", "name contains alidate_sess: validate_session"),
        (
            "vldSess",
            "validate_session",
            "name fits the abbreviation vldSess: validate_session",
        ),
        ("SessSto", "SessionStore", "name fits the abbreviation SessSto: SessionStore"),
    ],
)
def test_a_part_of_a_name_finds_it_and_says_how(
    tmp_path: Path, typed: str, first: str, why: str
) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view(FILES)
    outcome = store.search(view, typed)
    top = outcome.results[0]
    assert top.why == why
    assert top.file.content is not None
    symbols = view.symbols([top.file.content])[top.file.content]
    assert symbols[top.symbol].name == first


def test_a_part_of_a_file_name_finds_the_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    outcome = store.search(store.view(FILES), "bluetoo")
    top = outcome.results[0]
    assert (top.file.path, top.why) == (
        b"auth/bluetooth.py", "file name begins with bluetoo: bluetooth.py",
    )  # fmt: skip


def test_an_exact_name_comes_before_longer_names(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({**FILES, "z.py": "def sess():\n    pass\n"})
    top = store.search(view, "sess").results[0]
    assert top.file.path == b"z.py"


UNIQUE = {
    "django/tests/queries.py": (
        "class Base:\n    def __init__(self):\n        self.captured_queries = []\n\n"
        "    @property\n    def name_property(self):\n        return 1\n"
    ),
    **{
        f"django/db/m{at}.py": (
            f"def queries_captured_{at}(name):\n    '''Captured queries of the property name.'''\n"
            "    return name.captured_queries, name.name_property\n"
        )
        for at in range(12)
    },
}


@pytest.mark.parametrize("typed", ["captured_queries", "name_property"])
def test_an_exact_and_unique_name_is_first_for_any_kind_and_place(
    tmp_path: Path, typed: str
) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view(UNIQUE)
    top = store.search(view, typed).results[0]
    assert top.file.path == b"django/tests/queries.py"
    assert top.file.content is not None
    assert view.symbols([top.file.content])[top.file.content][top.symbol].name == typed


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("enumNumberMember", b"types/generated/lowercase.ts"),
        ("EnumNumberMember", b"generator/flow.ts"),
        # A word matches names in any case.
        ("traverse", b"core/traverse.ts"),
    ],
)
def test_an_identifier_means_the_definition_in_its_own_case(
    tmp_path: Path, typed: str, path: bytes
) -> None:
    store = Store(tmp_path / "index.db")
    body = "  const enumMember = number(node);\n" * 6
    view = store.view(
        {
            "types/generated/lowercase.ts": (
                "// @generated\nexport function enumNumberMember(id) {\n  return id;\n}\n"
            ),
            "generator/flow.ts": f"export function EnumNumberMember(node) {{\n{body}}}\n",
            "core/traverse.ts": "export class Traverse {\n  run() {}\n}\n",
            "test/fixture.ts": "const box = {\n  traverse: 1,\n};\n",
        }
    )
    assert store.search(view, typed).results[0].file.path == path


@pytest.mark.parametrize(
    ("typed", "name", "fits"),
    [
        ("vldSess", "validateSession", True),
        ("vldsess", "validate_session", True),
        ("vldSess", "validateEssence", False),
        ("HTTPReq", "HTTPServerRequest", True),
        ("ssv", "validateSession", False),
    ],
)
def test_letters_abbreviate_words_in_order(typed: str, name: str, fits: bool) -> None:
    assert abbreviates(typed, name) is fits


def test_keys_that_are_kept_in_memory_are_those_of_the_index(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")

    def holding(part: str) -> list[str]:
        return sorted(vocabulary.keys_holding(store.db, part))

    def stored(part: str) -> list[str]:
        return sorted(row[0] for row in store.db.rows(vocabulary.KEYS_HOLDING, (part,)))

    files = {"a.py": "def find_user(): ...\ndef Ünique_user(): ...\ndef other(): ...\n"}
    store.view(files)
    assert holding("user") == stored("user") != []
    assert holding("user") == stored("user"), "kept from now on"
    for number in range(40):
        files[f"b{number}.py"] = f"def user_names_{number}(): ...\n\n\nclass UserOf{number}: ...\n"
        store.view(files, name=f"edit {number}")
        assert holding("user") == stored("user")
        assert holding("ser") == stored("ser")
    assert holding("nothing") == []


def test_names_spelt_nearly_so_are_the_same_when_keys_are_kept_in_memory(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    names = [
        "find_user",
        "find_users",
        "fnid_user",
        "ifnd_user",
        "find_usr",
        "finder",
        "zebra",
        "Z",
    ]
    view = store.view({"a.py": "".join(f"def {name}(): ...\n" for name in names)})
    typed = ["find_usre", "fidn_user", "fnd_user", "zbera", "aebra", "finduserz"]
    stored = [near_matches.names_spelt_alike(view, name) for name in typed]
    vocabulary.keys_holding(store.db, "user")
    vocabulary.keys_holding(store.db, "user")
    assert [near_matches.names_spelt_alike(view, name) for name in typed] == stored
    assert stored[0] and stored[3]
