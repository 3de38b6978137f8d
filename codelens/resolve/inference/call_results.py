"""Infers call results, elements and context values, and the parameters of callbacks.

In `items.map(item => ...)`, the callback's parameter comes from the called function. The facts
represent this as a step after the callee: `items.map.#in01` is the second parameter of a function
passed as the first argument. `8` means the last argument, after the parentheses (Kotlin).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from codelens.resolve.file_model import VARIABLES, FileModel
from codelens.resolve.inference.members import PAIRS
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver, Signature
from codelens.resolve.inference.type_text import Named, argument_type, parameter_at, parsed
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
    alike,
    each,
    together,
)
from codelens.resolve.languages.python_rules import HANDING, decorators
from codelens.resolve.languages.script import is_async, meant, overloads
from codelens.types import Binding, Reference

_STEP = "#in"
OWN = "#own"
"""The step from a function type to one of its parameters; the index follows."""
TAKES = "#takes"
"""The step from a function to the declared type of a parameter; the index follows."""
_LAST = 8
_ELEMENTS = frozenset(
    "every filter find findIndex findLast findLastIndex flatMap forEach map some sort "
    "toSorted".split()
)
"""Array methods whose callback receives elements; the callback of `sort` receives two."""
_FOLDS = frozenset({"reduce", "reduceRight"})
_WAITED = frozenset({"Promise", "PromiseLike", "Awaitable"})
_ARRAYS = frozenset("[] Array ReadonlyArray Set ReadonlySet Iterable".split())
_BOUND = frozenset({":", "?", "="})


class CallbackParameters:
    """Resolves callback steps by the declared parameter types of the called functions."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view = resolver, resolver.view

    def given(
        self,
        taker: Value,
        method: tuple[str, ...],
        parameter: tuple[int, int],
        result: Value = None,
    ) -> Value:
        """Return what a callback receives from a function or from a method of a value.

        `result` is the expected result of the call; it may determine type parameters.
        """
        if not method or method[0][0] in "([":
            return self.declared(self._for_result(taker, result), *parameter)
        if isinstance(taker, Container):
            return of_script_container(taker, method[0], parameter[1])
        return self.of_functions(self.resolver.members(taker, method[0]), parameter, result)

    def _for_result(self, function: Value, result: Value) -> Value:
        """Return a function whose type parameters are inferred from the expected result."""
        if not isinstance(function, Definition) or not isinstance(result, Instance):
            return function
        model = self.view.model(function.path)
        scope = model.own_scope.get(function.symbol, -1)
        if scope < 0 or isinstance(function.owner, (Instance, Super)):
            return function
        declared = [row.text for row in model.of_scope.get(scope, ()) if row.how == "->"]
        type_ = parsed(declared[0]) if declared else None
        own = self.resolver.of_type(function.path, scope, declared[0]) if declared else None
        if not isinstance(type_, Named) or not isinstance(own, Instance) or own[:2] != result[:2]:
            return function
        argument_of = dict(zip(type_.args, result.args, strict=False))
        order = model.parameters.get(scope, [])
        args = tuple(argument_of.get(Named(name)) for name in order)
        if not any(args):
            return function
        return function._replace(owner=Instance(function.path, function.symbol, args))

    def of_functions(
        self,
        functions: Iterable[tuple[Referent, Value]],
        parameter: tuple[int, int],
        result: Value = None,
    ) -> Value:
        """Return the first declared type of a callback parameter among several functions."""
        for referent, owner in functions:
            function = Definition(referent.path, referent.symbol, owner)
            called = self._for_result(function, result)
            value = self.declared(called, *parameter) if referent.symbol >= 0 else None
            if value is not None:
                return value
        return None

    def declared(self, function: Value, place: int, at: int) -> Value:
        """Return the declared type of a parameter of a callback parameter.

        Of several overloads, the first one that takes a callback at that place counts.
        """
        for signature in self._signatures(function):
            text = argument_type(signature.parameters, place) if place >= 0 else ""
            value = self._received(signature, text, at) if text else None
            if value is not None:
                return value
        return None

    def _signatures(self, function: Value) -> list[Signature]:
        """Return how a value may be called: a function, a callable object, a field with either."""
        if isinstance(function, Instance):
            return self.resolver.call_signatures(function)
        if not isinstance(function, Definition):
            return []
        model = self.view.model(function.path)
        path, symbol, owner = function
        scope = model.own_scope.get(symbol, -1)
        if model.symbols[symbol].kind not in VARIABLES:
            bound = model.names[scope].items() if scope >= 0 else ()
            rows = ((name, entry.rows[0]) for name, entry in bound if entry.rows)
            taken = [
                f"{name}: {row.text if row.how == ':' else ''}"
                for name, row in rows
                if row.how in _BOUND
            ]
            return [Signature(path, scope, owner, tuple(taken), "")]
        field = model.symbols[symbol]
        entry = model.names[model.own_scope.get(field.parent, 0)].get(field.name)
        rows = entry.rows if entry is not None else ()
        return [
            signature
            for row in rows
            if row.how == ":" and row.line == field.name_line
            for signature in self.resolver.signatures(path, row.scope, row.text, owner)
        ]

    def _received(self, signature: Signature, text: str, at: int) -> Value:
        """Return what a callback of a type receives; all its signatures must agree."""
        values: list[Value] = []
        for taken in self.resolver.signatures(*signature.of(text)):
            part = parameter_at(taken.parameters, at)
            values.append(self.resolver.of_type(*taken.of(part)) if part else None)
        return alike([value for value in values if value is not None])

    def expected(self, path: bytes, scope: int, text: str, steps: tuple[str, ...]) -> Value:
        """Return what a callback receives by an annotation: `const f: Taker = x => ...`.

        Each step takes a part of the type's text: `()` the result of a call, and the last step a
        parameter.
        """
        place = Signature(path, scope, None, (), text)
        for step in steps:
            number = step.removeprefix(OWN)
            if number != step:
                return self._received(place, place.result, int(number))
            signatures = self.resolver.signatures(*place.of(place.result))
            if not signatures:
                return None
            place = signatures[0]
        return self.resolver.of_type(*place.of(place.result))

    def taken(self, functions: Iterable[tuple[Referent, Value]], at: int) -> Value:
        """Return the declared type of a parameter of a function or callable value."""
        for referent, owner in functions:
            if referent.symbol < 0:
                continue
            for signature in self._signatures(Definition(referent.path, referent.symbol, owner)):
                text = argument_type(signature.parameters, at)
                if text:
                    return self.resolver.of_type(*signature.of(text))
        return None


