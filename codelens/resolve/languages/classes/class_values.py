"""Evaluates expressions by declared types in Java, Kotlin, C#, PHP and C++."""

from __future__ import annotations

import re

from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import OWN, Calls, handed
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Type
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Super,
    Value,
    each,
    together,
)
from codelens.resolve.languages.classes.class_members import ClassCallbackParameters, ClassMembers
from codelens.resolve.languages.classes.class_names import ONE_SPACE, ClassNames, Space
from codelens.resolve.languages.classes.class_types import (
    ENTRY,
    ENUM_METHODS,
    INDEXER,
    MAPS,
    PROPERTIES,
    awaited,
    class_type,
    of_collection,
    result_of_any_method,
)
from codelens.resolve.languages.classes.overloads import Overloads
from codelens.resolve.view_files import View
from codelens.types import CASE, PROTOCOL, ROOT, Reference

_PACKAGE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_TYPED = frozenset({"java", "kotlin", "csharp"})
_ABOVE = {"csharp": "base", "php": "parent"}
"""The keyword for the base class, in addition to `super`."""
_ELEMENTS = {
    "csharp": (("this",), ("GetEnumerator", "Current")),
    "kotlin": (("get",), ("iterator", "next")),
}
"""Members that return an element by key, and one by iteration."""
_MAKING = {
    "csharp": {"this": False, "base": True},
    "java": {"this": False, "super": True},
    "php": {"self": False, "static": False, "parent": True},
}
"""Keywords that construct the enclosing class or its base: `super(x)`, `new self`."""
_ANY = frozenset({"var", "val", "dynamic", "any", "void", "Unit", "this"})
"""Words in place of a type that do not name a type."""


