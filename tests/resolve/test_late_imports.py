"""Modules that code loads while it runs, by literal names: the names used of them are resolved."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

SCRIPTS = {
    "x.ts": "export function f() {}\nexport default function main() {}\n"
    "export class K { run() {} }\n",
    "y.js": "exports.f = function () {};\nexports.g = () => 1;\n",
    "z.js": "module.exports = class Z { go() {} };\n",
    "w.js": "module.exports = function start() {};\n",
}
X_CALLS_F, X_NAMES_F = ["call a -> x.ts:f"], ["ref a -> x.ts:f"]
LATE_SCRIPTS = {
    "const a = lazy(() => import('./x'));": ["ref a -> x.ts:main"],
    "const a = React.lazy(() => import('./x'));": ["ref a -> x.ts:main"],
    "const a = defineAsyncComponent(() => import('./x'));": ["ref a -> x.ts:main"],
    "const a = defineAsyncComponent({ loader: () => import('./x') });": ["ref a -> x.ts:main"],
    "const a = dynamic(async () => { return await import('./x'); }, {});": ["ref a -> x.ts:main"],
    "const a = [{ path: '', component: () => import('./x') }];": ["ref a -> x.ts:main"],
    "const a = [{ loadComponent: () => import('./x').then(m => m.K) }];": ["ref a -> x.ts:K"],
    "const a = lazy(() => import('./x').then(m => ({ default: m.K })));": ["ref a -> x.ts:K"],
    "function a() { return import('./x').then(m => m.f()); }": X_CALLS_F,
    "function a() { return import('./x').then(({ f }) => f()); }": X_CALLS_F + X_NAMES_F,
    "function a() { return import('./x').then(m => m.f); }": X_NAMES_F,
    "async function a() {\n  const { f } = await import('./x');\n  f();\n}": X_CALLS_F + X_NAMES_F,
    "async function a() { (await import('./x')).f(); }": X_CALLS_F,
    "async function a() { (await import('./x')).default(); }": ["call a -> x.ts:main"],
    "async function a() { const f = (await import('./x')).f; f(); }": X_CALLS_F + X_NAMES_F,
    "async function a() { const m = await import('./x'); new m.K().run(); }": [
        "call a -> x.ts:K",
        "call a -> x.ts:K.run",
    ],
    "const l = () => import('./x');\nasync function a() { (await l()).f(); }": [
        "call a -> l",
        *X_CALLS_F,
    ],
    "function a() {\n  const { f } = require('./y');\n  f();\n}": [
        "call a -> y.js:f",
        "ref a -> y.js:f",
    ],
    "function a() { require('./y').f(); }": ["call a -> y.js:f"],
    "function a() { const g = require('./y').g; g(); }": ["call a -> y.js:g", "ref a -> y.js:g"],
    "function a() {\n  const y = require('./y');\n  y.g();\n}": [
        "call a -> y.js:g",
        "ref a -> y.js:-",
    ],
    "function a() { new (require('./z'))().go(); }": ["call a -> z.js:Z", "call a -> z.js:Z.go"],
    "function a() { require('./w')(1); }": ["call a -> w.js:start"],
    # These use an unknown part of the module, or a module whose name is computed.
    "const a = load(() => import('./x'));": [],
    "const a = lazy(() => import(`./${name}`).then(m => m.f));": [],
    "function a() { require('./y' + name).f(); }": [],
    "function a() { other('./y').f(); }": [],
}


def _uses(files: dict[str, str], path: str) -> list[str]:
    found = [f"{kind} {edge}" for kind in ("call", "ref") for edge in edges_of(files, kind)]
    return [edge.replace(f" {path}:", " ", 1) for edge in found if f" {path}:" in edge]


@pytest.mark.parametrize("path", ["a.ts", "a.js", "a.tsx"])
@pytest.mark.parametrize("text", LATE_SCRIPTS)
def test_a_late_import_uses_what_the_script_takes_of_it(text: str, path: str) -> None:
    assert _uses({**SCRIPTS, path: text}, path) == LATE_SCRIPTS[text]


PYTHON = {
    "pkg/__init__.py": "",
    "pkg/mod.py": "def f():\n    pass\n\n\nclass K:\n    def run(self):\n        pass\n",
    "json.py": "def dumps():\n    pass\n",
}
LATE_PYTHON = {
    'def a():\n    importlib.import_module("pkg.mod").f()\n': "f",
    'def a():\n    m = import_module("pkg.mod")\n    m.K().run()\n': "K K.run",
    'def a():\n    import_module(".mod", package=__package__).f()\n': "f",
    'def a():\n    __import__("pkg.mod").mod.f()\n': "f",
    'def a():\n    __import__("pkg.mod", fromlist=["f"]).f()\n': "f",
    'm = importlib.import_module("pkg.mod")\n\n\ndef a():\n    m.f()\n': "f",
    # The call binds no name of its own, and a computed name means no module.
    'def a():\n    importlib.import_module("pkg.mod")\n    pkg.mod.f()\n': "",
    'def a():\n    importlib.import_module("pkg." + name).f()\n': "",
    'def a():\n    importlib.import_module(f"pkg.{name}").f()\n': "",
}


@pytest.mark.parametrize("text", LATE_PYTHON)
def test_a_late_import_uses_what_python_takes_of_it(text: str) -> None:
    calls = [edge for edge in edges_of({**PYTHON, "pkg/a.py": text}) if "pkg/mod.py" in edge]
    expected = [f"pkg/a.py:a -> pkg/mod.py:{name}" for name in LATE_PYTHON[text].split()]
    assert calls == expected


def test_a_late_import_is_an_import_of_the_file() -> None:
    files = {**PYTHON, "a.py": 'import importlib\n\nimportlib.import_module("pkg.mod")\n'}
    assert "a.py:- -> pkg/mod.py:-" in edges_of(files, "import")
    files = {**SCRIPTS, "a.ts": "function a() { require('./y').f(); }"}
    assert edges_of(files, "import") == ["a.ts:- -> y.js:-"]
