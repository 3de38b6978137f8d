"""C and C++; of Objective-C and CUDA the includes."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

_C = LanguageSpec(
    modules="c.c_includes:Includes",
    resolver="c.c_values:resolver",
    follows_names=True,
    instance=frozenset({"this", "$this"}),
    overloads_apart=True,
    types_apart=True,
    indexes_view=True,
    keeps_names=True,
    has_main=True,
)
_INCLUDES = LanguageSpec(modules="c.c_includes:Includes", spaces=True, instance=frozenset({"this"}))
SPECS = {"c": _C, "cpp": _C, "objc": _INCLUDES, "cuda": _INCLUDES}
