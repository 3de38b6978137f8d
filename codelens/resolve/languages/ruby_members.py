"""Finds the members of Ruby classes: constants, methods of reopened classes, and mixins.

`include` adds instance methods, `prepend` puts them before the class's own, `extend` makes them
methods of the class itself. A module that calls `base.extend(M)` in `self.included(base)` extends
its includers with `M`. Likewise, an `ActiveSupport::Concern` passes on its `ClassMethods` and the
contents of `class_methods do`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.values import Instance
from codelens.types import Binding

_HOOKS = frozenset({"included", "prepended"})
_INCLUDING = frozenset({"include", "send", "__send__", "public_send"})


class Mixed(NamedTuple):
    """The mixins of a class or module in one file."""

    included: tuple[Binding, ...]
    prepended: tuple[Binding, ...]
    extended: tuple[Binding, ...]
    handed: tuple[tuple[int, str], ...]
    """Scope and name of modules that includers are extended with."""
    passed: tuple[tuple[int, str], ...]
    """Scope and name of modules that includers also include."""
    is_concern: bool


NOTHING_MIXED = Mixed((), (), (), (), (), is_concern=False)


def mixed(model: FileModel, symbol: int) -> Mixed:
    """Return the mixins of a class or module."""
    scope = model.own_scope.get(symbol)
    if scope is None:
        return NOTHING_MIXED
    rows = [row for row in model.of_scope.get(scope, ()) if row.how == "implements"]
    calls = {
        (reference.line, bool(reference.receiver))
        for reference in model.references
        if reference.name == "extend" and reference.kind == "call"
    }
    extended = tuple(row for row in rows if (row.line, False) in calls)
    handed = _in_hooks(model, symbol, scope, {line for line, owned in calls if owned})
    # `include` was private until Ruby 2.1: `base.send :include, M`; `extend` never was.
    including = {
        reference.line
        for reference in model.references
        if reference.name in _INCLUDING and reference.kind == "call" and reference.receiver
    }
    passed = _in_hooks(model, symbol, scope, including)
    concern = any(row.text.rpartition("::")[2] == "Concern" for row in extended)
    before = {
        reference.line
        for reference in model.references
        if reference.name == "prepend" and reference.kind == "call" and not reference.receiver
    }
    prepended = tuple(row for row in rows if row.line in before)
    others = (row for row in rows if row.line not in before)
    included = tuple(row for row in others if (row.line, False) not in calls)
    return Mixed(included, prepended, extended, handed, passed, concern)


def _in_hooks(
    model: FileModel, symbol: int, scope: int, lines: Set[int]
) -> tuple[tuple[int, str], ...]:
    """Return the modules named on those lines of the hooks that run on inclusion."""
    return tuple(
        (scope, f"{reference.receiver}.{reference.name}".strip("."))
        for reference in model.references
        if reference.kind == "type"
        and reference.line in lines
        and reference.symbol >= 0
        and model.symbols[reference.symbol].parent == symbol
        and model.symbols[reference.symbol].name in _HOOKS
    )


def singletons(model: FileModel) -> frozenset[int]:
    """Return the methods of classes or modules themselves: `def self.f`, `class << self`."""
    methods = {
        at
        for at, symbol in enumerate(model.symbols)
        if symbol.signature.startswith("def ")
        and f".{symbol.name}" in symbol.signature[:200]
        and symbol.signature[4:].lstrip().partition(".")[2].startswith(symbol.name)
    }
    for row in model.bindings:
        scope = model.scopes[row.scope]
        if row.how == "def" and scope.kind == "class" and scope.symbol < 0:
            methods.add(int(row.text))
    for at, own in model.own_scope.items():
        around = model.scopes[own].parent
        if around >= 0 and model.scopes[around].kind == "class" and model.scopes[around].symbol < 0:
            methods.add(at)
    return frozenset(methods)


def class_methods(model: FileModel, symbol: int) -> frozenset[int]:
    """Return the methods in `class_methods do` of a concern."""
    lines = {
        reference.line
        for reference in model.references
        if reference.name == "class_methods"
        and reference.kind == "call"
        and reference.symbol == symbol
    }
    if not lines:
        return frozenset()
    return frozenset(
        int(row.text)
        for row in model.bindings
        if row.how == "def"
        and model.scopes[row.scope].kind == "block"
        and model.symbols[int(row.text)].parent == symbol
        and model.symbols[int(row.text)].name_line > min(lines)
    )


# The methods of `self` in a module: those of the classes that mix the module in.

_MOST_TAKERS = 100
"""If more types and modules include a module, their methods are not considered."""

_Takers = dict[tuple[bytes, int], list[Instance]]


class RubyTakers:
    """Finds methods in the types that include a module or derive from a type."""

    def __init__(self, members: RubyMembers) -> None:
        self._members = members
        self.view, self.once = members.view, members.once

    def methods(self, own: Instance, name: str) -> list[Referent]:
        """Return the instance methods of the takers.

        `Helpers#port` calls `host` of `Env` if some class includes both. If a class is extended
        with the module, `self` is the class.
        """
        return self.once(("below", own[:2], name), lambda: self._methods(own, name), [])

    def _methods(self, own: Instance, name: str) -> list[Referent]:
        found_methods = [
            referent
            for type_ in self._below(own)
            for referent in self._members.methods(type_, name)
        ]
        extended = self.view.index("ruby extended", self._extended).get(own[:2], [])
        for type_ in extended if len(extended) <= _MOST_TAKERS else ():
            found_methods += self._members.own_methods(type_, name)
        return list(dict.fromkeys(found_methods))

    def own_methods(self, own: Instance, name: str) -> list[Referent]:
        """Return the methods of the takers themselves: `self.class.f` in a module."""
        return self.once(("below itself", own[:2], name), lambda: self._own_methods(own, name), [])

    def _own_methods(self, own: Instance, name: str) -> list[Referent]:
        if not self._members.is_module(own):
            return []
        methods = (
            referent
            for type_ in self._below(own)
            for referent in self._members.own_methods(type_, name)
        )
        return list(dict.fromkeys(methods))

    def above(self, own: Instance, name: str) -> list[Referent]:
        """Return what `super` in a module's method calls: the next method of its includers."""
        return self.once(("above takers", own[:2], name), lambda: self._above(own, name), [])

    def _above(self, own: Instance, name: str) -> list[Referent]:
        methods: dict[Referent, None] = {}
        for type_ in self._below(own):
            ancestry = self._members.ancestry(type_)
            behind = ancestry[ancestry.index(own) + 1 :] if own in ancestry else []
            for above in behind:
                referents = self._members.in_parts(above, name, singleton=False)
                if referents:
                    methods |= dict.fromkeys(referents)
                    break
        return list(methods)

    def _below(self, own: Instance) -> list[Instance]:
        """Return all direct and indirect takers of a module or type; empty if too many."""
        takers = self.view.index("ruby takers", self._including_types)
        line = [own]
        for type_ in line:
            line += [taker for taker in takers.get(type_[:2], ()) if taker not in line]
            if len(line) > _MOST_TAKERS:
                return []
        return line[1:]

    def _types(self) -> Iterator[Instance]:
        index = self.view.index("ruby constants", self._members.constants)
        return (Instance(*referents[0][:2]) for referents in index.values())

    def _including_types(self) -> _Takers:
        """Return module or type -> the types and modules that include or derive from it."""
        takers: _Takers = {}
        for taker in self._types():
            for base in self._members.bases(taker):
                takers.setdefault(base[:2], []).append(taker)
        return takers

    def _extended(self) -> _Takers:
        """Return module -> the types and modules that are extended with it."""
        extended: _Takers = {}
        for taker in self._types():
            for module in self._members.extensions(taker):
                extended.setdefault(module[:2], []).append(taker)
        return extended


