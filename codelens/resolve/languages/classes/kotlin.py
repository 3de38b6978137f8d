"""Resolves Kotlin names: source sets, extensions, and `this` in lambdas with receivers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.members import unnamed_overrides
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Literal, Value, together
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.resolve.languages.classes.class_types import extended, parameters
from codelens.resolve.languages.classes.class_values import (
    ClassAnnotations,
    ClassCalls,
    ClassExpressions,
)
from codelens.resolve.languages.classes.kotlin_source_sets import in_other_folders
from codelens.resolve.languages.classes.overloads import Overloads
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.view_files import View
from codelens.types import PROTOCOL, Reference

HANDING = frozenset({"apply", "run", "runCatching"})
"""Functions that pass their receiver to the lambda as `this`."""
BUILDING = {
    "buildString": "StringBuilder",
    "buildList": "MutableList",
    "buildSet": "MutableSet",
    "buildMap": "MutableMap",
    "sequence": "SequenceScope",
    "iterator": "SequenceScope",
    "flow": "FlowCollector",
    "channelFlow": "ProducerScope",
    "callbackFlow": "ProducerScope",
}
"""Library functions -> the type of `this` in their lambdas."""
FOREIGN = frozenset(
    "add addAll append appendLine clear contains emit emitAll get insert put putAll remove "
    "removeAll removeAt set setLength trySend yield yieldAll".split()
)
"""Members of those types, of collections and of strings."""
PLAIN = frozenset(
    """
    all also any assertDoesNotThrow assertFails assertFailsWith assertThrows associate associateBy
    associateWith async check checkNotNull chunked collect collectLatest compareBy
    compareByDescending computeIfAbsent computeIfPresent coroutineScope count describe distinctBy
    drop dropWhile error execute filter filterIndexed filterIsInstance filterKeys filterNot
    filterNotNull filterValues find findLast first firstOrNull flatMap fold foldIndexed foldRight
    forEach forEachIndexed generateSequence getOrElse getOrPut groupBy ifBlank ifEmpty indexOfFirst
    indexOfLast invokeLater it joinToString last lastOrNull launch lazy let map mapIndexed mapKeys
    mapNotNull mapNotNullTo mapTo mapValues maxBy maxByOrNull maxOf maxOfOrNull maxWith
    measureNanoTime measureTime measureTimeMillis measureTimedValue merge minBy minByOrNull minOf
    minOfOrNull none onEach onEachIndexed onFailure onSuccess partition recover reduce removeIf
    repeat replace replaceAll require requireNotNull retainAll runBlocking runInterruptible runTest
    shouldThrow single singleOrNull sortBy sortByDescending sortedBy sortedByDescending sortedWith
    submit sumBy sumOf supervisorScope synchronized takeIf takeUnless takeWhile test thenBy thread
    transform trim use useLines windowed withContext withLock withPermit withTimeout
    withTimeoutOrNull zip Array BooleanArray ByteArray CharArray Comparator DoubleArray FloatArray
    IntArray List LongArray MutableList Runnable ShortArray Thread
    """.split()
)
"""Functions whose lambdas have no `this`, or one without members in the view."""
NO_FUNCTIONS = frozenset(
    "Boolean Byte ByteArray Char CharSequence Double Float Int IntArray List Long Map Set Short "
    "String".split()
)
"""Types that are not function types."""


# Bare names with several `this`, in extensions and lambdas.
#
# By Kotlin's specification, 11.2, local names come first, then the members of each `this`,
# innermost first, then what the file sees. The called function determines the `this` of a lambda.
# If it is unknown, names that are members of any type remain unresolved.

_RECEIVER = re.compile(r"\(?\s*(?:@[\w.]+\s+)*(?:suspend\s+)?(\w[\w.]*(?:<[^()]*>)?)\??\.\(")
_SPACES = {"call": CALLABLE, "value": frozenset({"property", "field"})}
INFIX = -2
"""Replaces the number of arguments: the name is an infix operator."""
_UNKNOWN: tuple[Value, ...] = (None,)

Receivers = tuple[Value, ...]
"""The `this` that a scope introduces: none, one, or an unknown one (None)."""


class Receiving(Protocol):
    """The type queries that Kotlin's name lookup needs in addition."""

    def receivers(self, path: bytes, scope: int) -> Receivers:
        """Return `this` in a function or lambda that does not use that of the enclosing class."""
        ...

    def extensions_of(self, value: Instance, name: str) -> list[Referent]:
        """Return the extensions of that name for a type or its bases."""
        ...

    def extends(self, referent: Referent, text: str, value: Value) -> bool:
        """Whether an extension for the type `text` applies to a value."""
        ...


