"""What `package.json` and `tsconfig.json` say about where modules lie."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from codelens.resolve.facts.path_tree import encoded, folder_of, joined, name_of

MANIFEST = b"package.json"
_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')
_EXTENDS_LIMIT = 8
_REQUIRED = "require"


@dataclass(frozen=True, slots=True)
class Package:
    """One `package.json`."""

    folder: bytes
    name: str
    exports: Mapping[str, object]
    """Subpath, `.` for the package itself -> target, its conditions not yet chosen."""
    inner: Mapping[str, object]
    """The `imports` field: names that begin with `#`."""
    mains: tuple[str, ...]
    """Entry files, best first."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """The compiler settings that hold below a folder."""

    folder: bytes
    base: bytes | None
    """`baseUrl`, as a folder of the view."""
    paths: tuple[tuple[str, tuple[bytes, ...]], ...] = field(default=())
    """Pattern with at most one `*` -> its targets, as paths of the view, best first."""


def is_compiler_settings(name: bytes) -> bool:
    """Whether a file's name is that of settings of the TypeScript compiler."""
    return name.endswith(b".json") and name.startswith((b"tsconfig", b"jsconfig"))


def packages(settings: Mapping[bytes, bytes]) -> list[Package]:
    """All packages of the view; one that is no JSON is none."""
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
    """Folder -> the settings in it, `tsconfig.json` itself before its variants."""
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
    """The paths that an `exports` target may mean, conditions in the order written.

    What only `require` gets comes last: most of what is read imports.
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
    """What the `*` of a pattern stands for, empty without one; None if `text` is another."""
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
    """Compiler options of a file and of those that it extends, nearest first."""
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
    """JSON with comments and trailing commas; None for what is not even that."""
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
