"""What resolving knows of one language, and what its modules and names are resolved by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, cast

from codelens.resolve.path_tree import Tree
from codelens.types import Import


class ModuleResolver:
    """Which files of a view the imports of a language name; this one knows of none.

    Its rules go by paths and settings files alone, so its answers hold as long as these do.
    """

    per_file: ClassVar[bool] = False
    """Files of one folder with one ending may import different things by one name."""
    named: ClassVar[bool] = False
    """What is imported from a module may be a file as well."""

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        """Take the paths of a view, and the contents of settings files by path."""
        self._tree = tree
        del settings

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Files that an import names; empty if there is none, or no telling which."""
        del path, language, import_
        return ()

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Files that run as well when an import does."""
        del path, language, import_
        return ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LanguageSpec:
    """One language. `modules` and `resolver` are loaded when they are first needed."""

    modules: str = ""
    """Class of its `ModuleResolver`, as `module:Class` below `resolve.languages`."""
    settings: tuple[bytes, ...] = ()
    """Names of the settings files that `modules` reads; `*` stands for anything."""
    resolver: str = ""
    """Function that makes its `Resolver`, as `module:function`; without one the rules are those
    of Python and JavaScript."""
    follows_names: bool = False
    """Names are followed into other files; otherwise imports are, and names in the file."""
    class_names: bool = False
    """Names in the body of a class are seen right in it (Python), not inside it at all."""
    spaces: bool = False
    """Types and values of one name are different things (TypeScript)."""
    submodules: bool = False
    """A module has its submodules as members (Python)."""
    named_in_texts: bool = False
    """Programs load modules, types and functions by their whole names in texts (Python, Java)."""
    ordered: bool = False
    """What is bound later in a module counts, be it by a star import (Python)."""
    instance: frozenset[str] = frozenset()
    """Words for the instance whose method this is."""
    needs_receiver: bool = False
    """A member is used through a receiver alone: a bare name in a method is something else."""
    untyped: bool = False
    """Functions have no signatures that say more than names (JavaScript)."""
    overloads_apart: bool = False
    """Definitions of one name are different things: overloads, or alternatives of a build."""
    types_apart: bool = False
    """A build may choose between definitions of a type as well."""
    unions: bool = False
    """A receiver, or `self` in a mixin, may be of one of several types: what it has of them are
    possible edges."""
    overload_declarations: bool = False
    """Overloads are declared before the one definition with a body."""
    stubs: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    """Endings of files that only declare, each with those of the code they declare."""
    split_types: bool = False
    """A type may be declared in several parts (C#)."""
    indexes_view: bool = False
    """Some answers need an index over all files of the language."""
    implicit_interfaces: bool = False
    """A type has an interface by its methods, without naming it (Go)."""
    bases_are_told: bool = False
    """Nothing derives from a type but by a row that says so (`base_places`)."""
    imports_folders: bool = False
    """An import may name a folder, and mean all files in it."""
    folder_is_package: bool = False
    """Files of one folder see each other's names."""
    imports_are_complete: bool = False
    """A name that is used has been imported, or stands in the package."""
    trait_blocks: bool = False
    """What overrides a method by the block that it stands in is called as that method (Rust)."""
    keeps_names: bool = False
    """What a use leads to is called as the use is, but for another name that an import of the
    file gives it, and for constructors and methods above (`new`, `super`, `self`). So uses of some
    names can be resolved without the others."""
    nameless_super: bool = False
    """`super` alone calls the method above of the same name (Ruby)."""
    constructors: frozenset[str] = frozenset()
    """Methods that a call of their type runs."""
    constructor_is_named_as_type: bool = False
    """A method with the name of its type is one."""
    has_main: bool = False
    """A program begins at a function `main`."""
    overloads: bool = False
    """Functions of one scope and name may have several signatures, each with a body."""
    any_arguments: bool = False
    """A function takes whatever it is called with (JavaScript, Lua)."""
    extra_arguments: bool = False
    """Arguments beyond the last parameter are no error (PHP)."""
    named_arguments: bool = False
    """Calls name parameters; elsewhere a name and a colon are part of a value."""
    star_spreads: bool = False
    """A star before an argument spreads a list; elsewhere it follows a pointer."""
    optional_members: bool = False
    """A member `name?` of an interface need not be there (TypeScript)."""
    members_apart: bool = False
    """Members of one type may stand in several files."""
    folder_is_one_scope: bool = False
    """Names at the top of the files of a folder exclude each other, and files there may be split
    and joined without a change for others (Go, Java, Kotlin)."""
    package_clause: bytes = b""
    """Regex of the line that names the package, where the files of one folder may be of two: Go's
    tests."""
    global_names: bool = False
    """A qualified name says all: in which file it stands does not matter (C, C#)."""
    linked_names: bool = False
    """A program has one function of a name, unless it is `static` (C)."""
    prototypes: bool = False
    """A function may be declared without its body, besides its definition: `declared_apart` of the
    settings, which ranking may not ask."""
    shares_types_with: str = ""
    """The language whose files use the types of this one's as their own (C with C++)."""


# The languages that resolving knows, each by the file of its home that describes it.
#
# Only the descriptions of languages that a view has are loaded, and of these no rules.

_HOMES = {
    "c.c": "c cpp objc cuda",
    "classes.csharp": "csharp",
    "go": "go",
    "classes.java": "java scala",
    "classes.kotlin": "kotlin",
    "lua": "lua",
    "classes.php": "php",
    "python": "python jupyter",
    "ruby": "ruby",
    "rust": "rust",
    "script": "javascript typescript tsx vue svelte html",
    "imports_only": "haskell perl clojure elixir erlang ocaml ocaml_interface julia protobuf "
    "dart zig r bash make automake cmake rst css scss hcl swift",
}
"""Module -> the languages that its `SPECS` describe; each language is in one module."""
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
        module = import_module(f"codelens.resolve.languages.{home}")
        _specs.update(cast("dict[str, LanguageSpec]", module.SPECS))
        spec = _specs[language]
    return spec


def loaded(place: str) -> Any:  # noqa: ANN401 - each caller knows what it named
    """What a `module:name` of a specification means."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"codelens.resolve.languages.{module}"), name)
