"""Which contents use or import which names: what a backward question need look into.

By content, so it serves every view of a store; a view leaves out what is not its own. It grows
until most of it is of contents that went, and then begins anew. It may name too many contents (an
alias of another view), never too few.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Set
from functools import lru_cache
from weakref import WeakKeyDictionary

from codelens.extract.tokenizer import terms_of_word
from codelens.resolve.facts.path_tree import stem_of
from codelens.store.database.database import Database
from codelens.store.facts import name_uses, postings
from codelens.store.facts.name_uses import Uses

OWN = b"."
"""In place of a word: the importing file's own folder or package."""
_DEFAULT = "default"
_SEPARATORS = re.compile(r"[./\\:]+")
_MOST_ALIASES = 40
_MOST_NAMES_KEPT = 5_000
_MOST_OLD, _FEW = 4, 250
"""Beyond four times the contents of the view that is asked about, and some, most are gone."""

Row = tuple[str, ...]
"""Module, name, alias, line of an import."""


class NameIndex:
    """Names by content, for one store."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._uses: dict[str, dict[int, array[int]]] = {}
        self._aliases: dict[str, set[str]] = {}
        self._defaults: dict[bytes, set[str]] = {}
        self._by_word: dict[bytes, array[int]] = {}
        self._imports: dict[int, bytes] = {}
        """As they are stored: rows would take three times as much."""

    def is_stale(self, contents: Set[int]) -> bool:
        """Most of what it knows can be of no view any more."""
        return len(self._known) > _MOST_OLD * (len(contents) + _FEW)

    def take(self, db: Database, contents: Set[int]) -> None:
        """Read contents that were not read before."""
        new = contents - self._known
        if not new:
            return
        self._known |= new
        for content, data in name_uses.packed_imports(db, sorted(new)):
            self._imports[content] = data
            for row in name_uses.unpacked_imports(data):
                self._note(content, row)
        if self._uses:
            self._add(name_uses.packed_uses(db, sorted(new), self._uses.keys()))

    def _note(self, content: int, row: Row) -> None:
        module, name, alias, _ = row
        if alias and alias != name and name not in {"", "*", _DEFAULT}:
            self._aliases.setdefault(name, set()).add(alias)
        local = alias or (name if name != _DEFAULT else "")
        if local and local != "*" and name in {"", _DEFAULT, "*"}:
            last = module.rstrip("/").rpartition("/")[2].encode("utf-8", "replace")
            self._defaults.setdefault(stem_of(last) or last, set()).add(local)
        for word in words_of(row):
            contents = self._by_word.get(word)
            if contents is None:
                contents = self._by_word[word] = array("q")
            # The imports of a content come one after the other.
            if not contents or contents[-1] != content:
                contents.append(content)

    def _add(self, read: dict[int, dict[str, array[int]]]) -> None:
        for content, by_name in read.items():
            for name, places in by_name.items():
                self._uses[name][content] = places

    def uses(self, db: Database, names: Set[str]) -> dict[int, Uses]:
        """Contents that use or import one of the names; no places for what is only imported."""
        self.fetch(db, names)
        places_of: dict[int, Uses] = {}
        for name in sorted(names):
            for content, places in self._uses[name].items():
                known = places_of.get(content)
                if known is None:
                    known = places_of[content] = Uses()
                known.add(name, places)
            # A name may stand at the end of a longer one: `use App\\Auth`.
            for content in self._by_word.get(name.encode("utf-8", "replace"), ()):
                if content not in places_of:
                    places_of[content] = Uses()
        return places_of

    def fetch(self, db: Database, names: Set[str]) -> None:
        """Look for many names in one go."""
        missing = {name for name in names if name not in self._uses}
        if not missing:
            return
        if len(self._uses) > _MOST_NAMES_KEPT:
            self._uses.clear()
            missing = set(names)
        self._uses.update({name: {} for name in missing})
        self._add(name_uses.packed_uses(db, sorted(self._with_words(db, missing)), missing))

    def _with_words(self, db: Database, names: Set[str]) -> set[int]:
        """Contents whose text has one of the words; all where the index cannot tell."""
        # A name like `$x` or `a-b` is several words to the tokenizer, and one to the parser.
        terms: set[str] = set()
        for name in names:
            parts = terms_of_word(name) if name.isidentifier() else ()
            if not parts:
                return set(self._known)
            terms.add(parts[-1])
        holding = postings.contents_with(db, terms)
        return set[int]().union(*holding.values()) & self._known

    def also_called(self, name: str, module: bytes) -> set[str]:
        """The names under which others may know a top-level definition of a module."""
        names, pending = {name}, [name]
        while pending and len(names) < _MOST_ALIASES:
            for other in sorted(self._aliases.get(pending.pop(), ())):
                if other not in names:
                    names.add(other)
                    pending.append(other)
        return names | self._defaults.get(module, set())

    def renaming(self, name: str) -> set[int]:
        """Contents with an import by which a name is another's, or that asks for the name."""
        originals = [original for original, names in self._aliases.items() if name in names]
        words = [original.encode("utf-8", "replace") for original in (name, *originals)]
        return {
            content
            for content, rows in self.importing(words).items()
            if any(name in row[1:3] for row in rows)
        }

    def importing(self, words: Iterable[bytes] | None) -> dict[int, list[Row]]:
        """Contents with an import that has one of the words, and those imports; None: all."""
        if words is None:
            return {
                content: name_uses.unpacked_imports(data) for content, data in self._imports.items()
            }
        word_set = set(words)
        importing: dict[int, list[Row]] = {}
        for content in set[int]().union(*(self._by_word.get(word, ()) for word in word_set)):
            rows = name_uses.unpacked_imports(self._imports[content])
            importing[content] = [row for row in rows if not word_set.isdisjoint(words_of(row))]
        return importing


def words_of(row: Row) -> tuple[bytes, ...]:
    """What the file that an import names may be called, or a folder of it."""
    return _words_of(row[0], row[1])


@lru_cache(maxsize=1 << 16)
def _words_of(module: str, name: str) -> tuple[bytes, ...]:
    """The same by module and name: twenty thousand files of Linux include one header."""
    parts = _SEPARATORS.split(module)
    words = dict.fromkeys(part.encode("utf-8", "replace") for part in (*parts, name) if part)
    return tuple(words) if any(parts) else (*words, OWN)


_known: WeakKeyDictionary[Database, NameIndex] = WeakKeyDictionary()


def name_index_of(db: Database, contents: Set[int]) -> NameIndex:
    """The mentions of a store, from memory, those of a view's contents among them."""
    index = _known.get(db)
    if index is None or index.is_stale(contents):
        # Who still holds the older ones goes on with them.
        index = _known[db] = NameIndex()
    index.take(db, contents)
    return index
