"""What types of Rust's standard library give: what they hold, elements, what is guarded."""

from __future__ import annotations

from codelens.resolve.inference.values import Container, Value
from codelens.resolve.languages.rust.rust_type_text import TUPLE

HOLDERS = frozenset({"Option", "Result", "Poll"})
PRIMITIVES = frozenset(
    "bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize".split()
)
_NUMBERS = {
    "len": "usize",
    "capacity": "usize",
    "count": "usize",
    "count_ones": "u32",
    "leading_zeros": "u32",
    "trailing_zeros": "u32",
}
"""Methods that give a number, on all types that have them."""
MAKING = frozenset({"default", "from", "from_iter"})
"""Functions of `Default`, `From` and `FromIterator`, which give the type they are called on."""
_UNWRAPPING = frozenset(
    "unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked insert "
    "get_or_insert get_or_insert_with".split()
)
_OF_ERRORS = frozenset({"unwrap_err", "expect_err"})
_INSERTING = frozenset({"or_insert", "or_insert_with", "or_insert_with_key", "or_default"})
_OF_MAPS = frozenset({"entry", "remove", "keys", "values", "values_mut", "into_values"})
_ELEMENTS = frozenset(
    "first last get get_mut pop next peek next_back pop_front pop_back front back".split()
)
"""Methods of collections that give an element, perhaps; it is seen as there."""
SAME = frozenset(
    "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned cloned copied by_ref "
    "iter iter_mut into_iter rev filter skip take chain collect ok or or_else map_err "
    "inspect drain to_vec peekable fuse step_by lock read write await "
    "context with_context deref deref_mut".split()
)
"""Methods that give what they are called on, as far as members go."""
_GIVING = {
    "Into": {"into"},
    "TryInto": {"try_into"},
    "AsRef": {"as_ref"},
    "AsMut": {"as_mut"},
    "Borrow": {"borrow"},
    "Deref": {"deref"},
}
"""Traits of the standard library, and the methods that give what stands in their brackets."""
_ENTRY = "#entry"
_FOUND = frozenset("find max_by_key min_by_key max_by min_by nth last max min".split())
MAPS = frozenset({"HashMap", "BTreeMap", "IndexMap", "FxHashMap"})
OF_ERRORS = frozenset({"map_err", "unwrap_or_else", "or_else", "inspect_err"})
OF_ELEMENTS = frozenset(
    "map filter any all for_each find position filter_map flat_map take_while skip_while find_map "
    "max_by_key min_by_key sort_by_key sort_unstable_by_key sort_by_cached_key retain inspect "
    "partition rposition map_while dedup_by dedup_by_key sort_by sort_unstable_by max_by min_by "
    "reduce try_for_each binary_search_by binary_search_by_key partition_point".split()
)
"""Methods that give a function the elements one by one."""
_LOCKS = frozenset({"Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "LazyLock", "Lazy"})


def success_value(value: Value) -> Value:
    """What `?` and `Some(x)` take out."""
    if isinstance(value, Container) and value.args and value.name.rpartition(".")[2] in HOLDERS:
        return value.args[0]
    return None


def error_value(value: Value) -> Value:
    """What `Err(x)` takes out."""
    if isinstance(value, Container) and value.name.rpartition(".")[2] == "Result":
        return value.args[1] if len(value.args) > 1 else None
    return None


def result_of_method(value: Container, name: str) -> Value:
    """What a method of a type of the standard library gives; to be called."""
    kind = value.name.rpartition(".")[2]
    if name in _NUMBERS:
        return Container(_NUMBERS[name], ())
    if not value.args:
        return None
    if kind in _LOCKS:
        return (
            value.args[0]
            if name in {"lock", "read", "write", "borrow", "borrow_mut", "get", "try_lock"}
            else None
        )
    if kind in HOLDERS:
        return _of_holder(value, name)
    if kind == _ENTRY:
        return value.args[-1] if name in _INSERTING else value
    if kind in _GIVING:
        return value.args[0] if name in _GIVING[kind] else None
    if name in SAME:
        return value
    return _of_many(kind, value, name)


def _of_holder(value: Container, name: str) -> Value:
    """What a method of an `Option` or a `Result` gives."""
    if name in _UNWRAPPING:
        return value.args[0]
    if name in _OF_ERRORS:
        return error_value(value)
    if name in {"ok_or", "ok_or_else"}:
        return Container("Result", value.args[:1])
    if name == "err":
        return Container("Option", (error_value(value),))
    if name in {"flatten", "transpose"}:
        return value.args[0]
    return value if name in SAME or name in {"take", "replace"} else None


def _of_many(kind: str, value: Container, name: str) -> Value:
    """What a method of a collection or an iterator gives."""
    if kind in MAPS and name in _OF_MAPS:
        return _of_map(value, name)
    if name in _ELEMENTS:
        return Container("Option", value.args[-1:])
    if name in _FOUND:
        return Container("Option", value.args[:1])
    if name == "enumerate":
        return Container("[]", (Container(TUPLE, (Container("usize", ()), value.args[0])),))
    if name in {"remove", "swap_remove", "flatten"}:
        return value.args[0]
    return _of_parts(value, name)


def _of_map(value: Container, name: str) -> Value:
    """What a method gives that maps alone have, or otherwise than lists."""
    if name == "entry":
        return Container(_ENTRY, value.args)
    if name == "remove":
        return Container("Option", value.args[-1:])
    return Container("[]", value.args[:1] if name == "keys" else value.args[-1:])


def _of_parts(value: Container, name: str) -> Value:
    """What a method gives that cuts a list into parts."""
    if name in {"windows", "chunks", "chunks_exact"}:
        return Container("[]", (value,))
    if name in {"split_at", "split_at_mut"}:
        return Container(TUPLE, (value, value))
    if name in {"split_first", "split_last", "split_first_mut", "split_last_mut"}:
        return Container("Option", (Container(TUPLE, (value.args[0], value)),))
    return None
