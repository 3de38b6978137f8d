"""Uses in Python whose receiver has no known type: possible edges by the name of the method."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

LIB = """\
class Loader:
    def fetch(self): ...
    def get(self): ...

class Other:
    def fetch(self): ...

class Sub(Loader):
    def __init__(self, loader): self.loader = loader
    @property
    def size(self): ...
"""


def possible(body: str, head: str = "", given: str = "given") -> list[str]:
    use = f"{head}\nclass User:\n    def use(self, {given}):\n        {body}\n"
    found = edges_of({"lib.py": LIB, "use.py": use}, certain=False)
    return [edge.partition("lib.py:")[2] for edge in found if edge.startswith("use.py:User.use")]


@pytest.mark.parametrize(
    "body",
    [
        "given.fetch()",
        "given.other.fetch()",
        "self.mixed.fetch()",
        "self.fetch()",
        "given[1:2].fetch()",
        "x = given.make(); x.fetch()",
        "x = getattr(given, 'a'); x.fetch()",
    ],
)
def test_a_receiver_of_unknown_type_may_have_any_method_of_that_name(body: str) -> None:
    assert possible(body) == ["Loader.fetch", "Other.fetch"]


@pytest.mark.parametrize(
    "body",
    [
        "given.get()",
        "'text'.fetch()",
        "x = open('a'); x.fetch()",
        "x = there.make(); x.fetch()",
        "there.fetch()",
        "super().fetch()",
        "given.size()",
    ],
)
def test_external_and_builtin_values_are_not_possible_receivers(body: str) -> None:
    expected = ["Sub.size"] if "size" in body else []
    assert possible(body, "import there") == expected


@pytest.mark.parametrize("given", ["given: str", "given: 'there.Type'"])
def test_values_of_external_types_are_not_possible_receivers(given: str) -> None:
    assert possible("given.fetch()", "import there", given) == []


def test_an_attribute_made_from_outside_is_of_no_class_of_the_view() -> None:
    head = "import there\nclass Base:\n    def __init__(self): self.kept = there.make()"
    use = f"{head}\nclass User(Base):\n    def use(self):\n        self.kept.fetch()\n"
    assert edges_of({"lib.py": LIB, "use.py": use}, certain=False) == []


def test_a_property_is_read_without_a_call() -> None:
    head = "from lib import size"
    assert edges_of(
        {"lib.py": LIB, "use.py": f"{head}\ndef use(given): return given.size\n"}, "ref",
        certain=False,
    ) == ["use.py:use -> lib.py:Sub.size"]  # fmt: skip


def test_too_many_methods_are_not_listed() -> None:
    many = "".join(f"class C{at}:\n    def fetch(self): ...\n" for at in range(33))
    assert edges_of({"a.py": f"{many}\ndef use(given): given.fetch()\n"}, certain=False) == []


OVERRIDE = """\
class Base:
    def run(self): self.step()
    def step(self): ...

class First(Base):
    def step(self): ...

class Second(First):
    def step(self): super().step()

class Apart:
    def step(self): ...

def use(base: Base): base.step()
def exact():
    made = Base()
    made.step()
def named(): Base.step(Base())
"""


def test_an_override_may_run_instead() -> None:
    assert edges_of({"a.py": OVERRIDE}, certain=False) == [
        "a.py:Base.run -> First.step",
        "a.py:Base.run -> Second.step",
        "a.py:use -> First.step",
        "a.py:use -> Second.step",
    ]
    assert "a.py:use -> Base.step" in edges_of({"a.py": OVERRIDE})


HANDED = {
    "a parameter": (
        "def match(token): ...\ndef other(): run(match)\n",
        "def run(match): match(1)\n",
        {"use.py:run -> lib.py:match"},
    ),
    "an inner function": (
        "def group(tokens):\n    def match(token): ...\n    run(tokens, match=match)\n",
        "def run(tokens, match=None): match(1)\n",
        {"use.py:run -> lib.py:group.match"},
    ),
    "a function that its file only calls": (
        "def match(token): ...\ndef other(): match(1)\n",
        "def run(match): match(1)\n",
        set[str](),
    ),
    "an attribute": (
        "def coerce(value): ...\nfield = Field(coerce)\n",
        "class Field:\n"
        "    def __init__(self, coerce): self.coerce = coerce\n"
        "    def process(self): self.coerce(1)\n",
        {"use.py:Field.process -> lib.py:coerce"},
    ),
    "elements of a collection": (
        "class First:\n    def process(self): ...\n\nclass Second:\n    def process(self): ...\n",
        "class Stack:\n"
        "    def __init__(self): self.filters = {}\n"
        "    def run(self):\n"
        "        for name, filter_ in self.filters.items(): filter_.process()\n",
        {"use.py:Stack.run -> lib.py:First.process", "use.py:Stack.run -> lib.py:Second.process"},
    ),
    "a mixin of a derived class": (
        "class Tokens:\n    def alias(self): ...\n    def has(self): self.alias()\n\n"
        "class Named:\n    def alias(self): ...\n\nclass Both(Named, Tokens): ...\n",
        "",
        {"lib.py:Tokens.has -> Named.alias"},
    ),
    "a mixin that comes after its base": (
        "class Tokens:\n    def alias(self): ...\n    def has(self): self.alias()\n\n"
        "class Named:\n    def alias(self): ...\n\nclass Both(Tokens, Named): ...\n",
        "",
        set[str](),
    ),
    "overrides of a union": (
        "class A:\n    def run(self): ...\nclass B(A):\n    def run(self): ...\n"
        "class C:\n    def run(self): ...\n",
        "from lib import A, C\ndef go(x: A | C): x.run()\n",
        {f"use.py:go -> lib.py:{owner}.run" for owner in "ABC"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(HANDED))
def test_what_was_handed_in_may_run(case: str) -> None:
    defining, using, expected = HANDED[case]
    found = edges_of({"lib.py": defining, "use.py": using}, certain=False)
    assert {edge.partition(" (")[0] for edge in found} & expected == expected
    if not expected:
        assert found == []
