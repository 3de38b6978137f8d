"""PHP: types that `instanceof` narrows, and the class that `new self` makes."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

TYPES = (
    "<?php\nnamespace Shop;\ninterface Test {}\n"
    "class Method implements Test { public function name() {} public ?Test $of; }\n"
    "class Phpt implements Test { public function name() {} }\n"
)


def called(body: str) -> list[str]:
    """What the body of a function calls, each statement on a separate line."""
    lines = body.replace("; ", ";\n").replace("{ ", "{\n").replace("} ", "}\n")
    text = f"{TYPES}function run(Test $t, Method $m) {{\n{lines}\n}}\n"
    return called_in({"src/all.php": text}, "src/all.php:run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$t->name();", []),
        ("assert($t instanceof Method); $t->name();", ["Method.name"]),
        ("assert($t instanceof Method && $t->ok); $t->name();", ["Method.name"]),
        ("if ($t instanceof Phpt) { $t->name(); }", ["Phpt.name"]),
        ("if ($a) { assert($t instanceof Phpt); $t->name(); } $t->name();", ["Phpt.name"]),
        ("if ($t instanceof Phpt) { $x = 1; } $t->name();", []),
        ("if ($t instanceof Phpt || $a) { $t->name(); }", []),
        ("if ($t instanceof Phpt || $a instanceof Phpt) { $t->name(); }", []),
        (
            "if ($a && ($t instanceof Phpt || $t instanceof Method)) { $t->name(); }",
            ["Phpt.name", "Method.name"],
        ),
        (
            "if (!($t instanceof Phpt || $t instanceof Method)) { return; } $t->name();",
            ["Phpt.name", "Method.name"],
        ),
        ("if (!$t instanceof Phpt) { return; } $t->name();", ["Phpt.name"]),
        ("if (!$t instanceof Phpt) { throw new E(); } $t->name();", ["Phpt.name"]),
        ("if (!$t instanceof Phpt) { $x = 1; } $t->name();", []),
        ("if (!$t instanceof Phpt && $a) { return; } $t->name();", []),
        ("if (!$t instanceof Phpt) { $t->name(); return; }", []),
        ("assert($t instanceof Method); $t = other(); $t->name();", []),
        ("assert($m->of instanceof Phpt); $m->of->name();", ["Phpt.name"]),
        ("$f = fn () => $t instanceof Phpt; $t->name();", []),
    ],
)  # fmt: skip
def test_a_type_holds_from_its_test_to_the_end_of_the_block(body: str, expected: list[str]) -> None:
    assert called(body) == expected


def test_a_test_in_a_file_holds_without_a_function_around_it() -> None:
    text = TYPES + "assert($x instanceof Method);\n$x->name();\n"
    assert edges_of({"a.php": text}) == ["a.php:- -> Method.name"]


def test_new_self_makes_an_instance_of_the_class_around() -> None:
    text = (
        "<?php\nclass Base { static function of() { return new static(1); } }\n"
        "class Part extends Base implements Countable {\n"
        "  static function make() { return new self; }\n"
        "  static function above() { return new parent(); }\n}\n"
        "function outside() { return new self(); }\n"
    )
    assert edges_of({"a.php": text}) == [
        "a.php:Base.of -> Base",
        "a.php:Part.make -> Part",
        "a.php:Part.above -> Base",
    ]
