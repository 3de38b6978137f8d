"""JavaScript and TypeScript, and the files that hold them."""

from __future__ import annotations

from dataclasses import replace

from codelens.resolve.languages.language_spec import LanguageSpec

_SCRIPT = LanguageSpec(
    modules="script.script_modules:ScriptModules",
    settings=(b"package.json", b"tsconfig*.json", b"jsconfig*.json"),
    follows_names=True,
    needs_receiver=True,
    spaces=True,
    instance=frozenset({"this"}),
    stubs=(
        (b".d.ts", (b".js", b".jsx")),
        (b".d.mts", (b".mjs",)),
        (b".d.cts", (b".cjs",)),
    ),
    constructors=frozenset({"constructor"}),
    imports_are_complete=True,
)
_UNCHECKED = replace(_SCRIPT, any_arguments=True)
_TYPESCRIPT = replace(_SCRIPT, overload_declarations=True, optional_members=True)
SPECS = {
    "javascript": replace(_UNCHECKED, untyped=True),
    "typescript": _TYPESCRIPT,
    "tsx": replace(_TYPESCRIPT, shares_types_with="typescript"),
    "vue": _UNCHECKED,
    "svelte": _UNCHECKED,
    "html": replace(_UNCHECKED, follows_names=False, imports_are_complete=False),
}
