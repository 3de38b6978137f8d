"""What functions written out are given in Java, Kotlin, C# and PHP, by what takes them."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.inference.handed_values import HandedValues, parameter_type
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, parsed
from codelens.resolve.inference.values import Container, Definition, Instance, Super, Value, each
from codelens.resolve.languages.classes.class_containers import ENTRY, MAPS
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_type_text import class_type, parameters

_ITSELF = frozenset({"also", "let", "takeIf", "takeUnless", "use"})
"""Functions of Kotlin that give a function what they are called on."""
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
"""Methods of collections, streams and optional values whose function gets an element."""
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
"""Types of functions with several parameters: which of their arguments each is of."""
_DELEGATE = "delegate "
_WRAPPING = frozenset({"Expression"})


class ClassHanded(HandedValues):
    """By declared types of functions, functional interfaces and delegates."""

    def __init__(self, resolver: Resolver, members: ClassMembers) -> None:
        super().__init__(resolver)
        self._members = members

    def given(
        self, taker: Value, method: tuple[str, ...], parameter: tuple[int, int],
        result: Value = None,
    ) -> Value:  # fmt: skip
        """What a function written out gets from a function, or from a method of a value."""
        del result  # In these languages only the arguments say what type parameters stand for.
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
        """What a function says of the parameter of one that it takes."""
        model = self.view.model(function.path) if isinstance(function, Definition) else None
        if model is None or not isinstance(function, Definition):
            return None
        symbol = model.symbols[function.symbol]
        taken = parameters(symbol.signature, symbol.name, model.language)
        if symbol.kind not in CALLABLE or not taken:
            return None
        place += bool(taken[0].receiver) and place >= 0
        if place >= len(taken):
            return None
        scope = model.own_scope.get(function.symbol, 0)
        return self._of_function(function.path, scope, taken[place].type, at, function.owner)

    def _of_function(self, path: bytes, scope: int, text: str, at: int, me: Value) -> Value:
        """What a function of a type gets as its parameter of a place."""
        if "->" in text:
            written = parameter_type(text, at, "->")
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
        """What a delegate of the view takes, or the only method of an interface."""
        for named in self.resolver.named_type(path, scope, text.partition("<")[0])[:1]:
            model = self.view.model(named.path) if named.symbol >= 0 else None
            delegate = model.symbols[named.symbol] if model is not None else None
            if model is not None and delegate is not None and _DELEGATE in delegate.signature:
                taken = parameters(delegate.signature, delegate.name, model.language) or ()
                of = taken[at].type if at < len(taken) else ""
                return self.resolver.of_type(named.path, named.scope, of, me) if of else None
        for value in each(self.resolver.of_type(path, scope, text, me)):
            model = self.view.model(value.path) if isinstance(value, Instance) else None
            if model is None or not isinstance(value, Instance):
                continue
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
    """What methods of collections of the standard libraries give a function."""
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
