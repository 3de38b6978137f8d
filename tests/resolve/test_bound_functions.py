"""A function expression bound to a variable returns what its body returns."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "a.py",
            "class X:\n    def go(self): pass\n\ndef run():\n    make = lambda: X()\n"
            "    make().go()\n",
        ),
        (
            "a.ts",
            "class X { go() {} }\nfunction run() { const make = () => new X(); make().go(); }\n",
        ),
        (
            "a.js",
            "class X { go() {} }\n"
            "function run() { const make = function () { return new X(); }; make().go(); }\n",
        ),
        (
            "a.php",
            "<?php\nclass X { function go() {} }\n"
            "function run() { $make = fn() => new X(); $make()->go(); }\n",
        ),
    ],
)
def test_the_result_of_a_bound_function_has_its_type(file: str, text: str) -> None:
    assert f"{file}:run -> X.go" in edges_of({file: text})
