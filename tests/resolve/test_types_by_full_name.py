"""A type that is named with its packages, before a member: a rename must change it."""

from __future__ import annotations

import pytest
from resolved_edges import uses_in

JAVA = {
    "a/b/Tag.java": "package a.b;\nclass Tag { public static int X; static int make() {} }\n",
    "a/Use.java": """package a;
class Use {
  class Tag {}
  void f() {
    a.b.Tag.make(); <<
    int y = a.b.Tag.X; <<
    g(a.b.Tag.make(), 1); <<
    Object o = a.b.Tag.class; <<
    Tag own = null;
  }
}
""",
}
KOTLIN = {
    "a/b/Tag.java": "package a.b;\npublic class Tag { static int x; static int make() {} }\n",
    "use.kt": "fun f() {\n  a.b.Tag.make() <<\n  val y = a.b.Tag.x <<\n}\n",
}
CSHARP = {
    "Tag.cs": "namespace A.B { public class Tag { public static int X; static void Make() {} } }\n",
    "Use.cs": "class Use { void F() {\n A.B.Tag.Make(); <<\n var y = A.B.Tag.X; <<\n} }\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\n',
    "src/lib.rs": "mod m;\nfn f() {\n crate::m::Tag::make(); <<\n g(crate::m::Tag::X); <<\n}\n",
    "src/m.rs": "pub struct Tag;\n",
}
CPP = {
    "tag.hpp": "namespace a { namespace b { struct Tag { static int X; static int make(); }; } }\n",
    "use.cpp": """#include "tag.hpp"
void f() {
  a::b::Tag::make(); <<
  int y = a::b::Tag::X; <<
  auto p = &a::b::Tag::make; <<
}
""",
}


@pytest.mark.parametrize(
    ("files", "target"),
    [
        (JAVA, "a/b/Tag.java:Tag"),
        (KOTLIN, "a/b/Tag.java:Tag"),
        (CSHARP, "Tag.cs:Tag"),
        (RUST, "src/m.rs:Tag"),
        (CPP, "tag.hpp:a.b.Tag"),
    ],
    ids=["java", "kotlin", "csharp", "rust", "cpp"],
)
def test_a_type_with_its_packages_is_used(files: dict[str, str], target: str) -> None:
    found, expected = uses_in(files, target)
    assert found == expected
