"""If many files contain a name, only its uses are resolved in them: with the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens import Engine
from codelens.engine.current_view import ViewRequest
from codelens.engine.graph import lazy_graph
from codelens.engine.graph.candidate_files import edge_cache_of
from codelens.engine.graph.lazy_graph import LazyGraph, WorkLimit
from codelens.resolve.edges import Edge
from codelens.resolve.walk.edge_table import Node

FILES = {
    "shop/__init__.py": "from shop.item import Item as Thing\n",
    "shop/item.py": (
        "class Base:\n    def __init__(self):\n        self.log()\n    def log(self): pass\n\n\n"
        "class Item(Base):\n    def __init__(self):\n        super().__init__()\n"
        "    def copy(self) -> 'Item':\n        return Item()\n    def log(self): self.copy()\n"
    ),
    "app/a.py": "from shop import Thing as T\n\n\ndef run():\n    T().copy().log()\n    other()\n",
    "app/b.py": "import shop.item as items\n\n\ndef walk(one: items.Item):\n    one.copy()\n",
    "app/c.py": "def other(thing):\n    thing.copy()\n    thing.log()\n",
    "src/Item.php": (
        "<?php\nnamespace Shop;\nclass Item { public function copy() { return new self(); } }\n"
    ),
    "src/run.php": (
        "<?php\nnamespace App;\nuse Shop\\Item as Thing;\n"
        "function run(Thing $t) { $t->copy(); return new Thing(); }\n"
    ),
    "lib/item.rb": (
        "class Item\n  def self.make\n    new\n  end\n  def log\n  end\nend\n"
        "class Part < Item\n  def log\n    super\n  end\nend\nPart.new.log\nItem.make\n"
    ),
    "j/Item.java": (
        "package j;\nclass Item { Item copy(int a) { return new Item(); }\n"
        "  Item copy(String a) { return copy(1); } }\n"
    ),
    "j/Run.java": 'package j;\nclass Run { void run(Item i) { i.copy(1); i.copy("a"); } }\n',
    "c/item.h": (
        "namespace shop { struct Item { Item(); int size() const; };\nint total(Item i); }\n"
    ),
    "c/item.cc": (
        '#include "item.h"\nint shop::Item::size() const { return 1; }\n'
        "int shop::total(shop::Item i) { return i.size() + shop::Item().size(); }\n"
    ),
}


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def edges_by_target(engine: Engine) -> dict[Node, set[Edge]]:
    """All edges to each definition, asked one by one."""
    with engine.pool.view(ViewRequest()) as view, view.reading():
        graph = LazyGraph(view, 60)
        nodes = [
            Node(path, at)
            for path in sorted(graph.resolved.languages)
            for at in range(len(graph.resolved.symbols(path)))
        ]
        return {node: {*graph.edges_to(*node), *graph.possible_to(*node)} for node in nodes}


def test_edges_are_the_same_however_they_are_asked(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = edges_by_target(Engine())
    assert sum(map(len, whole.values())) > 30
    monkeypatch.setattr(lazy_graph, "_MOST_PARTS", 1_000)
    monkeypatch.setenv("CODELENS_HOME", str(repo.root.parent / "other"))
    engine = Engine()
    by_name = edges_by_target(engine)
    with engine.pool.view(ViewRequest()) as view, view.reading():
        cache = edge_cache_of(view)
        assert not len(cache.table), "no file had to be resolved whole"
        assert cache.named
    # A file that was resolved whole also reports uses of other names.
    assert by_name == whole


def test_the_name_index_follows_edits(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()

    def users() -> set[str]:
        answer = engine.related("shop/item.py#Item.copy", kinds=["callers"])
        return {row.node.handle for row in answer.results}

    assert users() == {"shop/item.py#Item.log", "app/a.py#run", "app/b.py#walk"}
    repo.write("app/b.py", FILES["app/b.py"].replace("items.Item", "int"))
    repo.write("app/c.py", "from shop import Thing\n\n\ndef other():\n    Thing().copy()\n")
    assert users() == {"shop/item.py#Item.log", "app/a.py#run", "app/c.py#other"}
    repo.write("shop/__init__.py", "")
    assert users() == {"shop/item.py#Item.log"}


def test_a_file_that_is_asked_about_often_is_resolved_whole(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy_graph, "_MOST_PARTS", 1)
    engine = Engine()
    with engine.pool.view(ViewRequest()) as view, view.reading():
        graph = LazyGraph(view, 60)
        symbols = graph.resolved.symbols(b"shop/item.py")
        places = {symbol.name: at for at, symbol in enumerate(symbols) if symbol.parent >= 0}
        for name in ("copy", "log"):
            assert graph.edges_to(b"shop/item.py", places[name])
        assert b"shop/item.py" in edge_cache_of(view).table


class Clocks:
    """The wall clock, and the CPU time of the thread."""

    def __init__(self) -> None:
        self.wall = self.cpu = 100.0
        self.asked = 0

    def monotonic(self) -> float:
        return self.wall

    def thread_time(self) -> float:
        self.asked += 1
        return self.cpu


def test_the_limit_counts_work_and_not_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks()
    monkeypatch.setattr(lazy_graph, "time", clocks)
    limit = WorkLimit(2.0)
    clocks.wall, clocks.cpu = 105.0, 101.0
    assert not limit.is_reached()
    asked = clocks.asked
    clocks.wall = 105.5
    assert not limit.is_reached()
    assert clocks.asked == asked, "work cannot have run out yet, so it is not asked for"
    clocks.wall, clocks.cpu = 106.5, 102.1
    assert limit.is_reached()


def test_the_clock_ends_a_walk_that_gets_no_work_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks()
    monkeypatch.setattr(lazy_graph, "time", clocks)
    limit = WorkLimit(2.0)
    clocks.wall, clocks.cpu = 109.0, 100.1
    assert limit.is_reached()


def test_work_cut_by_time_resumes(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Engine()
    engine.look()
    rounds = []
    with engine.pool.view(ViewRequest()) as view, view.reading():
        at = next(
            at
            for at, symbol in enumerate(edge_cache_of(view).graph.symbols(b"shop/item.py"))
            if symbol.name == "copy"
        )
        for _ in range(40):
            graph = LazyGraph(view, 60)
            left = iter([False] * 6)
            monkeypatch.setattr(graph, "_late", lambda left=left: next(left, True))
            edges = graph.edges_to(b"shop/item.py", at)
            rounds.append(len(graph.unseen))
            if not graph.unseen:
                break
    assert rounds[0] > 0 == rounds[-1], rounds
    assert {edge.source for edge in edges} == {b"shop/item.py", b"app/a.py", b"app/b.py"}


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("shop/item.py#Item.copy", "app/c.py"), ("src/Item.php#Item.copy", "src/run.php"),
        ("j/Item.java#Item.copy", "j/Run.java"), ("c/item.h#Item.size", "c/item.cc"),
    ],
)  # fmt: skip
def test_uses_for_which_time_ran_out_are_possible_ones(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, target: str, file: str
) -> None:
    monkeypatch.setattr(WorkLimit, "is_reached", lambda _: True)
    monkeypatch.setattr(WorkLimit, "is_exhausted", lambda _: True)
    answer = Engine().related(target, path=repo.root, kinds=["callers"])
    assert answer.receipt.status == "partial" and answer.results == ()
    assert file in {place.rpartition(":")[0] for use in answer.may for place in use.sites}
