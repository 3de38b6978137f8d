"""Which of several overloads a call means, as far as its arguments say so (Java, Kotlin, C#).

An argument fits a parameter exactly, after a conversion, not at all, or it is not known. A call
means the one overload that is left, or that fits better than each other one in no argument worse:
the common part of the rules of JLS 15.12.2, C# 12.6.4, and Kotlin's overload resolution.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.resolve.classtext import Parameter, parameters
from codelens.resolve.model import FileModel
from codelens.resolve.names import LOCAL, Hit
from codelens.resolve.standard_types import ABOVE
from codelens.resolve.types import Types
from codelens.resolve.typetext import Named, Returns, parsed
from codelens.resolve.values import Container, Instance, Value
from codelens.types import Binding, Reference

LANGUAGES = frozenset({"java", "kotlin", "csharp"})
_NO = -1
"""It cannot be given so."""
_GENERIC = 1
"""By a type parameter that becomes just this type; 0 is the type itself."""
_TOP = 1000
_CONVERTED = 900
"""By a conversion that a type defines itself, as in C#."""
_BOXING = 1100
_MANY = 5000
"""As one of any number."""
_PRIMITIVES = {
    **{name: (name, False) for name in "int long short byte char float double bool".split()},
    **dict.fromkeys(("boolean",), ("bool", False)),
    **{name: (name.lower(), True) for name in "Long Short Byte Float Double".split()},
    "Integer": ("int", True),
    "Int": ("int", True),
    "Character": ("char", True),
    "Char": ("char", True),
    "Boolean": ("bool", True),
    "String": ("string", False),
    "string": ("string", False),
    "Int32": ("int", False),
    "Int64": ("long", False),
    "decimal": ("decimal", False),
    "sbyte": ("sbyte", False),
    "ushort": ("ushort", False),
    "uint": ("uint", False),
    "ulong": ("ulong", False),
}
"""Type -> what it is in all languages, and whether Java boxes it."""
_SIMPLE = frozenset(
    "int long short byte char float double boolean bool sbyte ushort uint ulong decimal".split()
)
_LITERALS = {"real": "double"}
_WIDER = {
    "byte": ("short", "int", "long", "float", "double", "decimal"),
    "short": ("int", "long", "float", "double", "decimal"),
    "char": ("int", "long", "float", "double"),
    "int": ("long", "float", "double", "decimal"),
    "long": ("float", "double", "decimal"),
    "float": ("double",),
}
"""Kind of number -> those it is converted to of itself, nearest first."""
_SMALL = ("short", "byte", "sbyte", "ushort", "uint", "ulong")
_TOPS = frozenset({"Object", "object", "Any", "dynamic"})
_OF_STRINGS = frozenset(
    {"CharSequence", "Comparable", "Serializable", "IEnumerable", "IComparable", "IConvertible"}
)
_OF_NUMBERS = frozenset({"Number", "Comparable", "Serializable", "IComparable", "IConvertible"})
_FUNCTIONS = ("Func", "Action", "Predicate", "Expression", "Comparison", "Converter", "Delegate")
_NO_FUNCTIONS = frozenset(
    "Class Type File Path List Collection Map Set Iterable Charset Locale InputStream Reader "
    "OutputStream Writer CharSequence Number Stream Encoding IEnumerable CancellationToken".split()
)


_BOXED_CALL = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character|Boolean)\.valueOf\(\)")
_CONSTANT = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character)\.[A-Z][A-Z_a-z]*")
_Ranked = list[tuple[int | None, str]]
"""For each argument how well it fits, and for what type."""


class _Call(NamedTuple):
    """One argument."""

    name: str
    kind: str
    """Of a literal, else empty."""
    value: Value
    boxed: bool = False
    """A number of Java that is an object."""


