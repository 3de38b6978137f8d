"""Resolves the templates of Angular: their components, directives, inputs, outputs and pipes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.file_model import FileModel
from codelens.resolve.inference.name_lookup import MODULE, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Definition, Instance, Value
from codelens.resolve.path_tree import folder_of, joined
from codelens.types import Reference

_SAID = "angular"
_MOST_LISTS = 400
"""Maximum number of modules and lists that one component's imports lead through."""
_MODULE_FILES = (b"module.ts",)
_SELECTOR = re.compile(
    r"([\w-]+)|\[([\w-]+)(?:=[\"']?([^\]\"']*)[\"']?)?\]|\.([\w-]+)|:not\(([^)]*)\)"
)
_PIPE = "|"

Place = tuple[bytes, int]
"""A class: its file and its symbol."""


class _Element(NamedTuple):
    """An element of a template, as `<tag attribute attribute=value .class @exported>`."""

    tag: str
    attributes: dict[str, str]
    classes: frozenset[str]
    exported: str


class _Selector(NamedTuple):
    """One alternative of a directive's selector."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]
    excluded: tuple[_Selector, ...] = ()

    def fits(self, element: _Element) -> bool:
        """Whether an element has the directive."""
        return (
            self.tag in {"", "*", element.tag}
            and all(
                name in element.attributes and value in {"", element.attributes[name]}
                for name, value in self.attributes
            )
            and element.classes.issuperset(self.classes)
            and not any(other.fits(element) for other in self.excluded)
        )


@lru_cache(maxsize=5_000)
def _selectors(text: str) -> tuple[_Selector, ...]:
    """Return the alternatives of a selector: `button[appSave], [appSave]:not(a)`."""
    return tuple(_selector(part) for part in re.split(r",(?![^(]*\))", text) if part.strip())


def _selector(text: str) -> _Selector:
    tag, attributes, classes, excluded = "", list[tuple[str, str]](), list[str](), list[_Selector]()
    for match in _SELECTOR.finditer(text):
        if match[1]:
            tag = match[1]
        elif match[2]:
            attributes.append((match[2], match[3] or ""))
        elif match[4]:
            classes.append(match[4])
        elif match[5]:
            excluded.append(_selector(match[5]))
    return _Selector(tag, tuple(attributes), tuple(classes), tuple(excluded))


@lru_cache(maxsize=5_000)
def _element(text: str) -> _Element:
    tag, *words = text[1:-1].split(" ")
    attributes = {
        name: value
        for word in words
        if word[:1] not in {".", "@"}
        for name, _, value in [word.partition("=")]
    }
    classes = frozenset(word[1:] for word in words if word[:1] == ".")
    exported = next((word[1:] for word in words if word[:1] == "@"), "")
    return _Element(tag, attributes, classes, exported)


def said(model: FileModel, symbol: int) -> dict[str, str]:
    """Return the fields of a class's decorator by key; empty without a decorator."""
    scope = model.own_scope.get(symbol)
    rows = model.of_scope.get(scope, ()) if scope is not None else ()
    return {row.name: row.text for row in rows if row.how == _SAID}


def public_names(model: FileModel, symbol: int) -> Iterator[str]:
    """Yield the names under which templates use a definition: words of a selector, an input."""
    definition = model.symbols[symbol]
    of_class = said(model, symbol)
    for selector in _selectors(of_class.get("selector", "")):
        yield from (selector.tag, *(name for name, _ in selector.attributes))
    if definition.parent >= 0:
        of_parent = said(model, definition.parent)
        if definition.name == "transform" and "pipe" in of_parent:
            yield of_parent["pipe"]
        yield from (
            row.name for row in model.bindings if row.how == "io" and row.text == str(symbol)
        )


