"""Languages that import files by a path: what is written, from where it is looked up.

Protocol Buffers, Dart, Zig, R, shell, Make, CMake, reStructuredText, CSS, SCSS and HCL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from codelens.resolve.facts.path_tree import (
    Tree,
    ancestors,
    below,
    encoded,
    folder_of,
    joined,
    name_of,
)
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

PUBSPEC = b"pubspec.yaml"
_PUBSPEC_NAME = re.compile(rb"^name:[ \t]*[\"']?([\w.]+)", re.MULTILINE)
_VARIABLES = re.compile(
    r"(?:[\"']?\$(?:\{[^{}]*\}|\([^()]*(?:\([^()]*\)[^()]*)*\)|\w+)[\"']?/)+(?=[^$]*$)"
)


class Paths(ModuleResolver):
    """Imports by paths."""

    per_file = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._packages: dict[str, list[bytes]] = {}
        for path in sorted(settings):
            match = _PUBSPEC_NAME.search(settings[path]) if name_of(path) == PUBSPEC else None
            if match:
                self._packages.setdefault(match[1].decode(), []).append(folder_of(path))
        self._ways: dict[str, Callable[[bytes, str], tuple[bytes, ...]]] = {
            "protobuf": self._protobuf,
            "dart": self._dart,
            "zig": self._zig,
            "r": self._above,
            "bash": self._shell,
            "make": self._above,
            "automake": self._above,
            "cmake": self._cmake,
            "rst": self._beside,
            "css": self._beside,
            "scss": self._scss,
            "hcl": self._hcl,
        }

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The file written, or the files of the folder for HCL."""
        module = import_.module.strip()
        return self._ways[language](folder_of(path), module) if module else ()

    def _at(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        at = joined(folder, encoded(written))
        return (at,) if at is not None and at in self._tree else ()

    def _beside(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if ":" in written or written.startswith("/"):
            return ()
        return self._at(folder, written)

    def _above(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """Beside the file, else from a folder above: where the program is run from."""
        if "." not in name_of(encoded(written)).decode("utf-8", "replace"):
            return ()
        for place in ancestors(folder):
            files = self._beside(place, written)
            if files or written.startswith("."):
                return files
        return ()

    def _protobuf(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        for place in ancestors(folder):
            files_here = self._at(place, written)
            if files_here:
                return files_here
        files = self._tree.ending(encoded(written))
        return (files[0],) if len(files) == 1 else ()

    def _dart(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        scheme, colon, rest = written.partition(":")
        if not colon:
            return self._at(folder, written) if written.endswith(".dart") else ()
        package, _, inner = rest.partition("/")
        roots = self._packages.get(package, []) if scheme == "package" else []
        own = [root for root in roots if root in set(ancestors(folder))]
        chosen = own[:1] or (roots if len(roots) == 1 else [])
        return self._at(below(chosen[0], b"lib"), inner) if chosen else ()

    def _zig(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if written.endswith((".zig", ".zon")):
            return self._at(folder, written)
        if "." in written or written in {"std", "builtin", "root"}:
            return ()
        for place in ancestors(folder):
            if below(place, b"build.zig") in self._tree:
                names = (f"src/{written}.zig", f"{written}.zig")
                return next((name for files in names if (name := self._at(place, files))), ())
        return ()

    def _shell(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """`source "$DIR/x.sh"`: what is behind the variable, if it is there."""
        variable = _VARIABLES.search(written)
        plain = (written[variable.end() :] if variable else written).strip("\"'")
        if "$" in plain or plain.startswith(("/", "~")):
            return ()
        if variable is None:
            return self._above(folder, plain) or self._beside(folder, plain)
        files = {file for place in ancestors(folder) for file in self._beside(place, plain)}
        if not files and "/" in plain and ".." not in plain:
            files = {*self._tree.ending(encoded(plain))}
        return tuple(files) if len(files) == 1 else ()

    def _cmake(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if "$" in written:
            return ()
        inner = self._at(folder, f"{written}/CMakeLists.txt") or self._beside(folder, written)
        if inner or "/" in written:
            return inner
        files = self._tree.called(encoded(f"{written}.cmake"))
        return (files[0],) if len(files) == 1 else ()

    def _scss(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """With or without the ending, a partial's `_`, and the index of a folder."""
        if ":" in written or written.startswith("~"):
            return ()
        base = joined(folder, encoded(written))
        if base is None:
            return ()
        partial = below(folder_of(base), b"_" + name_of(base))
        endings = (b"", b".scss", b".sass", b".css")
        return self._tree.first(
            stem + ending
            for stem in (base, partial, below(base, b"_index"), below(base, b"index"))
            for ending in endings
        )

    def _hcl(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        at = joined(folder, encoded(written)) if written.startswith(".") else None
        files = self._tree.files(at) if at is not None else []
        return tuple(sorted(file for file in files if file.endswith((b".tf", b".tofu"))))
