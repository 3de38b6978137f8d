"""Ruby: `self` in mixins, bare names, setters, and uses by name alone."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

REQUEST = {
    "lib/request.rb": (
        "class Request\n  module Env\n    def get(name); end\n  end\n"
        "  module Helpers\n    def port\n      get(1)\n    end\n  end\n"
        "  include Env\n  include Helpers\nend\n"
    )
}


def targets(files: dict[str, str], source: str, *, certain: bool = True) -> list[str]:
    """What a definition of a file calls, without the files."""
    found: list[str] = []
    for edge in edges_of(files, certain=certain):
        caller, _, target = edge.partition(" -> ")
        if caller == source:
            found.append(target.rpartition(":")[2])
    return found


def in_class(body: str, before: str = "") -> list[str]:
    """What a method calls, in a class with `helper` and a base in another file."""
    files = {
        "base.rb": "class Base\n  def shared; end\n  def size=(n); end\nend\n",
        "main.rb": f"{before}class Main < Base\n  def run(a)\n    {body}\n  end\n\n"
        "  def helper; end\nend\n",
    }
    return targets(files, "main.rb:Main.run")


@pytest.mark.parametrize(
    "body",
    [
        "return shared unless a",
        "a == shared && a",
        "!shared",
        "if shared then 1 end",
        "[shared]",
        "a ? shared : 1",
        "while shared do end",
        "x = 1\n    x + shared",
    ],
)
def test_a_bare_name_is_a_call_wherever_it_stands(body: str) -> None:
    assert in_class(body) == ["Base.shared"]


@pytest.mark.parametrize(
    "body",
    [
        "shared = 1\n    shared",
        "shared, b = a\n    shared",
        "a.each { |(shared, c), *d| shared }",
        "a.each { |b; shared| shared }",
        "for shared in a do shared end",
        "case a\n    in {shared:} then shared\n    end",
        "case a\n    in [shared, *] then shared\n    end",
        "a => {b: shared}\n    shared",
        "a rescue (b = 2)\n    begin\n      1\n    rescue => shared\n      shared\n    end",
    ],
)
def test_a_variable_of_that_name_is_not_a_call(body: str) -> None:
    assert in_class(body) == []


def test_an_assignment_calls_the_method_that_sets() -> None:
    assert in_class("self.size = 3") == ["Base.size="]
    assert in_class("self.size, b = 3, a") == ["Base.size="]


def test_a_module_has_the_members_of_its_includer() -> None:
    assert targets(REQUEST, "lib/request.rb:Request.Helpers.port") == ["Request.Env.get"]


def test_members_that_differ_between_includers_are_possible() -> None:
    other = "class Raw\n  include Request::Helpers\n  def get(name); end\nend\n"
    files = {**REQUEST, "lib/raw.rb": other}
    source = "lib/request.rb:Request.Helpers.port"
    assert targets(files, source) == []
    assert sorted(targets(files, source, certain=False)) == ["Raw.get", "Request.Env.get"]


def test_a_constant_is_inherited_by_include_and_base() -> None:
    files = {
        "lib/liquid.rb": "module Liquid\n  class Template\n    def self.parse; end\n  end\nend\n",
        "test/a.rb": (
            "class A\n  include Liquid\n  def run\n    Template.parse\n  end\nend\n"
            "class B < A\n  def more\n    Template.parse\n  end\nend\n"
            "class C\n  def none\n    Template.parse\n  end\nend\n"
        ),
    }
    assert targets(files, "test/a.rb:A.run") == ["Liquid.Template.parse"]
    assert targets(files, "test/a.rb:B.more") == ["Liquid.Template.parse"]
    assert targets(files, "test/a.rb:C.none") == []


def test_two_colons_begin_at_the_top() -> None:
    files = {
        "a.rb": (
            "module Utils\n  def self.f; end\nend\n"
            "module Own\n  module Utils\n    def self.f; end\n  end\n"
            "  class A\n    def run\n      ::Utils.f\n    end\n"
            "    def inner\n      Utils.f\n    end\n  end\nend\n"
        )
    }
    assert targets(files, "a.rb:Own.A.run") == ["Utils.f"]
    assert targets(files, "a.rb:Own.A.inner") == ["Own.Utils.f"]


def test_methods_of_no_type_are_seen_in_files_that_require_theirs() -> None:
    files = {
        "test/helper.rb": "def capture(a); end\n",
        "test/more.rb": "require_relative 'helper'\n",
        "test/a.rb": "require_relative 'more'\ncapture(1)\n",
        "bin/alone.rb": "capture(1)\n",
    }
    assert edges_of(files) == ["test/a.rb:- -> test/helper.rb:capture"]


def test_a_block_in_a_class_may_run_for_an_instance() -> None:
    text = "class Spec\n  def helper; end\n  it 'works' do\n    x = helper\n  end\nend\n"
    assert edges_of({"spec.rb": text}) == ["spec.rb:Spec -> Spec.helper"]


def test_subtypes_have_members_that_a_view_adds_to_a_library() -> None:
    files = {
        "helper.rb": "module Minitest\n  module Assertions\n    def assert_page; end\n  end\nend\n",
        "a.rb": "class A < Minitest::Test\n  def test_a\n    assert_page\n  end\nend\n",
        "b.rb": "class B\n  def test_b\n    assert_page\n  end\nend\n",
    }
    assert targets(files, "a.rb:A.test_a") == ["Minitest.Assertions.assert_page"]
    assert targets(files, "b.rb:B.test_b") == []


def test_a_use_on_an_unknown_receiver_is_possible_by_its_name() -> None:
    files = {
        "a.rb": (
            "class A\n  def render_page; end\n  def each; end\nend\n"
            "def use(thing)\n  thing.render_page\n  thing.each\n  thing.missing\nend\n"
        )
    }
    assert targets(files, "a.rb:use") == []
    assert targets(files, "a.rb:use", certain=False) == ["A.render_page"]


def test_modules_that_take_each_other_in_end() -> None:
    text = (
        "module A\n  include B\n  def a\n    c\n  end\nend\n"
        "module B\n  include A\n  def b\n    a\n  end\nend\n"
    )
    assert edges_of({"a.rb": text}) == ["a.rb:B.b -> A.a"]


SENT = """class Shop
  attr_reader :sum
  def sum=(one); end
  def price(one); end
  def go; send(:price, 1); end
end

def run
  shop = Shop.new
  shop.send(:price, 1)
  shop.public_send(:sum=, 1)
  shop.tell(:price)
end

def count
  Shop.new.sum += 1
  Shop.new.sum ||= 2
end
"""


def test_a_method_that_is_sent_by_its_name_is_called() -> None:
    assert called_in({"shop.rb": SENT}, "shop.rb:run") == ["Shop", "Shop.price", "Shop.sum="]
    assert called_in({"shop.rb": SENT}, "shop.rb:Shop.go") == ["Shop.price"]


def test_an_attribute_that_is_updated_is_set() -> None:
    assert called_in({"shop.rb": SENT}, "shop.rb:count") == ["Shop", "Shop.sum="]


def test_both_conditional_definitions_are_candidates() -> None:
    text = (
        "module Tools\n  if {}.respond_to?(:except)\n    def self.but(a); end\n  else\n"
        "    def self.but(a); end\n  end\nend\n\ndef run\n  Tools.but(1)\nend\n"
    )
    assert called_in({"a.rb": text}, "a.rb:run") == []
    assert edges_of({"a.rb": text}, certain=False, numbered=True) == [
        "a.rb:run -> Tools.but", "a.rb:run -> Tools.but~2",
    ]  # fmt: skip
