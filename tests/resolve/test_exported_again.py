"""CommonJS modules that export what another module defines, under the same or another name.

A line that ends with `<<` uses the definition.
"""

from __future__ import annotations

import pytest
from resolved_edges import uses_in

DEFINED = "exports.c = function (x) { return x }\nexports.other = 1\n"
USED = """const m = require("./i")
m.a(1) <<
const { a } = require("./i") <<
a(2) <<
const z = require("./i").a <<
z(3) <<
use(m.a) <<
"""
AGAIN = {
    "part of a call": "exports.a = require('./b').c <<\n",
    "part of a call, of the module": "module.exports.a = require('./b').c <<\n",
    "imported name": "const { c } = require('./b') <<\nexports.a = c <<\n",
    "imported part": "const c = require('./b').c <<\nexports.a = c <<\n",
    "member of a module": "const b = require('./b')\nexports.a = b.c <<\n",
    "pair of an imported name": "const { c } = require('./b') <<\nmodule.exports = { a: c } <<\n",
    "pair of a renamed one": "const { c: d } = require('./b') <<\nmodule.exports = { a: d } <<\n",
    "pair with a part of a call": "module.exports = { x: 1, a: require('./b').c } <<\n",
    "pair of a member": "const b = require('./b')\nmodule.exports = { a: b.c, b } <<\n",
    "shorthand": "const { c: a } = require('./b') <<\nmodule.exports = { a } <<\n",
    "two steps": "exports.a = require('./j').d <<\n",
}


@pytest.mark.parametrize("case", AGAIN)
def test_an_export_of_another_module_is_followed(case: str) -> None:
    files = {"b.js": DEFINED, "i.js": AGAIN[case], "n.js": USED}
    if case == "two steps":
        files["j.js"] = "exports.d = require('./b').c <<\n"
    found, expected = uses_in(files, "b.js:c")
    assert found == expected


def test_a_whole_module_is_exported_again() -> None:
    text = "exports.a = require('./b')\nmodule.exports.e = require('./b')\n"
    used = 'const m = require("./i")\nm.a.c(1) <<\nm.e.c(2) <<\n'
    found, expected = uses_in({"b.js": DEFINED, "i.js": text, "n.js": used}, "b.js:c")
    assert found == expected


def test_an_object_that_is_not_exported_imports_nothing() -> None:
    text = "const { c } = require('./b') <<\nthis.a = c <<\nconst o = { a: c } <<\na(1)\n"
    found, expected = uses_in({"b.js": DEFINED, "i.js": text}, "b.js:c")
    assert found == expected
