"""Resolves imports of Java, Kotlin and Scala: packages are folders below a source root.

A class may be in several source sets of one project (`commonMain`, `jvmMain`; `scala-2`,
`scala-3`); then all that the importing file sees count. If several projects have it, the nearest
one counts, or none.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.resolve.languages.classes.kotlin_source_sets import sees
from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.path_tree import below, encoded, folder_of, name_of, nearest
from codelens.types import Import

_ROOTS = frozenset({b"", b"src", b"java", b"kotlin", b"scala", b"main", b"test"})
"""Roots for packages with a one-part name, because many folders may have that name."""
_FORMS = (b".java", b".kt", b".scala")


class JvmPackages(ModuleResolver):
    """Resolves imports of JVM languages."""

    named = True

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file named like the class, or the files of a package for a wildcard import."""
        del language
        module = import_.module.replace("`", "").removeprefix("_root_.")
        parts = [encoded(part) for part in module.split(".") if part]
        if import_.name and import_.name != "*":
            parts.append(encoded(import_.name.replace("`", "")))
        if not parts:
            return ()
        files = self._class(path, parts)
        if not files and import_.name == "*":
            return self._package(path, b"/".join(parts))
        return files

    def _class(self, path: bytes, parts: list[bytes]) -> tuple[bytes, ...]:
        """Resolve `a.b.C`, or `a.b.C.d` for a member of `C`."""
        for size in range(len(parts), max(len(parts) - 3, 1), -1):
            if size < len(parts) and not parts[size - 1][:1].isupper():
                break
            inner = b"/".join(parts[:size])
            ending = (file for form in _FORMS for file in self._tree.ending(inner + form))
            files = [file for file in ending if sees(path, file)]
            if files:
                return _chosen(path, files, inner)
        return ()

    def _package(self, path: bytes, inner: bytes) -> tuple[bytes, ...]:
        folders = [
            folder
            for folder in self._tree.folders_ending(inner)
            if (b"/" in inner or name_of(folder_of(folder)) in _ROOTS)
            and sees(path, below(folder, b"x"))
            and any(file.endswith(_FORMS) for file in self._tree.files(folder))
        ]
        main = [folder for folder in folders if not _is_test(folder)] or folders
        chosen = _chosen(path, [below(folder, b"x") for folder in main], below(inner, b"x"))
        files = (file for folder in chosen for file in self._tree.files(folder_of(folder)))
        return tuple(sorted(file for file in files if file.endswith(_FORMS)))


def _chosen(path: bytes, candidates: Iterable[bytes], inner: bytes) -> tuple[bytes, ...]:
    files = sorted(candidates)
    if len({_project(file, inner) for file in files}) == 1:
        main = [file for file in files if not _is_test(file)]
        return tuple(main or files)
    return nearest(path, files)


def _project(file: bytes, inner: bytes) -> bytes:
    """Return the folder of the source sets: the path before `src` or before the root itself."""
    root = b"/" + file[: max(file.rfind(inner), 0)]
    at = root.rfind(b"/src/")
    return root[: at + 1] if at >= 0 else root


def _is_test(path: bytes) -> bool:
    at = (b"/" + path).rfind(b"/src/")
    head = path[at + 4 :].partition(b"/")[0].lower() if at >= 0 else path.lower()
    return b"test" in head


# The language descriptions of Java and Scala; for Scala, only imports are resolved.

SPECS = {
    "java": LanguageSpec(
        modules="classes.java:JvmPackages",
        resolver="classes.kotlin:resolver",
        named_in_texts=True,
        follows_names=True,
        instance=frozenset({"this", "$this"}),
        hiding_words=frozenset({"private", "static"}),
        private_word="private",
        overloads_apart=True,
        keeps_names=True,
        indexes_view=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        constructor_is_named_as_type=True,
        has_main=True,
        overloads=True,
        folder_is_one_scope=True,
    ),
    "scala": LanguageSpec(
        modules="classes.java:JvmPackages",
        instance=frozenset({"this", "$this"}),
        overloads_apart=True,
        imports_folders=True,
        folder_is_package=True,
        has_main=True,
        overloads=True,
    ),
}
