"""Ranks arguments against parameters and resolves overloads in Java, Kotlin and C#.

Only implicit conversions count: JLS 5.3, C# 10.2, and Kotlin's conversions of literals.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, Returns, parsed
from codelens.resolve.inference.values import Container, Instance, Value
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_types import ABOVE, Parameter, parameters
from codelens.types import Binding, Reference

NO = -1
"""The argument does not match."""
GENERIC = 1
"""A match by a type parameter; 0 is an exact match."""
_TOP = 1000
_CONVERTED = 900
"""A match by a conversion that a type defines, as in C#."""
_BOXING = 1100
_MANY = 5000
"""A match with a variadic parameter."""
PRIMITIVES = {
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
"""Type -> its language-independent kind, and whether Java boxes it."""
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
"""Kind of number -> kinds it implicitly converts to, nearest first."""
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


class Argument(NamedTuple):
    """An argument of a call."""

    name: str
    kind: str
    """The kind of a literal, else empty."""
    value: Value
    boxed: bool = False
    """Whether it is a boxed number of Java."""


class Conversions:
    """Ranks arguments against parameters in one view; 0 is the best rank."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def rank(
        self, referent: Referent, model: FileModel, parameter: Parameter, argument: Argument
    ) -> int | None:
        """Return the rank of an argument, 0 is best; `NO` for a mismatch, None if unknown."""
        type_name = parameter.type
        if not parameter.many:
            return self._fit(referent, model, type_name, argument)
        if model.language == "csharp":
            whole, inner = type_name, type_name.removesuffix("[]")
        else:
            whole, inner = type_name + "[]", type_name
        if argument.kind == "null" or isinstance(argument.value, Container):
            rank = self._fit(referent, model, whole, argument)
            if rank is None or rank >= 0:
                return rank
        single = self._fit(referent, model, inner, argument)
        return single if single is None or single < 0 else single + _MANY

    def _fit(
        self, referent: Referent, model: FileModel, type_name: str, argument: Argument
    ) -> int | None:
        """Return the rank of an argument against a type in a definition's signature."""
        own = PRIMITIVES.get(type_name.rstrip("?"))
        if argument.kind in {"null", "function"}:
            special = _null if argument.kind == "null" else self._function
            return special(referent, model, type_name)
        variable = self._variable(referent, model, type_name)
        if variable >= 0 and model.scopes[variable].kind == "class":
            # The method's receiver determines its type argument.
            return None
        kind = _LITERALS.get(argument.kind, argument.kind)
        value = argument.value
        if not kind and isinstance(value, Container) and not value.args:
            kind = PRIMITIVES.get(value.name, ("", False))[0]
        is_free = model.language == "csharp"
        if kind:
            return self._primitive(referent, model, type_name, kind, argument)
        if value is None or not isinstance(value, Instance | Container):
            return None
        if own is not None:
            return _CONVERTED if is_free and self._converts(value) else NO
        if self._is_top(referent, model, type_name):
            return self._type_parameter_rank(model, type_name)
        if isinstance(value, Instance):
            return self._instance(referent, type_name, value, is_free=is_free)
        return self._container(referent, model, type_name, value)

    def _primitive(
        self, referent: Referent, model: FileModel, type_name: str, kind: str, argument: Argument
    ) -> int | None:
        own = PRIMITIVES.get(type_name.rstrip("?"))
        if own is not None:
            rank = _number(kind, own, model.language, argument)
            # A literal is never null. Whether a variable may be is unknown here.
            is_wrapped = model.language == "csharp" and type_name[-1:] == "?" and argument.kind
            return GENERIC if is_wrapped and rank == 0 else rank
        # JLS 15.12.2: matches without boxing come before all matches with boxing.
        boxing = _BOXING if model.language == "java" and kind != "string" else 0
        boxing = 0 if argument.boxed else boxing
        if self._is_top(referent, model, type_name):
            return self._type_parameter_rank(model, type_name) + boxing
        name = _plain(type_name)
        if name in (_OF_STRINGS if kind == "string" else _OF_NUMBERS):
            return 60 + boxing
        converts = model.language == "csharp" and self._converts(
            self._parameter_type(referent, type_name)
        )
        return _CONVERTED if converts else NO

    def _type_parameter_rank(self, model: FileModel, type_name: str) -> int:
        """Return the rank for a type parameter, which accepts anything; exact in C#."""
        if _plain(type_name) in _TOPS:
            return _TOP
        return GENERIC if model.language == "csharp" else _TOP - 10

    def _is_top(self, referent: Referent, model: FileModel, type_name: str) -> bool:
        return _plain(type_name) in _TOPS or self._variable(referent, model, type_name) >= 0

    def _variable(self, referent: Referent, model: FileModel, type_name: str) -> int:
        """Return the scope that declares a type parameter, or -1."""
        name = _plain(type_name)
        if not name.isidentifier() or type_name.rstrip("?") != name:
            return -1
        scope = model.own_scope.get(referent.symbol, referent.scope)
        referents = self._resolver.named_type(referent.path, scope, name)
        return referents[0].scope if referents and referents[0].symbol == LOCAL else -1

    def _parameter_type(self, referent: Referent, type_name: str) -> Value:
        model = self._resolver.view.model(referent.path)
        scope = model.own_scope.get(referent.symbol, referent.scope)
        return self._resolver.of_type(referent.path, scope, type_name)

    def _instance(
        self, referent: Referent, type_name: str, value: Instance, *, is_free: bool
    ) -> int | None:
        target = self._parameter_type(referent, type_name)
        line = self._resolver.ancestry(value)
        if isinstance(target, Instance):
            for at, type_ in enumerate(line):
                if type_[:2] == target[:2]:
                    return 2 * at
            converts = is_free and (self._converts(value) or self._converts(target))
            return _CONVERTED if converts else NO
        if _is_function(type_name) or type_name.endswith("[]"):
            return NO
        bases = {_plain(row.text) for type_ in line for row in self._rows(type_)}
        if _plain(type_name) in bases:
            return 30
        return None

    def _converts(self, value: Value) -> bool:
        """Whether a C# type may define implicit conversions (C# 10.5)."""
        if isinstance(value, Container):
            return value.name not in _TOPS and value.name != "[]"
        if not isinstance(value, Instance):
            return True
        return any(
            "implicit" in self._resolver.view.model(type_.path).children.get(type_.symbol, {})
            for type_ in self._resolver.ancestry(value)
        )

    def _rows(self, own: Instance) -> list[Binding]:
        model = self._resolver.view.model(own.path)
        scope = model.own_scope.get(own.symbol)
        if scope is None:
            return []
        return [row for row in model.of_scope.get(scope, ()) if row.how in {"base", "implements"}]

    def _container(
        self, referent: Referent, model: FileModel, type_name: str, value: Container
    ) -> int | None:
        """Return the rank of an array or of a value of a type outside of the view."""
        if value.name == "[]":
            if not type_name.endswith("[]"):
                target = self._parameter_type(referent, type_name)
                is_known_type = isinstance(target, Instance) or _plain(type_name) in ABOVE
                return NO if is_known_type else None
            return self._array(
                referent, model, type_name[:-2], value.args[0] if value.args else None
            )
        if type_name.endswith("[]") or _is_function(type_name):
            return NO
        name, above = _plain(type_name), ABOVE.get(value.name)
        if name == value.name.rpartition(".")[2]:
            return 0
        if value.name in _TOPS:
            return NO
        if above is None:
            return None
        if name in above:
            return 40
        is_free = model.language == "csharp"
        is_known_type = (
            name in ABOVE
            or isinstance(self._parameter_type(referent, type_name), Instance)
            or name == "Type"
        )
        return (_CONVERTED if is_free else NO) if is_known_type or not is_free else None

    def _array(
        self, referent: Referent, model: FileModel, type_name: str, inner: Value
    ) -> int | None:
        """Return the rank of an array: element types must be equal, or a subtype for objects."""
        if inner is None:
            return None
        item_type = inner.name if isinstance(inner, Container) else ""
        plain, own = item_type in _SIMPLE, PRIMITIVES.get(type_name)
        if plain and own is None:
            is_any = model.language == "csharp" and type_name not in _TOPS
            return (
                self._type_parameter_rank(model, type_name)
                if is_any and self._is_top(referent, model, type_name)
                else NO
            )
        if item_type in PRIMITIVES and own is not None:
            return 0 if PRIMITIVES[item_type] == own else NO
        if own is not None:
            return NO
        return self._fit(
            referent, model, type_name, Argument("", "", inner, item_type in PRIMITIVES)
        )

    def _function(self, referent: Referent, model: FileModel, type_name: str) -> int | None:
        """Return the rank of a lambda."""
        name = _plain(type_name)
        if _is_function(type_name) or name.startswith(_FUNCTIONS):
            return 0
        if type_name.rstrip("?") in PRIMITIVES or name in _NO_FUNCTIONS or type_name.endswith("[]"):
            return NO
        if self._is_top(referent, model, type_name):
            return _TOP if model.language == "kotlin" else NO
        target = self._parameter_type(referent, type_name)
        if isinstance(target, Instance):
            kind = self._resolver.view.symbol(target).kind
            return 2 if kind == "interface" else NO if kind in {"class", "enum"} else None
        return None


def _null(referent: Referent, model: FileModel, type_name: str) -> int | None:
    del referent
    if model.language == "kotlin":
        return 0 if type_name.endswith("?") else None
    kind, boxed = PRIMITIVES.get(type_name, ("", True))
    return NO if kind and not boxed and kind != "string" else 0


def _number(kind: str, own: tuple[str, bool], language: str, argument: Argument) -> int:
    """Return the rank of a primitive value for a primitive parameter."""
    expected, boxed = own
    boxed = boxed and language == "java" and kind != "string"
    if kind == expected:
        return _BOXING if boxed != argument.boxed else 0
    literal = bool(argument.kind)
    if language == "kotlin" or boxed:
        fits = language == "kotlin" and literal and kind == "int"
        return 2 if fits and expected in ("long", *_SMALL) else NO
    wider = _WIDER.get(kind, ())
    if expected in wider:
        return 2 + wider.index(expected) + (_BOXING if argument.boxed else 0)
    if language == "csharp" and literal and kind == "int" and expected in _SMALL:
        return 10
    return NO


def _plain(text: str) -> str:
    """Return the name of a type without its package and type arguments."""
    type_ = parsed(text)
    return type_.name.rpartition(".")[2] if isinstance(type_, Named) else text.rstrip("?")


def _is_function(text: str) -> bool:
    return isinstance(parsed(text), Returns)


# Overload resolution by argument types in Java, Kotlin and C#.
#
# An argument matches exactly, after a conversion, or not at all; or the match is unknown. A call
# refers to the only overload left, or to the one that is better than every other and worse in no
# argument. This is the common part of JLS 15.12.2, C# 12.6.4 and Kotlin's overload resolution.

LANGUAGES = frozenset({"java", "kotlin", "csharp"})
_BOXED_CALL = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character|Boolean)\.valueOf\(\)")
_CONSTANT = re.compile(r"(Integer|Long|Short|Byte|Float|Double|Character)\.[A-Z][A-Z_a-z]*")
Ranked = list[tuple[int | None, str]]
"""For each argument its rank and the parameter type."""


