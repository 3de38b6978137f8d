"""What calls give, and elements, contexts and what is waited for."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.collection_members import PAIRS
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Function,
    Instance,
    Literal,
    Module,
    Record,
    Value,
    alike,
    each,
    together,
)
from codelens.resolve.languages.python.python_decorators import HANDING, decorators
from codelens.resolve.languages.script.script_overloads import meant
from codelens.resolve.languages.script.script_this import is_async, overloads
from codelens.types import Binding, Reference

_ENTERED = frozenset(
    "Iterator Generator AsyncIterator AsyncGenerator Iterable AsyncIterable ContextManager "
    "AsyncContextManager AbstractContextManager AbstractAsyncContextManager".split()
)
_AWAITABLE = frozenset("Awaitable Promise PromiseLike Task Future".split())
_RESULT = 2
"""Which argument of `Generator` and `Coroutine` is what it gives back at last."""


class Calls:
    """Follows calls."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once

    def called(self, value: Value) -> Value:
        """What a call of a value gives."""
        if isinstance(value, Function):
            return value.result
        if isinstance(value, Instance):
            hits = self.resolver.members(value, "__call__")
            return self.result(hits[0][0].path, hits[0][0].symbol, value) if hits else None
        if isinstance(value, Module):
            whole = self.handed(value)
            return together([self.called(one) for one in each(whole)])
        if not isinstance(value, Definition):
            return None
        if self.resolver.is_type(value):
            return Instance(value.path, value.symbol)
        return self.result(value.path, value.symbol, value.owner)

    def called_with(self, value: Value, given: str) -> Value:
        """What a call of a value gives, by marks of its arguments (`scriptcalls`)."""
        if isinstance(value, Definition):
            path, symbol = value.path, value.symbol
            model = self.view.model(path)
            if model is not None and model.spec.spaces and not model.spec.untyped:
                key = ("overloads", path, symbol)
                told = self.once(key, lambda: overloads(model, path, symbol), (symbol,))
                if len(told) > 1:
                    key = ("result", path, symbol, value.owner, given)
                    chosen = meant(model, told, given)
                    return self.once(
                        key, lambda: self._agreed_result(path, model, chosen, value.owner), None
                    )
        return self.called(value)

    def handed(self, module: Module) -> Value:
        """What a module of CommonJS is as a whole: its default export."""
        model = self.view.model(module.path)
        if model is None or not model.spec.spaces:
            return None
        found: list[Value] = []
        for hit in self.resolver.chosen(self.names.exported(module.path, "default")):
            value = self.resolver.value_of(hit, hit.path, -1, -1)
            found.append(value if value != module else None)
        for row in model.exports.get("default", ()):
            if not found:
                found.append(self.resolver.value(module.path, 0, row.text, row.line))
        return together(found)

    def result(self, path: bytes, symbol: int, me: Value) -> Value:
        """What a function gives back."""
        key = ("result", path, symbol, me)
        return self.once(key, lambda: self._result(path, symbol, me), None)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model is None:
            return None
        if model.spec.spaces:
            # Which of several is called only its arguments say.
            return self._agreed_result(path, model, overloads(model, path, symbol), me)
        one = model.symbols[symbol]
        if model.spec.submodules and one.start_line < one.name_line and one.kind != "property":
            for decorator in reversed(decorators(model, symbol)):
                changed, found = self._changed(path, decorator)
                if changed:
                    return found
        return self._result_of(path, model, symbol, me)

    def _changed(self, path: bytes, decorator: Reference) -> tuple[bool, Value]:
        """Whether a call of what is decorated gives something else, and what that is."""
        text = f"{decorator.receiver}.{decorator.name}" if decorator.receiver else decorator.name
        value = self.resolver.value(path, decorator.scope, text, decorator.line)
        if decorator.kind == "call" and value is not None:
            made = together([self.called(one) for one in each(value)])
            if made is None:
                return False, None
            value = made
        if value is None:
            return decorator.name not in HANDING, None
        given = together([self.called(one) for one in each(value)])
        if given is None:
            # Mostly the function itself, or one that gives what it gives.
            return False, None
        found = together([self.called(one) for one in each(given)])
        return found is not None or not isinstance(given, (Definition, Function)), found

    def _agreed_result(
        self, path: bytes, model: FileModel, symbols: Sequence[int], me: Value
    ) -> Value:
        return alike([self._result_of(path, model, one, me) for one in symbols])

    def _result_of(self, path: bytes, model: FileModel, symbol: int, me: Value) -> Value:
        scope = model.own_scope.get(symbol)
        if scope is None:
            return None
        if isinstance(me, Definition):
            me = Instance(me.path, me.symbol)
        rows = model.of_scope.get(scope, [])
        said = [row for row in rows if row.how == "->"]
        generates = any(row.how == "yield" for row in rows)
        found: Value = None
        if said and me is not None and self._gives_itself(model, scope, said[0]):
            found = me
        elif said:
            found = self.resolver.of_type(path, scope, said[0].text, me)
        elif not generates:
            found = self._given_back(path, rows, me)
        return found if generates else self._waited_for(model, symbol, found)

    def _given_back(self, path: bytes, rows: list[Binding], me: Value) -> Value:
        values: list[Value] = []
        for row in rows:
            if row.how == "return":
                value = self._returned(path, row, me)
                if value is None:
                    return None
                values.append(value)
        return together(values)

    def _waited_for(self, model: FileModel, symbol: int, value: Value) -> Value:
        """What a call gives of a function whose result has to be awaited."""
        rules = model.spec
        if value is None or not (rules.submodules or rules.spaces) or not is_async(model, symbol):
            return value
        if rules.spaces:
            # A promise of a promise is one.
            value = together([self.awaited(one) for one in each(value)])
        return Container("Awaitable", (value,)) if value is not None else None

    def awaited(self, value: Value) -> Value:
        """What waiting for a value gives."""
        if isinstance(value, Container):
            at = _RESULT if value.name == "Coroutine" else 0 if value.name in _AWAITABLE else -1
            return value.args[at] if 0 <= at < len(value.args) else None
        if not isinstance(value, Instance):
            return value if isinstance(value, (Record, Literal)) else None
        model = self.view.model(value.path)
        if model is None or self.resolver.members(value, "then"):
            return None
        if model.spec.spaces:
            return value
        for hit, _ in self.resolver.members(value, "__await__")[:1]:
            steps = self.result(hit.path, hit.symbol, value)
            if isinstance(steps, Container) and len(steps.args) > _RESULT:
                return steps.args[_RESULT]
        return None

    def _gives_itself(self, model: FileModel, scope: int, said: Binding) -> bool:
        """`def __enter__(self: T) -> T`."""
        entry = model.names[scope].get("self")
        rows = entry.rows if entry is not None else ()
        return len(rows) == 1 and rows[0].how == ":" and rows[0].text == said.text

    def _returned(self, path: bytes, row: Binding, me: Value) -> Value:
        if me is not None and row.text in {"self", "this"}:
            return me
        return self.resolver.value(path, row.scope, row.text, row.line)

    def element(self, value: Value, step: str) -> Value:
        """An element of a value, by `[]` or by a loop (`[*]`)."""
        if isinstance(value, Container) and value.args:
            if value.name in PAIRS:
                return value.args[-1] if step == "[]" else value.args[0]
            return value.args[0]
        if isinstance(value, Instance):
            name = "__getitem__" if step == "[]" else "__iter__"
            hits = self.resolver.members(value, name)
            if hits:
                found = self.result(hits[0][0].path, hits[0][0].symbol, value)
                return (
                    found
                    if step == "[]"
                    else together([self.element(one, "[]") for one in each(found)])
                )
        return None

    def entered(self, value: Value) -> Value:
        """What a context manager gives."""
        if isinstance(value, Container) and value.args and value.name in _ENTERED:
            return value.args[0]
        for name in ("__enter__", "__aenter__"):
            for hit, _ in self.resolver.members(value, name)[:1]:
                found = self.result(hit.path, hit.symbol, value)
                if name == "__aenter__":
                    return together([self.awaited(one) for one in each(found)])
                return found
        return None
