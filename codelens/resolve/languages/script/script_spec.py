"""JavaScript and TypeScript, and the files that hold them."""

from __future__ import annotations

from dataclasses import replace

from codelens.resolve.languages.language_spec import LanguageSpec

_SCRIPT = LanguageSpec(
    modules="script.script_modules:ScriptModules",
    settings=(b"package.json", b"tsconfig*.json", b"jsconfig*.json"),
    follows_names=True,
    spaces=True,
    instance=frozenset({"this"}),
    imports_are_complete=True,
)
_TYPESCRIPT = replace(_SCRIPT, overload_declarations=True)
SPECS = {
    "javascript": replace(_SCRIPT, untyped=True),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "vue": _SCRIPT,
    "svelte": _SCRIPT,
    "html": replace(_SCRIPT, follows_names=False, imports_are_complete=False),
}