class Templates:
    """Resolves the templates of one view."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once

    def component(self, path: bytes) -> Value:
        """Return an instance of the component whose template a file is."""
        return self.once(("component", path), lambda: self._component(path), None)

    def _component(self, path: bytes) -> Value:
        folder = folder_of(path)
        own = path.rpartition(b".")[0] + b".ts"
        others = [other for other in self.view.folder(folder) if other.endswith(b".ts")]
        for file in (own, *others):
            if file not in self.view.languages:
                continue
            model = self.view.model(file)
            for symbol in model.own_scope:
                url = said(model, symbol).get("templateUrl", "")
                if url and joined(folder_of(file), url.encode()) == path:
                    return Instance(file, symbol)
        return None

    def _around(self, path: bytes, scope: int) -> Value:
        """Return the component whose template a scope is in."""
        if self.view.model(path).language == "angular":
            return self.component(path)
        return self.resolver.instance_around(path, scope)

    def directives(self, component: Instance) -> tuple[Place, ...]:
        """Return the directives and pipes that a component's template may use, itself included."""
        key = ("directives", component.path, component.symbol)
        return self.once(key, lambda: self._directives(component.path, component.symbol), ())

    def _directives(self, path: bytes, symbol: int) -> tuple[Place, ...]:
        model = self.view.model(path)
        own = said(model, symbol)
        usable: dict[Place, None] = {(path, symbol): None}
        if own.get("imports"):
            self._take(path, own["imports"], usable)
        elif own.get("standalone") != "true":
            module = self._declaring(path, symbol)
            if module is not None:
                declaring = self.view.model(module[0])
                of_module = said(declaring, module[1])
                for key in ("declarations", "imports"):
                    self._take(module[0], of_module.get(key, ""), usable)
        return tuple(usable)

    def _take(self, path: bytes, text: str, usable: dict[Place, None]) -> None:
        """Add the directives of a list, following modules to what they export."""
        pending = [(path, text)]
        seen: set[object] = set()
        while pending and len(seen) < _MOST_LISTS:
            at, names = pending.pop()
            for name in names.split(",") if names else ():
                for referent in self._referents(at, name.strip().removeprefix("...")):
                    place = (referent.path, referent.symbol)
                    model = self.view.model(referent.path)
                    if place in seen or referent.symbol == MODULE:
                        continue
                    seen.add(place)
                    of_class = said(model, referent.symbol) if referent.symbol >= 0 else {}
                    if of_class.get("kind") == "module":
                        pending.append((referent.path, of_class.get("exports", "")))
                    elif of_class:
                        usable[place] = None
                    else:
                        rows = (row for row in model.bindings if row.how == _SAID and not row.scope)
                        pending += [
                            (referent.path, row.text)
                            for row in rows
                            if row.name == model.symbols[referent.symbol].name
                        ]

    def _referents(self, path: bytes, name: str) -> list[Referent]:
        if "." not in name:
            return [
                referent for referent in self.names.lookup(path, 0, name) if referent.symbol >= 0
            ]
        value = self.resolver.value(path, 0, name, -1)
        return [Referent(*value[:2])] if isinstance(value, Definition) else []

    def _declaring(self, path: bytes, symbol: int) -> Place | None:
        """Return the module that declares a component: one in its folder or in one above."""
        model = self.view.model(path)
        name = model.symbols[symbol].name
        folder = folder_of(path)
        while True:
            for file in self.view.folder(folder):
                if not file.endswith(_MODULE_FILES):
                    continue
                declaring = self.view.model(file)
                for at in declaring.own_scope:
                    text = said(declaring, at).get("declarations", "")
                    usable: dict[Place, None] = {}
                    if name in text or "..." in text:
                        self._take(file, text, usable)
                    if (path, symbol) in usable:
                        return file, at
            if not folder:
                return None
            folder = folder_of(folder.rstrip(b"/"))

    def _on(self, path: bytes, scope: int, element: _Element) -> list[tuple[Place, _Selector]]:
        """Return the directives of an element, each with the alternative that fits."""
        component = self._around(path, scope)
        if not isinstance(component, Instance):
            return []
        directives_here: list[tuple[Place, _Selector]] = []
        for place in self.directives(component):
            text = said(self.view.model(place[0]), place[1]).get("selector", "")
            fitting = next(
                (selector for selector in _selectors(text) if selector.fits(element)), None
            )
            if fitting is not None:
                directives_here.append((place, fitting))
        return directives_here

    def element_value(self, path: bytes, scope: int, head: str) -> Value:
        """Return the directive that a variable of an element refers to, or a pipe's method."""
        if head[1] == _PIPE:
            pipe = self._pipe(path, scope, head[2:-1])
            if pipe is None or pipe.scope < 0:
                return None
            owner = self.view.model(pipe.path).symbols[pipe.symbol].parent
            return Definition(pipe.path, pipe.symbol, Instance(pipe.path, owner))
        element = _element(head)
        for place, _ in self._on(path, scope, element):
            of_class = said(self.view.model(place[0]), place[1])
            exported = [word.strip() for word in of_class.get("exportAs", "").split(",")]
            if (
                element.exported in exported
                if element.exported
                else (of_class.get("kind") == "component")
            ):
                return Instance(*place)
        return None

    def _pipe(self, path: bytes, scope: int, name: str) -> Referent | None:
        """Return the method of a pipe, or its class with the scope -1."""
        component = self._around(path, scope)
        for place in self.directives(component) if isinstance(component, Instance) else ():
            if said(self.view.model(place[0]), place[1]).get("pipe") == name:
                for referent, _ in self.resolver.members(Instance(*place), "transform"):
                    return referent
                return Referent(*place, -1)
        return None

    def element_uses(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the directives, inputs and outputs that a part of an element names, or a pipe."""
        head, name = reference.receiver, reference.name
        if head[1] == _PIPE:
            pipe = self._pipe(path, reference.scope, name)
            return [pipe] if pipe is not None else []
        uses: list[Referent] = []
        for place, selector in self._on(path, reference.scope, _element(head)):
            if name == selector.tag or any(name == word for word, _ in selector.attributes):
                uses.append(Referent(*place))
            uses += self._member(place, name)
        return list(dict.fromkeys(uses))

    def _member(self, place: Place, name: str) -> list[Referent]:
        """Return the input or output of a directive with a public name."""
        for base in self.resolver.ancestry(Instance(*place)):
            model = self.view.model(base.path)
            scope = model.own_scope.get(base.symbol)
            for row in model.bindings:
                if row.how == "io" and row.scope == scope and row.name == name:
                    return [Referent(base.path, int(row.text))]
            if name.endswith("Change"):
                # A `model()` is an output, too.
                continue
        return []
