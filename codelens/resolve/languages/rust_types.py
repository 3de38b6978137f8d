"""Translates Rust's type syntax, and models the standard library's types and methods."""

from __future__ import annotations

import re
from functools import lru_cache

from codelens.resolve.inference.type_text import closing, split
from codelens.resolve.inference.values import Container, Value

TUPLE = "#tuple"
_LIFETIME = re.compile(r"'\w+\s*,?\s*")
_HEAD = re.compile(r"(?:&|\*const |\*mut |mut |dyn |impl |for<[^<>]*> ?|\?)\s*")
_PUBLIC = re.compile(r"^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^()]*\))?\s+)?")
_LEFT_OUT = re.compile(r"^#\[cfg\(not\b")
_BOUND = re.compile(r"\btype\s+\w+(?:<[^<>]*>)?\s*:\s*(.+?);?$")
_SELF = re.compile(r"^(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self\b")
_FUNCTION = re.compile(r"\b(?:Fn|FnMut|FnOnce|fn)\s*\(")
_THROUGH = frozenset({"Box", "Rc", "Arc", "Cow", "Pin", "Ref", "RefMut", "ManuallyDrop", "Weak"})
"""Generic types whose members are those of their content."""


@lru_cache(maxsize=20_000)
def rust_type(text: str) -> str:
    """Translate a Rust type to the syntax that `codelens.resolve.inference.type_text` parses.

    References and smart pointers become their target types, because those have the members.
    """
    text = _LIFETIME.sub("", text.strip()).strip()
    while match := _HEAD.match(text):
        text = text[match.end() :].strip()
    if not text or text[0] in "!<":
        return ""
    if text[0] == "[":
        return rust_type(split(text[1:-1], ";")[0]) + "[]"
    if text[0] == "(":
        end = closing(text, 0)
        parts = [rust_type(part) or "any" for part in split(text[1:end])]
        return parts[0] if len(parts) == 1 and "," not in text else f"{TUPLE}<{', '.join(parts)}>"
    if text.startswith(("fn(", "Fn(", "FnMut(", "FnOnce(", "extern ", "unsafe ")):
        arrow = text.rfind("->")
        return f"() => {rust_type(text[arrow + 2 :]) if arrow >= 0 else 'void'}"
    bounds = split(text, "+")
    if len(bounds) > 1:
        return " & ".join(part for part in map(rust_type, bounds) if part)
    opened = text.find("<")
    if opened < 0:
        return text.replace("::", ".")
    name = text[:opened].replace("::", ".").rstrip(".")
    parts = split(text[opened + 1 : closing(text, opened)])
    arguments = [
        rust_type(part.partition("=")[2] if "=" in part else part) or "any" for part in parts
    ]
    if name.rpartition(".")[2] in _THROUGH and arguments:
        return arguments[0]
    return f"{name}<{', '.join(arguments)}>" if arguments else name


@lru_cache(maxsize=20_000)
def parts_of(signature: str, name: str) -> tuple[str, ...]:
    """Return the types in a tuple struct or variant: `struct Foo(pub Bar, T)`."""
    at = signature.find(name)
    rest = signature[at + len(name) :].lstrip() if at >= 0 else ""
    if rest[:1] == "<":
        rest = rest[closing(rest, 0) + 1 :].lstrip()
    if rest[:1] != "(":
        return ()
    parts = split(rest[1 : closing(rest, 0)])
    return tuple(_PUBLIC.sub("", part) for part in parts if _LEFT_OUT.match(part) is None)


@lru_cache(maxsize=20_000)
def split_arguments(text: str) -> tuple[str, ...]:
    """Return the type arguments of a type without lifetimes: `T` of `Foo<'a, T>`."""
    at = text.find("<")
    if at < 0:
        return ()
    parts = split(text[at + 1 : closing(text, at)])
    return tuple(part for part in parts if not part.startswith("'"))


def defaults_of(signature: str, name: str) -> tuple[str, ...]:
    """Return the default of each type parameter of a definition; empty for one without."""
    at = signature.find(f"{name}<")
    parts = split_arguments(signature[at:]) if at >= 0 else ()
    return tuple(part.partition("=")[2].strip() for part in parts)


def bound_of(signature: str) -> str:
    """Return the bound of an associated type: `type Item: Bound`."""
    match = _BOUND.search(signature)
    return match[1] if match is not None else ""


@lru_cache(maxsize=20_000)
def callback_parameter_type(signature: str, name: str, place: int, at: int) -> str:
    """Return the type of a parameter of a function parameter: `f: impl Fn(Foo)`."""
    taken = [parameter for parameter in parts_of(signature, name) if _SELF.match(parameter) is None]
    if place >= len(taken):
        return ""
    text = taken[place].partition(":")[2].strip()
    if text.isidentifier():
        bound = re.search(rf"\b{text}\s*:\s*(.*)", signature)
        text = bound[1] if bound is not None else ""
    match = _FUNCTION.search(text)
    if match is None:
        return ""
    types = split(text[match.end() : closing(text, match.end() - 1)])
    return types[at] if at < len(types) else ""


