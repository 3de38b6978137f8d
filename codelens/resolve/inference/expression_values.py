"""Evaluates expressions to values, to find out what a receiver is."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeGuard

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel, head_of
from codelens.resolve.inference.call_results import OWN, TAKES, CallbackParameters, handed
from codelens.resolve.inference.members import REFS
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Function,
    Instance,
    Literal,
    Module,
    Record,
    Shape,
    Super,
    Value,
    each,
    together,
)
from codelens.resolve.languages.python_rules import Fixtures
from codelens.resolve.languages.script import holder, literal
from codelens.types import PROTOCOL, Binding, Reference

_STEP = re.compile(
    r"\.(operator[^\w\s.()`]+|[-+*/%&|^<>]+(?=\(\))|[\w$#]+)"
    r"|(\([<\w*]*\))|(\[\])|(\[\*\])|(\[with\])|(`[^`]+`)"
)
_NAME = re.compile(r"[^\W\d][\w$]*|[$#][\w$]*")
_WRITTEN = "({`'<0"
"""The first characters of heads that are not names."""
_HELD = "#held"
"""The step from what a script binds to what a Vue template sees."""
_ASSIGNMENTS = frozenset({"=", "+", "?"})
"""The kinds of rows that assign a value, possibly an unknown one."""
_ASYNC = frozenset(
    "AsyncSubject BehaviorSubject EventEmitter Observable OutputEmitterRef Promise ReplaySubject "
    "Subject".split()
)
_FIRST_PARAMETERS = frozenset({"self", "cls"})


@lru_cache(maxsize=5000)
def steps(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Split an expression into its head and the steps after it; None for an unknown expression."""
    if text[:1] in {"(", "{"}:
        end = _closing(text)
    elif text[:1] in {"`", "'"}:
        end = text.find(text[0], 1)
    elif text[:1] == "<":
        end = text.find(">")
    else:
        match = _NAME.match(text)
        end = match.end() - 1 if match else 0 if text[:1] == "0" else -1
    if end < 0:
        return None
    head, rest = text[: end + 1], text[end + 1 :]
    parts: list[str] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None:
            return None
        parts.append(match[1] or match[0])
        at = match.end()
    return head, tuple(parts)


