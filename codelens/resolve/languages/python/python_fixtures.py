"""What tests of pytest are given: a parameter is what the fixture of its name gives.

A fixture stands in the class or the module of the test, or in a `conftest.py` of a folder above,
the nearest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Value, each, together

_FIXTURE = "fixture"
_LIMITS = re.compile(r"[,)]")


class Fixtures:
    """Values of parameters of tests, and of fixtures."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view = resolver, resolver.view

    def given(self, parameter: Referent) -> Value:
        """What a variable is, if it is a parameter of a test."""
        path, name = parameter.path, parameter.name
        model = self.view.model(path)
        if model is None or not model.spec.submodules:
            return None
        scope = model.scopes[parameter.scope]
        rows = self.resolver.names.rows(parameter)
        if scope.kind != "function" or scope.symbol < 0 or len(rows) != 1 or rows[0].how != "?":
            return None
        function = model.symbols[scope.symbol]
        if not function.name.startswith("test") and _FIXTURE not in model.decorators(scope.symbol):
            return None
        if not re.search(
            rf"[(,]\s*{re.escape(name)}\s*(?=[,)])", "(" + function.signature.partition("(")[2]
        ):
            return None
        key = ("fixture", path, scope.symbol, name)
        return self.resolver.once(key, lambda: self._of(path, model, scope.symbol, name), None)

    def _of(self, path: bytes, model: FileModel, asking: int, name: str) -> Value:
        for fixture in self._named(path, model, asking, name):
            far = self.view.model(fixture.path)
            if far is None or fixture.symbol < 0 or fixture[:2] == (path, asking):
                continue
            is_function = far.symbols[fixture.symbol].kind in CALLABLE
            if is_function and _FIXTURE in far.decorators(fixture.symbol):
                return self._value(far, fixture)
        return None

    def _named(self, path: bytes, model: FileModel, asking: int, name: str) -> Iterator[Referent]:
        """What may be the fixture, nearest first."""
        parent = model.symbols[asking].parent
        if parent >= 0:
            own = Instance(path, parent)
            yield from (referent for referent, _ in self.resolver.members(own, name))
        yield from self.resolver.names.lookup(path, 0, name)
        for level in range(1, path.count(b"/") + 2):
            for file in self.view.modules(path, f"{'.' * level}conftest"):
                if file != path:
                    yield from self.resolver.names.exported(file, name)

    def _value(self, model: FileModel, fixture: Referent) -> Value:
        value = self.resolver.result(fixture.path, fixture.symbol, None)
        scope = model.own_scope.get(fixture.symbol, -1)
        rows = model.of_scope.get(scope, ())
        if not any(row.how == "yield" for row in rows):
            awaited = [
                self.resolver.awaited(part) if isinstance(part, Container) else part
                for part in each(value)
            ]
            return together(awaited)
        items = [part.args[0] for part in each(value) if isinstance(part, Container) and part.args]
        return together(items)
