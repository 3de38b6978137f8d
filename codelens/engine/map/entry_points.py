"""Finds the entry points of programs and libraries, by manifests and conventions."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from codelens.resolve.languages.registry import spec_of
from codelens.resolve.path_tree import below, folder_of, joined, name_of

_CONVENTIONS: dict[bytes, str] = {
    b"__main__.py": "python -m",
    b"manage.py": "Django's commands",
    b"main.rs": "program",
    b"lib.rs": "library",
    b"wsgi.py": "web application",
    b"asgi.py": "web application",
}
_SCRIPT_ENDS = (b"", b".ts", b".tsx", b".js", b".mjs", b".jsx", b"/index.ts", b"/index.js")
_MODULE = re.compile(r"[\w.]+(?::[\w.]+)?\Z")
_MANIFESTS = frozenset({b"pyproject.toml", b"package.json", b"Cargo.toml", b"go.mod"})
_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_GEM = b".gemspec"
_MAJOR = re.compile(rb"/v\d+\Z")
_SOURCES = ("src/index", "index", "src/main", "lib/index")
_BRANCHES = 4
"""Maximum depth of the conditions in package.json's exports."""
_DEEPEST_MANIFEST = 3


class Entry(NamedTuple):
    """One entry point."""

    name: str
    path: bytes
    symbol: str
    """Name of a top-level definition of the file; empty for the file."""
    why: str


def entries(
    languages: Mapping[bytes, str],
    defined: Mapping[bytes, frozenset[str]],
    read: Callable[[bytes], bytes | None],
) -> list[Entry]:
    """The entry points, nearest to the root first, and among these the declared ones first.

    Args:
        languages: the candidate files, without tests and the like, with their languages.
        defined: names of the top-level definitions of each.
        read: reads the bytes of a file.
    """
    by_place: dict[tuple[bytes, str], Entry] = {}
    for entry in (*_declared(languages, read), *_conventional(languages, defined)):
        by_place.setdefault((entry.path, entry.symbol), entry)
    files = {path for path, symbol in by_place if symbol}
    listed = [entry for entry in by_place.values() if entry.symbol or entry.path not in files]
    return sorted(listed, key=lambda entry: entry.path.count(b"/"))


def _declared(
    languages: Mapping[bytes, str], read: Callable[[bytes], bytes | None]
) -> Iterator[Entry]:
    for path in sorted(languages, key=lambda path: (path.count(b"/"), path)):
        name = name_of(path)
        if name.endswith(_GEM) and path.count(b"/") <= _DEEPEST_MANIFEST:
            yield from _gem(languages, folder_of(path), name.removesuffix(_GEM))
        if name not in _MANIFESTS or path.count(b"/") > _DEEPEST_MANIFEST:
            continue
        folder = folder_of(path)
        if name == b"go.mod":
            yield from _go(languages, folder, read(path) or b"")
            continue
        data = _loaded(name, read(path) or b"")
        if name == b"pyproject.toml":
            yield from _python(languages, folder, data)
        elif name == b"package.json":
            yield from _script(languages, folder, data)
        else:
            yield from _cargo(languages, folder, data)


def _loaded(name: bytes, data: bytes) -> dict[str, Any]:
    try:
        text = data.decode("utf-8", "replace")
        parsed = json.loads(text) if name.endswith(b".json") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}  # The manifest is invalid: its own tools would reject it, too.
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}