def _closing(text: str) -> int:
    """Return the position of the closing bracket for the first character, or -1."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if not depth:
            return at
    return -1


class Expressions:
    """Evaluates the expressions of one view."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once
        self._callbacks = CallbackParameters(resolver)
        self._fixtures = Fixtures(resolver)

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """Return the value of an expression in a scope."""
        if not text or text == "?":
            return None
        taken = steps(text)
        if taken is None:
            return None
        model = self.view.model(path)
        late = model.named_like_their_value
        if late and late.get((scope, line, head_of(text))) == text:
            scope = model.scopes[scope].parent
        used = scope
        scope, sensitive = self.place(path, scope, taken[0])
        if "`" in text:
            # The meaning of a type in the expression also depends on the place.
            scope = used
        if not sensitive or self._is_open(path, scope, used, taken[0], line):
            line = -1
        key = ("value", path, scope, text, line)
        return self.once(key, lambda: self._value(path, scope, taken, line), None)

    def _is_open(self, path: bytes, scope: int, used: int, name: str, line: int) -> bool:
        """Whether the order of assignments does not determine a variable's value at a place.

        The last assignment may be in a branch. A function also sees later assignments and those of
        other functions.
        """
        model = self.view.model(path)
        functions = model.functions
        if functions[used] == functions[scope]:
            return self._is_in_branch(model, scope, used, name, line)
        elsewhere = (functions[scope], functions[used])
        return any(
            row.line > line or functions[row.scope] not in elsewhere
            for row in _assigned_rows(model, scope, name)
        )

    def _is_in_branch(self, model: FileModel, scope: int, used: int, name: str, line: int) -> bool:
        before = [row for row in _assigned_rows(model, scope, name) if row.line < line]
        if not before or before[-1].scope == scope:
            return False
        at = used
        while at > scope and at != before[-1].scope:
            at = model.scopes[at].parent
        return at != before[-1].scope

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """Return the scope that decides what a head means, and whether that varies by line."""
        if head[0] in _WRITTEN or not self.resolver.by_place:
            return scope, True
        model = self.view.model(path)
        if head == "super" or head in model.spec.instance:
            if model.spec.spaces:
                return holder(model, scope), False
            return model.own_scope.get(model.type_around(scope), scope), False
        return self.names.place(path, scope, head)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        takes = next((at for at, step in enumerate(rest) if step.startswith(TAKES)), -1)
        if takes >= 0:
            functions = self._functions(path, scope, head, rest[:takes], line)
            value = self._callbacks.taken(functions, int(rest[takes].removeprefix(TAKES)))
            for step in rest[takes + 1 :]:
                value = self._step(value, step)
            return value
        own = next((at for at, step in enumerate(rest, 1) if step.startswith(OWN)), 0)
        if own:
            value = self._callbacks.expected(path, scope, head[1:-1], rest[:own])
            rest = rest[own:]
        else:
            value = self._head(path, scope, head, rest, line)
        if head == "super" and rest[:1] and rest[0][0] == "(":
            rest = rest[1:]
        for at, step in enumerate(rest):
            if value is None:
                return None
            parameter = handed(step)
            if parameter is not None:
                declared_result = "".join(rest[at + 1 : at + 2])
                result = (
                    self.resolver.of_type(path, scope, declared_result[1:-1])
                    if declared_result[:1] == "`"
                    else None
                )
                value = together(
                    [
                        self._callbacks.given(part, rest[at - 1 : at], parameter, result)
                        for part in each(value)
                    ]
                )
            elif step[0] == "`":
                continue
            elif handed("".join(rest[at + 1 : at + 2])) is None:
                value = self._step(value, step)
        return value

    def _functions(
        self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int
    ) -> list[tuple[Referent, Value]]:
        """Return the definitions that an expression for a function means, each with its owner."""
        if rest:
            owner = self._value(path, scope, (head, rest[:-1]), line)
            return self.resolver.members(owner, rest[-1])
        referents = self.names.lookup(path, scope, head)
        rows = [row for referent in referents[:1] for row in self.names.rows(referent)]
        assigned = [row for row in rows if row.how == "="]
        inner = steps(assigned[0].text) if len(assigned) == 1 else None
        if inner is not None and inner[1] and inner[1][-1].isidentifier():
            return self._functions(path, assigned[0].scope, *inner, assigned[0].line)
        functions: list[tuple[Referent, Value]] = []
        functions += [(referent, None) for referent in referents if referent.symbol >= 0]
        return functions[:1]

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name without a receiver."""
        types = reference.kind == "type"
        referents = self.names.lookup(path, reference.scope, reference.name, types=types)
        if not referents and (types or reference.kind in {"name", "export"}):
            # `export { Row }` may export a type.
            types = not types
            referents = self.names.lookup(path, reference.scope, reference.name, types=types)
        if reference.kind == "call" and len(referents) == 1 and referents[0].symbol == LOCAL:
            own = self._first_parameter(referents[0])
            if isinstance(own, Definition):
                # Python's `cls()`.
                return [Referent(own.path, own.symbol, 0, reference.name)]
            return self._of_module(path, referents[0]) or referents
        return referents

    def _of_module(self, path: bytes, local: Referent) -> list[Referent]:
        """Return the export that a JavaScript variable aliases: `const { f: local } = module`."""
        rows = self.names.rows(local) if self.view.model(path).spec.spaces else ()
        row = next(iter(rows), None)
        owner, _, name = (
            row.text.rpartition(".") if row is not None and len(rows) == 1 else ("",) * 3
        )
        if row is None or row.how != "=" or not (owner.isidentifier() or owner[:1] == "'"):
            return []
        value = self.value(path, local.scope, owner, row.line)
        if not isinstance(value, Module):
            return []
        return [referent for referent, _ in self.resolver.members(value, name)]

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver."""
        if reference.kind == "type":
            return self.resolver.named_type(
                path, reference.scope, f"{reference.receiver}.{reference.name}"
            )
        value = self._asserted(path, reference)
        if value is None:
            value = self.value(path, reference.scope, reference.receiver, reference.line)
        if reference.arguments == PROTOCOL:
            # For the class itself, the metaclass would have the method.
            value = together([part for part in each(value) if isinstance(part, Instance)])
        referents = [referent for referent, _ in self.resolver.members(value, reference.name)]
        is_own = not referents and reference.receiver == "this"
        if is_own and self.view.model(path).spec.is_component:
            return self.names.given_to_all(path, reference.name)
        return referents

    def _asserted(self, path: bytes, reference: Reference) -> Value:
        """Return the type of an earlier assertion about the receiver in the same function."""
        model = self.view.model(path)
        assertions = model.asserted.get(reference.receiver)
        if assertions is None:
            return None
        function = model.functions[reference.scope]
        before = [row for row in assertions if row[0] == function and row[1] < reference.line]
        if not before:
            return None
        _, since, type_text = before[-1]
        for name in {reference.receiver, reference.receiver.partition(".")[0]}:
            entry = model.names[self.place(path, reference.scope, name)[0]].get(name.strip("$"))
            rows = entry.rows if entry is not None else ()
            if any(since < row.line <= reference.line for row in rows):
                return None
        return self.resolver.of_type(path, reference.scope, type_text) if type_text else None

    def _step(self, value: Value, step: str) -> Value:
        if step[0] == "(":
            return together([self.resolver.called_with(part, step) for part in each(value)])
        if step in {"[]", "[*]"}:
            return together([self.resolver.element(part, step) for part in each(value)])
        if step == "#above":
            above = (part for part in each(value) if isinstance(part, Instance))
            return together([Super(part.path, part.symbol, part) for part in above])
        if step in _HOLDERS:
            return _HOLDERS[step](value)
        if step == "#await":
            return together([self.resolver.awaited(part) for part in each(value)])
        if step == _HELD:
            return together([self._held(part) for part in each(value)])
        if step == "[with]":
            return together([self.resolver.entered(part) for part in each(value)])
        return together([self.resolver.member_value(part, step) for part in each(value)])

    def _held(self, value: Value) -> Value:
        """Return what a Vue template sees of a value: a ref's own value."""
        if isinstance(value, Record) and value.text.startswith("{value:"):
            return self.resolver.member_value(value, "value")
        if isinstance(value, Container) and value.name in REFS and value.args:
            return value.args[0]
        return value

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        if head[0] in _WRITTEN:
            return self._written(path, scope, head, line)
        model = self.view.model(path)
        if head == "super":
            return self._super(path, scope, model)
        if head in model.spec.instance:
            if model.spec.spaces:
                return self._own_this(path, holder(model, scope), model)
            return self.instance_around(path, scope)
        return self._named(path, scope, head, line)

    def _written(self, path: bytes, scope: int, head: str, line: int) -> Value:
        """Evaluate a literal head: an alternative, a type, a module, an object, a primitive."""
        if head[0] == "(":
            return together(
                [self.value(path, scope, part, line) for part in _alternatives_of(head[1:-1])]
            )
        if head[0] == "`":
            return self.resolver.of_type(path, scope, head[1:-1])
        if head[0] == "'":
            files = self.view.modules(path, head[1:-1])
            return Module(files[0]) if len(files) == 1 else None
        if head[0] == "<":
            return self.resolver.element_value(path, scope, head)
        return Record(path, scope, head, line) if head[0] == "{" else Literal()

    def _named(self, path: bytes, scope: int, name: str, line: int) -> Value:
        referents = self.names.lookup(path, scope, name)
        if len(referents) == 1 and referents[0].symbol == LOCAL:
            own = self._first_parameter(referents[0]) or self._fixtures.given(referents[0])
            if own is not None:
                return own
        return together(
            [self.value_of(referent, path, scope, line) for referent in self.chosen(referents)]
        )

    def chosen(self, referents: list[Referent]) -> list[Referent]:
        """Return only the first of several overloads; any other referents stay."""
        is_defined = len(referents) > 1 and referents[0].symbol >= 0
        if is_defined and self.view.symbol(referents[0]).kind in CALLABLE:
            return referents[:1]
        return referents

    def _first_parameter(self, referent: Referent) -> Value:
        """Return the value of Python's `self` or `cls`."""
        model = self.view.model(referent.path)
        if referent.name not in _FIRST_PARAMETERS or model.spec.instance:
            return None
        rows = self.names.rows(referent)
        if any(row.how not in {"?", ":"} for row in rows) or len(rows) != 1:
            return None
        function = model.scopes[referent.scope]
        parent = model.scopes[function.parent] if function.parent >= 0 else None
        if parent is None or parent.kind != "class" or parent.symbol < 0:
            return None
        decorators = model.decorators(function.symbol) if function.symbol >= 0 else frozenset[str]()
        if "staticmethod" in decorators:
            return None
        if referent.name == "cls" or "classmethod" in decorators:
            return Definition(referent.path, parent.symbol)
        return self.this(referent.path, parent.symbol)

    def this(self, path: bytes, symbol: int) -> Instance:
        """Return an instance of a type, as seen inside it."""
        return Instance(path, symbol)

    def instance_around(self, path: bytes, scope: int) -> Value:
        """Return the value of `this`: an instance of the enclosing class."""
        symbol = self.view.model(path).type_around(scope)
        return self.this(path, symbol) if symbol >= 0 else None

    def _own_this(self, path: bytes, scope: int, model: FileModel) -> Value:
        """Return JavaScript's `this` from the scope that defines it."""
        here = model.scopes[scope]
        entry = model.names[scope].get("this")
        if entry is not None:
            declared = [row for row in entry.rows if row.how == ":"]
            if declared:
                return self.resolver.of_type(path, scope, declared[0].text)
            texts = [row.text for row in entry.rows if row.how == "="]
            of_type = self.value(path, scope, texts[0], -1) if texts else None
            if of_type is not None:
                return together([of.this for of in each(of_type) if isinstance(of, Function)])
            owner = literal(model, here.symbol) if here.symbol >= 0 else -1
            return Definition(path, owner) if owner >= 0 else None
        if here.kind == "class":
            return self.this(path, here.symbol) if here.symbol >= 0 else None
        if not scope and model.language == "angular":
            return self.resolver.component(path)
        symbol = model.type_around(scope) if scope else -1
        return Definition(path, symbol) if symbol >= 0 else None

    def _super(self, path: bytes, scope: int, model: FileModel) -> Value:
        symbol = model.type_around(scope)
        if model.spec.spaces:
            instance = self._own_this(path, holder(model, scope), model)
            return (
                Super(path, symbol, instance)
                if instance is not None and instance[:2] == (path, symbol)
                else None
            )
        return Super(path, symbol, self.this(path, symbol)) if symbol >= 0 else None

    def value_of(self, referent: Referent, path: bytes, scope: int, line: int) -> Value:
        """Return the value of a referent used at a place."""
        if referent.symbol == MODULE:
            return Module(referent.path)
        model = self.view.model(referent.path)
        if referent.symbol >= 0:
            symbol = model.symbols[referent.symbol]
            if symbol.kind in CALLABLE or symbol.kind in TYPES or symbol.kind == "module":
                return Definition(referent.path, referent.symbol)
        same = referent.path == path and self._in_same_function(model, referent.scope, scope)
        value = self._of_rows(referent, line if same else -1)
        if referent.symbol not in model.children and not self._has_more(referent, model):
            return value
        if isinstance(value, (Record, Shape)):
            return together([Definition(referent.path, referent.symbol), value])
        return (
            Definition(referent.path, referent.symbol)
            if value is None or isinstance(value, Literal)
            else value
        )

    def _has_more(self, referent: Referent, model: FileModel) -> bool:
        """Whether members are assigned to a variable."""
        if referent.symbol < 0 or not model.spec.spaces:
            return False
        return model.symbols[referent.symbol].qualified in model.assigned

    def _in_same_function(self, model: FileModel, outer: int, inner: int) -> bool:
        return model.functions[outer] == model.functions[inner]

    def _of_rows(self, referent: Referent, line: int) -> Value:
        key = ("rows", referent.path, referent.scope, referent.name, line)
        return self.once(key, lambda: self._from_rows(referent, line), None)

    def _from_rows(self, referent: Referent, line: int) -> Value:
        rows = [row for row in self.names.rows(referent) if row.how != "let"]
        if not rows and referent.name == "default":
            handed = self.view.model(referent.path).exports.get("default", ())
            rows = [row._replace(how="=") for row in handed if row.text[:1] == "{"]
        declared = [row for row in rows if row.how == ":"]
        if declared:
            return self.resolver.of_type(referent.path, referent.scope, declared[0].text)
        typed = [row for row in rows if row.how == "type"]
        if typed:
            return (
                self.resolver.of_type(referent.path, referent.scope, typed[0].text)
                if typed[0].text
                else None
            )
        assigned = [row for row in rows if row.how in _ASSIGNMENTS]
        if line >= 0 and len(assigned) > 1:
            before = [row for row in assigned if row.line < line]
            here = [row for row in assigned if row.line == line]
            assigned = before[-1:] or here[:1] or assigned
        return self.agreed(referent.path, assigned)

    def agreed(self, path: bytes, rows: list[Binding]) -> Value:
        """Return the common value of all rows; None if one of them is unknown."""
        values: list[Value] = []
        for row in rows:
            value = self.value(path, row.scope, row.text, row.line) if row.how != "?" else None
            if value is None:
                return None
            values.append(value)
        return together(values)


def is_async(value: Value) -> TypeGuard[Container]:
    """Whether a value is a promise or an observable of which the type of the content is known."""
    return isinstance(value, Container) and value.name in _ASYNC and bool(value.args)


_HOLDERS: dict[str, Callable[[Value], Value]] = {
    "#promise": lambda value: Container("Promise", (value,)),
    "#signal": Function,
    "#async": lambda value: together([part.args[0] for part in each(value) if is_async(part)]),
}
"""Steps that wrap a value in another (a promise, a signal) or unwrap it."""


def _assigned_rows(model: FileModel, scope: int, name: str) -> list[Binding]:
    """Return the assignments to a variable."""
    entry = model.names[scope].get(name)
    rows = entry.rows if entry is not None else ()
    return [row for row in rows if row.how in _ASSIGNMENTS]


@lru_cache(maxsize=5_000)
def _alternatives_of(text: str) -> tuple[str, ...]:
    """Split `a|b` at the bars outside of brackets."""
    depth, start = 0, 0
    halves: list[str] = []
    quoted = False
    for at, sign in enumerate(text):
        quoted ^= sign == "`"
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth and not quoted:
            halves.append(text[start:at])
            start = at + 1
    return (*halves, text[start:])
