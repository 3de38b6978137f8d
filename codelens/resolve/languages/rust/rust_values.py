"""Values in Rust: methods of all `impl` blocks for a type, then those that its traits have."""

from __future__ import annotations

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Module,
    Value,
    each,
    together,
)
from codelens.resolve.languages.rust.rust_impls import implementing, overriding
from codelens.resolve.languages.rust.rust_names import Impl, RustNames
from codelens.resolve.languages.rust.rust_type_text import TUPLE, rust_type
from codelens.types import Reference

_MACRO = -2
"""What `Reference.arguments` says of a macro."""
_HOLDERS = frozenset({"Option", "Result", "Poll"})
_UNWRAPPING = frozenset(
    "unwrap expect unwrap_or unwrap_or_else unwrap_or_default ok_or unwrap_unchecked".split()
)
_ELEMENTS = frozenset(
    "first last get get_mut pop next peek next_back pop_front pop_back front back".split()
)
"""Methods of collections that give an element, perhaps; it is seen as there."""
_SAME = frozenset(
    "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned cloned copied by_ref "
    "iter iter_mut into_iter rev filter skip take chain collect ok or or_else map_err inspect "
    "drain to_vec lock read write await context with_context deref deref_mut".split()
)
"""Methods that give what they are called on, as far as members go."""
_LOCKS = frozenset({"Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "LazyLock", "Lazy"})


class RustAnnotations(Annotations):
    """Types as Rust writes them, and paths to them."""

    names: RustNames

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Rust's own writing."""
        return super().of_type(path, scope, rust_type(text), me)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's path means."""
        parts = name.split(".")
        if parts[0] == "Self":
            own = self.resolver.instance_around(path, scope)
            hits = [Hit(*one[:2]) for one in each(own) if isinstance(one, Instance)]
            for part in parts[1:]:
                hits = [inner for hit in hits for inner in self.names.inside(hit, part, types=True)]
            return hits
        if len(parts) == 1:
            return self.names.lookup(path, scope, name, types=True)
        return self._path(path, scope, parts)

    def _path(self, path: bytes, scope: int, parts: list[str]) -> list[Hit]:
        local = (
            []
            if parts[0] in {"crate", "self", "super"}
            else self.names.lookup(path, scope, parts[0], types=True)
        )
        hits = [hit for hit in local if hit.symbol != LOCAL]
        if hits:
            for part in parts[1:]:
                hits = [inner for hit in hits for inner in self.names.inside(hit, part)]
            return hits
        model = self.view.model(path)
        if model is None or local:
            return []
        return self.names.follow(path, self.names.module_of(model, scope), parts)


class RustMembers(Members):
    """Members: of a type, of its blocks, of its traits."""

    names: RustNames

    def bases(self, one: Instance) -> list[Instance]:
        """Traits that a type implements, or that a trait asks for."""
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Instance] = []
        places = [(one.path, model.own_scope.get(one.symbol, -1))]
        places += [(block.path, block.scope) for block in self._blocks(one)]
        for path, scope in places:
            there = self.view.model(path)
            if there is None or scope < 0:
                continue
            for row in there.of_scope.get(scope, ()):
                if row.how == "implements":
                    for base in each(
                        self.resolver.of_type(path, there.scopes[scope].parent, row.text)
                    ):
                        if isinstance(base, Instance) and base[:2] != one[:2]:
                            found.append(base)
        return list(dict.fromkeys(found))

    def _blocks(self, one: Instance) -> list[Impl]:
        """The `impl` blocks of a type."""
        return self.once(("blocks", *one[:2]), lambda: self._find_blocks(one), [])

    def _find_blocks(self, one: Instance) -> list[Impl]:
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Impl] = []
        for block in self.names.impls(model.symbols[one.symbol].name):
            there = self.view.model(block.path)
            if there is None:
                continue
            rows = [row for row in there.of_scope.get(block.scope, ()) if row.how == "alias"]
            head = rust_type(rows[0].text).partition("<")[0]
            hits = self.resolver.named_type(block.path, there.scopes[block.scope].parent, head)
            if any(hit[:2] == one[:2] for hit in hits):
                found.append(block)
        return sorted(found, key=lambda block: block.of_trait)

    def _of_types(self, line: list[Instance], name: str, value: Value) -> list[tuple[Hit, Value]]:
        for one in line:
            found = super()._of_types([one], name, value)
            if found:
                return found
            hits = self._in_blocks(one, name)
            if hits:
                return [(hit, value) for hit in hits]
        return []

    def _in_blocks(self, one: Instance, name: str) -> list[Hit]:
        by_trait: list[Hit] = []
        for block in self._blocks(one):
            hits = block.members.get(name, [])
            if hits and not block.of_trait:
                return hits
            by_trait += hits
        # `impl From<A> for T` and `impl From<B> for T` cannot be told apart.
        return by_trait if len(by_trait) == 1 else []

    def methods(self, value: Value, name: str) -> list[Hit]:
        """Members of that name that can be called."""
        hits = [hit for hit, _ in self.members(value, name)]
        kept = [hit for hit in hits if not _is(self.view, hit, "field")]
        if not kept and isinstance(value, Instance):
            kept = [hit for one in self.ancestry(value) for hit in self._in_blocks(one, name)]
        return kept

    def _static(self, value: Definition, name: str) -> list[tuple[Hit, Value]]:
        model = self.view.model(value.path)
        if model is not None and model.symbols[value.symbol].kind == "module":
            hits = self.names.inside(Hit(value.path, value.symbol), name)
            return [(hit, value) for hit in hits]
        if model is not None and model.symbols[value.symbol].kind == "type":
            made = self.resolver.typed(Hit(value.path, value.symbol), (), None)
            if isinstance(made, Instance) and made[:2] != value[:2]:
                return super()._static(Definition(*made[:2]), name)
        return super()._static(value, name)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            return _of_holder(value, name)
        return super()._member_value(value, name)


