"""Resolves C and C++ names through includes, and declarations to their definitions.

A name is visible if the file or one that it includes declares it; it refers to the definition if
the view has one. Static names are only visible in their own file. If a build selects one of several
definitions, all of them count.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.c.c_index import (
    CIndex,
    is_outer_symbol,
    nearest_of,
    variables_in_scope,
)
from codelens.resolve.languages.c.c_types import STANDARD, c_parameters, plain_parameter
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.resolve.path_tree import folder_of
from codelens.resolve.view_files import View
from codelens.types import Import

_DEEPEST = 50
"""The most nested includes to follow individually; a walk collects the rest."""
_TAGGED = TYPES - {"type"}
_HEADER = re.compile(rb"\.(?:h|hh|hpp|hxx|inl|ipp|tcc|cuh)$", re.IGNORECASE)
_WIDTHS = frozenset({"32", "64", "_32", "_64"})
_RENAMING = re.compile(r"#\s*define\s+\w+\s+([A-Za-z_]\w*)")


class CNames(ClassNames):
    """Looks up names in C and C++."""

    owner: Callable[[bytes, int], Instance | None]
    """Returns the class of a method that is defined outside of it, by its scope."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._reaching: set[bytes] = set()
        """Files with an open `_reach` query."""

    def index(self) -> CIndex:
        """Return the index of the view."""
        return self.view.index("c names", lambda: CIndex(self.view))

    def reach(self, path: bytes) -> frozenset[bytes]:
        """Return a file with everything that it includes, directly or indirectly."""
        return self.view.once(("reach", path), lambda: self._reach(path))

    def _reach(self, path: bytes) -> frozenset[bytes]:
        """Join what the included files reach; walks a cycle of includes file by file."""
        if len(self._reaching) >= _DEEPEST:
            return self._walked(path)
        self._reaching.add(path)
        seen = {path}
        try:
            for file in self._included(path):
                if file in self._reaching:
                    return self._walked(path)
                seen |= self.reach(file)
        finally:
            self._reaching.discard(path)
        return frozenset(seen)

    def _walked(self, path: bytes) -> frozenset[bytes]:
        seen, waiting = {path}, [path]
        while waiting:
            for file in self._included(waiting.pop()):
                if file not in seen:
                    seen.add(file)
                    waiting.append(file)
        return frozenset(seen)

    def _included(self, path: bytes) -> list[bytes]:
        imports = self.view.model(path).imports
        return [
            file for import_ in imports for file in self.view.modules(path, import_.module)
        ]  # fmt: skip

    def in_package(self, path: bytes, package: str, name: str) -> list[Referent]:
        """Return what a file sees under a name; with `package`, in that namespace."""
        reach = self.reach(path)
        referents = self.index().named(name, reach)
        if package and referents:
            package = self.spelled_out(path, package)
            referents = [
                referent
                for referent in referents
                if self._qualified(referent).endswith(f".{package}.{name}")
            ]
        return self.chosen(path, referents)

    def _of_other_spaces(self, path: bytes, hits_of_name: list[Referent]) -> list[Referent]:
        """Return functions of that name in other namespaces; the arguments decide later."""
        reach = self.reach(path)
        qualified_names = {self._qualified(referent) for referent in hits_of_name}
        spaces: dict[str, list[Referent]] = {}
        for referent in self.index().named(hits_of_name[0].name, reach):
            space = self._qualified(referent)
            if space not in qualified_names and self._kind(referent) == "function":
                spaces.setdefault(space, []).append(referent)
        return [
            referent for referents in spaces.values() for referent in self.chosen(path, referents)
        ]

    def nearest(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Among types of one name, return that of the innermost enclosing namespace."""
        model = self.view.model(path)
        symbol = model.scopes[scope].symbol
        reach = self.reach(path)
        candidates = self.index().named(name, reach)
        if len({self._qualified(referent) for referent in candidates}) < 2:
            return []
        while symbol < 0 and scope > 0:
            scope = model.scopes[scope].parent
            symbol = model.scopes[scope].symbol
        around = "." + model.symbols[symbol].qualified.replace("::", ".") if symbol >= 0 else ""
        while around:
            around = around.rpartition(".")[0]
            referents = [
                referent
                for referent in candidates
                if self._qualified(referent) == f"{around}.{name}"
            ]
            if referents:
                return referents
        return []

    def tagged(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the type for `struct name`: a visible definition, or else another one."""
        types = [
            referent
            for referent in self.in_package(path, "", name)
            if self._kind(referent) in _TAGGED
        ]
        types = self.first_of_each_file(types)
        return types if types else self._elsewhere(path, scope, name, "")

    def declared(self, path: bytes, scope: int, name: str, package: str = "") -> list[Referent]:
        """Return the definition of a type with only a visible forward declaration: `class Foo;`."""
        if name not in self.view.once(("forward", path), lambda: self._forward(path)):
            return []
        return self._elsewhere(path, scope, name, package)

    def _forward(self, path: bytes) -> frozenset[str]:
        models = [self.view.model(file) for file in self.reach(path)]
        return frozenset(name for model in models for name in model.forward)

    def _elsewhere(self, path: bytes, scope: int, name: str, package: str) -> list[Referent]:
        """Return the type's definitions in any file: of the nearest namespace, or a unique one."""
        types = [
            referent
            for referent in self.index().named(name)
            if self._kind(referent) in _TAGGED and self.is_whole(referent)
        ]
        if package:
            types = [
                referent
                for referent in types
                if self._qualified(referent).endswith(f"{package}.{name}")
            ]
        spaces: dict[str, list[Referent]] = {}
        for referent in types:
            spaces.setdefault(self._qualified(referent), []).append(referent)
        if len(spaces) > 1:
            around = self._around(path, scope)
            near = [spaces[f"{space}.{name}"] for space in around if f"{space}.{name}" in spaces]
            return near[0] if near else []
        return self._shared(path, types) if len(types) > 1 else types

    def _shared(self, path: bytes, referents: list[Referent]) -> list[Referent]:
        """Prefer definitions in headers, then in the file's folder; empty if ambiguous."""
        headers = [referent for referent in referents if _HEADER.search(referent.path)] or referents
        same_folder = [
            referent for referent in headers if folder_of(referent.path) == folder_of(path)
        ]
        headers = same_folder if same_folder and len(headers) > 1 else headers
        return headers if len({referent.path for referent in headers}) == 1 else []

    def _around(self, path: bytes, scope: int) -> list[str]:
        """Return the qualified names around a scope, innermost first; the last one is empty."""
        model = self.view.model(path)
        symbol = -1
        while symbol < 0 <= scope:
            symbol, scope = model.scopes[scope].symbol, model.scopes[scope].parent
        if symbol < 0:
            return self.spaces_of(path)
        around = "." + model.symbols[symbol].qualified.replace("::", ".")
        spaces: list[str] = []
        while around:
            spaces.append(around)
            around = around.rpartition(".")[0]
        return [*spaces, ""]

    def spaces_of(self, path: bytes) -> list[str]:
        """Return the namespaces of a file, because a scope alone may not determine them."""
        kinds = self.view.model(path).symbols
        return ["." + symbol.qualified for symbol in kinds if symbol.kind == "module"] + [""]

    def spelled_out(self, path: bytes, package: str) -> str:
        """Resolve a namespace alias: `namespace fs = std::filesystem`."""
        names = self.view.once(("namespaces", path), lambda: self._aliases(path))
        head, dot, rest = package.partition(".")
        return names[head] + dot + rest if head in names else package

    def _aliases(self, path: bytes) -> dict[str, str]:
        index = self.index()
        namespaces: dict[str, str] = {}
        for file in sorted(self.reach(path)):
            namespaces |= index.spaces(file)
        return namespaces

    def _qualified(self, referent: Referent) -> str:
        model = self.view.model(referent.path)
        symbol = model.symbols[referent.symbol]
        if model.is_open_enum(symbol.parent):
            around = model.symbols[symbol.parent].qualified.rpartition(".")[0]
            return f".{around}.{symbol.name}" if around else f".{symbol.name}"
        return f".{symbol.qualified}"

    def chosen(self, path: bytes, referents: list[Referent]) -> list[Referent]:
        """Prefer definitions over declarations, including those in files that are not included.

        If a name is both a macro and a declared function, both count, because a build takes either.
        """
        callable_ = [referent for referent in referents if self._kind(referent) in CALLABLE]
        callable_ = self._without_prefixes(callable_)
        if not callable_:
            named = self.index().named(referents[0].name) if referents else ()
            return variables_in_scope(self.view, path, referents, named)
        here = [
            referent for referent in callable_ if referent.path == path and self.is_whole(referent)
        ]
        if here:
            return here + self._replaced(path, here, callable_)
        whole = [referent for referent in callable_ if self.is_whole(referent)]
        declared = [referent for referent in callable_ if not self.is_whole(referent)]
        if not declared or any(self._kind(referent) != "macro" for referent in whole):
            return whole or declared
        apart = self._apart(path, declared)
        if not apart and not whole:
            return self._one_per_overload(declared)
        if self.view.languages.get(path) == "cpp":
            # A function without a definition in the view belongs to a library and may also be
            # meant.
            names_defined = {self._qualified(referent) for referent in whole + apart}
            alone = [
                referent for referent in declared if self._qualified(referent) not in names_defined
            ]
            apart += self._one_per_overload(alone) if alone else []
        return whole + apart

    def _replaced(
        self, path: bytes, here: list[Referent], callable_: list[Referent]
    ) -> list[Referent]:
        """Return functions of other files that a static one replaces in builds without them.

        In C, a static function and a declaration of the same name are mutually exclusive.
        """
        if self.view.languages.get(path) != "c" or any(map(self._is_open, here)):
            return []
        functions = [referent for referent in callable_ if self._kind(referent) == "function"]
        declared = [
            referent for referent in functions if referent.path != path and self._is_open(referent)
        ]
        if not declared or any(self._kind(referent) != "function" for referent in here):
            return []
        return self._apart(path, declared)

    def _without_prefixes(self, referents: list[Referent]) -> list[Referent]:
        """Drop macros that only rename a function to a name that the view does not define.

        `#define inflate z_inflate` lets a build choose the names of its symbols, and `#define
        gzopen gzopen64` the width of offsets: a use of the name refers to the function.
        """
        functions = [referent for referent in referents if self._kind(referent) != "macro"]
        if not functions or len(functions) == len(referents):
            return referents
        return [
            referent
            for referent in referents
            if referent in functions or not self._is_prefix(referent)
        ]

    def _is_prefix(self, macro: Referent) -> bool:
        signature = self.view.symbol(macro).signature
        renamed = _RENAMING.fullmatch(signature)
        if renamed is None:
            return False
        if renamed[1].endswith(macro.name):
            return all(self._kind(other) == "macro" for other in self.index().named(renamed[1]))
        return renamed[1].removeprefix(macro.name) in _WIDTHS

    def _one_per_overload(self, declared: list[Referent]) -> list[Referent]:
        """Return one declaration per overload; in C there is only one."""
        if self.view.languages.get(declared[0].path) != "cpp":
            return declared[:1]
        by_parameters: dict[tuple[str, ...], Referent] = {}
        for referent in declared:
            signature = self.view.symbol(referent).signature
            taken = c_parameters(signature, referent.name) or ()
            by_parameters.setdefault(
                tuple(plain_parameter(parameter.type) for parameter in taken), referent
            )
        return list(by_parameters.values())

    def _apart(self, path: bytes, declared: list[Referent]) -> list[Referent]:
        """Return definitions that are not included, preferably near the declarations."""
        definitions = [
            referent
            for referent in self.index().named(declared[0].name)
            if self._kind(referent) in CALLABLE
            and self._kind(referent) != "macro"
            and self.is_whole(referent)
            and self._is_open(referent)
        ]
        if self.view.languages.get(declared[0].path) == "cpp":
            definitions = self._of_spaces(declared, definitions)
        return nearest_of(definitions, declared, path)

    def _of_spaces(self, declared: list[Referent], definitions: list[Referent]) -> list[Referent]:
        """Return definitions in the namespaces of declarations; `void ns::f() {}` also counts."""
        spaces = {self._qualified(referent) for referent in declared}
        owners = {space.split(".")[-2] for space in spaces if space.count(".") > 1}
        for owner in sorted(owners):
            methods = self.index().methods(owner, declared[0].name)
            definitions += [method for method in methods if method not in definitions]
        return [
            referent
            for referent in definitions
            if self._qualified(referent) in spaces and self.is_whole(referent)
        ]

    def others(self, path: bytes, referents: list[Referent]) -> int:
        """Return how many targets outside of any view a name may have: 1 if libraries define it.

        Facts do not contain the conditions under which a header is included or defines a name: a
        wrapper of a system function may exist only on some systems.
        """
        if not referents or referents[0].name not in STANDARD:
            return 0
        definitions = [referent for referent in referents if referent.symbol >= 0]
        if not definitions or any(referent.path == path for referent in definitions):
            return 0
        return int(
            any(self._qualified(referent) == "." + referent.name for referent in definitions)
        )

    def is_whole(self, referent: Referent) -> bool:
        """Whether a referent is a definition, not only a declaration."""
        model = self.view.model(referent.path)
        return referent.symbol in model.own_scope or model.symbols[referent.symbol].kind == "macro"

    def _is_special(self, referent: Referent) -> bool:
        """Whether a referent is a template specialization: `struct hash<Foo>`."""
        return f" {referent.name}<" in self.view.symbol(referent).signature

    def is_outer(self, referent: Referent) -> bool:
        """Whether a referent is only nested in namespaces."""
        return is_outer_symbol(self.view.model(referent.path), referent.symbol)

    def _is_open(self, referent: Referent) -> bool:
        return self.view.symbol(referent).exported

    def _kind(self, referent: Referent) -> str:
        return self.view.symbol(referent).kind if referent.symbol >= 0 else ""

    def _in_scope(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        """As in the base class; in a method defined outside of its class, also search the class."""
        referents = self._in_block(path, model, at, name, space)
        owner = self.owner(path, at) if model.scopes[at].symbol >= 0 and not referents else None
        return referents if owner is None else self.types.inherited(owner, name, space, arguments)

    def _in_block(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space
    ) -> list[Referent]:
        entry = model.names[at].get(name)
        if entry is not None and space == "call" and not entry.symbols:
            return [Referent(path, LOCAL, at, name)]
        return super()._in_block(path, model, at, name, space)

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Referent]:
        referents = self.of_space(self.in_package(path, "", name), space)
        if space == "call" and model.language == "cpp":
            fitting = self.fitting(referents, arguments)
            if fitting and all(self._kind(referent) in TYPES for referent in fitting):
                return self.first_of_each_file(fitting)
            if fitting and not any(self.is_whole(referent) for referent in fitting):
                fitting += self.fitting(self._of_other_spaces(path, fitting), arguments)
            return fitting or [
                referent for referent in referents if self._kind(referent) == "macro"
            ]
        if space == "type":
            return self.first_of_each_file(referents)
        return referents

    def first_of_each_file(self, types: list[Referent]) -> list[Referent]:
        """Prefer a type's definitions over its declarations, one per file: `typedef struct`."""
        whole = [referent for referent in types if self.is_whole(referent)]
        tagged = [referent for referent in whole if self._kind(referent) in _TAGGED]
        spaces = {self._qualified(referent) for referent in tagged}
        # `typedef struct Foo Foo;` does not define another type.
        whole = [h for h in whole if h in tagged or self._qualified(h) not in spaces]
        if len(tagged) > 1 and any(self._is_special(referent) for referent in tagged):
            # Only type arguments could select the specialization, and they are not compared.
            return whole
        return (
            list({referent.path: referent for referent in reversed(whole)}.values())[::-1]
            or types[:1]
        )

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return nothing: an include binds no name."""
        return []
