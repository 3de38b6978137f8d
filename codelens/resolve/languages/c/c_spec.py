"""C and C++; of Objective-C and CUDA the includes."""

from __future__ import annotations

from dataclasses import replace

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
    global_names=True,
    prototypes=True,
)
_INCLUDES = LanguageSpec(
    modules="c.c_includes:Includes",
    spaces=True,
    instance=frozenset({"this"}),
    prototypes=True,
)
SPECS = {
    "c": replace(_C, linked_names=True, shares_types_with="cpp"),
    "cpp": replace(_C, overloads=True, constructor_is_named_as_type=True),
    "objc": _INCLUDES,
    "cuda": _INCLUDES,
}
