"""An import of a member names the types before it, which a rename must change, too."""

from __future__ import annotations

import pytest
from resolved_edges import uses_in

JAVA = {
    "a/Foo.java": "package a;\npublic class Foo {\n  public static int run() { return 1; }\n"
    "  public static class In {\n    public static class Deep {\n"
    "      public static void end() {}\n    }\n  }\n}\n",
    "a/Other.java": "package a;\npublic class Other {\n  public static class In {}\n}\n",
}
KOTLIN = {
    "a/Foo.kt": "package a\n\nobject Foo {\n    fun run() = 1\n    object In {\n"
    "        fun end() = 1\n    }\n}\nenum class Color { RED }\nclass Comp {\n"
    "    companion object {\n        fun make() = 1\n    }\n}\n",
}
CSHARP = {
    "a/Foo.cs": "namespace A {\n  public static class Foo {\n    public static int Run() => 1;\n"
    "    public class In { public static int End() => 2; }\n  }\n}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "x"\n',
    "src/lib.rs": "mod u;\npub mod m {\n    pub enum Color { Red, Blue }\n"
    "    pub struct Other;\n}\n",
}
JAVA_IMPORTS = """package b;
import static a.Foo.run; // Foo
import static a.Foo.*; // Foo
import a.Foo.In; // Foo In
import a.Foo.In.Deep; // Foo In Deep
import static a.Foo.In.Deep.end; // Foo In Deep end
import static a.Foo.In.*; // Foo In
import a.Other.*;
import a.*;
class Use { int x = run(); }
"""
KOTLIN_IMPORTS = """package b
import a.Foo.run // Foo
import a.Foo.In // Foo In
import a.Foo.In.end // Foo In end
import a.Color.RED // Color
import a.Color.* // Color
import a.Comp.Companion.make // Comp make
import a.*
"""
CSHARP_IMPORTS = """using static A.Foo; // Foo
using static A.Foo.In; // Foo In
using F = A.Foo; // Foo
using G = A.Foo.In; // Foo In
using A;
"""
RUST_IMPORTS = """use crate::m::Color::Red; // m Color
use crate::m::Color::{self, Blue}; // m Color
use crate::m::Color::*; // m Color
use crate::m::Other; // m
"""
CASES = [
    *((JAVA, "b/Use.java", JAVA_IMPORTS, f"a/Foo.java:{name}")
      for name in ("Foo", "Foo.In", "Foo.In.Deep", "Foo.In.Deep.end")),
    *((KOTLIN, "b/Use.kt", KOTLIN_IMPORTS, f"a/Foo.kt:{name}")
      for name in ("Foo", "Foo.In", "Foo.In.end", "Color", "Comp", "Comp.make")),
    *((CSHARP, "b/Use.cs", CSHARP_IMPORTS, f"a/Foo.cs:{name}") for name in ("Foo", "Foo.In")),
    *((RUST, "src/u.rs", RUST_IMPORTS, f"src/lib.rs:{name}") for name in ("m", "m.Color")),
]  # fmt: skip


@pytest.mark.parametrize(("files", "path", "imports", "target"), CASES)
def test_an_import_names_the_types_before_a_member(
    files: dict[str, str], path: str, imports: str, target: str
) -> None:
    name = target.replace(":", ".").rpartition(".")[2]
    lines = [line.partition("//") for line in imports.splitlines()]
    marked = "\n".join(code + ("<<" if name in names.split() else "") for code, _, names in lines)
    found, expected = uses_in({**files, path: marked}, target)
    assert expected
    assert found == expected
