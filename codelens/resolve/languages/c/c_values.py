"""Values in C and C++: by declared types, methods apart from their classes."""

from __future__ import annotations

import re
from functools import lru_cache

from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.expression_values import steps
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Definition, Instance, Value, together
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_names import Space, builds
from codelens.resolve.languages.classes.class_values import ClassCalls, ClassExpressions

_WORDS = re.compile(r"\b(?:const|volatile|struct|class|enum|union|typename|static|inline)\b\s*")
_HOLDING = re.compile(
    r"\b(?:std(?:::|\.))?(?:unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper)\s*<(.+)>\s*$"
)
_LISTS = frozenset(
    {"vector", "list", "deque", "array", "set", "unordered_set", "span", "initializer_list"}
)
_GIVES = frozenset({"front", "back", "at", "top"})
_HELD = frozenset({"get", "value", "lock", "value_or"})


@lru_cache(maxsize=20_000)
def c_type(text: str) -> str:
    """A type of C or C++ as one that `codelens.resolve.inference.type_text` reads.

    Pointers and references stand for what they hold.
    """
    text = _WORDS.sub("", text).strip().rstrip("*& ").strip()
    held = _HOLDING.search(text)
    if held is not None and text.startswith(held[0][:3]):
        return c_type(held[1])
    return text.removeprefix("::").replace("::", ".").replace("*", "").replace("&", "")


