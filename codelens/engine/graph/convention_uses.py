"""Finds uses that a framework makes by the place or name of a file, without an import.

Nuxt's folders, SvelteKit's route files, components of MDX and HEEx, Rails'
names in templates and routes, Laravel's facades. Each
is a possible use whose reason names the convention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from codelens.engine.graph.route_uses import default_of, route_uses
from codelens.engine.graph.setting_uses import Match, Place, TextSearch
from codelens.engine.graph.targets import Targets
from codelens.paths import printed
from codelens.resolve.path_tree import ancestors, below, folder_of, name_of, stem_of
from codelens.resolve.walk.edge_table import Node

_MOST_TARGETS = 30
_NUXT = tuple(b"nuxt.config." + ending for ending in (b"ts", b"js", b"mjs", b"mts"))
_COMPONENTS = (b".vue", b".ts", b".tsx", b".js", b".jsx")
_SCRIPTS = (b".vue", b".ts", b".tsx", b".js", b".jsx", b".mjs", b".mts")
_AUTO_IMPORTED = {
    (b"composables",): b"", (b"utils",): b"",
    (b"server", b"utils"): b"server",
    (b"shared", b"utils"): b"", (b"shared", b"types"): b"",
}  # fmt: skip
"""Folders whose exports Nuxt imports by name, each with the folder that may use them."""
_MODE = re.compile(r"\.(?:client|server|global|island)\Z")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_ROUTE = re.compile(rb"(\+(?:page|layout))(?:\.server)?\.[jt]s")
_GIVEN = {"load": rb"\bdata\b", "actions": rb"\bform\b"}
_RAILS = re.compile(rb"(?:\A|/)app/(?:models|helpers|services|policies|presenters|decorators)/")
_ACTIONS = frozenset("index show new create edit update destroy".split())
_ASSOCIATION = rb"(?m)^[ \t]*(?:has_many|has_one|belongs_to|has_and_belongs_to_many)[ (]+"
_BLADE_CLASSES = b"/app/View/Components/"
_FACADE = "getFacadeAccessor"


class _Target(NamedTuple):
    """A definition, or a file as a whole."""

    node: Node
    name: str
    """Empty for a file."""
    owner: str
    """The type that a member belongs to; empty without one."""


def convention_uses(targets: Targets, search: TextSearch, nodes: Iterable[Node]) -> Iterator[Place]:
    """Yields the places that may use some definitions or files (`MODULE`) by a convention."""
    conventions = _Conventions(targets, search)
    for node in list(nodes)[:_MOST_TARGETS]:
        yield from conventions.of(node)


class _Conventions:
    def __init__(self, targets: Targets, search: TextSearch) -> None:
        self._targets = targets
        self._files = targets.view.snapshot.by_path
        self._search = search

    @cached_property
    def _mdx(self) -> set[bytes]:
        return _below(self._files, b"", (b".mdx",))

    def of(self, node: Node) -> Iterator[Place]:
        """Yields the uses of one target."""
        symbols = self._targets.symbols(node.path)
        symbol = symbols[node.symbol] if 0 <= node.symbol < len(symbols) else None
        owner = symbols[symbol.parent].name if symbol is not None and symbol.parent >= 0 else ""
        target = _Target(node, symbol.name if symbol is not None else "", owner)
        if not owner:
            yield from self._nuxt(target)
            yield from self._route(target)
            yield from route_uses(
                self._files,
                self._search,
                self._targets.view.read_path,
                path=node.path,
                symbols=symbols,
                symbol=symbol,
            )
            yield from self._markup(target)
            yield from self._blade_class(target)
            yield from self._rails_constant(target)
            yield from self._association(target)
        elif node.path.endswith(b".rb"):
            yield from self._helper(target)
            yield from self._action(target)
        elif node.path.endswith(b".php"):
            yield from self._facade(target)
            yield from self._container(target)
        elif symbol is not None and "(assigns" in symbol.signature:
            yield from self._function_component(target)

    def _nuxt(self, target: _Target) -> Iterator[Place]:
        path = target.node.path
        roots = [
            folder
            for folder in ancestors(folder_of(path))
            if any(below(folder, name) in self._files for name in _NUXT)
        ]
        if not roots:
            return
        parts = path[len(roots[0]) :].lstrip(b"/").split(b"/")
        parts = parts[1:] if parts[0] in {b"app", b"src"} else parts
        if parts[0] == b"components" and path.endswith(_COMPONENTS) and not target.name:
            tag = _component_name([printed(part) for part in parts[1:]])
            why = f"uses <{tag}>, which Nuxt finds in components/"
            hyphens = "-".join(word.lower() for word in _WORDS.findall(tag))
            names = [tag, hyphens, f"Lazy{tag}", f"lazy-{hyphens}"]
            yield from self._elements(names, _below(self._files, roots[-1], (b".vue",)), why)
        for folders, users in _AUTO_IMPORTED.items():
            depth = len(folders)
            if tuple(parts[:depth]) == folders and path.endswith(_SCRIPTS):
                is_scanned = len(parts) == depth + 1 or (
                    len(parts) == depth + 2 and stem_of(path) == b"index"
                )
                root = below(roots[-1], users) if users else roots[-1]
                where = f"Nuxt imports from {printed(b'/'.join(folders))}/"
                for name in self._exported(target) if is_scanned else ():
                    yield from self._named(name, path, root, where)

    def _exported(self, target: _Target) -> list[str]:
        """Return the exported name of a target, or all those of a file."""
        path = target.node.path
        symbols = [symbol for symbol in self._targets.symbols(path) if symbol.parent < 0]
        exported = {symbol.name: symbol.name for symbol in symbols if symbol.exported}
        default = default_of(self._targets.view.read_path(path) or b"", symbols)
        if default is not None:
            # A default export has the name of its file.
            name = name_of(folder_of(path)) if stem_of(path) == b"index" else stem_of(path)
            first, *others = _WORDS.findall(printed(name)) or [""]
            exported[default.name] = (
                first[:1].lower()
                + first[1:]
                + "".join(word[:1].upper() + word[1:] for word in others)
            )
        if not target.name:
            return list(exported.values())
        return [exported[target.name]] if target.name in exported else []

    def _named(self, name: str, path: bytes, root: bytes, where: str) -> Iterator[Place]:
        """Yields the uses of a name in files that neither import nor define it."""
        word = re.escape(name.encode())
        users = self._search.files_with([name]).intersection(_below(self._files, root, _SCRIPTS))
        pattern = rb"(?<![\w.$'\"`/-])(?P<at>%s)(?![\w$'\"`-]|\s*:(?!:))" % word
        bound = re.compile(
            rb"\b(?:import|require)\b[^;'\"]{0,400}?(?<![\w$])%s(?![\w$])|"
            rb"\b(?:const|let|var|function|class|interface|type)\s+[{\[]?[\w$\s,]{0,200}?"
            rb"(?<![\w$])%s(?![\w$])" % (word, word)
        )
        binding: dict[bytes, bool] = {path: True}
        for match in self._search.matches(users, re.compile(pattern)):
            if match.path not in binding:
                binding[match.path] = bound.search(match.text) is not None
            if not binding[match.path]:
                yield Place(match.path, match.line, f"uses {name}, which {where}")

    def _elements(self, names: list[str], users: set[bytes], why: str) -> Iterator[Place]:
        """Yields the elements with one of some names."""
        any_name = b"|".join(re.escape(name.encode()) for name in dict.fromkeys(names))
        element = re.compile(rb"<(?P<at>%s)(?=[\s/>])" % any_name)
        for match in self._search.matches((), element, users):
            yield Place(match.path, match.line, why)

    def _route(self, target: _Target) -> Iterator[Place]:
        """Yields where a page of SvelteKit receives what the file next to it returns."""
        path = target.node.path
        route = _ROUTE.fullmatch(name_of(path))
        page = below(folder_of(path), route[1] + b".svelte") if route is not None else b""
        if page not in self._files or (target.name and target.name not in _GIVEN):
            return
        for name in [target.name] if target.name else self._exported(target):
            pattern = _GIVEN.get(name)
            if pattern is not None:
                why = f"receives what {name} of {printed(name_of(path))} returns, as SvelteKit says"
                first = next(
                    self._search.matches([page], re.compile(rb"(?P<at>%s)" % pattern)), None
                )
                yield Place(page, first.line if first is not None else 1, why)

    def _markup(self, target: _Target) -> Iterator[Place]:
        """Yields the uses of a component in files whose imports may not be followed."""
        path = target.node.path
        name = target.name or printed(stem_of(path))
        if not self._mdx or not path.endswith((*_SCRIPTS, b".astro", b".svelte")):
            return
        imported = re.compile(
            rb"(?m)^import\s[^;'\"]{0,400}?\b%s\b[^;'\"]{0,400}?['\"](?P<at>[^'\"\n]+)['\"]"
            % re.escape(name.encode())
        )
        users = self._mdx.intersection(self._search.files_with([name]))
        for match in self._search.matches((), imported, users):
            if _leads_to(match, path):
                yield Place(match.path, match.line, f"imports {name} in MDX")

    def _blade_class(self, target: _Target) -> Iterator[Place]:
        """Yields the elements that the class of a Blade component renders."""
        path = target.node.path
        _, folder, below = (b"/" + path).partition(_BLADE_CLASSES)
        if not folder or not below.endswith(b".php"):
            return
        *folders, last = printed(below.removesuffix(b".php")).split("/")
        parts = folders if folders and folders[-1] == last else [*folders, last]
        if target.name not in {"", last}:
            return
        tag = ".".join("-".join(_WORDS.findall(part)) for part in parts).lower()
        views = _below(self._files, b"", (b".blade.php",))
        why = f"renders <x-{tag}>, a component of Laravel"
        yield from self._elements([f"x-{tag}"], views, why)

    def _facade(self, target: _Target) -> Iterator[Place]:
        """Yields the calls of a method through a facade of Laravel."""
        holding = self._search.files_with([_FACADE, target.owner])
        if not holding:
            return
        returns = rb"%s\s*\([^{]{0,80}\{\s*return\s+[\w\\]*\b(?P<at>%s)::class" % (
            _FACADE.encode(),
            re.escape(target.owner.encode()),
        )
        facades = {match.path for match in self._search.matches(holding, re.compile(returns))}
        for facade in sorted(facades):
            name = printed(stem_of(facade))
            call = rb"\b%s::(?P<at>%s)\s*\(" % (
                re.escape(name.encode()),
                re.escape(target.name.encode()),
            )
            users = self._search.files_with([name, target.name])
            for match in self._search.matches(users, re.compile(call)):
                yield Place(
                    match.path, match.line, f"calls it through the facade {name} of Laravel"
                )

    def _container(self, target: _Target) -> Iterator[Place]:
        """Yields the calls of a method on what Laravel's container makes of a class."""
        call = (
            rb"\b(?:app|resolve|make|makeWith)\(\s*[\w\\]*\b%s::class\b[^;()]{0,200}\)\s*\??->\s*(?P<at>%s)\s*\("
            % (
                re.escape(target.owner.encode()),
                re.escape(target.name.encode()),
            )
        )
        users = self._search.files_with([target.owner, target.name, "class"])
        for match in self._search.matches(users, re.compile(call)):
            yield Place(match.path, match.line, f"calls it on a {target.owner} that Laravel makes")

    def _rails_constant(self, target: _Target) -> Iterator[Place]:
        """Yields the uses of a class of a Rails application in its templates."""
        if target.name[:1].isupper() and _RAILS.search(target.node.path):
            why = f"reads {target.name}, which Rails loads by its name"
            yield from self._in_erb(target.name, rb"(?<![\w@:.\"'])%s(?!\w)", why)

    def _association(self, target: _Target) -> Iterator[Place]:
        """Yields the associations of Rails that lead to a model."""
        root, folder, _ = (b"/" + target.node.path).partition(b"/app/models/")
        if not folder or not target.name[:1].isupper() or not target.node.path.endswith(b".rb"):
            return
        singular = "_".join(_WORDS.findall(target.name)).lower()
        many = [
            f"{singular}s",
            f"{singular}es",
            *([f"{singular[:-1]}ies"] if singular.endswith("y") else []),
        ]
        any_name = b"|".join(name.encode() for name in (singular, *many))
        by_name = _ASSOCIATION + rb":(?P<at>%s)(?!\w)(?![^#\n]*\bclass_name:)" % any_name
        by_class = (
            _ASSOCIATION
            + rb":[^#\n]*\bclass_name:\s*[\"'](?:::)?(?:\w+::)*(?P<at>%s)[\"']"
            % (re.escape(target.name.encode()))
        )
        start = (root + folder).strip(b"/")
        for names, pattern in (((singular, *many), by_name), ((target.name,), by_class)):
            holding = {path for name in names for path in self._search.files_with([name])}
            users = _below(holding, start, (b".rb",))
            for match in self._search.matches((), re.compile(pattern), users):
                why = f"has an association with {target.name}, as Rails names it"
                yield Place(match.path, match.line, why)

    def _helper(self, target: _Target) -> Iterator[Place]:
        """Yields the calls of a helper of Rails in templates."""
        if b"/app/helpers/" in b"/" + target.node.path:
            why = f"calls {target.name}, a helper of Rails"
            yield from self._in_erb(target.name, rb"(?<![\w@:.\"'])%s(?![\w:])", why)

    def _in_erb(self, name: str, pattern: bytes, why: str) -> Iterator[Place]:
        """Yields the uses of a name in the tags of ERB."""
        word = pattern % re.escape(name.encode())
        tag = re.compile(rb"(?s)<%%(?![%%#])(?:(?!%%>).){0,1000}?(?P<at>%s)" % word)
        views = _below(self._search.files_with([name]), b"", (b".erb",))
        for match in self._search.matches((), tag, views):
            yield Place(match.path, match.line, why)

    def _action(self, target: _Target) -> Iterator[Place]:
        """Yields the routes of Rails that lead to a method of a controller."""
        root, folder, below = (b"/" + target.node.path).partition(b"/app/controllers/")
        if not folder or not below.endswith(b"_controller.rb"):
            return
        name = re.escape(below.removesuffix(b"_controller.rb"))
        last = name.rpartition(b"/")[2]
        literal = rb"(?P<literal>(?<=[\"'])%s#%s(?=[\"']))" % (
            name,
            re.escape(target.name.encode()),
        )
        listed = rb"\bresources?\b[ (][^\n]{0,200}?(?<=:)(?P<listed>%s|%s)(?!\w)" % (
            last,
            last.removesuffix(b"s"),
        )
        pattern = rb"%s|%s" % (literal, listed) if target.name in _ACTIONS else literal
        routes = _below(self._files, (root + b"/config/routes").lstrip(b"/"), (b".rb",))
        alone = (root + b"/config/routes.rb").lstrip(b"/")
        if alone in self._files:
            routes = routes | {alone}
        for match in self._search.matches(routes, re.compile(pattern)):
            yield Place(match.path, match.line, f"routes to {target.name}, as Rails says")

    def _function_component(self, target: _Target) -> Iterator[Place]:
        """Yields the elements of HEEx that a function renders: `<.card>`, `<Core.card>`."""
        module = target.owner.rpartition(".")[2]
        pattern = rb"<(?P<at>(?:(?:\w+\.)*%s)?\.%s)(?=[\s/>])" % (
            re.escape(module.encode()),
            re.escape(target.name.encode()),
        )
        users = _below(self._search.files_with([target.name]), b"", (b".heex", b".ex", b".exs"))
        for match in self._search.matches((), re.compile(pattern), users):
            yield Place(match.path, match.line, f"renders <.{target.name}>, a component of HEEx")


