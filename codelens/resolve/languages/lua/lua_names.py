"""Names in Lua: locals by scope, modules by what they return, globals of the whole view."""

from __future__ import annotations

from typing import Protocol

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.inference.name_lookup import MODULE, Names, Referent
from codelens.resolve.inference.values import Module, Value
from codelens.types import Import

_STANDARD = frozenset(
    "assert collectgarbage dofile error getmetatable ipairs load loadfile loadstring next pairs "
    "pcall print rawequal rawget rawlen rawset require select setfenv getfenv setmetatable "
    "tonumber tostring type unpack xpcall module warn coroutine debug io math os package string "
    "table utf8 bit32 bit jit arg _G _ENV _VERSION".split()
)


class LuaOwners(Protocol):
    """What looking names up asks of members."""

    def members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        """Members of that name, each with what it was found in."""
        ...


class LuaNames(Names):
    """Looks names up; what a file returns is its default export."""

    belonging: LuaOwners

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """A module, or a field of it: `local run = require("app").run`."""
        files = self.view.modules(path, import_.module)
        if not import_.name:
            return [Referent(file, MODULE) for file in files]
        return [
            referent
            for file in files
            for referent, _ in self.belonging.members(Module(file), import_.name)
        ]

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """What a file returns, as `default`; nothing else has a name outside of it."""
        return super().exported(path, name, depth, seen) if name == "default" else []

    def _starred(
        self, path: bytes, model: FileModel, name: str, depth: int, *, seen: set[bytes], types: bool
    ) -> list[Referent]:
        """The global of that name, if of what the file requires one file alone defines it."""
        if name in _STANDARD:
            return []
        referents = self.view.index("lua globals", self._globals).get(name, [])
        if referents:
            reach = self.view.once(("reach", path), lambda: self._reach(path))
            referents = [referent for referent in referents if referent.path in reach]
        return referents[:1] if len({referent.path for referent in referents}) == 1 else []

    def _reach(self, path: bytes) -> frozenset[bytes]:
        """A file, and all that it requires, directly or not."""
        seen, pending = {path}, [path]
        for here in pending:
            model = self.view.model(here)
            for import_ in model.imports if model is not None else ():
                new = [file for file in self.view.modules(here, import_.module) if file not in seen]
                seen.update(new)
                pending += new
        return frozenset(seen)

    def _globals(self) -> dict[str, list[Referent]]:
        by_name: dict[str, list[Referent]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language == "lua" else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if model is None or symbol.parent >= 0 or at in model.unbound:
                    continue
                plain = symbol.qualified == symbol.name
                if plain and symbol.exported and not symbol.signature.startswith("local "):
                    by_name.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
        return by_name