class Overloads:
    """Chooses between overloads in one view."""

    def __init__(self, types: Types) -> None:
        self._types = types

    def chosen(self, path: bytes, one: Reference, given: str, hits: list[Hit]) -> list[Hit]:
        """Those of several overloads that a call may mean; one, if the arguments given tell."""
        view = self._types.view
        model = view.model(path)
        if model is None or not given or model.language not in LANGUAGES:
            return hits
        if any(view.languages.get(hit.path) not in LANGUAGES or hit.symbol < 0 for hit in hits):
            return hits
        call = tuple(self._argument(path, one, text, model) for text in given.split("\n"))
        seen = tuple(hit for hit in hits if self._is_seen(path, hit))
        # The same is called in many places with arguments of the same types.
        return view.once(("overloads", seen, call), lambda: self._best(seen, call))

    def _best(self, hits: tuple[Hit, ...], call: tuple[_Call, ...]) -> list[Hit]:
        fits: list[tuple[Hit, _Ranked]] = []
        for hit in hits:
            ranks = self._ranks(hit, call)
            if ranks is not None:
                fits.append((hit, ranks))
        best = [
            hit
            for hit, ranks in fits
            if all(_is_better(ranks, others) for other, others in fits if other != hit)
        ]
        return best if len(best) == 1 else [hit for hit, _ in fits]

    def _is_seen(self, path: bytes, hit: Hit) -> bool:
        """Nothing private is meant in another file, but in a part of a class of C#."""
        model = self._types.view.model(hit.path)
        if hit.path == path or model is None or model.language == "csharp":
            return True
        return "private" not in model.symbols[hit.symbol].signature.partition("(")[0].split()

    def _argument(self, path: bytes, one: Reference, text: str, model: FileModel) -> _Call:
        name, sign, rest = text.partition("=")
        if not sign or not name.isidentifier():
            name, rest = "", text
        if rest == "nameof()":
            return _Call(name, "string", None)
        if rest[0] != "'":
            return _valued(name, rest, self._types.value(path, one.scope, rest, one.line), model)
        kind = rest[1:]
        if kind == "class":
            return _Call(name, "", Container("Type" if model.language == "csharp" else "Class", ()))
        return _Call(name, kind, None)

    def _ranks(self, hit: Hit, call: tuple[_Call, ...]) -> _Ranked | None:
        """How well each argument fits, and whether each parameter has one; None if one cannot."""
        model = self._types.view.model(hit.path)
        if model is None:
            return None
        symbol = model.symbols[hit.symbol]
        taken = parameters(symbol.signature, symbol.name, model.language)
        if taken is None:
            unknown: _Ranked = [(None, "")]
            return unknown * (len(call) + 1)
        wanted = [one for one in taken if not one.receiver]
        ranks: _Ranked = []
        for at, argument in enumerate(call):
            parameter = _parameter(wanted, argument.name, at)
            rank = _NO if parameter is None else self._rank(hit, model, parameter, argument)
            if parameter is None or rank == _NO:
                return None
            ranks.append((rank, f"{parameter.type} {parameter.many}"))
        ranks.append((int(len(wanted) != len(call) or any(one.many for one in wanted)), ""))
        return ranks

    def _rank(
        self, hit: Hit, model: FileModel, parameter: Parameter, argument: _Call
    ) -> int | None:
        wanted = parameter.type
        if not parameter.many:
            return self._fit(hit, model, wanted, argument)
        if model.language == "csharp":
            whole, inner = wanted, wanted.removesuffix("[]")
        else:
            whole, inner = wanted + "[]", wanted
        if argument.kind == "null" or isinstance(argument.value, Container):
            rank = self._fit(hit, model, whole, argument)
            if rank is None or rank >= 0:
                return rank
        single = self._fit(hit, model, inner, argument)
        return single if single is None or single < 0 else single + _MANY

    def _fit(self, hit: Hit, model: FileModel, wanted: str, argument: _Call) -> int | None:
        """How well an argument fits a type that a definition says."""
        own = _PRIMITIVES.get(wanted.rstrip("?"))
        if argument.kind in {"null", "function"}:
            special = _null if argument.kind == "null" else self._function
            return special(hit, model, wanted)
        variable = self._variable(hit, model, wanted)
        if variable >= 0 and model.scopes[variable].kind == "class":
            # What stands for it depends on the value that the method is of.
            return None
        kind = _LITERALS.get(argument.kind, argument.kind)
        value = argument.value
        if not kind and isinstance(value, Container) and not value.args:
            kind = _PRIMITIVES.get(value.name, ("", False))[0]
        is_free = model.language == "csharp"
        if kind:
            return self._primitive(hit, model, wanted, kind, argument)
        if value is None or not isinstance(value, Instance | Container):
            return None
        if own is not None:
            return _CONVERTED if is_free and self._converts(value) else _NO
        if self._is_top(hit, model, wanted):
            return self._top(model, wanted)
        if isinstance(value, Instance):
            return self._instance(hit, wanted, value, is_free=is_free)
        return self._container(hit, model, wanted, value)

    def _primitive(
        self, hit: Hit, model: FileModel, wanted: str, kind: str, argument: _Call
    ) -> int | None:
        own = _PRIMITIVES.get(wanted.rstrip("?"))
        if own is not None:
            return _number(kind, own, model.language, argument)
        # JLS 15.12.2: what needs no boxing comes before all that does.
        boxing = _BOXING if model.language == "java" and kind != "string" else 0
        boxing = 0 if argument.boxed else boxing
        if self._is_top(hit, model, wanted):
            return self._top(model, wanted) + boxing
        name = _plain(wanted)
        if name in (_OF_STRINGS if kind == "string" else _OF_NUMBERS):
            return 60 + boxing
        converts = model.language == "csharp" and self._converts(self._wanted(hit, wanted))
        return _CONVERTED if converts else _NO

    def _top(self, model: FileModel, wanted: str) -> int:
        """A type parameter takes anything; in C# it is then just that."""
        if _plain(wanted) in _TOPS:
            return _TOP
        return _GENERIC if model.language == "csharp" else _TOP - 10

    def _is_top(self, hit: Hit, model: FileModel, wanted: str) -> bool:
        return _plain(wanted) in _TOPS or self._variable(hit, model, wanted) >= 0

    def _variable(self, hit: Hit, model: FileModel, wanted: str) -> int:
        """The scope whose type parameter it is, -1 if it is none."""
        name = _plain(wanted)
        if not name.isidentifier() or wanted.rstrip("?") != name:
            return -1
        scope = model.own_scope.get(hit.symbol, hit.scope)
        found = self._types.named_type(hit.path, scope, name)
        return found[0].scope if found and found[0].symbol == LOCAL else -1

    def _wanted(self, hit: Hit, wanted: str) -> Value:
        model = self._types.view.model(hit.path)
        scope = model.own_scope.get(hit.symbol, hit.scope) if model is not None else 0
        return self._types.of_type(hit.path, scope, wanted)

    def _instance(self, hit: Hit, wanted: str, value: Instance, *, is_free: bool) -> int | None:
        target = self._wanted(hit, wanted)
        line = self._types.ancestry(value)
        if isinstance(target, Instance):
            for at, one in enumerate(line):
                if one[:2] == target[:2]:
                    return 2 * at
            converts = is_free and (self._converts(value) or self._converts(target))
            return _CONVERTED if converts else _NO
        if _is_function(wanted) or wanted.endswith("[]"):
            return _NO
        bases = {_plain(row.text) for one in line for row in self._rows(one)}
        if _plain(wanted) in bases:
            return 30
        return None

    def _converts(self, value: Value) -> bool:
        """Whether a type of C# may define conversions that go of themselves (C# 10.5)."""
        if isinstance(value, Container):
            return value.name not in _TOPS and value.name != "[]"
        if not isinstance(value, Instance):
            return True
        models = [(self._types.view.model(one.path), one) for one in self._types.ancestry(value)]
        return any(
            model is not None and "implicit" in model.children.get(one.symbol, {})
            for model, one in models
        )

    def _rows(self, one: Instance) -> list[Binding]:
        model = self._types.view.model(one.path)
        scope = model.own_scope.get(one.symbol) if model is not None else None
        if model is None or scope is None:
            return []
        return [row for row in model.of_scope.get(scope, ()) if row.how in {"base", "implements"}]

    def _container(self, hit: Hit, model: FileModel, wanted: str, value: Container) -> int | None:
        """A value of a type that is not of the view, or an array."""
        if value.name == "[]":
            if not wanted.endswith("[]"):
                target = self._wanted(hit, wanted)
                known = isinstance(target, Instance) or _plain(wanted) in ABOVE
                return _NO if known else None
            return self._array(hit, model, wanted[:-2], value.args[0] if value.args else None)
        if wanted.endswith("[]") or _is_function(wanted):
            return _NO
        name, above = _plain(wanted), ABOVE.get(value.name)
        if name == value.name.rpartition(".")[2]:
            return 0
        if value.name in _TOPS:
            return _NO
        if above is None:
            return None
        if name in above:
            return 40
        is_free = model.language == "csharp"
        known = name in ABOVE or isinstance(self._wanted(hit, wanted), Instance) or name == "Type"
        return (_CONVERTED if is_free else _NO) if known or not is_free else None

    def _array(self, hit: Hit, model: FileModel, wanted: str, inner: Value) -> int | None:
        """Arrays hold just what they say, but for objects in those of their bases."""
        if inner is None:
            return None
        held = inner.name if isinstance(inner, Container) else ""
        plain, own = held in _SIMPLE, _PRIMITIVES.get(wanted)
        if plain and own is None:
            is_any = model.language == "csharp" and wanted not in _TOPS
            return self._top(model, wanted) if is_any and self._is_top(hit, model, wanted) else _NO
        if held in _PRIMITIVES and own is not None:
            return 0 if _PRIMITIVES[held] == own else _NO
        if own is not None:
            return _NO
        return self._fit(hit, model, wanted, _Call("", "", inner, held in _PRIMITIVES))

    def _function(self, hit: Hit, model: FileModel, wanted: str) -> int | None:
        """A function written out."""
        name = _plain(wanted)
        if _is_function(wanted) or name.startswith(_FUNCTIONS):
            return 0
        if wanted.rstrip("?") in _PRIMITIVES or name in _NO_FUNCTIONS or wanted.endswith("[]"):
            return _NO
        if self._is_top(hit, model, wanted):
            return _TOP if model.language == "kotlin" else _NO
        target = self._wanted(hit, wanted)
        if isinstance(target, Instance):
            there = self._types.view.model(target.path)
            kind = there.symbols[target.symbol].kind if there is not None else ""
            return 2 if kind == "interface" else _NO if kind in {"class", "enum"} else None
        return None


