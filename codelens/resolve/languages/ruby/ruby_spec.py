"""Ruby."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "ruby": LanguageSpec(
        modules="ruby.ruby_requires:Requires",
        resolver="ruby.ruby_values:resolver",
        follows_names=True,
        keeps_names=True,
        indexes_view=True,
        nameless_super=True,
        overloads_apart=True,
        unions=True,
        constructors=frozenset({"initialize"}),
        star_spreads=True,
        members_apart=True,
    )
}