class ClassAnnotations(Annotations):
    """Evaluates types of class-based languages."""

    names: ClassNames

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """Return a value of a type in the syntax of these languages."""
        if text.startswith(ROOT):
            package, _, name = text[1:].replace(ROOT, ".").rpartition(".")
            referents = self.names.of_space(self.names.in_package(path, package, name), "type")
            return self.typed(referents[0], (), me) if referents else None
        return super().of_type(path, scope, class_type(text), me)

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        """Return a value of a type outside of the view, of which only the name is known."""
        if name.rpartition(".")[2] == "Optional" and args:
            # In Python it is a union; here the value must be unwrapped.
            return Container("Optional", (self._of(path, scope, args[0], me),))
        value = super()._foreign(path, scope, name, args, me)
        typed = self.view.languages.get(path) in _TYPED and name not in _ANY
        return Container(name, ()) if value is None and not args and typed else value

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """Return a value of a type with type arguments, as an annotation denotes it."""
        count = self.names.generics(referent)
        if count >= 0 and count != len(args):
            referent = next(
                (
                    other
                    for other in self._same_named(referent)
                    if self.names.generics(other) == len(args)
                ),
                referent,
            )
        return super().typed(referent, args, me)

    def _same_named(self, referent: Referent) -> list[Referent]:
        """Return types of the same name in the same place."""
        model = self.view.model(referent.path)
        parent = model.symbols[referent.symbol].parent
        if parent < 0 or model.symbols[parent].kind not in TYPES:
            return self.names.parts(self.names.package(referent.path), referent.name)
        return [
            Referent(referent.path, at, referent.scope, referent.name)
            for at in model.children.get(parent, {}).get(referent.name, ())
        ]

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a type name, which may include its package."""
        referents = super().named_type(path, scope, name)
        package, dot, last = name.rpartition(".")
        if referents or not dot:
            return referents
        return self.names.of_space(self.names.in_package(path, package, last), "type")


class ClassCalls(Calls):
    """Infers the results of calls, and elements of collections."""

    def element(self, value: Value, step: str) -> Value:
        """Return an element of a value, by `[]` or by iteration (`[*]`)."""
        if isinstance(value, Container) and value.args and value.name in MAPS:
            return value.args[-1] if step == "[]" else Container(ENTRY, value.args)
        ways = self._element_steps(value)
        if ways:
            part = value
            for name in ways[step == "[*]"]:
                part = self.resolver.member_value(part, name)
                part = self.resolver.called(part) if isinstance(part, Definition) else part
            if part is not None:
                return part
        return super().element(value, step)

    def _element_steps(self, value: Value) -> tuple[tuple[str, ...], ...]:
        language = self.view.languages.get(value.path) if isinstance(value, Instance) else None
        return _ELEMENTS.get(language or "", ())


class ClassExpressions(Expressions):
    """Evaluates expressions and variables."""

    names: ClassNames

    def __init__(self, resolver: Resolver, members: ClassMembers) -> None:
        super().__init__(resolver)
        self._members = members
        self._callbacks = ClassCallbackParameters(resolver, members)

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """Return the scope that decides what a name means, and whether that varies by line."""
        model = self.view.model(path)
        if head[0] in "(`0":
            return scope, True
        outside = model.language in {"c", "cpp"}
        return model.bound_at(
            scope, head.replace("$", ""), lambda inner: outside and inner.symbol >= 0
        )

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name without a receiver."""
        scope, name, kind, arguments = (
            reference.scope,
            reference.name,
            reference.kind,
            reference.arguments,
        )
        if kind == "call":
            making = _MAKING.get(self.view.languages.get(path, ""), {})
            if name in making:
                return self._made_class(path, scope, above=making[name])
            referents = self.names.find(path, scope, name, "call", arguments)
            return referents or self._callable_value(path, scope, name)
        if kind == "type":
            return self.names.find(path, scope, name, "type")
        referents = self.names.lookup(path, scope, name)
        return referents or self.names.find(path, scope, name, "call")

    def _made_class(self, path: bytes, scope: int, *, above: bool) -> list[Referent]:
        own = self.instance_around(path, scope)
        if not isinstance(own, Instance):
            return []
        if not above:
            return [Referent(own.path, own.symbol)]
        for base in self._members.bases(own):
            if self.view.symbol(base).kind in {"class", "struct"}:
                return [Referent(base.path, base.symbol)]
        return []

    def _callable_value(self, path: bytes, scope: int, name: str) -> list[Referent]:
        if self.view.model(path).language not in ONE_SPACE:
            return []
        return self.names.find(path, scope, name, "value")

    def taking(self, value: Value, name: str, arguments: int) -> list[Referent]:
        """Return the members of that name that accept the arguments, from the nearest type."""
        methods: list[Referent] = []
        for part in each(value):
            if isinstance(part, Instance | Definition | Super):
                referents = self._members.line_members(part, name, "call", arguments, strict=False)
                methods += referents or self._members.extensions(part, name)
        return list(dict.fromkeys(methods))

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver."""
        if reference.receiver[:1] == ROOT:
            space: Space = "type" if reference.kind == "type" else "call"
            package = reference.receiver[1:]
            return self.names.of_space(self.names.in_package(path, package, reference.name), space)
        if reference.kind != "call":
            referents = super().member_of(path, reference)
            if not referents and reference.argument_lines == CASE:
                return self.meant(path, reference._replace(receiver="", argument_lines=""))
            if (
                not referents
                and reference.kind == "name"
                and _PACKAGE.fullmatch(reference.receiver)
            ):
                # `a.b.C.m()` names a type as a package has it, without an import.
                return super().member_of(path, reference._replace(kind="type"))
            return referents
        if reference.arguments == PROTOCOL and self.view.languages.get(path) == "csharp":
            return self._operators(path, reference)
        return self.called_on(
            path,
            reference.scope,
            reference.receiver,
            reference.name,
            line=reference.line,
            arguments=-1 if reference.arguments == PROTOCOL else reference.arguments,
        )

    def _operators(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the C# operators that any operand's type may define; an indexer is a property."""
        name, space = reference.name, None if reference.name == INDEXER else "call"
        operands = [reference.receiver]
        if not name.isidentifier():
            operands += [line for line in reference.argument_lines.split("\n") if line[:1] != "'"]
        for text in dict.fromkeys(filter(None, operands)):
            for part in each(self.value(path, reference.scope, text, reference.line)):
                if isinstance(part, Instance):
                    members = self._members.line_members(part, name, space, -1)
                    if members and name == INDEXER and self.resolver.overloads is not None:
                        return self.resolver.overloads(path, reference, members)
                    if members:
                        return members
        return []

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, *, line: int, arguments: int
    ) -> list[Referent]:
        """Return the targets of a call on a receiver."""
        return self.taking(self.value(path, scope, receiver, line), name, arguments)

    def instance_around(self, path: bytes, scope: int) -> Value:
        """Return `this`."""
        model = self.view.model(path)
        while scope >= 0:
            if model.scopes[scope].kind == "class":
                return self._members.instance_of_scope(path, scope)
            scope = model.scopes[scope].parent
        return None

    def _from_rows(self, referent: Referent, line: int) -> Value:
        """Return a variable's value by the type in its last declaration before the use."""
        if self.view.languages.get(referent.path) == "php":
            # A loop binds its variable on the line of its use.
            here = [row for row in self.names.rows(referent) if row.line == line]
            if any(row.how == "?" or row.text.endswith("[*]") for row in here):
                return self.agreed(referent.path, here)
            return super()._from_rows(referent, line)
        assigned = [row for row in self.names.rows(referent) if row.how in {":", "="}]
        before = [row for row in assigned if row.line <= line]
        for row in before[-1:] or assigned[:1]:
            if row.how == ":":
                return self.resolver.of_type(referent.path, referent.scope, row.text)
            return self.value(referent.path, row.scope, row.text, row.line)
        return None

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """Return the value of an expression; a PHP variable has no `$` here."""
        return super().value(path, scope, text.replace("$", ""), line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        at = 0
        above = _ABOVE.get(self.view.languages.get(path, ""))
        if rest[:1] == ("()",) and head[0] not in "(`0" and head not in {"super", above}:
            referents = self.names.find(path, scope, head, "call")
            value = together(
                [self._outcome(referent, path, scope) for referent in self._alternatives(referents)]
            )
            at = 1
        elif rest and rest[0].startswith(OWN):
            value, at = self._callbacks.expected(path, scope, head[1:-1], rest[:1]), 1
        elif rest and (parameter := handed(rest[0])) is not None:
            referents = self.names.find(path, scope, head, "call")
            around = self.instance_around(path, scope)
            owned = [(referent, around) for referent in referents]
            value = self._callbacks.of_functions(owned, parameter)
            at = 1
        else:
            value = self._head(path, scope, head, rest, line)
        while at < len(rest) and value is not None:
            parameter = handed("".join(rest[at + 1 : at + 2]))
            if parameter is not None:
                taker = rest[at : at + 1]
                value = together(
                    [self._callbacks.given(part, taker, parameter) for part in each(value)]
                )
                at += 2
            elif rest[at + 1 : at + 2] == ("()",) and rest[at][0] not in "([":
                value = together([self._sent(part, rest[at]) for part in each(value)])
                at += 2
            else:
                value = self._step(value, rest[at])
                at += 1
        return value

    def _outcome(self, referent: Referent, path: bytes, scope: int) -> Value:
        if referent.symbol < 0:
            return None
        if self.view.symbol(referent).kind in TYPES:
            return Instance(referent.path, referent.symbol)
        return self.resolver.result(
            referent.path, referent.symbol, self.instance_around(path, scope)
        )

    def _sent(self, value: Value, name: str) -> Value:
        """Return the result of a method of a value."""
        if isinstance(value, Container):
            return of_collection(value, name) or result_of_any_method(name)
        if not isinstance(value, Instance | Definition | Super):
            return None
        referents = self._members.line_members(value, name, "call", -1, strict=False)
        referents = referents or self._members.extensions(value, name)
        me = value.of if isinstance(value, Super) else value
        if not referents:
            return self._of_enum(value, name) or result_of_any_method(name)
        return together(
            [self._outcome_of(referent, me) for referent in self._alternatives(referents)]
        )

    def _of_enum(self, value: Value, name: str) -> Value:
        """Return the implicit members of an enum: all members, or one by name or value."""
        if not isinstance(value, Definition):
            return None
        if self.view.symbol(value).kind != "enum" or name not in ENUM_METHODS:
            return None
        member = Instance(*value[:2])
        return Container("[]", (member,)) if ENUM_METHODS[name] else member

    def _alternatives(self, referents: list[Referent]) -> list[Referent]:
        """Return all overloads, because an expression does not contain its arguments."""
        is_defined = bool(referents) and referents[0].symbol >= 0
        if is_defined and self.view.symbol(referents[0]).kind in CALLABLE:
            return referents
        return referents[:1]

    def _outcome_of(self, referent: Referent, me: Value) -> Value:
        model = self.view.model(referent.path)
        if model.symbols[referent.symbol].kind in CALLABLE:
            return self.resolver.result(referent.path, referent.symbol, me)
        if model.symbols[referent.symbol].kind in TYPES:
            return Instance(referent.path, referent.symbol)
        # A call reads a record's component.
        return self.resolver.taken(referent, me)

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        if head == _ABOVE.get(model.language):
            return self._super(path, scope, model)
        if head in {"self", "static"} and model.language == "php":
            own = self.instance_around(path, scope)
            return Definition(*own[:2]) if isinstance(own, Instance) else None
        return super()._head(path, scope, head, rest, line)

    def _step(self, value: Value, step: str) -> Value:
        if step == "#wait":
            return together([awaited(part) for part in each(value)])
        if step == "this":
            return together(
                [Instance(*part[:2]) for part in each(value) if isinstance(part, Definition)]
            )
        if step == "super":
            return together([self._of_interface(part) for part in each(value)])
        if isinstance(value, Container) and step in PROPERTIES:
            return of_collection(value, step)
        return super()._step(value, step)

    def _of_interface(self, value: Value) -> Value:
        """Evaluate `I.super` of Java: the default methods of an implemented interface."""
        if not isinstance(value, Definition) or value.symbol < 0:
            return None
        is_interface = self.view.symbol(value).kind == "interface"
        return Instance(*value[:2]) if is_interface else None


def resolver(view: View) -> Resolver:
    """Build a resolver for the C# and PHP files of a view."""
    names = ClassNames(view)
    classes = Resolver(view, names)
    members = names.types = ClassMembers(classes)
    overloads = Overloads(classes, members)
    classes.overloads = overloads.meant
    return classes.join(
        ClassAnnotations(classes), members, ClassCalls(classes), ClassExpressions(classes, members)
    )