class KotlinNames(ClassNames):
    """Looks up names in Java and Kotlin."""

    receiving: Receiving

    def in_package(self, path: bytes, package: str, name: str) -> list[Referent]:
        """Return a package's definitions; in Kotlin, its files may be in any folder."""
        return super().in_package(path, package, name) or in_other_folders(
            self.view, path, package, name
        )

    def find(
        self, path: bytes, scope: int, name: str, space: Space, arguments: int = -1
    ) -> list[Referent]:
        """Return the referents of a bare name as a value, a type or a call."""
        model = self.view.model(path)
        if model.language != "kotlin" or space == "type":
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
        """Return the local referents in the enclosing functions, and the class around them."""
        while scope > 0 and model.scopes[scope].kind != "class":
            referents = self._in_block(path, model, scope, name, space)
            if referents:
                return scope, referents
            scope = model.scopes[scope].parent
        return scope, []

    def _types_called(self, path: bytes, qualified: str) -> list[Referent]:
        types = super()._types_called(path, qualified)
        owner, _, name = qualified.rpartition(".")
        # The members of a companion object without a name are members of its type.
        return types or (self._types_called(path, owner) if name == "Companion" else [])

    def _of_receivers(
        self,
        path: bytes,
        scopes: Iterator[int],
        seen: list[Value],
        of_value: Callable[[Value], list[Referent]],
    ) -> list[Referent]:
        """Return the members of the first `this` that has any; adds the others to `seen`."""
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
        """Whether an extension without a receiver applies to a `this` in scope."""
        extension_model = self.view.model(referent.path)
        if extension_model.language != "kotlin" or referent.symbol < 0:
            return True
        symbol = extension_model.symbols[referent.symbol]
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
        """Return no referents if the `this` of a lambda in between may have such a member."""
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
        """Return name -> members of Java and Kotlin types, including extensions."""
        index: dict[str, list[Referent]] = {}
        for path, model in self.view.of_languages({"java", "kotlin"}):
            for at, symbol in enumerate(model.symbols):
                if "private" in symbol.signature.partition("(")[0].split():
                    continue
                inner = symbol.parent >= 0 and model.symbols[symbol.parent].kind in TYPES
                if any(symbol.kind in kinds for kinds in _SPACES.values()) and (
                    inner or extended(symbol.signature, symbol.name, model.language)
                ):
                    index.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
        return index


def between(model: FileModel, scope: int, outer: int) -> Iterator[int]:
    """Yield the scopes from an inner to an outer scope."""
    while scope != outer:
        yield scope
        scope = model.scopes[scope].parent


# Expressions in Kotlin and Java.


