"""Files of unrelated languages share a folder: no edge connects them."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

DEFINING = {
    "c": (
        "z.c",
        "typedef struct Tool Tool;\n"
        "struct Tool { int a; };\n"
        "int Tool_go(int a) { return a; }\n"
        "int go(int a) { return a; }\n",
    ),
    "cpp": (
        "z.cc",
        "class Tool { public: Tool() {} int go(int a) { return a; } };\n"
        "int go(int a) { return a; }\n",
    ),
    "java": (
        "Tool.java",
        "class Tool { Tool() {} int go(int a) { return a; } static int go2() { return 1; } }\n",
    ),
    "kotlin": (
        "Tool.kt",
        "class Tool { fun go(a: Int): Int = a }\nfun go(a: Int): Int = a\n",
    ),
    "scala": (
        "Tool.scala",
        "class Tool { def go(a: Int): Int = a }\nobject Tool { def go(a: Int) = a }\n",
    ),
    "csharp": (
        "Tool.cs",
        "class Tool { public Tool() {} public int go(int a) { return a; } }\n",
    ),
    "php": (
        "tool.php",
        "<?php\nclass Tool { function go($a) { return $a; } }\nfunction go($a) { return $a; }\n",
    ),
    "ruby": (
        "tool.rb",
        "class Tool\n  def go(a); a; end\nend\ndef go(a); a; end\n",
    ),
    "python": (
        "tool.py",
        "class Tool:\n    def go(self, a): return a\ndef go(a): return a\n",
    ),
    "go": (
        "tool.go",
        "package tool\n"
        "\n"
        "type Tool struct{}\n"
        "\n"
        "func (t Tool) go2(a int) int { return a }\n"
        "func Go(a int) int { return a }\n",
    ),
    "rust": (
        "tool.rs",
        "pub struct Tool;\n"
        "impl Tool { pub fn go(&self, a: u8) -> u8 { a } }\n"
        "pub fn go(a: u8) -> u8 { a }\n",
    ),
    "typescript": (
        "tool.ts",
        "export class Tool { go(a: number) { return a; } }\n"
        "export function go(a: number) { return a; }\n",
    ),
    "javascript": (
        "tool.js",
        "class Tool { go(a) { return a; } }\n"
        "function go(a) { return a; }\n"
        "module.exports = { Tool, go };\n",
    ),
    "lua": (
        "tool.lua",
        "Tool = {}\nfunction Tool.go(a) return a end\nfunction go(a) return a end\n",
    ),
}
USING = {
    "c": (
        "u.c",
        "int use(void) { Tool t; go(1); Tool_go(1); return Tool(); }\n",
    ),
    "cpp": (
        "u.cc",
        "int use() { Tool t; t.go(1); Tool(); new Tool(); return go(1); }\n",
    ),
    "java": (
        "Use.java",
        "class Use<T> { int use() { Tool t = new Tool(); t.go(1); Tool.go2(); return go(1); } }\n",
    ),
    "kotlin": (
        "Use.kt",
        "fun <T> use(): Int { val t = Tool(); t.go(1); return go(1) }\n"
        "class V<Tool> { fun use2() { Tool() } }\n",
    ),
    "scala": (
        "Use.scala",
        "class Use { def use() = { val t = new Tool(); t.go(1); Tool(1); go(1) } }\n",
    ),
    "csharp": (
        "Use.cs",
        "class Use { int use() { var t = new Tool(); t.go(1); return go(1); } }\n",
    ),
    "php": (
        "use.php",
        "<?php\nfunction use1() { $t = new Tool(); $t->go(1); return go(1); }\n",
    ),
    "ruby": (
        "use.rb",
        "def use\n  t = Tool.new\n  t.go(1)\n  go(1)\nend\n",
    ),
    "python": (
        "use.py",
        "from tool import *\n"
        "from tool import Tool, go\n"
        "import tool\n"
        "def use():\n"
        "    t = Tool()\n"
        "    t.go(1)\n"
        "    tool.go(1)\n"
        "    return go(1)\n",
    ),
    "go": (
        "use.go",
        "package tool\n\nfunc use() int { t := Tool{}; t.go2(1); return Go(1) }\n",
    ),
    "rust": (
        "use.rs",
        "use crate::tool::{Tool, go};\n"
        "mod tool;\n"
        "fn use_() { let t = Tool; t.go(1); go(1); Tool(); }\n",
    ),
    "typescript": (
        "use.ts",
        'import { Tool, go } from "./tool";\n'
        "function use() { const t = new Tool(); t.go(1); return go(1); }\n",
    ),
    "javascript": (
        "use.js",
        'const { Tool, go } = require("./tool");\n'
        "function use() { const t = new Tool(); t.go(1); return go(1); }\n",
    ),
    "lua": (
        "use.lua",
        'require("tool")\nlocal function use()\n  Tool.go(1)\n  return go(1)\nend\n',
    ),
}
LINKED = ({"c", "cpp"}, {"java", "kotlin", "scala"}, {"typescript", "javascript"})
ALONE = ("java", "kotlin", "php", "ruby", "python", "go", "typescript", "javascript", "lua")
"""Languages whose files find each other in this layout."""
KINDS = ("call", "ref", "inherit", "import")


def leading(using: str, defining: str) -> list[str]:
    """All edges, certain or not, from the file of one language into that of another."""
    user, definer = USING[using], DEFINING[defining]
    edges = [
        edge
        for kind in KINDS
        for certain in (True, False)
        for edge in edges_of(dict([user, definer]), kind, certain=certain)
    ]
    return [edge for edge in edges if f" -> {definer[0]}" in edge]


@pytest.mark.parametrize("using", USING)
def test_no_edge_leads_to_a_language_that_does_not_link_with_it(using: str) -> None:
    others = [
        name
        for name in DEFINING
        if name != using and not any({name, using} <= group for group in LINKED)
    ]
    assert {name: leading(using, name) for name in others} == {name: [] for name in others}


@pytest.mark.parametrize("using", ALONE)
def test_the_same_names_lead_to_the_file_of_its_own_language(using: str) -> None:
    assert leading(using, using)
