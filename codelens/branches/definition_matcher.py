"""Matches the definitions of two sides for diffs, conflicts and history.

The steps run in this order, each on the rest of the previous ones, so the result depends only on
the two sides and the cost grows with the changes:

1. files: with the same path; with equal bytes; at least half alike, by the bytes of their lines;
2. in a pair of files, definitions with one qualified name; if several have one name, first those
   with equal texts, then those with equal signatures, then the most similar ones, then by order;
3. equal text under the same name anywhere; equal text except for its own name;
4. members of renamed or moved owners matched so far, by name;
5. the same name, unique on both sides, if they are half alike; then any name, if they are two
   thirds alike.

Small texts (`return self.x`) resemble many others: steps 3 and 5 require more of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from codelens.branches.code_tokens import is_same_code
from codelens.branches.file_definitions import Definition, FileDefinitions, alike, renamed, squeezed
from codelens.scope.text_diff import RENAME_SIMILARITY, line_weights, similarity

_SAME_NAME_ALIKE = 0.5
_OTHER_NAME_ALIKE = 0.66
_IN_SCOPE_ALIKE = 0.55
_LEAST_WORDS = 8
"""Definitions with fewer words may be alike by chance."""
_LEAST_WORDS_EXACT = 4
_COMMON = 12
"""A word that occurs in more definitions does not help to find candidates."""
_CANDIDATES = 12
_MOST_COMPARED = 20
"""Maximum number of definitions with one name and scope to compare with each other."""


NOTHING_STAGED: Mapping[bytes, bytes] = {}
Scope = tuple[bytes, str]
"""A file and the qualified name of an owner in it; empty at top level."""


class Matches:
    """The matches between two sides."""

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
        self._untouched = {pair.old.path: pair.old for pair in self.pairs if pair.old.left_out}
        self._types: dict[Scope, Scope] = {}
        self._owners: dict[Scope, Scope] = {}
        self._renamed_owners: dict[str, str] = {}
        self._match()

    def forget(self) -> None:
        """Free the definitions of both sides; do not use the object afterwards."""
        for file in (*self._old, *self._new):
            file.forget()

    @property
    def removed_files(self) -> list[FileDefinitions]:
        """Files only on the old side."""
        return [file for file in self._old if file.path not in self._path]

    @property
    def added_files(self) -> list[FileDefinitions]:
        """Files only on the new side."""
        paired = set(self._path.values())
        return [file for file in self._new if file.path not in paired]

    def scopes_of(self, old: Definition) -> tuple[Scope, ...]:
        """Return where an old definition would be on the new side if it did not move.

        The result has files and owners. A definition inside another moves with it. One that only
        names its owner (a Go method, a C++ member defined outside of its class) may stay in its
        file or move with the owner.
        """
        parent = old.file.by_symbol.get(old.symbol.parent)
        if parent is not None and f"{old.owner}.".startswith(f"{parent.symbol.qualified}."):
            return self._inside_of(parent, old)
        path, owner = old.file.path, old.owner
        here = self._path.get(path, path)
        owner_scope = self._owner_at(path, owner)
        if owner_scope is None:
            return ((here, self._renamed_owners.get(owner, owner)),)
        return tuple(dict.fromkeys(((here, owner_scope[1]), owner_scope)))

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
        """Return the new place of an owner of which the definition gives only the name."""
        inner, outer = "", owner
        while outer:
            scope = self._types.get((path, outer)) or self._owners.get((path, outer))
            if scope is not None:
                return scope[0], f"{scope[1]}{inner}"
            if path in self._untouched and outer in self._untouched[path].names_left_out:
                return path, outer + inner
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
        """Add a pair; inner definitions are then matched under the new owner."""
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
        """Whether a definition is the package declaration of a file that was added or removed."""
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
        """Match definitions with one name in one scope."""
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
        """Return the nearest definition with the same text; None if that may be a coincidence."""
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
        """Match the members of a renamed or moved owner by name."""
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
                    name = owner.rpartition(".")[2]  # a constructor named like its class
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
        """Return the definitions that share most of its rarer words."""
        votes: Counter[int] = Counter()
        for word, count in definition.words.items():
            places = holding.get(word, ())
            if len(places) <= _COMMON:
                for place in places:
                    votes[place] += min(count, new[place].words[word])
        best = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
        return [place for place, _ in best[:_CANDIDATES]]


# Matches the files of two sides: by path, by equal bytes, by similarity.

_COMMON_LINE = 20
"""A line that occurs in more files does not help to find candidates."""


class FilePair(NamedTuple):
    """A file on both sides."""

    old: FileDefinitions
    new: FileDefinitions


def paired_files(
    old: Sequence[FileDefinitions], new: Sequence[FileDefinitions], staged: Mapping[bytes, bytes]
) -> list[FilePair]:
    """Pair files with the same path, then with equal bytes, then at least half alike.

    A new file is first compared by its text in git's index (`staged`, by path): git follows a
    rename in two steps, from the commit to the index and from there to the disk.
    """
    by_path = {file.path: file for file in new}
    pairs = [FilePair(file, by_path[file.path]) for file in old if file.path in by_path]
    here = {pair.old.path for pair in pairs}
    gone = [file for file in old if file.path not in here]
    come = [file for file in new if file.path not in here]
    if gone and come:
        for pairing in (_same_bytes, partial(_alike_files, staged=staged), _alike_files):
            pairs += pairing(gone, come)
            taken = {file.path for pair in pairs for file in pair}
            gone = [file for file in gone if file.path not in taken]
            come = [file for file in come if file.path not in taken]
    return sorted(pairs, key=lambda pair: pair.new.path)


def _same_bytes(gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions]) -> list[FilePair]:
    waiting: dict[bytes, list[FileDefinitions]] = defaultdict(list)
    for file in come:
        if file.text.key and file.data.strip():
            waiting[file.text.key].append(file)
    file_pairs: list[FilePair] = []
    for file in gone:
        same = waiting.get(file.text.key, [])
        if same:
            named = [other for other in same if _base(other.path) == _base(file.path)]
            chosen = (named or same)[0]
            same.remove(chosen)
            file_pairs.append(FilePair(file, chosen))
    return file_pairs


def _alike_files(
    gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions],
    staged: Mapping[bytes, bytes] | None = None,
) -> list[FilePair]:  # fmt: skip
    if staged is not None:
        come = [file for file in come if file.path in staged]
    file_pairs: list[FilePair] = []
    done_old: set[bytes] = set()
    done_new: set[bytes] = set()
    for *_, at, place in sorted(_scored_files(gone, come, staged or {})):
        file, other = gone[at], come[place]
        if file.path not in done_old and other.path not in done_new:
            done_old.add(file.path)
            done_new.add(other.path)
            file_pairs.append(FilePair(file, other))
    return file_pairs


def _scored_files(
    gone: Sequence[FileDefinitions], come: Sequence[FileDefinitions], staged: Mapping[bytes, bytes]
) -> Iterator[tuple[float, bool, int, int]]:
    """Yield pairs that are similar enough, in sort order with the best first."""
    weights = [
        _weights(staged[file.path].splitlines() if file.path in staged else file.lines)
        for file in come
    ]
    holding: dict[bytes, list[int]] = defaultdict(list)
    for number, lines in enumerate(weights):
        for line in lines:
            holding[line].append(number)
    for at, file in enumerate(gone):
        line_weights = _weights(file.lines)
        votes: Counter[int] = Counter()
        for line, weight in line_weights.items():
            places = holding.get(line, ())
            if len(places) <= _COMMON_LINE:
                votes.update(dict.fromkeys(places, weight))
        for place, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:_CANDIDATES]:
            score = similarity(line_weights, weights[place])
            if score >= RENAME_SIMILARITY:
                yield -score, _base(file.path) != _base(come[place].path), at, place


def _weights(lines: Iterable[bytes]) -> Counter[bytes]:
    """Count bytes by line, without blanks."""
    bare = map(squeezed, lines)
    return line_weights(line for line in bare if line)


def _base(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


# Classifies changes of a definition: place, name, signature, body, documentation.

ADDED, REMOVED, MOVED, RENAMED = "added", "removed", "moved", "renamed"
SIGNATURE, BODY, DOCUMENTATION, FORMATTING = "signature", "body", "documentation", "formatting"


def change_of(old: Definition, new: Definition, matches: Matches) -> tuple[tuple[str, ...], float]:
    """Classify the changes of a definition; empty if there are none."""
    how: list[str] = []
    if (new.file.path, new.owner) not in matches.scopes_of(old):
        how.append(MOVED)
    by_owner = old.owner.rpartition(".")[2] == old.name and new.owner.rpartition(".")[2] == new.name
    if old.name != new.name and not by_owner:
        how.append(RENAMED)
    before, after = _where_renamed(old.own, _as_now(old.own, old, new), new.own), new.own
    if before != after:
        how += text_changes(before, after, old, new)
    share = 0.0
    if {MOVED, RENAMED} & set(how) and len(how) > 1:
        share = round(1.0 - alike(old.words, new.words), 2)
    return tuple(how), share


def text_changes(before: bytes, after: bytes, old: Definition, new: Definition) -> list[str]:
    """Classify the changes between two different texts of a definition."""
    language = new.file.language
    if is_same_code(before, after, language, with_comments=True):
        return [FORMATTING]
    if is_same_code(before, after, language, with_comments=False):
        return [DOCUMENTATION]
    if old.group == "value":
        return [BODY]
    declared = _as_now(old.symbol.signature.encode("utf-8", "replace"), old, new)
    now_declared = new.symbol.signature.encode("utf-8", "replace")
    if is_same_code(declared, now_declared, language, with_comments=False):
        return [BODY]
    code_before, code_after = new.written(before), new.written(after)
    sign_before, sign_after = squeezed(declared), new.signature
    rest = [
        code.replace(sign, b"", 1) if sign in code else None
        for code, sign in ((code_before, sign_before), (code_after, sign_after))
    ]
    if None not in rest and rest[0] == rest[1]:
        return [SIGNATURE]
    return [SIGNATURE, BODY]


def _as_now(text: bytes, old: Definition, new: Definition) -> bytes:
    """Return an old text with the new names of the definition and its owners."""
    if old.name != new.name:
        text = renamed(text, old.name, new.name)
    before, after = old.owner.split("."), new.owner.split(".")
    if len(before) == len(after):
        for name, new_name in zip(before, after, strict=True):
            if name != new_name:
                text = renamed(text, name, new_name)
    return text


def _where_renamed(old: bytes, as_now: bytes, new: bytes) -> bytes:
    """Return the old text with new names, except in lines (of comments) that keep the old ones."""
    if old == as_now:
        return old
    lines = [text.split(b"\n") for text in (old, as_now, new)]
    if len({len(line) for line in lines}) > 1:
        return as_now
    return b"\n".join(
        before if before == after else now for before, now, after in zip(*lines, strict=True)
    )
