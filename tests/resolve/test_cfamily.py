"""C and C++: names through includes; definitions are separate from declarations."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

from codelens.resolve.languages.c.c_types import c_type

C = {
    "include/store.h": (
        "struct store { int n; };\nint store_open(struct store *s);\n#define SIZE(x) ((x)->n)\n"
    ),
    "src/store.c": (
        '#include "store.h"\nstatic int helper(void) { return 1; }\n'
        "int store_open(struct store *s) { return helper() + SIZE(s); }\n"
    ),
    "src/other.c": "static int helper(void) { return 2; }\nint use(void) { return helper(); }\n",
    "src/main.c": (
        '#include "store.h"\nint main(void) { struct store s; use(); printf("");\n'
        "  return store_open(&s); }\n"
    ),
}


def test_a_call_in_c_goes_to_the_definition_of_what_is_declared() -> None:
    assert edges_of(C) == [
        "src/store.c:store_open -> helper",
        "src/store.c:store_open -> include/store.h:SIZE",
        "src/other.c:use -> helper",
        "src/main.c:main -> src/store.c:store_open",
    ]


def test_a_variable_hides_a_function_of_its_name() -> None:
    files = {"a.c": "int run(void) { return 1; }\nint f(int (*run)(void)) { return run(); }\n"}
    assert edges_of(files) == []


CPP = {
    "lib/item.h": (
        "#pragma once\n#include <memory>\nnamespace shop {\nclass Base { public: void log(); };\n"
        "class Part { public: void turn() {} };\n"
        "class Item : public Base {\n public:\n  Item* copy();\n  static Item* of(int n);\n"
        "  std::unique_ptr<Part> part() const;\n  void mark(int a) {}\n  void mark(int a, int b) "
        "{}\n"
        "  Part first; Part* last; std::vector<Part> all;\n};\nPart make(int n);\n}\n"
    ),
    "lib/item.cc": (
        '#include "item.h"\nnamespace shop {\nvoid Base::log() {}\n'
        "Item* Item::copy() { log(); first.turn(); return this; }\n"
        "Part make(int n) { return Part(); }\n}\nshop::Item* shop::Item::of(int n) { return new "
        "Item(); }\n"
    ),
}


def used(body: str, include: str = '#include "item.h"') -> list[str]:
    """What a function's body calls."""
    text = f"{include}\nvoid run(const shop::Item& item, shop::Item* other) {{\n  {body}\n}}\n"
    found = edges_of({**CPP, "lib/run.cc": text})
    start = "lib/run.cc:run -> "
    return [one.removeprefix(start) for one in found if one.startswith(start)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("item.copy()->log();", ["lib/item.cc:shop.Item.copy", "lib/item.cc:shop.Base.log"]),
        ("other->first.turn(); other->last->turn();", ["lib/item.h:shop.Part.turn"]),
        ("auto x = shop::Item::of(1); x->copy();",
         ["lib/item.cc:shop.Item.of", "lib/item.cc:shop.Item.copy"]),
        ("item.part()->turn();", ["lib/item.h:shop.Item.part", "lib/item.h:shop.Part.turn"]),
        ("for (auto& one : item.all) { one.turn(); }", ["lib/item.h:shop.Part.turn"]),
        ("other->mark(1, 2);", ["lib/item.h:shop.Item.mark"]),
        ("other->mark();", []),
        ("shop::make(1).turn();", ["lib/item.cc:shop.make", "lib/item.h:shop.Part.turn"]),
        ("shop::Item* x = new shop::Item(); (*x).copy();",
         ["lib/item.h:shop.Item", "lib/item.cc:shop.Item.copy"]),
        ("unknown(1)->copy(); y.turn();", []),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_names_without_an_include_are_invisible() -> None:
    assert used("item.copy(); shop::make(1);", "") == []


def test_methods_defined_outside_see_their_class() -> None:
    assert [edge for edge in edges_of(CPP) if edge.startswith("lib/item.cc:shop.Item.copy")] == [
        "lib/item.cc:shop.Item.copy -> shop.Base.log",
        "lib/item.cc:shop.Item.copy -> lib/item.h:shop.Part.turn",
    ]


def test_headers_that_include_each_other_end() -> None:
    files = {
        "a.h": '#include "b.h"\nvoid a();\n',
        "b.h": '#include "a.h"\nvoid b();\n',
        "x.cc": '#include "a.h"\nvoid a() {}\nvoid x() { a(); b(); }\n',
    }
    assert edges_of(files) == ["x.cc:x -> a", "x.cc:x -> b.h:b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const struct store *", "store"),
        ("std::shared_ptr<ns::Foo>", "ns.Foo"),
        ("std::vector<Foo>", "std.vector<Foo>"),
        ("::ns::Foo &", "ns.Foo"),
    ],
)
def test_types_are_read(text: str, expected: str) -> None:
    assert c_type(text) == expected


