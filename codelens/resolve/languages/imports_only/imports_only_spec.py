"""Languages of which only imports are followed into other files."""

from __future__ import annotations

from dataclasses import replace

from codelens.resolve.languages.language_spec import LanguageSpec

_PLAIN = LanguageSpec(spaces=True, instance=frozenset({"this"}))
_DOTTED = replace(_PLAIN, modules="imports_only.dotted_modules:DottedModules")
_PATHS = replace(_PLAIN, modules="imports_only.path_imports:Paths")
SPECS = {
    **dict.fromkeys(
        "haskell perl clojure elixir erlang ocaml ocaml_interface julia".split(), _DOTTED
    ),
    **dict.fromkeys("protobuf zig r bash make automake cmake rst css scss".split(), _PATHS),
    "dart": replace(_PATHS, settings=(b"pubspec.yaml",)),
    "hcl": replace(_PATHS, imports_folders=True),
    "swift": replace(
        _PLAIN,
        imports_folders=True,
        folder_is_package=True,
        has_main=True,
        overloads=True,
        members_apart=True,
    ),
}