class KotlinExpressions(ClassExpressions):
    """Evaluates expressions in Java and Kotlin."""

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name without a receiver."""
        if reference.kind == "call" and reference.arguments < 0:
            referents = self.names.find(path, reference.scope, reference.name, "call", INFIX)
            return referents or self._callable_value(path, reference.scope, reference.name)
        return super().meant(path, reference)

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver; operators must be declared as such."""
        referents = super().member_of(path, reference)
        if reference.arguments != PROTOCOL:
            return referents
        return [referent for referent in referents if self._is_operator(referent)]

    def _is_operator(self, referent: Referent) -> bool:
        model = self.view.model(referent.path)
        if model.language != "kotlin":
            return True
        words = model.symbols[referent.symbol].signature.partition("(")[0].split()
        # An override of an operator is an operator.
        return "operator" in words or "override" in words

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """Return the scope that decides what a name means; the search stops at another `this`."""
        model = self.view.model(path)
        if model.language != "kotlin" or head[0] in "(`0":
            return super().place(path, scope, head)
        if head in model.asserted:
            return scope, True
        at = scope
        while at > 0 and model.scopes[at].kind != "class":
            entry = model.names[at].get(head)
            if entry is not None:
                return at, len(entry.rows) > 1
            if self.receivers(path, at):
                # Local names further out come before the members of this receiver.
                return self._local_or(model, at, head)
            at = model.scopes[at].parent
        return at, False

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        """Return the value of a name, by the innermost test of its type around a place."""
        value = super()._head(path, scope, head, rest, line)
        model = self.view.model(path)
        if model.language != "kotlin" or head not in model.asserted:
            return value
        tested = self._tested(path, model, scope, head, line)
        if not isinstance(tested, Instance) or not isinstance(value, Instance):
            return value if tested is None else tested
        if value[:2] in {base[:2] for base in self.resolver.ancestry(tested)}:
            return tested
        is_above = tested[:2] in {base[:2] for base in self.resolver.ancestry(value)}
        return value if is_above else together([tested, value])

    def _tested(self, path: bytes, model: FileModel, scope: int, name: str, line: int) -> Value:
        while scope > 0 and model.scopes[scope].kind != "class":
            for row in reversed(model.of_scope.get(model.functions[scope], ())):
                tested, _, type_text = row.text.partition(":")
                holds = row.how == "asserted" and row.scope == scope and row.line <= line
                if holds and type_text and tested == name:
                    return self.resolver.of_type(path, scope, type_text)
            entry = model.names[scope].get(name)
            if entry is not None and entry.rows:
                return None
            scope = model.scopes[scope].parent
        return None

    def _asserted(self, path: bytes, reference: Reference) -> Value:
        """Return nothing: `_head` already gives a name its tested type."""
        return None

    def _local_or(self, model: FileModel, scope: int, name: str) -> tuple[int, bool]:
        at, sensitive = model.bound_at(scope, name, lambda _: False)
        bound = model.scopes[at].kind != "class" and name in model.names[at]
        return (at, sensitive) if at > 0 and bound else (scope, False)

    def receivers(self, path: bytes, scope: int) -> Receivers:
        """Return `this` in a function or lambda that does not use that of the enclosing class."""
        nothing: Receivers = ()
        return self.once(("this", path, scope), lambda: self._receivers(path, scope), nothing)

    def _receivers(self, path: bytes, scope: int) -> Receivers:
        model = self.view.model(path)
        if model.language != "kotlin":
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
        return self._this_in_argument(path, here.parent, row.text, row.line)

    def _this_in_argument(self, path: bytes, scope: int, taker: str, line: int) -> Receivers:
        """Return `this` in a lambda that is an argument of a function call."""
        before, _, name = taker.rpartition(".")
        if not name.isidentifier():
            return _UNKNOWN
        value = self.value(path, scope, before, line) if before else None
        if before:
            referents = self.taking(value, name, -1)
        else:
            referents = self.names.find(path, scope, name, "call")
        if not before and referents and referents[0].symbol == LOCAL:
            # The value may be callable.
            value = self.value(path, scope, name, line)
            referents = self.taking(value, "invoke", -1) or referents
        receivers = [self._in_lambda(referent, value) for referent in referents]
        resolved = [receiver for receiver in receivers if receiver is not None]
        if resolved:
            return (
                resolved[0] if all(receiver == resolved[0] for receiver in resolved) else _UNKNOWN
            )
        if name in HANDING and (before or name == "apply"):
            value = value if before else self.instance_around(path, scope)
            return (value,) if isinstance(value, Instance | Container | Literal) else _UNKNOWN
        if name in PLAIN or name in HANDING:
            return ()
        return (Container(BUILDING[name], ()),) if name in BUILDING else _UNKNOWN

    def _in_lambda(self, referent: Referent, me: Value) -> Receivers | None:
        """Return `this` in the trailing lambda of a function; None if it takes no lambda."""
        model = self.view.model(referent.path)
        if referent.symbol < 0:
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
            # The signature is truncated; the function's scope contains its parameters.
            rows = [row for row in model.bindings if row.scope == scope and row.how == ":"]
            last = next((row.text for row in reversed(rows) if "->" in row.text), "")
        if not last:
            return _UNKNOWN if taken is None and symbol.kind in CALLABLE else None
        own = extended(symbol.signature, symbol.name, "kotlin")
        return self._of_function(referent.path, scope, last, me, own)

    def _of_function(
        self, path: bytes, scope: int, text: str, me: Value, own: str
    ) -> Receivers | None:
        """Return `this` in a function type; in an extension, `own` is the type of the receiver."""
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
            symbol = self.view.symbol(referent) if referent.symbol >= 0 else None
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
        """Return the extensions of that name for a type or its bases."""
        return self._members.extensions(value, name)

    def extends(self, referent: Referent, text: str, value: Value) -> bool:
        """Whether an extension for the type `text` applies to a value."""
        if value is None:
            return True
        scope = self.view.model(referent.path).own_scope.get(referent.symbol, 0)
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
            # An `expect` declaration and its `actual` share one name.
            return True
        return not referents and any(
            plain in row for type_ in line for row in self._bases_written(type_)
        )

    def _name(self, own: Instance) -> str:
        return self.view.symbol(own).name

    def _bases_written(self, own: Instance) -> list[str]:
        model = self.view.model(own.path)
        scope = model.own_scope.get(own.symbol, -1)
        rows = model.of_scope.get(scope, ())
        return [row.text for row in rows if row.how in {"base", "implements"}]

    def instance_around(self, path: bytes, scope: int) -> Value:
        """Return `this` of the innermost lambda, extension or class that defines one."""
        model = self.view.model(path)
        while model.language == "kotlin" and scope > 0:
            if model.scopes[scope].kind == "class":
                break
            receivers = self.receivers(path, scope)
            if receivers:
                return receivers[0]
            scope = model.scopes[scope].parent
        return super().instance_around(path, scope)


