"""Names in Lua: locals by scope, modules by what they return, globals of the whole view."""

from __future__ import annotations

from typing import Protocol

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.name_lookup import MODULE, Hit, Names
from codelens.resolve.inference.values import Module, Value
from codelens.types import Import

_STANDARD = frozenset(
    "assert collectgarbage dofile error getmetatable ipairs load loadfile loadstring next pairs "
    "pcall print rawequal rawget rawlen rawset require select setfenv getfenv setmetatable "
    "tonumber tostring type unpack xpcall module warn coroutine debug io math os package string "
    "table utf8 bit32 bit jit arg _G _ENV _VERSION".split()
)


class Belonging(Protocol):
    """What looking names up asks of members."""

    def members(self, value: Value, name: str) -> list[tuple[Hit, Value]]:
        """Members of that name, each with what it was found in."""
        ...


class LuaNames(Names):
    """Looks names up; what a file returns is its default export."""

    belonging: Belonging

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """A module, or a field of it: `local run = require("app").run`."""
        files = self.view.modules(path, one.module)
        if not one.name:
            return [Hit(file, MODULE) for file in files]
        return [hit for file in files for hit, _ in self.belonging.members(Module(file), one.name)]

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Hit]:
        """What a file returns, as `default`; nothing else has a name outside of it."""
        return super().exported(path, name, depth, seen) if name == "default" else []

    def _starred(
        self, path: bytes, model: FileModel, name: str, depth: int, seen: set[bytes], types: bool
    ) -> list[Hit]:
        """The global of that name, if of what the file requires one file alone defines it."""
        if name in _STANDARD:
            return []
        found = self.view.index("lua globals", self._globals).get(name, [])
        if found:
            reach = self.view.once(("reach", path), lambda: self._reach(path))
            found = [hit for hit in found if hit.path in reach]
        return found[:1] if len({hit.path for hit in found}) == 1 else []

    def _reach(self, path: bytes) -> frozenset[bytes]:
        """A file, and all that it requires, directly or not."""
        seen, pending = {path}, [path]
        for here in pending:
            model = self.view.model(here)
            for one in model.imports if model is not None else ():
                new = [file for file in self.view.modules(here, one.module) if file not in seen]
                seen.update(new)
                pending += new
        return frozenset(seen)

    def _globals(self) -> dict[str, list[Hit]]:
        found: dict[str, list[Hit]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language == "lua" else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if model is None or symbol.parent >= 0 or at in model.unbound:
                    continue
                plain = symbol.qualified == symbol.name
                if plain and symbol.exported and not symbol.signature.startswith("local "):
                    found.setdefault(symbol.name, []).append(Hit(path, at, 0, symbol.name))
        return found
