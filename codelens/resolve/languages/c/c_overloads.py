"""Finds C++ class members with their out-of-class definitions, and resolves overloads."""

from __future__ import annotations

import re

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Value
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.c.c_types import (
    CParameter,
    c_parameters,
    c_type,
    is_const,
    plain_parameter,
    template_parameters,
)
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_names import Space, builds
from codelens.resolve.languages.classes.overloads import Ranked, best_of
from codelens.types import Reference


def _using(model: FileModel) -> dict[tuple[int, str], set[str]]:
    """Return (scope of a class, name) -> the last parts of the qualifiers of that name there."""
    owners: dict[tuple[int, str], set[str]] = {}
    for reference in model.references:
        scope = reference.scope
        if reference.kind == "name" and reference.receiver and model.scopes[scope].kind == "class":
            last = reference.receiver.rpartition(".")[2]
            owners.setdefault((scope, reference.name), set()).add(last)
    return owners


class CMembers(ClassMembers):
    """Finds members of classes, including their out-of-class definitions."""

    def __init__(self, resolver: Resolver, names: CNames) -> None:
        super().__init__(resolver)
        self._c = names

    def owner(self, path: bytes, scope: int) -> Instance | None:
        """Return the class of a method that is defined outside of it: `void Foo::f() {}`."""
        model = self.view.model(path)
        symbol = model.symbols[model.scopes[scope].symbol]
        if symbol.kind not in CALLABLE or not model.is_outside_member(symbol):
            return None
        owner = symbol.qualified.rpartition(".")[0]
        referents = self.resolver.named_type(path, 0, owner) if owner else []
        return Instance(*referents[0][:2]) if referents else None

    def line_members(
        self,
        value: Value,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Referent]:
        """As in the base class; a method is replaced by its definition.

        `using B::m` adds the methods of a base to those of a class.
        """
        referents = super().line_members(value, name, space, arguments, strict=strict)  # type: ignore[arg-type]
        for base in self._bases_used(value, name) if referents else ():
            referents += super().line_members(base, name, space, arguments, strict=strict)
        return [self._whole(referent) for referent in dict.fromkeys(referents)]

    def _bases_used(self, value: Value, name: str) -> list[Instance]:
        """Return the bases of a type of which a using declaration in it names a member."""
        if not isinstance(value, Instance):
            return []
        model = self.view.model(value.path)
        owners = self.once(("using", value.path), lambda: _using(model), {}).get(
            (model.own_scope.get(value.symbol, -1), name), set()
        )
        bases = self.resolver.ancestry(value)[1:] if owners else []
        return [base for base in bases if self._name_of(base) in owners]

    def _name_of(self, type_: Instance) -> str:
        return self.view.symbol(type_).name

    def _whole(self, referent: Referent) -> Referent:
        """Return the out-of-class definition of a method, if there is one."""
        model = self.view.model(referent.path)
        if self._c.is_whole(referent) or model.symbols[referent.symbol].kind not in CALLABLE:
            return referent
        symbol = model.symbols[referent.symbol]
        owner = model.symbols[symbol.parent].name if symbol.parent >= 0 else ""
        apart = [
            definition
            for definition in self._c.index().methods(owner, symbol.name)
            if self._c.is_whole(definition)
            and (
                definition.path == referent.path or referent.path in self._c.reach(definition.path)
            )
        ]
        if len(apart) > 1:
            same = self.names.arity(referent)
            apart = [
                definition for definition in apart if self.names.arity(definition).most == same.most
            ]
        if len(apart) > 1:
            apart = [
                definition
                for definition in apart
                if self._parameter_types(definition) == self._parameter_types(referent)
            ] or apart
        return apart[0] if len(apart) == 1 else referent

    def _parameter_types(self, referent: Referent) -> tuple[str, ...]:
        """Return the parameter types of a method, and whether the method is `const`."""
        signature = self.view.symbol(referent).signature
        taken = c_parameters(signature, referent.name) or ()
        return (*(plain_parameter(parameter.type) for parameter in taken), str(is_const(signature)))


# Overload resolution by argument types.
#
# An argument matches exactly, as a base class, by a constructor or conversion, or not at all; or
# the match is unknown. This is a subset of [over.match] in the standard. If two overloads differ
# only in `const`, the receiver decides.

_NO = -1
_BASE = 10
_PROMOTED = 5
_CONVERTED = 60
_GENERIC = 40
_MOST = 60
"""With more overloads than this, none is selected, because each call would check all of them."""
_NUMBERS = frozenset(
    "int long short char float double bool unsigned signed size_t ssize_t int8_t int16_t int32_t "
    "int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t ptrdiff_t wchar_t char16_t "
    "char32_t uint int64 uint64 int32 uint32".split()
)
_REAL = frozenset({"float", "double"})
_STREAMS = {
    name: frozenset({"istream", "ostream", "iostream", "ios", "basic_istream", "basic_ostream"})
    for name in "istream ostream iostream stringstream istringstream ostringstream ifstream "
    "ofstream fstream".split()
}
_QUOTES = 2
_LEADING = re.compile(r"_ptr\s*<|[*&]")
_STRINGS = frozenset({"string", "string_view", "StringPiece", "basic_string", "wstring"})


