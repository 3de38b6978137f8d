"""Lua."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "lua": LanguageSpec(
        modules="imports_only.dotted_modules:DottedModules",
        resolver="lua.lua_values:resolver",
        follows_names=True,
        needs_receiver=True,
        spaces=True,
        indexes_view=True,
        any_arguments=True,
    )
}