class CAnnotations(Annotations):
    """Types as C++ writes them."""

    names: CNames

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's name means, with the names of its namespaces before it or without."""
        package, _, last = name.rpartition(".")
        if not package:
            found = self.names.find(path, scope, last, "type")
            if not found or found[0].symbol < 0 or not self.names.is_outer(found[0]):
                return found
            near = self.names.of_space(self.names.nearest(path, scope, last), "type")
            return self.names.one_a_file(near) or found
        hits = self.names.of_space(self.names.in_package(path, package, last), "type")
        if hits:
            return self.names.one_a_file(hits)
        inner: list[Hit] = []
        for hit in self.named_type(path, scope, package):
            model = self.view.model(hit.path)
            places = model.children.get(hit.symbol, {}).get(last, ()) if model is not None else ()
            inner += [Hit(hit.path, at, 0, last) for at in places]
        return self.names.of_space(inner, "type")

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type as C++ writes it."""
        return super().of_type(path, scope, c_type(text), me)

    def typed(self, hit: Hit, args: tuple[Value, ...], me: Value) -> Value:
        """A value of a type, with arguments, as it is said of a value."""
        model = self.view.model(hit.path)
        if model is not None and hit.symbol >= 0 and model.symbols[hit.symbol].kind == "type":
            scope = model.own_scope.get(hit.symbol)
            rows = model.of_scope.get(scope, ()) if scope is not None else ()
            for row in rows:
                if row.how == "alias" and scope is not None:
                    made = self.of_type(hit.path, model.scopes[scope].parent, row.text)
                    return made if made is not None else Instance(hit.path, hit.symbol, args)
        return super().typed(hit, args, me)


class CMembers(ClassMembers):
    """Members of classes, with what is defined apart from them."""

    def __init__(self, resolver: Resolver, names: CNames) -> None:
        super().__init__(resolver)
        self._c = names

    def owner(self, path: bytes, scope: int) -> Instance | None:
        """The class of a method that is defined outside of it: `void Foo::f() {}`."""
        model = self.view.model(path)
        if model is None:
            return None
        symbol = model.symbols[model.scopes[scope].symbol]
        if symbol.kind not in CALLABLE or not model.is_outside_member(symbol):
            return None
        owner = symbol.qualified.rpartition(".")[0]
        hits = self.resolver.named_type(path, 0, owner) if owner else []
        return Instance(*hits[0][:2]) if hits else None

    def line_members(
        self,
        value: Value,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Hit]:
        """As elsewhere; of a method the place where it is defined."""
        found = super().line_members(value, name, space, arguments, strict=strict)  # type: ignore[arg-type]
        return [self._whole(hit) for hit in found]

    def _whole(self, hit: Hit) -> Hit:
        """Where a method is defined, if that is apart from its class."""
        model = self.view.model(hit.path)
        if model is None or self._c.is_whole(hit) or model.symbols[hit.symbol].kind not in CALLABLE:
            return hit
        symbol = model.symbols[hit.symbol]
        owner = model.symbols[symbol.parent].name if symbol.parent >= 0 else ""
        apart = [
            one
            for one in self._c.index().methods.get(owner, {}).get(symbol.name, ())
            if self._c.is_whole(one)
            and (one.path == hit.path or hit.path in self._c.reach(one.path))
        ]
        if len(apart) > 1:
            same = self.names.arity(hit)
            apart = [one for one in apart if self.names.arity(one).most == same.most]
        return apart[0] if len(apart) == 1 else hit


class CCalls(ClassCalls):
    """What calls give."""

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        found = super()._result(path, symbol, me)
        model = self.view.model(path)
        if found is not None or model is None or symbol in model.own_scope:
            return found
        one = model.symbols[symbol]
        for row in model.bindings:
            if row.line == one.name_line and row.name == one.name and row.how == ":":
                return self.resolver.of_type(path, row.scope, row.text, me)
        return None

    def element(self, value: Value, step: str) -> Value:
        """An element of a value, by `[]` or by a loop (`[*]`)."""
        if isinstance(value, Instance):
            # Of a pointer what it points to; there is no telling it from an array.
            return value
        if isinstance(value, Container) and value.name.rpartition(".")[2] in _LISTS:
            return value.args[0] if value.args else None
        return super().element(value, step)


class CExpressions(ClassExpressions):
    """Values of expressions and variables."""

    _members: CMembers

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`this`."""
        model = self.view.model(path)
        while model is not None and scope > 0:
            one = model.scopes[scope]
            if one.kind == "class":
                return self._members.instance_of_scope(path, scope)
            owner = self._members.owner(path, scope) if one.symbol >= 0 else None
            if owner is not None:
                return owner
            scope = one.parent
        return None

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, line: int, arguments: int
    ) -> list[Hit]:
        """Targets of `a.f()`, `a->f()`, and `ns::f()`."""
        found = self.taking(self.value(path, scope, receiver, line), name, arguments)
        if found:
            return found
        plain = receiver.replace("::", ".")
        if not plain.replace(".", "").isidentifier():
            return []
        hits = self.names.of_space(self.names.in_package(path, plain, name), "call")
        fitting = self.names.fitting(hits, arguments)
        kept: list[Hit] = []
        for hit in fitting:
            model = self.view.model(hit.path)
            if model is not None and not builds(model, hit.symbol):
                kept.append(hit)
        return kept

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression."""
        text = text.replace("::", ".")
        found = super().value(path, scope, text, line)
        return found if found is not None else self._by_namespace(path, text)

    def _by_namespace(self, path: bytes, text: str) -> Value:
        """`ns.Foo`, `ns.make()`: the longest name in front that is a type or function."""
        taken = steps(text)
        if taken is None:
            return None
        head, rest = taken
        parts = [head]
        for at, step in enumerate(rest):
            if step in {"()", "[]", "[*]"}:
                return None
            parts.append(step)
            calls = rest[at + 1 : at + 2] == ("()",)
            hits = self.names.in_package(path, ".".join(parts[:-1]), step)
            value: Value = None
            if calls:
                found = self.names.of_space(hits, "call")
                value = together([self._given(hit, None) for hit in found[:1]])
            else:
                found = self.names.of_space(hits, "type")
                value = Definition(*found[0][:2]) if found else None
            if value is not None:
                for further in rest[at + 1 + calls :]:
                    value = self._step(value, further)
                return value
        return None

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            kind = value.name.rpartition(".")[2]
            return value.args[0] if value.args and kind in _LISTS and name in _GIVES else None
        found = super()._sent(value, name)
        return value if found is None and name in _HELD and isinstance(value, Instance) else found


def resolver(view: View) -> Resolver:
    """A resolver for the files of C and C++ of a view."""
    names = CNames(view)
    found = Resolver(view, names)
    members = names.types = CMembers(found, names)
    names.owner = members.owner
    found.others = names.others
    return found.join(CAnnotations(found), members, CCalls(found), CExpressions(found, members))
