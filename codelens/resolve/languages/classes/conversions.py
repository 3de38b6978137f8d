"""How well an argument fits a parameter: as it is, converted, not at all (Java, Kotlin, C#).

The conversions are those that go of themselves: JLS 5.3, C# 10.2, and Kotlin's of literals.
"""

from __future__ import annotations

from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, Returns, parsed
from codelens.resolve.inference.values import Container, Instance, Value
from codelens.resolve.languages.classes.class_type_text import Parameter
from codelens.resolve.languages.classes.standard_types import ABOVE
from codelens.types import Binding

NO = -1
"""It cannot be given so."""
GENERIC = 1
"""By a type parameter that becomes just this type; 0 is the type itself."""
_TOP = 1000
_CONVERTED = 900
"""By a conversion that a type defines itself, as in C#."""
_BOXING = 1100
_MANY = 5000
"""As one of any number."""
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


class Argument(NamedTuple):
    """One argument."""

    name: str
    kind: str
    """Of a literal, else empty."""
    value: Value
    boxed: bool = False
    """A number of Java that is an object."""


class Conversions:
    """Ranks arguments against parameters in one view: 0 fits best."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def rank(
        self, hit: Hit, model: FileModel, parameter: Parameter, argument: Argument
    ) -> int | None:
        """How well an argument fits a parameter, lower is better; `NO` if not, None if unknown."""
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

    def _fit(self, hit: Hit, model: FileModel, wanted: str, argument: Argument) -> int | None:
        """How well an argument fits a type that a definition says."""
        own = PRIMITIVES.get(wanted.rstrip("?"))
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
            kind = PRIMITIVES.get(value.name, ("", False))[0]
        is_free = model.language == "csharp"
        if kind:
            return self._primitive(hit, model, wanted, kind, argument)
        if value is None or not isinstance(value, Instance | Container):
            return None
        if own is not None:
            return _CONVERTED if is_free and self._converts(value) else NO
        if self._is_top(hit, model, wanted):
            return self._top(model, wanted)
        if isinstance(value, Instance):
            return self._instance(hit, wanted, value, is_free=is_free)
        return self._container(hit, model, wanted, value)

    def _primitive(
        self, hit: Hit, model: FileModel, wanted: str, kind: str, argument: Argument
    ) -> int | None:
        own = PRIMITIVES.get(wanted.rstrip("?"))
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
        return _CONVERTED if converts else NO

    def _top(self, model: FileModel, wanted: str) -> int:
        """A type parameter takes anything; in C# it is then just that."""
        if _plain(wanted) in _TOPS:
            return _TOP
        return GENERIC if model.language == "csharp" else _TOP - 10

    def _is_top(self, hit: Hit, model: FileModel, wanted: str) -> bool:
        return _plain(wanted) in _TOPS or self._variable(hit, model, wanted) >= 0

    def _variable(self, hit: Hit, model: FileModel, wanted: str) -> int:
        """The scope whose type parameter it is, -1 if it is none."""
        name = _plain(wanted)
        if not name.isidentifier() or wanted.rstrip("?") != name:
            return -1
        scope = model.own_scope.get(hit.symbol, hit.scope)
        found = self._resolver.named_type(hit.path, scope, name)
        return found[0].scope if found and found[0].symbol == LOCAL else -1

    def _wanted(self, hit: Hit, wanted: str) -> Value:
        model = self._resolver.view.model(hit.path)
        scope = model.own_scope.get(hit.symbol, hit.scope) if model is not None else 0
        return self._resolver.of_type(hit.path, scope, wanted)

    def _instance(self, hit: Hit, wanted: str, value: Instance, *, is_free: bool) -> int | None:
        target = self._wanted(hit, wanted)
        line = self._resolver.ancestry(value)
        if isinstance(target, Instance):
            for at, one in enumerate(line):
                if one[:2] == target[:2]:
                    return 2 * at
            converts = is_free and (self._converts(value) or self._converts(target))
            return _CONVERTED if converts else NO
        if _is_function(wanted) or wanted.endswith("[]"):
            return NO
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
        models = [
            (self._resolver.view.model(one.path), one) for one in self._resolver.ancestry(value)
        ]
        return any(
            model is not None and "implicit" in model.children.get(one.symbol, {})
            for model, one in models
        )

    def _rows(self, one: Instance) -> list[Binding]:
        model = self._resolver.view.model(one.path)
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
                return NO if known else None
            return self._array(hit, model, wanted[:-2], value.args[0] if value.args else None)
        if wanted.endswith("[]") or _is_function(wanted):
            return NO
        name, above = _plain(wanted), ABOVE.get(value.name)
        if name == value.name.rpartition(".")[2]:
            return 0
        if value.name in _TOPS:
            return NO
        if above is None:
            return None
        if name in above:
            return 40
        is_free = model.language == "csharp"
        known = name in ABOVE or isinstance(self._wanted(hit, wanted), Instance) or name == "Type"
        return (_CONVERTED if is_free else NO) if known or not is_free else None

    def _array(self, hit: Hit, model: FileModel, wanted: str, inner: Value) -> int | None:
        """Arrays hold just what they say, but for objects in those of their bases."""
        if inner is None:
            return None
        held = inner.name if isinstance(inner, Container) else ""
        plain, own = held in _SIMPLE, PRIMITIVES.get(wanted)
        if plain and own is None:
            is_any = model.language == "csharp" and wanted not in _TOPS
            return self._top(model, wanted) if is_any and self._is_top(hit, model, wanted) else NO
        if held in PRIMITIVES and own is not None:
            return 0 if PRIMITIVES[held] == own else NO
        if own is not None:
            return NO
        return self._fit(hit, model, wanted, Argument("", "", inner, held in PRIMITIVES))

    def _function(self, hit: Hit, model: FileModel, wanted: str) -> int | None:
        """A function written out."""
        name = _plain(wanted)
        if _is_function(wanted) or name.startswith(_FUNCTIONS):
            return 0
        if wanted.rstrip("?") in PRIMITIVES or name in _NO_FUNCTIONS or wanted.endswith("[]"):
            return NO
        if self._is_top(hit, model, wanted):
            return _TOP if model.language == "kotlin" else NO
        target = self._wanted(hit, wanted)
        if isinstance(target, Instance):
            there = self._resolver.view.model(target.path)
            kind = there.symbols[target.symbol].kind if there is not None else ""
            return 2 if kind == "interface" else NO if kind in {"class", "enum"} else None
        return None


