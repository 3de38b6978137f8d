"""What Rust's `impl Trait for Type` says: the type derives, its methods override."""

from __future__ import annotations

from collections.abc import Iterator

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import ExtraEdge, Resolver
from codelens.resolve.inference.values import Instance, each


def implementing(model: FileModel, scope: int, resolver: Resolver, path: bytes) -> int:
    """The type of this file that a scope is a block of methods for, -1 if it is none."""
    own = resolver.instance_around(path, scope) if is_block(model, scope) else None
    return own.symbol if isinstance(own, Instance) and own.path == path else -1


def is_block(model: FileModel, scope: int) -> bool:
    """A scope is an `impl` block."""
    here = model.scopes[scope]
    return here.kind == "class" and here.symbol < 0


def overriding(path: bytes, model: FileModel, resolver: Resolver) -> Iterator[ExtraEdge]:
    """The methods in a file that a trait of the view asks for, each with the trait's."""
    blocks = {
        scope: [row for row in rows if row.how == "implements"]
        for scope, rows in model.of_scope.items()
        if is_block(model, scope)
    }
    for at, scope in enumerate(model.home if any(blocks.values()) else ()):
        for row in blocks.get(scope, ()):
            symbol = model.symbols[at]
            for trait in each(resolver.of_type(path, model.scopes[scope].parent, row.text)):
                there = resolver.view.model(trait.path) if isinstance(trait, Instance) else None
                if there is None or not isinstance(trait, Instance):
                    continue
                for method in there.children.get(trait.symbol, {}).get(symbol.name, ()):
                    referent = Referent(trait.path, method, 0, symbol.name)
                    yield ExtraEdge(at, symbol.name, symbol.name_line, referent, "override")