class COverloads:
    """Chooses between overloads in one view."""

    def __init__(self, resolver: Resolver, members: CMembers) -> None:
        self._resolver, self._members = resolver, members
        self._view = resolver.view

    def meant(self, path: bytes, reference: Reference, referents: list[Referent]) -> list[Referent]:
        """Return the overloads that a call may mean; one if the arguments decide."""
        if not 1 < len(referents) <= _MOST or reference.kind != "call":
            return referents
        if any(
            self._view.languages.get(referent.path) != "cpp" or referent.symbol < 0
            for referent in referents
        ):
            return referents
        if any(self._signature(referent) is None for referent in referents):
            return referents
        arguments = reference.argument_lines.split("\n") if reference.argument_lines else []
        fitting = self._fitting(path, reference, arguments, referents) if arguments else referents
        return self.by_const(path, reference, fitting) if len(fitting) > 1 else fitting or referents

    def taking(
        self,
        referents: list[Referent],
        values: list[tuple[str, Value]],
        *,
        exactly: bool,
        anchored: bool = False,
    ) -> list[Referent]:
        """Return the operators for these operands, `exactly` so many; one if the operands decide.

        If `anchored`, a parameter must have the class of its operand or a base of it.
        """
        fits: list[tuple[Referent, Ranked]] = []
        for referent in referents:
            signature = self._signature(referent)
            ranks = self._ranks(referent, values) if signature is not None else None
            if ranks is None or (exactly and ranks[-1][0]):
                continue
            close = [
                isinstance(value, Instance) and rank is not None and rank < _GENERIC
                for (rank, _), (_, value) in zip(ranks, values, strict=False)
            ]
            if not anchored or any(close):
                fits.append((referent, ranks))
        return best_of(fits)

    def _signature(self, referent: Referent) -> str | None:
        symbol = self._view.symbol(referent)
        return symbol.signature if symbol.kind in CALLABLE else None

    def _fitting(
        self, path: bytes, reference: Reference, arguments: list[str], referents: list[Referent]
    ) -> list[Referent]:
        values = [self._argument(path, reference, text) for text in arguments]
        key = (
            "c overloads",
            tuple(referents),
            tuple(arguments),
            tuple(value for _, value in values),
        )
        return self._view.once(key, lambda: self._best(referents, values))

    def _argument(self, path: bytes, reference: Reference, text: str) -> tuple[str, Value]:
        if text[:1] == "'":
            return text[1:], None
        return "", self._resolver.value(path, reference.scope, text, reference.line)

    def _best(self, referents: list[Referent], values: list[tuple[str, Value]]) -> list[Referent]:
        fits: list[tuple[Referent, Ranked]] = []
        for referent in referents:
            ranks = self._ranks(referent, values)
            if ranks is not None:
                fits.append((referent, ranks))
        return best_of(fits) or referents

    def _ranks(self, referent: Referent, values: list[tuple[str, Value]]) -> Ranked | None:
        signature = self._signature(referent) or ""
        taken = c_parameters(signature, referent.name)
        if taken is None:
            unknown: Ranked = [(None, "")]
            return unknown * (len(values) + 1)
        generic = template_parameters(signature)
        ranks: Ranked = []
        for at, (kind, value) in enumerate(values):
            if at < len(taken):
                parameter = taken[at]
            elif taken and taken[-1].many:
                parameter = taken[-1]
            else:
                return None
            rank = self._fit(referent, parameter, generic, kind, value)
            if rank == _NO:
                return None
            ranks.append((rank, plain_parameter(parameter.type)))
        ranks.append((int(len(taken) != len(values)), ""))
        return ranks

    def _fit(
        self,
        referent: Referent,
        parameter: CParameter,
        generic: tuple[str, ...],
        kind: str,
        value: Value,
    ) -> int | None:
        type_name = c_type(parameter.type)
        if parameter.many:
            return None
        if type_name in generic:
            return _GENERIC
        pointer = "*" in parameter.type
        if kind:
            return self._literal(referent, type_name, kind, pointer=pointer)
        name = type_name.rpartition(".")[2]
        if pointer and (name in _STRINGS or name.split(" ")[0] in _NUMBERS):
            return None
        if isinstance(value, Instance):
            return self._object(value, name, self._parameter_type(referent, parameter.type))
        if isinstance(value, Container) and not value.args:
            return self._foreign(value, name, self._parameter_type(referent, parameter.type))
        return None

    def _object(self, value: Instance, type_name: str, target: Value) -> int | None:
        """Return how well a value of a class of the view matches."""
        if isinstance(target, Instance):
            return self._instance(value, target)
        if type_name.split(" ", maxsplit=1)[0] in _NUMBERS or type_name in _STRINGS:
            return _CONVERTED if self._converts(value) else _NO
        return None

    def _foreign(self, value: Container, type_name: str, target: Value) -> int | None:
        """Return how well a value of a type outside of the view matches."""
        name = value.name.rpartition(".")[2]
        if name == type_name:
            return 0
        if isinstance(target, Instance):
            return self._constructed_rank(target)
        if name in _STREAMS:
            return _BASE if type_name in _STREAMS[name] else _NO
        number = type_name.split(" ", maxsplit=1)[0] in _NUMBERS
        if name in _NUMBERS and (number or type_name in _STRINGS):
            return _PROMOTED if number else _NO
        return _NO if name in _STRINGS and number else None

    def _literal(
        self, referent: Referent, type_name: str, kind: str, *, pointer: bool
    ) -> int | None:
        """Return how well a literal matches."""
        name = type_name.rpartition(".")[2]
        if name.split(" ")[0] in _NUMBERS:
            return _as_number(name, kind, pointer=pointer)
        if name in _STRINGS:
            return _PROMOTED if kind == "string" else _NO if kind != "null" else None
        if kind == "function":
            return None
        if kind == "null":
            return 0 if pointer else None
        target = self._parameter_type(referent, type_name)
        if not isinstance(target, Instance):
            return None
        return (None if kind == "int" else _NO) if pointer else self._constructed_rank(target)

    def _parameter_type(self, referent: Referent, text: str) -> Value:
        """Return the type of a parameter, evaluated where the function is declared."""
        model = self._view.model(referent.path)
        scope = model.own_scope.get(referent.symbol, -1)
        if scope < 0:
            parent = model.symbols[referent.symbol].parent
            scope = model.own_scope.get(parent, 0) if parent >= 0 else 0
        return self._resolver.of_type(referent.path, scope, text)

    def _instance(self, value: Instance, target: Instance) -> int | None:
        line = [type_[:2] for type_ in self._resolver.ancestry(value)]
        if target[:2] in line:
            return line.index(target[:2]) and _BASE + line.index(target[:2])
        rank = self._constructed_rank(target)
        return _CONVERTED if self._converts(value) else rank

    def _constructed_rank(self, target: Instance) -> int:
        """Return the rank of a conversion by a constructor of the class."""
        model = self._view.model(target.path)
        name = model.symbols[target.symbol].name
        for at in model.children.get(target.symbol, {}).get(name, ()):
            signature = model.symbols[at].signature
            taken = c_parameters(signature, name)
            if not builds(model, at) or "explicit" in signature.partition("(")[0].split():
                continue
            takes = self._members.names.arity(Referent(target.path, at)).takes(1)
            if taken is None or (taken and takes and c_type(taken[0].type) != name):
                return _CONVERTED
        return _NO

    def _converts(self, value: Instance) -> bool:
        """Whether a class has a conversion operator: `operator bool()`."""
        for type_ in self._resolver.ancestry(value):
            inside = self._view.model(type_.path).children.get(type_.symbol, {})
            if any(name.startswith("operator_") for name in inside):
                return True
        return False

    def by_const(
        self, path: bytes, reference: Reference, referents: list[Referent]
    ) -> list[Referent]:
        """Of two methods that differ only in `const`, return the one that matches the receiver."""
        by_signature = {(self._signature(referent) or ""): referent for referent in referents}
        apart = {is_const(signature) for signature in by_signature}
        taken = {
            tuple(
                plain_parameter(parameter.type)
                for parameter in c_parameters(signature, referent.name) or ()
            )
            for signature, referent in by_signature.items()
        }
        if len(referents) != len(apart) or len(taken) != 1:
            return referents
        const = self._is_const(path, reference)
        if const is None:
            return referents
        return [
            referent for signature, referent in by_signature.items() if is_const(signature) is const
        ]

    def _is_const(self, path: bytes, reference: Reference) -> bool | None:
        """Whether the receiver of a method is `const`; None if unknown."""
        model = self._view.model(path)
        receiver = reference.receiver
        if receiver[:1] == "`" and receiver.count("`") == _QUOTES and receiver[-1] == "`":
            return "const" in receiver[1:].split()
        head, dot, _ = receiver.partition(".")
        if "(" in receiver or (dot and head != "this"):
            return None
        symbol = model.enclosing(reference, values=False)
        signature = model.symbols[symbol].signature if symbol >= 0 else ""
        if receiver and receiver != "this":
            referents = (
                self._members.names.lookup(path, reference.scope, head) if head != "this" else []
            )
            if referents and referents[0].symbol == LOCAL:
                declaration = re.search(
                    rf"(?:^|[(,])([^(),]*)\b{re.escape(head)}\s*[,)=\[]", signature
                )
                return "const" in declaration[1].split() if declaration is not None else None
            field = self._view.symbol(referents[0]).signature if referents else ""
            if _LEADING.search(field):
                # A `const` pointer does not make its target `const`.
                return "const" in field
        return is_const(signature) if symbol >= 0 else None


def _as_number(type_name: str, kind: str, *, pointer: bool) -> int | None:
    """Return how well a literal matches a number or a pointer to numbers."""
    if kind == "string":
        return 0 if pointer and type_name == "char" else _NO
    if kind == "null":
        return 0 if pointer else _NO
    if pointer or kind == "function":
        return None if kind == "int" else _NO
    exact = type_name == kind or (kind == "real" and type_name == "double")
    return 0 if exact else _PROMOTED - (kind == "int" and type_name not in _REAL | {"bool"})
