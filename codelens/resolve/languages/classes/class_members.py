"""Finds class members, and the parameters of lambdas, in Java, Kotlin, C# and PHP."""

from __future__ import annotations

from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.inference.call_results import (
    OWN,
    CallbackParameters,
)
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, function_parts, parameter_at, parsed
from codelens.resolve.inference.values import Container, Definition, Instance, Super, Value, each
from codelens.resolve.languages.classes.class_names import ClassNames, Space, builds
from codelens.resolve.languages.classes.class_types import (
    ENTRY,
    MAPS,
    class_type,
    extended,
    is_delegate,
    is_explicit,
    parameters,
)

_ITSELF = frozenset({"also", "let", "takeIf", "takeUnless", "use"})
"""Kotlin functions that pass their receiver to a function."""
_ELEMENTS = frozenset(
    "All Any Average ConvertAll Count Distinct Exists Find FindAll FindIndex FindLast First "
    "FirstOrDefault ForEach GroupBy Last LastOrDefault Max MaxBy Min MinBy OrderBy "
    "OrderByDescending RemoveAll Select SelectMany Single SingleOrDefault SkipWhile Sum TakeWhile "
    "ThenBy ThenByDescending ToDictionary ToLookup Where all allMatch any anyMatch associate "
    "associateBy associateWith count distinctBy dropWhile filter filterNot filterTo find findLast "
    "first firstOrNull flatMap forEach groupBy ifPresent ifPresentOrElse indexOfFirst indexOfLast "
    "last lastOrNull map mapNotNull mapTo mapToDouble mapToInt mapToLong mapToObj max maxBy "
    "maxByOrNull maxOf min minBy minByOrNull minOf none noneMatch onEach partition peek removeAll "
    "removeIf retainAll replaceAll single singleOrNull sort sortBy sortByDescending sortWith "
    "sorted sortedBy sortedByDescending sortedWith sumBy sumOf takeWhile toMap".split()
)
"""Methods of collections, streams and optionals whose lambda receives an element."""
_INDEXED = frozenset("filterIndexed forEachIndexed mapIndexed mapIndexedNotNull".split())
_OF_PAIRS = frozenset("compute computeIfAbsent computeIfPresent getOrPut forEach".split())
_COLLECTIONS = frozenset(
    """
    ArrayDeque ArrayList Array Collection Deque Enumerable Flow Flux HashSet IAsyncEnumerable
    ICollection IEnumerable IList IQueryable IReadOnlyCollection IReadOnlyList Iterable
    ImmutableList ImmutableSet LinkedHashSet LinkedList List Mono MutableCollection MutableList
    MutableSet Optional PriorityQueue Queue Sequence Set SortedSet Stack Stream TreeSet Vector []
    """.split()
)
_ARGUMENTS = {
    **dict.fromkeys(("Comparator", "Comparison", "BinaryOperator"), (0, 0)),
    **dict.fromkeys(("BiConsumer", "BiFunction", "BiPredicate", "ToIntBiFunction"), (0, 1)),
    "Action": (0, 1, 2, 3, 4, 5),
    "Func": (0, 1, 2, 3, 4, 5),
}
"""Function types with several parameters -> the index of each parameter's type argument."""
_DELEGATE = "delegate "
_WRAPPING = frozenset({"Expression"})