def _null(hit: Hit, model: FileModel, wanted: str) -> int | None:
    del hit
    if model.language == "kotlin":
        return 0 if wanted.endswith("?") else None
    kind, boxed = PRIMITIVES.get(wanted, ("", True))
    return NO if kind and not boxed and kind != "string" else 0


def _number(kind: str, own: tuple[str, bool], language: str, argument: Argument) -> int:
    """A value of one of the kinds all languages have, for a parameter of one."""
    wanted, boxed = own
    boxed = boxed and language == "java" and kind != "string"
    if kind == wanted:
        return _BOXING if boxed != argument.boxed else 0
    literal = bool(argument.kind)
    if language == "kotlin" or boxed:
        fits = language == "kotlin" and literal and kind == "int"
        return 2 if fits and wanted in ("long", *_SMALL) else NO
    wider = _WIDER.get(kind, ())
    if wanted in wider:
        return 2 + wider.index(wanted) + (_BOXING if argument.boxed else 0)
    if language == "csharp" and literal and kind == "int" and wanted in _SMALL:
        return 10
    return NO


def _plain(text: str) -> str:
    """A type's own name, without its package and what it is made with."""
    found = parsed(text)
    return found.name.rpartition(".")[2] if isinstance(found, Named) else text.rstrip("?")


def _is_function(text: str) -> bool:
    return isinstance(parsed(text), Returns)
