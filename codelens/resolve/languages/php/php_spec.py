"""PHP."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "php": LanguageSpec(
        modules="php.php_autoload:Autoload",
        settings=(b"composer.json",),
        resolver="php.php_values:resolver",
        named_in_texts=True,
        follows_names=True,
        needs_receiver=True,
        instance=frozenset({"this", "$this"}),
        unions=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        extra_arguments=True,
        named_arguments=True,
        constructors=frozenset({"__construct"}),
    )
}