def _null(hit: Hit, model: FileModel, wanted: str) -> int | None:
    del hit
    if model.language == "kotlin":
        return 0 if wanted.endswith("?") else None
    kind, boxed = _PRIMITIVES.get(wanted, ("", True))
    return _NO if kind and not boxed and kind != "string" else 0


def _number(kind: str, own: tuple[str, bool], language: str, argument: _Call) -> int:
    """A value of one of the kinds all languages have, for a parameter of one."""
    wanted, boxed = own
    boxed = boxed and language == "java" and kind != "string"
    if kind == wanted:
        return _BOXING if boxed != argument.boxed else 0
    literal = bool(argument.kind)
    if language == "kotlin" or boxed:
        fits = language == "kotlin" and literal and kind == "int"
        return 2 if fits and wanted in ("long", *_SMALL) else _NO
    wider = _WIDER.get(kind, ())
    if wanted in wider:
        return 2 + wider.index(wanted) + (_BOXING if argument.boxed else 0)
    if language == "csharp" and literal and kind == "int" and wanted in _SMALL:
        return 10
    return _NO


def _valued(name: str, text: str, value: Value, model: FileModel) -> _Call:
    """An argument that is an expression."""
    if model.language != "java":
        return _Call(name, "", value)
    made, constant = _BOXED_CALL.fullmatch(text), _CONSTANT.fullmatch(text)
    if made is not None:
        return _Call(name, "", Container(made[1], ()), boxed=True)
    if constant is not None:
        return _Call(name, "", Container(_PRIMITIVES[constant[1]][0], ()))
    boxed = isinstance(value, Container) and _PRIMITIVES.get(value.name, ("", False))[1]
    return _Call(name, "", value, boxed)


def _is_better(ranks: _Ranked, others: _Ranked) -> bool:
    """In no argument worse, and in one better; what fits exactly is never worse.

    Where no argument is better or worse, that which needs no defaults is.
    """
    better = False
    for (mine, wanted), (other, there) in zip(ranks[:-1], others[:-1], strict=True):
        if wanted == there or (mine == other and mine is not None):
            continue
        if mine is None or (mine > _GENERIC and (other is None or mine > other)):
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


def _plain(text: str) -> str:
    """A type's own name, without its package and what it is made with."""
    found = parsed(text)
    return found.name.rpartition(".")[2] if isinstance(found, Named) else text.rstrip("?")


def _is_function(text: str) -> bool:
    return isinstance(parsed(text), Returns)
