"""Cached edges: after any change they equal those of a graph built from scratch."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.resolve.edges import Edge
from codelens.resolve.file_model import FileModel
from codelens.resolve.graph import Graph
from codelens.resolve.graph_state import (
    File,
    GraphState,
    Row,
    dumped,
    loaded_rows,
    packed,
    unpacked_rows,
)
from codelens.store.facts.resolution_facts import Places, surface
from codelens.store.facts.resolution_facts import packed as flow_packed
from codelens.store.facts.resolution_facts import unpacked as flow_unpacked
from codelens.types import Structure


class Contents:
    """Facts of texts by number."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}
        self.facts: list[tuple[str, Structure]] = []
        self.read = 0

    def number(self, text: str, language: str) -> int:
        key = (text, language)
        if key not in self.numbers:
            self.numbers[key] = len(self.facts)
            self.facts.append((language, facts_of(text.encode(), language).structure))
        return self.numbers[key]


def graph(contents: Contents, files: Mapping[str, str], known: GraphState | None = None) -> Graph:
    held: dict[bytes, File] = {}
    for name, text in files.items():
        language = language_of(name.encode(), text.encode())
        number = contents.number(text, language)
        held[name.encode()] = File(number, language, surface(contents.facts[number][1]))

    def load(content: int) -> FileModel:
        contents.read += 1
        language, found = contents.facts[content]
        return FileModel(
            language,
            found.symbols,
            found.references,
            found.imports,
            scopes=found.scopes,
            bindings=found.bindings,
        )

    return Graph(held, load, lambda path: files[path.decode()].encode(), known)


START = {
    "pkg/__init__.py": "from .a import A",
    "pkg/a.py": "class A:\n    def go(self): return 1\n",
    "b.py": "from pkg import A\ndef make() -> A: return A()\n",
    "c.py": "from b import make\nmake().go()\n",
    "d.ts": "export class D { go(): D { return this } }",
    "e.ts": "import { D } from './d'\nnew D().go().go()",
}
EDITS = [
    ("pkg/a.py", "class A:\n    def go(self):\n        x = 2\n        return x\n"),
    ("pkg/a.py", "class A:\n    def went(self): return 1\n    def go(self): return 1\n"),
    ("pkg/a.py", "class B:\n    def go(self): return 1\nclass A(B): ...\n"),
    ("b.py", "from pkg import A\ndef make(): return A()\n"),
    ("b.py", "def make(): return 1\n"),
    ("b.py", None),
    ("b/__init__.py", "from pkg.a import A as X\ndef make(): return X()\n"),
    ("pkg/__init__.py", ""),
    ("pkg/A.py", "def go(): ..."),
    ("d.ts", "export class D { other() {} }\nexport interface D { go(): D }"),
    ("d.ts", None),
    ("d/index.ts", "export class D { go(): D { return this } }"),
    ("e.ts", "import { D } from './d'\nfunction f(x: D) { x.go() }"),
]


@pytest.mark.parametrize("seed", range(12))
def test_kept_edges_equal_those_from_nothing(seed: int) -> None:
    chance = random.Random(seed)
    contents, state, files = Contents(), GraphState(), dict(START)
    now = new = graph(contents, files)
    for _ in range(14):
        name, text = chance.choice(EDITS)
        if text is None:
            files.pop(name, None)
        else:
            files[name] = text
        for other in chance.sample(sorted(START), 2):
            files.setdefault(other, START[other])
        now = graph(contents, files, state)
        chosen_files = chance.sample(sorted(files), chance.randint(1, len(files)))
        new = graph(contents, files)
        for path in chosen_files:
            assert now.edges(path.encode()) == new.edges(path.encode()), path
    assert list(now.every()) == list(new.every())


