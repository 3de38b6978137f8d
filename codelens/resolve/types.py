"""From expressions to values: what a receiver is, as far as the texts say so."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar, cast

from codelens.resolve.model import CALLABLE, TYPES, FileModel
from codelens.resolve.names import LOCAL, MODULE, Hit, Names, latest, policy
from codelens.resolve.typetext import Either, Named, Part, Returns, Type, ValueOf, parsed
from codelens.resolve.values import (
    Container,
    Definition,
    Function,
    Instance,
    Literal,
    Module,
    Several,
    Super,
    Value,
    each,
    together,
)
from codelens.resolve.view import Notes, View
from codelens.types import Binding

_T = TypeVar("_T")

_STEP = re.compile(r"\.([\w$#]+)|(\(\))|(\[\])|(\[\*\])|(\[with\])")
_NAME = re.compile(r"[^\W\d][\w$]*|[$#][\w$]*")
_DEEPEST = 60
_MOST_BASES = 100

# Generic types whose value is, for what can be called on it, that of an argument.
_TRANSPARENT = {
    **dict.fromkeys(("Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired"), 0),
    **dict.fromkeys(("Awaitable", "ReadOnly", "TypeGuard"), 0),
    **dict.fromkeys(("Promise", "PromiseLike", "Awaited", "Readonly", "Partial", "NonNullable"), 0),
    "Coroutine": 2,
    "Omit": 0,
}
_PAIRS = frozenset(
    "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict Map Record WeakMap".split()
)
_TYPE_NAMES = frozenset({"type", "Type"})
_SELF_TYPES = frozenset({"Self", "this"})
_ENTERED = frozenset(
    "Iterator Generator AsyncIterator AsyncGenerator Iterable AsyncIterable ContextManager "
    "AsyncContextManager AbstractContextManager AbstractAsyncContextManager".split()
)
_FIRST_PARAMETERS = frozenset({"self", "cls"})


@lru_cache(maxsize=50_000)
def steps(text: str) -> tuple[str, tuple[str, ...]] | None:
    """An expression as what it begins with and the steps from there; None if unknown."""
    if text[:1] == "(":
        depth = 0
        for end, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if not depth:
                break
        else:
            return None
    elif text[:1] == "`":
        end = text.find("`", 1)
    else:
        match = _NAME.match(text)
        end = match.end() - 1 if match else 0 if text[:1] == "0" else -1
    if end < 0:
        return None
    head, rest = text[: end + 1], text[end + 1 :]
    found: list[str] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None:
            return None
        found.append(match[1] or match[0])
        at = match.end()
    return head, tuple(found)


class Types:
    """Values of expressions in one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.names = Names(view)
        self._known: dict[tuple[object, ...], tuple[object, Notes]] = {}
        self._notes: dict[Notes, Notes] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._low = 1 << 30

    @property
    def answers(self) -> int:
        """How much is remembered."""
        return len(self._known)

    # -- memory ---------------------------------------------------------------------------

    def _once(self, key: tuple[object, ...], make: Callable[[], _T], cut: _T) -> _T:
        """The remembered answer to a question; `cut` if it is being asked already."""
        known = self._known.get(key)
        if known is not None:
            self.view.notes |= known[1]
            return cast("_T", known[0])
        depth = self._open.get(key)
        if depth is not None or len(self._open) > _DEEPEST:
            self._low = min(self._low, 0 if depth is None else depth)
            return cut
        level = len(self._open)
        self._open[key] = level
        outer, self._low = self._low, 1 << 30
        view = self.view
        notes, view.notes = view.notes, set()
        try:
            found = make()
        finally:
            del self._open[key]
            mine, view.notes = view.notes, notes
            notes |= mine
        if self._low >= level:
            # Nothing in it waits for a question further out.
            kept = frozenset(mine)
            self._known[key] = (found, self._notes.setdefault(kept, kept))
            self._low = outer
        else:
            self._low = min(self._low, outer)
        return found

    # -- expressions ----------------------------------------------------------------------

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression in a scope."""
        if not text or text == "?":
            return None
        key = ("value", path, scope, text, line)
        return self._once(key, lambda: self._value(path, scope, text, line), None)

    def _value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        taken = steps(text)
        if taken is None:
            return None
        head, rest = taken
        found = self._head(path, scope, head, rest, line)
        if head == "super" and rest[:1] == ("()",):
            rest = rest[1:]
        for step in rest:
            if found is None:
                return None
            found = self._step(found, step)
        return found

    def _step(self, value: Value, step: str) -> Value:
        if step == "()":
            return together([self.called(one) for one in each(value)])
        if step in {"[]", "[*]"}:
            return together([self._element(one, step) for one in each(value)])
        if step == "[with]":
            return together([self._entered(one) for one in each(value)])
        return together([self.member_value(one, step) for one in each(value)])

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        if head[0] == "(":
            return together([self.value(path, scope, part, line) for part in _halves(head[1:-1])])
        if head[0] == "`":
            return self.of_type(path, scope, head[1:-1])
        if head == "0":
            return Literal()
        model = self.view.model(path)
        if model is None:
            return None
        if head == "super":
            return self._super(path, scope, model)
        if head in policy(model).instance:
            return self.instance_around(path, scope)
        return self._named(path, scope, head, line)

    def _named(self, path: bytes, scope: int, name: str, line: int) -> Value:
        hits = self.names.lookup(path, scope, name)
        if len(hits) == 1 and hits[0].symbol == LOCAL:
            told = self._first_parameter(hits[0])
            if told is not None:
                return told
        return together([self.value_of(hit, path, scope, line) for hit in self._chosen(hits)])

    def _chosen(self, hits: list[Hit]) -> list[Hit]:
        """Of overloads the first: the others are for other arguments."""
        if len(hits) > 1 and hits[0].symbol >= 0:
            model = self.view.model(hits[0].path)
            if model is not None and model.symbols[hits[0].symbol].kind in CALLABLE:
                return hits[:1]
        return hits

    def _first_parameter(self, hit: Hit) -> Value:
        """Python's `self` and `cls`."""
        model = self.view.model(hit.path)
        if model is None or hit.name not in _FIRST_PARAMETERS or policy(model).instance:
            return None
        rows = self.names.rows(hit)
        if any(row.how not in {"?", ":"} for row in rows) or len(rows) != 1:
            return None
        one = model.scopes[hit.scope]
        parent = model.scopes[one.parent] if one.parent >= 0 else None
        if parent is None or parent.kind != "class" or parent.symbol < 0:
            return None
        if hit.name == "cls":
            return Definition(hit.path, parent.symbol)
        return self.this(hit.path, parent.symbol)

    def this(self, path: bytes, symbol: int) -> Instance:
        """An instance of a type, inside of it."""
        return Instance(path, symbol)

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`this`: an instance of the class that a scope is in."""
        model = self.view.model(path)
        symbol = model.type_around(scope) if model is not None else -1
        return self.this(path, symbol) if symbol >= 0 else None

    def _super(self, path: bytes, scope: int, model: FileModel) -> Value:
        symbol = model.type_around(scope)
        return Super(path, symbol, self.this(path, symbol)) if symbol >= 0 else None

    # -- variables ------------------------------------------------------------------------

    def value_of(self, hit: Hit, path: bytes, scope: int, line: int) -> Value:
        """The value of what a name means, where it is used at a place."""
        if hit.symbol == MODULE:
            return Module(hit.path)
        model = self.view.model(hit.path)
        if model is None:
            return None
        if hit.symbol >= 0:
            symbol = model.symbols[hit.symbol]
            if symbol.kind in CALLABLE or symbol.kind in TYPES or symbol.kind == "module":
                return Definition(hit.path, hit.symbol)
        same = hit.path == path and self._in_one_function(model, hit.scope, scope)
        found = self._of_rows(hit, line if same else -1)
        if hit.symbol >= 0 and (found is None or isinstance(found, Literal)):
            if hit.symbol in model.children:
                return Definition(hit.path, hit.symbol)
        return found

    def _in_one_function(self, model: FileModel, outer: int, inner: int) -> bool:
        return model.functions[outer] == model.functions[inner]

    def _of_rows(self, hit: Hit, line: int) -> Value:
        key = ("rows", hit.path, hit.scope, hit.name, line)
        return self._once(key, lambda: self._from_rows(hit, line), None)

    def _from_rows(self, hit: Hit, line: int) -> Value:
        rows = [row for row in self.names.rows(hit) if row.how != "let"]
        declared = [row for row in rows if row.how == ":"]
        if declared:
            return self.of_type(hit.path, hit.scope, declared[0].text)
        typed = [row for row in rows if row.how == "type"]
        if typed:
            return self.of_type(hit.path, hit.scope, typed[0].text) if typed[0].text else None
        given = [row for row in rows if row.how in {"=", "+", "?"}]
        if line >= 0 and len(given) > 1:
            before = [row for row in given if row.line < line]
            here = [row for row in given if row.line == line]
            given = before[-1:] or here[:1] or given
        return self._agreed(hit.path, given)

    def _agreed(self, path: bytes, rows: list[Binding]) -> Value:
        """The value of all rows together; None if one of them is not known."""
        values: list[Value] = []
        for row in rows:
            value = self.value(path, row.scope, row.text, row.line) if row.how != "?" else None
            if value is None:
                return None
            values.append(value)
        return together(values)

    # -- types ----------------------------------------------------------------------------

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of the type that a text says, in a scope."""
        key = ("type", path, scope, text, me)
        return self._once(key, lambda: self._of(path, scope, parsed(_bound(text)), me), None)

    def _of(self, path: bytes, scope: int, one: Type, me: Value) -> Value:
        if isinstance(one, Named):
            return self._of_name(path, scope, one, me)
        if isinstance(one, Either):
            return together([self._of(path, scope, part, me) for part in one.parts])
        if isinstance(one, ValueOf):
            return self.value(path, scope, one.expression, -1)
        if isinstance(one, Returns):
            return Function(self._of(path, scope, one.result, me))
        if isinstance(one, Part):
            whole = self._of(path, scope, one.whole, me)
            if not one.name:
                return together([self._element(each_, "[]") for each_ in each(whole)])
            return together([self.member_value(each_, one.name) for each_ in each(whole)])
        return None

    def _of_name(self, path: bytes, scope: int, one: Named, me: Value) -> Value:
        name = one.name.rpartition(".")[2]
        if name in _SELF_TYPES and (one.name == name or name == "Self"):
            return me if me is not None else self.instance_around(path, scope)
        if one.name == "[]":
            return Container("[]", tuple(self._of(path, scope, arg, me) for arg in one.args))
        hits = self.named_type(path, scope, one.name)
        if hits:
            args = tuple(self._of(path, scope, arg, me) for arg in one.args)
            return together([self._typed(hit, args, me) for hit in hits[:1]])
        return self._foreign(path, scope, name, one.args, me)

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        if name in {"Union", "Optional"}:
            return together([self._of(path, scope, arg, me) for arg in args])
        if name in {"ReturnType", "InstanceType"} and args:
            of = self._of(path, scope, args[0], me)
            return together([self.called(value) for value in each(of)])
        if name in _TYPE_NAMES and args:
            of = self._of(path, scope, args[0], me)
            if isinstance(of, Instance):
                return Definition(of.path, of.symbol)
            return None
        if name == "Callable" and len(args) == 2:
            return Function(self._of(path, scope, args[1], me))
        if name in _TRANSPARENT and len(args) > _TRANSPARENT[name]:
            return self._of(path, scope, args[_TRANSPARENT[name]], me)
        if args:
            return Container(name, tuple(self._of(path, scope, arg, me) for arg in args))
        return None

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's name means, dots in it included."""
        first, *rest = name.split(".")
        hits = self.names.lookup(path, scope, first, types=not rest)
        for at, part in enumerate(rest):
            last = at == len(rest) - 1
            hits = [inner for hit in hits for inner in self._inside(hit, part, last)]
        return hits

    def _inside(self, hit: Hit, name: str, types: bool) -> list[Hit]:
        if hit.symbol == MODULE:
            return self.names.exported(hit.path, name, types=types) or self.names.submodule(hit.path, name)
        model = self.view.model(hit.path)
        if model is None or hit.symbol < 0:
            return []
        return [Hit(hit.path, at, 0, name) for at in model.children.get(hit.symbol, {}).get(name, ())]

    def _typed(self, hit: Hit, args: tuple[Value, ...], me: Value) -> Value:
        model = self.view.model(hit.path)
        if model is None:
            return None
        if hit.symbol >= 0:
            kind = model.symbols[hit.symbol].kind
            if kind == "type":
                return self._alias(hit, args, model)
            if kind in TYPES:
                return Instance(hit.path, hit.symbol, args)
            rows = [row for row in self.names.rows(hit) if row.how == "="]
            if len(rows) == 1:
                # Python: `Alias = Class`.
                value = self.value(hit.path, hit.scope, rows[0].text, rows[0].line)
                if isinstance(value, Definition) and self._is_type(value):
                    return Instance(value.path, value.symbol, args)
            return None
        if hit.symbol == LOCAL:
            return self._parameter(hit, model, me)
        return None

    def _is_type(self, value: Definition) -> bool:
        model = self.view.model(value.path)
        return model is not None and model.symbols[value.symbol].kind in TYPES

    def _parameter(self, hit: Hit, model: FileModel, me: Value) -> Value:
        """A type parameter: what it stands for, else its bound."""
        order = model.parameters.get(hit.scope, [])
        scope = model.scopes[hit.scope]
        if hit.name in order and scope.kind == "class":
            for one in each(me):
                found = self._argument(one, hit.path, scope.symbol, order.index(hit.name))
                if found is not None:
                    return found
        rows = [row for row in self.names.rows(hit) if row.how == "type"]
        if rows and rows[0].text:
            return self.of_type(hit.path, hit.scope, rows[0].text, me)
        if not rows and not policy(model).spaces:
            values = [row for row in self.names.rows(hit) if row.how == "="]
            if len(values) == 1:
                value = self.value(hit.path, hit.scope, values[0].text, values[0].line)
                if isinstance(value, Definition) and self._is_type(value):
                    return Instance(value.path, value.symbol)
        return None

    def _argument(self, me: Value, path: bytes, symbol: int, at: int) -> Value:
        if not isinstance(me, Instance):
            return None
        for one in self.ancestry(me):
            if (one.path, one.symbol) == (path, symbol) and at < len(one.args):
                return one.args[at]
        return None

    def _alias(self, hit: Hit, args: tuple[Value, ...], model: FileModel) -> Value:
        scope = model.own_scope.get(hit.symbol)
        if scope is None:
            return None
        rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
        if not rows:
            return None
        found = self.of_type(hit.path, scope, rows[0].text, Instance(hit.path, hit.symbol, args))
        return found if found is not None else Instance(hit.path, hit.symbol, args)

    # -- members --------------------------------------------------------------------------

    def ancestry(self, one: Instance) -> list[Instance]:
        """A type and its bases, nearest first, each with its arguments."""
        return self._once(("mro", one), lambda: self._ancestry(one), [one])

    def _ancestry(self, one: Instance) -> list[Instance]:
        found = [one]
        for base in self.bases(one):
            for further in self.ancestry(base):
                if len(found) > _MOST_BASES:
                    break
                # What several bases share stands behind all of them.
                found = [old for old in found if old[:2] != further[:2] or old is one]
                if further[:2] != one[:2]:
                    found.append(further)
        return found

    def bases(self, one: Instance) -> list[Instance]:
        """The bases of a type that are types of the view."""
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Instance] = []
        for symbol in self._merged(model, one.symbol):
            scope = model.own_scope.get(symbol)
            if scope is None:
                continue
            place = scope if policy(model).spaces else model.scopes[scope].parent
            for row in model.of_scope.get(scope, ()):
                if row.how in {"base", "implements"}:
                    value = self.of_type(one.path, place, row.text, one)
                    if value is None and row.how == "base":
                        value = self._called_base(one.path, place, row)
                    for base in each(value):
                        if isinstance(base, Instance) and base[:2] != (one.path, one.symbol):
                            found.append(base)
        return found

    def _called_base(self, path: bytes, scope: int, row: Binding) -> Value:
        value = self.value(path, scope, row.text, row.line)
        if isinstance(value, Definition) and self._is_type(value):
            return Instance(value.path, value.symbol)
        return None

    def _merged(self, model: FileModel, symbol: int) -> list[int]:
        """A type with the others of its name in its place: merged declarations."""
        one = model.symbols[symbol]
        if not policy(model).spaces:
            return [symbol]
        entry = model.names[model.home[symbol]].get(one.name)
        if entry is None:
            return [symbol]
        return [
            at
            for at in entry.symbols
            if model.symbols[at].kind in TYPES or model.symbols[at].kind == "module" or at == symbol
        ]

    def members(self, value: Value, name: str) -> list[tuple[Hit, Value]]:
        """Members of that name, each with what it was found in."""
        if isinstance(value, Several):
            found = [pair for one in value.values for pair in self.members(one, name)]
            return list(dict.fromkeys(found))
        key = ("member", value, name)
        return self._once(key, lambda: self._members(value, name), [])

    def _members(self, value: Value, name: str) -> list[tuple[Hit, Value]]:
        if isinstance(value, Module):
            hits = self.names.exported(value.path, name) or self.names.submodule(value.path, name)
            if hits or name == "default":
                return [(hit, value) for hit in hits]
            whole = self.handed(value)
            return self.members(whole, name) if whole is not None else []
        if isinstance(value, Definition):
            return self._static(value, name)
        if isinstance(value, Instance):
            return self._of_types(self.ancestry(value), name, value)
        if isinstance(value, Super):
            return self._above(value, name)
        return []

    def _above(self, value: Super, name: str) -> list[tuple[Hit, Value]]:
        if not isinstance(value.of, Instance):
            return []
        line = self.ancestry(value.of)
        at = next((at for at, one in enumerate(line) if one[:2] == value[:2]), -1)
        return self._of_types(line[at + 1 :], name, value.of) if at >= 0 else []

    def _static(self, value: Definition, name: str) -> list[tuple[Hit, Value]]:
        model = self.view.model(value.path)
        if model is None:
            return []
        if model.symbols[value.symbol].kind in TYPES:
            own = Instance(value.path, value.symbol)
            return self._of_types(self.ancestry(own), name, value)
        found: list[tuple[Hit, Value]] = []
        for symbol in self._merged(model, value.symbol):
            for at in model.children.get(symbol, {}).get(name, ()):
                scope = model.own_scope.get(symbol, 0)
                found.append((Hit(value.path, at, scope, name), value))
        return found

    def _of_types(
        self, line: list[Instance], name: str, value: Value
    ) -> list[tuple[Hit, Value]]:
        for one in line:
            model = self.view.model(one.path)
            if model is None:
                continue
            for symbol in self._merged(model, one.symbol):
                places = model.children.get(symbol, {}).get(name)
                if places:
                    scope = model.own_scope.get(symbol, 0)
                    if not policy(model).spaces:
                        places = latest(model, tuple(places))
                    return [(Hit(one.path, at, scope, name), value) for at in places]
        return []

    def member_value(self, value: Value, name: str) -> Value:
        """The value of a member."""
        key = ("member value", value, name)
        return self._once(key, lambda: self._member_value(value, name), None)

    def _member_value(self, value: Value, name: str) -> Value:
        found = self.members(value, name)
        if isinstance(value, Module):
            hits = self._chosen([hit for hit, _ in found])
            return together([self.value_of(hit, hit.path, -1, -1) for hit in hits])
        values = [self._taken(hit, value) for hit, _ in found[:1]]
        return together(values)

    def _taken(self, hit: Hit, me: Value) -> Value:
        """The value of one member of something."""
        model = self.view.model(hit.path)
        if model is None:
            return None
        symbol = model.symbols[hit.symbol]
        if symbol.kind in CALLABLE:
            return Definition(hit.path, hit.symbol, me)
        if symbol.kind in TYPES or symbol.kind == "module":
            return Definition(hit.path, hit.symbol)
        scope = model.own_scope.get(hit.symbol)
        if scope is not None and model.scopes[scope].kind == "function":
            return self.result(hit.path, hit.symbol, me)
        if symbol.kind == "member" and symbol.parent >= 0:
            return Instance(hit.path, symbol.parent)
        owner = symbol.parent
        rows = self._attribute_rows(model, owner, symbol.name, hit.symbol)
        declared = [row for row in rows if row.how == ":"]
        if declared:
            return self.of_type(hit.path, declared[0].scope, declared[0].text, me)
        return self._agreed(hit.path, [row for row in rows if row.how in {"=", "+", "?"}])

    def _attribute_rows(
        self, model: FileModel, owner: int, name: str, symbol: int
    ) -> list[Binding]:
        scope = model.own_scope.get(owner)
        rows: list[Binding] = []
        if scope is not None:
            entry = model.names[scope].get(name)
            rows += [row for row in entry.rows if row.how != "let"] if entry is not None else []
        rows += model.attributes.get(owner, {}).get(name, [])
        if not rows:
            line = model.symbols[symbol].name_line
            rows = [row for row in model.bindings if row.line == line and row.name == name]
        return rows

    # -- calls ----------------------------------------------------------------------------

    def called(self, value: Value) -> Value:
        """What a call of a value gives."""
        if isinstance(value, Function):
            return value.result
        if isinstance(value, Instance):
            hits = self.members(value, "__call__")
            return self.result(hits[0][0].path, hits[0][0].symbol, value) if hits else None
        if isinstance(value, Module):
            whole = self.handed(value)
            return together([self.called(one) for one in each(whole)])
        if not isinstance(value, Definition):
            return None
        if self._is_type(value):
            return Instance(value.path, value.symbol)
        return self.result(value.path, value.symbol, value.owner)

    def handed(self, module: Module) -> Value:
        """What a module of CommonJS is as a whole: its default export."""
        model = self.view.model(module.path)
        if model is None or not policy(model).spaces:
            return None
        found: list[Value] = []
        for hit in self._chosen(self.names.exported(module.path, "default")):
            value = self.value_of(hit, hit.path, -1, -1)
            found.append(value if value != module else None)
        for row in model.exports.get("default", ()):
            if not found:
                found.append(self.value(module.path, 0, row.text, row.line))
        return together(found)

    def result(self, path: bytes, symbol: int, me: Value) -> Value:
        """What a function gives back."""
        key = ("result", path, symbol, me)
        return self._once(key, lambda: self._result(path, symbol, me), None)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model is None:
            return None
        scope = model.own_scope.get(symbol)
        if scope is None:
            return None
        if isinstance(me, Definition):
            me = Instance(me.path, me.symbol)
        rows = model.of_scope.get(scope, [])
        said = [row for row in rows if row.how == "->"]
        if said and me is not None and self._gives_itself(model, scope, said[0]):
            return me
        if said:
            return self.of_type(path, scope, said[0].text, me)
        if any(row.how == "yield" for row in rows):
            return None
        values: list[Value] = []
        for row in rows:
            if row.how == "return":
                value = self._returned(path, row, me)
                if value is None:
                    return None
                values.append(value)
        return together(values)

    def _gives_itself(self, model: FileModel, scope: int, said: Binding) -> bool:
        """`def __enter__(self: T) -> T`."""
        entry = model.names[scope].get("self")
        rows = entry.rows if entry is not None else ()
        return len(rows) == 1 and rows[0].how == ":" and rows[0].text == said.text

    def _returned(self, path: bytes, row: Binding, me: Value) -> Value:
        if me is not None and row.text in {"self", "this"}:
            return me
        return self.value(path, row.scope, row.text, row.line)

    # -- elements -------------------------------------------------------------------------

    def _element(self, value: Value, step: str) -> Value:
        if isinstance(value, Container) and value.args:
            if value.name in _PAIRS:
                return value.args[-1] if step == "[]" else value.args[0]
            return value.args[0]
        if isinstance(value, Instance):
            name = "__getitem__" if step == "[]" else "__iter__"
            hits = self.members(value, name)
            if hits:
                found = self.result(hits[0][0].path, hits[0][0].symbol, value)
                return found if step == "[]" else together([self._element(one, "[]") for one in each(found)])
        return None

    def _entered(self, value: Value) -> Value:
        if isinstance(value, Container) and value.args and value.name in _ENTERED:
            return value.args[0]
        for name in ("__enter__", "__aenter__"):
            for hit, _ in self.members(value, name)[:1]:
                return self.result(hit.path, hit.symbol, value)
        return None


def _bound(text: str) -> str:
    return text.removeprefix("extends ").removeprefix(": ")


@lru_cache(maxsize=5_000)
def _halves(text: str) -> tuple[str, ...]:
    """The parts of `a|b`, brackets left whole."""
    depth, start = 0, 0
    found: list[str] = []
    quoted = False
    for at, sign in enumerate(text):
        quoted ^= sign == "`"
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth and not quoted:
            found.append(text[start:at])
            start = at + 1
    return (*found, text[start:])
