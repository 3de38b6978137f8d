"""Methods that Python calls implicitly, if the receiver is known."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

LIB = """\
class Repo:
    def __init__(self, size=0): self.size = size
    def __enter__(self) -> "Repo": ...
    def __exit__(self, *args): ...
    async def __aenter__(self) -> "Repo": ...
    async def __aexit__(self, *args): ...
    def __call__(self, n): ...
    def __add__(self, other): ...
    def __iadd__(self, other): ...
    def __eq__(self, other): ...
    def __getitem__(self, at): ...
    def __setitem__(self, at, value): ...
    def __delitem__(self, at): ...
    def __len__(self): ...
    def __contains__(self, item): ...
    def __iter__(self): ...
    def __str__(self): ...
    def save(self): ...
    @property
    def weight(self): ...
    @classmethod
    def made(cls): return cls(1)
    @classmethod
    def saved(cls): cls(1).save()
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("with r: pass", ["__enter__", "__exit__"]),
        ("with r as x: x.save()", ["__enter__", "__exit__", "save"]),
        ("async with r: pass", ["__aenter__", "__aexit__"]),
        ("r(5)", ["__call__"]),
        ("r + 1", ["__add__"]),
        ("r += 1", ["__add__", "__iadd__"]),
        ("return r == other", ["__eq__"]),
        ("return r[1]", ["__getitem__"]),
        ("r[1] = 2", ["__setitem__"]),
        ("del r[1]", ["__delitem__"]),
        ("return len(r)", ["__len__"]),
        ("return other in r", ["__contains__"]),
        ("return 'a' not in r", ["__contains__"]),
        ("for x in r: pass", ["__iter__"]),
        ("return [x for x in r]", ["__iter__"]),
        ("return str(r)", ["__str__"]),
        ("getattr(r, 'save')()", ["save"]),
        ("return r == 1", []),
        ("return other + 1, other[1], len(other)", []),
        ("return Repo[int]", []),
        ("x = Repo\n    x(1)", []),
    ],
)
def test_an_operator_calls_its_method(body: str, expected: list[str]) -> None:
    use = f"from lib import Repo\nasync def use(r: Repo, other):\n    {body}\n"
    called = called_in({"lib.py": LIB, "use.py": use}, "use.py:use")
    assert called == [f"Repo.{name}" for name in expected]


@pytest.mark.parametrize(
    "body",
    [
        "sorted(many, key=lambda it: it.weight)",
        "max(many, key=lambda it: it.weight)",
        "many.sort(key=lambda it: it.weight)",
        "list(map(lambda it: it.weight, many))",
        "return filter(lambda it: it.weight, many)",
    ],
)
def test_a_lambda_is_given_the_elements_of_what_is_sorted(body: str) -> None:
    use = f"from lib import Repo, weight\ndef use(many: list[Repo]):\n    {body}\n"
    assert "use.py:use -> lib.py:Repo.weight" in edges_of({"lib.py": LIB, "use.py": use}, "ref")


def test_a_class_method_makes_an_instance() -> None:
    edges = edges_of({"lib.py": LIB})
    assert "lib.py:Repo.made -> Repo" in edges
    assert "lib.py:Repo.saved -> Repo.save" in edges
    use = "from lib import Repo\ndef use(): Repo.made().save()\n"
    assert called_in({"lib.py": LIB, "use.py": use}, "use.py:use")[-1] == "Repo.save"
