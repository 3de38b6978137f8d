"""C and C++ visibility through includes, also circular ones; names of namespaces in order."""

from __future__ import annotations

from resolved_edges import called_in


def test_circles_of_includes_are_seen_whole_from_each_file() -> None:
    files = {
        "a.h": '#include "b.h"\nint in_a();\n',
        "b.h": '#include "c.h"\nint in_b();\n',
        "c.h": '#include "a.h"\n#include "d.h"\nint in_c();\n',
        "d.h": "int in_d();\n",
        "use_a.c": '#include "a.h"\nint f() { in_a(); in_b(); in_c(); in_d(); return 0; }\n',
        "use_c.c": '#include "c.h"\nint g() { in_a(); in_b(); in_c(); in_d(); return 0; }\n',
        "alone.c": '#include "d.h"\nint h() { in_a(); in_d(); return 0; }\n',
    }
    every = ["in_a", "in_b", "in_c", "in_d"]
    assert called_in(files, "use_a.c:f") == every
    assert called_in(files, "use_c.c:g") == every
    assert called_in(files, "alone.c:h") == ["in_d"]


def test_long_chains_of_includes_are_followed() -> None:
    files = {f"h{at}.h": f'#include "h{at + 1}.h"\n' for at in range(120)}
    files["h120.h"] = "int last();\n"
    files["use.c"] = '#include "h0.h"\nint f() { return last(); }\n'
    assert called_in(files, "use.c:f") == ["last"]
