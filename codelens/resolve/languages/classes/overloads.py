"""Which of several overloads a call means, as far as its arguments say so (Java, Kotlin, C#).

An argument fits a parameter exactly, after a conversion, not at all, or it is not known
(`conversions`). A call means the one overload that is left, or that fits better than each other one
in no argument worse: the common part of the rules of JLS 15.12.2, C# 12.6.4, and Kotlin's overload
resolution.
"""

from __future__ import annotations

import re

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import Hit
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

    def meant(self, path: bytes, one: Reference, hits: list[Hit]) -> list[Hit]:
        """Those of several overloads that a call may mean, by its arguments.

        Types of C# that take another number of type arguments are others.
        """
        if len(hits) == 1 and not self._inherited(hits[0]):
            return hits
        count, given = 0, one.given
        if given[:1] == "<":
            first, _, given = given.partition("\n")
            count = int(first[1:])
        own = [self._members.names.generics(hit) for hit in hits]
        if count in own:
            kept = zip(hits, own, strict=True)
            hits = [hit for hit, number in kept if number in (count, -1)]
        found = self.chosen(path, one, given, hits)
        if found or not given:
            return found
        above = [other for hit in hits for other in self._inherited(hit)]
        return self.chosen(path, one, given, above) if above else []

    def _inherited(self, hit: Hit) -> list[Hit]:
        """Overloads that a method's type inherits: they are meant where it cannot be."""
        return self._resolver.once(("above", *hit[:2]), lambda: self._above(hit), [])

    def _above(self, hit: Hit) -> list[Hit]:
        model = self._resolver.view.model(hit.path)
        symbol = model.symbols[hit.symbol] if model is not None and hit.symbol >= 0 else None
        if symbol is None or symbol.parent < 0 or symbol.kind not in CALLABLE:
            return []
        if self._resolver.view.languages.get(hit.path) not in LANGUAGES:
            return []
        found: list[Hit] = []
        for base in self._resolver.ancestry(Instance(hit.path, symbol.parent))[1:]:
            held = self._members.held(base, hit.name)
            own = [one for one in held if self._members.is_own(one)]
            found += self._members.names.of_space(own, "call")
        return found

    def chosen(self, path: bytes, one: Reference, given: str, hits: list[Hit]) -> list[Hit]:
        """Those of several overloads that a call may mean; one, if the arguments given tell."""
        view = self._resolver.view
        model = view.model(path)
        if model is None or not given or model.language not in LANGUAGES:
            return hits
        if any(view.languages.get(hit.path) not in LANGUAGES or hit.symbol < 0 for hit in hits):
            return hits
        call = tuple(self._argument(path, one, text, model) for text in given.split("\n"))
        seen = tuple(hit for hit in hits if self._is_seen(path, hit))
        # The same is called in many places with arguments of the same types.
        return view.once(("overloads", seen, call), lambda: self._best(seen, call))

    def _best(self, hits: tuple[Hit, ...], call: tuple[Argument, ...]) -> list[Hit]:
        fits: list[tuple[Hit, Ranked]] = []
        for hit in hits:
            ranks = self._ranks(hit, call)
            if ranks is not None:
                fits.append((hit, ranks))
        best = [
            hit
            for hit, ranks in fits
            if all(is_better(ranks, others) for other, others in fits if other != hit)
        ]
        return best if len(best) == 1 else [hit for hit, _ in fits]

    def _is_seen(self, path: bytes, hit: Hit) -> bool:
        """Nothing private is meant in another file, but in a part of a class of C#."""
        model = self._resolver.view.model(hit.path)
        if hit.path == path or model is None or model.language == "csharp":
            return True
        return "private" not in model.symbols[hit.symbol].signature.partition("(")[0].split()

    def _argument(self, path: bytes, one: Reference, text: str, model: FileModel) -> Argument:
        name, sign, rest = text.partition("=")
        if not sign or not name.isidentifier():
            name, rest = "", text
        if rest == "nameof()":
            return Argument(name, "string", None)
        if rest[0] != "'":
            return _valued(name, rest, self._resolver.value(path, one.scope, rest, one.line), model)
        kind = rest[1:]
        if kind == "class":
            return Argument(
                name, "", Container("Type" if model.language == "csharp" else "Class", ())
            )
        return Argument(name, kind, None)

    def _ranks(self, hit: Hit, call: tuple[Argument, ...]) -> Ranked | None:
        """How well each argument fits, and whether each parameter has one; None if one cannot."""
        model = self._resolver.view.model(hit.path)
        if model is None:
            return None
        symbol = model.symbols[hit.symbol]
        taken = parameters(symbol.signature, symbol.name, model.language)
        if taken is None:
            unknown: Ranked = [(None, "")]
            return unknown * (len(call) + 1)
        wanted = [one for one in taken if not one.receiver]
        ranks: Ranked = []
        for at, argument in enumerate(call):
            parameter = _parameter(wanted, argument.name, at)
            rank = (
                NO if parameter is None else self._conversions.rank(hit, model, parameter, argument)
            )
            if parameter is None or rank == NO:
                return None
            ranks.append((rank, f"{parameter.type} {parameter.many}"))
        ranks.append((int(len(wanted) != len(call) or any(one.many for one in wanted)), ""))
        return ranks


def _valued(name: str, text: str, value: Value, model: FileModel) -> Argument:
    """An argument that is an expression."""
    if model.language != "java":
        return Argument(name, "", value)
    made, constant = _BOXED_CALL.fullmatch(text), _CONSTANT.fullmatch(text)
    if made is not None:
        return Argument(name, "", Container(made[1], ()), boxed=True)
    if constant is not None:
        return Argument(name, "", Container(PRIMITIVES[constant[1]][0], ()))
    boxed = isinstance(value, Container) and PRIMITIVES.get(value.name, ("", False))[1]
    return Argument(name, "", value, boxed)


def is_better(ranks: Ranked, others: Ranked) -> bool:
    """In no argument worse, and in one better; what fits exactly is never worse.

    Where no argument is better or worse, that which needs no defaults is.
    """
    better = False
    for (mine, wanted), (other, there) in zip(ranks[:-1], others[:-1], strict=True):
        if wanted == there or (mine == other and mine is not None):
            continue
        if mine is None or (mine > GENERIC and (other is None or mine > other)):
            return False
        if other is not None and mine > other:
            return False
        better = True
    return better or (ranks[-1][0] or 0) < (others[-1][0] or 0)


def _parameter(wanted: list[Parameter], name: str, at: int) -> Parameter | None:
    """The parameter that an argument is for."""
    if name:
        return next((one for one in wanted if one.name == name), None)
    if at < len(wanted):
        return wanted[at]
    return wanted[-1] if wanted and wanted[-1].many else None