class ClassCallbackParameters(CallbackParameters):
    """Evaluates lambda parameters by function types, functional interfaces and delegates."""

    def __init__(self, resolver: Resolver, members: ClassMembers) -> None:
        super().__init__(resolver)
        self._members = members

    def given(
        self, taker: Value, method: tuple[str, ...], parameter: tuple[int, int],
        result: Value = None,
    ) -> Value:  # fmt: skip
        """Return what a lambda receives from a function or from a method of a value."""
        del result  # In these languages, only the arguments determine type parameters.
        if not method or method[0][0] in "([":
            return self.declared(taker, *parameter)
        name = method[0]
        if isinstance(taker, Container):
            value = _of_container(taker, name, parameter[1])
            return taker if value is None and name in _ITSELF else value
        if not isinstance(taker, Instance | Definition | Super):
            return None
        referents = self._members.line_members(taker, name, "call", -1, strict=False)
        referents = referents or self._members.extensions(taker, name)
        if not referents:
            return taker if name in _ITSELF and not parameter[1] else None
        return self.of_functions([(referent, taker) for referent in referents], parameter)

    def declared(self, function: Value, place: int, at: int) -> Value:
        """Return the declared type of a parameter of a function parameter."""
        if not isinstance(function, Definition):
            return None
        model = self.view.model(function.path)
        symbol = model.symbols[function.symbol]
        taken = parameters(symbol.signature, symbol.name, model.language)
        if symbol.kind not in CALLABLE or not taken:
            return None
        place += bool(taken[0].receiver) and place >= 0
        if place >= len(taken):
            return None
        scope = model.own_scope.get(function.symbol, 0)
        return self._of_function(function.path, scope, taken[place].type, at, function.owner)

    def expected(self, path: bytes, scope: int, text: str, steps: tuple[str, ...]) -> Value:
        """Return what a lambda receives by the type of a variable, cast or result that takes it."""
        number = steps[0].removeprefix(OWN)
        return self._of_function(path, scope, text, int(number), None) if len(steps) == 1 else None

    def _of_function(self, path: bytes, scope: int, text: str, at: int, me: Value) -> Value:
        """Return the type of a parameter in a function type."""
        if "->" in text:
            written = parameter_at(function_parts(text, "->")[0], at, "->")
            return self.resolver.of_type(path, scope, written, me) if written else None
        type_ = parsed(class_type(text))
        while isinstance(type_, Named) and type_.name.rpartition(".")[2] in _WRAPPING:
            type_ = type_.args[0] if type_.args else None
        if not isinstance(type_, Named):
            return None
        if self.resolver.named_type(path, scope, type_.name):
            return self._of_interface(path, scope, text, at, me)
        name = type_.name.rpartition(".")[2]
        places = _ARGUMENTS.get(name, (0,))
        count = len(type_.args) - (name == "Func")
        if at >= len(places) or places[at] >= count:
            return None
        value = self.resolver.of_type(path, scope, text, me)
        while isinstance(value, Container) and value.name.rpartition(".")[2] in _WRAPPING:
            value = value.args[0] if value.args else None
        is_known = isinstance(value, Container) and places[at] < len(value.args)
        return value.args[places[at]] if is_known and isinstance(value, Container) else None

    def _of_interface(self, path: bytes, scope: int, text: str, at: int, me: Value) -> Value:
        """Return the type of a parameter of a delegate or of an interface's only method."""
        for named in self.resolver.named_type(path, scope, text.partition("<")[0])[:1]:
            delegate = self.view.symbol(named) if named.symbol >= 0 else None
            if delegate is not None and _DELEGATE in delegate.signature:
                language = self.view.model(named.path).language
                taken = parameters(delegate.signature, delegate.name, language) or ()
                of = taken[at].type if at < len(taken) else ""
                return self.resolver.of_type(named.path, named.scope, of, me) if of else None
        for value in each(self.resolver.of_type(path, scope, text, me)):
            if not isinstance(value, Instance):
                continue
            model = self.view.model(value.path)
            inside = [
                place
                for places in model.children.get(value.symbol, {}).values()
                for place in places
                if model.symbols[place].kind in CALLABLE
                and "default " not in model.symbols[place].signature
            ]
            if len(inside) != 1 or model.symbols[value.symbol].kind != "interface":
                continue
            method = model.symbols[inside[0]]
            taken = parameters(method.signature, method.name, model.language) or ()
            if at < len(taken):
                inner = model.own_scope.get(inside[0], 0)
                return self.resolver.of_type(value.path, inner, taken[at].type, value)
        return None