def resolver(view: View) -> Resolver:
    """Build a resolver for the Java and Kotlin files of a view."""
    names = KotlinNames(view)
    kotlin = Resolver(view, names)
    members = names.types = ClassMembers(kotlin)
    expressions = names.receiving = KotlinExpressions(kotlin, members)
    kotlin.overloads = Overloads(kotlin, members).meant
    kotlin.extra_edges = lambda path, model: unnamed_overrides(
        path, model, kotlin, lambda method: names.arity(method).most
    )
    return kotlin.join(ClassAnnotations(kotlin), members, ClassCalls(kotlin), expressions)


# The language description of Kotlin; its resolver also handles Java, as they interoperate.

SPECS = {
    "kotlin": LanguageSpec(
        modules="classes.java:JvmPackages",
        resolver="classes.kotlin:resolver",
        named_in_texts=True,
        follows_names=True,
        declares_late=True,
        instance=frozenset({"this", "$this"}),
        overriding_words=frozenset({"override"}),
        hiding_words=frozenset({"private"}),
        private_word="private",
        overloads_apart=True,
        types_apart=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        constructors=frozenset({"constructor"}),
        has_main=True,
        overloads=True,
        named_arguments=True,
        star_spreads=True,
        folder_is_one_scope=True,
    )
}
