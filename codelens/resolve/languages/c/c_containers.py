"""What the standard library of C++ gives: elements, pairs, iterators, pointers that hold.

A pointer, an iterator, an `optional` stand for what they lead to, as they are used by the same
signs.
"""

from __future__ import annotations

from codelens.resolve.inference.values import Container, Value

LISTS = frozenset(
    "vector list deque array set multiset unordered_set unordered_multiset span initializer_list "
    "stack queue priority_queue forward_list valarray InlinedVector FixedArray Span "
    "flat_hash_set node_hash_set btree_set small_vector SmallVector ArrayRef QVector QList "
    "circular_buffer".split()
)
MAPS = frozenset(
    "map unordered_map multimap unordered_multimap flat_hash_map node_hash_map btree_map "
    "flat_map DenseMap StringMap QMap QHash hash_map".split()
)
HOLDING = frozenset(
    "unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_refptr intrusive_ptr "
    "Nonnull Nullable StatusOr expected".split()
)
_ELEMENTS = frozenset(
    "front back at top begin end cbegin cend rbegin rend crbegin crend find lower_bound "
    "upper_bound data insert erase emplace emplace_back emplace_front value "
    "get".split()
)
_HELD = frozenset({"get", "value", "lock", "value_or", "load", "release", "exchange"})
_PAIR = ("first", "second")


def name_of(value: Container) -> str:
    """The name of a type without its namespaces."""
    return value.name.rpartition(".")[2]


def element_of(value: Container, step: str) -> Value:
    """What `[]` or a loop (`[*]`) gives."""
    name = name_of(value)
    if not value.args:
        return None
    if name in MAPS:
        if step == "[]":
            return value.args[1] if len(value.args) > 1 else None
        return Container("pair", value.args[:2])
    return value.args[0] if name in LISTS else None


def result_of_method(value: Container, method: str) -> Value:
    """What a method of a container gives."""
    name = name_of(value)
    if not value.args:
        return None
    if name in MAPS:
        if method in {"at", "try_emplace", "insert_or_assign"}:
            return element_of(value, "[]") if method == "at" else None
        if method in {"insert", "emplace"}:
            return Container("pair", (element_of(value, "[*]"), None))
        return element_of(value, "[*]") if method in _ELEMENTS else None
    if name in LISTS:
        return value.args[0] if method in _ELEMENTS else None
    return None


def part_of(value: Container, name: str) -> Value:
    """A member of a pair."""
    if name_of(value) == "pair" and name in _PAIR and len(value.args) == len(_PAIR):
        return value.args[_PAIR.index(name)]
    return None


def is_handed_on(method: str) -> bool:
    """Whether a method of what holds a value gives that value."""
    return method in _HELD
