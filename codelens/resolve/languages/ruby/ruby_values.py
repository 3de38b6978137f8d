"""Ruby: constants by their nesting, methods of reopened classes, mixins.

Receivers are known where a value was made by `new`, is `self`, a constant, or an instance variable
that is given such a value; all else stays open.
"""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.name_lookup import LOCAL, Names, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Definition, Instance, Literal, Value, each, together
from codelens.resolve.languages.ruby.ruby_core_methods import CORE_METHODS
from codelens.resolve.languages.ruby.ruby_members import RubyMembers
from codelens.resolve.languages.ruby.ruby_takers import RubyTakers
from codelens.types import PROTOCOL, Reference

_CALLED = CALLABLE | {"property"}
_HOLDERS = TYPES | {"module"}
SETTER = "="
"""In place of arguments: the call is an assignment, `a.b = c` or `a.b += c`."""
_MOST_OF_A_NAME = 8
"""Methods: a use that may mean more of them by its name tells nothing."""


_THE_SAME = frozenset({"clone", "dup", "freeze", "itself", "tap"})
"""Methods of all objects that give what they are called on, or another like it."""


class RubyExpressions(Expressions):
    """Values of expressions, and what is called on them."""

    def __init__(self, resolver: Resolver, members: RubyMembers) -> None:
        super().__init__(resolver)
        self._members = members
        self._takers = RubyTakers(members)

    def _of_self(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Methods of that name of what `self` is at a place."""
        own = self._self(path, scope)
        if own is None:
            return []
        if isinstance(own, Definition):
            type_ = Instance(*own[:2])
            # A block in a class's body mostly runs for an instance: `it`, `before`, `get "/"`.
            return self._members.own_methods(type_, name) or self._members.methods(type_, name)
        return self._members.methods(own, name) or self._takers.methods(own, name)

    def _self(self, path: bytes, scope: int) -> Instance | Definition | None:
        """`self`: the class itself in its own methods and in its body."""
        own, model = self._members.own(path, scope), self.view.model(path)
        while model is not None and own is not None and scope > 0:
            here = model.scopes[scope]
            if here.kind == "class":
                return Definition(*own[:2])
            if here.kind == "function" and here.symbol >= 0:
                if self._is_of_another(model, scope):
                    return None
                alone = here.symbol in self._members.singletons(path, model)
                return Definition(*own[:2]) if alone else own
            scope = here.parent
        return own

    def _is_of_another(self, model: FileModel, scope: int) -> bool:
        """A method of a class that a method makes: `Class.new(Base) { def f; end }`."""
        around = model.scopes[scope].parent
        if around < 0 or model.scopes[around].kind != "block":
            return False
        holder = model.functions[around]
        return model.scopes[holder].kind == "function" and model.scopes[holder].symbol >= 0

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """What a name behind a receiver means."""
        scope, receiver, name = reference.scope, reference.receiver, reference.name
        if reference.kind == "type":
            return self._members.constant(path, scope, f"{receiver}.{name}".replace("::", "."))[:1]
        line = reference.line
        if reference.argument_lines == SETTER:
            setters = self.called_on(path, scope, receiver, f"{name}=", line=line)
            if setters:
                return setters
        return self.called_on(path, scope, receiver, name, line=line)

    def possible(self, path: bytes, reference: Reference) -> list[Referent]:
        """The methods that a use may mean by its name alone.

        The type of its receiver is unknown, or a type that `self` has its methods from.
        """
        name = reference.name
        if reference.argument_lines == SETTER:
            name += "="
        receiver = reference.receiver
        is_operator = reference.arguments == PROTOCOL
        if reference.kind != "call" or is_operator or name in CORE_METHODS:
            return []
        if receiver:
            value = self.value(path, reference.scope, receiver, reference.line)
            # Of a text or a number a view may have added the method to Ruby's own class.
            if value is not None and not isinstance(value, Literal):
                return []
        methods = self._members.named(name)
        return methods if len(methods) <= _MOST_OF_A_NAME else []

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """What a name without a receiver means."""
        scope, name, kind, symbol = (
            reference.scope,
            reference.name,
            reference.kind,
            reference.symbol,
        )
        model = self.view.model(path)
        if model is None:
            return []
        if kind == "type":
            return self._members.constant(path, scope, name)[:1]
        own = self._members.own(path, scope)
        if name == "super":
            method = model.symbols[symbol].name if symbol >= 0 else ""
            return self._above(path, scope, own, method) if own is not None else []
        if self._local(path, model, scope, name) is not None:
            return []
        referents = self._of_self(path, scope, name)
        if referents or name == "new":
            return referents or ([Referent(*own[:2])] if own is not None else [])
        outer = self._outer(path, model, scope, name)
        if outer or own is None or name in CORE_METHODS:
            return outer
        return self._members.added(own, name)

    def _above(self, path: bytes, scope: int, own: Instance, method: str) -> list[Referent]:
        """What `super` calls in a method."""
        if isinstance(self._self(path, scope), Definition):
            return [
                referent
                for base in self._members.superclasses(own)[:1]
                for referent in self._members.own_methods(base, method)
            ]
        methods = self._members.methods(own, method, above=True)
        return methods or self._takers.above(own, method)

    def _outer(self, path: bytes, model: FileModel, scope: int, name: str) -> list[Referent]:
        """A method that is defined in no class: of the innermost block around that has one.

        Else one of a file that is required, itself or by one that is.
        """
        functions = [
            at
            for at, symbol in enumerate(model.symbols)
            if symbol.name == name and symbol.parent < 0 and symbol.kind in CALLABLE
        ]
        alone = self._members.singletons(path, model)
        plain = [at for at in functions if at not in alone] or functions
        if not functions:
            return self._members.global_methods(path, name)
        around = {scope}
        while scope > 0:
            scope = model.scopes[scope].parent
            around.add(scope)
        places = {at: model.scopes[model.own_scope.get(at, 0)].parent for at in plain}
        seen = [at for at in plain if places[at] in around] or plain
        return [Referent(path, max(seen, key=lambda at: (places[at], at)), 0, name)] if seen else []

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, line: int
    ) -> list[Referent]:
        """Targets of `a.f`."""
        targets: list[Referent] = []
        for value in each(self.value(path, scope, receiver, line)):
            if isinstance(value, Definition):
                type_ = Instance(*value[:2])
                referents = self._members.own_methods(type_, name)
                referents = referents or self._takers.own_methods(type_, name)
                targets += referents or ([Referent(*value[:2])] if name == "new" else [])
            elif isinstance(value, Instance):
                targets += self._members.methods(value, name)
        return list(dict.fromkeys(targets))

    def _local(self, path: bytes, model: FileModel, scope: int, name: str) -> Referent | None:
        while scope > 0 and model.scopes[scope].kind != "class":
            entry = model.names[scope].get(name)
            if entry is not None and entry.rows:
                return Referent(path, LOCAL, scope, name)
            if model.scopes[scope].kind == "function" and model.scopes[scope].symbol >= 0:
                return None
            scope = model.scopes[scope].parent
        entry = model.names[0].get(name) if scope == 0 else None
        return Referent(path, LOCAL, 0, name) if entry is not None and entry.rows else None

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression."""
        if text.startswith("::"):
            scope, text = 0, text[2:]
        return super().value(path, scope, text.replace("::", "."), line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        if head[0] == "(":
            return super()._value(path, scope, taken, line)
        if head == "0":
            return Literal() if not rest else None
        at = 0
        if head[:1].isupper():
            name = head
            value: Value = self._constant_value(path, scope, name)
            while at < len(rest) and rest[at][:1].isupper():
                name = f"{name}.{rest[at]}"
                value = self._constant_value(path, scope, name)
                at += 1
        elif head == "self":
            value = self._self(path, scope)
        else:
            value = self._bare(path, scope, head, line)
        for step in rest[at:]:
            if value is None:
                return None
            if step != "()":
                value = together([self._sent(part, step) for part in each(value)])
        return value

    def _constant_value(self, path: bytes, scope: int, name: str) -> Value:
        referents = self._members.constant(path, scope, name)
        return Definition(referents[0].path, referents[0].symbol) if referents else None

    def _bare(self, path: bytes, scope: int, name: str, line: int) -> Value:
        """A local variable, else a method of `self`, else what is kept in `@name`."""
        model = self.view.model(path)
        if model is None:
            return None
        local = self._local(path, model, scope, name)
        if local is not None:
            return self._of_rows(local, line)
        own = self._self(path, scope)
        if own is None:
            outer = self._outer(path, model, scope, name)
            return self.resolver.result(*outer[0][:2], None) if outer else None
        if isinstance(own, Definition) and name != "new":
            type_ = Instance(*own[:2])
            if not self._members.own_methods(type_, name):
                return self._sent(type_, name)
        return self._sent(own, name)

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Definition):
            if name == "new":
                return Instance(*value[:2])
            type_ = Instance(*value[:2])
            referents = self._members.own_methods(type_, name)
            referents = referents or self._takers.own_methods(type_, name)
        elif isinstance(value, Instance):
            if name == "class":
                return Definition(*value[:2])
            type_ = value
            referents = self._members.methods(type_, name)
            if name in _THE_SAME and not referents:
                return value
        else:
            return None
        for referent in referents:
            model = self.view.model(referent.path)
            if model is not None and model.symbols[referent.symbol].kind in CALLABLE:
                return self.resolver.result(referent.path, referent.symbol, value)
        return self._attribute_value(type_, name)

    def _attribute_value(self, own: Instance, name: str) -> Value:
        """What an instance variable is given, in the places where its class is opened."""
        for referent in self._members.parts(self._members.qualified(own)):
            model = self.view.model(referent.path)
            rows = (
                model.attributes.get(referent.symbol, {}).get(name, []) if model is not None else []
            )
            for row in rows:
                value = (
                    self.value(referent.path, row.scope, row.text, row.line)
                    if row.how == "="
                    else None
                )
                if isinstance(value, Instance):
                    return value
        return None


def resolver(view: View) -> Resolver:
    """A resolver for the Ruby files of a view."""
    ruby = Resolver(view, Names(view))
    ruby.by_place = False
    members = RubyMembers(ruby)
    expressions = RubyExpressions(ruby, members)
    ruby.possible = expressions.possible
    return ruby.join(Annotations(ruby), members, Calls(ruby), expressions)