def _leads_to(match: Match, path: bytes) -> bool:
    """Whether a module's name means a path by its end. Relative imports are followed as edges."""
    module = match.text[match.start : match.end]
    place = module.partition(b"/")[2] if not module.startswith(b".") else b""
    stem = path.rpartition(b".")[0]
    places = [path, stem] + [folder_of(path)] * (stem_of(path) == b"index")
    return bool(place) and any((b"/" + other).endswith(b"/" + place) for other in places)


def _below(files: Iterable[bytes], root: bytes, endings: tuple[bytes, ...]) -> set[bytes]:
    start = root + b"/" if root else b""
    return {path for path in files if path.startswith(start) and path.endswith(endings)}


def _component_name(parts: list[str]) -> str:
    """Return the name that Nuxt gives a component: `base/BaseCard.vue` is `BaseCard`."""
    *folders, file = parts
    own = _WORDS.findall(_MODE.sub("", file.rpartition(".")[0]))
    before = [_WORDS.findall(folder) for folder in folders]
    if [word.lower() for word in own] == ["index"] and before:
        own = []
    lower = [word.lower() for word in own]
    suffix: list[str] = []
    folder_count = len(before)
    for at in range(len(before) - 1, -1, -1):
        words = [word.lower() for word in before[at]]
        suffix = words + suffix
        if lower and (lower[: len(suffix)] == suffix or words == lower[:1]):
            folder_count = at
    words = [word for folder in before[:folder_count] for word in folder] + own
    return "".join(word[:1].upper() + word[1:] for word in words)