@pytest.mark.parametrize("kept", [0, 1_000])
def test_after_a_question_its_edges_stay_and_what_it_worked_with_goes(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr("codelens.resolve.graph.ANSWERS_KEPT", kept)
    contents = Contents()
    now, new = graph(contents, START), graph(contents, START)
    for path in START:
        before = now._edges
        assert now.edges(path.encode()) == new.edges(path.encode())
        now.rest()
        # Without the check for cycles, which servers rarely run.
        assert before.answers == 0 or before is now._edges
    assert (now._edges.answers == 0) == (kept == 0)
    assert list(now.every()) == list(new.every())


DECORATED = """
class R:
    def go(self): ...

def other(f):
    return 1

class A:
    @classmethod
    def make(cls):
        return cls()

    @property
    def r(self) -> R: ...

@wraps
def made():
    return R()
"""
DERIVED = """
local Base = {}
local Derived = {}
function Derived.new() return setmetatable({}, Derived) end
local Third = {}
function Base.run() end
setmetatable(Derived, { __index = Base })
return Derived
"""


@pytest.mark.parametrize(
    ("definer", "text", "user", "old", "new"),
    [
        ("d.py", DECORATED, "from d import made\nmade().go()\n", "@wraps", "@other"),
        ("d.py", DECORATED, "from d import A\nA.make().r.go()\n", "@classmeth", "@staticmeth"),
        ("d.lua", DERIVED, 'local d = require("d")\nd.run()\n', "table(Derived,", "table(Third,"),
    ],
)
def test_one_decorator_or_table_for_another_is_seen_by_others(
    definer: str, text: str, user: str, old: str, new: str
) -> None:
    contents, state = Contents(), GraphState()
    path = f"user.{definer[2:]}"
    files = {definer: text, path: user}
    before = graph(contents, files, state).edges(path.encode())
    files[definer] = text.replace(old, new)
    expected = graph(contents, files).edges(path.encode())
    assert graph(contents, files, state).edges(path.encode()) == expected != before


def test_an_edit_inside_a_function_leaves_other_files_alone() -> None:
    contents, state = Contents(), GraphState()
    list(graph(contents, START, state).every())
    files = {
        **START,
        "pkg/a.py": "class A:\n    def go(self):\n        print(1)\n        return 1\n",
    }
    after = graph(contents, files, state)
    contents.read = 0
    list(after.every())
    assert [path for path, _ in after.fresh] == [b"pkg/a.py"]
    assert contents.read <= 2


def test_a_row_is_read_back_as_it_was() -> None:
    edges = [
        Edge(b"a.py", -1, b"b\xff.py", 3, "call", "näme", 7, 1.0),
        Edge(b"a.py", 0, b"a.py", -1, "import", "", 1, 0.5),
    ]
    row = Row(
        4, ((b"b\xff.py", 9),), ((("modules", b"a.py", ".b", ""), (b"b\xff.py",)),), packed(edges)
    )
    assert loaded_rows(4, dumped(row)) == row
    assert unpacked_rows(b"a.py", row.edges) == edges


def test_flow_is_read_back_as_it_was() -> None:
    text = b"import os\nclass A:\n    def f(self, x: int) -> str:\n        return os.f(x).y[0]\n"
    found = facts_of(text, "python").structure
    bare = Places(*zip(*(one[:5] for one in found.references), strict=True))
    scopes, bindings, references = flow_unpacked(flow_packed(found), bare)
    assert (tuple(scopes), tuple(bindings)) == (found.scopes, found.bindings)
    assert tuple(references) == found.references


def test_a_file_is_given_up_midway_and_gone_on_with() -> None:
    text = "def f(): ...\n" + "f()\n" * 50
    held = graph(Contents(), {"a.py": text})
    left = iter(range(20))
    assert held.row_within(b"a.py", lambda: next(left, None) is None) is None
    assert held.fresh == []
    assert len(held.edges(b"a.py")) == 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class Other:\n    def fetch(self): ...\n", 2),
        ("class Other:\n    def other(self): ...\n", 1),
        (None, 1),
    ],
)
def test_possible_edges_follow_the_files_that_define_a_name(
    text: str | None, expected: int
) -> None:
    contents, state = Contents(), GraphState()
    use = "def use(given): given.fetch()\n"
    loader = "class Loader:\n    def fetch(self): ...\n"
    files = {"a.py": loader, "b.py": "class Other: ...\n", "use.py": use}
    now = graph(contents, files, state)
    assert len(now.all_edges(b"use.py")) == 1
    if text is None:
        files = {"c/d.py": loader, "use.py": use}
    else:
        files["b.py"] = text
    after = graph(contents, files, state).all_edges(b"use.py")
    assert after == graph(contents, files).all_edges(b"use.py")
    assert len(after) == expected
