"""Names of Python: scopes, imports, classes, receivers; uncertain ones give no edge."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

BASE = """\
class Base:
    def run(self): ...
    def copy(self): return self
    def __enter__(self): return self

class Part(Base):
    def turn(self) -> "Base": ...

def make() -> Part: ...
"""


def calls(body: str, *, head: str = "from lib import Base, Part, make") -> list[str]:
    files = {"lib.py": BASE, "use.py": f"{head}\ndef use(given: Part, other):\n    {body}\n"}
    found = edges_of(files)
    return [edge.partition("lib.py:")[2] for edge in found if edge.startswith("use.py:use")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("given.turn()", ["Part.turn"]),
        ("given.run()", ["Base.run"]),
        ("given.turn().run()", ["Part.turn", "Base.run"]),
        ("Part().copy().turn()", ["Part", "Base.copy", "Part.turn"]),
        ("x = make(); x.turn()", ["make", "Part.turn"]),
        ("with make() as x:\n        x.run()", ["make", "Base.__enter__", "Base.run"]),
        ("x: Part | None = other(); x.turn()", ["Part.turn"]),
        ("x = other or given; x.turn()", ["Part.turn"]),
        ("other.turn()", []),
        ("given = other(); given.turn()", ["Part.turn"]),
        ("make = other; make()", []),
        ("for make in other:\n        make()", []),
        ("x = Part()\n    x.turn()\n    x = Base()\n    x.turn()", ["Part", "Part.turn", "Base"]),
        ("(lambda make: make())(other)", []),
        ("[make() for make in other]", []),
        ("x = [make() for _ in other]", ["make"]),
        ("await_ = given.run\n    await_()", []),
    ],
)
def test_a_call_leads_where_its_receiver_is_known_to_lead(body: str, expected: list[str]) -> None:
    assert calls(body) == expected


@pytest.mark.parametrize(
    "head",
    [
        "from lib import *",
        "from again import Part, make",
        "from package import Part, make",
        "try:\n    from lib import Part, make\nexcept ImportError:\n    pass",
    ],
)
def test_a_name_is_followed_through_imports(head: str) -> None:
    files = {
        "lib.py": BASE,
        "again.py": "from lib import *",
        "package/__init__.py": "from .inner import Part, made as make",
        "package/inner.py": "from lib import Part, make as made",
        "use.py": f"{head}\ndef use(x: Part):\n    make()\n    x.turn()\n",
    }
    found = [edge for edge in edges_of(files) if edge.startswith("use.py:use")]
    assert found == ["use.py:use -> lib.py:make", "use.py:use -> lib.py:Part.turn"]


def test_modules_are_followed_by_their_dots() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/mod.py": "def f(): ...",
        "use.py": "import pkg.mod\nfrom pkg import mod as m\npkg.mod.f()\ndef g(): m.f()",
    }
    assert edges_of(files) == ["use.py:- -> pkg/mod.py:f", "use.py:g -> pkg/mod.py:f"]


def test_possibly_foreign_names_give_no_edge() -> None:
    text = "try:\n    from fast import go\nexcept ImportError:\n    def go(): ...\ngo()"
    assert edges_of({"a.py": text}) == []


def test_attributes_are_typed_by_any_method() -> None:
    text = (
        "class A:\n    def go(self): ...\n"
        "class B:\n    def __init__(self, a: A): self.a = a\n    def late(self): self.b = A()\n"
        "    def use(self):\n        self.a.go()\n        self.b.go()\n"
    )
    assert edges_of({"a.py": text}) == ["a.py:B.late -> A", "a.py:B.use -> A.go"]


def test_super_and_overridden_members_follow_the_bases() -> None:
    text = (
        "class A:\n    def go(self): ...\nclass B(A):\n    def go(self):\n"
        "        super().go()\n        self.go()\n"
    )
    assert edges_of({"a.py": text}) == ["a.py:B.go -> A.go", "a.py:B.go -> B.go"]


def test_a_decorator_is_used_by_what_it_decorates() -> None:
    text = "def deco(f): ...\n@deco\ndef g(): ...\n"
    assert edges_of({"a.py": text}, "ref") == ["a.py:g -> deco"]


def test_names_in_a_class_are_not_those_in_its_methods() -> None:
    text = "def go(): ...\nclass A:\n    def go(self): ...\n    def use(self): go()\n"
    assert edges_of({"a.py": text}) == ["a.py:A.use -> go"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = late(); x.turn()", ["late"]),
        ("x = await late(); x.turn()", ["late", "Part.turn"]),
        ("late().turn()", ["late"]),
        ("(await late()).turn()", ["late", "Part.turn"]),
        ("async with Door() as x:\n        x.turn()", ["Door", "Door.__aenter__", "Part.turn"]),
        ("Door.part.turn()", []),
        ("Door().part.turn()", ["Door", "Part.turn"]),
        ("match other:\n        case {'a': 1, **make}:\n            make()", []),
        ("match other:\n        case [1, *make]:\n            make()", []),
    ],
)
def test_values_not_awaited_or_destructured_keep_their_outer_type(
    body: str, expected: list[str]
) -> None:
    lib = (
        f"{BASE}\nasync def late() -> Part: ...\n"
        "class Door:\n    async def __aenter__(self) -> Part: ...\n"
        "    @property\n    def part(self) -> Part: ...\n"
    )
    head = "from lib import Door, late, make"
    files = {"lib.py": lib, "use.py": f"{head}\nasync def use(other):\n    {body}\n"}
    found = [edge for edge in edges_of(files) if edge.startswith("use.py:use")]
    assert [edge.partition("lib.py:")[2] for edge in found] == expected


def test_self_of_a_static_method_is_not_an_instance() -> None:
    text = (
        "class A:\n    def go(self): ...\n    @staticmethod\n    def s(self):\n"
        "        self.go()\n    @classmethod\n    def c(self):\n        self.go()\n"
    )
    assert edges_of({"a.py": text}) == ["a.py:A.c -> A.go"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("from one import go\nfrom two import *", "two.py:go"),
        ("from two import *\nfrom one import go", "one.py:go"),
        ("from two import *\nfrom listing import *", "two.py:go"),
        ("from two import _hidden as go", "two.py:_hidden"),
        ("def go(): ...\nfrom two import *", "two.py:go"),
    ],
)
def test_the_last_binding_in_a_module_counts(head: str, expected: str) -> None:
    files = {
        "one.py": "def go(): ...",
        "two.py": "def go(): ...\ndef _hidden(): ...",
        "listing.py": "__all__ = [\n    'other',\n]\ndef go(): ...\ndef other(): ...",
        "through.py": head,
        "use.py": "from through import go\ndef use(): go()",
        "here.py": f"{head}\ndef use(): go()",
    }
    found = edges_of(files)
    assert [f"use.py:use -> {expected}", f"here.py:use -> {expected}"] == found


def test_a_star_import_takes_no_name_with_an_underscore() -> None:
    files = {"a.py": "def _go(): ...", "b.py": "from a import *\ndef use(): _go()"}
    assert edges_of(files) == []


def test_a_star_import_of_the_own_package_imports_it() -> None:
    files = {"p/__init__.py": "", "p/a.py": "from . import *"}
    assert edges_of(files, "import") == ["p/a.py:- -> p/__init__.py:-"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for x in all_of(): x.turn()", ["all_of", "Part.turn"]),
        ("for name, x in held().items(): x.turn()", ["held", "Part.turn"]),
        ("for name, x in held().items(): name.turn()", ["held"]),
        ("held().pop('a').turn()", ["held", "Part.turn"]),
        ("[x.turn() for x in held().values()]", ["Part.turn", "held"]),
        ("a, b = pair(); b.turn()", ["pair", "Part.turn"]),
        ("a, b = pair(); a.run()", ["pair", "Base.run"]),
        ("*a, b = pair(); b.turn()", ["pair"]),
        ("a, b = Base(), Part(); b.turn()", ["Base", "Part", "Part.turn"]),
        ("(a,) = pair(); a.run()", ["pair", "Base.run"]),
        ("a, (b, c) = pair(); b.run()", ["pair"]),
        ("Kept().part.turn()", ["Kept", "Part.turn"]),
        ("Kept().late.turn()", ["Kept", "Part.turn"]),
        ("Kept().get().turn()", ["Kept", "Generic_.get", "Part.turn"]),
        ("Kept.make().turn()", ["Generic_.make", "Part.turn"]),
        ("Both().get().turn()", ["Both", "Generic_.get", "Part.turn"]),
    ],
)
def test_element_types_of_containers_tuples_and_generic_bases_are_known(
    body: str, expected: list[str]
) -> None:
    lib = f"""\
