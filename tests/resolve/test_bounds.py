"""Cycles, crowds and long chains: an answer, and bounded work."""

from __future__ import annotations

import sys
from types import FrameType

from resolved_edges import edges_of

from codelens.resolve.inference.members import Members


def test_star_imports_of_each_other_end() -> None:
    files = {
        "a.py": "from b import *\ndef f(): ...\ng()\nnone()",
        "b.py": "from a import *\ndef g(): ...\nf()\nnone()",
    }
    assert edges_of(files) == ["a.py:- -> b.py:g", "b.py:- -> a.py:f"]


def test_re_exports_in_a_circle_end() -> None:
    files = {
        "a.ts": "export * from './b'\nexport { x } from './b'",
        "b.ts": "export * from './a'\nexport { x } from './a'",
        "use.ts": "import { x } from './a'\nx()",
    }
    assert edges_of(files) == []


def test_bases_in_a_circle_end() -> None:
    text = (
        "class A(B):\n    def f(self): self.g()\nclass B(A):\n    def g(self): self.f(); self.h()\n"
    )
    assert edges_of({"a.py": text}) == ["a.py:A.f -> B.g", "a.py:B.g -> A.f"]


def test_functions_that_return_each_other_end() -> None:
    text = "def f(): return g()\ndef g(): return f()\nf().x()\n"
    assert edges_of({"a.py": text}) == ["a.py:f -> g", "a.py:g -> f", "a.py:- -> f"]


def test_a_variable_made_of_itself_ends() -> None:
    text = "class A:\n    def next(self) -> 'A': ...\nx = A()\n" + "x = x.next()\n" * 300
    assert edges_of({"a.py": text}) == ["a.py:- -> A", "a.py:- -> A.next"]


def test_a_long_chain_of_re_exports_gives_up() -> None:
    files = {f"m{at}.py": f"from m{at + 1} import f" for at in range(100)}
    files["m100.py"] = "def f(): ..."
    files["use.py"] = "from m0 import f\nf()"
    near = {**files, "use.py": "from m90 import f\nf()"}
    assert "use.py:- -> m100.py:f" not in edges_of(files)
    assert "use.py:- -> m100.py:f" in edges_of(near)


def test_thousands_of_one_name_are_told_apart() -> None:
    text = "".join(f"class C{at}:\n    def get(self): ...\n" for at in range(3000))
    text += "def use(x: C1500, y): x.get(); y.get(); C7().get()\n"
    assert edges_of({"a.py": text}) == [
        "a.py:use -> C1500.get",
        "a.py:use -> C7",
        "a.py:use -> C7.get",
    ]


def test_many_bases_and_deep_nesting_are_borne() -> None:
    text = "class C0:\n    def f(self): ...\n"
    text += "".join(f"class C{at}(C{at - 1}): ...\n" for at in range(1, 60))
    text += "C59().f()\nC59().g()\n"
    assert edges_of({"a.py": text}) == ["a.py:- -> C59", "a.py:- -> C0.f"]


def test_a_line_of_bases_longer_than_questions_may_be_open_is_followed() -> None:
    text = "class C0:\n    def f(self): ...\n"
    text += "".join(f"class C{at}(C{at - 1}): ...\n" for at in range(1, 99))
    assert edges_of({"a.py": text + "C98().f()\n"}) == ["a.py:- -> C98", "a.py:- -> C0.f"]


def test_many_bases_in_a_circle_end() -> None:
    text = "".join(
        f"class C{at}(C{(at + 1) % 40}):\n    def f{at}(self): ...\n" for at in range(40)
    )
    assert edges_of({"a.py": text + "C0().f39()\nC5().g()\n"}) == [
        "a.py:- -> C0",
        "a.py:- -> C39.f39",
        "a.py:- -> C5",
    ]


def test_a_long_circle_of_bases_is_not_walked_anew_for_each_of_its_types() -> None:
    count = 300
    text = "".join(
        f"class K{at}(K{(at + 1) % count}):\n    def get(self): return self.new()\n"
        for at in range(count)
    )
    looked_up = 0

    def seen(frame: FrameType, event: str, _: object) -> None:
        nonlocal looked_up
        looked_up += event == "call" and frame.f_code is Members.bases.__code__

    sys.setprofile(seen)
    try:
        assert edges_of({"a.py": text}) == []
    finally:
        sys.setprofile(None)
    assert looked_up < count * 4
