"""Rust: modules in files and in each other, `impl` blocks wherever, traits.

A module is a file, or a symbol of kind `module` in one. Paths are followed through `use`, also of
others (`pub use`), and globs. Methods are those of all `impl` blocks for a type in the view, then
those that its traits have by default.
"""

from __future__ import annotations

from typing import NamedTuple

from codelens.resolve.model import TYPES, FileModel
from codelens.resolve.names import LOCAL, MODULE, Hit, Names
from codelens.resolve.rusttext import TUPLE, rust_type
from codelens.resolve.tree import below, folder_of, name_of, stem_of
from codelens.resolve.types import Types, steps
from codelens.resolve.values import (
    Container,
    Definition,
    Instance,
    Module,
    Value,
    each,
    together,
)
from codelens.resolve.view import View
from codelens.types import Import

_FAR = 16
_INDEXES = frozenset({b"mod.rs", b"lib.rs", b"main.rs", b"build.rs"})
_HOLDERS = frozenset({"Option", "Result", "Poll"})
_UNWRAPPING = frozenset(
    "unwrap expect unwrap_or unwrap_or_else unwrap_or_default ok_or unwrap_unchecked".split()
)
_ELEMENTS = frozenset(
    "first last get get_mut pop next peek next_back pop_front pop_back front back".split()
)
"""Methods of collections that give an element, perhaps; it is seen as there."""
_SAME = frozenset(
    "clone as_ref as_mut as_deref as_deref_mut borrow borrow_mut to_owned cloned copied by_ref iter "
    "iter_mut into_iter rev filter skip take chain collect ok or or_else map_err inspect drain "
    "to_vec lock read write await context with_context deref deref_mut".split()
)
"""Methods that give what they are called on, as far as members go."""
_LOCKS = frozenset({"Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "LazyLock", "Lazy"})


_STANDARD_MACROS = frozenset(
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq "
    "debug_assert_ne env eprint eprintln file format format_args include include_bytes include_str "
    "line matches module_path option_env panic print println stringify thread_local todo try "
    "unimplemented unreachable vec write writeln".split()
)


class _Impl(NamedTuple):
    """A block of methods for a type."""

    path: bytes
    scope: int
    of_trait: bool
    members: dict[str, list[Hit]]


class RustNames(Names):
    """Names in modules, through `use`."""

    types: RustTypes

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._asking: set[tuple[bytes, int, str]] = set()

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Hit]:
        """What a bare name means in a scope."""
        model = self.view.model(path)
        if model is None:
            return []
        at = scope
        while at >= 0:
            one = model.scopes[at]
            module = (
                one.symbol if one.symbol >= 0 and model.symbols[one.symbol].kind == "module" else -1
            )
            if at == 0 or module >= 0:
                return self.item(path, module, name, types=types)
            entry = model.names[at].get(name)
            if entry is not None:
                if one.kind == "class":
                    if types and any(row.how == "type" for row in entry.rows):
                        return [Hit(path, LOCAL, at, name)]
                else:
                    found = [Hit(path, symbol, at, name) for symbol in entry.symbols]
                    for number in () if found else entry.imports:
                        found += self._bound(
                            path, self._module_of(model, at), model.imports[number], 0
                        )
                    if found:
                        return found
                    rows = [row for row in entry.rows if (row.how == "type") == types]
                    if rows:
                        return [Hit(path, LOCAL, at, name)]
            at = one.parent
        return []

    def _module_of(self, model: FileModel, scope: int) -> int:
        """The symbol of the module inside the file that a scope is in, -1 for the file."""
        while scope > 0:
            symbol = model.scopes[scope].symbol
            if symbol >= 0 and model.symbols[symbol].kind == "module":
                return symbol
            scope = model.scopes[scope].parent
        return -1

    def item(
        self, path: bytes, module: int, name: str, depth: int = 0, *, types: bool = False
    ) -> list[Hit]:
        """What a module has under a name."""
        key = (path, module, name)
        if depth > _FAR or key in self._asking:
            return []
        self._asking.add(key)
        try:
            return self._item(path, module, name, depth, types)
        finally:
            self._asking.discard(key)

    def _item(self, path: bytes, module: int, name: str, depth: int, types: bool) -> list[Hit]:
        model = self.view.model(path)
        if model is None:
            return []
        scope = model.own_scope.get(module, -1) if module >= 0 else 0
        if scope < 0:
            return []
        entry = model.names[scope].get(name)
        if entry is not None:
            found = [
                hit
                for at in entry.symbols
                for hit in self._declared(path, model, module, scope, at)
            ]
            if len(found) > 1:
                of_kind = [
                    hit
                    for hit in found
                    if hit.symbol < 0 or (model.symbols[hit.symbol].kind in TYPES) == types
                ]
                found = of_kind or found
            for number in () if found else entry.imports:
                found += self._bound(path, module, model.imports[number], depth + 1)
            if found or entry.imports:
                return found
        for number, one in enumerate(model.imports):
            if one.name == "*" and one.module and self._scope_of(model, number) == scope:
                for hit in self.follow(path, module, one.module.split("::"), depth + 1):
                    found = self.inside(hit, name, depth + 1, types=types)
                    if found:
                        return found
        return []

    def _declared(
        self, path: bytes, model: FileModel, module: int, scope: int, at: int
    ) -> list[Hit]:
        """A symbol of a module; of `mod x;` the file that it stands for."""
        symbol = model.symbols[at]
        if symbol.kind != "module" or at in model.own_scope:
            return [Hit(path, at, scope, symbol.name)]
        files = self.view.modules(path, symbol.name) if module < 0 else ()
        return [Hit(file, MODULE) for file in files if file != path]

    def _scope_of(self, model: FileModel, number: int) -> int:
        rows = (row for row in model.bindings if row.how == "import" and row.text == str(number))
        return next((row.scope for row in rows), 0)

    def _bound(self, path: bytes, module: int, one: Import, depth: int) -> list[Hit]:
        """What a `use`, `mod` or `extern crate` binds."""
        parts = [part for part in one.module.split("::") if part]
        if one.name:
            return self.follow(path, module, [*parts, one.name], depth)
        if len(parts) == 1:
            files = self.view.modules(path, one.module) if module < 0 else ()
            return [Hit(file, MODULE) for file in files if file != path]
        return self.follow(path, module, parts, depth)

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """What an import at the top of a file binds."""
        return self._bound(path, -1, one, depth) if one.name != "*" else []

    def follow(self, path: bytes, module: int, parts: list[str], depth: int = 0) -> list[Hit]:
        """Where a path leads, seen from a module."""
        if depth > _FAR or not parts:
            return []
        hits = self._start(path, module, parts[0], depth)
        at = 1
        while at < len(parts) and parts[at] == "super":
            hits = [up for hit in hits for up in self._parent(hit)]
            at += 1
        for part in parts[at:]:
            hits = [inner for hit in hits for inner in self.inside(hit, part, depth + 1)]
        return list(dict.fromkeys(hits))

    def _start(self, path: bytes, module: int, head: str, depth: int) -> list[Hit]:
        here = Hit(path, module if module >= 0 else MODULE)
        if head == "crate":
            return [Hit(file, MODULE) for file in self.view.modules(path, "crate") or ()] or (
                [Hit(path, MODULE)] if name_of(path) in _INDEXES else []
            )
        if head == "self":
            return [here]
        if head == "super":
            return self._parent(here)
        found = self.item(path, module, head, depth + 1, types=True)
        if found:
            return found
        files = self.view.modules(path, head)
        return [Hit(file, MODULE) for file in files if file != path]

    def _parent(self, hit: Hit) -> list[Hit]:
        """The module around a module."""
        model = self.view.model(hit.path)
        if model is None:
            return []
        if hit.symbol >= 0:
            around = model.symbols[hit.symbol].parent
            return [Hit(hit.path, around if around >= 0 else MODULE)]
        folder, name = folder_of(hit.path), name_of(hit.path)
        if name == b"mod.rs":
            folder, inner = folder_of(folder), folder
        else:
            inner = below(folder, stem_of(hit.path))
        del inner
        for index in (b"mod.rs", b"lib.rs", b"main.rs"):
            file = below(folder, index)
            if file in self.view.folder(folder):
                return [Hit(file, MODULE)] if file != hit.path else []
        file = folder + b".rs"
        return [Hit(file, MODULE)] if file in self.view.folder(folder_of(folder)) else []

    def inside(self, hit: Hit, name: str, depth: int = 0, *, types: bool = False) -> list[Hit]:
        """What stands behind `::`: an item of a module, or what belongs to a type."""
        model = self.view.model(hit.path)
        if model is None or depth > _FAR:
            return []
        if hit.symbol == MODULE:
            return self.item(hit.path, -1, name, depth, types=types)
        if hit.symbol < 0:
            return []
        if model.symbols[hit.symbol].kind == "module":
            return self.item(hit.path, hit.symbol, name, depth, types=types)
        return [found for found, _ in self.types.members(Definition(hit.path, hit.symbol), name)]

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Hit]:
        """What a file's module has under a name."""
        return self.item(path, -1, name, depth, types=types)

    def submodule(self, path: bytes, name: str) -> list[Hit]:
        """Modules are items like others."""
        return []

    def impls(self, name: str) -> list[_Impl]:
        """Blocks for a type that is called so where they stand."""
        return self.view.index("impls", self._all_impls).get(name, [])

    def _all_impls(self) -> dict[str, list[_Impl]]:
        found: dict[str, list[_Impl]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language == "rust" else None
            if model is None:
                continue
            for scope, rows in model.of_scope.items():
                if model.scopes[scope].kind == "class" and model.scopes[scope].symbol < 0:
                    traits = any(row.how == "implements" for row in rows)
                    for row in rows:
                        if row.how == "alias":
                            head = rust_type(row.text).partition("<")[0].rpartition(".")[2]
                            members = self._members(path, model, scope)
                            found.setdefault(head, []).append(_Impl(path, scope, traits, members))
        return found

    def _members(self, path: bytes, model: FileModel, scope: int) -> dict[str, list[Hit]]:
        found: dict[str, list[Hit]] = {}
        for at in self.view.once(("homes", path), lambda: _homes(model)).get(scope, ()):
            name = model.symbols[at].name
            found.setdefault(name, []).append(Hit(path, at, scope, name))
        return found

    def macros(self, path: bytes, name: str) -> list[Hit]:
        """Macros of that name: in the file, else the only one of the view."""
        every = self.view.index("macros", self._all_macros).get(name, [])
        here = [hit for hit in every if hit.path == path]
        if here or name in _STANDARD_MACROS:
            return here[-1:]
        root = self.view.modules(path, "crate")
        crate = [hit for hit in every if self.view.modules(hit.path, "crate") == root]
        return crate if len(crate) == 1 else every if len(every) == 1 else []

    def _all_macros(self) -> dict[str, list[Hit]]:
        found: dict[str, list[Hit]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language == "rust" else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if symbol.kind == "macro":
                    found.setdefault(symbol.name, []).append(Hit(path, at, 0, symbol.name))
        return found


class RustTypes(Types):
    """Values in Rust."""

    names: RustNames

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.names = RustNames(view)
        self.names.types = self

    # -- types ----------------------------------------------------------------------------

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Rust's own writing."""
        return super().of_type(path, scope, rust_type(text), me)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's path means."""
        parts = name.split(".")
        if parts[0] == "Self":
            own = self.own_type(path, scope)
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
        return self.names.follow(path, self.names._module_of(model, scope), parts)  # noqa: SLF001

    def own_type(self, path: bytes, scope: int) -> Value:
        """`Self`: the type of the block, or the trait, that a scope is in."""
        model = self.view.model(path)
        while model is not None and scope >= 0:
            one = model.scopes[scope]
            if one.kind == "class":
                if one.symbol >= 0:
                    return Instance(path, one.symbol)
                rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
                return self.of_type(path, scope, rows[0].text) if rows else None
            scope = one.parent
        return None

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`Self` as a type."""
        return self.own_type(path, scope)

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
                    for base in each(self.of_type(path, there.scopes[scope].parent, row.text)):
                        if isinstance(base, Instance) and base[:2] != one[:2]:
                            found.append(base)
        return list(dict.fromkeys(found))

    def _blocks(self, one: Instance) -> list[_Impl]:
        """The `impl` blocks of a type."""
        return self._once(("blocks", *one[:2]), lambda: self._find_blocks(one), [])

    def _find_blocks(self, one: Instance) -> list[_Impl]:
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[_Impl] = []
        for block in self.names.impls(model.symbols[one.symbol].name):
            there = self.view.model(block.path)
            if there is None:
                continue
            rows = [row for row in there.of_scope.get(block.scope, ()) if row.how == "alias"]
            head = rust_type(rows[0].text).partition("<")[0]
            hits = self.named_type(block.path, there.scopes[block.scope].parent, head)
            if any(hit[:2] == one[:2] for hit in hits):
                found.append(block)
        return sorted(found, key=lambda block: block.of_trait)

    # -- members --------------------------------------------------------------------------

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

    def _static(self, value: Definition, name: str) -> list[tuple[Hit, Value]]:
        model = self.view.model(value.path)
        if model is not None and model.symbols[value.symbol].kind == "module":
            hits = self.names.inside(Hit(value.path, value.symbol), name)
            return [(hit, value) for hit in hits]
        if model is not None and model.symbols[value.symbol].kind == "type":
            made = self._alias(Hit(value.path, value.symbol), (), model)
            if isinstance(made, Instance) and made[:2] != value[:2]:
                return super()._static(Definition(*made[:2]), name)
        return super()._static(value, name)

    # -- expressions ----------------------------------------------------------------------

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        if head in {"self", "Self"} and model is not None:
            own = self.own_type(path, scope)
            if head == "Self":
                return together(
                    [Definition(*one[:2]) for one in each(own) if isinstance(one, Instance)]
                )
            if own is not None:
                return own
        if head in {"crate", "super", "self"} and model is not None:
            module = self.names._module_of(model, scope)  # noqa: SLF001
            hits = self.names.follow(path, module, [head])
            return together([self._as_value(hit) for hit in hits])
        return super()._head(path, scope, head, rest, line)

    def _value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        taken = steps(text)
        if taken is None:
            return None
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
            hits = self.methods(value, name)
            if hits:
                return together([self._taken(hit, value) for hit in hits[:1]])
            return value if name in _SAME else None
        return self.member_value(value, name)

    def methods(self, value: Value, name: str) -> list[Hit]:
        """Members of that name that can be called."""
        hits = [hit for hit, _ in self.members(value, name)]
        kept = [hit for hit in hits if self._is_called(hit)]
        if not kept and isinstance(value, Instance):
            kept = [hit for one in self.ancestry(value) for hit in self._in_blocks(one, name)]
        return kept

    def _is_called(self, hit: Hit) -> bool:
        model = self.view.model(hit.path)
        return model is None or hit.symbol < 0 or model.symbols[hit.symbol].kind != "field"

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
            return self.of_type(hit.path, hit.scope, row.text)
        return self.value(hit.path, row.scope, row.text, row.line)

    def _step(self, value: Value, step: str) -> Value:
        if step == "#try":
            return together([_held(one) for one in each(value)])
        if step[:1] == "#" or step.isdigit():
            return together([_part(one, int(step.lstrip("#"))) for one in each(value)])
        return super()._step(value, step)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            return _of_holder(value, name)
        return super()._member_value(value, name)

    def called(self, value: Value) -> Value:
        """What a call gives; of a variant or a tuple struct a value of the type."""
        if isinstance(value, Instance | Container):
            return value
        return super().called(value)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model is not None and me is None:
            scope = model.own_scope.get(symbol)
            me = self.own_type(path, scope) if scope is not None else None
        return super()._result(path, symbol, me)

    def _element(self, value: Value, step: str) -> Value:
        if isinstance(value, Definition):
            return value
        return super()._element(value, step)


def _homes(model: FileModel) -> dict[int, list[int]]:
    """Scope -> the symbols that stand right in it."""
    found: dict[int, list[int]] = {}
    for at, scope in enumerate(model.home):
        found.setdefault(scope, []).append(at)
    return found


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


def meaning(
    types: RustTypes, path: bytes, scope: int, name: str, kind: str, macro: bool
) -> list[Hit]:
    """What a bare name of a reference means."""
    if macro:
        return types.names.macros(path, name)
    hits = types.names.lookup(path, scope, name, types=kind == "type")
    kept: list[Hit] = []
    for hit in hits:
        model = types.view.model(hit.path)
        is_macro = (
            model is not None and hit.symbol >= 0 and model.symbols[hit.symbol].kind == "macro"
        )
        if not is_macro:
            kept.append(hit)
    return kept
