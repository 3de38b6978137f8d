"""Members of classes of C++, with what is defined apart from them."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.inference.name_lookup import Referent
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
        referents = self.resolver.named_type(path, 0, owner) if owner else []
        return Instance(*referents[0][:2]) if referents else None

    def line_members(
        self,
        value: Value,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Referent]:
        """As elsewhere; of a method the place where it is defined."""
        referents = super().line_members(value, name, space, arguments, strict=strict)  # type: ignore[arg-type]
        return [self._whole(referent) for referent in referents]

    def _whole(self, referent: Referent) -> Referent:
        """Where a method is defined, if that is apart from its class."""
        model = self.view.model(referent.path)
        if (
            model is None
            or self._c.is_whole(referent)
            or model.symbols[referent.symbol].kind not in CALLABLE
        ):
            return referent
        symbol = model.symbols[referent.symbol]
        owner = model.symbols[symbol.parent].name if symbol.parent >= 0 else ""
        apart = [
            definition
            for definition in self._c.index().methods(owner, symbol.name)
            if self._c.is_whole(definition)
            and (
                definition.path == referent.path or referent.path in self._c.reach(definition.path)
            )
        ]
        if len(apart) > 1:
            same = self.names.arity(referent)
            apart = [
                definition for definition in apart if self.names.arity(definition).most == same.most
            ]
        if len(apart) > 1:
            apart = [
                definition
                for definition in apart
                if self._taken(definition) == self._taken(referent)
            ] or apart
        return apart[0] if len(apart) == 1 else referent

    def _taken(self, referent: Referent) -> tuple[str, ...]:
        """The types that a method takes, and whether it leaves what it is called on as it is."""
        model = self.view.model(referent.path)
        if model is None:
            return ()
        signature = model.symbols[referent.symbol].signature
        taken = c_parameters(signature, referent.name) or ()
        return (*(plain_parameter(parameter.type) for parameter in taken), str(is_const(signature)))
