"""Sibling versions: of the same definition in `v1/` and `v2/`, the newest comes first."""

from __future__ import annotations

import pytest
from ranking_index import Store, paths

from codelens.rank import definition_search
from codelens.rank.scoring.sibling_versions import siblings_of
from codelens.rank.search_request import Request
from codelens.store.views.views import FileRow

# The old version has more of every word, so that it comes first by its text.
OLD = '''def open_lid(box):
    """Open the lid of a box: lift the lid, turn the lid, and keep the box open."""
    lid = box.lid
    lid.lift()
    lid.turn()
    return box.keep(lid, open=True)


def weigh_box(box):
    """Weigh a box on the scale."""
    return box.scale.weigh(box)
'''
NEW = '''def open_lid(box):
    """Open the lid of a box with the hinge."""
    return box.hinge.move(90)
'''


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("api/v1/box.go", "api/v2/box.go"),
        ("api/v9/box.go", "api/v10/box.go"),
        ("api/v1alpha2/box.go", "api/v1beta1/box.go"),
        ("api/v1beta1/box.go", "api/v1beta2/box.go"),
        ("api/v2beta1/box.go", "api/v1/box.go"),
        ("shop_v1p1beta1/box.py", "shop_v1/box.py"),
        ("shop/v2_0/box.py", "shop/v3/box.py"),
        ("src/Version3/Box.php", "src/Version4/Box.php"),
        ("src/box.v1.ts", "src/box.v2.ts"),
        ("box_v2.py", "box_v3.py"),
        ("rtm/box.py", "rtm/v2/box.py"),
        ("rtm/box.py", "rtm_v2/box.py"),
        ("web/legacy_box.py", "web/box.py"),
        ("src/compat/box.ts", "src/box.ts"),
        ("src/old-api/lid.ts", "src/models/v3/box.ts"),
        ("lib/legacy/box_v04.c", "lib/open/box.c"),
        ("api/v1/lid.go", "api/v2/box.go"),
        ("src/beta/box.py", "src/box.py"),
    ],
)
def test_the_newer_of_two_paths(older: str, newer: str) -> None:
    old, new = siblings_of(older.encode()), siblings_of(newer.encode())
    assert old.is_older_than(new)
    assert not new.is_older_than(old)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("api/v1/box.go", "api/v1/lid.go"),
        ("api/v1/box.go", "shop/v2/box.go"),
        ("box_v1.py", "lid_v2.py"),
        ("net/ipv4/box.c", "net/ipv6/box.c"),
        ("core/box.py", "core/v1/box.py"),
        ("src/mv2/box.py", "src/mv3/box.py"),
        ("src/box.py", "src/lid.py"),
        ("src/legacy/box.py", "src/legacy/lid.py"),
        ("src/shop/legacy/box.py", "src/bank/box.py"),
    ],
)
def test_paths_that_are_not_versions_of_one_another(left: str, right: str) -> None:
    one, other = siblings_of(left.encode()), siblings_of(right.encode())
    assert not one.is_older_than(other)
    assert not other.is_older_than(one)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shop/v1/box.py", "shop/v2/box.py"),
        ("shop/box.py", "shop/v2/box.py"),
        ("shop/old/box.py", "shop/box.py"),
        ("shop/v1/pots.py", "shop/v2/jars.py"),
    ],
)
@pytest.mark.parametrize("query", ["open_lid", "open the lid of a box", "shop.open_lid fails"])
def test_the_newest_version_comes_first(store: Store, old: str, new: str, query: str) -> None:
    view = store.view({old: OLD, new: NEW})
    assert paths(store.search(view, query))[0] == new


@pytest.mark.parametrize(
    "query", ["v1 open_lid", "open the lid of a box in version 1", "shop/v1 open_lid"]
)
def test_an_old_version_that_the_query_asks_for_comes_first(store: Store, query: str) -> None:
    view = store.view({"shop/v1/box.py": OLD, "shop/v2/box.py": OLD + "\n# twice: open, lid\n"})
    assert paths(store.search(view, query))[0] == "shop/v1/box.py"


@pytest.mark.parametrize("query", ["weigh_box", "weigh a box on the scale"])
def test_what_only_the_old_version_has_loses_nothing(store: Store, query: str) -> None:
    files = {"shop/v1/box.py": OLD, "shop/v2/box.py": NEW, "shop/v2/scale.py": "SCALE = 'box'\n"}
    result = store.search(store.view(files), query, explain=True).results[0]
    assert result.file.path == b"shop/v1/box.py"
    assert result.explain is not None
    assert not result.explain.get("superseded")


def test_a_task_gets_the_newest_version_of_a_definition_first(store: Store) -> None:
    files = {"shop/v1/box.py": OLD, "shop/v2/box.py": NEW}

    def read(file: FileRow) -> bytes:
        return files[file.path.decode()].encode()

    rows = definition_search.search(store.view(files), Request("fix open_lid of a box"), read).rows
    named = [row for row in rows if row.symbol >= 0 and row.definition.name == "open_lid"]
    assert [row.judged.evidence.file.path for row in named] == [
        b"shop/v2/box.py",
        b"shop/v1/box.py",
    ]
