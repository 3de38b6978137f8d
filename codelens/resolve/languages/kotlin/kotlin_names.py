"""Kotlin: what a bare name means where `this` is another, in extensions and in lambdas.

Kotlin's specification, 11.2: of a bare name what is local counts first, then what each `this`
around has, the innermost first, then what the file sees. Which `this` a lambda has is said by the
function that takes it. Where that is not known, a name that some type has is left open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.values import Container, Instance, Literal, Value
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.resolve.languages.classes.class_type_text import extended
from codelens.resolve.languages.kotlin.kotlin_standard_library import (
    FOREIGN,
)

_RECEIVER = re.compile(r"\(?\s*(?:@[\w.]+\s+)*(?:suspend\s+)?(\w[\w.]*(?:<[^()]*>)?)\??\.\(")
_SPACES = {"call": CALLABLE, "value": frozenset({"property", "field"})}
INFIX = -2
"""In place of a number of arguments: the name stands between what it is called on and with."""
_UNKNOWN: tuple[Value, ...] = (None,)

Receivers = tuple[Value, ...]
"""The `this` that a scope brings: none, one, or one that is not known (None)."""


class Receiving(Protocol):
    """What looking names up asks of types besides."""

    def receivers(self, path: bytes, scope: int) -> Receivers:
        """What `this` is in a function or lambda, where it is not that of the class around."""
        ...

    def extensions_of(self, value: Instance, name: str) -> list[Referent]:
        """Extensions of that name for a type or its bases."""
        ...

    def extends(self, referent: Referent, text: str, value: Value) -> bool:
        """Whether an extension for a type so written may be called on a value."""
        ...


class KotlinNames(ClassNames):
    """Names in Java and Kotlin."""

    receiving: Receiving

    def find(
        self, path: bytes, scope: int, name: str, space: Space, arguments: int = -1
    ) -> list[Referent]:
        """What a bare name means, as a value, as a type, or called."""
        model = self.view.model(path)
        if model is None or model.language != "kotlin" or space == "type":
            return super().find(path, scope, name, space, arguments)
        if space == "call" and arguments == INFIX:
            return super().find(path, scope, name, space)
        seen: list[Value] = []
        at = scope
        while at > 0:
            of_value = partial(self._of_value, name, space, arguments)
            outer, referents = self._local(path, model, at, name, space)
            if referents:
                return referents
            referents = self._of_receivers(path, between(model, at, outer), seen, of_value)
            if not referents and outer > 0:
                referents = self._in_type(
                    path, model, outer, name, space=space, arguments=arguments
                )
            if referents:
                return self._sure(referents, seen, name, space, arguments)
            at = model.scopes[outer].parent
        referents = self.types.once(
            ("file", path, name, space, arguments),
            lambda: self._in_file(path, model, name, space, arguments),
            [],
        )
        referents = [
            referent for referent in referents if self._applies(referent, path, model, scope, seen)
        ]
        return self._sure(referents, seen, name, space, arguments) if seen else referents

    def _local(
        self, path: bytes, model: FileModel, scope: int, name: str, space: Space
    ) -> tuple[int, list[Referent]]:
        """What is local in the functions around, and the class that they are in."""
        while scope > 0 and model.scopes[scope].kind != "class":
            referents = self._in_block(path, model, scope, name, space)
            if referents:
                return scope, referents
            scope = model.scopes[scope].parent
        return scope, []

    def _of_receivers(
        self,
        path: bytes,
        scopes: Iterator[int],
        seen: list[Value],
        of_value: Callable[[Value], list[Referent]],
    ) -> list[Referent]:
        """What the first `this` of some scopes has; those without it are added to the `seen`."""
        for scope in scopes:
            for value in self.receiving.receivers(path, scope):
                referents = of_value(value)
                if referents:
                    return referents
                seen.append(value)
        return []

    def _of_value(self, name: str, space: Space, arguments: int, value: Value) -> list[Referent]:
        if not isinstance(value, Instance):
            return []
        referents = self.types.inherited(value, name, space, arguments)
        if referents or space != "call":
            return referents
        return self.fitting(self.receiving.extensions_of(value, name), arguments)

    def _applies(
        self, referent: Referent, path: bytes, model: FileModel, scope: int, seen: list[Value]
    ) -> bool:
        """An extension is called without a receiver only where a `this` is of its type."""
        there = self.view.model(referent.path)
        if there is None or there.language != "kotlin" or referent.symbol < 0:
            return True
        symbol = there.symbols[referent.symbol]
        text = extended(symbol.signature, symbol.name, "kotlin")
        if not text:
            return True
        around = list(seen)
        at = scope
        while at > 0:
            if model.scopes[at].kind == "class":
                around.append(self.types.instance_of_scope(path, at))
            at = model.scopes[at].parent
        return any(self.receiving.extends(referent, text, value) for value in around)

    def _sure(
        self, referents: list[Referent], seen: list[Value], name: str, space: Space, arguments: int
    ) -> list[Referent]:
        """None of them, if the `this` of a lambda between may have something of that name."""
        if not referents or not any(
            receiver is None or isinstance(receiver, Container | Literal) for receiver in seen
        ):
            return referents
        if name in FOREIGN and any(not isinstance(receiver, Instance) for receiver in seen):
            return []
        if None not in seen:
            return referents
        every = self.view.index("kotlin members", self._all_members).get(name, ())
        places = {referent[:2] for referent in referents}
        others = [referent for referent in every if referent[:2] not in places]
        return [] if self.fitting(self.of_space(others, space), arguments) else referents

    def _all_members(self) -> dict[str, list[Referent]]:
        """What types of Java and Kotlin have, extensions included, by name."""
        index: dict[str, list[Referent]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language in {"java", "kotlin"} else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if model is None or "private" in symbol.signature.partition("(")[0].split():
                    continue
                inner = symbol.parent >= 0 and model.symbols[symbol.parent].kind in TYPES
                if any(symbol.kind in kinds for kinds in _SPACES.values()) and (
                    inner or extended(symbol.signature, symbol.name, language)
                ):
                    index.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
        return index


def between(model: FileModel, scope: int, outer: int) -> Iterator[int]:
    """The scopes from one on, up to another around it."""
    while scope != outer:
        yield scope
        scope = model.scopes[scope].parent
