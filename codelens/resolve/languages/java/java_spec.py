"""Java; of Scala the imports."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "java": LanguageSpec(
        modules="java.jvm_packages:JvmPackages",
        resolver="kotlin.kotlin_values:resolver",
        named_in_texts=True,
        follows_names=True,
        instance=frozenset({"this", "$this"}),
        overloads_apart=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        constructor_is_named_as_type=True,
        has_main=True,
        overloads=True,
        folder_is_one_scope=True,
    ),
    "scala": LanguageSpec(
        modules="java.jvm_packages:JvmPackages",
        instance=frozenset({"this", "$this"}),
        overloads_apart=True,
        imports_folders=True,
        folder_is_package=True,
        has_main=True,
        overloads=True,
    ),
}
