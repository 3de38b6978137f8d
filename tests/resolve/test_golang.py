"""Go: calls across the files of packages, by declared types."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

from codelens.resolve.languages.go_names import go_type, is_built

MODULE = {"go.mod": "module example.com/app\n"}
STORE = """package store

import "io"

type Base struct{ log *Logger }

func (b *Base) Close() error { return nil }

type Logger struct{}

func (Logger) Print() {}

type Store struct {
	*Base
	Items []Item
	byName map[string]*Item
	next  func() *Item
	io.Reader
}

type Item struct{ Owner *Store }

func (i *Item) Name() string { return "" }

type Names []*Item

func (n Names) First() *Item { return n[0] }

type Loader interface {
	Load(name string) (*Item, error)
}

type Handler func(i *Item) *Store

func Open(name string) (s *Store, err error) { return &Store{}, nil }

func Get[T any](x T) *Item { return nil }
"""


def calls(text: str, path: str = "main.go", **more: str) -> list[str]:
    files = {**MODULE, "store/store.go": STORE, path: text, **more}
    return [edge for edge in edges_of(files) if edge.startswith(path)]


def used(body: str) -> list[str]:
    """What a function's body calls."""
    text = (
        'package main\nimport "example.com/app/store"\n'
        f"func f(l store.Loader, h store.Handler) {{\n{body}\n}}\n"
    )
    return [edge.removeprefix("main.go:f -> store/store.go:") for edge in calls(text)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s, err := store.Open(`x`); s.Close(); err.Error()", ["Open", "Base.Close"]),
        ("var s store.Store; s.Close(); s.Base.Close(); s.Read()", ["Base.Close"]),
        ("s := &store.Store{}; s.log.Print(); s.next().Name()",
         ["Logger.Print", "Store.next", "Item.Name"]),
        ("s := new(store.Store); for _, i := range s.Items { i.Name() }", ["Item.Name"]),
        ("s := store.Store{}; for k := range s.byName { k.Name() }", []),
        ("s := store.Store{}; if i, ok := s.byName[`x`]; ok { i.Owner.Close() }", ["Base.Close"]),
        ("i, _ := l.Load(`x`); i.Name()", ["Loader.Load", "Item.Name"]),
        ("h(nil).Close()", ["Base.Close"]),
        ("store.Names(nil).First().Name()", ["Names", "Names.First", "Item.Name"]),
        ("var n store.Names; n[0].Name()", ["Item.Name"]),
        ("store.Get[int](1).Name(); store.Get(1).Name()", ["Get", "Item.Name"]),
        ("var x any; switch y := x.(type) { case *store.Item: y.Name()\n case int: y.Close() }",
         ["Item.Name"]),
        ("var x any; x.(*store.Item).Name()", ["Item.Name"]),
        ("ch := make(chan *store.Item); (<-ch).Name(); for i := range ch { i.Name() }",
         ["Item.Name"]),
        ("get := func() *store.Item { return nil }; get().Name()", ["Item.Name"]),
        ("for _, c := range []struct{ n string; i *store.Item }{} { c.i.Name() }", ["Item.Name"]),
        ("store := 1; store.Open()", []),
        ("x := unknown(); x.Name(); x.Close()", []),
        ("defer func() { s, _ := store.Open(`x`); s.Close() }()", ["Open", "Base.Close"]),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_methods_and_functions_are_found_in_all_files_of_the_package() -> None:
    other = "package store\n\nfunc use(s *Store) { s.Close(); Open(``); helper() }\n"
    test = "package store\n\nfunc helper() {}\n\nfunc TestX() { helper(); use(nil) }\n"
    found = edges_of(
        {**MODULE, "store/store.go": STORE, "store/a.go": other, "store/a_test.go": test}
    )
    assert found == [
        "store/a.go:use -> store/store.go:Base.Close",
        "store/a.go:use -> store/store.go:Open",
        "store/a_test.go:TestX -> helper",
        "store/a_test.go:TestX -> store/a.go:use",
    ]


def test_a_key_of_a_struct_without_a_name_is_no_use_of_a_function() -> None:
    text = (
        "package main\n\nfunc ready() bool { return true }\n\nconst size = 1\n\n"
        "func f() {\n"
        "\t_ = []struct{ ready bool }{{ready: true}}\n"
        "\t_ = struct{ ready bool }{ready: true}\n"
        "\t_ = map[int]struct{ ready bool }{size: {ready: true}}\n}\n"
    )
    assert edges_of({"main.go": text}, "ref") == ["main.go:f -> size"]


def test_unexported_names_are_invisible_outside() -> None:
    text = (
        'package x_test\nimport "example.com/app/x"\nfunc f() { x.Open(); x.hidden(); hidden() }\n'
    )
    source = "package x\nfunc Open() {}\nfunc hidden() {}\n"
    assert calls(text, "x/x_test.go", **{"x/x.go": source}) == ["x/x_test.go:f -> x/x.go:Open"]


def test_packages_are_known_by_their_clause_alias_or_all_at_once() -> None:
    text = (
        'package main\nimport "example.com/app/go-y"\nimport s "example.com/app/store"\n'
        'import . "example.com/app/z"\nfunc f() { y.Go(); s.Open(``); Zed(); store.Open(``) }\n'
    )
    more = {"go-y/y.go": "package y\nfunc Go() {}\n", "z/z.go": "package z\nfunc Zed() {}\n"}
    assert calls(text, **more) == [
        "main.go:f -> go-y/y.go:Go",
        "main.go:f -> store/store.go:Open",
        "main.go:f -> z/z.go:Zed",
    ]


def test_the_common_variant_of_machine_specific_files_counts() -> None:
    files = {
        "main.go": "package main\nfunc f() { run(); tagged() }\n",
        "a_windows.go": "package main\nfunc run() {}\n",
        "a_linux.go": "package main\nfunc run() {}\n",
        "b.go": "//go:build special\n\npackage main\nfunc tagged() {}\n",
        "c.go": "// Copyright\n\n//go:build !special\n\npackage main\nfunc tagged() {}\n",
    }
    assert edges_of(files) == ["main.go:f -> a_linux.go:run", "main.go:f -> c.go:tagged"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]*pkg.T", "pkg.T[]"),
        ("map[string][]T", "Map<string, T[]>"),
        ("func(a int) (T, error)", "() => #tuple<T, error>"),
        ("(a, b *T, err error)", "#tuple<T, T, error>"),
        ("(T)", "T"),
        ("Set[K, *V]", "Set<K, V>"),
        ("...T", "T[]"),
        ("<-chan T", "T"),
        ("interface{ Foo() }", ""),
        ("[", "[]"),
    ],
)
def test_types_are_read(text: str, expected: str) -> None:
    assert go_type(text) == expected


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [("linux", True), ("!linux", False), ("windows || (unix && !tag)", True), ("a && b", False),
     ("go1.21", True), ("", False), ("((", False), ("ignore", False)],
)  # fmt: skip
def test_build_constraints_hold_or_not(constraint: str, expected: bool) -> None:
    assert is_built(constraint) is expected


def test_a_promoted_method_is_that_of_the_shallowest_embedded_type() -> None:
    text = """package main

type D struct{}

func (D) M() {}

type C struct{}

func (C) M() {}

type B struct{ D }

type A struct {
	B
	C
}

func f(a A) { a.M() }
"""
    assert calls(text) == ["main.go:f -> C.M"]
