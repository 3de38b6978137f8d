"""Describes each language for the resolver, and loads its rules on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, cast

from codelens.resolve.path_tree import Tree
from codelens.types import Import


class ModuleResolver:
    """Resolves the imports of a language to files of a view; this default finds none.

    The rules depend only on paths and settings files, so answers stay valid while these do not
    change.
    """

    per_file: ClassVar[bool] = False
    """Whether files with the same folder and extension may import different things by one name."""
    named: ClassVar[bool] = False
    """Whether a name imported from a module may be a file."""

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        """Take the paths of a view, and the contents of settings files by path."""
        self._tree = tree
        del settings

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files that an import refers to; empty if there are none or it is ambiguous."""
        del path, language, import_
        return ()

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files that an import also runs."""
        del path, language, import_
        return ()

    def declared(self) -> Mapping[bytes, bytes]:
        """Return files that only declare what others define, each with that file."""
        return {}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LanguageSpec:
    """A language. `modules` and `resolver` are loaded on first use."""

    modules: str = ""
    """The `ModuleResolver` class as `module:Class`, relative to `resolve.languages`."""
    settings: tuple[bytes, ...] = ()
    """The names of the settings files that `modules` reads; `*` matches anything."""
    resolver: str = ""
    """The function that builds the `Resolver`, as `module:function`; without one, the rules of
    Python and JavaScript apply."""
    follows_names: bool = False
    """Whether names are resolved across files; otherwise only imports, and names in the file."""
    class_names: bool = False
    """Names in a class body are visible directly in it (Python), not in nested scopes."""
    stub_language: str = ""
    """The language of `stubs`; a stub that is no module declares its types for all files."""
    spaces: bool = False
    """Types and values of the same name are separate (TypeScript)."""
    submodules: bool = False
    """A module has its submodules as members (Python)."""
    named_in_texts: bool = False
    """Programs load modules, types and functions by qualified names in strings (Python, Java)."""
    ordered: bool = False
    """Later bindings in a module override earlier ones, including wildcard imports (Python)."""
    is_component: bool = False
    """A file is a component, which its own markup may use by the file's name (Vue)."""
    instance: frozenset[str] = frozenset()
    """Keywords for the instance of a method."""
    needs_receiver: bool = False
    """Members need a receiver: a bare name in a method is not a member."""
    enums_are_open: bool = False
    """The members of an enum are names of the scope around it, except in `enum class` (C, C++)."""
    declares_late: bool = False
    """A variable does not exist in its first value: `load := load()` calls a function (Go)."""
    untyped: bool = False
    """Signatures contain only parameter names (JavaScript)."""
    overloads_apart: bool = False
    """Definitions of the same name are separate: overloads, or build alternatives."""
    types_apart: bool = False
    """A build may also choose between definitions of a type."""
    unions: bool = False
    """A receiver, or `self` in a mixin, may have one of several types; the members of each are
    possible targets."""
    narrows: bool = False
    """Facts contain type tests (`instanceof`), so without one a union keeps all of its types."""
    rebinds: bool = False
    """Whether a variable with the name of a function or type replaces it: `f = wrap(f)`."""
    overload_declarations: bool = False
    """Overloads are declared before the one definition with a body."""
    stubs: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    """Extensions of declaration files, each with those of the code they declare."""
    split_types: bool = False
    """A type may be declared in several parts (C#)."""
    indexes_view: bool = False
    """Some answers need an index over all files of the language."""
    implicit_interfaces: bool = False
    """A type satisfies an interface by its methods, without naming it (Go)."""
    bases_are_declared: bool = False
    """Facts have a row for every base of a type (`base_places`)."""
    imports_folders: bool = False
    """An import may refer to a folder, meaning all files in it."""
    folder_is_package: bool = False
    """Files of one folder share their names."""
    imports_are_complete: bool = False
    """Every used name is imported or belongs to the package."""
    trait_blocks: bool = False
    """An override in a trait block has the same name as the overridden method (Rust)."""
    keeps_names: bool = False
    """A target has the same name as its use, except for import aliases, constructors and overridden
    methods (`new`, `super`, `self`). So the uses of some names can be resolved alone."""
    nameless_super: bool = False
    """`super` alone calls the overridden method of the same name (Ruby)."""
    constructors: frozenset[str] = frozenset()
    """Methods that a call of their type runs."""
    constructor_is_named_as_type: bool = False
    """A method with the name of its type is a constructor."""
    has_main: bool = False
    """A program starts at a function `main`."""
    overloads: bool = False
    """Functions of the same scope and name may have several signatures, each with a body."""
    overriding_words: frozenset[str] = frozenset()
    """Words that mark overriding: if one of two methods overrides the other, one of them has such a
    word, unless an interface declares one. Empty: an equal name is enough."""
    fields_are_inherited: bool = False
    """A field of a subclass with the name of an inherited one is the same field, or replaces it."""
    hiding_words: frozenset[str] = frozenset()
    """A method with one of these words overrides nothing and is not overridden."""
    private_word: str = ""
    """The word of a signature that allows no use from another file (Java, Kotlin)."""
    any_arguments: bool = False
    """A function accepts any number of arguments (JavaScript, Lua)."""
    extra_arguments: bool = False
    """Extra arguments after the last parameter are not an error (PHP)."""
    named_arguments: bool = False
    """Calls may name parameters; elsewhere a name and a colon are part of a value."""
    written_constructor: str = ""
    """The constructor of a type; one without it has a parameter for each field (Python)."""
    star_spreads: bool = False
    """A star before an argument spreads a list; elsewhere it dereferences a pointer."""
    optional_members: bool = False
    """An interface member `name?` is optional (TypeScript)."""
    members_apart: bool = False
    """The members of one type may be in several files."""
    folder_is_one_scope: bool = False
    """Top-level names in the files of a folder are exclusive, and files there can be split or
    joined without affecting others (Go, Java, Kotlin)."""
    package_clause: bytes = b""
    """Regex of the line that names the package, for languages with two packages in one folder: Go's
    tests."""
    platform_file: bytes = b""
    """Regex of the names of files that are built only for some platforms (Go). A constraint in the
    text limits the build of a file, too: a name that several such files of a package define is one
    definition, of which each build uses one."""
    global_names: bool = False
    """A qualified name is unique regardless of its file (C, C#)."""
    linked_names: bool = False
    """A program has one function per name, except for `static` ones (C)."""
    prototypes: bool = False
    """A function may be declared separately from its definition: `declared_apart` of the settings,
    which ranking must not query."""
    shares_types_with: str = ""
    """The language whose files share the types of this one (C with C++)."""


