"""Names of C and C++: through includes, definitions apart from their declarations.

A name counts where the file, or one that it includes, declares it; it means the definition if there
is one in the view. Static names are seen in their own file alone. Definitions of one name that
exclude each other, as a build takes one of them, are all given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.inference.name_lookup import LOCAL, Hit
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.c.c_standard_library import STANDARD
from codelens.resolve.languages.c.c_type_text import (
    aliased_namespace,
    c_parameters,
    plain_parameter,
)
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.types import Import

LANGUAGES = frozenset({"c", "cpp"})
_TAGGED = TYPES - {"type"}
_HEADER = re.compile(rb"\.(?:h|hh|hpp|hxx|inl|ipp|tcc|cuh)$", re.IGNORECASE)


class _Index(NamedTuple):
    """What the C and C++ files of a view define and declare."""

    names: dict[str, list[Hit]]
    """Top-level names, those in namespaces as well."""
    methods: dict[str, dict[str, list[Hit]]]
    """Last name of a class -> its methods that are defined outside of it."""


class CNames(ClassNames):
    """Names in C and C++."""

    owner: Callable[[bytes, int], Instance | None]
    """The class of a method that is defined outside of it, by its scope."""

    def index(self) -> _Index:
        """All of the view."""
        return self.view.index("c names", self._index)

    def _index(self) -> _Index:
        found = _Index({}, {})
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language in LANGUAGES else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if model is None or not _is_outer(model, at):
                    continue
                if model.is_outside_member(symbol):
                    owner = symbol.qualified.split(".")[-2] if "." in symbol.qualified else ""
                    places = found.methods.setdefault(owner, {})
                    places.setdefault(symbol.name, []).append(Hit(path, at, 0, symbol.name))
                else:
                    found.names.setdefault(symbol.name, []).append(Hit(path, at, 0, symbol.name))
        return found

    def reach(self, path: bytes) -> frozenset[bytes]:
        """A file, and all that it includes, directly or not."""
        return self.view.once(("reach", path), lambda: self._reach(path))

    def _reach(self, path: bytes) -> frozenset[bytes]:
        seen, waiting = {path}, [path]
        while waiting:
            model = self.view.model(waiting[-1])
            at = waiting.pop()
            for one in model.imports if model is not None else ():
                for file in self.view.modules(at, one.module):
                    if file not in seen:
                        seen.add(file)
                        waiting.append(file)
        return frozenset(seen)

    def in_package(self, path: bytes, package: str, name: str) -> list[Hit]:
        """What a file sees under a name; with `package`, in the namespace of that name."""
        reach = self.reach(path)
        found = [hit for hit in self.index().names.get(name, ()) if hit.path in reach]
        if package and found:
            package = self.spelled_out(path, package)
            found = [hit for hit in found if self._qualified(hit).endswith(f".{package}.{name}")]
        return self.chosen(path, found)

    def _of_other_spaces(self, path: bytes, found: list[Hit]) -> list[Hit]:
        """Functions of that name in other namespaces: which is meant the arguments say."""
        reach = self.reach(path)
        known = {self._qualified(hit) for hit in found}
        spaces: dict[str, list[Hit]] = {}
        for hit in self.index().names.get(found[0].name, ()):
            space = self._qualified(hit)
            if space not in known and hit.path in reach and self._kind(hit) == "function":
                spaces.setdefault(space, []).append(hit)
        return [hit for hits in spaces.values() for hit in self.chosen(path, hits)]

    def nearest(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """Of types of one name in several namespaces that of the namespaces around."""
        model = self.view.model(path)
        symbol = model.scopes[scope].symbol if model is not None else -1
        reach = self.reach(path)
        found = [hit for hit in self.index().names.get(name, ()) if hit.path in reach]
        if model is None or len({self._qualified(hit) for hit in found}) < 2:
            return []
        while symbol < 0 and scope > 0:
            scope = model.scopes[scope].parent
            symbol = model.scopes[scope].symbol
        around = "." + model.symbols[symbol].qualified.replace("::", ".") if symbol >= 0 else ""
        while around:
            around = around.rpartition(".")[0]
            hits = [hit for hit in found if self._qualified(hit) == f"{around}.{name}"]
            if hits:
                return hits
        return []

    def tagged(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What `struct name` means: a definition the file sees, else one it need not see."""
        found = [hit for hit in self.in_package(path, "", name) if self._kind(hit) in _TAGGED]
        found = self.one_a_file(found)
        return found if found else self._elsewhere(path, scope, name, "")

    def declared(self, path: bytes, scope: int, name: str, package: str = "") -> list[Hit]:
        """The definition of a type that the file sees declared alone: `class Foo;`."""
        if name not in self.view.once(("forward", path), lambda: self._forward(path)):
            return []
        return self._elsewhere(path, scope, name, package)

    def _forward(self, path: bytes) -> frozenset[str]:
        models = [self.view.model(one) for one in self.reach(path)]
        return frozenset(name for model in models if model is not None for name in model.forward)

    def _elsewhere(self, path: bytes, scope: int, name: str, package: str) -> list[Hit]:
        """Definitions of a type in any file: those of the nearest space, else of the only one."""
        found = [
            hit
            for hit in self.index().names.get(name, ())
            if self._kind(hit) in _TAGGED and self.is_whole(hit)
        ]
        if package:
            found = [hit for hit in found if self._qualified(hit).endswith(f"{package}.{name}")]
        spaces: dict[str, list[Hit]] = {}
        for hit in found:
            spaces.setdefault(self._qualified(hit), []).append(hit)
        if len(spaces) > 1:
            around = self._around(path, scope)
            near = [spaces[f"{one}.{name}"] for one in around if f"{one}.{name}" in spaces]
            return near[0] if near else []
        return self._shared(path, found) if len(found) > 1 else found

    def _shared(self, path: bytes, found: list[Hit]) -> list[Hit]:
        """Of definitions of one name those in headers, then those beside the file."""
        kept = [hit for hit in found if _HEADER.search(hit.path)] or found
        beside = [hit for hit in kept if folder_of(hit.path) == folder_of(path)]
        kept = beside if beside and len(kept) > 1 else kept
        return kept if len({hit.path for hit in kept}) == 1 else []

    def _around(self, path: bytes, scope: int) -> list[str]:
        """The qualified names of what a scope is in, from inside out; at last the empty one."""
        model = self.view.model(path)
        symbol = -1
        while model is not None and symbol < 0 <= scope:
            symbol, scope = model.scopes[scope].symbol, model.scopes[scope].parent
        if model is None or symbol < 0:
            return self.spaces_of(path)
        around = "." + model.symbols[symbol].qualified.replace("::", ".")
        found: list[str] = []
        while around:
            found.append(around)
            around = around.rpartition(".")[0]
        return [*found, ""]

    def spaces_of(self, path: bytes) -> list[str]:
        """The namespaces of a file, as what a scope is in need not tell them."""
        model = self.view.model(path)
        kinds = model.symbols if model is not None else ()
        return ["." + one.qualified for one in kinds if one.kind == "module"] + [""]

    def spelled_out(self, path: bytes, package: str) -> str:
        """A namespace by its own name, where it has another: `namespace fs = std::filesystem`."""
        names = self.view.once(("namespaces", path), lambda: self._aliases(path))
        head, dot, rest = package.partition(".")
        return names[head] + dot + rest if head in names else package

    def _aliases(self, path: bytes) -> dict[str, str]:
        found: dict[str, str] = {}
        for file in self.reach(path):
            model = self.view.model(file)
            for one in model.symbols if model is not None else ():
                told = aliased_namespace(one.signature) if one.kind == "module" else None
                if told is not None:
                    found[told[0]] = told[1]
        return found

    def _qualified(self, hit: Hit) -> str:
        model = self.view.model(hit.path)
        return "." + model.symbols[hit.symbol].qualified if model is not None else ""

    def chosen(self, path: bytes, found: list[Hit]) -> list[Hit]:
        """Definitions before declarations, also those of files that are not included.

        Of a name that a macro and a declaration stand for, a build takes either.
        """
        callable_ = [hit for hit in found if self._kind(hit) in CALLABLE]
        if not callable_:
            return found
        here = [hit for hit in callable_ if hit.path == path and self.is_whole(hit)]
        if here:
            return here
        whole = [hit for hit in callable_ if self.is_whole(hit)]
        declared = [hit for hit in callable_ if not self.is_whole(hit)]
        if not declared or any(self._kind(hit) != "macro" for hit in whole):
            return whole or declared
        apart = self._apart(path, declared)
        if not apart and not whole:
            return self._different(declared)
        if self.view.languages.get(path) == "cpp":
            # What no file defines is of a library, and may be meant beside the others.
            told = {self._qualified(hit) for hit in whole + apart}
            alone = [hit for hit in declared if self._qualified(hit) not in told]
            apart += self._different(alone) if alone else []
        return whole + apart

    def _different(self, declared: list[Hit]) -> list[Hit]:
        """Of declarations one for each overload: in C there is one alone."""
        if self.view.languages.get(declared[0].path) != "cpp":
            return declared[:1]
        found: dict[tuple[str, ...], Hit] = {}
        for hit in declared:
            model = self.view.model(hit.path)
            signature = model.symbols[hit.symbol].signature if model is not None else ""
            taken = c_parameters(signature, hit.name) or ()
            found.setdefault(tuple(plain_parameter(one.type) for one in taken), hit)
        return list(found.values())

    def _apart(self, path: bytes, declared: list[Hit]) -> list[Hit]:
        """Definitions that are not included: of several those nearest to the declarations."""
        found = [
            hit
            for hit in self.index().names.get(declared[0].name, ())
            if self._kind(hit) in CALLABLE
            and self._kind(hit) != "macro"
            and self.is_whole(hit)
            and self._is_open(hit)
        ]
        if self.view.languages.get(declared[0].path) == "cpp":
            found = self._of_spaces(declared, found)
        if len(found) < 2:
            return found
        for near in ({folder_of(hit.path) for hit in declared}, {folder_of(path)}):
            beside = [hit for hit in found if folder_of(hit.path) in near]
            if beside:
                return beside
        return found

    def _of_spaces(self, declared: list[Hit], found: list[Hit]) -> list[Hit]:
        """Those in the namespaces of declarations; `void ns::f() {}` is in one as well."""
        spaces = {self._qualified(hit) for hit in declared}
        owners = {space.split(".")[-2] for space in spaces if space.count(".") > 1}
        methods = self.index().methods
        for owner in sorted(owners):
            found += [h for h in methods.get(owner, {}).get(declared[0].name, ()) if h not in found]
        return [hit for hit in found if self._qualified(hit) in spaces and self.is_whole(hit)]

    def others(self, path: bytes, hits: list[Hit]) -> int:
        """How many things of no view a name may mean besides: one, if libraries define it.

        Facts do not say on what conditions a header is included or defines a name: a wrapper of
        a function of the system is there for some systems only.
        """
        told = [hit for hit in hits if hit.symbol >= 0]
        if not told or told[0].name not in STANDARD or any(hit.path == path for hit in told):
            return 0
        return int(any(self._qualified(hit) == "." + hit.name for hit in told))

    def is_whole(self, hit: Hit) -> bool:
        """Whether it is defined there, not only declared."""
        model = self.view.model(hit.path)
        if model is None:
            return False
        return hit.symbol in model.own_scope or model.symbols[hit.symbol].kind == "macro"

    def _is_special(self, hit: Hit) -> bool:
        """A template for certain arguments: `struct hash<Foo>`."""
        model = self.view.model(hit.path)
        return model is not None and f" {hit.name}<" in model.symbols[hit.symbol].signature

    def is_outer(self, hit: Hit) -> bool:
        """Whether it stands in nothing but namespaces."""
        model = self.view.model(hit.path)
        return model is not None and _is_outer(model, hit.symbol)

    def _is_open(self, hit: Hit) -> bool:
        model = self.view.model(hit.path)
        return model is not None and model.symbols[hit.symbol].exported

    def _kind(self, hit: Hit) -> str:
        model = self.view.model(hit.path)
        return model.symbols[hit.symbol].kind if model is not None and hit.symbol >= 0 else ""

    def _in_scope(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        """As elsewhere; in a method defined outside its class, in the class as well."""
        hits = self._in_block(path, model, at, name, space)
        owner = self.owner(path, at) if model.scopes[at].symbol >= 0 and not hits else None
        return hits if owner is None else self.types.inherited(owner, name, space, arguments)

    def _in_block(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space
    ) -> list[Hit]:
        entry = model.names[at].get(name)
        if entry is not None and space == "call" and not entry.symbols:
            return [Hit(path, LOCAL, at, name)]
        return super()._in_block(path, model, at, name, space)

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        found = self.of_space(self.in_package(path, "", name), space)
        if space == "call" and model.language == "cpp":
            fitting = self.fitting(found, arguments)
            if fitting and all(self._kind(hit) in TYPES for hit in fitting):
                return self.one_a_file(fitting)
            if fitting and not any(self.is_whole(hit) for hit in fitting):
                fitting += self.fitting(self._of_other_spaces(path, fitting), arguments)
            return fitting or [hit for hit in found if self._kind(hit) == "macro"]
        if space == "type":
            return self.one_a_file(found)
        return found

    def one_a_file(self, types: list[Hit]) -> list[Hit]:
        """Definitions of a type before its declarations, each file's once: `typedef struct`."""
        whole = [hit for hit in types if self.is_whole(hit)]
        tagged = [hit for hit in whole if self._kind(hit) in _TAGGED]
        spaces = {self._qualified(hit) for hit in tagged}
        # `typedef struct Foo Foo;` is no other type.
        whole = [h for h in whole if h in tagged or self._qualified(h) not in spaces]
        if len(tagged) > 1 and any(self._is_special(hit) for hit in tagged):
            # Which specialisation is meant its arguments say, which are not compared.
            return whole
        return list({hit.path: hit for hit in reversed(whole)}.values())[::-1] or types[:1]

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """An include binds no name of its own."""
        return []


def _is_outer(model: FileModel, at: int) -> bool:
    """Whether a symbol stands in nothing but namespaces, or in types."""
    parent = model.symbols[at].parent
    while parent >= 0 and model.symbols[parent].kind == "module":
        parent = model.symbols[parent].parent
    return parent < 0 and model.symbols[at].kind not in {"module"}
