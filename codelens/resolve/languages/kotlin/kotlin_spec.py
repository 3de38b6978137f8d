"""Kotlin, whose resolver reads Java as well: they use one another."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "kotlin": LanguageSpec(
        modules="java.jvm_packages:JvmPackages",
        resolver="kotlin.kotlin_values:resolver",
        named_in_texts=True,
        follows_names=True,
        instance=frozenset({"this", "$this"}),
        overloads_apart=True,
        types_apart=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        constructors=frozenset({"constructor"}),
        has_main=True,
        overloads=True,
        named_arguments=True,
        star_spreads=True,
        folder_is_one_scope=True,
    )
}
