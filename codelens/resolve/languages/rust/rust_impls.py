"""What Rust's `impl Trait for Type` says: the type derives, its methods override."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.values import Instance, each
from codelens.resolve.languages.rust.rust_values import RustTypes


class Overriding(NamedTuple):
    """A method of a block for a type, and the trait's own."""

    symbol: int
    name: str
    line: int
    of: Hit


def implementing(model: FileModel, scope: int, types: RustTypes, path: bytes) -> int:
    """The type of this file that a scope is a block of methods for, -1 if it is none."""
    own = types.own_type(path, scope) if is_block(model, scope) else None
    return own.symbol if isinstance(own, Instance) and own.path == path else -1


def is_block(model: FileModel, scope: int) -> bool:
    """A scope is an `impl` block."""
    one = model.scopes[scope]
    return one.kind == "class" and one.symbol < 0


def overriding(path: bytes, model: FileModel, types: RustTypes) -> Iterator[Overriding]:
    """The methods in a file that a trait of the view asks for, each with the trait's."""
    blocks = {
        scope: [row for row in rows if row.how == "implements"]
        for scope, rows in model.of_scope.items()
        if is_block(model, scope)
    }
    for at, scope in enumerate(model.home if any(blocks.values()) else ()):
        for row in blocks.get(scope, ()):
            symbol = model.symbols[at]
            for trait in each(types.of_type(path, model.scopes[scope].parent, row.text)):
                there = types.view.model(trait.path) if isinstance(trait, Instance) else None
                if there is None or not isinstance(trait, Instance):
                    continue
                for asked in there.children.get(trait.symbol, {}).get(symbol.name, ()):
                    hit = Hit(trait.path, asked, 0, symbol.name)
                    yield Overriding(at, symbol.name, symbol.name_line, hit)
