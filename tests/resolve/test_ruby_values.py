"""Ruby: the last value of methods, singleton classes, and `super` in modules."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

D = "class D\n  def self.build; new; end\n  def go; self; end\nend\n"


@pytest.mark.parametrize(
    "body",
    [
        "def x(d = D.new)\n  d.go\nend",
        "def x(d: D.new)\n  d.go\nend",
        "def m; @m ||= D.new; end\ndef x\n  m.go\nend",
        "def m\n  @m ||= begin\n    n = 1\n    D.new\n  end\nend\ndef x\n  m.go\nend",
        "def m(a)\n  if a then D.new else nil end\nend\ndef x\n  m(1).go\nend",
        "def m(a)\n  case a\n  when 1 then D.new\n  else D.build end\nend\ndef x\n  m(1).go\nend",
        "def m\n  D.new\nrescue StandardError\n  nil\nend\ndef x\n  m.go\nend",
        "def m = D.new\ndef x\n  m.go\nend",
        "def x\n  D.build&.go\nend",
        "def x\n  d = D.new unless a\n  d.go\nend",
        "def x\n  D.new.freeze.go\nend",
    ],
)
def test_the_last_assigned_type_is_known(body: str) -> None:
    edges = edges_of({"a.rb": f"{D}class A\n{body}\nend\n"})
    assert "a.rb:A.x -> D.go" in edges


def test_each_of_differing_branches_is_a_candidate() -> None:
    text = D + "class E\n  def go; end\nend\ndef x(a)\n  (a ? D.new : E.new).go\nend\n"
    assert [one for one in edges_of({"a.rb": text}) if one.endswith(".go")] == []
    assert edges_of({"a.rb": text}, certain=False) == ["a.rb:x -> D.go", "a.rb:x -> E.go"]


def test_a_singleton_class_that_begins_a_class_is_not_the_class() -> None:
    text = (
        "class A\n  class << self\n    def make; build; end\n    def build; end\n  end\n"
        "  def build; end\nend\nclass B < A\n  make\nend\n"
    )
    assert edges_of({"a.rb": text}, numbered=True) == [
        "a.rb:A.make -> A.build",
        "a.rb:B -> A.make",
    ]


@pytest.mark.parametrize("made", ["base.send :include, Inv", "base.include(Inv)"])
def test_an_included_hook_includes_other_modules(made: str) -> None:
    text = (
        f"module Base\n  def self.included(base)\n    {made}\n  end\nend\n"
        "module Inv\n  def invoke; end\nend\n"
        "class T\n  include Base\n  def go; invoke; end\nend\n"
    )
    assert "a.rb:T.go -> Inv.invoke" in edges_of({"a.rb": text})


def test_the_last_included_module_comes_first() -> None:
    text = (
        "module M\n  def go; end\nend\nmodule N\n  def go; super; end\nend\n"
        "class A\n  include M\n  include N\n  def x; go; end\nend\n"
    )
    assert edges_of({"a.rb": text}) == ["a.rb:N.go -> M.go", "a.rb:A.x -> N.go"]


def test_super_in_a_module_is_behind_it_in_its_takers() -> None:
    text = (
        "class P\n  def go; end\nend\nclass Q\n  def go; end\nend\n"
        "module M\n  def go; super; end\nend\nclass A < P\n  include M\nend\n"
    )
    assert edges_of({"a.rb": text}) == ["a.rb:M.go -> P.go"]
    both = text + "class B < Q\n  include M\nend\n"
    assert edges_of({"a.rb": both}, certain=False) == ["a.rb:M.go -> P.go", "a.rb:M.go -> Q.go"]


def test_a_definition_in_a_block_at_the_top_is_of_all() -> None:
    helper = "RSpec.configure do |c|\n  c.x = 1\n  def capture(s); end\nend\n"
    files = {
        "spec/helper.rb": helper,
        "spec/a_spec.rb": "require_relative 'helper'\ndescribe 'x' do\n  capture(1)\nend\n",
        "spec/b_spec.rb": "describe 'x' do\n  capture(1)\nend\n",
    }
    assert edges_of(files) == ["spec/a_spec.rb:- -> spec/helper.rb:capture"]


def test_a_method_counts_before_an_attribute_of_its_name() -> None:
    text = "class A\n  attr_writer :shell\n  def shell; end\n  def x; shell; end\nend\n"
    assert edges_of({"a.rb": text}, numbered=True) == ["a.rb:A.x -> A.shell~2"]


def test_the_class_of_a_module_is_that_of_its_takers() -> None:
    text = (
        "module Base\n  def self.included(base)\n    base.extend ClassMethods\n  end\n"
        "  module ClassMethods\n    def names; title; end\n  end\n"
        "  def run; self.class.names; end\nend\n"
        "class T\n  include Base\n  def self.title; end\nend\n"
    )
    assert edges_of({"a.rb": text}) == [
        "a.rb:Base.ClassMethods.names -> T.title",
        "a.rb:Base.run -> Base.ClassMethods.names",
    ]
