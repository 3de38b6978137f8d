"""Which of several overloads a call means, as far as its arguments say so (Java, Kotlin, C#).

An argument fits a parameter exactly, after a conversion, not at all, or it is not known
(`conversions`). A call means the one overload that is left, or that fits better than each other one
in no argument worse: the common part of the rules of JLS 15.12.2, C# 12.6.4, and Kotlin's overload
resolution.
"""

from __future__ import annotations

import re

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Value
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_type_text import Parameter, parameters
from codelens.resolve.languages.classes.conversions import (
    GENERIC,
    NO,
    PRIMITIVES,
    Argument,
    Conversions,
)
from codelens.types import Reference

LANGUAGES = frozenset({"java", "kotlin", "csharp"})
_BOXED_CALL = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character|Boolean)\.valueOf\(\)")
_CONSTANT = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character)\.[A-Z][A-Z_a-z]*")
Ranked = list[tuple[int | None, str]]
"""For each argument how well it fits, and for what type."""


class Overloads:
    """Chooses between overloads in one view."""

    def __init__(self, resolver: Resolver, members: ClassMembers) -> None:
        self._resolver, self._members = resolver, members
        self._conversions = Conversions(resolver)

    def meant(self, path: bytes, reference: Reference, referents: list[Referent]) -> list[Referent]:
        """Those of several overloads that a call may mean, by its arguments.

        Types of C# that take another number of type arguments are others.
        """
        if len(referents) == 1 and not self._inherited(referents[0]):
            return referents
        count, arguments = 0, reference.argument_lines
        if arguments[:1] == "<":
            first, _, arguments = arguments.partition("\n")
            count = int(first[1:])
        own = [self._members.names.generics(referent) for referent in referents]
        if count in own:
            counted = zip(referents, own, strict=True)
            referents = [referent for referent, number in counted if number in (count, -1)]
        best = self.chosen(path, reference, arguments, referents)
        if best or not arguments:
            return best
        above = [other for referent in referents for other in self._inherited(referent)]
        return self.chosen(path, reference, arguments, above) if above else []

    def _inherited(self, referent: Referent) -> list[Referent]:
        """Overloads that a method's type inherits: they are meant where it cannot be."""
        return self._resolver.once(("above", *referent[:2]), lambda: self._above(referent), [])

    def _above(self, referent: Referent) -> list[Referent]:
        model = self._resolver.view.model(referent.path)
        symbol = (
            model.symbols[referent.symbol] if model is not None and referent.symbol >= 0 else None
        )
        if symbol is None or symbol.parent < 0 or symbol.kind not in CALLABLE:
            return []
        if self._resolver.view.languages.get(referent.path) not in LANGUAGES:
            return []
        methods: list[Referent] = []
        for base in self._resolver.ancestry(Instance(referent.path, symbol.parent))[1:]:
            members = self._members.members_named(base, referent.name)
            own = [member for member in members if self._members.is_own(member)]
            methods += self._members.names.of_space(own, "call")
        return methods

    def chosen(
        self, path: bytes, reference: Reference, arguments: str, referents: list[Referent]
    ) -> list[Referent]:
        """Those of several overloads that a call may mean; one, if the arguments given tell."""
        view = self._resolver.view
        model = view.model(path)
        if model is None or not arguments or model.language not in LANGUAGES:
            return referents
        if any(
            view.languages.get(referent.path) not in LANGUAGES or referent.symbol < 0
            for referent in referents
        ):
            return referents
        call = tuple(self._argument(path, reference, text, model) for text in arguments.split("\n"))
        seen = tuple(referent for referent in referents if self._is_seen(path, referent))
        # The same is called in many places with arguments of the same types.
        return view.once(("overloads", seen, call), lambda: self._best(seen, call))

    def _best(self, referents: tuple[Referent, ...], call: tuple[Argument, ...]) -> list[Referent]:
        fits: list[tuple[Referent, Ranked]] = []
        for referent in referents:
            ranks = self._ranks(referent, call)
            if ranks is not None:
                fits.append((referent, ranks))
        best = [
            referent
            for referent, ranks in fits
            if all(is_better(ranks, others) for other, others in fits if other != referent)
        ]
        return best if len(best) == 1 else [referent for referent, _ in fits]

    def _is_seen(self, path: bytes, referent: Referent) -> bool:
        """Nothing private is meant in another file, but in a part of a class of C#."""
        model = self._resolver.view.model(referent.path)
        if referent.path == path or model is None or model.language == "csharp":
            return True
        return "private" not in model.symbols[referent.symbol].signature.partition("(")[0].split()

    def _argument(self, path: bytes, reference: Reference, text: str, model: FileModel) -> Argument:
        name, sign, rest = text.partition("=")
        if not sign or not name.isidentifier():
            name, rest = "", text
        if rest == "nameof()":
            return Argument(name, "string", None)
        if rest[0] != "'":
            return _valued(
                name, rest, self._resolver.value(path, reference.scope, rest, reference.line), model
            )
        kind = rest[1:]
        if kind == "class":
            return Argument(
                name, "", Container("Type" if model.language == "csharp" else "Class", ())
            )
        return Argument(name, kind, None)

    def _ranks(self, referent: Referent, call: tuple[Argument, ...]) -> Ranked | None:
        """How well each argument fits, and whether each parameter has one; None if one cannot."""
        model = self._resolver.view.model(referent.path)
        if model is None:
            return None
        symbol = model.symbols[referent.symbol]
        taken = parameters(symbol.signature, symbol.name, model.language)
        if taken is None:
            unknown: Ranked = [(None, "")]
            return unknown * (len(call) + 1)
        expected = [parameter_ for parameter_ in taken if not parameter_.receiver]
        ranks: Ranked = []
        for at, argument in enumerate(call):
            parameter = _parameter(expected, argument.name, at)
            rank = (
                NO
                if parameter is None
                else self._conversions.rank(referent, model, parameter, argument)
            )
            if parameter is None or rank == NO:
                return None
            ranks.append((rank, f"{parameter.type} {parameter.many}"))
        ranks.append(
            (int(len(expected) != len(call) or any(parameter_.many for parameter_ in expected)), "")
        )
        return ranks