from typing import Final, Generic, TypeVar
T = TypeVar("T")
{BASE}
def all_of() -> "list['Part']": ...
def held() -> dict[str, "Part"]: ...
def pair() -> tuple["Base", "Part"]: ...

class Late(Generic[T]):
    def __get__(self, owner, kind) -> T: ...

class Generic_(Generic[T]):
    def get(self) -> T: ...
    @classmethod
    def make(cls) -> "Part": ...

class Middle(dict[str, T], Generic_[T]): ...
class Both(Middle["Part"]): ...

class Kept(Generic_["Part"]):
    late: Late["Part"] = Late()
    def __init__(self):
        self.part: Final = Part()

if __name__ == "__main__":
    from lib import Kept, Part
"""
    head = "from lib import all_of, held, pair, Base, Both, Kept, Part"
    files = {"lib.py": lib, "use.py": f"{head}\ndef use(other):\n    {body}\n"}
    found = [edge for edge in edges_of(files) if edge.startswith("use.py:use")]
    assert [edge.partition("lib.py:")[2] for edge in found] == expected


def test_attributes_read_and_written_through_anything_are_uses() -> None:
    text = (
        "class A:\n    def __init__(self): self.field = 1\n"
        "    @property\n    def state(self): return 1\n    @state.setter\n"
        "    def state(self, value): ...\n"
        "class B(A):\n    def set(self): self.state = 2\n"
        "def use(a: A, b: B):\n    print(a.field, b.state)\n"
        "def write(a: A): a.field = 2\n"
    )
    found = edges_of({"a.py": text}, "ref", numbered=True)
    assert [edge for edge in found if "." in edge.partition("-> ")[2]] == [
        "a.py:B.set -> A.state",
        "a.py:use -> A.field",
        "a.py:use -> A.state",
        "a.py:write -> A.field",
    ]


KINDS = """\
class A:
    def run(self): ...
    def again(self): ...