class RustCalls(Calls):
    """What calls give."""

    def called(self, value: Value) -> Value:
        """What a call gives; of a variant or a tuple struct a value of the type."""
        if isinstance(value, Instance | Container):
            return value
        return super().called(value)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model is not None and me is None:
            scope = model.own_scope.get(symbol)
            me = self.resolver.instance_around(path, scope) if scope is not None else None
        return super()._result(path, symbol, me)

    def element(self, value: Value, step: str) -> Value:
        """An element of a value, by `[]` or by a loop (`[*]`)."""
        if isinstance(value, Definition):
            return value
        return super().element(value, step)


class RustExpressions(Expressions):
    """Values of expressions and variables."""

    names: RustNames

    def __init__(self, resolver: Resolver, members: RustMembers) -> None:
        super().__init__(resolver)
        self._members = members

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """The scope from which a name means the same, and whether the line matters."""
        model = self.view.model(path)
        if model is None or head[0] in "(`0":
            return scope, True
        symbols = model.symbols
        return model.bound_at(
            scope,
            head,
            lambda one: one.symbol >= 0 and symbols[one.symbol].kind == "module",
        )

    def meant(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name without a receiver means."""
        if one.arguments == _MACRO:
            return self.names.macros(path, one.name)
        hits = self.names.lookup(path, one.scope, one.name, types=one.kind == "type")
        return [hit for hit in hits if not _is(self.view, hit, "macro")]

    def member_of(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name behind a receiver means."""
        if one.kind != "call":
            return super().member_of(path, one)
        return self._members.methods(self.value(path, one.scope, one.receiver, one.line), one.name)

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`Self`: the type of the block, or the trait, that a scope is in."""
        model = self.view.model(path)
        while model is not None and scope >= 0:
            one = model.scopes[scope]
            if one.kind == "class":
                if one.symbol >= 0:
                    return Instance(path, one.symbol)
                rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
                return self.resolver.of_type(path, scope, rows[0].text) if rows else None
            scope = one.parent
        return None

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        if head in {"self", "Self"} and model is not None:
            own = self.instance_around(path, scope)
            if head == "Self":
                return together(
                    [Definition(*one[:2]) for one in each(own) if isinstance(one, Instance)]
                )
            if own is not None:
                return own
        if head in {"crate", "super", "self"} and model is not None:
            module = self.names.module_of(model, scope)
            hits = self.names.follow(path, module, [head])
            return together([self._as_value(hit) for hit in hits])
        return super()._head(path, scope, head, rest, line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        found = self._head(path, scope, head, rest, line)
        for at, step in enumerate(rest):
            if found is None:
                return None
            if rest[at + 1 : at + 2] == ("()",) and step[0] not in "([#":
                found = together([self._method(one, step) for one in each(found)])
            else:
                found = self._step(found, step)
        return found

    def _method(self, value: Value, name: str) -> Value:
        """A member that is called."""
        if isinstance(value, Instance):
            hits = self._members.methods(value, name)
            if hits:
                return together([self.resolver.taken(hit, value) for hit in hits[:1]])
            return value if name in _SAME else None
        return self.resolver.member_value(value, name)

    def _as_value(self, hit: Hit) -> Value:
        if hit.symbol == MODULE:
            return Module(hit.path)
        return Definition(hit.path, hit.symbol) if hit.symbol >= 0 else None

    def _named(self, path: bytes, scope: int, name: str, line: int) -> Value:
        hits = self.names.lookup(path, scope, name) or self.names.lookup(
            path, scope, name, types=True
        )
        if not hits:
            files = self.view.modules(path, name)
            return together([Module(file) for file in files if file != path])
        return together([self.value_of(hit, path, scope, line) for hit in hits[:1]])

    def _from_rows(self, hit: Hit, line: int) -> Value:
        """Of the bindings of a name in a scope the last before the line: they may be shadowed."""
        rows = [row for row in self.names.rows(hit) if row.how in {":", "=", "?"}]
        before = [row for row in rows if row.line < line] or [
            row for row in rows if row.line == line
        ]
        row = (before[-1:] or rows[:1] or [None])[0]
        if row is None or row.how == "?":
            return None
        if row.how == ":":
            return self.resolver.of_type(hit.path, hit.scope, row.text)
        return self.value(hit.path, row.scope, row.text, row.line)

    def _step(self, value: Value, step: str) -> Value:
        if step == "#try":
            return together([_held(one) for one in each(value)])
        if step[:1] == "#" or step.isdigit():
            return together([_part(one, int(step.lstrip("#"))) for one in each(value)])
        return super()._step(value, step)


def _is(view: View, hit: Hit, kind: str) -> bool:
    model = view.model(hit.path)
    return model is not None and hit.symbol >= 0 and model.symbols[hit.symbol].kind == kind


def _held(value: Value) -> Value:
    """What `?` and `Some(x)` take out."""
    if isinstance(value, Container) and value.args and value.name.rpartition(".")[2] in _HOLDERS:
        return value.args[0]
    return None


def _part(value: Value, at: int) -> Value:
    if isinstance(value, Container) and value.name == TUPLE:
        return value.args[at] if at < len(value.args) else None
    return None


def _of_holder(value: Container, name: str) -> Value:
    """What a method of a type of the standard library gives; to be called."""
    kind = value.name.rpartition(".")[2]
    if not value.args:
        return None
    if kind in _LOCKS:
        return (
            value.args[0]
            if name in {"lock", "read", "write", "borrow", "borrow_mut", "get", "try_lock"}
            else None
        )
    if name in _UNWRAPPING and kind in _HOLDERS:
        return value.args[0]
    if name in _SAME:
        return value
    if name in _ELEMENTS and kind not in _HOLDERS:
        return Container("Option", value.args[-1:])
    return None


def resolver(view: View) -> Resolver:
    """A resolver for the Rust files of a view."""
    names = RustNames(view)
    found = Resolver(view, names)
    members = names.types = RustMembers(found)
    parts = (RustAnnotations(found), members, RustCalls(found), RustExpressions(found, members))
    found.deriving = lambda path, model, scope: implementing(model, scope, found, path)
    found.extra_edges = lambda path, model: overriding(path, model, found)
    return found.join(*parts)