def test_each_alternative_of_a_build_is_a_candidate() -> None:
    files = {
        "unix/lock.c": '#include "../lock.h"\nint lock(void) { return 1; }\n',
        "win/lock.c": '#include "../lock.h"\nint lock(void) { return 2; }\n',
        "lock.h": "int lock(void);\n#ifdef X\n#define trace(x) log(x)\n#else\n#define trace(x)\n"
        "#endif\n",
        "main.c": '#include "lock.h"\nint main(void) { trace(1); return lock(); }\n',
    }
    assert edges_of(files) == []
    assert edges_of(files, certain=False, numbered=True) == [
        "main.c:main -> lock.h:trace",
        "main.c:main -> lock.h:trace~2",
        "main.c:main -> unix/lock.c:lock",
        "main.c:main -> win/lock.c:lock",
    ]


def test_the_definition_next_to_the_declaration_is_meant() -> None:
    files = {
        "a/pool.h": "int fill(int n);\n",
        "a/pool.c": '#include "pool.h"\nint fill(int n) { return n; }\n',
        "b/fill.c": "int fill(char *text) { return 0; }\n",
        "main.c": '#include "a/pool.h"\nint main(void) { return fill(1); }\n',
    }
    assert edges_of(files) == ["main.c:main -> a/pool.c:fill"]


def test_a_function_of_the_system_is_not_certainly_its_wrapper() -> None:
    files = {
        "compat.h": "#ifdef _WIN32\n#define unlink(p) my_unlink(p)\n#endif\n",
        "main.c": '#include "compat.h"\nint main(void) { return unlink("a"); }\n',
        "own.c": "#define unlink(p) gone(p)\nint own(void) { return unlink(0); }\n",
        "none.c": "int none(void) { return unlink(0); }\n",
    }
    assert edges_of(files) == ["own.c:own -> unlink"]
    assert edges_of(files, certain=False) == ["main.c:main -> compat.h:unlink"]


def test_each_cpp_overload_is_a_candidate() -> None:
    files = {
        "a.h": "class A { public: void m(Left a); void m(Right b); void m(); };\n",
        "a.cc": '#include "a.h"\nvoid A::m(Left a) {}\nvoid A::m(Right b) {}\nvoid A::m() {}\n',
        "b.cc": '#include "a.h"\nvoid run(A& a) { a.m(other()); a.m(); }\n',
    }
    assert edges_of(files, numbered=True) == ["b.cc:run -> a.cc:A.m~3"]
    assert len(edges_of(files, certain=False, numbered=True)) == 2


REPLACED = {
    "gz.h": "int gzopen(int a);\nint gzopen64(int a);\n",
    "gz.c": '#include "gz.h"\nint gzopen(int a) { return a; }\n',
}
STATIC = "static int gzopen(int a) { return a; }\n"


@pytest.mark.parametrize(
    ("user", "certain", "possible"),
    [
        (f'#include "gz.h"\n{STATIC}', [], ["gzopen", "gz.c:gzopen"]),
        (STATIC, ["gzopen"], []),
        ('#include "gz.h"\nint gzopen(int a) { return a; }\n', ["gzopen"], []),
        ('#include "gz.h"\n#define gzopen gzopen64\n', ["gz.c:gzopen"], []),
        ('#include "gz.h"\n#define gzopen other\n', ["gzopen"], []),
    ],
    ids=["static with a header", "static alone", "its own", "wider offsets", "another name"],
)
def test_a_function_that_stands_in_for_one_of_a_header(
    user: str, certain: list[str], possible: list[str]
) -> None:
    files = REPLACED | {"a.c": user + "int run(void) { return gzopen(1); }\n"}
    for expected, is_certain in ((certain, True), (possible, False)):
        edges = [edge for edge in edges_of(files, certain=is_certain) if edge.startswith("a.c:run")]
        assert edges == [f"a.c:run -> {name}" for name in expected]


def test_a_macro_that_only_prefixes_a_name_is_not_what_is_called() -> None:
    files = {
        "conf.h": "#ifdef PREFIX\n#define reset z_reset\n#define other z_other\n#endif\n",
        "z.h": '#include "conf.h"\nextern int reset(int);\nextern int other(int);\n',
        "z.c": '#include "z.h"\nint reset(int s) { return s; }\nint other(int s) { return s; }\n'
        "int z_other(int s) { return s; }\n",
        "main.c": '#include "z.h"\nint main(void) { return reset(1) + other(1); }\n',
    }
    assert edges_of(files) == ["main.c:main -> z.c:reset"]