class Overloads:
    """Chooses between overloads in one view."""

    def __init__(self, resolver: Resolver, members: ClassMembers) -> None:
        self._resolver, self._members = resolver, members
        self._conversions = Conversions(resolver)

    def meant(self, path: bytes, reference: Reference, referents: list[Referent]) -> list[Referent]:
        """Return the overloads that a call may mean, by its arguments.

        In C#, a type with another number of type arguments is a different type.
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
        """Return the inherited overloads of a method, for calls that cannot mean the method."""
        return self._resolver.once(("above", *referent[:2]), lambda: self._above(referent), [])

    def _above(self, referent: Referent) -> list[Referent]:
        symbol = self._resolver.view.symbol(referent) if referent.symbol >= 0 else None
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
        """Return the overloads that a call may mean; one if the arguments decide."""
        view = self._resolver.view
        model = view.model(path)
        if not arguments or model.language not in LANGUAGES:
            return referents
        if any(
            view.languages.get(referent.path) not in LANGUAGES or referent.symbol < 0
            for referent in referents
        ):
            return referents
        call = tuple(self._argument(path, reference, text, model) for text in arguments.split("\n"))
        seen = tuple(referent for referent in referents if self._is_seen(path, referent))
        # Many places call the same function with the same argument types.
        return view.once(("overloads", seen, call), lambda: self._best(seen, call))

    def _best(self, referents: tuple[Referent, ...], call: tuple[Argument, ...]) -> list[Referent]:
        fits: list[tuple[Referent, Ranked]] = []
        for referent in referents:
            ranks = self._ranks(referent, call)
            if ranks is not None:
                fits.append((referent, ranks))
        return best_of(fits)

    def _is_seen(self, path: bytes, referent: Referent) -> bool:
        """Whether a definition is not private to another file; C# definitions always count."""
        model = self._resolver.view.model(referent.path)
        if referent.path == path or model.language == "csharp":
            return True
        return "private" not in model.symbols[referent.symbol].signature.partition("(")[0].split()

    def _argument(self, path: bytes, reference: Reference, text: str, model: FileModel) -> Argument:
        name, sign, rest = text.partition("=")
        if not sign or not name.isidentifier():
            name, rest = "", text
        if rest == "nameof()":
            return Argument(name, "string", None)
        if rest in model.asserted and _may_be_cast(model, reference, rest):
            return Argument(name, "", None)
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
        """Return the rank of each argument; None if one has no matching parameter."""
        model = self._resolver.view.model(referent.path)
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


