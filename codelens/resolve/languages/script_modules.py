"""Resolves JavaScript and TypeScript specifiers with `package.json` and `tsconfig.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from codelens.resolve.languages.registry import ModuleResolver
from codelens.resolve.path_tree import Tree, ancestors, below, encoded, folder_of, joined, name_of
from codelens.types import Import

MANIFEST = b"package.json"
_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
_EXTENDS_LIMIT = 8
_REQUIRED = "require"


@dataclass(frozen=True, slots=True)
class Package:
    """A `package.json`."""

    folder: bytes
    name: str
    exports: Mapping[str, object]
    """Subpath, `.` for the package itself -> target with unresolved conditions."""
    inner: Mapping[str, object]
    """The `imports` field: names that begin with `#`."""
    mains: tuple[str, ...]
    """Entry files, best first."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """The compiler settings that apply below a folder."""

    folder: bytes
    base: bytes | None
    """`baseUrl`, as a folder of the view."""
    paths: tuple[tuple[str, tuple[bytes, ...]], ...] = field(default=())
    """Pattern with at most one `*` -> its targets, as paths of the view, best first."""


def is_compiler_settings(name: bytes) -> bool:
    """Whether a file name is one of TypeScript compiler settings."""
    return name.endswith(b".json") and name.startswith((b"tsconfig", b"jsconfig"))


def known_packages(settings: Mapping[bytes, bytes]) -> list[Package]:
    """Return all packages of the view, skipping invalid JSON."""
    packages_read: list[Package] = []
    for path in sorted(settings):
        if name_of(path) == MANIFEST:
            data = _mapping(_read(settings[path]))
            mains = tuple(
                value
                for key in ("source", "svelte", "types", "typings", "module", "main", "browser")
                if isinstance(value := data.get(key), str)
            )
            name = data.get("name")
            packages_read.append(
                Package(
                    folder_of(path),
                    name if isinstance(name, str) else "",
                    _exports(data.get("exports")),
                    _mapping(data.get("imports")),
                    mains,
                )
            )
    return packages_read


def aliases(settings: Mapping[bytes, bytes]) -> dict[bytes, list[Aliases]]:
    """Return folder -> the settings in it, `tsconfig.json` before its variants."""
    by_folder: dict[bytes, list[Aliases]] = {}
    names = sorted(
        (path for path in settings if is_compiler_settings(name_of(path))),
        key=lambda path: (folder_of(path), len(path), path),
    )
    for path in names:
        alias = _aliases(path, settings)
        if alias.base is not None or alias.paths:
            by_folder.setdefault(alias.folder, []).append(alias)
    return by_folder


def leaves(target: object) -> Iterator[str]:
    """Yield the paths of an `exports` target, with conditions in source order.

    Targets only for `require` come last, because most code uses `import`.
    """
    if isinstance(target, str):
        yield target
    elif isinstance(target, dict):
        conditions = cast("dict[str, object]", target)
        for name in sorted(conditions, key=_REQUIRED.__eq__):
            yield from leaves(conditions[name])
    elif isinstance(target, list):
        for choice in cast("list[object]", target):
            yield from leaves(choice)


def matched(pattern: str, text: str) -> str | None:
    """Return what the `*` of a pattern matches, empty without a `*`; None for no match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == text else None
    fits = text.startswith(before) and text.endswith(after)
    return (
        text[len(before) : len(text) - len(after)]
        if fits and len(text) >= len(before + after)
        else None
    )


def _aliases(path: bytes, settings: Mapping[bytes, bytes]) -> Aliases:
    base: bytes | None = None
    paths: tuple[tuple[str, tuple[bytes, ...]], ...] = ()
    for at, options in _chain(path, settings):
        folder = folder_of(at)
        url = options.get("baseUrl")
        if base is None and isinstance(url, str):
            base = joined(folder, encoded(url))
        mapped = _mapping(options.get("paths"))
        if mapped and not paths:
            root = joined(folder, encoded(url)) if isinstance(url, str) else folder
            root = base if base is not None and not isinstance(url, str) else root
            paths = tuple(
                (pattern, tuple(_targets(root or b"", value))) for pattern, value in mapped.items()
            )
    return Aliases(folder_of(path), base, paths)


def _chain(
    path: bytes, settings: Mapping[bytes, bytes]
) -> Iterator[tuple[bytes, Mapping[str, object]]]:
    """Yield the compiler options of a file and of those that it extends, nearest first."""
    waiting, seen = [path], set[bytes]()
    while waiting and len(seen) < _EXTENDS_LIMIT:
        at = waiting.pop(0)
        if at in seen or at not in settings:
            continue
        seen.add(at)
        data = _mapping(_read(settings[at]))
        yield at, _mapping(data.get("compilerOptions"))
        extends = data.get("extends")
        names = cast("list[object]", extends) if isinstance(extends, list) else [extends]
        for name in names:
            if isinstance(name, str) and name.startswith("."):
                inner = joined(folder_of(at), encoded(name))
                if inner is not None:
                    waiting.append(inner if inner.endswith(b".json") else inner + b".json")


