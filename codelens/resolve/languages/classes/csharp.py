"""Resolves C# namespaces to folders.

By default, the build tools map a namespace to the folder path below the project whose name it
starts with. A project with another layout has no targets.
"""

from __future__ import annotations

from collections.abc import Mapping

from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.path_tree import Tree, ancestors, below, encoded, folder_of, stem_of
from codelens.types import Import

_PROJECT = b".csproj"


class Namespaces(ModuleResolver):
    """Resolves `using` directives."""

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._projects: dict[bytes, set[bytes]] = {}
        for path in tree.languages:
            if path.endswith(_PROJECT):
                self._projects.setdefault(stem_of(path), set()).add(folder_of(path))

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files of the namespace, or the file of the class for an alias or `static`."""
        del language
        del path
        inner = encoded(import_.module.partition("<")[0]).replace(b".", b"/")
        choices: set[tuple[bytes, ...]] = set()
        for prefix in ancestors(inner):
            roots = self._projects.get(prefix.replace(b"/", b"."), ()) if prefix else ()
            for root in roots:
                base = below(root, inner[len(prefix) + 1 :])
                choices.add(self._sources(base))
        choices.discard(())
        return next(iter(choices)) if len(choices) == 1 else ()

    def _sources(self, base: bytes) -> tuple[bytes, ...]:
        if base + b".cs" in self._tree:
            return (base + b".cs",)
        return tuple(sorted(file for file in self._tree.files(base) if file.endswith(b".cs")))


# The language description of C#, and of Razor, whose components are classes of C#.

_CSHARP = LanguageSpec(
    modules="classes.csharp:Namespaces",
    resolver="classes.class_values:resolver",
    named_in_texts=True,
    follows_names=True,
    instance=frozenset({"this", "$this"}),
    overriding_words=frozenset({"override"}),
    hiding_words=frozenset({"private", "static"}),
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
SPECS = {"csharp": _CSHARP, "razor": _CSHARP}
