"""What methods of collections and other standard types give, in Java, Kotlin and C#."""

from __future__ import annotations

from codelens.resolve.inference.values import Container, Value
from codelens.resolve.languages.classes.standard_types import GIVES

_ELEMENTS = frozenset(
    "get getFirst getLast next previous remove poll peek pop first last take element orElse "
    "orElseGet orElseThrow getOrDefault put computeIfAbsent getOrNull find single First Last "
    "firstOrNull lastOrNull singleOrNull elementAt getValue getOrPut maxByOrNull minByOrNull "
    "maxBy minBy random removeFirst removeLast peekFirst peekLast pollFirst pollLast "
    "LastOrDefault ElementAt FirstOrDefault Single SingleOrDefault Dequeue Pop Peek".split()
)
_SAME = frozenset(
    "stream iterator listIterator filter sorted distinct limit skip reversed subList toList "
    "asSequence sortedBy sortedByDescending sortedWith distinctBy drop dropWhile takeWhile "
    "toMutableList toSet toTypedArray asReversed filterNot OrderByDescending Distinct Take "
    "findFirst findAny parallelStream collect Where OrderBy ToList ToArray Reverse Skip".split()
)
"""Methods of collections that give one of their elements, or a collection of the same."""
MAPS = frozenset(
    "Map HashMap LinkedHashMap TreeMap ConcurrentHashMap ConcurrentMap SortedMap NavigableMap "
    "MutableMap Dictionary IDictionary ConcurrentDictionary EnumMap WeakHashMap".split()
)


ENUM_METHODS = {"from": False, "tryFrom": False, "valueOf": False, "cases": True, "values": True}
"""Methods that every enum has, and whether they give all members (Java, Kotlin, PHP)."""
ENTRY = "Entry"
_ENTRIES = frozenset({ENTRY, "KeyValuePair"})
_PARTS = {"getKey": 0, "key": 0, "Key": 0, "getValue": 1, "value": 1, "Value": 1}


PROPERTIES = frozenset({"Keys", "Values", "entries", "keys", "values", *_PARTS})
"""What of collections is read without a call as well."""


def part_of_entry(value: Container, name: str) -> Value:
    """The key or the value of an entry of a map."""
    if value.name.rpartition(".")[2] not in _ENTRIES or len(value.args) < len(_ENTRIES):
        return None
    at = _PARTS.get(name, -1)
    return value.args[at] if at >= 0 else None


def result_of_any_method(name: str) -> Value:
    """What a method gives that any value has."""
    text = GIVES.get(name, "")
    if text.endswith("[]"):
        return Container("[]", (Container(text[:-2], ()),))
    return Container(text, ()) if text else None


def awaited(value: Value) -> Value:
    """What a task gives."""
    if isinstance(value, Container) and value.name.rpartition(".")[2] in {"Task", "ValueTask"}:
        return value.args[0] if value.args else None
    return value


def of_collection(value: Container, name: str) -> Value:
    """What a method of a collection gives."""
    if not value.args:
        return None
    if name in _PARTS and value.name not in MAPS:
        return part_of_entry(value, name)
    if value.name in MAPS:
        if name in {"entrySet", "entries"}:
            return Container("Set", (Container(ENTRY, value.args),))
        if name in {"values", "Values"}:
            return Container("Collection", value.args[-1:])
        if name in {"keySet", "keys", "Keys"}:
            return Container("Set", value.args[:1])
        return value.args[-1] if name in _ELEMENTS else None
    if name in _ELEMENTS:
        return value.args[0]
    return value if name in _SAME else None
