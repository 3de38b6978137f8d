"""Ruby: `require` and `require_relative`, which facts do not tell apart.

Beside the file and below a load path are both looked at; if they are two files, it is neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelens.resolve.facts.path_tree import ancestors, below, encoded, folder_of, joined
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

_STANDARD = frozenset(
    "abbrev base64 benchmark bigdecimal bundler cgi coverage csv date delegate digest drb "
    "English erb etc fcntl fiddle fileutils find forwardable io irb ipaddr json logger matrix "
    "minitest monitor mutex_m net objspace observer open-uri open3 openssl optparse ostruct "
    "pathname pp prettyprint prime pstore psych pty racc rake rbconfig rdoc readline reline "
    "resolv ripper rubygems securerandom set shellwords singleton socket stringio strscan "
    "syslog tempfile thread time timeout tmpdir tracer tsort un uri weakref yaml zlib".split()
)
_GEMS = frozenset(
    "action_controller active_job active_model active_record active_support nokogiri puma rack "
    "rails redis rspec sinatra".split()
)
"""Required everywhere, and often the name of an adapter's file as well."""


class Requires(ModuleResolver):
    """Requires, loads and autoloads."""

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The file required."""
        del language
        module = import_.module
        if not module or "#{" in module or module.startswith("/"):
            return ()
        folder = folder_of(path)
        written = encoded(module if module.endswith(".rb") else module + ".rb")
        relative = joined(folder, written)
        beside = (relative,) if relative is not None and relative in self._tree else ()
        if module.startswith("."):
            return beside
        if module.partition("/")[0] in _STANDARD and not ("/" in module and not beside):
            return ()
        loaded = self._tree.first(self._places(folder, written))
        if module in _GEMS:
            return self._tree.first(self._libraries(folder, written))
        if beside and loaded and beside != loaded:
            return ()
        return beside or loaded or self._elsewhere(written)

    def _libraries(self, folder: bytes, written: bytes) -> Iterator[bytes]:
        for place in ancestors(folder):
            at = joined(below(place, b"lib"), written)
            if at is not None:
                yield at

    def _places(self, folder: bytes, written: bytes) -> Iterator[bytes]:
        """The load path: `lib` of the folders above, then these themselves (`-Itest`)."""
        yield from self._libraries(folder, written)
        for place in ancestors(folder_of(folder) if folder else b""):
            at = joined(place, written)
            if at is not None:
                yield at

    def _elsewhere(self, written: bytes) -> tuple[bytes, ...]:
        files = self._tree.ending(b"lib/" + written)
        return (files[0],) if len(files) == 1 else ()
