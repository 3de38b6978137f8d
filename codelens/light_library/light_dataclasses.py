"""`dataclass` of the standard library, without the time that its classes take to make.

The standard one compiles six functions for each class, half a millisecond to three, and imports
`inspect`; a command defines twenty classes and makes a few values of each. Here are `dataclass`,
`field` and `replace`; for type checkers those of `dataclasses`. A class of ours compares, hashes,
prints and is pickled as one of theirs. `fields`, `asdict` and `replace` of `dataclasses` take it
as well, and only they import that. What makes its values is compiled after the first few.

What is left out is refused: bases, `order`, `kw_only`, fields that are not given to the
constructor. Fields must be annotated as text (`from __future__ import annotations`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

    __all__ = ["dataclass", "field", "replace"]
else:
    from operator import attrgetter

    _FEW = 8
    """To compile what makes values of a class costs as much as to make so many of them without."""
    _set = object.__setattr__
    _counts: dict[type, int] = {}

    class _Factory:
        """A default that is made anew for each value."""

        __slots__ = ("make",)

        def __init__(self, make: object) -> None:
            self.make = make

    class _Fields:
        """`__dataclass_fields__`, by which `dataclasses` knows its classes."""

        def __get__(self, value: object, cls: type) -> dict[str, object]:
            """The fields as `dataclasses` has them, made when it first asks."""
            import dataclasses

            def described(name: str) -> object:
                if name not in cls.__defaults__:
                    return dataclasses.field()
                default = cls.__defaults__[name]
                if isinstance(default, _Factory):
                    return dataclasses.field(default_factory=default.make)
                return dataclasses.field(default=default)

            rows = [(name, text, described(name)) for name, text in cls.__annotations__.items()]
            fields = dataclasses.make_dataclass(cls.__name__, rows).__dataclass_fields__
            cls.__dataclass_fields__ = fields
            return fields

    def field(*, default: object = None, default_factory: object = None) -> object:
        """The default of a field, for what cannot stand there itself."""
        return default if default_factory is None else _Factory(default_factory)

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False,
        eq: bool = True, repr: bool = True,
    ) -> object:  # fmt: skip
        """Makes each annotated name of a class a field, as `dataclasses.dataclass` does."""

        def completed(cls: type) -> type:
            return _completed(cls, frozen=frozen, slots=slots, eq=eq, shows=repr)

        return completed if cls is None else completed(cls)

    def replace(value: object, /, **changes: object) -> object:
        """A value with some of its fields changed."""
        for name in value.__match_args__:
            if name not in changes:
                changes[name] = getattr(value, name)
        return type(value)(**changes)

    def _completed(cls: type, *, frozen: bool, slots: bool, eq: bool, shows: bool) -> type:
        if cls.__bases__ != (object,):
            raise TypeError(f"{cls.__name__}: a light data class has no bases")
        own = dict(cls.__dict__)
        names = tuple(own.get("__annotations__", ()))
        defaults = {name: own[name] for name in names if name in own}
        if tuple(defaults) != names[len(names) - len(defaults) :]:
            raise TypeError(f"{cls.__name__}: a field without a default follows one with")
        for default in defaults.values():
            if default.__class__.__hash__ is None:
                raise TypeError(f"{cls.__name__}: {default!r} would be shared; use default_factory")
        methods = _methods(names, frozen=frozen, slots=slots, eq=eq, shows=shows)
        methods = {name: method for name, method in methods.items() if name not in own}
        methods |= {"__match_args__": names, "__defaults__": defaults, "__init__": _initialize}
        methods["__dataclass_fields__"] = _Fields()
        if slots:
            for name in (*defaults, "__dict__", "__weakref__"):
                own.pop(name, None)
            return type(cls.__name__, (), own | methods | {"__slots__": names})
        for name, default in defaults.items():
            if isinstance(default, _Factory):
                delattr(cls, name)
        for name, method in methods.items():
            setattr(cls, name, method)
        return cls

    def _methods(
        names: tuple[str, ...], *, frozen: bool, slots: bool, eq: bool, shows: bool
    ) -> dict[str, object]:
        values_of = attrgetter(*names) if names else lambda value: ()

        def same(self: object, other: object) -> bool:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return values_of(self) == values_of(other)

        def digest(self: object) -> int:
            return hash(values_of(self))

        methods: dict[str, object] = {}
        if eq:
            methods |= {"__eq__": same, "__hash__": digest if frozen else None}
        if shows:
            methods["__repr__"] = _shown
        if frozen:
            methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _restore}
        return methods

    def _initialize(self: object, *values: object, **named: object) -> None:
        """Give the fields their values; what does it is compiled after the first few times."""
        cls = type(self)
        count = _counts[cls] = _counts.get(cls, 0) + 1
        if count >= _FEW:
            _counts.pop(cls, None)
            cls.__init__ = _constructor(cls)
        names = cls.__match_args__
        rest = names[len(values) :]
        if len(values) > len(names) or named.keys() - set(rest):
            unknown = sorted(named.keys() - set(rest)) or values
            raise TypeError(f"{cls.__name__} has the fields {names}, not {unknown}")
        for name, value in zip(names, values, strict=False):
            _set(self, name, value)
        for name in rest:
            if name not in named and name not in cls.__defaults__:
                raise TypeError(f"{cls.__name__} needs {name!r}")
            value = named[name] if name in named else cls.__defaults__[name]
            _set(self, name, value.make() if isinstance(value, _Factory) else value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def _constructor(cls: type) -> object:
        scope = {"_set": _set, "_none": object()}
        parameters, lines = ["self"], []
        for at, name in enumerate(cls.__match_args__):
            default = cls.__defaults__.get(name)
            if name not in cls.__defaults__:
                parameters.append(name)
            elif isinstance(default, _Factory):
                scope[f"_make{at}"] = default.make
                parameters.append(f"{name}=_none")
                lines.append(f" if {name} is _none: {name} = _make{at}()")
            else:
                scope[f"_default{at}"] = default
                parameters.append(f"{name}=_default{at}")
            lines.append(f" _set(self, {name!r}, {name})")
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        text = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
        exec(text, scope)  # noqa: S102 - names of fields alone
        return scope["__init__"]

    def _shown(self: object) -> str:
        pairs = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({pairs})"

    def _refuse(self: object, name: str, *_: object) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _state(self: object) -> list[object]:
        return [getattr(self, name) for name in self.__match_args__]

    def _restore(self: object, state: list[object]) -> None:
        for name, value in zip(self.__match_args__, state, strict=True):
            _set(self, name, value)
