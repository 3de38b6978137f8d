"""C#: overloads that do not accept a value, and classes with the same name and other parameters."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

TYPES = """namespace X;
public class Sq { public int Q() => 1; }
public class Way { public static implicit operator string(Way w) => ""; }
public class Base { public int Q() => 2; public virtual void Put(object o) {} }
public class Sub : Base { public void Put(Sq q) {} }
public class G<T> where T : Base { public T Get() => null; }
public class G { public Sq Get() => null; }
public class U {
  public void Ov(object o) {}
  public void Ov(string o) {}
}
public class H<T> { public void Set(T t) {} public void Set(object o) {} }
"""


def used(body: str) -> list[str]:
    """What a method certainly calls."""
    given = "U u, object o, string s, Sq q, Way w, Sub b, G<Base> g, G h, H<string> x"
    text = f"namespace X;\npublic class M {{ void Run({given}) {{ {body} }} }}\n"
    found = edges_of({"Types.cs": TYPES, "M.cs": text}, numbered=True)
    return [one.rpartition(":")[2] for one in found if one.startswith("M.cs")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("u.Ov(o);", ["U.Ov"]),
        ("u.Ov(q);", ["U.Ov"]),
        ("u.Ov(s);", ["U.Ov~2"]),
        ("u.Ov(w);", ["U.Ov~2"]),
        ("b.Put(q);", ["Sub.Put"]),
        ("b.Put(o);", ["Base.Put"]),
        ("g.Get().Q();", ["G.Get", "Base.Q"]),
        ("h.Get().Q();", ["G.Get~2", "Sq.Q"]),
        ("x.Set(1);", []),
    ],
)  # fmt: skip
def test_the_overload_is_one_that_takes_the_value(body: str, expected: list[str]) -> None:
    assert used(body) == expected
