"""Members of classes of C++, with what is defined apart from them."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Instance, Value
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.c.c_type_text import c_parameters, is_const, plain_parameter
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_names import Space


class CMembers(ClassMembers):
    """Members of classes, with what is defined apart from them."""

    def __init__(self, resolver: Resolver, names: CNames) -> None:
        super().__init__(resolver)
        self._c = names

    def owner(self, path: bytes, scope: int) -> Instance | None:
        """The class of a method that is defined outside of it: `void Foo::f() {}`."""
        model = self.view.model(path)
        if model is None:
            return None
        symbol = model.symbols[model.scopes[scope].symbol]
        if symbol.kind not in CALLABLE or not model.is_outside_member(symbol):
            return None
        owner = symbol.qualified.rpartition(".")[0]
        hits = self.resolver.named_type(path, 0, owner) if owner else []
        return Instance(*hits[0][:2]) if hits else None

    def line_members(
        self,
        value: Value,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Hit]:
        """As elsewhere; of a method the place where it is defined."""
        found = super().line_members(value, name, space, arguments, strict=strict)  # type: ignore[arg-type]
        return [self._whole(hit) for hit in found]

    def _whole(self, hit: Hit) -> Hit:
        """Where a method is defined, if that is apart from its class."""
        model = self.view.model(hit.path)
        if model is None or self._c.is_whole(hit) or model.symbols[hit.symbol].kind not in CALLABLE:
            return hit
        symbol = model.symbols[hit.symbol]
        owner = model.symbols[symbol.parent].name if symbol.parent >= 0 else ""
        apart = [
            one
            for one in self._c.index().methods.get(owner, {}).get(symbol.name, ())
            if self._c.is_whole(one)
            and (one.path == hit.path or hit.path in self._c.reach(one.path))
        ]
        if len(apart) > 1:
            same = self.names.arity(hit)
            apart = [one for one in apart if self.names.arity(one).most == same.most]
        if len(apart) > 1:
            apart = [one for one in apart if self._taken(one) == self._taken(hit)] or apart
        return apart[0] if len(apart) == 1 else hit

    def _taken(self, hit: Hit) -> tuple[str, ...]:
        """The types that a method takes, and whether it leaves what it is called on as it is."""
        model = self.view.model(hit.path)
        if model is None:
            return ()
        signature = model.symbols[hit.symbol].signature
        taken = c_parameters(signature, hit.name) or ()
        return (*(plain_parameter(one.type) for one in taken), str(is_const(signature)))
