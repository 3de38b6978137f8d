"""Kotlin: bare names if `this` is another object, in extensions and in lambdas."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

ROOT = "src/main/kotlin/app/"
TYPES = """package app

open class Base {
    open fun run() = 1
}
class Sub : Base() {
    override fun run() = 2
    fun go() = this
}
class Dsl {
    fun sub(f: Sub.() -> Unit) {}
    fun plain(f: (Sub) -> Unit) {}
}
class Free {
    fun odd() {}
}
fun run() {}
fun go() {}
fun Base.ext() = run()
fun Free.far() {}
fun wrap(first: Int, f: Sub.(Int) -> Unit) {}
fun over(x: Int) = Base()
fun over(x: String) = Sub()
"""


def used(body: str, before: str = "fun here(s: Sub, d: Dsl)") -> list[str]:
    """What a function's body calls, without the functions that take its lambdas."""
    text = f"package app\n\n{before} {{\n    {body}\n}}\n"
    found = edges_of({ROOT + "Types.kt": TYPES, ROOT + "Main.kt": text})
    return [one.rpartition(":")[2] for one in found if one.startswith(ROOT + "Main.kt")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s.apply { run() }", ["Sub.run"]),
        ("s.run { go() }", ["Sub.go"]),
        ("with(s) { this.go() }", ["Sub.go"]),
        ("with(s) { go() }", ["Sub.go"]),
        ("s.also { go() }", ["go"]),
        ("d.sub { go() }", ["Dsl.sub", "Sub.go"]),
        ("d.plain { go() }", ["Dsl.plain", "go"]),
        ("wrap(1) { go() }", ["wrap", "Sub.go"]),
        ("listOf(1).forEach { run() }", ["run"]),
        ("s.apply { ext() }", ["Base.ext"]),
        ("val go = s; s.apply { go.run() }", ["Sub.run"]),
    ],
)  # fmt: skip
def test_a_lambda_has_the_receiver_that_its_taker_says(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_in_an_unknown_lambda_members_of_a_type_stay_possible() -> None:
    assert used("unknown { go() }") == []
    assert used("unknown { wrap(1) { } }") == ["wrap"]


def test_an_extension_sees_the_members_of_its_type_first() -> None:
    found = edges_of({ROOT + "Types.kt": TYPES})
    assert f"{ROOT}Types.kt:Base.ext -> Base.run" in found
    assert used("go(); this.run()", "fun Sub.more()") == ["Sub.go", "Sub.run"]


def test_in_a_class_the_lambda_counts_first() -> None:
    before = "class Host { fun go() {}\n fun odd() {}\n fun m(d: Dsl)"
    assert used("d.sub { go() }\n d.sub { odd() } }", before) == [
        "Dsl.sub",
        "Sub.go",
        "Host.m -> Host.odd",
    ]


def test_an_extension_of_another_type_is_not_a_bare_name() -> None:
    assert used("far()") == []
    assert used("Free().apply { far() }") == ["Free", "Free.far"]


def test_a_result_of_overloads_is_one_of_all() -> None:
    assert used("over(1).run()") == ["over"]
    files = {ROOT + "Types.kt": TYPES, ROOT + "Main.kt": "package app\nfun f() = over(1).run()\n"}
    edges = edges_of(files, certain=False)
    assert [one.rpartition(":")[2] for one in edges] == ["Base.run", "Sub.run"]
