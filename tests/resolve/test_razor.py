"""Razor components are classes of C# with the names of their files."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

FILES = {
    "Shop.csproj": "<Project/>\n",
    "_Imports.razor": "@using Shop.Services\n",
    "Services/Cart.cs": "namespace Shop.Services;\npublic interface ICart { int Total(); }\n"
    "public class Item { public string Name { get; set; } }\n",
    "Counter.razor": """@inject ICart Cart
<h1>@Title</h1>
<button @onclick="Save">Save @Format(count)</button>
@if (count > 0) {
    <p class="big @Format(1)">@Cart.Total()</p>
}
@foreach (var x in Items) { <li>@x.Name</li> }
@code {
    [Parameter] public string Title { get; set; }
    [Parameter] public EventCallback OnDone { get; set; }
    private int count;
    private List<Item> Items = new();
    void Save() { count = Cart.Total(); }
    string Format(int n) => n.ToString();
}
""",
    "Page.razor": """<Counter Title="name" OnDone="Finish" />
<Behind Label="@name"></Behind>
@code {
    string name = "a";
    void Finish() { }
}
""",
    "Behind.razor": '<p @onclick="Go">@Label</p>\n',
    "Behind.razor.cs": "namespace Shop.Pages;\npublic partial class Behind {\n"
    "    public string Label { get; set; }\n    void Go() { }\n}\n",
    "Pages.razor": '@using Shop.Pages\n<Behind Label="a" />\n',
    "Code.cs": "namespace Shop;\npublic class Code { void M() { new Counter().Title = null; } }\n",
}


@pytest.fixture(scope="module")
def edges() -> set[str]:
    return {*edges_of(FILES), *edges_of(FILES, "ref")}


@pytest.mark.parametrize(
    "edge",
    [
        "Counter.razor:Counter -> Counter.Title",
        "Counter.razor:Counter -> Counter.Save",
        "Counter.razor:Counter -> Counter.Format",
        "Counter.razor:Counter -> Counter.count",
        "Counter.razor:Counter -> Counter.Items",
        "Counter.razor:Counter -> Services/Cart.cs:ICart.Total",
        "Counter.razor:Counter.Save -> Services/Cart.cs:ICart.Total",
        "Counter.razor:Counter -> Services/Cart.cs:Item.Name",
        "Page.razor:Page -> Counter.razor:Counter",
        "Page.razor:Page -> Counter.razor:Counter.Title",
        "Page.razor:Page -> Counter.razor:Counter.OnDone",
        "Page.razor:Page -> Page.Finish",
        "Page.razor:Page -> Page.name",
        "Behind.razor:Behind -> Behind.razor.cs:Behind.Label",
        "Behind.razor:Behind -> Behind.razor.cs:Behind.Go",
        "Pages.razor:Pages -> Behind.razor.cs:Behind.Label",
        "Code.cs:Code.M -> Counter.razor:Counter.Title",
    ],
)
def test_a_component_uses_what_it_names(edges: set[str], edge: str) -> None:
    assert edge in edges, sorted(edges)


def test_the_text_of_an_attribute_is_no_use() -> None:
    files = FILES | {"Page.razor": FILES["Page.razor"].replace('"@name"', '"name"')}
    edges = [edge for edge in edges_of(files, "ref") if edge.startswith("Page.razor")]
    assert "Page.razor:Page -> Page.name" not in edges


def test_a_parameter_with_a_name_of_texts_gets_no_method() -> None:
    page = '<Counter Title="Finish" OnDone="Finish" />\n@code {\n void Finish() { }\n}\n'
    edges = [edge for edge in edges_of(FILES | {"Page.razor": page}, "ref") if "Finish" in edge]
    assert edges == ["Page.razor:Page -> Page.Finish"]
    page = page.replace('OnDone="Finish"', "")
    assert not [edge for edge in edges_of(FILES | {"Page.razor": page}, "ref") if "Finish" in edge]


def test_an_element_in_a_component_uses_its_parameter() -> None:
    files = FILES | {"Page.razor": "<Counter><OnDone>a</OnDone></Counter>\n"}
    assert "Page.razor:Page -> Counter.razor:Counter.OnDone" in edges_of(files, "ref")
