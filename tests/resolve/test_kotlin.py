"""Kotlin: calls by declared types, packages, extensions, companions."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

ROOT = "src/main/kotlin/"
SHOP = {
    ROOT + "shop/Item.kt": (
        "package shop\n\nopen class Base {\n    fun log() {}\n}\n\n"
        "class Item(val owner: Store, count: Int = 1) : Base(), Named {\n"
        "    val first: Part = Part()\n    val made = Part()\n"
        "    fun copy() = Item(owner)\n    fun parts(): List<Part> = listOf()\n"
        "    override fun name(): Part? = null\n"
        "    companion object {\n        fun of(): Item = Item(Store())\n    }\n}\n\n"
        "class Part {\n    fun turn() {}\n}\n\ninterface Named {\n    fun name(): Part?\n}\n\n"
        "class Store {\n    fun open(): Item = Item.of()\n}\n\n"
        "fun Item.mark(n: Int): Part = first\nfun free() {}\nobject Only {\n    fun one(): Item "
        "= x()\n}\n"
    ),
}


def used(body: str, imports: str = "import shop.*") -> list[str]:
    """What a function's body calls."""
    text = (
        f"package app\n\n{imports}\n\nfun run(item: Item, items: List<Item>, other: Item?) {{\n   "
        f" {body}\n}}\n"
    )
    path = ROOT + "app/Main.kt"
    return called_in({**SHOP, path: text}, f"{path}:run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("item.copy().log()", ["Item.copy", "Base.log"]),
        ("item.first.turn(); item.made.turn(); item.owner.open()", ["Part.turn", "Store.open"]),
        ("other?.name()?.turn(); other!!.copy()", ["Item.name", "Part.turn", "Item.copy"]),
        ("for (one in items) { one.copy() }", ["Item.copy"]),
        ("items.first().copy()", ["Item.copy"]),
        ("Item.of().copy(); Only.one().log()", ["Item.of", "Item.copy", "Only.one", "Base.log"]),
        ("item.mark(1).turn(); free()", ["Item.mark", "Part.turn", "free"]),
        ("val x = Item(Store()); x.copy()", ["Item", "Store", "Item.copy"]),
        ("(x as Item).copy(); val f = { a: Item -> a.log() }", ["Item.copy", "Base.log"]),
        ("unknown().copy(); y.log()", []),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_names_are_imported_one_by_one() -> None:
    assert used("free(); Item.of()", "import shop.free") == ["free"]


COMMON, JVM, OTHER = "src/commonMain/kotlin/", "src/jvmMain/kotlin/", "src/nonJvmMain/kotlin/"
PLATFORMS = {
    COMMON + "io/Buffer.kt": "package io\n\nexpect class Buffer() {\n    fun read(): Int\n}\n",
    JVM + "io/Buffer.kt": (
        "package io\n\nactual class Buffer actual constructor() {\n    actual fun read(): Int = 1\n"
        "    fun more(): Int = 2\n}\n"
    ),
    OTHER + "io/Buffer.kt": (
        "package io\n\nactual class Buffer actual constructor() {\n"
        "    actual fun read(): Int = 3\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("source_set", "expected"),
    [("jvmTest", JVM), ("jsMain", OTHER), ("commonTest", COMMON), ("iosArm64Test", OTHER)],
)
def test_code_of_other_platforms_is_invisible(source_set: str, expected: str) -> None:
    text = "package io.app\n\nimport io.Buffer\n\nfun run() {\n    Buffer().read()\n}\n"
    path = f"src/{source_set}/kotlin/io/app/Run.kt"
    assert [one for one in edges_of({**PLATFORMS, path: text}) if one.startswith(path)] == [
        f"{path}:run -> {expected}io/Buffer.kt:Buffer",
        f"{path}:run -> {expected}io/Buffer.kt:Buffer.read",
    ]


def test_an_override_inherits_default_arguments() -> None:
    files = {
        "a.kt": (
            "open class A {\n    open fun m(a: Int, b: Int = 1) {}\n}\n\n"
            "class B : A() {\n    override fun m(a: Int, b: Int) {}\n    fun m(x: String) {}\n}\n\n"
            "fun run(b: B) {\n    b.m(1)\n}\n"
        )
    }
    assert edges_of(files, numbered=True) == ["a.kt:run -> B.m"]


ROOTLESS = {
    "core/src/io/Sink.kt": "package com.acme.io\n\nclass Sink(n: Int)\nfun begin() = Sink(1)\n",
    "core/jvm/src/Clock.kt": "package com.acme\n\nactual fun now(): Int = 1\n",
    "core/native/src/Clock.kt": "package com.acme\n\nactual fun now(): Int = 2\n",
    "core/common/src/Clock.kt": "package com.acme\n\nexpect fun now(): Int\nfun late() = now()\n",
    "other/src/io/Sink.kt": "package org.other.io\n\nclass Sink\nfun begin() = Sink()\n",
}


@pytest.mark.parametrize(
    ("path", "package", "body", "expected"),
    [
        ("core/src/Main.kt", "com.acme", "begin(); Sink(2)",
         ["core/src/io/Sink.kt:Sink", "core/src/io/Sink.kt:begin"]),
        ("core/jvm/test/ClockTest.kt", "com.acme", "now()", ["core/jvm/src/Clock.kt:now"]),
        ("ui/src/Main.kt", "com.acme", "now(); late()",
         ["core/common/src/Clock.kt:late", "core/common/src/Clock.kt:now"]),
        ("ui/src/Main.kt", "org.acme", "now()", []),
    ],
)  # fmt: skip
def test_folders_may_leave_out_the_common_root_of_packages(
    path: str, package: str, body: str, expected: list[str]
) -> None:
    imports = "import com.acme.io.begin\nimport com.acme.io.Sink"
    text = f"package {package}\n\n{imports}\n\nfun run() {{\n    {body}\n}}\n"
    edges = edges_of({**ROOTLESS, path: text})
    own = f"{path}:run -> "
    assert sorted(edge.removeprefix(own) for edge in edges if edge.startswith(own)) == expected
