"""Ruby: constants by nesting, reopened classes, mixins, what `new` makes."""

from __future__ import annotations

import pytest
from edging import edges_of

SHOP = {
    "lib/shop/base.rb": (
        "module Shop\n  class Base\n    def log; end\n    def start(n); end\n  end\nend\n"
    ),
    "lib/shop/named.rb": "module Shop\n  module Named\n    def name; end\n  end\nend\n",
    "lib/shop/item.rb": (
        "module Shop\n  class Item < Base\n    include Named\n    attr_reader :part\n"
        "    def initialize\n      @part = Part.new\n    end\n"
        "    def copy\n      log()\n      name()\n      @part.turn\n      self\n    end\n"
        "    def start(n)\n      super(n)\n    end\n"
        "    def self.of\n      Item.new\n    end\n  end\n"
        "  class Part\n    def turn; end\n  end\nend\n"
    ),
    "lib/shop/more.rb": "class Shop::Item\n  def more\n    copy\n  end\nend\n",
}


def used(body: str) -> list[str]:
    """What a method's body calls."""
    text = f"class Main\n  def run(other)\n    {body}\n  end\n\n  def helper; end\nend\n"
    found = edges_of({**SHOP, "app/main.rb": text})
    start = "app/main.rb:Main.run -> "
    return [one.removeprefix(start).rpartition(":")[2] for one in found if one.startswith(start)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = Shop::Item.new\n    x.copy.log", ["Shop.Item", "Shop.Item.copy", "Shop.Base.log"]),
        ("Shop::Item.of.copy", ["Shop.Item.of", "Shop.Item.copy"]),
        ("Shop::Item.new.part.turn", ["Shop.Item", "Shop.Item.part", "Shop.Part.turn"]),
        ("helper\n    self.helper", ["Main.helper"]),
        ("y = Shop::Item.new\n    y = other\n    y.copy", ["Shop.Item"]),
        ("other.copy\n    unknown.log\n    Item.new", []),
    ],
)
def test_a_receiver_is_known_by_what_made_it(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_self_its_mixins_and_super_are_followed() -> None:
    found = [
        edge.partition(" -> ")[2].rpartition(":")[2]
        for edge in edges_of(SHOP)
        if "item.rb:" in edge
    ]
    assert found == [
        "Shop.Part", "Shop.Base.log", "Shop.Named.name", "Shop.Part.turn", "Shop.Base.start",
        "Shop.Item",
    ]  # fmt: skip


def test_modules_that_include_each_other_end() -> None:
    files = {
        "a.rb": (
            "module A\n  include B\n  def a; b; c; end\nend\nmodule B\n  include A\n  def b; a; "
            "end\nend\n"
        )
    }
    assert edges_of(files) == ["a.rb:A.a -> B.b", "a.rb:B.b -> A.a"]
