"""The languages that resolving knows, each by the file of its home that describes it.

Only the descriptions of languages that a view has are loaded, and of these no rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from codelens.resolve.languages.language_spec import LanguageSpec

_HOMES = {
    "c": "c cpp objc cuda",
    "csharp": "csharp",
    "go": "go",
    "java": "java scala",
    "kotlin": "kotlin",
    "lua": "lua",
    "php": "php",
    "python": "python jupyter",
    "ruby": "ruby",
    "rust": "rust",
    "script": "javascript typescript tsx vue svelte html",
    "imports_only": "haskell perl clojure elixir erlang ocaml ocaml_interface julia protobuf "
    "dart zig r bash make automake cmake rst css scss hcl swift",
}
"""Folder -> languages that `FOLDER_spec.py` in it describes, each in one folder alone."""
LANGUAGES = frozenset(name for names in _HOMES.values() for name in names.split())
_UNKNOWN = LanguageSpec(spaces=True, instance=frozenset({"this"}))
_home_of = {name: home for home, names in _HOMES.items() for name in names.split()}
_specs: dict[str, LanguageSpec] = {}


def spec_of(language: str) -> LanguageSpec:
    """What is known of a language; of one that is not listed, that names have scopes."""
    spec = _specs.get(language)
    if spec is None:
        home = _home_of.get(language)
        if home is None:
            _specs[language] = _UNKNOWN
            return _UNKNOWN
        module = import_module(f"codelens.resolve.languages.{home}.{home}_spec")
        _specs.update(cast("dict[str, LanguageSpec]", module.SPECS))
        spec = _specs[language]
    return spec


def loaded(place: str) -> Any:  # noqa: ANN401 - each caller knows what it named
    """What a `module:name` of a specification means."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"codelens.resolve.languages.{module}"), name)
