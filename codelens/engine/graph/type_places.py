"""Finds the declarations that spell the name of a type: a rename of the type must change them.

They are constructors and destructors with the name of their type, and members that C++ defines
outside of it (`void Foo::bar() {}`, `int Foo::In::count = 0`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from codelens.engine.graph.ownership import Ownership
from codelens.extract.language_settings import language_info
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.types import Symbol

_MOST = 2_000
"""Maximum number of members of a type that are looked at."""


class TypePlaces:
    """Finds them in one state of a view.

    The database must be in a read transaction.

    Args:
        ownership: which members belong to a type.
        languages: the language of each file.
        symbols: the symbols of a file, with their signatures.
    """

    def __init__(
        self,
        ownership: Ownership,
        languages: Callable[[bytes], str],
        symbols: Callable[[bytes], Sequence[Symbol]],
    ) -> None:
        self._ownership = ownership
        self._languages = languages
        self._symbols = symbols

    def of(self, type_: Node) -> list[Node]:
        """The constructors and destructors of a type, then members outside of it, by place."""
        symbol = self._symbol(type_)
        language = self._languages(type_.path)
        if symbol is None or symbol.kind not in TYPES or not language:
            return []
        members = list(self._ownership.members(type_))
        builders: list[Node] = []
        if spec_of(language).constructor_is_named_as_type:
            builders = [member for member in members if self._is_builder(member, symbol.name)]
        apart: list[Node] = []
        if language_info(language).declared_apart:
            apart = [
                member
                for member in self._nested(type_, members)
                if member not in builders and self._is_qualified(member, symbol.name)
            ]
        return [*builders, *apart]

    def _is_builder(self, member: Node, type_name: str) -> bool:
        symbol = self._symbol(member)
        if symbol is None or symbol.kind not in CALLABLE:
            return False
        return symbol.name.removeprefix("~").strip() == type_name or _spells(
            symbol.signature, type_name, symbol.name
        )

    def _is_qualified(self, member: Node, type_name: str) -> bool:
        symbol = self._symbol(member)
        return symbol is not None and _spells(symbol.signature, type_name, symbol.name)

    def _nested(self, type_: Node, members: Sequence[Node]) -> Iterator[Node]:
        """The members of a type and of the types in it."""
        pending, seen = list(members), {type_}
        while pending and len(seen) < _MOST:
            member = pending.pop(0)
            if member in seen:
                continue
            seen.add(member)
            yield member
            symbol = self._symbol(member)
            if symbol is not None and symbol.kind in TYPES:
                pending += self._ownership.members(member)

    def _symbol(self, node: Node) -> Symbol | None:
        symbols = self._symbols(node.path)
        return symbols[node.symbol] if MODULE < node.symbol < len(symbols) else None


def _spells(signature: str, type_name: str, name: str) -> bool:
    """Whether a declaration qualifies its name by a type: `Foo::In::name`, `Foo<T>::name`."""
    steps = r"(?:\s*<[^()]*?>)?\s*(?:::|\.)\s*(?:\w+(?:\s*<[^()]*?>)?\s*(?:::|\.)\s*)*"
    pattern = rf"\b{re.escape(type_name)}{steps}{re.escape(name)}(?!\w)"
    return re.search(pattern, signature) is not None