def _of_container(value: Container, name: str, at: int) -> Value:
    """Return what methods of standard collections pass to a function."""
    kind = value.name.rpartition(".")[2]
    if not value.args:
        return None
    if kind in MAPS:
        if name in _OF_PAIRS and (name != "forEach" or at):
            return value.args[at] if at < len(value.args) else None
        entry = Container(ENTRY, value.args)
        return entry if name in _ELEMENTS and not at else None
    if kind not in _COLLECTIONS:
        return None
    if name in _INDEXED:
        return value.args[0] if at == 1 else None
    is_element = not at or name in {"sort", "sorted", "sortWith", "sortedWith"}
    return value.args[0] if name in _ELEMENTS and is_element else None


# Members from all parts of a type, from its bases, and from extensions.

_EXTENDED = frozenset({"csharp", "kotlin"})
"""Languages with extension methods; only these need an index of the view."""


class ClassMembers(Members):
    """Finds members of classes."""

    names: ClassNames

    def inherited(
        self, value: Instance, name: str, space: Space | None, arguments: int = -1
    ) -> list[Referent]:
        """Return the matching members of the nearest type among a type and its bases."""
        return self.line_members(value, name, space, arguments)

    def line_members(
        self,
        value: Instance | Definition | Super,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Referent]:
        """Return the nearest type's members; unless `strict`, a call may also mean a non-method."""
        for type_ in self._line(value):
            referents = [
                referent for referent in self.members_named(type_, name) if self.is_own(referent)
            ]
            if space is not None:
                chosen = self.names.of_space(referents, space)
                lax = not strict and space == "call"
                referents = (
                    [referent for referent in referents if self._runs(referent)]
                    if lax and not chosen
                    else chosen
                )
            referents = self.names.fitting(referents, arguments)
            if referents:
                return referents
        return []

    def members_named(self, own: Instance, name: str) -> list[Referent]:
        """Return the members of that name in the parts of a type, without constructors."""
        parts = self.parts(own)
        if len(parts) == 1:
            return self._in_part(*parts[0], name)
        # Generated classes may have hundreds of parts.
        whole = self.once(("held", own.path, own.symbol), lambda: self._members_by_name(parts), {})
        return whole.get(name, [])

    def _members_by_name(self, parts: list[tuple[bytes, int]]) -> dict[str, list[Referent]]:
        by_name: dict[str, list[Referent]] = {}
        for path, symbol in parts:
            for name in self.view.model(path).children.get(symbol, {}):
                by_name.setdefault(name, []).extend(self._in_part(path, symbol, name))
        return by_name

    def _in_part(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        model = self.view.model(path)
        places = model.children.get(symbol, {}).get(name, ())
        if not places:
            return []
        scope = model.own_scope.get(symbol, 0)
        return [Referent(path, at, scope, name) for at in places if not builds(model, at)]

    def is_own(self, referent: Referent) -> bool:
        """Whether a member is not an explicit interface implementation (C# 18.6.2)."""
        model = self.view.model(referent.path)
        if model.language != "csharp":
            return True
        return not is_explicit(model.symbols[referent.symbol].signature, referent.name)

    def _runs(self, referent: Referent) -> bool:
        """Whether a non-method member can be called: a record component, a function value."""
        model = self.view.model(referent.path)
        if referent.symbol < 0:
            return False
        symbol = model.symbols[referent.symbol]
        if model.language == "csharp":
            return is_delegate(symbol.signature)
        if model.language == "java":
            owner = model.symbols[symbol.parent].signature if symbol.parent >= 0 else ""
            return "record " in owner
        return model.language != "php"

    def extensions(self, value: Instance | Definition | Super, name: str) -> list[Referent]:
        """Return the only extension function of that name for a type."""
        if not isinstance(value, Instance) or self.view.languages.get(value.path) not in _EXTENDED:
            return []
        every = self.view.index("extensions", self._all_extensions).get(name, ())
        for type_ in self.ancestry(value):
            referents = [referent for referent, own in every if own[:2] == type_[:2]]
            if referents:
                return referents if len({referent.path for referent in referents}) == 1 else []
        return []

    def _all_extensions(self) -> dict[str, list[tuple[Referent, Instance]]]:
        by_name: dict[str, list[tuple[Referent, Instance]]] = {}
        for path, model in self.view.of_languages(_EXTENDED):
            for at, symbol in enumerate(model.symbols):
                kind = extended(symbol.signature, symbol.name, self.view.languages[path])
                if kind:
                    for own in each(self.resolver.of_type(path, 0, kind)):
                        if isinstance(own, Instance):
                            referent = Referent(path, at, 0, symbol.name)
                            by_name.setdefault(symbol.name, []).append((referent, own))
        return by_name

    def parts(self, own: Instance) -> list[tuple[bytes, int]]:
        """Return the declarations that form a type; in C# there may be several."""
        if self.view.languages.get(own.path) != "csharp":
            return [own[:2]]
        return self.once(("parts", own.path, own.symbol), lambda: self._parts(own), [own[:2]])

    def _parts(self, own: Instance) -> list[tuple[bytes, int]]:
        model = self.view.model(own.path)
        symbol = model.symbols[own.symbol]
        if symbol.parent >= 0 and model.symbols[symbol.parent].kind in TYPES:
            return [own[:2]]
        referents = self.names.parts(self.names.package(own.path), symbol.name)
        count = self.names.generics(Referent(*own[:2]))
        referents = [
            referent
            for referent in self.names.of_space(referents, "type")
            if self.names.generics(referent) == count
        ]
        return [(referent.path, referent.symbol) for referent in referents] or [own[:2]]

    def _line(self, value: Instance | Definition | Super) -> list[Instance]:
        if isinstance(value, Super):
            if not isinstance(value.of, Instance):
                return []
            ancestors = self.ancestry(value.of)
            at = next(
                (at for at, type_ in enumerate(ancestors) if type_[:2] == value[:2]), len(ancestors)
            )
            return ancestors[at + 1 :]
        if isinstance(value, Definition):
            return self.ancestry(Instance(value.path, value.symbol))
        return self.ancestry(value)

    def _of_types(
        self, ancestors: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in ancestors:
            referents: list[Referent] = []
            for path, symbol in self.parts(type_):
                model = self.view.model(path)
                scope = model.own_scope.get(symbol, 0)
                places = model.children.get(symbol, {}).get(name, ())
                referents += [Referent(path, at, scope, name) for at in places]
            if referents:
                return [(referent, value) for referent in referents]
        return []

    def bases(self, own: Instance) -> list[Instance]:
        """Return the bases of a type that are types of the view."""
        bases: list[Instance] = []
        for path, symbol in self.parts(own):
            model = self.view.model(path)
            scope = model.own_scope.get(symbol)
            if scope is None:
                continue
            key = (path, symbol)
            fresh = key not in self.names.busy
            self.names.busy.add(key)
            try:
                for row in model.of_scope.get(scope, ()):
                    if row.how in {"base", "implements"}:
                        for base in each(self.resolver.of_type(path, scope, row.text, own)):
                            if isinstance(base, Instance) and base[:2] != own[:2]:
                                bases.append(base)
            finally:
                if fresh:
                    self.names.busy.discard(key)
        return bases

    def instance_of_scope(self, path: bytes, scope: int) -> Instance | None:
        """Return an instance of the class of a scope; of its base, if it is anonymous."""
        model = self.view.model(path)
        here = model.scopes[scope]
        if here.symbol >= 0:
            symbol = here.symbol
            if model.symbols[symbol].kind not in TYPES:
                symbol = model.symbols[symbol].parent
            return Instance(path, symbol) if symbol >= 0 else None
        for row in model.of_scope.get(scope, ()):
            if row.how == "base":
                value = self.resolver.of_type(path, here.parent, row.text)
                return value if isinstance(value, Instance) else None
        return None
