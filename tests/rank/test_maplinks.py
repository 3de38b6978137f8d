"""Links that are updated equal those built from scratch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import pytest

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.rank.file_links import Counts, Linking, Links, Source, relinked
from codelens.resolve.imports import Importer

START = {
    "pkg/__init__.py": "from .a import Apple as Fruit\nfrom .b import *\n",
    "pkg/a.py": "class Apple: ...\ndef peel(one): return one\n",
    "pkg/b.py": "from .a import Apple, peel\ndef bake(): return peel(Apple())\n",
    "use.py": "from pkg import Fruit, bake\nFruit()\nbake()\n",
    "mod.py": "import pkg.a\npkg.a.peel(1)\nserve()\n",
    "web/d.ts": "export class Dish { eat() {} }\nexport default Dish",
    "web/e.ts": "import Dish, { Dish as Meal } from './d'\nnew Dish()\nnew Meal()",
    "go/x.go": "package x\nfunc Cook() { Clean() }\n",
    "go/y.go": "package x\nfunc Clean() {}\n",
    "lib/one.rb": "def washing\n  drying\nend\n",
    "lib/two.rb": "def drying\nend\n",
}
EDITS = [
    ("pkg/a.py", "class Apple: ...\ndef peel(one):\n    print(one)\n    return one\n"),
    ("pkg/a.py", "class Apple: ...\ndef serve(): ...\n"),
    ("pkg/a.py", "def peel(): ...\n"),
    ("pkg/__init__.py", "from .a import peel as Fruit\nfrom .b import bake\n"),
    ("pkg/b.py", "from .a import *\ndef bake(): return peel(Apple())\n"),
    ("use.py", "from pkg.a import peel\npeel(2)\n"),
    ("mod.py", "import pkg.b\npkg.b.bake()\n"),
    ("web/d.ts", "export class Plate {}\nexport default Plate"),
    ("web/e.ts", "import { Plate } from './d'\nnew Plate()"),
    ("go/y.go", "package x\nfunc Wash() { Cook() }\n"),
    ("lib/two.rb", "def drying\n  washing\nend\ndef ironing\nend\n"),
    ("lib/one.rb", "def drying\nend\n"),
]


class World:
    """Texts by content, as an index holds them."""

    def __init__(self) -> None:
        self.contents: dict[tuple[str, str], int] = {}
        self.names: dict[int, Counter[str]] = {}
        self.known: dict[tuple[str, int], Source] = {}

    def sources(self, files: Mapping[str, str]) -> list[Source]:
        return [self._source(path, files[path]) for path in sorted(files)]

    def _source(self, path: str, text: str) -> Source:
        language = language_of(path.encode(), text.encode())
        found = facts_of(text.encode(), language).structure
        content = self.contents.setdefault((text, language), len(self.contents))
        self.names[content] = Counter(one.name for one in found.references)
        defined = frozenset(one.name for one in found.symbols if one.parent < 0)
        one = Source(path.encode(), content, language, defined, tuple(found.imports))
        return self.known.setdefault((path, content), one)

    def counts(self, contents: Iterable[int]) -> Iterator[tuple[int, Mapping[str, int]]]:
        for content in sorted(contents):
            if self.names[content]:
                yield content, self.names[content]

    def holding(self, sources: Iterable[Source], names: Set[str]) -> set[bytes]:
        return {
            one.path
            for one in sources
            if names & self.names[one.content].keys()
            or any(names & set(row[:2]) for row in one.imports)
        }


def linked(sources: Sequence[Source], importer: Importer, counts: Counts) -> Links:
    linking = Linking(sources, importer)
    while linking.left:
        linking.go_on(counts)
    return linking.links


def plain(links: Links) -> object:
    return links.weights, dict(links.users), dict(links.importers), dict(links.spread)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_links_after_edits_are_those_from_nothing(seed: int) -> None:
    chance = random.Random(seed)
    world, files = World(), dict(START)
    before = world.sources(files)
    importer = Importer({one.path: one.language for one in before}, {})

    def rebuilt() -> Links:
        return linked(before, importer, world.counts)

    links, updated = rebuilt(), 0
    for _ in range(25):
        for name, text in chance.sample(EDITS, chance.randint(1, 2)):
            files[name] = chance.choice([text, START[name]])
        after = world.sources(files)
        was_updated = relinked(
            links, before, after, importer, counts=world.counts,
            holding=lambda names, after=after: world.holding(after, names),
        )  # fmt: skip
        before = after
        updated += was_updated
        if not was_updated:
            links = rebuilt()
        assert plain(links) == plain(rebuilt())
    assert updated


def test_an_edit_of_a_body_links_one_file() -> None:
    world, files = World(), dict(START)
    before = world.sources(files)
    importer = Importer({one.path: one.language for one in before}, {})
    links = linked(before, importer, world.counts)
    body = "from .a import Apple, peel\ndef bake():\n    return peel(Apple(), 2)\n"
    after = world.sources({**files, "pkg/b.py": body})
    read: list[set[int]] = []

    def counts(contents: Iterable[int]) -> Iterator[tuple[int, Mapping[str, int]]]:
        read.append(set(contents))
        yield from world.counts(read[-1])

    assert relinked(links, before, after, importer, counts=counts, holding=lambda _: set[bytes]())
    assert [len(one) for one in read] == [1, 1]
