"""Kotlin: what a bare name means where `this` is another, in extensions and in lambdas.

Kotlin's specification, 11.2: of a bare name what is local counts first, then what each `this`
around has, the innermost first, then what the file sees. Which `this` a lambda has is said by the
function that takes it. Where that is not known, a name that some type has is left open.
"""

from __future__ import annotations

import re

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Literal, Value
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_type_text import extended, parameters
from codelens.resolve.languages.classes.class_values import (
    ClassAnnotations,
    ClassCalls,
    ClassExpressions,
)
from codelens.resolve.languages.classes.overloads import Overloads
from codelens.resolve.languages.kotlin.kotlin_names import INFIX, KotlinNames
from codelens.resolve.languages.kotlin.kotlin_standard_library import (
    BUILDING,
    HANDING,
    NO_FUNCTIONS,
    PLAIN,
)
from codelens.types import PROTOCOL, Reference

_RECEIVER = re.compile(r"\(?\s*(?:@[\w.]+\s+)*(?:suspend\s+)?(\w[\w.]*(?:<[^()]*>)?)\??\.\(")
_SPACES = {"call": CALLABLE, "value": frozenset({"property", "field"})}
_UNKNOWN: tuple[Value, ...] = (None,)

Receivers = tuple[Value, ...]
"""The `this` that a scope brings: none, one, or one that is not known (None)."""


