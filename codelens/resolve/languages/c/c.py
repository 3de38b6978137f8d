"""Resolves the includes of C, C++ and Objective-C to files.

A fact does not say whether an include uses quotes or angle brackets, so names of the standard
libraries never count. The order follows a compiler with the usual search path: the including file's
folder, then the folders above it with their `include` and `src`, then the only file of the view
whose path ends with the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.path_tree import ancestors, below, encoded, folder_of, joined, name_of
from codelens.types import Import

_STANDARD = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings "
    "tgmath threads time uchar wchar wctype unistd fcntl pthread dirent dlfcn getopt grp netdb "
    "poll pwd regex sched semaphore syslog termios utime alloca malloc memory".split()
)
_ROOTS = (b"", b"include", b"src")


class Includes(ModuleResolver):
    """Resolves includes."""

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the included file."""
        del language
        module = import_.module.replace("\\", "/").strip()
        if not module or module.startswith("/"):
            return ()
        if "/" not in module and (
            "." not in module or (module[-2:] == ".h" and module[:-2] in _STANDARD)
        ):
            return ()
        folder, written = folder_of(path), encoded(module)
        files_here = self._tree.first(self._places(folder, written))
        if files_here:
            return files_here
        plain = joined(b"", written.lstrip(b"./"))
        files = self._tree.ending(plain) if plain else []
        if len(files) == 1:
            return (files[0],)
        return () if files else self._in_framework(written)

    def _places(self, folder: bytes, written: bytes) -> Iterator[bytes]:
        for place in ancestors(folder):
            for root in _ROOTS:
                at = joined(below(place, root), written)
                if at is not None:
                    yield at
            if written.startswith(b"."):
                return

    def _in_framework(self, written: bytes) -> tuple[bytes, ...]:
        """Resolve `<Kit/File.h>`: the only file of that name below a folder called `Kit`."""
        kit, slash, name = written.partition(b"/")
        if not slash or b"/" in name:
            return ()
        inside = b"/%b/" % kit
        files = [f for f in self._tree.called(name_of(name)) if inside in b"/" + f]
        return (files[0],) if len(files) == 1 else ()


# The language descriptions of C and C++; for Objective-C and CUDA, only includes are resolved.

_C = LanguageSpec(
    modules="c.c:Includes",
    resolver="c.c_values:resolver",
    follows_names=True,
    enums_are_open=True,
    instance=frozenset({"this", "$this"}),
    overloads_apart=True,
    types_apart=True,
    indexes_view=True,
    keeps_names=True,
    has_main=True,
    global_names=True,
    prototypes=True,
)
_INCLUDES = LanguageSpec(
    modules="c.c:Includes",
    spaces=True,
    instance=frozenset({"this"}),
    prototypes=True,
)
SPECS = {
    "c": replace(_C, linked_names=True, shares_types_with="cpp"),
    "cpp": replace(
        _C,
        overloads=True,
        constructor_is_named_as_type=True,
        overriding_words=frozenset({"virtual", "override", "final"}),
        hiding_words=frozenset({"static"}),
    ),
    "objc": _INCLUDES,
    "cuda": _INCLUDES,
}
