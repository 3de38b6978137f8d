"""What values of Python are by the code: pytest fixtures, generators, type tests."""

from __future__ import annotations

import pytest
from resolved_edges import called_in

LIB = """\
class Base:
    def go(self): ...

class Part(Base):
    def turn(self): ...

class sql: ...
"""
FIXTURES = """\
import pytest
from lib import Base, Part

@pytest.fixture
def base(): return Base()

@pytest.fixture(scope="module")
def part(): yield Part()

@pytest.fixture
def made(base): return base

def plain(): return Part()
"""


@pytest.mark.parametrize(
    ("given", "expected"), [("base", ["Base.go"]), ("part", ["Base.go"]), ("made", ["Base.go"])]
)
@pytest.mark.parametrize("conftest", ["tests/conftest.py", "tests/inner/conftest.py"])
def test_a_test_gets_the_value_of_its_fixture(
    given: str, expected: list[str], conftest: str
) -> None:
    text = f"def test_use({given}): {given}.go()\n"
    files = {"lib.py": LIB, conftest: FIXTURES, "tests/inner/test_use.py": text}
    assert called_in(files, "tests/inner/test_use.py:test_use") == expected


def test_the_nearest_fixture_counts() -> None:
    own = "from lib import Part\nimport pytest\n@pytest.fixture\ndef base(base): return Part()\n"
    text = f"{own}def test_use(base): base.turn()\ndef use(base): base.turn()\n"
    inside = (
        "class TestIt:\n    @pytest.fixture\n    def base(self): return Part()\n"
        "    def test_use(self, base): base.turn()\n"
    )
    files = {"lib.py": LIB, "conftest.py": FIXTURES, "test_use.py": f"{text}{inside}"}
    assert called_in(files, "test_use.py:test_use") == ["Part.turn"]
    assert called_in(files, "test_use.py:TestIt.test_use") == ["Part.turn"]
    assert called_in(files, "test_use.py:use") == []


@pytest.mark.parametrize("given", ["plain", "absent", "base=None", "*base"])
def test_anything_but_a_fixture_gives_nothing(given: str) -> None:
    name = given.strip("*").partition("=")[0]
    text = f"def test_use({given}): {name}.go()\n"
    files = {"lib.py": LIB, "conftest.py": FIXTURES, "test_use.py": text}
    assert called_in(files, "test_use.py:test_use") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if isinstance(x, Part):\n        x.turn()", ["Part.turn"]),
        ("if isinstance(x, Part) and x.turn(): pass", []),
        ("if isinstance(x, Part) and x:\n        x.turn()", ["Part.turn"]),
        ("if x:\n        pass\n    elif isinstance(x, Part):\n        x.turn()", ["Part.turn"]),
        ("if isinstance(x, Part):\n        pass\n    x.turn()", []),
        ("if isinstance(x, Part):\n        pass\n    else:\n        x.turn()", []),
        ("if isinstance(x, Part) or x:\n        x.turn()", []),
        ("if not isinstance(x, Part):\n        return\n    x.turn()", ["Part.turn"]),
        ("if not isinstance(x, Part):\n        pass\n    x.turn()", []),
        ("if not isinstance(x, Part):\n        x.turn()", []),
        ("if isinstance(x, Part):\n        x = y\n        x.turn()", []),
        ("if isinstance(x, Part):\n        pass\n    elif isinstance(x, Base):\n        x.go()",
         ["Base.go"]),
    ],
)  # fmt: skip
def test_a_type_test_narrows_the_type_in_its_branch(body: str, expected: list[str]) -> None:
    use = f"from lib import Base, Part\ndef use(x, y):\n    {body}\n"
    assert called_in({"lib.py": LIB, "use.py": use}, "use.py:use") == expected


def test_a_generator_gives_what_it_yields() -> None:
    head = (
        "from contextlib import contextmanager\nfrom lib import Part\n"
        "def parts():\n    yield Part()\n"
        "@contextmanager\ndef held():\n    yield Part()\n"
        "def passed():\n    yield from parts()\n"
    )
    use = (
        "def use():\n    for part in parts(): part.turn()\n"
        "def other():\n    with held() as part: part.turn()\n"
        "def third():\n    for part in passed(): part.turn()\n"
    )
    files = {"lib.py": LIB, "use.py": head + use}
    assert called_in(files, "use.py:use") == ["parts", "Part.turn"]
    assert called_in(files, "use.py:other") == ["held", "Part.turn"]
    assert called_in(files, "use.py:third") == ["passed"]


def test_a_parameter_does_not_hide_the_types_of_a_signature() -> None:
    text = "import lib\ndef make(lib) -> lib.Part: ...\ndef use(): make(1).turn()\n"
    assert called_in({"lib.py": LIB, "use.py": text}, "use.py:use") == ["make", "Part.turn"]


@pytest.mark.parametrize(
    ("assignment", "is_class"),
    [
        ("Kept = wrap(Kept)", True),
        ("Kept = wrap(wrap(Kept, n=1), n=2)", True),
        ("Kept = wrap(Kept)\nKept = other.wrap(1, Kept)", True),
        ("Kept = wrap(Keeper)", False),
        ("Kept = wrap", False),
        ("Kept = Other", False),
    ],
)
def test_what_a_call_makes_of_a_class_of_the_same_name_is_the_class(
    assignment: str, is_class: bool
) -> None:
    lib = (
        "def wrap(c, n=0): return c\nclass Other:\n    def go(self): ...\n"
        f"class Kept:\n    def go(self): ...\n{assignment}\n"
    )
    files = {"lib.py": lib, "a.py": "from lib import Kept\ndef f():\n    Kept().go()\n"}
    assert ("Kept.go" in called_in(files, "a.py:f")) == is_class
