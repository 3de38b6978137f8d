"""Resolves PHP: classes by the autoload rules of `composer.json`, files by path, and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.members import unnamed_overrides
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Value,
    each,
    together,
)
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_names import ClassNames, Space
from codelens.resolve.languages.classes.class_values import (
    ClassAnnotations,
    ClassCalls,
    ClassExpressions,
)
from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.path_tree import (
    Tree,
    ancestors,
    below,
    encoded,
    folder_of,
    joined,
    name_of,
    nearest,
)
from codelens.resolve.view_files import View
from codelens.types import Import, Reference

MANIFEST = b"composer.json"


class Autoload(ModuleResolver):
    """Resolves `use` clauses and includes."""

    named = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._prefixes: dict[bytes, list[tuple[bytes, bool]]] = {}
        """Namespace as folders -> its folders, and whether they omit the prefix (PSR-4)."""
        for path in sorted(settings):
            if name_of(path) == MANIFEST:
                self._add(folder_of(path), settings[path])

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file of the class, or the included file."""
        del language
        module = import_.module
        if is_include(module):
            return self._included(folder_of(path), module)
        inner = encoded(module.strip("\\")).replace(b"\\", b"/")
        if import_.name and import_.name != "*":
            inner = below(inner, encoded(import_.name).replace(b"\\", b"/"))
        for prefix in ancestors(inner):
            files_here = self._tree.first(self._below(prefix, inner))
            if files_here:
                return files_here
        files = self._tree.ending(inner + b".php") if b"/" in inner else []
        return (files[0],) if len(files) == 1 else ()

    def _below(self, prefix: bytes, inner: bytes) -> Iterator[bytes]:
        for folder, cut in self._prefixes.get(prefix, ()):
            rest = inner[len(prefix) :].lstrip(b"/") if cut else inner
            yield below(folder, rest) + b".php"

    def _included(self, folder: bytes, module: str) -> tuple[bytes, ...]:
        """Resolve an include from the file's folder (`__DIR__ . '/x'`) or a folder above."""
        if "$" in module or "://" in module:
            return ()
        written = encoded(module.lstrip("/"))
        for place in ancestors(folder):
            at = joined(place, written)
            if at is not None and at in self._tree:
                return (at,)
            if module.startswith(("/", ".")):
                return ()
        return ()

    def _add(self, root: bytes, manifest: bytes) -> None:
        try:
            data = json.loads(manifest)
        except (ValueError, RecursionError):
            return
        for section in ("autoload", "autoload-dev"):
            rules = _mapping(_mapping(data).get(section))
            for kind in ("psr-4", "psr-0"):
                for prefix, places in _mapping(rules.get(kind)).items():
                    inner = encoded(prefix.strip("\\")).replace(b"\\", b"/")
                    roots = self._prefixes.setdefault(inner, [])
                    listed = cast("list[object]", places) if isinstance(places, list) else [places]
                    for place in listed:
                        at = joined(root, encoded(place)) if isinstance(place, str) else None
                        if at is not None:
                            roots.append((at, kind == "psr-4"))


def is_include(module: str) -> bool:
    """Whether an import names a file instead of a class or namespace."""
    return module.endswith((".php", ".inc")) or "/" in module


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


# Names by autoload rules, or else by the namespaces that the files of the view declare.


