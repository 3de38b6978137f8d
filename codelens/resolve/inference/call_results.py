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
            referents = self.resolver.members(value, "__call__")
            return (
                self.result(referents[0][0].path, referents[0][0].symbol, value)
                if referents
                else None
            )
        if isinstance(value, Module):
            whole = self.handed(value)
            return together([self.called(part) for part in each(whole)])
        if not isinstance(value, Definition):
            return None
        if self.resolver.is_type(value):
            return Instance(value.path, value.symbol)
        return self.result(value.path, value.symbol, value.owner)

    def called_with(self, value: Value, arguments: str) -> Value:
        """What a call of a value gives, by marks of its arguments (`scriptcalls`)."""
        if isinstance(value, Definition):
            path, symbol = value.path, value.symbol
            model = self.view.model(path)
            if model is not None and model.spec.spaces and not model.spec.untyped:
                key = ("overloads", path, symbol)
                candidates = self.once(key, lambda: overloads(model, path, symbol), (symbol,))
                if len(candidates) > 1:
                    key = ("result", path, symbol, value.owner, arguments)
                    chosen = meant(model, candidates, arguments)
                    return self.once(
                        key, lambda: self._agreed_result(path, model, chosen, value.owner), None
                    )
        return self.called(value)

    def handed(self, module: Module) -> Value:
        """What a module of CommonJS is as a whole: its default export."""
        model = self.view.model(module.path)
        if model is None or not model.spec.spaces:
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
        """Whether a call of what is decorated gives something else, and what that is."""
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
            # Mostly the function itself, or one that gives what it gives.
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
        if declared and me is not None and self._gives_itself(model, scope, declared[0]):
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
        """What a call gives of a function whose result has to be awaited."""
        rules = model.spec
        if value is None or not (rules.submodules or rules.spaces) or not is_async(model, symbol):
            return value
        if rules.spaces:
            # A promise of a promise is one.
            value = together([self.awaited(part) for part in each(value)])
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
        for referent, _ in self.resolver.members(value, "__await__")[:1]:
            steps = self.result(referent.path, referent.symbol, value)
            if isinstance(steps, Container) and len(steps.args) > _RESULT:
                return steps.args[_RESULT]
        return None

    def _gives_itself(self, model: FileModel, scope: int, declared: Binding) -> bool:
        """`def __enter__(self: T) -> T`."""
        entry = model.names[scope].get("self")
        rows = entry.rows if entry is not None else ()
        return len(rows) == 1 and rows[0].how == ":" and rows[0].text == declared.text

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
        """What a context manager gives."""
        if isinstance(value, Container) and value.args and value.name in _ENTERED:
            return value.args[0]
        for name in ("__enter__", "__aenter__"):
            for referent, _ in self.resolver.members(value, name)[:1]:
                result = self.result(referent.path, referent.symbol, value)
                if name == "__aenter__":
                    return together([self.awaited(part) for part in each(result)])
                return result
        return None
