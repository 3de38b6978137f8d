"""C++: construction, types declared elsewhere, overloads, templates, the standard library."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

LIBRARY = {
    "shop/item.h": (
        "#pragma once\n#include <map>\n#include <vector>\nnamespace shop {\n"
        "class Part { public: void turn(); };\n"
        "class Base { public: explicit Base(int n); void log(); };\n"
        "class Item : public Base {\n public:\n  Item(int n);\n  void mark(const Part& p);\n"
        "  void mark(int n);\n  void look() const;\n  void look();\n"
        "  std::vector<Part> parts; std::map<int, Part*> named;\n  std::pair<int, Part> both;\n"
        "  std::vector<std::unique_ptr<Part>> owned;\n};\n"
        "template <typename T> class Box {\n public:\n"
        "  T* operator->();\n  const T& held() const;\n"
        "  void close();\n};\nnamespace inner { void help(); }\n}\n"
    ),
    "shop/item.cc": (
        '#include "shop/item.h"\nnamespace shop {\nvoid Part::turn() {}\nBase::Base(int n) {}\n'
        "void Base::log() {}\nItem::Item(int n) : Base(n) {}\nvoid Item::mark(const Part& p) {}\n"
        "void Item::mark(int n) {}\nvoid Item::look() const { look(); }\nvoid Item::look() {}\n"
        "void inner::help() {}\n}\n"
    ),
}


def calls(body: str, more: str = "") -> list[str]:
    """Qualified names of what the body of a function calls."""
    text = (
        f'#include "shop/item.h"\n{more}\n'
        f"void run(shop::Item& item, shop::Box<shop::Part> box, int n) {{\n  {body}\n}}\n"
    )
    return called_in({**LIBRARY, "run.cc": text}, "run.cc:run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("auto* x = new shop::Item(3);", ["shop.Item"]),
        ("auto x = shop::Item{3};", ["shop.Item"]),
        ("item.parts[0].turn();", ["shop.Part.turn"]),
        ("item.parts.back().turn();", ["shop.Part.turn"]),
        ("item.owned.front()->turn();", ["shop.Part.turn"]),
        ("for (auto& one : item.named) { one.second->turn(); }", ["shop.Part.turn"]),
        ("auto it = item.named.find(3); it->second->turn();", ["shop.Part.turn"]),
        ("std::vector<shop::Part>::iterator it; it->turn();", ["shop.Part.turn"]),
        ("item.both.second.turn();", ["shop.Part.turn"]),
        (
            "box->turn(); box.close();",
            ["shop.Box.operator->", "shop.Part.turn", "shop.Box.close"],
        ),
        ("box.held().turn();", ["shop.Box.held", "shop.Part.turn"]),
        ("auto p = std::make_unique<shop::Part>(); p->turn();", ["shop.Part.turn"]),
        ("static_cast<shop::Item*>(other)->log();", ["shop.Base.log"]),
        ("item.Base::log();", ["shop.Base.log"]),
        ("shop::Part** list; (*list)->turn();", ["shop.Part.turn"]),
        ("if (!shop::inner::help()) {}", ["shop.inner.help"]),
        ("alias::help();", ["shop.inner.help"]),
        ("Other base; base.turn();", ["shop.Part.turn"]),
        ("Other::turn();", ["shop.Part.turn"]),
        ("run_all(item);  // It turns...\n  shop::inner::help();", ["shop.inner.help"]),
        ("n++;  // As it was.\n  std::abort();\n  help(1 /* one */);", ["help"]),
    ],
)
def test_calls_of_a_function(body: str, expected: list[str]) -> None:
    more = "namespace alias = shop::inner;\nusing Other = shop::Part;\nvoid help(int n) {}\n"
    assert calls(body, more) == expected


@pytest.mark.parametrize(
    ("body", "line"),
    [("item.mark(3);", 8), ("shop::Part part; item.mark(part);", 7), ("item.mark(n);", 8)],
)
def test_arguments_distinguish_overloads(body: str, line: int) -> None:
    text = f'#include "shop/item.h"\nvoid run(shop::Item& item, int n) {{ {body} }}\n'
    expected = "shop.Item.mark" if line == 7 else "shop.Item.mark~2"
    found = edges_of({**LIBRARY, "run.cc": text}, numbered=True)
    assert f"run.cc:run -> shop/item.cc:{expected}" in found


def test_a_method_that_is_const_calls_the_overload_that_is() -> None:
    found = edges_of(LIBRARY, numbered=True)
    assert "shop/item.cc:shop.Item.look -> shop.Item.look" in found


def test_a_constructor_expression_starts_with_a_type_never_a_field() -> None:
    files = {
        "a.cc": "struct A { A(int n); };\nstruct B : A { B() : A(1), call(nullptr) {}\n"
        "  void (*call)(int); };\n"
    }
    assert edges_of(files) == ["a.cc:B.B -> A"]


DECLARED = {
    "user.h": "namespace n {\nclass Store;\nclass User { Store* store_; void go(); };\n}\n",
    "store.h": "namespace n {\nclass Store { public: void open() {} struct Rep; Rep* rep; };\n}\n",
    "store.cc": '#include "store.h"\nnamespace n { struct Store::Rep { void flush() {} }; }\n',
    "user.cc": (
        '#include "user.h"\n#include "store.h"\nnamespace n {\n'
        "void User::go() { store_->open(); store_->rep->flush(); }\n}\n"
    ),
    "test/store.cc": "namespace n { class Store { public: void open() {} }; }\n",
}


def test_a_type_declared_alone_means_its_definition() -> None:
    assert called_in(DECLARED, "user.cc:n.User.go") == ["n.Store.open", "n.Store.Rep.flush"]


def test_undeclared_names_are_not_guessed() -> None:
    files = {**DECLARED, "user.h": "namespace n {\nclass User { Store* store_; void go(); };\n}\n"}
    assert called_in({**files, "user.cc": '#include "user.h"\nvoid n::User::go() {'
                      " store_->open(); }\n"}, "user.cc:n.User.go") == []  # fmt: skip


def test_a_struct_of_c_is_found_behind_its_opaque_name() -> None:
    files = {
        "api.h": "typedef struct store store;\n",
        "store.h": "struct store { void (*open)(void); struct part *first; };\n"
        "struct part { int (*turn)(void); };\n",
        "use.c": '#include "api.h"\n#include "store.h"\n'
        "int use(store *s) { return s->first->turn(); }\n",
    }
    assert edges_of(files) == ["use.c:use -> store.h:part.turn"]


def test_types_that_are_made_of_each_other_end() -> None:
    files = {
        "a.cc": "template <class T> struct A : A<A<T>> { A<A<T>>* operator->(); };\n"
        "typedef struct X Y;\ntypedef struct Y X;\nusing P = Q;\nusing Q = P;\n"
        "void f(A<int> a, Y y, P p) { a->b(); y.c(); p->d(); }\n"
    }
    assert edges_of(files) == ["a.cc:f -> A.operator->"]


@pytest.mark.slow
def test_ten_thousand_overloads_are_reported_as_too_many() -> None:
    lines = "".join(f"struct T{n} {{}};\nvoid f(T{n} x);\n" for n in range(10_000))
    files = {"a.cc": f"{lines}void g() {{ T1 t; f(t); }}\n"}
    assert edges_of(files) == []


def test_a_variable_of_a_namespace_may_be_called() -> None:
    text = """struct Check { int operator()(int) const; };
namespace n { const Check check; int (*hook)(int); }
int object() { return n::check(1); }
int pointer() { return n::hook(1); }
"""
    edges = edges_of({"a.cpp": text}, "ref") + edges_of({"a.cpp": text})
    assert "a.cpp:object -> n.check" in edges
    assert "a.cpp:pointer -> n.hook" in edges
