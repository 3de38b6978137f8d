"""What `self` has in a module of Ruby: what those have that take the module in."""

from __future__ import annotations

from collections.abc import Iterator

from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.ruby.ruby_members import RubyMembers

_MOST_TAKERS = 100
"""Types and modules below one: of more, what they have does not tell what is meant."""

_Takers = dict[tuple[bytes, int], list[Instance]]


class RubyTakers:
    """Looks for methods where a module is mixed in, or a type derived from."""

    def __init__(self, members: RubyMembers) -> None:
        self._members = members
        self.view, self.once = members.view, members.once

    def methods(self, own: Instance, name: str) -> list[Referent]:
        """Methods of instances of the takers.

        `Helpers#port` calls `host` of `Env`, if what includes the one includes the other. Where a
        class is extended with the module, `self` is the class.
        """
        return self.once(("below", own[:2], name), lambda: self._methods(own, name), [])

    def _methods(self, own: Instance, name: str) -> list[Referent]:
        found_methods = [
            referent
            for type_ in self._below(own)
            for referent in self._members.methods(type_, name)
        ]
        extended = self.view.index("ruby extended", self._extended).get(own[:2], [])
        for type_ in extended if len(extended) <= _MOST_TAKERS else ():
            found_methods += self._members.own_methods(type_, name)
        return list(dict.fromkeys(found_methods))

    def own_methods(self, own: Instance, name: str) -> list[Referent]:
        """Methods of the takers themselves: `self.class.f` in a module."""
        return self.once(("below itself", own[:2], name), lambda: self._own_methods(own, name), [])

    def _own_methods(self, own: Instance, name: str) -> list[Referent]:
        if not self._members.is_module(own):
            return []
        methods = (
            referent
            for type_ in self._below(own)
            for referent in self._members.own_methods(type_, name)
        )
        return list(dict.fromkeys(methods))

    def above(self, own: Instance, name: str) -> list[Referent]:
        """What `super` in a method of a module calls: behind it in the types that take it in."""
        return self.once(("above takers", own[:2], name), lambda: self._above(own, name), [])

    def _above(self, own: Instance, name: str) -> list[Referent]:
        methods: dict[Referent, None] = {}
        for type_ in self._below(own):
            ancestry = self._members.ancestry(type_)
            behind = ancestry[ancestry.index(own) + 1 :] if own in ancestry else []
            for above in behind:
                referents = self._members.in_parts(above, name, singleton=False)
                if referents:
                    methods |= dict.fromkeys(referents)
                    break
        return list(methods)

    def _below(self, own: Instance) -> list[Instance]:
        """All that include a module or derive from a type, by others as well; none of too many."""
        takers = self.view.index("ruby takers", self._takers)
        line = [own]
        for type_ in line:
            line += [taker for taker in takers.get(type_[:2], ()) if taker not in line]
            if len(line) > _MOST_TAKERS:
                return []
        return line[1:]

    def _types(self) -> Iterator[Instance]:
        index = self.view.index("ruby constants", self._members.constants)
        return (Instance(*referents[0][:2]) for referents in index.values())

    def _takers(self) -> _Takers:
        """Modules and types -> the types and modules that include or derive from them."""
        takers: _Takers = {}
        for taker in self._types():
            for base in self._members.bases(taker):
                takers.setdefault(base[:2], []).append(taker)
        return takers

    def _extended(self) -> _Takers:
        """Modules -> the types and modules that are extended with them."""
        extended: _Takers = {}
        for taker in self._types():
            for module in self._members.extensions(taker):
                extended.setdefault(module[:2], []).append(taker)
        return extended
