"""What commands need of the standard library, without what its modules import or do at once.

A prompt hook starts anew at every prompt, and the import of `typing`, `json` and `hashlib` cost it
more CPU than all that it does (docs/focus.md has the figures). A search defines 130 records.
Here are
- `NamedTuple` and `cast`, for type checkers those of `typing`. A class of ours is a tuple as one of
  `typing.NamedTuple` is: positions, names, defaults, `_fields`, `_replace`, `_asdict`, equality
  with other tuples. Its fields must be annotated as text (`from __future__ import annotations`).
  To define one takes 10 us in place of 110; what makes its records is compiled after the first few.
- `loads` and `dumps` of `json`, by the functions in C that it calls itself. `json` compiles regular
  expressions when it is imported, which brings `re`, `enum`, `functools` and `collections`. Where
  the functions in C are not there, or not as expected, `json` is asked; so it is about input that
  is refused, in UTF-16, or with a byte order mark.
- `sha256_hex`, without `hashlib`, which loads OpenSSL for it.
"""

from __future__ import annotations

import sys

_FEW = 8
"""To compile what makes records of a class costs as much as to make so many of them without."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NamedTuple, cast

    __all__ = ["NamedTuple", "cast", "dumps", "loads", "sha256_hex"]
else:
    try:
        # In C, as `collections` has it: half the time of a property.
        from _collections import _tuplegetter as _field_at
    except ImportError:

        def _field_at(index: int, doc: str | None) -> property:
            return property(lambda record: tuple.__getitem__(record, index), doc=doc)

    class _RecordClass(type):
        """Makes each annotated name of a class body a field."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type:
            """The class; its instances have no `__dict__`."""
            namespace["__slots__"] = ()
            fields = tuple(namespace.get("__annotations__", ()))
            if fields or bases == (tuple,):
                defaults = {field: namespace[field] for field in fields if field in namespace}
                if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                    raise TypeError(f"{name}: a field without a default follows one with")
                for index, field in enumerate(fields):
                    namespace[field] = _field_at(index, None)
                namespace |= {"_fields": fields, "_field_defaults": defaults}
                namespace["__match_args__"] = fields
            return type.__new__(cls, name, bases, namespace)

    _new = tuple.__new__
    _counts: dict[type, int] = {}

    class NamedTuple(tuple, metaclass=_RecordClass):
        """A tuple whose positions have names."""

        def __new__(cls, *values: object, **named: object) -> NamedTuple:
            """One with these values, the defaults in place of what is left out."""
            count = _counts[cls] = _counts.get(cls, 0) + 1
            if count >= _FEW:
                _counts.pop(cls, None)
                cls.__new__ = staticmethod(_constructor(cls))
            if named or len(values) != len(cls._fields):
                values = cls._filled(values, named)
            return _new(cls, values)

        @classmethod
        def _filled(cls, values: tuple[object, ...], named: dict[str, object]) -> list[object]:
            """All values in their order, the defaults among them."""
            rest = cls._fields[len(values) :]
            unknown = sorted(named.keys() - set(rest))
            if unknown or len(values) > len(cls._fields):
                raise TypeError(f"{cls.__name__} has the fields {cls._fields}, not {unknown}")
            named = {**cls._field_defaults, **named}
            missing = [field for field in rest if field not in named]
            if missing:
                raise TypeError(f"{cls.__name__} needs {missing}")
            return [*values, *(named[field] for field in rest)]

        def __repr__(self) -> str:
            pairs = zip(self._fields, self, strict=True)
            return f"{type(self).__name__}({', '.join(f'{name}={it!r}' for name, it in pairs)})"

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

        @classmethod
        def _make(cls, values: Iterable[object]) -> NamedTuple:
            record = _new(cls, values)
            if len(record) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(record)}")
            return record

        def _replace(self, /, **named: object) -> NamedTuple:
            record = _new(type(self), map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"{type(self).__name__} has no fields {sorted(named)}")
            return record

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

    def _constructor(cls: type) -> Callable[..., NamedTuple]:
        """What makes records of a class, as `collections.namedtuple` has it.

        To have the interpreter match arguments with fields takes a tenth of the time of `_filled`.
        """
        fields = "".join(f"{name}, " for name in cls._fields)
        text = f"lambda _cls, {fields}: _new(_cls, ({fields}))"
        constructor = eval(text, {"_new": _new})  # noqa: S307 - names of fields alone
        constructor.__defaults__ = tuple(cls._field_defaults.values())
        constructor.__name__ = constructor.__qualname__ = "__new__"
        return constructor

    def cast(kind: object, value: object) -> object:
        """The value as it is."""
        return value


_SPACE = " \t\n\r"


class _Defaults:
    """How texts are read: what `json.JSONDecoder()` says of itself."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(data: bytes | str) -> object:
    """The value of a JSON text.

    Raises:
        ValueError: it is none, or not UTF-8.
        RecursionError: it is too deep.
    """
    if isinstance(data, bytes) and (data[:1] in {b"\xef", b"\xfe", b"\xff"} or b"\0" in data[:4]):
        return _json_loads(data)
    scan = _scanner()
    if scan is None:
        return _json_loads(data)
    text = data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else data
    try:
        value, end = scan(text, len(text) - len(text.lstrip(_SPACE)))
    except (StopIteration, SystemError, ValueError):
        # It is no JSON, and which error that is only `json` tells.
        return _json_loads(data)
    return _json_loads(data) if text[end:].strip(_SPACE) else value


def dumps(
    value: object, *, separators: tuple[str, str] = (", ", ": "), ensure_ascii: bool = True
) -> str:
    """The JSON text of a value.

    Raises:
        TypeError, ValueError: it cannot be written as JSON.
    """
    encode = _encoder(separators, ensure_ascii=ensure_ascii)
    if encode is None:
        import json

        return json.dumps(value, separators=separators, ensure_ascii=ensure_ascii)
    return "".join(encode(value, 0))


def _scanner() -> Callable[[str, int], tuple[object, int]] | None:
    try:
        from _json import make_scanner

        return make_scanner(_Defaults)  # type: ignore[reportArgumentType]
    except (ImportError, AttributeError, TypeError):
        return None


def _encoder(
    separators: tuple[str, str], *, ensure_ascii: bool
) -> Callable[[object, int], tuple[str, ...]] | None:
    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder

        item, key = separators
        quoted = encode_basestring_ascii if ensure_ascii else encode_basestring
        return make_encoder({}, _refuse, quoted, None, key, item, False, False, True)
    except (ImportError, AttributeError, TypeError):
        return None


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _json_loads(data: bytes | str) -> object:
    import json

    return json.loads(data)


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal digits."""
    try:
        module = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256")
    except ImportError:
        module = __import__("hashlib")
    return module.sha256(data).hexdigest()
