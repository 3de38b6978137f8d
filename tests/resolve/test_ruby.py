"""Ruby: constants by nesting, reopened classes, mixins, the result of `new`."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

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
    return called_in({**SHOP, "app/main.rb": text}, "app/main.rb:Main.run")


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
def test_a_receiver_has_the_type_that_constructed_it(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_self_its_mixins_and_super_are_followed() -> None:
    found = [
        edge.partition(" -> ")[2].rpartition(":")[2]
        for edge in edges_of(SHOP)
        if "item.rb:" in edge
    ]
    assert found == [
        "Shop.Part", "Shop.Base.log", "Shop.Named.name", "Shop.Part.turn", "Shop.Base.start",
        "Shop.Item", "Shop.Item.copy",
    ]  # fmt: skip


def test_modules_that_include_each_other_end() -> None:
    files = {
        "a.rb": (
            "module A\n  include B\n  def a; b; c; end\nend\nmodule B\n  include A\n  def b; a; "
            "end\nend\n"
        )
    }
    assert edges_of(files) == ["a.rb:A.a -> B.b", "a.rb:B.b -> A.a"]


def test_include_passes_on_no_methods_of_the_module_itself() -> None:
    files = {
        "job.rb": (
            "module Job\n  def self.included(base)\n    base.extend(ClassMethods)\n  end\n"
            "  class << self\n    def jobs; end\n  end\n"
            "  module ClassMethods\n    def jobs; end\n    def late; end\n  end\n"
            "  def perform; end\nend\n"
        ),
        "mine.rb": (
            "class Mine\n  include Job\nend\nclass Sub < Mine\n  def self.own; late(); end\nend\n"
        ),
        "use.rb": (
            "class Use\n  def run\n    Mine.jobs\n    Job.jobs\n    Mine.new.perform\n"
            "    Mine.new.jobs\n    Mine.perform\n    Sub.own\n  end\nend\n"
        ),
    }
    assert edges_of(files, numbered=True) == [
        "mine.rb:Sub.own -> job.rb:Job.ClassMethods.late",
        "use.rb:Use.run -> job.rb:Job.ClassMethods.jobs",
        "use.rb:Use.run -> job.rb:Job.jobs",
        "use.rb:Use.run -> mine.rb:Mine",
        "use.rb:Use.run -> job.rb:Job.perform",
        "use.rb:Use.run -> mine.rb:Sub.own",
    ]


def test_a_concern_gives_its_class_methods_to_who_includes_it() -> None:
    files = {
        "named.rb": (
            "module Named\n  extend ActiveSupport::Concern\n  module ClassMethods\n"
            "    def find; end\n  end\n  class_methods do\n    def make; end\n  end\nend\n"
        ),
        "use.rb": (
            "class Mine\n  include Named\n  def self.all\n    find()\n    make()\n  end\nend\n"
        ),
    }
    assert edges_of(files) == [
        "use.rb:Mine.all -> named.rb:Named.ClassMethods.find",
        "use.rb:Mine.all -> named.rb:Named.make",
    ]


def test_a_method_that_a_block_defines_does_not_replace_that_of_the_class_around() -> None:
    text = """
class App
  def env; end
  made = Class.new do |base|
    def env; end
  end
  def run; env; end
end
"""
    found = edges_of({"app.rb": text}, numbered=True)
    assert "app.rb:App.run -> App.env" in found


def test_the_helper_of_the_enclosing_block_is_meant() -> None:
    text = """
describe "one" do
  def helper; end
  it("works") { helper }
end
def top; end
describe "two" do
  def helper; end
  def top; end
  def o.top; end
  def go; helper; top; end
end
def last; top; end
"""
    found = edges_of({"app_spec.rb": text}, numbered=True)
    assert "app_spec.rb:- -> helper" in found
    assert "app_spec.rb:go -> helper~2" in found
    assert "app_spec.rb:go -> top~2" in found
    assert "app_spec.rb:last -> top" in found


def test_prepended_methods_come_before_the_own_ones() -> None:
    text = (
        "module Loud\n  def run; end\nend\n"
        "class App\n  prepend Loud\n  def run; super; end\n  def go; run; end\nend\n"
        "class Sub < App\n  def run; super; end\nend\nApp.new.run\n"
    )
    assert edges_of({"a.rb": text}) == [
        "a.rb:App.go -> Loud.run",
        "a.rb:Sub.run -> Loud.run",
        "a.rb:- -> App",
        "a.rb:- -> Loud.run",
    ]


def test_methods_in_the_block_of_a_struct_call_each_other() -> None:
    text = (
        "module Shop\n  Point = Struct.new(:x) do\n    def far; near; end\n    def near; end\n"
        "    def copy; Point.new(1).far; end\n  end\nend\n"
    )
    assert edges_of({"a.rb": text}) == [
        "a.rb:Shop.Point.far -> Shop.Point.near",
        "a.rb:Shop.Point.copy -> Shop.Point",
        "a.rb:Shop.Point.copy -> Shop.Point.far",
    ]


def test_a_definition_in_a_block_of_a_method_is_not_the_class_s() -> None:
    text = (
        "class App\n  def self.env\n    build do\n      def self.env; end\n    end\n  end\n"
        "  def go; self.class.env; end\nend\nApp.env\n"
    )
    assert edges_of({"a.rb": text}) == ["a.rb:App.go -> App.env", "a.rb:- -> App.env"]
