"""What methods of lists, mappings and the like give, by what they hold."""

from __future__ import annotations

from codelens.resolve.inference.values import Container, Function, Value

PAIRS = frozenset(
    "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict Map Record "
    "WeakMap ReadonlyMap".split()
)
_ROWS = frozenset(
    "list List Sequence MutableSequence deque Deque set Set AbstractSet MutableSet frozenset "
    "FrozenSet [] Array ReadonlyArray ReadonlySet".split()
)
_TUPLES = frozenset({"tuple", "Tuple"})
_ONE_OF_PAIRS = frozenset("get pop setdefault".split())
_ONE_OF_ROWS = frozenset("pop popleft shift at find findLast".split())
_THE_SAME = frozenset("copy filter slice concat reverse toReversed sort toSorted values".split())


def member(value: Container, name: str) -> Value:
    """A method as what it gives; of a tuple `#1`, its second part."""
    if value.name in PAIRS and len(value.args) > 1:
        return _of_pairs(value, name)
    if not value.args:
        return None
    first = value.args[0]
    if name.startswith("#"):
        at = int(name[1:]) if name[1:].isdigit() else -1
        if value.name in _TUPLES:
            return value.args[at] if 0 <= at < len(value.args) else None
        return first if value.name in _ROWS else None
    if value.name == "ContextVar":
        return Function(first) if name == "get" else None
    if value.name in _ROWS:
        if name in _ONE_OF_ROWS:
            return Function(first)
        return Function(value) if name in _THE_SAME else None
    return None


def _of_pairs(value: Container, name: str) -> Value:
    key, item = value.args[0], value.args[-1]
    if name in _ONE_OF_PAIRS:
        return Function(item)
    if name == "values":
        return Function(Container("Iterable", (item,)))
    if name == "keys":
        return Function(Container("Iterable", (key,)))
    if name in {"items", "entries"}:
        return Function(Container("Iterable", (Container("tuple", (key, item)),)))
    return Function(value) if name == "copy" else None
