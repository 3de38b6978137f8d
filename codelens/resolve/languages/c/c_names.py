"""Names of C and C++: through includes, definitions apart from their declarations.

A name counts where the file, or one that it includes, declares it; it means the definition if there
is one in the view. Static names are seen in their own file alone. Definitions of one name that
exclude each other, as a build takes one of them, are all given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.inference.name_lookup import LOCAL, Hit
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.c.c_standard_library import STANDARD
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.types import Import

LANGUAGES = frozenset({"c", "cpp"})


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
        if package:
            found = [hit for hit in found if self._qualified(hit).endswith(f"{package}.{name}")]
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
        return whole + apart if apart or whole else declared[:1]

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
        if len(found) < 2:
            return found
        for near in ({folder_of(hit.path) for hit in declared}, {folder_of(path)}):
            beside = [hit for hit in found if folder_of(hit.path) in near]
            if beside:
                return beside
        return found

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
            if fitting and not any(self.is_whole(hit) for hit in fitting):
                fitting += self.fitting(self._of_other_spaces(path, fitting), arguments)
            return fitting or [hit for hit in found if self._kind(hit) == "macro"]
        if space == "type":
            return self.one_a_file(found)
        return found

    def one_a_file(self, types: list[Hit]) -> list[Hit]:
        """Definitions of a type before its declarations, each file's once: `typedef struct`."""
        whole = [hit for hit in types if self.is_whole(hit)]
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
