"""C++: variables declared in conditions, and structured bindings."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

H = (
    "#include <map>\nstruct T { void m(); };\nstruct P { int n; T t; };\n"
    "struct H { std::map<int, T> mp; T* get() const; P part(); std::vector<P> ps; "
    "std::pair<T, int> two(); };\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "for (auto& [k, t] : h.mp) t.m();",
        "for (const auto& [k, t] : h.mp) { t.m(); }",
        "for (auto [n, t] : h.ps) t.m();",
        "auto [n, t] = h.part(); t.m();",
        "auto& [t, n] = h.two(); t.m();",
        "if (auto* q = h.get()) q->m();",
        "if (T* q = h.get(); q) q->m();",
        "while (auto q = h.get()) { q->m(); }",
        "if (const auto it = h.mp.find(1); it != h.mp.end()) it->second.m();",
    ],
)
def test_bindings_have_types(body: str) -> None:
    assert "a.cc:x -> T.m" in edges_of({"a.cc": f"{H}void x(H& h) {{ {body} }}\n"})


def test_the_key_of_a_map_is_not_its_value() -> None:
    text = f"{H}void x(H& h) {{ for (auto& [k, t] : h.mp) k.m(); }}\n"
    assert edges_of({"a.cc": text}) == []
