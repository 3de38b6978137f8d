"""The meaning of names when another namespace has the same name (PHP, Ruby, C++, Go)."""

from __future__ import annotations

from resolved_edges import edges_of


def test_a_name_of_php_with_a_sign_before_it_is_in_no_namespace() -> None:
    text = (
        "<?php\nnamespace App;\nclass Foo { function run() {} }\n"
        "function strlen($x) {}\nfunction own() { strlen('a'); new Foo(); }\n"
        "function f(\\Foo $p) { \\strlen('a'); new \\Foo(); $p->run(); }\n"
    )
    found = edges_of({"a.php": text})
    assert found == ["a.php:own -> strlen", "a.php:own -> Foo"]
    root = {"a.php": "<?php\nfunction plain() {}\nfunction g() { \\plain(); }\n"}
    assert edges_of(root) == ["a.php:g -> plain"]


def test_a_php_loop_rebinds_its_variable() -> None:
    text = (
        "<?php\nclass Foo { function run() {} }\nfunction f($xs) {\n    $a = new Foo;\n"
        "    foreach ([1] as $a) { $a->run(); }\n}\n"
    )
    assert edges_of({"a.php": text}) == ["a.php:f -> Foo"]


def test_methods_in_the_singleton_class_are_of_the_class_itself() -> None:
    text = (
        "class Sub\n  def run; end\n  def self.run; end\n  class << self\n"
        "    def y\n      run\n    end\n    def make; end\n  end\n"
        "  def x\n    Class.new(String) { def zed; run; end }\n  end\nend\n"
        "Sub.make\nSub.new.make\n"
    )
    found = edges_of({"a.rb": text}, numbered=True)
    assert [one for one in found if "run" in one or "make" in one] == [
        "a.rb:Sub.y -> Sub.run~2",
        "a.rb:- -> Sub.make",
    ]


def test_a_namespace_of_cpp_gives_no_body_to_what_another_declares() -> None:
    text = (
        "namespace a {\nstruct S { int run(); };\nint fr(S);\nnamespace b {\n"
        "struct S { int run(); };\n} }\nint a::fr(S s) { return s.run(); }\n"
        "int a::b::go(S s) { return s.run(); }\nint fr(double);\nint u() { return fr(1.0); }\n"
    )
    found = edges_of({"a.cpp": text})
    assert [one.partition(" -> ")[2] for one in found] == ["a.S.run", "a.b.S.run", "fr"]
    assert edges_of({"a.cpp": text.replace("1.0", "x")}) == found[:2]
    assert len(edges_of({"a.cpp": text.replace("1.0", "x")}, certain=False)) == 2


def test_the_call_determines_the_result_of_a_generic_go_function() -> None:
    text = (
        "package k\n\ntype Runner interface{ Run() int }\ntype B struct{}\n\n"
        "func gen[T Runner](t T) T { t.Run(); return t }\n"
        "func list[T Runner](t T) []T { return nil }\n"
        "func u() { gen(B{}).Run(); list(B{})[0].Run() }\n"
    )
    found = edges_of({"a.go": text})
    assert [one.partition(" -> ")[2] for one in found if "Runner" in one or ":u" in one] == [
        "Runner.Run",
        "gen",
        "list",
    ]