@lru_cache(maxsize=5_000)
def handed(step: str) -> tuple[int, int] | None:
    """Return the argument index of the callback, -1 for the last, and its parameter index."""
    if not step.startswith(_STEP) or not step[3:].isdigit():
        return None
    place = int(step[3])
    return (-1 if place == _LAST else place), int(step[4])


def of_script_container(value: Container, method: str, at: int) -> Value:
    """Return what methods of JavaScript arrays, maps and promises pass to their callback."""
    if not value.args:
        return None
    if value.name in PAIRS:
        return value.args[-1 if not at else 0] if method == "forEach" and at < 2 else None
    if value.name in _WAITED:
        return value.args[0] if method == "then" and not at else None
    if value.name not in _ARRAYS:
        return None
    if method in _FOLDS:
        return value.args[0] if at == 1 else None
    is_element = not at or method in {"sort", "toSorted"}
    return value.args[0] if method in _ELEMENTS and is_element else None


# The results of calls, elements, context managers and awaited values.

_ENTERED = frozenset(
    "Iterator Generator AsyncIterator AsyncGenerator Iterable AsyncIterable ContextManager "
    "AsyncContextManager AbstractContextManager AbstractAsyncContextManager".split()
)
_AWAITABLE = frozenset("Awaitable Promise PromiseLike Task Future".split())
_RESULT = 2
"""The index of the return type in the type arguments of `Generator` and `Coroutine`."""


