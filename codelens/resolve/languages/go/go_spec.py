"""Go."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "go": LanguageSpec(
        modules="go.go_packages:GoPackages",
        settings=(b"go.mod",),
        resolver="go.go_values:resolver",
        follows_names=True,
        needs_receiver=True,
        implicit_interfaces=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        has_main=True,
        folder_is_one_scope=True,
        package_clause=rb"^package (\w+)",
    )
}