# The known languages, each with the module that describes it.
#
# Only the descriptions of languages in the view are loaded, and of these no rules.

_HOMES = {
    "c.c": "c cpp objc cuda",
    "classes.csharp": "csharp razor",
    "go": "go",
    "classes.java": "java scala",
    "classes.kotlin": "kotlin",
    "lua": "lua",
    "classes.php": "php",
    "python": "python jupyter",
    "ruby": "ruby",
    "rust": "rust",
    "script": "javascript typescript tsx vue svelte astro mdx angular html",
    "imports_only": "haskell perl clojure elixir erlang ocaml ocaml_interface julia protobuf "
    "dart zig r bash make automake cmake rst css scss hcl swift",
}
"""Module -> the languages that its `SPECS` describe; each language has one module."""
_WRITTEN_IN = {"razor": "csharp"}
"""Languages whose facts are wholly those of another one."""
NAMED_BY_FILE = (b".razor",)
"""Files whose only class has the name of the file."""
LANGUAGES = frozenset(name for names in _HOMES.values() for name in names.split())
_UNKNOWN = LanguageSpec(spaces=True, instance=frozenset({"this"}))
_home_of = {name: home for home, names in _HOMES.items() for name in names.split()}
_specs: dict[str, LanguageSpec] = {"": LanguageSpec()}


def resolved_as(language: str) -> str:
    """Return the language whose rules resolve a language."""
    return _WRITTEN_IN.get(language, language)


def spec_of(language: str) -> LanguageSpec:
    """Return the description of a language; an unlisted language only has scoped names."""
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


def loaded(place: str) -> Any:  # noqa: ANN401 - the caller knows the type
    """Load the object that a specification names as `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"codelens.resolve.languages.{module}"), name)
