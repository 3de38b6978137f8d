"""Lua: modules by what they return, tables as classes, globals."""

from __future__ import annotations

from resolved_edges import called_in, edges_of

BASE = """
local Base = {}
Base.__index = Base
function Base.new() return setmetatable({}, Base) end
function Base:close() end
function Base:run() self:close() end
return Base
"""


def test_a_module_is_the_value_its_file_returns() -> None:
    files = {
        "lua/app/util.lua": "local M = {}\nfunction M.trim() end\nlocal function own() end\n"
        "M.run = function() own() end\nreturn M\n",
        "lua/app/list.lua": "local function add() end\nlocal function drop() end\n"
        "return { add = add, remove = drop, each = function() add() end }\n",
        "lua/app/main.lua": "local util = require('app.util')\n"
        "local add = require('app.list').add\n"
        "local list = require 'app.list'\n"
        "local function main()\n  util.trim()\n  util.own()\n  add()\n  list.remove()\n"
        "  list.each()\n  require('app.util').run()\nend\n",
    }
    assert edges_of(files) == [
        "lua/app/util.lua:M.run -> own",
        "lua/app/list.lua:- -> add",
        "lua/app/main.lua:main -> lua/app/util.lua:M.trim",
        "lua/app/main.lua:main -> lua/app/list.lua:add",
        "lua/app/main.lua:main -> lua/app/list.lua:drop",
        "lua/app/main.lua:main -> lua/app/list.lua:each",
        "lua/app/main.lua:main -> lua/app/util.lua:M.run",
    ]


def test_methods_are_those_of_the_table_that_names_are_looked_up_in() -> None:
    derived = """
local Base = require("base")
local Derived = setmetatable({}, { __index = Base })
Derived.__index = Derived
function Derived.new() return setmetatable(Base.new(), Derived) end
function Derived:go()
  self:run()
  local other = Derived.new()
  other:close()
  other:go()
end
return Derived
"""
    files = {"base.lua": BASE, "derived.lua": derived}
    assert called_in(files, "base.lua:Base.run") == ["Base.close"]
    assert called_in(files, "derived.lua:Derived.new") == ["Base.new"]
    assert called_in(files, "derived.lua:Derived.go") == [
        "Base.run",
        "Derived.new",
        "Base.close",
        "Derived.go",
    ]


def test_a_statement_may_set_the_table_and_a_field_of_self_has_what_it_is_given() -> None:
    text = """
local Base = require("base")
local Derived = {}
setmetatable(Derived, { __index = Base })
function Derived:start()
  self.base = Base.new()
end
function Derived:stop()
  self.base:run()
  self:close()
end
"""
    files = {"base.lua": BASE, "derived.lua": text}
    assert called_in(files, "derived.lua:Derived.stop") == ["Base.run", "Base.close"]


def test_a_global_resolves_if_only_one_required_file_defines_it() -> None:
    files = {
        "a.lua": "function shared() end\nfunction twice() end\nfunction print() end\n"
        "local function hidden() end\n",
        "b.lua": "require('a')\nfunction twice() end\n",
        "d.lua": "function far() end\n",
        "c.lua": "require('b')\nlocal function f()\n  far()\n"
        "  shared()\n  twice()\n  print()\n  hidden()\nend\n",
    }
    assert called_in(files, "c.lua:f") == ["shared"]


def test_a_parameter_or_local_hides_what_is_outside() -> None:
    files = {
        "a.lua": "local function run() end\nlocal function f(run)\n  run()\nend\n"
        "local function g()\n  local run = other\n  run()\nend\nlocal function h() run() end\n",
    }
    assert edges_of(files) == ["a.lua:h -> run"]


def test_tables_that_look_names_up_in_each_other_end() -> None:
    text = (
        "local A, B = {}, {}\nsetmetatable(A, { __index = B })\nsetmetatable(B, { __index = A })\n"
        "function A.f() B.missing() end\nfunction B.g() A.g() end\n"
    )
    assert edges_of({"a.lua": text}) == ["a.lua:B.g -> B.g"]
