"""A rename of a type by what `references` lists (lines and places) leaves its old name nowhere."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest
from gitrepo import GitRepo
from shop_repository import Run

SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "java": (
        "p/Foo.java#Foo",
        {
            "p/Foo.java": "package p;\npublic class Foo {\n  public Foo() {}\n"
            "  Foo(int a) {\n    this();\n  }\n  static Foo of() {\n    return new Foo(1);\n  }\n"
            "  class In { In() {} }\n}\n",
            "p/Use.java": "package p;\nclass Use extends Foo {\n  Foo.In in;\n"
            "  java.util.function.Supplier<Object> make = Foo::new;\n}\n",
        },
    ),
    "java record": (
        "p/Foo.java#Foo",
        {
            "p/Foo.java": "package p;\nrecord Foo(int a) {\n  Foo {\n  }\n"
            "  Foo(String b) {\n    this(1);\n  }\n}\n",
            "p/Use.java": "package p;\nclass Use {\n  Object a = new Foo(1);\n}\n",
        },
    ),
    "java enum": (
        "p/Foo.java#Foo",
        {"p/Foo.java": "package p;\nenum Foo {\n  A(1);\n  Foo(int a) {\n  }\n}\n"},
    ),
    "kotlin": (
        "p/Foo.kt#Foo",
        {
            "p/Foo.kt": "package p\n\nclass Foo(val a: Int) {\n    constructor() : this(1)\n"
            "    companion object {\n        fun of() = Foo(2)\n    }\n}\n",
            "p/Use.kt": "package p\n\nfun Foo.more() = Foo.of()\nval make = ::Foo\n",
        },
    ),
    "csharp": (
        "Foo.cs#Foo",
        {
            "Foo.cs": "namespace N\n{\n  public partial class Foo\n  {\n    public Foo() {}\n"
            "    Foo(int a) : this() {}\n    ~Foo() {}\n    static Foo() {}\n"
            "    public static implicit operator Foo(int a) => new Foo();\n  }\n}\n",
            "Part.cs": "namespace N;\npublic partial class Foo\n{\n  public Foo(string b) {}\n"
            "  static Foo Of() => new Foo(1);\n}\n",
            "Use.cs": "namespace N;\nclass Use : Foo\n{\n  Foo a = new(1);\n}\n",
        },
    ),
    "cpp": (
        "foo.h#n.Foo",
        {
            "foo.h": "namespace n {\nclass Foo {\n public:\n  Foo();\n  explicit Foo(int a);\n"
            "  Foo(const Foo& other) = delete;\n  ~Foo();\n  void bar();\n"
            "  static Foo of() { return Foo(1); }\n  static int count;\n"
            "  class In {\n    In();\n    void baz();\n  };\n"
            "  Foo& operator=(const Foo&);\n};\n}\n",
            "foo.cc": "#include \"foo.h\"\nnamespace n {\nFoo::Foo() : Foo(1) {}\n"
            "Foo::Foo(int a) {}\nFoo::~Foo() {}\nvoid Foo::bar() {}\nint Foo::count = 1;\n"
            "Foo::In::In() {}\nvoid Foo::In::baz() {}\n"
            "Foo& Foo::operator=(const Foo&) { return *this; }\nvoid use() { Foo::of(); }\n}\n"
            "void n::Foo::bar() const {}\n",
        },
    ),
    "cpp template": (
        "foo.h#Foo",
        {
            "foo.h": "template <class T, class S = int> class Foo {\n public:\n  Foo();\n"
            "  ~Foo();\n  T get();\n};\n"
            "template <class T, class S> Foo<T, S>::Foo() {}\n"
            "template <class T, class S> Foo<T, S>::~Foo() {}\n"
            "template <class T, class S>\nT Foo<T, S>::get() { return T(); }\n",
        },
    ),
    "dart": (
        "foo.dart#Foo",
        {
            "foo.dart": "class Foo {\n  Foo();\n  Foo.named(int a);\n"
            "  factory Foo.of() => Foo();\n}\n",
        },
    ),
    "php": (
        "Foo.php#Foo",
        {
            "Foo.php": "<?php\nclass Foo {\n  function __construct() {}\n"
            "  static function of() { return new Foo(); }\n}\n",
        },
    ),
    "swift": (
        "Foo.swift#Foo",
        {
            "Foo.swift": "class Foo {\n  init() {}\n}\n"
            "extension Foo {\n  convenience init(a: Int) { self.init() }\n}\n",
        },
    ),
    "javascript": (
        "foo.js#Foo",
        {
            "foo.js": "function Foo() {}\nFoo.prototype.bar = function () {};\n"
            "Foo.of = () => new Foo();\nmodule.exports = Foo;\n",
        },
    ),
    "lua": (
        "foo.lua#Foo",
        {
            "foo.lua": "local Foo = {}\nFoo.__index = Foo\nfunction Foo.new()\n"
            "  return setmetatable({}, Foo)\nend\nfunction Foo:bar() end\nreturn Foo\n",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", SOURCES)
def test_a_renamed_type_has_its_old_name_nowhere(repo: GitRepo, run: Run, language: str) -> None:
    target, sources = SOURCES[language]
    repo.commit("a type", dict(sources))
    answer = json.loads(run("references", target, "--json", "--limit", "1000").out)
    related = json.loads(run("related", target, "--json").out)
    assert related["places"] == answer["places"]
    lines = {name: text.split("\n") for name, text in sources.items()}
    listed: dict[str, set[int]] = defaultdict(set)
    for row in answer["results"]:
        assert row["certain"]
        listed[row["path"]].add(row["line"])
    for place in answer["places"]:
        span = range(place["start_line"], place["end_line"] + 1)
        listed[place["path"]].add(
            next(line for line in span if "Foo" in lines[place["path"]][line - 1])
        )
    left = [
        f"{path}:{line}: {text}"
        for path, texts in lines.items()
        for line, text in enumerate(texts, 1)
        if re.search(r"\bFoo\b", text) and line not in listed[path]
    ]
    assert left == []


def test_members_of_another_type_of_the_name_are_no_places(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "two types",
        {
            "a/foo.h": "namespace a {\nclass Foo {\n  Foo();\n  void bar();\n};\n}\n",
            "b/foo.h": "namespace b {\nclass Foo {\n  Foo();\n  void bar();\n};\n}\n",
            "a/foo.cc": '#include "foo.h"\nnamespace a {\nFoo::Foo() {}\nvoid Foo::bar() {}\n}\n',
            "b/foo.cc": '#include "foo.h"\nnamespace b {\nFoo::Foo() {}\nvoid Foo::bar() {}\n}\n',
        },
    )
    answer = json.loads(run("references", "a/foo.h#a.Foo", "--json").out)
    assert {place["handle"] for place in answer["places"]} == {
        "a/foo.h#a.Foo", "a/foo.h#a.Foo.Foo", "a/foo.cc#a.Foo.Foo", "a/foo.cc#a.Foo.bar",
    }  # fmt: skip


def test_the_parts_of_a_class_are_one_of_its_namespace(repo: GitRepo, run: Run) -> None:
    """The uses of any part are those of each; a class of another namespace is another one."""
    repo.commit(
        "parts",
        {
            "A.cs": "namespace N;\npublic partial class Foo {\n  int a = Foo.M();\n}\n",
            "B.cs": "namespace N;\npublic partial class Foo { static int M() => 1; }\n",
            "C.cs": "namespace O;\npublic partial class Foo { int c = Foo.N(); static int N() => 1;"
            " }\n",
            "D.cs": "namespace N;\npublic partial class Foo<T> { Foo<T> d; }\n",
        },
    )
    for target in ("A.cs#Foo", "B.cs#Foo"):
        answer = json.loads(run("references", target, "--json").out)
        assert {place["path"] for place in answer["places"]} == {"A.cs", "B.cs"}
        assert [(row["path"], row["line"]) for row in answer["results"]] == [("A.cs", 3)]
    named = json.loads(run("references", "Foo", "--json").out)
    assert [owner["path"] for owner in named["owners"]] == ["A.cs", "C.cs", "D.cs"]


def test_a_name_means_the_type_and_not_its_members_elsewhere(repo: GitRepo, run: Run) -> None:
    repo.commit("a type", dict(SOURCES["cpp"][1]))
    answer = json.loads(run("references", "Foo", "--json").out)
    assert answer["target"]["handle"] == "foo.h#n.Foo"
    assert "owners" not in answer


def test_the_text_counts_the_places_that_it_does_not_show(repo: GitRepo, run: Run) -> None:
    members = "".join(f"  void m{number}();\n" for number in range(20))
    bodies = "".join(f"void Foo::m{number}() {{}}\n" for number in range(20))
    repo.commit(
        "a large type",
        {"foo.h": f"class Foo {{\n{members}}};\n", "foo.cc": f'#include "foo.h"\n{bodies}'},
    )
    for command in ("references", "related"):
        head = run(command, "foo.h#Foo").out.splitlines()[1]
        assert head.startswith("also at foo.cc#Foo.m0  2, ")
        assert head.endswith(" and 12 more")
