"""The values that an expression may evaluate to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.resolve.inference.type_text import Fields, Mapped


class Instance(NamedTuple):
    """An instance of a type of the view."""

    path: bytes
    symbol: int
    args: tuple[Value, ...] = ()


class Definition(NamedTuple):
    """A definition itself: a class, a function, a namespace."""

    path: bytes
    symbol: int
    owner: Value = None
    """The value that a method was looked up on."""


class Module(NamedTuple):
    """A module: a file of the view."""

    path: bytes


class Super(NamedTuple):
    """An instance viewed as one of the bases of its class."""

    path: bytes
    symbol: int
    of: Value


class Container(NamedTuple):
    """An instance of a generic type from outside of the view: a list, a promise."""

    name: str
    args: tuple[Value, ...]


class Function(NamedTuple):
    """A function of which only the result and the type of `this` are known."""

    result: Value
    this: Value = None


class Shape(NamedTuple):
    """An object of an anonymous type, as annotated in a scope."""

    path: bytes
    scope: int
    type_: Fields | Mapped
    me: Value


class Record(NamedTuple):
    """An object literal in a scope: its keys and their values."""

    path: bytes
    scope: int
    text: str
    line: int


class Literal(NamedTuple):
    """A primitive value without members in the view: a string, a number, null."""


class Several(NamedTuple):
    """One of several values."""

    values: tuple[Value, ...]


Value = (
    Instance
    | Definition
    | Module
    | Super
    | Container
    | Function
    | Record
    | Shape
    | Literal
    | Several
    | None
)


def together(values: list[Value]) -> Value:
    """Join alternative values; literals only count if there is nothing else."""
    distinct: dict[Value, None] = {}
    for value in values:
        for part in value.values if isinstance(value, Several) else (value,):
            if part is not None and not isinstance(part, Literal):
                distinct[part] = None
    if not distinct:
        return Literal() if any(isinstance(value, Literal) for value in values) else None
    every = tuple(distinct)
    return every[0] if len(every) == 1 else Several(every[:8])


def alike(values: Sequence[Value]) -> Value:
    """Return the common value, ignoring type arguments; None if the values differ."""
    if not values or None in values:
        return None
    first = values[0]
    if all(value == first for value in values):
        return first
    if isinstance(first, Instance):
        same = all(isinstance(value_, Instance) and value_[:2] == first[:2] for value_ in values)
        return Instance(*first[:2]) if same else None
    if not isinstance(first, Container):
        return None
    arguments = [
        value_.args
        for value_ in values
        if isinstance(value_, Container) and value_.name == first.name
    ]
    if len(arguments) < len(values):
        return None
    if any(len(args) != len(first.args) for args in arguments):
        return None
    return Container(first.name, tuple(alike(parts) for parts in zip(*arguments, strict=True)))


def each(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a value."""
    if value is None:
        return ()
    return value.values if isinstance(value, Several) else (value,)
