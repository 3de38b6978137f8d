"""Cached edges are valid only for the resolver that made them, and caching never blocks anyone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ranking_index import Store

from codelens.resolve.edges import Edge
from codelens.resolve.graph import Graph, graph_of, keep_graph
from codelens.resolve.graph_state import Row
from codelens.resolve.resolver_version import RESOLVER_VERSION
from codelens.store.facts import stored_edges
from codelens.store.views.snapshot import Snapshot

FILES = {"a.py": "from b import f\nf()\n", "b.py": "def f(): f()\n"}
HOLD = """
import sys, time
from pathlib import Path
from codelens.store.database import writer_lease as leases
from codelens.store.database.database_opening import open_index
leases.acquire(open_index(Path(sys.argv[1])), 5)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return Store(tmp_path / "index.db").view(FILES)


def resolved(snapshot: Snapshot) -> Graph:
    found = graph_of(snapshot, lambda path: FILES[path.decode()].encode())
    list(found.every())
    return found


def rows_of(snapshot: Snapshot, version: int) -> list[bytes]:
    content = snapshot.by_path[b"a.py"].content
    assert content is not None
    return [data for _, data in stored_edges.load(snapshot.db, b"a.py", content, version)]


def test_cached_edges_are_not_resolved_again(snapshot: Snapshot) -> None:
    first = resolved(snapshot)
    assert [path for path, _ in first.fresh] == [b"a.py", b"b.py"]
    assert keep_graph(first, snapshot.db, first.fresh)
    again = resolved(snapshot)
    assert again.fresh == []
    assert list(again.every()) == list(first.every())


def named(graph: Graph, path: bytes, names: set[str]) -> set[tuple[str, int]]:
    edges = graph.edges_named(path, frozenset(names), lambda: False)
    assert edges is not None
    return {(edge.name, edge.line) for edge in edges}


def test_parts_that_were_kept_are_not_resolved_again(snapshot: Snapshot) -> None:
    first = graph_of(snapshot, lambda path: FILES[path.decode()].encode())
    found = named(first, b"a.py", {"f"})
    assert ("f", 2) in found
    assert [part[:2] for part in first.fresh_parts] == [(b"a.py", frozenset({"f"}))]
    assert keep_graph(first, snapshot.db, [], first.fresh_parts)
    again = graph_of(snapshot, lambda path: FILES[path.decode()].encode())
    assert named(again, b"a.py", {"f"}) == found
    assert again.fresh_parts == []
    # For further names only the new ones are resolved.
    assert named(again, b"a.py", {"f", "g"}) == found
    assert [part[:2] for part in again.fresh_parts] == [(b"a.py", frozenset({"g"}))]


def test_a_part_that_was_kept_is_held_packed_and_read_again(snapshot: Snapshot) -> None:
    graph = graph_of(snapshot, lambda path: FILES[path.decode()].encode())
    found = named(graph, b"a.py", {"f"})
    held = graph.known.parts[b"a.py"]
    assert isinstance(held[frozenset({"f"})][0], Row)
    assert keep_graph(graph, snapshot.db, [], graph.fresh_parts)
    assert not isinstance(held[frozenset({"f"})][0], Row)
    assert named(graph, b"a.py", {"f"}) == found
    assert not isinstance(held[frozenset({"f"})][0], Row)
    assert graph.fresh_parts == []


def test_parts_go_when_the_whole_file_is_kept(snapshot: Snapshot) -> None:
    first = graph_of(snapshot, lambda path: FILES[path.decode()].encode())
    named(first, b"a.py", {"f"})
    assert keep_graph(first, snapshot.db, [], first.fresh_parts)
    other = resolved(snapshot)
    assert keep_graph(other, snapshot.db, other.fresh)
    assert snapshot.db.rows("SELECT * FROM edge_parts") == []


def test_parts_of_older_versions_go_and_their_names_with_them(snapshot: Snapshot) -> None:
    content = snapshot.by_path[b"a.py"].content
    assert content is not None
    for version, name in ((1, "f"), (2, "g")):
        part = stored_edges.Part(b"a.py", content, frozenset({name}), b"")
        with snapshot.db.write(None):
            stored_edges.save_parts(snapshot.db, version, [part])
    assert snapshot.db.rows("SELECT version FROM edge_parts") == [(2,)]
    assert snapshot.db.rows("SELECT names FROM name_sets") == [("g",)]
    assert stored_edges.load_parts(snapshot.db, b"a.py", content, 1) == []


