"""What types of Rust's standard library give: what they hold, elements, what is guarded."""

from __future__ import annotations

from codelens.resolve.inference.values import Container, Value
from codelens.resolve.languages.rust.rust_type_text import TUPLE

HOLDERS = frozenset({"Option", "Result", "Poll"})
_UNWRAPPING = frozenset(
    "unwrap expect unwrap_or unwrap_or_else unwrap_or_default ok_or unwrap_unchecked".split()
)
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
_FOUND = frozenset("find max_by_key min_by_key max_by min_by nth last max min".split())
MAPS = frozenset({"HashMap", "BTreeMap", "IndexMap", "FxHashMap"})
OF_ERRORS = frozenset({"map_err", "unwrap_or_else", "or_else", "inspect_err"})
OF_ELEMENTS = frozenset(
    "map filter any all for_each find position filter_map flat_map take_while skip_while find_map "
    "max_by_key min_by_key sort_by_key sort_unstable_by_key sort_by_cached_key retain inspect "
    "partition rposition map_while dedup_by_key sort_by sort_unstable_by max_by min_by reduce "
    "try_for_each binary_search_by binary_search_by_key partition_point".split()
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
    if not value.args:
        return None
    if kind in _LOCKS:
        return (
            value.args[0]
            if name in {"lock", "read", "write", "borrow", "borrow_mut", "get", "try_lock"}
            else None
        )
    if name in _UNWRAPPING and kind in HOLDERS:
        return value.args[0]
    if kind in _GIVING:
        return value.args[0] if name in _GIVING[kind] else None
    if name in SAME:
        return value
    return _of_many(kind, value, name) if kind not in HOLDERS else None


def _of_many(kind: str, value: Container, name: str) -> Value:
    """What a method of a collection or an iterator gives."""
    if name in _ELEMENTS:
        return Container("Option", value.args[-1:])
    if name in _FOUND:
        return Container("Option", value.args[:1])
    if name == "enumerate":
        return Container("[]", (Container(TUPLE, (Container("usize", ()), value.args[0])),))
    if kind in MAPS and name in {"keys", "values", "values_mut", "into_values"}:
        return Container("[]", value.args[:1] if name == "keys" else value.args[-1:])
    return Container("[]", (value,)) if name in {"windows", "chunks", "chunks_exact"} else None
