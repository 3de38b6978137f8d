"""Which of several overloads a call means, by its arguments: Java, Kotlin, C#."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

from codelens.resolve.languages.classes.class_types import Parameter, parameters

JAVA = (
    "class Base {}\nclass Item extends Base {}\ninterface Maker { Item make(); }\n"
    "class Uses {\n"
    "  void m(int a) {}\n  void m(String a) {}\n  void m(Item a) {}\n  void m(Base a) {}\n"
    "  void m(Maker a) {}\n  void m(long[] a) {}\n  void m(Object a) {}\n"
    "  void n(String a, Object... b) {}\n  void n(String a, int b) {}\n"
    "  void run(Item item, Base base, String text, Object any, Integer number, long[] all) {\n"
    "    %s\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("m(1);", "m"),
        ('m("a" + 1);', "m~2"),
        ("m(text);", "m~2"),
        ("m(item.toString());", "m~2"),
        ("m(item);", "m~3"),
        ("m(new Item());", "m~3"),
        ("m(base);", "m~4"),
        ("m(() -> null);", "m~5"),
        ("m(all);", "m~6"),
        ("m(any);", "m~7"),
        ("m(number);", "m~7"),
        ("m(number.intValue());", "m"),
        ("m('a');", "m"),
        ("m(a == b);", "m~7"),
        ('n("a", 1);', "n~2"),
        ('n("a", "b");', "n"),
        ('n("a", 1, 2);', "n"),
    ],
)
def test_the_arguments_of_java_choose(call: str, expected: str) -> None:
    found = edges_of({"Uses.java": JAVA % call}, numbered=True)
    chosen = [one for one in found if ".m" in one or ".n" in one]
    assert chosen == [f"Uses.java:Uses.run -> Uses.{expected}"]


def test_overloads_the_arguments_do_not_exclude_are_candidates() -> None:
    files = {"Uses.java": JAVA % "m(unknown()); n(null, unknown());"}
    found = edges_of(files, certain=False, numbered=True)
    assert [one.rpartition(".")[2] for one in found] == [
        "m", "m~2", "m~3", "m~4", "m~5", "m~6", "m~7", "n", "n~2",
    ]  # fmt: skip


KOTLIN = (
    "class Item {\n    fun m(a: Long) {}\n    fun m(a: String, b: Int = 1) {}\n"
    "    fun m(block: (Int) -> Unit) {}\n    fun m(other: Item) {}\n}\n\n"
    "fun run(item: Item) {\n    %s\n}\n"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("item.m(1)", "m"),
        ('item.m("a")', "m~2"),
        ('item.m(b = 2, a = "a")', "m~2"),
        ("item.m { it }", "m~3"),
        ("item.m(item)", "m~4"),
        ("item.m(other = unknown())", "m~4"),
    ],
)
def test_the_arguments_of_kotlin_choose(call: str, expected: str) -> None:
    found = edges_of({"Item.kt": KOTLIN % call}, numbered=True)
    assert found == [f"Item.kt:run -> Item.{expected}"]


SHARP = (
    "class Item {\n  void M(int a) {}\n  void M(string a, bool b = false) {}\n"
    "  void M<T>(T a) {}\n  void M(System.Action a) {}\n  void M(params string[] a) {}\n"
    "  void Run(Item item) {\n    %s\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("M(1);", "M"),
        ('M("a", true);', "M~2"),
        ("M(b: true, a: null);", "M~2"),
        ("M(item);", "M~3"),
        ("M<Item>(item);", "M~3"),
        ("M(() => {});", "M~4"),
        ('M("a", "b", "c");', "M~5"),
    ],
)
def test_the_arguments_of_csharp_choose(call: str, expected: str) -> None:
    found = edges_of({"Item.cs": SHARP % call}, numbered=True)
    assert found == [f"Item.cs:Item.Run -> Item.{expected}"]


@pytest.mark.parametrize(
    ("language", "signature", "expected"),
    [
        ("java", "void f(final @Nullable Map<A, B> x, int... y)",
         [Parameter("x", "Map<A, B>"), Parameter("y", "int", many=True)]),
        ("kotlin", "fun f(a: Int = g(1, 2), vararg b: T)",
         [Parameter("a", "Int"), Parameter("b", "T", many=True)]),
        ("csharp", "static int f(this A a, ref List<int> b, params string[] c)",
         [Parameter("a", "A", receiver=True), Parameter("b", "List<int>"),
          Parameter("c", "string[]", many=True)]),
    ],
)  # fmt: skip
def test_parameters_are_read(language: str, signature: str, expected: list[Parameter]) -> None:
    found = parameters(signature, "f", language)
    assert found is not None
    assert list(found) == expected


def test_a_private_overload_of_another_type_is_not_a_candidate() -> None:
    files = {
        "A.java": "class A {\n  private void m(Left a) {}\n  public void m(Right a) {}\n}\n",
        "B.java": "class B {\n  void run(A a) { a.m(unknown()); }\n}\n",
    }
    assert edges_of(files, numbered=True) == ["B.java:B.run -> A.java:A.m~2"]