def test_rows_of_other_versions_are_not_read(snapshot: Snapshot) -> None:
    kept = snapshot.by_path[b"a.py"].content
    assert kept is not None
    for other in (RESOLVER_VERSION - 1, RESOLVER_VERSION + 1):
        with snapshot.db.write(None):
            snapshot.db.execute("DELETE FROM file_edges")
            stored_edges.save(
                snapshot.db, other, [stored_edges.Whole(b"a.py", kept, 0, b"not to be read")]
            )
        assert b"a.py" in [path for path, _ in resolved(snapshot).fresh]


def test_newer_rows_replace_older_ones_and_never_the_other_way(snapshot: Snapshot) -> None:
    kept = snapshot.by_path[b"a.py"].content
    assert kept is not None
    for version in (2, 3, 2, 1):
        with snapshot.db.write(None):
            stored_edges.save(
                snapshot.db, version, [stored_edges.Whole(b"a.py", kept, 0, b"of %d" % version)]
            )
    assert rows_of(snapshot, 3) == [b"of 3"]
    assert rows_of(snapshot, 2) == []
    assert rows_of(snapshot, 1) == []


def test_the_rows_of_the_last_states_of_a_text_are_kept(snapshot: Snapshot) -> None:
    kept = snapshot.by_path[b"a.py"].content
    assert kept is not None
    states = b"1", b"2", b"2", b"3", b"4"
    for data in states:
        with snapshot.db.write(None):
            stored_edges.save(snapshot.db, 1, [stored_edges.Whole(b"a.py", kept, 0, data)])
    assert rows_of(snapshot, 1) == [b"4", b"3", b"2"]
    for data in states:
        with snapshot.db.write(None):
            part = stored_edges.Part(b"a.py", kept, frozenset({"f"}), data)
            stored_edges.save_parts(snapshot.db, 1, [part])
    parts = stored_edges.load_parts(snapshot.db, b"a.py", kept, 1)
    assert parts == [(frozenset({"f"}), data) for data in (b"4", b"3", b"2")]


def test_two_branches_share_saved_contexts(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    branches = [FILES, FILES | {"b.py": "X = 1\ndef f(): f()\ndef g(): f()\n"}]

    views = [store.view(files, name=str(at)) for at, files in enumerate(branches)]
    edges: list[list[Edge]] = []
    for view in views:
        first = graph_of(view, lambda _: None)
        edges.append(list(first.every()))
        assert keep_graph(first, store.db, first.fresh)
    for view, expected in zip(views, edges, strict=True):
        again = graph_of(view, lambda _: None)
        assert list(again.every()) == expected
        assert again.fresh == []


def test_rows_of_a_content_that_is_gone_are_left_out(snapshot: Snapshot) -> None:
    found = resolved(snapshot)
    with snapshot.db.write(None):
        snapshot.db.execute("DELETE FROM view_blocks")
        snapshot.db.execute("DELETE FROM blocks")
        snapshot.db.execute("DELETE FROM contents")
    assert keep_graph(found, snapshot.db, found.fresh)
    assert snapshot.db.rows("SELECT * FROM file_edges") == []


def test_nothing_is_kept_while_another_process_writes(snapshot: Snapshot) -> None:
    found = resolved(snapshot)
    command = [sys.executable, "-P", "-c", HOLD, str(snapshot.db.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not keep_graph(found, snapshot.db, found.fresh)
        holder.kill()
    # A dead holder blocks nobody.
    assert keep_graph(found, snapshot.db, found.fresh)
    assert rows_of(snapshot, RESOLVER_VERSION)


def test_an_unwritable_index_is_not_an_error(snapshot: Snapshot) -> None:
    found = resolved(snapshot)
    snapshot.db.execute("PRAGMA query_only = ON")
    assert not keep_graph(found, snapshot.db, found.fresh)
