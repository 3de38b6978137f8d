"""Which definition of one side is which of the other: one matcher for diff, conflicts and history.

In this order, each step over what the ones before left, so that the result depends on the two sides
alone and the cost grows with what changed:

1. files: of one path; of equal bytes; at least half alike, by the bytes of their lines;
2. in a pair of files, definitions of one qualified name; of several with one name those with equal
   text, then with equal signatures, then the most alike, then by order;
3. equal text under the same name anywhere; equal text but for the own name;
4. members of what was matched so far under another owner, by name;
5. the same name, alone on both sides, and half alike; then two thirds alike under any name.

What is small (`return self.x`) is like much else: steps 3 and 5 ask more of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from codelens.branches.file_definitions import Definition, FileDefinitions, alike
from codelens.branches.file_pairs import FilePair, paired_files

_SAME_NAME_ALIKE = 0.5
_OTHER_NAME_ALIKE = 0.66
_IN_SCOPE_ALIKE = 0.55
_LEAST_WORDS = 8
"""Definitions with fewer are alike by chance."""
_LEAST_WORDS_EXACT = 4
_COMMON = 12
"""A word that more definitions have tells none of them."""
_CANDIDATES = 12
_MOST_COMPARED = 20
"""Definitions of one name in one scope that are compared with each other."""


NOTHING_STAGED: Mapping[bytes, bytes] = {}
Scope = tuple[bytes, str]
"""A file and the qualified name of an owner in it, empty at top level."""


class Matches:
    """What became of what."""

    def __init__(
        self, old: Sequence[FileDefinitions], new: Sequence[FileDefinitions],
        staged: Mapping[bytes, bytes] = NOTHING_STAGED,
    ) -> None:  # fmt: skip
        self.pairs: list[FilePair] = paired_files(old, new, staged)
        self.new_of: dict[Definition, Definition] = {}
        self.old_of: dict[Definition, Definition] = {}
        self._old, self._new = old, new
        self._path = {pair.old.path: pair.new.path for pair in self.pairs}
        self._paired = frozenset(file for pair in self.pairs for file in (pair.old, pair.new))
        self._types: dict[Scope, Scope] = {}
        self._owners: dict[Scope, Scope] = {}
        self._renamed_owners: dict[str, str] = {}
        self._match()

    @property
    def removed_files(self) -> list[FileDefinitions]:
        """Files of the old side alone."""
        return [file for file in self._old if file.path not in self._path]

    @property
    def added_files(self) -> list[FileDefinitions]:
        """Files of the new side alone."""
        paired = set(self._path.values())
        return [file for file in self._new if file.path not in paired]

    def scopes_of(self, old: Definition) -> tuple[Scope, ...]:
        """Files and owners on the new side that an old definition would have if it did not move.

        What stands inside another definition goes with that. What only names its owner (a method
        of Go, one defined outside of its class in C++) may stay in its file or go with the owner.
        """
        parent = old.file.by_symbol.get(old.symbol.parent)
        if parent is not None and f"{old.owner}.".startswith(f"{parent.symbol.qualified}."):
            return self._inside_of(parent, old)
        path, owner = old.file.path, old.owner
        here = self._path.get(path, path)
        known = self._owner_at(path, owner)
        if known is None:
            return ((here, self._renamed_owners.get(owner, owner)),)
        return tuple(dict.fromkeys(((here, known[1]), known)))

    def _inside_of(self, parent: Definition, old: Definition) -> tuple[Scope, ...]:
        new = self.new_of.get(parent)
        rest = old.owner.removeprefix(parent.symbol.qualified)
        if new is not None:
            return ((new.file.path, new.symbol.qualified + rest),)
        return tuple(
            (path, (f"{owner}.{parent.name}" if owner else parent.name) + rest)
            for path, owner in self.scopes_of(parent)
        )

    def _owner_at(self, path: bytes, owner: str) -> Scope | None:
        """Where an owner that is known by its name alone stands now."""
        inner, outer = "", owner
        while outer:
            known = self._types.get((path, outer)) or self._owners.get((path, outer))
            if known is not None:
                return known[0], f"{known[1]}{inner}"
            outer, _, last = outer.rpartition(".")
            inner = f".{last}{inner}"
        return None

    def _match(self) -> None:
        for pair in self.pairs:
            self._by_name(pair.old.definitions, pair.new.definitions)
        for group in (("type", "module"), ("callable", "value")):
            self._by_text(group, lambda definition: definition.whole, named=True)
            self._by_text(group, lambda definition: definition.shape, named=False)
            self._members()
            self._same_name(group)
            self._members()
            self._alike(group)
            self._members()

    def take(self, old: Definition, new: Definition) -> None:
        """Note a pair; what is defined inside will be looked for under the new owner."""
        self.new_of[old] = new
        self.old_of[new] = old
        before, after = old.symbol.qualified, new.symbol.qualified
        if old.group in {"type", "module"} or new.group in {"type", "module"}:
            self._types.setdefault((old.file.path, before), (new.file.path, after))
            if before != after:
                self._renamed_owners.setdefault(before, after)
        else:
            self._owners.setdefault((old.file.path, before), (new.file.path, after))

    def _left(self, files: Iterable[FileDefinitions], group: Sequence[str]) -> list[Definition]:
        return [
            definition
            for file in files
            for definition in file.definitions
            if definition not in self.new_of
            and definition not in self.old_of
            and definition.group in group
            and not self._goes_with_file(definition)
        ]

    def _goes_with_file(self, definition: Definition) -> bool:
        """Whether it only says the package of a file that came or went: that moves nowhere."""
        symbol = definition.symbol
        is_line = definition.group == "module" and symbol.start_line == symbol.end_line
        return is_line and definition.file not in self._paired

    def _by_name(self, old: Sequence[Definition], new: Sequence[Definition]) -> None:
        named: dict[str, list[Definition]] = defaultdict(list)
        for definition in new:
            named[definition.symbol.qualified].append(definition)
        groups: dict[str, list[Definition]] = defaultdict(list)
        for definition in old:
            if definition.symbol.qualified in named:
                groups[definition.symbol.qualified].append(definition)
        for name, definitions in groups.items():
            self._several(definitions, named[name])

    def _several(self, old: Sequence[Definition], new: Sequence[Definition]) -> None:
        """Definitions of one name in one scope."""
        old = [definition for definition in old if definition not in self.new_of]
        new = [definition for definition in new if definition not in self.old_of]
        if len(old) == len(new) == 1:
            self.take(old[0], new[0])
            return
        keys: tuple[Callable[[Definition], object], ...] = (
            lambda definition: definition.own,
            lambda definition: definition.whole,
            lambda definition: definition.signature,
        )
        for key in keys:
            waiting: dict[object, list[Definition]] = defaultdict(list)
            for definition in new:
                if definition not in self.old_of:
                    waiting[key(definition)].append(definition)
            for definition in old:
                definitions = waiting.get(key(definition))
                if definitions and definition not in self.new_of:
                    self.take(definition, definitions.pop(0))
        rest = [definition for definition in old if definition not in self.new_of]
        scores = sorted(
            (
                (-alike(definition.words, other.words), definition.at, other.at, definition, other)
                for definition in rest[:_MOST_COMPARED]
                for other in [definition for definition in new if definition not in self.old_of][
                    :_MOST_COMPARED
                ]
            ),
            key=lambda match: match[:3],
        )
        for *_, definition, other in scores:
            if (
                definition not in self.new_of
                and other not in self.old_of
                and definition.group == other.group
            ):
                self.take(definition, other)

    def _by_text(
        self, group: Sequence[str], key: Callable[[Definition], bytes], *, named: bool
    ) -> None:
        waiting: dict[tuple[str, bytes], list[Definition]] = defaultdict(list)
        for definition in self._left(self._new, group):
            waiting[definition.name if named else definition.group, key(definition)].append(
                definition
            )
        if not waiting:
            return
        askers: dict[tuple[str, bytes], list[Definition]] = defaultdict(list)
        for definition in self._left(self._old, group):
            match_key = (definition.name if named else definition.group, key(definition))
            if match_key in waiting:
                askers[match_key].append(definition)
        for match_key, olds in askers.items():
            news = waiting[match_key]
            for old in olds:
                if old in self.new_of:
                    continue
                new = self._nearest(old, news, olds, named=named)
                if new is not None:
                    self.take(old, new)

    def _nearest(
        self,
        old: Definition,
        news: Sequence[Definition],
        olds: Sequence[Definition],
        *,
        named: bool,
    ) -> Definition | None:
        """Of definitions with the same text the one that stands nearest; None for chance alone."""
        free = [new for new in news if new not in self.old_of]
        if not free:
            return None
        scopes = self.scopes_of(old)
        path = scopes[0][0]
        near = [
            definition for definition in free if (definition.file.path, definition.owner) in scopes
        ]
        asking = [definition for definition in olds if definition not in self.new_of]
        if near:
            rivals = [definition for definition in asking if self.scopes_of(definition) == scopes]
            if named or old.size >= _LEAST_WORDS_EXACT or len(near) == len(rivals) == 1:
                return near[rivals.index(old)] if rivals.index(old) < len(near) else None
            return None
        least = 1 if named and len(free) == len(asking) == 1 else _LEAST_WORDS_EXACT
        if old.size < (least if named else _LEAST_WORDS):
            return None
        place = asking.index(old)
        same_file = [definition for definition in free if definition.file.path == path]
        chosen = same_file or free
        if len(asking) != len(chosen) and old.size < _LEAST_WORDS:
            return None
        return chosen[min(place, len(chosen) - 1)]

    def _members(self) -> None:
        """Definitions under an owner that has another name or place now, by their name."""
        every = ("callable", "value", "type", "module")
        waiting: dict[tuple[bytes, str, str], list[Definition]] = defaultdict(list)
        for definition in self._left(self._new, every):
            waiting[definition.file.path, definition.owner, definition.name].append(definition)
        if not waiting:
            return
        groups: dict[tuple[bytes, str, str], list[Definition]] = defaultdict(list)
        for definition in self._left(self._old, every):
            for path, owner in self.scopes_of(definition):
                name = definition.name
                if definition.owner and name == definition.owner.rpartition(".")[2]:
                    name = owner.rpartition(".")[2]  # a constructor that is called as its class
                if (path, owner, name) in waiting:
                    groups[path, owner, name].append(definition)
                    break
        for key, olds in groups.items():
            self._several(olds, waiting[key])

    def _same_name(self, group: Sequence[str]) -> None:
        old: dict[str, list[Definition]] = defaultdict(list)
        new: dict[str, list[Definition]] = defaultdict(list)
        for definition in self._left(self._old, group):
            old[definition.name].append(definition)
        for definition in self._left(self._new, group):
            new[definition.name].append(definition)
        for name, olds in old.items():
            news = new.get(name, [])
            if len(olds) == len(news) == 1 and olds[0].group == news[0].group:
                definition, other = olds[0], news[0]
                large = min(definition.size, other.size) >= _LEAST_WORDS
                if large and alike(definition.words, other.words) >= _SAME_NAME_ALIKE:
                    self.take(definition, other)

    def _alike(self, group: Sequence[str]) -> None:
        new = [
            definition
            for definition in self._left(self._new, group)
            if definition.size >= _LEAST_WORDS
        ]
        old = [
            definition
            for definition in self._left(self._old, group)
            if definition.size >= _LEAST_WORDS
        ]
        if not new or not old:
            return
        holding: dict[bytes, list[int]] = defaultdict(list)
        for number, definition in enumerate(new):
            for word in definition.words:
                holding[word].append(number)
        scored: list[tuple[float, int, int]] = []
        for at, definition in enumerate(old):
            scopes = self.scopes_of(definition)
            for number in self._candidates(definition, new, holding):
                other = new[number]
                if definition.group != other.group:
                    continue
                score = alike(definition.words, other.words)
                near = (other.file.path, other.owner) in scopes
                least = _IN_SCOPE_ALIKE if near else _OTHER_NAME_ALIKE
                if score >= least:
                    same = definition.name == other.name
                    scored.append((-score - 0.1 * near - 0.1 * same, at, number))
        for _, at, number in sorted(scored):
            if old[at] not in self.new_of and new[number] not in self.old_of:
                self.take(old[at], new[number])

    def _candidates(
        self, definition: Definition, new: Sequence[Definition], holding: dict[bytes, list[int]]
    ) -> list[int]:
        """Those with which it has most of its rarer words in common."""
        votes: Counter[int] = Counter()
        for word, count in definition.words.items():
            places = holding.get(word, ())
            if len(places) <= _COMMON:
                for place in places:
                    votes[place] += min(count, new[place].words[word])
        best = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
        return [place for place, _ in best[:_CANDIDATES]]