# The results of standard library methods: contents, elements, guarded values.

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
"""Methods that return a number on all types that have them."""
_ARITHMETIC = re.compile(
    r"add|sub|mul|div|rem|bitand|bitor|bitxor|shl|shr|neg|not|pow|abs|min|max|clamp|clone"
    r"|(?:wrapping|saturating|rotate)_\w+|swap_bytes|reverse_bits|(?:to|from)_[bln]e|from_[bln]e_bytes"
)
"""Methods and functions of numbers that return a number of the same type."""
POINTER = "#pointer"
"""The name for raw pointers: `impl<T> Ext for *const T`."""
_TEXTS = {
    "str": "as_str as_ref borrow deref trim trim_start trim_end",
    "String": "to_owned to_string into_string to_lowercase to_uppercase repeat replace",
    POINTER: "as_ptr as_mut_ptr",
}
_POINTING = frozenset(_TEXTS[POINTER].split())
_OF_TEXTS = {name: kind for kind, names in _TEXTS.items() for name in names.split()}
"""Methods of strings -> the type of their result."""
MAKING = frozenset({"default", "from", "from_iter"})
"""Functions of `Default`, `From` and `FromIterator`, which return the type they are called on."""
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
"""Methods of collections that return an optional element, treated as the element."""
SAME = frozenset(
    "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned cloned copied by_ref "
    "iter iter_mut into_iter rev filter skip take chain collect ok or or_else map_err "
    "inspect drain to_vec peekable fuse step_by lock read write await "
    "context with_context deref deref_mut".split()
)
"""Methods that return their receiver, as far as members are concerned."""
_GIVING = {
    "Into": {"into"},
    "TryInto": {"try_into"},
    "AsRef": {"as_ref"},
    "AsMut": {"as_mut"},
    "Borrow": {"borrow"},
    "Deref": {"deref"},
}
"""Standard library traits -> the methods that return the trait's type argument."""
_ENTRY = "#entry"
_FOUND = frozenset("find max_by_key min_by_key max_by min_by nth last max min".split())
MAPS = frozenset({"HashMap", "BTreeMap", "IndexMap", "FxHashMap"})
OF_ERRORS = frozenset({"map_err", "unwrap_or_else", "or_else", "inspect_err"})
OF_ELEMENTS = frozenset(
    "map filter any all for_each find position filter_map flat_map take_while skip_while "
    "find_map max_by_key min_by_key sort_by_key sort_unstable_by_key sort_by_cached_key retain "
    "retain_mut inspect partition rposition map_while dedup_by dedup_by_key sort_by "
    "sort_unstable_by max_by min_by reduce try_for_each binary_search_by binary_search_by_key "
    "partition_point".split()
)
"""Methods that pass the elements to a function one by one."""
_LOCKS = frozenset({"Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "LazyLock", "Lazy"})


def success_value(value: Value) -> Value:
    """Return what `?` and `Some(x)` unwrap."""
    if isinstance(value, Container) and value.args and value.name.rpartition(".")[2] in HOLDERS:
        return value.args[0]
    return None


def error_value(value: Value) -> Value:
    """Return what `Err(x)` unwraps."""
    if isinstance(value, Container) and value.name.rpartition(".")[2] == "Result":
        return value.args[1] if len(value.args) > 1 else None
    return None


def result_of_method(value: Container, name: str) -> Value:
    """Return the result of a standard library method, as a callable."""
    kind = value.name.rpartition(".")[2]
    if name in _NUMBERS:
        return Container(_NUMBERS[name], ())
    if kind in PRIMITIVES:
        return value if _ARITHMETIC.fullmatch(name) else None
    if kind in {"str", "String"} or name in _POINTING:
        return Container(_OF_TEXTS[name], ()) if name in _OF_TEXTS else None
    return _of_generic(kind, value, name) if value.args else None


def _of_generic(kind: str, value: Container, name: str) -> Value:
    """Return the result of a method of a generic type."""
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
    """Return the result of a method of `Option` or `Result`."""
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
    """Return the result of a method of a collection or an iterator."""
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
    """Return the result of a method that only maps have, or that differs from that of lists."""
    if name == "entry":
        return Container(_ENTRY, value.args)
    if name == "remove":
        return Container("Option", value.args[-1:])
    return Container("[]", value.args[:1] if name == "keys" else value.args[-1:])


def _of_parts(value: Container, name: str) -> Value:
    """Return the result of a method that splits a list into parts."""
    if name in {"windows", "chunks", "chunks_exact"}:
        return Container("[]", (value,))
    if name in {"split_at", "split_at_mut"}:
        return Container(TUPLE, (value, value))
    if name in {"split_first", "split_last", "split_first_mut", "split_last_mut"}:
        return Container("Option", (Container(TUPLE, (value.args[0], value)),))
    return None
