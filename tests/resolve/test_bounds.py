"""Cycles, crowds and long chains: an answer, and bounded work."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from resolved_edges import edges_of

from codelens.resolve.edges import Edges
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Names, Referent


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


def test_a_reexporting_file_is_walked_once_per_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 12
    files = {}
    for at in range(count):
        others = ", ".join(f"x{other}" for other in range(count) if other != at)
        files[f"f{at}.ts"] = (
            f"import {{ {others}, none }} from './all'\n"
            f"export function x{at}() {{ x{(at + 1) % count}(); none() }}"
        )
    files["all.ts"] = "\n".join(f"export * from './f{at}'" for at in range(count))
    exported, calls = Names.exported, 0

    def counted(*args: Any, **options: Any) -> list[Referent]:
        nonlocal calls
        calls += 1
        assert calls < 20_000
        return exported(*args, **options)

    monkeypatch.setattr(Names, "exported", counted)
    assert edges_of(files) == [
        f"f{at}.ts:x{at} -> f{(at + 1) % count}.ts:x{(at + 1) % count}" for at in range(count)
    ]


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


def test_thousands_with_one_name_are_distinguished() -> None:
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


def test_a_long_cycle_of_bases_is_walked_only_once() -> None:
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ts", "type A<T> = B<A<T[]>>\ntype B<T> = A<T> | B<T>[]\n"
                 "class C { run() {} }\nfunction f(a: A<C>) { a.b.c() }\nnew C().run()\n"),
        ("a.cpp", "template<class T> struct P {};\ntemplate<class T> struct Q {};\n"
                  "template<class T> using B = P<Q<T>>;\n"
                  "template<class T> using A = P<B<A<T*>>, A<T&>>;\n"
                  "class C { public: void run(); };\nvoid C::run() {}\n"
                  "void f(A<C> a, C c) { a.x.y(); c.run(); }\n"),
        ("a.rs", "type A<T> = Vec<B<A<Vec<T>>>>;\ntype B<T> = (A<T>, B<Vec<T>>);\n"
                 "struct C;\nimpl C { fn run(&self) {} }\n"
                 "fn f(a: A<C>, c: C) { a.x().y(); c.run(); }\n"),
    ],
)  # fmt: skip
def test_aliases_that_grow_through_each_other_end(name: str, text: str) -> None:
    assert any(edge.endswith("C.run") for edge in edges_of({name: text}))


def test_mixins_in_a_circle_end() -> None:
    text = (
        "module A\n  include B\n  def one; two; end\nend\n"
        "module B\n  include A\n  prepend A\n  def two; one; super; end\nend\n"
        "class C\n  prepend C\n  include A\n  extend B\n  def go; one; none; super; end\nend\n"
    )
    assert "a.rb:C.go -> A.one" in edges_of({"a.rb": text})


def test_traits_in_a_circle_end() -> None:
    text = (
        "<?php\ntrait A { use B; function one() { $this->two(); $this->none(); } }\n"
        "trait B { use A; function two() { parent::two(); new parent(); } }\n"
        "class C extends D { use A; }\n"
        "class D extends C { function three() { $this->one(); new parent(); } }\n"
    )
    edges = edges_of({"a.php": text})
    assert {"a.php:A.one -> B.two", "a.php:D.three -> A.one", "a.php:D.three -> C"} <= set(edges)


def test_thousands_of_overloads_are_compared_in_bounded_work() -> None:
    count = 2_000
    java = "".join(f"class T{at} {{}}\n" for at in range(count)) + "class A {\n"
    java += "".join(f"  void f(T{at} a) {{}}\n" for at in range(count))
    java += "  void run(T7 x) { f(x); }\n}\n"
    edges = edges_of({"A.java": java}, certain=False) + edges_of({"A.java": java})
    # With so many candidates only a certain one is reported: never thousands of guesses.
    assert len(edges) <= 1


def test_macros_that_open_and_close_blocks_leave_the_rest_alone() -> None:
    text = "#define BEGIN {\n#define END }\n#define MAKE(x) int x() {\n"
    text += "".join(
        f"MAKE(a{at})\n  b{at}();\nEND\nint b{at}(void) {{ return 1; }}\n"
        f"int c{at}(void) {{ return b{at}(); }}\n"
        for at in range(50)
    )
    edges = edges_of({"a.c": text})
    assert {f"a.c:c{at} -> b{at}" for at in range(50)} <= set(edges)


def test_thousands_of_alternatives_of_one_name_are_weighed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A generated file in which a build chooses each function: uses times definitions is too much.

    Without the bound this is 1,000 times 1,000 for each of the two names.
    """
    text = "".join(
        f"#ifdef CASE_{at}\nint run(int a) {{ return step(a); }}\n#endif\n"
        f"#ifdef STEP_{at}\nint step(int a) {{ return run(a); }}\n#endif\n"
        for at in range(1000)
    )
    looked_at = 0
    weighted = Edges._weighted_of_several  # pyright: ignore[reportPrivateUsage]

    def counted(self: Edges, referents: list[Referent], kind: str, others: int) -> object:
        nonlocal looked_at
        looked_at += len(referents)
        return weighted(self, referents, kind, others)

    monkeypatch.setattr(Edges, "_weighted_of_several", counted)
    assert edges_of({"a.c": text}) == []
    assert looked_at == 2000


def test_cycles_of_mixins_includes_and_types_end() -> None:
    ruby = (
        "module A\n  include B\n  def f; g; end\nend\n"
        "module B\n  include A\n  def g; f; end\nend\nclass C\n  include A\n"
        "  def go; f; g; end\nend\n"
    )
    assert "a.rb:C.go -> A.f" in edges_of({"a.rb": ruby})
    php = (
        "<?php\ntrait A { use B; function f() { $this->g(); } }\n"
        "trait B { use A; function g() { $this->f(); } }\nclass C { use A; "
        "function go() { $this->f(); } }\n"
    )
    assert "a.php:C.go -> A.f" in edges_of({"a.php": php})
    headers = {
        "a.h": '#include "b.h"\nstruct A { struct B *b; };\nint f(struct A *a);\n',
        "b.h": '#include "a.h"\nstruct B { struct A *a; };\n',
        "a.c": '#include "a.h"\nint f(struct A *a) { return f(a->b->a->b->a); }\n'
        "int go(struct A *a) { return f(a); }\n",
    }
    assert "a.c:go -> f" in edges_of(headers)


def test_a_macro_that_opens_or_closes_a_brace_leaves_the_functions_behind_it() -> None:
    text = (
        "#define OPEN(x) int x(void) {\n#define CLOSE }\n"
        "OPEN(first)\n  return 1;\nCLOSE\n"
        "int second(void) { return 2; }\nint go(void) { return second(); }\n"
    )
    assert edges_of({"a.c": text}) == ["a.c:go -> second"]