class PhpNames(ClassNames):
    """Looks up names in PHP."""

    def in_package(self, path: bytes, package: str, name: str) -> list[Referent]:
        """Return a namespace's definitions; without an autoload rule, from the nearest file."""
        referents = super().in_package(path, package, name)
        if referents:
            return referents
        index = self.view.index("php namespaces", lambda: self.by_package("php"))
        referents = index.get(package, {}).get(name, [])
        files = nearest(path, dict.fromkeys(referent.path for referent in referents))
        return [referent for referent in referents if referent.path in files]

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Referent]:
        referents = super()._in_file(path, model, name, space, arguments)
        if referents or space != "call" or not model.package:
            return referents
        # PHP falls back to the global function if the namespace does not define it.
        return [
            referent
            for referent in self.fitting(self.in_package(path, "", name), arguments)
            if self._is_function(referent)
        ]

    def imports_of(self, model: FileModel, name: str) -> list[int]:
        """Return imports by the last part of their name; an included file binds no name."""
        tail = "\\" + name
        by_last = [
            at
            for at, import_ in enumerate(model.imports)
            if not import_.alias
            and not import_.name
            and (import_.module == name or import_.module.endswith(tail))
        ]
        numbers = [*super().imports_of(model, name), *by_last]
        return [at for at in numbers if not is_include(model.imports[at].module)]

    def _is_function(self, referent: Referent) -> bool:
        return self.view.symbol(referent).kind in CALLABLE

    def _in_type(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        """Return only type parameters: class members have no bare names in PHP."""
        if space != "type" or name not in model.parameters.get(at, ()):
            return []
        return [Referent(path, LOCAL, at, name)]

    def qualified(self, path: bytes, name: str) -> list[Referent]:
        """Return the referents of a qualified name, by `use` or from the file's namespace."""
        model = self.view.model(path)
        head, _, rest = name.partition(".")
        for import_ in model.imports:
            module = import_.module.replace("\\", ".").strip(".")
            whole = f"{module}.{import_.name}" if import_.name and import_.name != "*" else module
            if (import_.alias or whole.rpartition(".")[2]) == head:
                package, _, last = f"{whole}.{rest}".rpartition(".")
                return self.in_package(path, package, last)
        package, _, last = f"{model.package}.{name}".strip(".").rpartition(".")
        return self.in_package(path, package, last)


# Values: a class inherits from traits, then from its parent, then from interfaces.

_ORDER = {"trait": 0, "class": 1, "enum": 1}
_CONSTRUCTOR = "__construct"
_QUALIFIED = re.compile(r"[A-Z]\w*(?:\.\w+)+")


class PhpAnnotations(ClassAnnotations):
    """Evaluates PHP types."""

    def __init__(self, resolver: Resolver, names: PhpNames) -> None:
        super().__init__(resolver)
        self._php = names

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a type name, by the file's `use` clauses and its namespace."""
        referents = super().named_type(path, scope, name)
        if referents or "." not in name:
            return referents
        return self.names.of_space(self._php.qualified(path, name), "type")


class PhpMembers(ClassMembers):
    """Finds members of classes."""

    def bases(self, own: Instance) -> list[Instance]:
        """Return traits before the parent, because their methods override it; interfaces last."""
        return sorted(super().bases(own), key=self._rank)

    def _rank(self, own: Instance) -> int:
        return _ORDER.get(self.view.symbol(own).kind, 2)

    def _in_part(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        """As in the base class, but includes constructors: `parent::__construct()`."""
        if name != _CONSTRUCTOR:
            return super()._in_part(path, symbol, name)
        places = self.view.model(path).children.get(symbol, {}).get(name, ())
        return [Referent(path, at, 0, name) for at in places]


class PhpCalls(ClassCalls):
    """Infers the results of calls and elements."""

    def element(self, value: Value, step: str) -> Value:
        """Return an element of an array, `Iterator`, `IteratorAggregate` or `ArrayAccess`."""
        if isinstance(value, Container) and len(value.args) > 1:
            # Of keys and values, iteration yields the values.
            return value.args[1]
        if not isinstance(value, Instance):
            return super().element(value, step)
        for name in ("offsetGet",) if step == "[]" else ("current", "getIterator"):
            for referent, _ in self.resolver.members(value, name)[:1]:
                item = self.result(referent.path, referent.symbol, value)
                if name != "getIterator":
                    return item
                inner = [part for part in each(item) if part != value]
                return together([self.element(part, step) for part in inner])
        return None


class PhpExpressions(ClassExpressions):
    """Evaluates expressions, and finds the members called on them."""

    def __init__(self, resolver: Resolver, members: PhpMembers, names: PhpNames) -> None:
        super().__init__(resolver, members)
        self._php = names

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver, by its asserted type."""
        value = self._asserted(path, reference) if reference.kind == "call" else None
        if value is not None:
            methods = self.taking(value, reference.name, reference.arguments)
            if methods:
                return methods
        referents = super().member_of(path, reference)
        if reference.kind == "name" and not referents:
            # A name after a receiver is a field, a constant, or a method: `[$this, 'm']`.
            return self.called_on(
                path, reference.scope, reference.receiver, reference.name,
                line=reference.line, arguments=-1,
            )  # fmt: skip
        return referents

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """Return the value of an expression; a qualified name is a class."""
        found_value = super().value(path, scope, text, line)
        if found_value is None and _QUALIFIED.fullmatch(text):
            referents = self.names.of_space(self._php.qualified(path, text), "type")
            return Definition(*referents[0][:2]) if referents else None
        return found_value

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, *, line: int, arguments: int
    ) -> list[Referent]:
        """Return the targets of a call on a receiver or of a qualified name."""
        hits_on_type = super().called_on(
            path, scope, receiver, name, line=line, arguments=arguments
        )
        if hits_on_type or not _QUALIFIED.fullmatch(f"{receiver}.{name}"):
            return hits_on_type
        referents = self.names.of_space(self._php.qualified(path, f"{receiver}.{name}"), "call")
        return self.names.fitting(referents, arguments)


def resolver(view: View) -> Resolver:
    """Build a resolver for the PHP files of a view."""
    names = PhpNames(view)
    php = Resolver(view, names)
    members = names.types = PhpMembers(php)
    expressions = PhpExpressions(php, members, names)
    php.extra_edges = lambda path, model: unnamed_overrides(path, model, php)
    return php.join(PhpAnnotations(php, names), members, PhpCalls(php), expressions)


# The language description of PHP.

SPECS = {
    "php": LanguageSpec(
        fields_are_inherited=True,
        modules="classes.php:Autoload",
        settings=(b"composer.json",),
        resolver="classes.php:resolver",
        named_in_texts=True,
        follows_names=True,
        hiding_words=frozenset({"private"}),
        needs_receiver=True,
        instance=frozenset({"this", "$this"}),
        unions=True,
        narrows=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        extra_arguments=True,
        named_arguments=True,
        constructors=frozenset({"__construct"}),
    )
}
