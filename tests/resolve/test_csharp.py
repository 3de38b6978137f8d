"""C#: calls by declared types, namespaces, partial classes, extensions."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

SHOP = {
    "src/Shop/Item.cs": (
        "namespace Shop.Core;\npublic partial class Item : Base, INamed {\n"
        "  public Item Next { get; set; }\n  public Item Copy() => this;\n"
        "  public void Mark(int a) {}\n"
        '  public void Mark(int a, string b = "", params int[] c) {}\n'
        "  public static Item Of() { return new Item(); }\n"
        "  public async Task<Item> Load() { return null; }\n}\n"
    ),
    "src/Shop/Item.More.cs": (
        "namespace Shop.Core { partial class Item { public void More() { Copy(); } } }\n"
    ),
    "src/Shop/Base.cs": (
        "namespace Shop.Core;\npublic abstract class Base { protected void Log() {} public "
        "INamed Owner() { return null; } }\n"
    ),
    "src/Shop/INamed.cs": "namespace Shop.Core;\npublic interface INamed { string Name(); }\n",
    "src/Shop/Ext.cs": (
        "namespace Shop.Core;\nstatic class Ext { public static void Turn(this Item item, int n) "
        "{} }\n"
    ),
}


def used(body: str, usings: str = "using Shop.Core;") -> list[str]:
    """What a method's body calls."""
    text = (
        f"{usings}\nnamespace App;\nclass Main {{\n  Item field;\n"
        f"  void Run(Item item, List<Item> items, Dictionary<string, Item> byName) {{\n    "
        f"{body}\n  }}\n"
        "  void Helper() {}\n}\n"
    )
    return called_in({**SHOP, "src/App/Main.cs": text}, "src/App/Main.cs:Main.Run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("item.Copy().Next.Copy().Log();", ["Item.Copy", "Base.Log"]),
        ("field.More(); this.field.Copy(); Helper();", ["Item.More", "Item.Copy", "Main.Helper"]),
        ("item?.Owner()?.Name();", ["Base.Owner", "INamed.Name"]),
        ("var x = Item.Of(); x.Log();", ["Item.Of", "Base.Log"]),
        ("foreach (var one in items) { one.Copy(); }", ["Item.Copy"]),
        ("items.First().Copy(); byName[\"x\"].Log();", ["Item.Copy", "Base.Log"]),
        ("(await item.Load()).Copy();", ["Item.Load", "Item.Copy"]),
        ("if (o is Item i) i.Copy(); ((Item)o).Log(); (o as Item).More();",
         ["Item.Copy", "Base.Log", "Item.More"]),
        ("item.Turn(1);", ["Ext.Turn"]),
        ("item.Mark(); item.Mark(1);", ["Item.Mark"]),
        ("new Item { Next = null }.Copy(); new Shop.Core.Item().More();",
         ["Item", "Item.Copy", "Item.More"]),
        ("void Local() { item.Copy(); } Local();", ["Main.Run.Local"]),
        ("Unknown().Copy(); other.Log();", []),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_a_namespace_that_is_not_used_is_not_seen() -> None:
    assert used("new Item(); Item.Of();", "using Other;") == []


def test_a_call_goes_to_a_property_only_if_it_holds_a_function() -> None:
    files = {
        "A.cs": (
            "namespace N;\nclass A {\n  public int Count { get; }\n"
            "  public Func<int> Make { get; }\n"
            "  void Run(A a) { a.Count(); a.Make(); a.Add(1); ((IAdds)a).Add(1); }\n"
            "  void IAdds.Add(int n) {}\n}\ninterface IAdds { void Add(int n); }\n"
        )
    }
    assert edges_of(files) == ["A.cs:A.Run -> A.Make", "A.cs:A.Run -> IAdds.Add"]


def test_a_type_is_meant_by_its_number_of_type_arguments() -> None:
    files = {
        "Box.cs": (
            "namespace N;\nclass Box { public void Plain() {} }\n"
            "class Box<A, B> : Box { public void Both() {} }\n"
        ),
        "Use.cs": (
            "namespace N;\nclass Use {\n  Box<int, string> both; Box plain;\n"
            "  void Run() { new Box(); new Box<int, int>(); both.Both(); plain.Plain(); }\n}\n"
        ),
    }
    assert edges_of(files, "ref", numbered=True) == [
        "Use.cs:Use -> Box.cs:Box~2",
        "Use.cs:Use -> Box.cs:Box",
        "Use.cs:Use.Run -> Use.both",
        "Use.cs:Use.Run -> Use.plain",
    ]
    assert edges_of(files, numbered=True) == [
        "Use.cs:Use.Run -> Box.cs:Box",
        "Use.cs:Use.Run -> Box.cs:Box~2",
        "Use.cs:Use.Run -> Box.cs:Box.Both",
        "Use.cs:Use.Run -> Box.cs:Box.Plain",
    ]
    assert edges_of(files, "inherit", numbered=True) == ["Box.cs:Box~2 -> Box"]


def test_a_constructor_that_calls_another_makes_its_class() -> None:
    text = (
        "namespace N;\nclass Base { public Base(int x) {} }\ninterface IOne {}\n"
        "class Part : Base, IOne {\n  public Part(int x) : base(x) {}\n"
        "  public Part() : this(1) {}\n}\n"
    )
    assert edges_of({"a.cs": text}, numbered=True) == [
        "a.cs:Part.Part -> Base",
        "a.cs:Part.Part~2 -> Part",
    ]


TAKERS = """class Item { public void Copy() {} }
delegate void Taker(Item x);
class Main {
  void Local() { Taker t = a => a.Copy(); }
  void Cast() { var t = (Taker)(b => b.Copy()); }
  Taker Result() { return c => c.Copy(); }
  Taker Arrow() => d => d.Copy();
  object Nothing() { return e => e.Copy(); }
}
"""


def test_a_lambda_receives_what_the_type_before_it_declares() -> None:
    assert edges_of({"Main.cs": TAKERS}) == [
        f"Main.cs:Main.{user} -> Item.Copy" for user in ("Local", "Cast", "Result", "Arrow")
    ]
