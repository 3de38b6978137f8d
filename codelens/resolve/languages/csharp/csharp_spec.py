"""C#."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "csharp": LanguageSpec(
        modules="csharp.csharp_namespaces:Namespaces",
        resolver="classes.class_values:resolver",
        named_in_texts=True,
        follows_names=True,
        instance=frozenset({"this", "$this"}),
        overloads_apart=True,
        split_types=True,
        indexes_view=True,
        keeps_names=True,
        imports_folders=True,
        folder_is_package=True,
        constructor_is_named_as_type=True,
        has_main=True,
        overloads=True,
        named_arguments=True,
        members_apart=True,
        global_names=True,
    )
}
