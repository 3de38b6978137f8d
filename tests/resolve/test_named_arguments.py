"""Names of arguments that are fields, too: of constructors, and of functions that copy a value."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

PYTHON = {
    "shop.py": "@dataclass\nclass Item:\n    size: int = 0\n\n\nclass Bag(Item):\n    tag = ''\n\n"
    "class Box:\n    size: int = 0\n\n    def __init__(self, size, **more):\n        pass\n\n\n"
    "class Crate(Box):\n    pass\n\n\ndef item(size) -> Item:\n    return Item()\n",
}
KOTLIN = {
    "src/shop/Item.kt": "package shop\n\ndata class Item(val size: Int, var tag: String = \"\") {\n"
    "    fun same() = this\n}\nclass Box(size: Int) {\n    val size = size\n}\n"
    "fun item(size: Int) = Item(size)\n",
}  # fmt: skip
CSHARP = {
    "Item.cs": "namespace Shop {\n  public record Item(int Size, string Tag);\n"
    "  public class Box {\n    public int Size { get; set; }\n    public Item In;\n"
    "    public Box(int Size = 0) {}\n  }\n}\n",
}
PHP = {
    "Item.php": "<?php\nnamespace Shop;\nclass Item {\n  public $own = 1;\n  public function "
    "__construct(public int $size, string $own = '') {}\n}\n",
}


def _fields(files: dict[str, str]) -> list[str]:
    """The fields that the function or method `run` of the last file uses, with their owners."""
    start = f"{list(files)[-1]}:"
    edges = [edge for edge in edges_of(files, "ref") if edge.startswith(start) and "run ->" in edge]
    names = [edge.rpartition(":")[2] for edge in edges]
    return [name for name in names if "." in name]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Item(size=1)", ["Item.size"]),
        ("shop.Item(size=1)", ["Item.size"]),
        ("Bag(size=1, tag=2)", ["Item.size", "Bag.tag"]),
        ("dataclasses.replace(a, size=1)", ["Item.size"]),
        ("a._replace(size=1)", ["Item.size"]),
        ("item(size=1)", []),
        ("Box(size=1); Crate(size=1)", []),
        ("'a'.replace(size=1); f(size=1); Unknown(size=1)", []),
        ("match a:\n        case Item(size=1): pass", ["Item.size"]),
        ("match a:\n        case Box(size=1): pass", ["Box.size"]),
    ],
)
def test_python(body: str, expected: list[str]) -> None:
    text = (
        f"import dataclasses\nimport shop\nfrom shop import *\n\n\ndef run(a: Item):\n    {body}\n"
    )
    assert _fields({**PYTHON, "app.py": text}) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('Item(size = 1, tag = "")', ["Item.size", "Item.tag"]),
        ("a.copy(size = 1)", ["Item.size"]),
        ("a.same().copy(size = 1)", ["Item.size"]),
        ("item(size = 1); Box(size = 1); f(size = 1)", []),
    ],
)
def test_kotlin(body: str, expected: list[str]) -> None:
    text = f"package shop\n\nfun run(a: Item) {{\n    {body}\n}}\n"
    assert _fields({**KOTLIN, "src/shop/App.kt": text}) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('new Item(Size: 1, Tag: "");', ["Item.Size", "Item.Tag"]),
        ("new Box(Size: 1); F(Size: 1);", []),
        ("var c = a with { Size = 2 };", ["Item.Size"]),
        ("var c = a is { Size: 1 };", ["Item.Size"]),
        ("if (o is Box { Size: 1, In: { Tag: null } }) {}", ["Box.Size", "Box.In", "Item.Tag"]),
        ("switch (a) { case { Size: 1 }: break; }", ["Item.Size"]),
        ("var c = o switch { Box { Size: 1 } => 1, _ => 2 };", ["Box.Size"]),
        ("Box c = new() { Size = 1 }; F(new() { Size = 2 });", ["Box.Size"]),
    ],
)
def test_csharp(body: str, expected: list[str]) -> None:
    text = f"namespace Shop {{\n  class App {{ void run(Item a, object o) {{ {body} }} }}\n}}\n"
    assert _fields({**CSHARP, "App.cs": text}) == expected


def test_php() -> None:
    text = "<?php\nnamespace Shop;\nfunction run() { new Item(size: 1, own: 2); item(size: 1); }\n"
    assert _fields({**PHP, "App.php": text}) == ["Item.size"]