class Calls:
    """Infers the results of calls."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once

    def called(self, value: Value) -> Value:
        """Return the result of calling a value."""
        if isinstance(value, Function):
            return value.result
        if isinstance(value, Instance):
            for referent, _ in self.resolver.members(value, "__call__")[:1]:
                return self.result(referent.path, referent.symbol, value)
            return self._returned_by(self.resolver.call_signatures(value))
        if isinstance(value, Module):
            whole = self.handed(value)
            return together([self.called(part) for part in each(whole)])
        if not isinstance(value, Definition):
            return None
        if self.resolver.is_type(value):
            return Instance(value.path, value.symbol)
        return self.result(value.path, value.symbol, value.owner)

    def called_with(self, value: Value, arguments: str) -> Value:
        """Return the result of a call with arguments, given by their marks (`scriptcalls`)."""
        if isinstance(value, Definition):
            path, symbol = value.path, value.symbol
            model = self.view.model(path)
            if model.spec.spaces and not model.spec.untyped:
                key = ("overloads", path, symbol)
                candidates = self.once(key, lambda: overloads(model, path, symbol), (symbol,))
                if len(candidates) > 1:
                    key = ("result", path, symbol, value.owner, arguments)
                    functions = [model.symbols[at] for at in candidates]
                    written = [(function.signature, function.name) for function in functions]
                    chosen = [candidates[at] for at in meant(written, arguments)]
                    return self.once(
                        key, lambda: self._agreed_result(path, model, chosen, value.owner), None
                    )
        if isinstance(value, Instance):
            signatures = self.resolver.call_signatures(value)
            if len(signatures) > 1:
                return self._returned_by(self._fitting(signatures, arguments))
        return self.called(value)

    def _fitting(self, signatures: list[Signature], arguments: str) -> list[Signature]:
        """Return the signatures that a call may mean.

        A parameter does not accept a function if its type is an interface without call signature.
        """
        written = [(f"({', '.join(signature.parameters)})", "") for signature in signatures]
        marks = arguments[1:-1]
        chosen = [signatures[at] for at in meant(written, arguments)]
        if len(chosen) < 2 or "f" not in marks or not marks.isalpha():
            return chosen

        def takes(signature: Signature) -> bool:
            for place, mark in enumerate(marks):
                text = argument_type(signature.parameters, place) if mark == "f" else ""
                if text and not self.resolver.signatures(*signature.of(text)):
                    type_ = self.resolver.of_type(*signature.of(text))
                    if isinstance(type_, (Instance, Shape, Container)):
                        return False
            return True

        return [signature for signature in chosen if takes(signature)] or chosen

    def _returned_by(self, signatures: list[Signature]) -> Value:
        of_type = self.resolver.of_type
        return alike([of_type(*signature.of(signature.result)) for signature in signatures])

    def handed(self, module: Module) -> Value:
        """Return the value of a CommonJS module itself: its default export."""
        model = self.view.model(module.path)
        if not model.spec.spaces:
            return None
        values: list[Value] = []
        for referent in self.resolver.chosen(self.names.exported(module.path, "default")):
            value = self.resolver.value_of(referent, referent.path, -1, -1)
            values.append(value if value != module else None)
        for row in model.exports.get("default", ()):
            if not values:
                values.append(self.resolver.value(module.path, 0, row.text, row.line))
        return together(values)

    def result(self, path: bytes, symbol: int, me: Value) -> Value:
        """Return the result of a function."""
        key = ("result", path, symbol, me)
        return self.once(key, lambda: self._result(path, symbol, me), None)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model.spec.spaces:
            # Only the arguments could select the overload, so all overloads must agree.
            return self._agreed_result(path, model, overloads(model, path, symbol), me)
        function = model.symbols[symbol]
        if (
            model.spec.submodules
            and function.start_line < function.name_line
            and function.kind != "property"
        ):
            for decorator in reversed(decorators(model, symbol)):
                changed, result = self._changed(path, decorator)
                if changed:
                    return result
        return self._result_of(path, model, symbol, me)

    def _changed(self, path: bytes, decorator: Reference) -> tuple[bool, Value]:
        """Return whether a decorator changes the result of a call, and the new result."""
        text = f"{decorator.receiver}.{decorator.name}" if decorator.receiver else decorator.name
        value = self.resolver.value(path, decorator.scope, text, decorator.line)
        if decorator.kind == "call" and value is not None:
            applied = together([self.called(part) for part in each(value)])
            if applied is None:
                return False, None
            value = applied
        if value is None:
            return decorator.name not in HANDING, None
        wrapped = together([self.called(part) for part in each(value)])
        if wrapped is None:
            # A decorator usually returns the function itself or one with the same result.
            return False, None
        result = together([self.called(part) for part in each(wrapped)])
        return result is not None or not isinstance(wrapped, (Definition, Function)), result

    def _agreed_result(
        self, path: bytes, model: FileModel, symbols: Sequence[int], me: Value
    ) -> Value:
        return alike([self._result_of(path, model, symbol, me) for symbol in symbols])

    def _result_of(self, path: bytes, model: FileModel, symbol: int, me: Value) -> Value:
        scope = model.own_scope.get(symbol)
        if scope is None:
            return None
        if isinstance(me, Definition):
            me = Instance(me.path, me.symbol)
        rows = model.of_scope.get(scope, [])
        declared = [row for row in rows if row.how == "->"]
        generates = any(row.how == "yield" for row in rows)
        result: Value = None
        if declared and me is not None and self._returns_receiver(model, scope, declared[0]):
            result = me
        elif declared:
            result = self.resolver.of_type(path, scope, declared[0].text, me)
        elif generates and model.spec.submodules:
            item = self._returned_values(path, rows, me, "yield")
            result = Container("Generator", (item,)) if item is not None else None
        elif not generates:
            result = self._returned_values(path, rows, me)
        return result if generates else self._waited_for(model, symbol, result)

    def _returned_values(
        self, path: bytes, rows: list[Binding], me: Value, how: str = "return"
    ) -> Value:
        values: list[Value] = []
        for row in rows:
            if row.how == how and (row.text or how != "yield"):
                value = self._returned(path, row, me)
                if value is None:
                    return None
                values.append(value)
        return together(values)

    def _waited_for(self, model: FileModel, symbol: int, value: Value) -> Value:
        """Return the result of calling a coroutine function, before `await`."""
        rules = model.spec
        if value is None or not (rules.submodules or rules.spaces) or not is_async(model, symbol):
            return value
        if rules.spaces:
            # A promise of a promise collapses into one promise.
            value = together([self.awaited(part) for part in each(value)])
        return Container("Awaitable", (value,)) if value is not None else None

    def awaited(self, value: Value) -> Value:
        """Return the result of awaiting a value."""
        if isinstance(value, Container):
            at = _RESULT if value.name == "Coroutine" else 0 if value.name in _AWAITABLE else -1
            return value.args[at] if 0 <= at < len(value.args) else None
        if not isinstance(value, Instance):
            return value if isinstance(value, (Record, Literal)) else None
        model = self.view.model(value.path)
        if self.resolver.members(value, "then"):
            return None
        if model.spec.spaces:
            return value
        for referent, _ in self.resolver.members(value, "__await__")[:1]:
            steps = self.result(referent.path, referent.symbol, value)
            if isinstance(steps, Container) and len(steps.args) > _RESULT:
                return steps.args[_RESULT]
        return None

    def _returns_receiver(self, model: FileModel, scope: int, declared: Binding) -> bool:
        """Whether a method returns its receiver: `def __enter__(self: T) -> T`."""
        entry = model.names[scope].get("self")
        rows = entry.rows if entry is not None else ()
        return len(rows) == 1 and rows[0].how == ":" and rows[0].text == declared.text

    def _returned(self, path: bytes, row: Binding, me: Value) -> Value:
        if me is not None and row.text in {"self", "this"}:
            return me
        return self.resolver.value(path, row.scope, row.text, row.line)

    def element(self, value: Value, step: str) -> Value:
        """Return an element of a value, by `[]` or by iteration (`[*]`)."""
        if isinstance(value, Container) and value.args:
            if value.name in PAIRS:
                return value.args[-1] if step == "[]" else value.args[0]
            return value.args[0]
        if isinstance(value, Instance):
            name = "__getitem__" if step == "[]" else "__iter__"
            referents = self.resolver.members(value, name)
            if referents:
                item = self.result(referents[0][0].path, referents[0][0].symbol, value)
                return (
                    item
                    if step == "[]"
                    else together([self.element(part, "[]") for part in each(item)])
                )
        return None

    def entered(self, value: Value) -> Value:
        """Return what a context manager's `__enter__` returns."""
        if isinstance(value, Container) and value.args and value.name in _ENTERED:
            return value.args[0]
        for name in ("__enter__", "__aenter__"):
            for referent, _ in self.resolver.members(value, name)[:1]:
                result = self.result(referent.path, referent.symbol, value)
                if name == "__aenter__":
                    return together([self.awaited(part) for part in each(result)])
                return result
        return None