def _table(data: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = data.get(key)
        if not isinstance(inner, dict):
            return {}
        data = cast("dict[str, Any]", inner)
    return dict(data)


def _python(
    languages: Mapping[bytes, str], folder: bytes, data: Mapping[str, Any]
) -> Iterator[Entry]:
    scripts = {
        **_table(data, "project", "scripts"),
        **_table(data, "project", "gui-scripts"),
        **_table(data, "tool", "poetry", "scripts"),
    }
    for command, target in scripts.items():
        if not isinstance(target, str) or not _MODULE.match(target):
            continue
        module, _, symbol = target.partition(":")
        relative = module.replace(".", "/").encode()
        for base in (folder, below(folder, b"src")):
            for end in (b".py", b"/__init__.py"):
                path = below(base, relative + end)
                if path in languages:
                    yield Entry(command, path, symbol, "command, by pyproject.toml")


def _script(
    languages: Mapping[bytes, str], folder: bytes, data: Mapping[str, Any]
) -> Iterator[Entry]:
    package = data.get("name")
    name = package if isinstance(package, str) else "package"
    declared: list[tuple[str, object, str]] = [
        (name, data.get(key), f"{key}, by package.json") for key in ("source", "main", "module")
    ]
    programs = data.get("bin")
    if isinstance(programs, str):
        declared.append((name, programs, "command, by package.json"))
    for command, target in _table(data, "bin").items():
        declared.append((command, target, "command, by package.json"))
    library = [
        (name, source, "exports, by package.json") for source in _exported(data.get("exports"))
    ]
    public = "exports" in data or "main" in data or "module" in data
    if public and data.get("private") is not True:
        # Build output is not in the repository; by convention it is built from these.
        library += [(name, stem, "library, by package.json") for stem in _SOURCES]
    has_library = False
    for name_shown, target, why in (*declared, *library):
        path = _script_file(languages, folder, target)
        if path is None or (has_library and why.startswith(("exports", "library"))):
            continue
        has_library = has_library or "command" not in why
        yield Entry(name_shown, path, "", why)


def _exported(target: object, deep: int = 0) -> Iterator[str]:
    """Files in the exports under the package's own name, for any condition."""
    if isinstance(target, str):
        yield target
    elif isinstance(target, dict) and deep < _BRANCHES:
        table = cast("dict[str, object]", target)
        inner = [table["."]] if "." in table else [
            value for key, value in table.items() if not key.startswith(".")
        ]  # fmt: skip
        for value in inner:
            yield from _exported(value, deep + 1)


def _gem(languages: Mapping[bytes, str], folder: bytes, name: bytes) -> Iterator[Entry]:
    """The file that `require "name"` loads; by convention, a dash means a folder."""
    for stem in (name, name.replace(b"-", b"/")):
        path = below(folder, b"lib/" + stem + b".rb")
        if path in languages:
            yield Entry(name.decode("utf-8", "replace"), path, "", "library, by its gemspec")
            return


def _go(languages: Mapping[bytes, str], folder: bytes, data: bytes) -> Iterator[Entry]:
    """The file named like the imported package, or the one with its docs."""
    module = _GO_MODULE.search(data)
    if module is None:
        return
    name = module[1]
    package = name_of(_MAJOR.sub(b"", name))
    for stem in (package, package.removeprefix(b"go-"), b"doc"):
        path = below(folder, stem + b".go")
        if path in languages:
            yield Entry(name.decode("utf-8", "replace"), path, "", "package, by go.mod")
            return


def _script_file(languages: Mapping[bytes, str], folder: bytes, target: object) -> bytes | None:
    if not isinstance(target, str):
        return None
    path = joined(folder, target.encode("utf-8", "replace"))
    if path is None:
        return None
    return next((path + end for end in _SCRIPT_ENDS if path + end in languages), None)


def _cargo(
    languages: Mapping[bytes, str], folder: bytes, data: Mapping[str, Any]
) -> Iterator[Entry]:
    package = _table(data, "package").get("name")
    for path, why in ((b"src/main.rs", "program"), (b"src/lib.rs", "library")):
        source_path = below(folder, path)
        if isinstance(package, str) and source_path in languages:
            yield Entry(package, source_path, "", f"{why}, by Cargo.toml")


def _conventional(
    languages: Mapping[bytes, str], defined: Mapping[bytes, frozenset[str]]
) -> Iterator[Entry]:
    packages = [path for path in languages if name_of(path) == b"__init__.py"]
    for path in sorted(packages):
        folder = folder_of(path)
        outer = folder_of(folder)
        inner = below(outer, b"__init__.py") in languages
        if folder and outer in {b"", b"src", b"lib"} and not inner:
            entry_name = name_of(folder).decode("utf-8", "replace")
            yield Entry(entry_name, path, "", f"package, import {entry_name}")
    for path in sorted(languages, key=lambda path: (path.count(b"/"), path)):
        why = _CONVENTIONS.get(name_of(path))
        if why is not None:
            entry_name = path.decode("utf-8", "replace")
            yield Entry(entry_name, path, "", why)
        elif spec_of(languages[path]).has_main and not _is_build_script(languages, path):
            for name in ("main", "Main"):
                if name in defined.get(path, ()):
                    yield Entry(path.decode("utf-8", "replace"), path, name, "program")


def _is_build_script(languages: Mapping[bytes, str], path: bytes) -> bool:
    """Whether Cargo runs the file's `main` before each build ("Build Scripts", Cargo book)."""
    is_named_so = name_of(path) == b"build.rs"
    return is_named_so and below(folder_of(path), b"Cargo.toml") in languages