def _targets(root: bytes, value: object) -> Iterator[bytes]:
    values = cast("list[object]", value) if isinstance(value, list) else []
    for text in values:
        if isinstance(text, str):
            target = joined(root, encoded(text))
            if target is not None:
                yield target


def _exports(value: object | None) -> Mapping[str, object]:
    if isinstance(value, dict):
        conditions = cast("dict[str, object]", value)
        return conditions if any(key.startswith(".") for key in conditions) else {".": conditions}
    return {".": value} if value is not None else {}


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _read(data: bytes) -> object:
    """Parse JSON with comments and trailing commas; returns None for invalid input."""
    text = data.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    text = _COMMENTS.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
    text = _TRAILING.sub(lambda match: match[0] if match[0][0] == '"' else "", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# Which file a specifier names, for JavaScript, TypeScript and files that embed them.
#
# The rules are those of the TypeScript compiler and of Node: relative names, `paths` and `baseUrl`
# of the nearest settings, `imports` and `exports` of packages in the view. For a build output
# (`dist/index.js`), the lookup searches its source (`src/index.ts`).

Target = TypeVar("Target")

_TYPED = (b".ts", b".tsx", b".d.ts", b".mts", b".cts", b".d.mts", b".d.cts")
_PLAIN = (b".js", b".jsx", b".mjs", b".cjs")
_OTHER = (b".vue", b".svelte", b".astro", b".mdx", b".json")
_SOURCES = {
    b".js": (b".ts", b".tsx", b".d.ts", b".jsx"),
    b".jsx": (b".tsx",),
    b".mjs": (b".mts", b".d.mts", b".ts"),
    b".cjs": (b".cts", b".d.cts", b".ts"),
}
"""The extensions of possible sources of a file with that extension."""
_DECLARED = re.compile(rb"\.d\.([cm]?)ts$")
_DECLARATIONS = (b".d.ts", b".d.mts", b".d.cts")
_BUILT = frozenset({b"dist", b"lib", b"build", b"out", b"esm", b"cjs", b"es", b"types"})


class ScriptModules(ModuleResolver):
    """Resolves imports of scripts, modules and components."""

    per_file = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._aliases = aliases(settings)
        packages = known_packages(settings)
        self._packages = {package.folder: package for package in packages}
        self._named: dict[str, list[Package]] = {}
        for package in packages:
            if package.name:
                self._named.setdefault(package.name, []).append(package)

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file that the specifier names."""
        del language
        module = import_.module.partition("?")[0]
        if not module or ":" in module or "!" in module:
            return ()
        folder = folder_of(path)
        plain = path.endswith(_PLAIN)
        if module[0] == "." and (module[1:2] in {"", "/"} or module.startswith("..")):
            return self._at(joined(folder, encoded(module)), plain)
        if module[0] == "#":
            return self._inner(folder, module, plain)
        if module[0] == "/":
            return self._from_root(folder, module[1:], plain)
        if path.endswith((b".html", b".htm")):
            return self._at(joined(folder, encoded(module)), plain)
        return (
            self._by_alias(folder, module, plain)
            or self._by_package(folder, module, plain)
            or self._by_custom(folder, module, plain)
        )

    def declared(self) -> Mapping[bytes, bytes]:
        """Return the declarations of each package (`types`), with the file that code imports."""
        declared: dict[bytes, bytes] = {}
        for package in self._packages.values():
            entries = (*leaves(package.exports.get(".")), *package.mains)
            places = [joined(package.folder, encoded(entry)) for entry in entries]
            types = [path for path in places if path is not None and path.endswith(_DECLARATIONS)]
            code = [self._at(path, True) for path in places if path not in types]
            files = [path for paths in code for path in paths if path not in types]
            declared |= dict.fromkeys(
                filter(self._tree.__contains__, types), next(iter(files), b"")
            )
        return {path: code for path, code in declared.items() if code}

    def _at(self, base: bytes | None, plain: bool) -> tuple[bytes, ...]:
        """Return the file at a path without extension, of a build output, or of a folder."""
        if base is None:
            return ()
        tree = self._tree
        built = self._tree.first(_sources(base))
        if built and not (plain and base in tree):
            return built
        if base in tree:
            return (base,)
        endings = (*_PLAIN, *_TYPED, *_OTHER) if plain else (*_TYPED, *_PLAIN, *_OTHER)
        files = tree.first(base + ending for ending in endings) if base else ()
        if files or (base and not tree.is_folder(base)):
            return files
        package = self._packages.get(base)
        if package is not None:
            files = self._first_at(package.folder, package.mains, plain)
        return files or tree.first(below(base, b"index" + ending) for ending in endings)

    def _first_at(self, folder: bytes, targets: Iterable[str], plain: bool) -> tuple[bytes, ...]:
        for target in targets:
            base = joined(folder, encoded(target))
            for place in _unbuilt(folder, base) if base is not None else ():
                files = self._at(place, plain) if place != folder else ()
                if files:
                    return files
        return ()

    def _by_alias(self, folder: bytes, module: str, plain: bool) -> tuple[bytes, ...]:
        """Resolve by `paths` and `baseUrl` of the nearest settings that have any."""
        for place in ancestors(folder):
            for settings in self._aliases.get(place, ()):
                for pattern, targets in _best_first(settings.paths, module):
                    star = encoded(matched(pattern, module) or "")
                    for target in targets:
                        files = self._at(target.replace(b"*", star, 1), plain)
                        if files:
                            return files
                if settings.base is not None:
                    files = self._at(below(settings.base, encoded(module)), plain)
                    if files:
                        return files
            if place in self._aliases:
                return ()
        return ()

    def _by_package(self, folder: bytes, module: str, plain: bool) -> tuple[bytes, ...]:
        parts = module.split("/")
        size = 2 if module[0] == "@" else 1
        owners = self._named.get("/".join(parts[:size]), [])
        around = set(ancestors(folder))
        own = [owner for owner in owners if owner.folder in around]
        if len(owners) != 1 and len(own) != 1:
            return ()
        return self._in_package((own or owners)[0], "/".join(parts[size:]), plain)

    def _in_package(self, package: Package, inner: str, plain: bool) -> tuple[bytes, ...]:
        folder = package.folder
        key = f"./{inner}" if inner else "."
        if files := self._by_pattern(folder, package.exports, key, plain):
            return files
        if inner:
            return self._at(below(folder, encoded(inner)), plain) or self._at(
                below(folder, b"src/" + encoded(inner)), plain
            )
        return (
            self._first_at(folder, package.mains, plain)
            or self._at(below(folder, b"src/index"), plain)
            or self._at(below(folder, b"index"), plain)
        )

    def _inner(self, folder: bytes, module: str, plain: bool) -> tuple[bytes, ...]:
        for place in ancestors(folder):
            package = self._packages.get(place)
            if package is not None:
                if files := self._by_pattern(place, package.inner, module, plain):
                    return files
                break
        return self._by_alias(folder, module, plain)

    def _by_pattern(
        self, folder: bytes, targets: Mapping[str, object], name: str, plain: bool
    ) -> tuple[bytes, ...]:
        """Return the files of the best pattern for a name that leads to any."""
        for pattern, target in _best_first(targets.items(), name):
            star = matched(pattern, name) or ""
            places = (leaf.replace("*", star) for leaf in leaves(target))
            if files := self._first_at(folder, places, plain):
                return files
        return ()

    def _from_root(self, folder: bytes, inner: str, plain: bool) -> tuple[bytes, ...]:
        """Resolve `/src/main.ts` in a page from the web root, a folder above."""
        for place in ancestors(folder):
            files = self._at(below(place, encoded(inner)), plain) if inner else ()
            if files:
                return files
        return ()

    def _by_custom(self, folder: bytes, module: str, plain: bool) -> tuple[bytes, ...]:
        """Resolve `@/x` and `$lib/x`, which bundler templates and frameworks configure in code."""
        head, _, inner = module.partition("/")
        roots = _ROOTS_OF.get(head, ())
        for place in ancestors(folder) if roots else ():
            if place in self._packages:
                places = (below(below(place, root), encoded(inner)) for root in roots)
                return next((files for at in places if (files := self._at(at, plain))), ())
        return ()


_ROOTS_OF = {
    "@": (b"src", b"app", b""), "~": (b"src", b"app", b""),
    "@@": (b"",), "~~": (b"",), "$lib": (b"src/lib",),
}  # fmt: skip
"""The folders that a prefix means; Nuxt has sources in `app` or at the top of the package."""


def _sources(base: bytes) -> Iterator[bytes]:
    """Yield the possible sources of `x.js`."""
    dot = base.rfind(b".")
    for ending in _SOURCES.get(base[dot:], ()) if dot > 0 else ():
        yield base[:dot] + ending


def _unbuilt(folder: bytes, base: bytes) -> Iterator[bytes]:
    """Yield a target and the places of its possible sources in the package."""
    yield base
    plain = _DECLARED.sub(rb".\1js", base)
    inner = plain[len(folder) :].strip(b"/").split(b"/")
    for at, part in enumerate(inner[:-1]):
        if part in _BUILT:
            rest = [name for name in inner[at + 1 :] if name not in _BUILT]
            yield below(folder, b"/".join([*inner[:at], b"src", *rest]))
            yield below(folder, b"/".join([*inner[:at], *rest]))
            return


def _best_first(patterns: Iterable[tuple[str, Target]], text: str) -> list[tuple[str, Target]]:
    """Return the matching patterns, exact ones first, then by length before the `*`."""
    fitting = [pair for pair in patterns if matched(pair[0], text) is not None]
    return sorted(fitting, key=lambda pair: ("*" in pair[0], -len(pair[0].partition("*")[0])))