def _valued(name: str, text: str, value: Value, model: FileModel) -> Argument:
    """An argument that is an expression."""
    if model.language != "java":
        return Argument(name, "", value)
    boxed_call, constant = _BOXED_CALL.fullmatch(text), _CONSTANT.fullmatch(text)
    if boxed_call is not None:
        return Argument(name, "", Container(boxed_call[1], ()), boxed=True)
    if constant is not None:
        return Argument(name, "", Container(PRIMITIVES[constant[1]][0], ()))
    boxed = isinstance(value, Container) and PRIMITIVES.get(value.name, ("", False))[1]
    return Argument(name, "", value, boxed)


def is_better(ranks: Ranked, others: Ranked) -> bool:
    """In no argument worse, and in one better; what fits exactly is never worse.

    Where no argument is better or worse, that which needs no defaults is.
    """
    better = False
    for (mine, type_here), (other, there) in zip(ranks[:-1], others[:-1], strict=True):
        if type_here == there or (mine == other and mine is not None):
            continue
        if mine is None or (mine > GENERIC and (other is None or mine > other)):
            return False
        if other is not None and mine > other:
            return False
        better = True
    return better or (ranks[-1][0] or 0) < (others[-1][0] or 0)


def _parameter(expected: list[Parameter], name: str, at: int) -> Parameter | None:
    """The parameter that an argument is for."""
    if name:
        return next((parameter for parameter in expected if parameter.name == name), None)
    if at < len(expected):
        return expected[at]
    return expected[-1] if expected and expected[-1].many else None