class B:
    def run(self): ...
    def again(self): ...

def other(function): return B()
def same(function): return function
def made(): return other
"""


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@other", ["lib.py:B.run"]),
        ("@same", ["lib.py:A.run"]),
        ("@foreign.task", []),
        ("@functools.lru_cache(maxsize=None)", ["lib.py:A.run"]),
        ("@made()", ["lib.py:B.run"]),
    ],
)
def test_a_call_of_a_decorated_function_gives_its_decorated_type(
    decorator: str, expected: list[str]
) -> None:
    head = "import functools, foreign\nfrom lib import A, other, same, made\n"
    kinds = KINDS.replace("return B()", "return give") + "def give(): return B()\n"
    text = f"{head}{decorator}\ndef f():\n    return A()\n\ndef use():\n    f().run()\n"
    found = edges_of({"lib.py": kinds, "use.py": text})
    targets = [edge.partition(" -> ")[2] for edge in found if edge.startswith("use.py:use")]
    assert targets == ["f", *expected]


def used(body: str, *, certain: bool) -> list[str]:
    head = "from lib import A, B\ndef use(x: A | B, given):\n"
    files = {"lib.py": KINDS, "use.py": head + body}
    found = edges_of(files, certain=certain)
    return [edge.partition("lib.py:")[2] for edge in found if edge.startswith("use.py:use")]


def test_a_function_may_read_each_value_that_a_variable_around_it_gets() -> None:
    body = (
        "    y = A()\n    def inner():\n        y.run()\n"
        "    y = B()\n    def later():\n        y.again()\n"
    )
    assert "A.run" not in used(body, certain=True)
    assert used(body, certain=False) == ["A.run", "B.run"]
    assert "B.again" in used(body, certain=True)


def test_each_type_of_a_union_is_a_candidate() -> None:
    assert used("    x.run()\n", certain=True) == []
    assert used("    x.run()\n", certain=False) == ["A.run", "B.run"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    assert isinstance(x, B)\n    x.run()\n", ["B.run"]),
        ("    assert isinstance(given.part, B)\n    given.part.run()\n", ["B.run"]),
        ("    x.run()\n    assert isinstance(x, B)\n", []),
        ("    assert isinstance(x, B)\n    x = given\n    x.run()\n", []),
        ("    if given:\n        assert isinstance(x, B)\n    x.run()\n", []),
        ("    assert isinstance(x, B)\n    def inner():\n        x.run()\n", []),
    ],
)
def test_an_assertion_narrows_the_code_after_it(body: str, expected: list[str]) -> None:
    assert used(body, certain=True) == expected


@pytest.mark.parametrize(
    "text",
    [
        "global LAMP\nLAMP = make()\ndef make(): ...\ndef f(): return LAMP\nLAMP.on()\n",
        "class A:\n    global LAMP\n    LAMP = make()\ndef make(): ...\nLAMP.on()\n",
        "if True:\n    global make\n    def make(): ...\nLAMP = make()\n",
        "def f():\n    global make\n    def g():\n        global make\ndef make(): ...\nmake()\n",
    ],
)
def test_a_global_statement_of_a_module_changes_nothing(text: str) -> None:
    assert any(edge.endswith("-> make") for edge in edges_of({"a.py": text}))