class KotlinExpressions(ClassExpressions):
    """Values in Java and Kotlin."""

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """What a name without a receiver means."""
        if reference.kind == "call" and reference.arguments < 0:
            referents = self.names.find(path, reference.scope, reference.name, "call", INFIX)
            return referents or self._callable_value(path, reference.scope, reference.name)
        return super().meant(path, reference)

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """What a name behind a receiver means; an operator has to be declared as one."""
        referents = super().member_of(path, reference)
        if reference.arguments != PROTOCOL:
            return referents
        return [referent for referent in referents if self._is_operator(referent)]

    def _is_operator(self, referent: Referent) -> bool:
        model = self.view.model(referent.path)
        if model is None or model.language != "kotlin":
            return True
        words = model.symbols[referent.symbol].signature.partition("(")[0].split()
        # What overrides an operator is one.
        return "operator" in words or "override" in words

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """The scope from which a name means the same: no further than to another `this`."""
        model = self.view.model(path)
        if model is None or model.language != "kotlin" or head[0] in "(`0":
            return super().place(path, scope, head)
        at = scope
        while at > 0 and model.scopes[at].kind != "class":
            entry = model.names[at].get(head)
            if entry is not None:
                return at, len(entry.rows) > 1
            if self.receivers(path, at):
                # What is local counts before what this one has.
                return self._local_or(model, at, head)
            at = model.scopes[at].parent
        return at, False

    def _local_or(self, model: FileModel, scope: int, name: str) -> tuple[int, bool]:
        at, sensitive = model.bound_at(scope, name, lambda _: False)
        bound = model.scopes[at].kind != "class" and name in model.names[at]
        return (at, sensitive) if at > 0 and bound else (scope, False)

    def receivers(self, path: bytes, scope: int) -> Receivers:
        """What `this` is in a function or lambda, where it is not that of the class around."""
        nothing: Receivers = ()
        return self.once(("this", path, scope), lambda: self._receivers(path, scope), nothing)

    def _receivers(self, path: bytes, scope: int) -> Receivers:
        model = self.view.model(path)
        if model is None or model.language != "kotlin":
            return ()
        here = model.scopes[scope]
        if here.symbol >= 0:
            symbol = model.symbols[here.symbol]
            text = ""
            if symbol.kind in CALLABLE:
                text = extended(symbol.signature, symbol.name, "kotlin")
            return (
                (self.resolver.of_type(path, scope, text) or Container("Any", ()),) if text else ()
            )
        entry = model.names[scope].get("this")
        if entry is None or not entry.rows:
            return ()
        row = entry.rows[0]
        return self._handed(path, here.parent, row.text, row.line)

    def _handed(self, path: bytes, scope: int, taker: str, line: int) -> Receivers:
        """What `this` is in a lambda that a function is called with."""
        before, _, name = taker.rpartition(".")
        if not name.isidentifier():
            return _UNKNOWN
        value = self.value(path, scope, before, line) if before else None
        if before:
            referents = self.taking(value, name, -1)
        else:
            referents = self.names.find(path, scope, name, "call")
        if not before and referents and referents[0].symbol == LOCAL:
            # A value that can be called.
            value = self.value(path, scope, name, line)
            referents = self.taking(value, "invoke", -1) or referents
        receivers = [self._in_lambda(referent, value) for referent in referents]
        known = [receiver for receiver in receivers if receiver is not None]
        if known:
            return known[0] if all(receiver == known[0] for receiver in known) else _UNKNOWN
        if name in HANDING and (before or name == "apply"):
            value = value if before else self.instance_around(path, scope)
            return (value,) if isinstance(value, Instance | Container | Literal) else _UNKNOWN
        if name in PLAIN or name in HANDING:
            return ()
        return (Container(BUILDING[name], ()),) if name in BUILDING else _UNKNOWN

    def _in_lambda(self, referent: Referent, me: Value) -> Receivers | None:
        """What `this` is in the lambda behind a call of a function; None if it takes none."""
        model = self.view.model(referent.path)
        if model is None or referent.symbol < 0:
            return _UNKNOWN
        symbol = model.symbols[referent.symbol]
        if model.language != "kotlin":
            return ()
        if symbol.kind not in CALLABLE and symbol.kind not in TYPES:
            return _UNKNOWN
        scope = model.own_scope.get(referent.symbol, referent.scope)
        taken = parameters(symbol.signature, symbol.name, "kotlin")
        if taken is not None:
            last = taken[-1].type if taken else ""
        else:
            # The signature is cut; what a function takes stands in its scope.
            rows = [row for row in model.bindings if row.scope == scope and row.how == ":"]
            last = next((row.text for row in reversed(rows) if "->" in row.text), "")
        if not last:
            return _UNKNOWN if taken is None and symbol.kind in CALLABLE else None
        own = extended(symbol.signature, symbol.name, "kotlin")
        return self._of_function(referent.path, scope, last, me, own)

    def _of_function(
        self, path: bytes, scope: int, text: str, me: Value, own: str
    ) -> Receivers | None:
        """What `this` is in a function of a type, of which an extension for `own` says it."""
        match = _RECEIVER.match(text)
        if match is not None:
            if match[1] == own and isinstance(me, Instance | Container):
                return (me,)
            return (self.resolver.of_type(path, scope, match[1], me),)
        plain = text.rstrip("?").partition("<")[0]
        if "->" in text:
            return ()
        if plain in NO_FUNCTIONS:
            return None
        for referent in self.resolver.named_type(path, scope, plain)[:1]:
            model = self.view.model(referent.path)
            symbol = (
                model.symbols[referent.symbol]
                if model is not None and referent.symbol >= 0
                else None
            )
            if symbol is None:
                break
            if symbol.kind == "type" and "->" in symbol.signature:
                return self._of_function(
                    referent.path,
                    referent.scope,
                    symbol.signature.partition("=")[2].strip(),
                    me,
                    "",
                )
            if symbol.kind == "interface":
                return ()
            if symbol.kind in {"class", "enum"}:
                return None
        return _UNKNOWN

    def extensions_of(self, value: Instance, name: str) -> list[Referent]:
        """Extensions of that name for a type or its bases."""
        return self._members.extensions(value, name)

    def extends(self, referent: Referent, text: str, value: Value) -> bool:
        """Whether an extension for a type so written may be called on a value."""
        if value is None:
            return True
        model = self.view.model(referent.path)
        scope = model.own_scope.get(referent.symbol, 0) if model is not None else 0
        plain = text.partition("<")[0].rpartition(".")[2]
        referents = self.resolver.named_type(referent.path, scope, text.partition("<")[0])
        if plain == "Any" or (referents and referents[0].symbol == LOCAL):
            return True
        if isinstance(value, Container):
            return plain == value.name.rpartition(".")[2] or value.name in {"Any", plain}
        if not isinstance(value, Instance):
            return isinstance(value, Literal) and not referents
        line = self.resolver.ancestry(value)
        if any(self._name(type_) == plain for type_ in line):
            # What is expected and what is there are of one name.
            return True
        return not referents and any(
            plain in row for type_ in line for row in self._bases_written(type_)
        )

    def _name(self, own: Instance) -> str:
        model = self.view.model(own.path)
        return model.symbols[own.symbol].name if model is not None else ""

    def _bases_written(self, own: Instance) -> list[str]:
        model = self.view.model(own.path)
        scope = model.own_scope.get(own.symbol, -1) if model is not None else -1
        rows = model.of_scope.get(scope, ()) if model is not None else ()
        return [row.text for row in rows if row.how in {"base", "implements"}]

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`this`: of the innermost lambda, extension or class that has one of its own."""
        model = self.view.model(path)
        while model is not None and model.language == "kotlin" and scope > 0:
            if model.scopes[scope].kind == "class":
                break
            receivers = self.receivers(path, scope)
            if receivers:
                return receivers[0]
            scope = model.scopes[scope].parent
        return super().instance_around(path, scope)


def resolver(view: View) -> Resolver:
    """A resolver for the files of Java and Kotlin of a view."""
    names = KotlinNames(view)
    kotlin = Resolver(view, names)
    members = names.types = ClassMembers(kotlin)
    expressions = names.receiving = KotlinExpressions(kotlin, members)
    kotlin.overloads = Overloads(kotlin, members).meant
    return kotlin.join(ClassAnnotations(kotlin), members, ClassCalls(kotlin), expressions)
