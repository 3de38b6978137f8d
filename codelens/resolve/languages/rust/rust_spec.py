"""Rust."""

from __future__ import annotations

from codelens.resolve.languages.language_spec import LanguageSpec

SPECS = {
    "rust": LanguageSpec(
        trait_blocks=True,
        bases_are_told=True,
        modules="rust.rust_crates:Crates",
        settings=(b"Cargo.toml",),
        resolver="rust.rust_values:resolver",
        follows_names=True,
        needs_receiver=True,
        overloads_apart=True,
        indexes_view=True,
        imports_are_complete=True,
        has_main=True,
        members_apart=True,
    )
}