# Constants by nesting, and members of reopened classes.

_CALLED = CALLABLE | {"property"}
_HOLDERS = TYPES | {"module"}
_MOST_REQUIRED = 200
"""The most directly or indirectly required files to search."""
_MOST_INCLUDED = 100
"""The most modules that one module includes, directly or indirectly."""


class RubyMembers(Members):
    """Finds constants, and the members of classes wherever they are opened."""

    def constants(self) -> dict[str, list[Referent]]:
        """Return qualified name -> the places that open it."""
        by_name: dict[str, list[Referent]] = {}
        for path, model in self.view.of_languages({"ruby"}):
            for at, symbol in enumerate(model.symbols):
                if symbol.kind in _HOLDERS:
                    name = symbol.qualified.replace("::", ".")
                    by_name.setdefault(name, []).append(Referent(path, at, 0, symbol.name))
        return by_name

    def parts(self, qualified: str) -> list[Referent]:
        """Return all places that open a class or module."""
        return self.view.index("ruby constants", self.constants).get(qualified, [])

    def constant(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a constant's path.

        The lookup goes through the enclosing modules, innermost first, then through the ancestors
        of the innermost one, then the top level.
        """
        model = self.view.model(path)
        if name.startswith("."):
            # `::A` starts at the top level.
            return self.parts(name[1:])
        innermost = around = self._around(model, scope)
        while around:
            referents = self.parts(f"{around}.{name}")
            if referents:
                return referents
            around = around.rpartition(".")[0]
        return self._inherited(innermost, name) or self.parts(name)

    def _inherited(self, qualified: str, name: str) -> list[Referent]:
        """Return a constant from the ancestors of a type, nearest first."""
        places = self.parts(qualified)
        own = Instance(*places[0][:2]) if places else None
        for base in self.ancestry(own)[1:] if own is not None else ():
            referents = self.parts(f"{self.qualified(base)}.{name}")
            if referents:
                return referents
        return []

    def _around(self, model: FileModel, scope: int) -> str:
        while scope > 0:
            symbol = model.scopes[scope].symbol
            if symbol >= 0 and model.symbols[symbol].kind not in _HOLDERS:
                # The block of `A = Struct.new(:a) do ... end` is not a class scope.
                symbol = self._made_by_block(model, symbol)
            if symbol >= 0:
                return model.symbols[symbol].qualified.replace("::", ".")
            scope = model.scopes[scope].parent
        return ""

    def _made_by_block(self, model: FileModel, symbol: int) -> int:
        parent = model.symbols[symbol].parent
        is_made = (
            parent >= 0 and model.symbols[parent].kind in _HOLDERS and parent not in model.own_scope
        )
        return parent if is_made else -1

    def own(self, path: bytes, scope: int) -> Instance | None:
        """Return an instance of the type around a scope."""
        referents = self.parts(self._around(self.view.model(path), scope))
        return Instance(referents[0].path, referents[0].symbol) if referents else None

    def qualified(self, own: Instance) -> str:
        """Return the qualified name of a class or module, with dots between the parts."""
        return self.view.symbol(own).qualified.replace("::", ".")

    def bases(self, own: Instance) -> list[Instance]:
        """Return the mixins and the superclass from all places that open the class."""
        return list(dict.fromkeys(self._included(own) + self.superclasses(own)))

    def superclasses(self, own: Instance) -> list[Instance]:
        """Return the superclass, from all places that open the class."""
        bases: list[Instance] = []
        for referent in self.parts(self.qualified(own)):
            model = self.view.model(referent.path)
            scope = model.own_scope.get(referent.symbol)
            if scope is None:
                continue
            for row in model.of_scope.get(scope, ()):
                if row.how == "base":
                    bases += self._named_in(
                        referent.path, model.scopes[scope].parent, row.text, own
                    )
        return bases

    def _included(self, own: Instance) -> list[Instance]:
        """Return the modules that a class or module includes, directly or through a hook."""
        modules = self._named_included(own)
        for module in modules:
            for part in self.parts(self.qualified(module)) if len(modules) < _MOST_INCLUDED else ():
                for scope, name in reversed(self._mixed(part).passed):
                    passed = self._named_in(part.path, scope, name, own)
                    modules += [taken for taken in passed if taken not in modules]
        return modules

    def _named_included(self, own: Instance) -> list[Instance]:
        # The last `include` comes first; in `include A, B` it is A.
        return [
            base
            for referent in self.parts(self.qualified(own))
            for row in sorted(self._mixed(referent).included, key=lambda row: -row.line)
            for base in self._named_in(referent.path, row.scope, row.text, own)
        ]

    def _named_in(self, path: bytes, scope: int, text: str, but: Instance) -> list[Instance]:
        referents = self.constant(path, scope, text.replace("::", "."))[:1]
        return [Instance(*referent[:2]) for referent in referents if referent[:2] != but[:2]]

    def _mixed(self, referent: Referent) -> Mixed:
        model = self.view.model(referent.path)
        key = ("mixed", *referent[:2])
        return self.once(key, lambda: mixed(model, referent.symbol), NOTHING_MIXED)

    def extensions(self, own: Instance) -> list[Instance]:
        """Return the modules that extend a class: by `extend`, or through an included module."""
        modules: list[Instance] = []
        for referent in self.parts(self.qualified(own)):
            for row in self._mixed(referent).extended:
                modules += self._named_in(referent.path, row.scope, row.text, own)
        for module in self._included(own):
            for part in self.parts(self.qualified(module)):
                mixins = self._mixed(part)
                for scope, name in mixins.handed:
                    modules += self._named_in(part.path, scope, name, own)
                if mixins.is_concern:
                    modules += self._named_in(
                        part.path, 0, f"{self.qualified(module)}.ClassMethods", own
                    )
        return list(dict.fromkeys(modules))

    def methods(self, own: Instance, name: str, *, above: bool = False) -> list[Referent]:
        """Return the methods of that name of the nearest class or module that has any.

        With `above`, the methods that a class prepends do not count: they come before its own.
        """
        for type_ in self.ancestry(own)[above:]:
            referents = self._prepended(type_, name)
            referents = referents or self.in_parts(type_, name, singleton=False)
            if referents:
                return referents
        return []

    def variables(self, own: Instance, name: str) -> list[Referent]:
        """Return an instance variable where the first class of a line sets it or has its accessors.

        A subclass that also sets it shares the variable.
        """
        for type_ in reversed(self.ancestry(own)):
            referents = [
                Referent(part.path, at, 0, name)
                for part in self.parts(self.qualified(type_))
                for at, symbol in enumerate(self.view.model(part.path).symbols)
                if symbol.name == name
                and symbol.parent == part.symbol
                and symbol.kind in {"field", "property"}
            ]
            if referents:
                return referents
        return []

    def _prepended(self, own: Instance, name: str) -> list[Referent]:
        for referent in self.parts(self.qualified(own)):
            for row in reversed(self._mixed(referent).prepended):
                for module in self._named_in(referent.path, row.scope, row.text, own):
                    methods = self.in_parts(module, name, singleton=False)
                    if methods:
                        return methods
        return []

    def global_methods(self, path: bytes, name: str) -> list[Referent]:
        """Return the method of that name outside of all types, from the nearest required file."""
        methods = self.view.index("ruby globals", self._globals).get(name)
        if methods is None:
            return []
        files = [path]
        for file in files:
            if file in methods:
                return [methods[file]]
            for import_ in self.view.model(file).imports if len(files) < _MOST_REQUIRED else ():
                files += [at for at in self.view.modules(file, import_.module) if at not in files]
        return []

    def _globals(self) -> dict[str, dict[bytes, Referent]]:
        by_name: dict[str, dict[bytes, Referent]] = {}
        for path, model in self.view.of_languages({"ruby"}):
            for at, symbol in enumerate(model.symbols):
                if symbol.parent >= 0 or symbol.kind not in CALLABLE:
                    continue
                # `RSpec.configure do |config| def capture ...` also defines a method of all
                # objects.
                nested = in_block(model, at, 1)
                by_file = by_name.setdefault(symbol.name, {})
                if not nested and (path not in by_file or not in_block(model, at)):
                    by_file[path] = Referent(path, at, 0, symbol.name)
        return by_name

    def added(self, own: Instance, name: str) -> list[Referent]:
        """Return the only method of that name that the view adds to the library base of `own`.

        The includes of library classes are unknown: `module Minitest::Assertions` in a test helper
        adds methods to all classes derived from `Minitest::Test`.
        """
        roots = {root for type_ in self.ancestry(own) for root in self._roots(type_)}
        methods = [
            referent
            for referent in self.named(name)
            if self.view.symbol(referent).qualified.partition(".")[0] in roots
        ]
        return methods if len(methods) == 1 else []

    def _roots(self, type_: Instance) -> list[str]:
        """Return the outermost names of a type's superclasses, as written."""
        roots: list[str] = []
        for referent in self.parts(self.qualified(type_)):
            model = self.view.model(referent.path)
            scope = model.own_scope.get(referent.symbol, -1)
            rows = model.of_scope.get(scope, ())
            texts = [row.text for row in rows if row.how == "base"]
            roots += [re.split(r"::|\.", text.removeprefix("::"))[0] for text in texts]
        return roots

    def named(self, name: str) -> list[Referent]:
        """Return all instance methods of that name."""
        return self.view.index("ruby methods", self._by_name).get(name, [])

    def _by_name(self) -> dict[str, list[Referent]]:
        by_name: dict[str, list[Referent]] = {}
        for path, model in self.view.of_languages({"ruby"}):
            alone = self.singletons(path, model)
            for at, symbol in enumerate(model.symbols):
                if symbol.kind in CALLABLE and symbol.parent >= 0 and at not in alone:
                    by_name.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
        return by_name

    def own_methods(self, own: Instance, name: str) -> list[Referent]:
        """Return the singleton methods of that name from the nearest ancestor that has any."""
        for type_ in self._lineage(own):
            referents = self.in_parts(type_, name, singleton=True)
            for module in self.extensions(type_) if not referents else ():
                referents = referents or self.methods(module, name)
            if not referents and type_ is own and self.is_module(own):
                # `module_function`, `extend self`.
                referents = self.in_parts(own, name, singleton=False)
            if referents:
                return referents
        return self._of_concerns(own, name)

    def _lineage(self, own: Instance) -> list[Instance]:
        line = [own]
        for type_ in line:
            line += [base for base in self.superclasses(type_)[:1] if base not in line]
        return line

    def _of_concerns(self, own: Instance, name: str) -> list[Referent]:
        for module in self._included(own):
            for referent in self.parts(self.qualified(module)):
                model = self.view.model(referent.path)
                places = model.children.get(referent.symbol, {}).get(name, ())
                if not places or not self._mixed(referent).is_concern:
                    continue
                methods = [at for at in places if at in class_methods(model, referent.symbol)]
                if methods:
                    return [Referent(referent.path, methods[-1], 0, name)]
        return []

    def is_module(self, own: Instance) -> bool:
        """Whether a type is a module, not a class."""
        return self.view.symbol(own).kind == "module"

    def in_parts(self, own: Instance, name: str, *, singleton: bool) -> list[Referent]:
        """Return the methods of a class or module without its ancestors, from all its places."""
        for referent in self.parts(self.qualified(own)):
            model = self.view.model(referent.path)
            places = model.children.get(referent.symbol, {}).get(name, ())
            if not places:
                continue
            alone = self.singletons(referent.path, model)
            methods = [
                at
                for at in places
                if model.symbols[at].kind in _CALLED and (at in alone) is singleton
            ]
            # `attr_accessor :a` next to `def a` provides only the setter.
            methods = [at for at in methods if model.symbols[at].kind in CALLABLE] or methods
            # A method defined in a block usually belongs to the object that the block creates.
            direct = [at for at in methods if not in_block(model, at)]
            if methods:
                chosen = _alternatives(model, direct or methods)
                return [Referent(referent.path, at, 0, name) for at in chosen]
        return []

    def singletons(self, path: bytes, model: FileModel) -> frozenset[int]:
        """Return the methods of a file that belong to classes and modules themselves."""
        return self.once(("singletons", path), lambda: singletons(model), frozenset())


def _alternatives(model: FileModel, methods: list[int]) -> list[int]:
    """Return the effective ones of the methods of one name in one class: the last.

    Several `def` directly in the class all count: Ruby warns of redefinitions, so a condition
    probably selects one.
    """
    written = [at for at in methods if model.symbols[at].signature.startswith("def ")]
    return written if len(written) > 1 and written[-1] == methods[-1] else methods[-1:]


def in_block(model: FileModel, symbol: int, below: int = 0) -> bool:
    """Whether a method is defined in a block: `Class.new do def f; end end`.

    Args:
        model: the model of the method's file.
        symbol: the method.
        below: the minimum number of blocks around that block.
    """
    around = model.scopes[model.own_scope.get(symbol, 0)].parent
    for _ in range(below):
        if around < 0 or model.scopes[around].kind != "block":
            return False
        around = model.scopes[around].parent
    return around >= 0 and model.scopes[around].kind == "block"