def _may_be_cast(model: FileModel, reference: Reference, name: str) -> bool:
    """Whether a test before a call may have given a name another type there (Kotlin).

    If a test certainly has, the value of the name is known.
    """
    function, scope = model.functions[reference.scope], reference.scope
    around = {scope}
    while scope > function:
        scope = model.scopes[scope].parent
        around.add(scope)
    rows = [
        row
        for row in model.of_scope.get(function, ())
        if row.how == "asserted" and row.line <= reference.line
        and row.text.rpartition(":")[0] == name
    ]  # fmt: skip
    if any(row.scope in around and row.text[-1:] != ":" for row in rows):
        return False
    return any(row.text[-1:] == ":" for row in rows) and model.language == "kotlin"


def _valued(name: str, text: str, value: Value, model: FileModel) -> Argument:
    """Return the argument for an expression."""
    if model.language != "java":
        return Argument(name, "", value)
    boxed_call, constant = _BOXED_CALL.fullmatch(text), _CONSTANT.fullmatch(text)
    if boxed_call is not None:
        return Argument(name, "", Container(boxed_call[1], ()), boxed=True)
    if constant is not None:
        return Argument(name, "", Container(PRIMITIVES[constant[1]][0], ()))
    boxed = isinstance(value, Container) and PRIMITIVES.get(value.name, ("", False))[1]
    return Argument(name, "", value, boxed)


def best_of(fits: list[tuple[Referent, Ranked]]) -> list[Referent]:
    """Return the overload that is better than every other one, or all if there is no such one."""
    best = [
        referent
        for referent, ranks in fits
        if all(_is_better(ranks, others) for other, others in fits if other != referent)
    ]
    return best if len(best) == 1 else [referent for referent, _ in fits]


def _is_better(ranks: Ranked, others: Ranked) -> bool:
    """Whether `ranks` is better in one argument and worse in none; exact is never worse.

    On a tie, the overload that uses no default values is better.
    """
    better = False
    for (rank, type_name), (other, other_type) in zip(ranks[:-1], others[:-1], strict=True):
        if type_name == other_type or (rank == other and rank is not None):
            continue
        if rank is None or (rank > GENERIC and (other is None or rank > other)):
            return False
        if other is not None and rank > other:
            return False
        better = True
    return better or (ranks[-1][0] or 0) < (others[-1][0] or 0)


def _parameter(expected: list[Parameter], name: str, at: int) -> Parameter | None:
    """Return the parameter for an argument."""
    if name:
        return next((parameter for parameter in expected if parameter.name == name), None)
    if at < len(expected):
        return expected[at]
    return expected[-1] if expected and expected[-1].many else None
