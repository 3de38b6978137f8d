"""Analyses a query: its terms, names, paths and roles, related words, and the definitions it names.

Related words depend only on English, not on the repository: they are agent nouns, which the stemmer
keeps for short words (Porter, "An algorithm for suffix stripping", 1980: it removes `er` only if
enough is left), and the usual abbreviations in code. Related terms have a low weight
(`weights.KIN_WEIGHT`), so typed words always outweigh them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from functools import cache, lru_cache
from typing import NamedTuple

from codelens.errors import QueryError
from codelens.extract.tokenizer import WORD, compound_of, parts_of_word, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.pasted import pasted_locations
from codelens.rank.pasted.pasted_locations import Location
from codelens.rank.query import task_text
from codelens.rank.query.task_text import Signpost
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_ABBREVIATIONS = """
arg argument | args arguments | async asynchronous | attr attribute | attrs attributes
auth authentication authorization | calc calculate | char character | cmd command
concat concatenate | cond condition | config configuration settings | conn connection
ctx context | db database | dec decode | decl declaration | def definition | dep dependency
deps dependencies | dest destination | dst destination | dict dictionary | diff difference
dir directory | dl download | doc document | docs documentation | elem element | enc encode
env environment | err error | eval evaluate | exc exception | exec execute execution
expr expression | ext extension | fmt format | fn function | fs filesystem | func function
gen generate generator | hist history | id identifier | ident identifier | idx index | img image
impl implementation | info information | init initialize | intl internationalization
i18n internationalization | iter iterate iterator | kw keyword | lang language | len length
lex lexer | lhs left | lib library | lit literal | loc location | max maximum | mem memory
mgr manager | min minimum | mod module | msg message | mut mutable | mux multiplexer
nav navigation | net network | nil null | none null | norm normalize | num number | obj object
op operation | opt option | opts options | param parameter | params parameters | pct percent
perm permission | pkg package | pos position | pref preference | prev previous | prio priority
proc process | prop property | props properties | ptr pointer | pub public publish | rand random
recv receive | ref reference | regex regular | rel relative | repo repository | req request
res response | resp response | rhs right | sched scheduler | sep separator | seq sequence
ser serialize | sess session | sig signature | spec specification | src source
stat statistics | stats statistics | stmt statement | str string | sub subscription
subst substitution | svc service | sym symbol | sync synchronous synchronize | sys system
temp temporary | term terminal | tmp temporary | tmpl template | tok token | tpl template
tx transaction | txn transaction | txt text | ui interface | usr user | util utility helper
utils utilities helpers | val value | var variable | vec vector | ver version | vm machine
wnd window | ws websocket whitespace
"""
_SHORTEST = 3
_DOUBLED = frozenset("bdglmnpt")
"""Consonants that double before `er`: log, logger; map, mapper."""


def related_to(query: Query) -> list[Term]:
    """Return terms related to the words of a query, without its own, in a fixed order.

    A single name is meant as typed, so it has no related terms. The limit on the query's terms
    applies.
    """
    if query.single:
        return []
    terms_left = MAX_TERMS - len(query.terms)
    seen = {term.text for term in query.terms}
    terms: list[Term] = []
    for term in query.typed:
        for other in _related_terms(term):
            if other not in seen and len(terms) < terms_left:
                seen.add(other)
                terms.append(Term(other, ranking_weights.KIN_WEIGHT))
    return terms


@lru_cache(maxsize=4096)
def _related_terms(term: str) -> Sequence[str]:
    every = (*_doers(term), *_deeds(term), *_table().get(term, ()))
    return tuple(dict.fromkeys(suffix for suffix in every if len(suffix) >= _SHORTEST))


def _doers(term: str) -> list[str]:
    """Return agent nouns: read, reader; write, writer; map, mapper; connect, connector."""
    if len(term) < _SHORTEST or not term.isalpha():
        return []
    if term.endswith("e"):
        return [term + "r"]
    spellings = [term + "er"]
    if term[-1] in _DOUBLED:
        spellings.append(term + term[-1] + "er")
    if term[-1] in "ts":
        spellings.append(term + "or")
    return spellings


def _deeds(term: str) -> list[str]:
    """Return the verbs of agent nouns: reader, read; writer, write; mapper, map."""
    if len(term) <= _SHORTEST + 1 or not term.endswith(("er", "or")):
        return []
    bare = term[:-2]
    spellings = [bare, term[:-1]]
    if bare[-1] in _DOUBLED and bare[-1] == bare[-2]:
        spellings.append(bare[:-1])
    return spellings


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Return term -> terms of equivalent words, in both directions."""
    pairs: dict[str, dict[str, None]] = {}
    for entry in " | ".join(_ABBREVIATIONS.strip().splitlines()).split(" | "):
        short, *long = entry.split()
        for word in long:
            for left in terms_of_word(short):
                for right in terms_of_word(word):
                    if left != right:
                        pairs.setdefault(left, {})[right] = None
                        pairs.setdefault(right, {})[left] = None
    return {term: tuple(others) for term, others in pairs.items()}


# Extracts the terms, names and paths of a query, and the roles of files it asks for.
#
# This part is independent of any view; names are resolved later (`defined_names`).

MAX_CHARS = 10_000
MAX_TERMS = 64
_READ_TERMS = 256
_SPELLED_WORDS = 5

# Triple quotes are Python's, and quote no phrase.
_PHRASE = re.compile(r'(?<!")"(?!")([^"\n]{1,500})"(?!")|“([^”\n]{1,500})”')
# Possessive and anchored to a word's start: otherwise a word of 10,000 letters takes seconds.
_QUALIFIED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:(?:\.|::|#|->)[^\W\d]\w*+)+[!?]?")
_NAME = re.compile(r"[^\W\d]\w*")
_JOINING = re.compile(r"[\s_-]*")
"""Separators between two words that may form one identifier."""
_SEPARATORS = re.compile(r"\.|::|#|->")
_HUMPS = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_\w|[A-Za-z]\d")

_ROLE_WORDS = {
    "test": "test tests testing unittest unittests spec specs fixture fixtures mock mocks conftest",
    "example": "example examples demo demos sample samples tutorial tutorials benchmark benchmarks",
    "compat": "compat compatibility legacy deprecated deprecation",
    "vendored": "vendor vendored third-party thirdparty",
    "generated": "generated lockfile autogenerated",
    "translation": "translation translations locale locales i18n l10n localization localisation "
    "gettext",
    "data": "csv tsv svg vcxproj pbxproj plist storyboard",
    "tooling": "action actions build builds bundle bundler bundling ci config configs "
    "configuration configure coverage dependencies dependency deploy deployment "
    "docker dockerfile eslint github hook hooks install installation lint linter "
    "linting makefile package packages packaging pipeline prettier publish "
    "publishing release releases script scripts setup task tasks tooling tools "
    "version versions webpack workflow workflows",
    "prose": "docs documentation readme changelog documented guide license contributing "
    "markdown release notes",
}
_ASKS_FOR = {role: frozenset(words.split()) for role, words in _ROLE_WORDS.items()}
_OF_TESTS = _ASKS_FOR["test"]
_BEFORE_TESTS = frozenset(
    "unit integration regression smoke acceptance functional e2e failing flaky missing existing "
    "add fix update write improve in".split()
)
_AFTER_TESTS = frozenset(
    "for of that which covering about case cases suite suites file files".split()
)
_DETERMINERS = frozenset(
    "a an the each every any this that one some for of in to during by with and or".split()
)
_QUESTIONS = frozenset("how where what which why when who does do is are can".split())


class Term(NamedTuple):
    """A term to look up."""

    text: str
    weight: float
    """1, or less for a compound that was not typed."""


class Name(NamedTuple):
    """A name in the query that may be an identifier."""

    text: str
    """As typed."""
    parts: tuple[str, ...]
    """`Session.validate` -> Session, validate."""


class Query(NamedTuple):
    """A query, analysed by its text alone."""

    text: str
    terms: tuple[Term, ...]
    words: tuple[str, ...]
    """All words in order, including stopwords."""
    typed: tuple[str, ...]
    """The terms of the words' parts, in order, without compounds; includes repetitions."""
    whole: str
    """The query as one lower-case identifier."""
    names: tuple[Name, ...]
    """Possible identifiers; the whole query if it is one token."""
    spelled: Name | None
    """A few words joined to one identifier: `get adapter` may mean `get_adapter`."""
    places: tuple[Location, ...]
    """Words that look like paths, with their lines and names."""
    phrases: tuple[str, ...]
    """Phrases in double quotes."""
    single: bool
    """The query is one name, perhaps qualified, not a question."""
    roles: frozenset[str]
    """Roles of files that the query asks for; they get no penalty."""
    about_tests: bool
    """Whether the query only mentions tests (`test client`), so that they keep a part of it."""
    signposts: tuple[Signpost, ...]
    """What the title of a task names before its colon or in brackets: `fix(parser): ...`."""
    notes: tuple[str, ...]

    @property
    def token(self) -> bool:
        """Whether the query has no space in it."""
        return len(self.text.split()) == 1

    def unknown(self, known_terms: Set[str]) -> list[str]:
        """Return the content words without a term in `known_terms`, each once."""
        missing = [
            word
            for word in dict.fromkeys(self.words)
            if terms_of_word(word) and known_terms.isdisjoint(terms_of_word(word))
        ]
        read = {term.text for term in self.terms}
        return [word for word in missing if read.intersection(terms_of_word(word))]


def analyse(text: str) -> Query:
    """Analyse a query; any text but a blank one is valid, even if it has no terms.

    Raises:
        QueryError: the query is blank.
    """
    notes: list[str] = []
    text = text.strip()
    if len(text) > MAX_CHARS:
        notes.append(f"only the first {MAX_CHARS:,} characters of the query were read")
        text = text[:MAX_CHARS]
    text = text.replace("\0", " ").strip().encode("utf-8", "replace").decode()
    if not text:
        raise QueryError("the query is blank; give words, an identifier or a path")
    prose, code = task_text.prose_and_code(text)
    phrases = tuple(
        phrase for match in _PHRASE.finditer(prose) if (phrase := (match[1] or match[2]).strip())
    )
    prose = _PHRASE.sub(lambda match: f" {match[1] or match[2]} ", prose).strip()
    plain = f"{prose}\n{code}" if code else prose
    words = tuple(WORD.findall(plain))
    parts = [part for word in words for part in parts_of_word(_without_marks(word))]
    token = plain.strip("`'()[]{};,:?!&*$@")
    single = len(words) == 1 or bool(_QUALIFIED.fullmatch(token))
    terms = _terms_of_report(prose, code) if code else _terms(plain, single)
    if len(terms) > _READ_TERMS:
        notes.append(f"only the first {_READ_TERMS} of the query's {len(terms)} terms were read")
        terms = terms[:_READ_TERMS]
    return Query(
        text=text,
        terms=tuple(terms),
        words=words,
        typed=tuple(term for part in parts for term in terms_of_word(part)),
        whole="".join(parts),
        names=_names(prose, single),
        spelled=_spelled(words, single),
        places=pasted_locations.inside(plain),
        phrases=phrases,
        single=single,
        roles=_roles(plain),
        about_tests=not single and _is_about_tests(plain),
        signposts=() if single else task_text.signposts(text),
        notes=tuple(notes),
    )


def _roles(text: str) -> frozenset[str]:
    """Return the roles that the query asks for or mentions; only the first of several lines counts.

    The first line has the topic: "Tests were added" further down in a message does not ask for
    tests.
    """
    words = WORD.findall(text.partition("\n")[0].lower())
    return frozenset(role for role, asking in _ASKS_FOR.items() if not asking.isdisjoint(words))


def _is_about_tests(text: str) -> bool:
    """Whether the query mentions tests, as a `test client`, but does not ask for them."""
    words = WORD.findall(text.partition("\n")[0].lower())
    if "tested" in words or _OF_TESTS.isdisjoint(words):
        return False
    return not any(
        word in _OF_TESTS
        and (
            at == 0
            or words[at - 1] in _BEFORE_TESTS
            or (at + 1 < len(words) and words[at + 1] in _AFTER_TESTS)
            or (
                at + 1 == len(words)
                and words[at - 1] not in _DETERMINERS
                and words[0] not in _QUESTIONS
            )
        )
        for at, word in enumerate(words)
    )


def of_name(query: Query, name: Name) -> Query:
    """Return the query as a single name."""
    words = analyse(" ".join(name.parts))
    return words._replace(
        text=query.text, names=(name,), spelled=None, places=(), phrases=(), single=True,
        roles=query.roles, about_tests=False, signposts=(), notes=query.notes,
    )  # fmt: skip


def looks_like_name(word: str) -> bool:
    """Whether a word has the form of an identifier."""
    return bool(_HUMPS.search(word))


def corrected(query: Query, typed: str, correction: str) -> Query:
    """Return the query with one word replaced."""
    text = re.sub(rf"(?<!\w){re.escape(typed)}(?!\w)", correction, query.text)
    return analyse(text)._replace(notes=query.notes)


def _without_marks(word: str) -> str:
    """Remove accents from a word, as the index does; composed scripts stay unchanged."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKD", word)
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))


def _terms(text: str, single: bool) -> list[Term]:
    """Return terms in the order of the query, each once with its highest weight."""
    weights: dict[str, float] = {}
    before, end = "", 0
    for match in WORD.finditer(text):
        word = match[0]
        terms = terms_of_word(word)
        for term in terms:
            weights[term] = 1.0
        if not terms:
            before = ""
            continue
        if before and not single and _JOINING.fullmatch(text, end, match.start()):
            joined = compound_of(parts_of_word(before) + parts_of_word(word))
            weights.setdefault(joined, ranking_weights.COMPOUND_WEIGHT)
        before, end = word, match.end()
    return [Term(*item) for item in weights.items()]


def _terms_of_report(prose: str, code: str) -> list[Term]:
    """Return the terms of a task with fenced code; those that only the code has weigh less.

    The code of a report calls what is public, with names and values of the reporter.
    """
    terms = _terms(prose, single=False)
    own = {term.text for term in terms}
    return terms + [
        term._replace(weight=term.weight * ranking_weights.CODE_TERM)
        for term in _terms(code, single=False)
        if term.text not in own
    ]


def _names(text: str, single: bool) -> tuple[Name, ...]:
    """Return qualified names, then words with humps or underscores; in a single token any word."""
    names_by_key: dict[str, Name] = {}
    for match in _QUALIFIED.finditer(text):
        names_by_key[match[0]] = Name(match[0], tuple(_SEPARATORS.split(match[0])))
    inside = {part for name in names_by_key.values() for part in name.parts}
    for match in _NAME.finditer(text):
        word = match[0]
        if word not in inside and (single or _HUMPS.search(word)):
            names_by_key.setdefault(word, Name(word, (word,)))
    return tuple(names_by_key.values())


def _spelled(words: tuple[str, ...], single: bool) -> Name | None:
    if single or not 2 <= len(words) <= _SPELLED_WORDS or words[0].isdigit():
        return None
    joined = "".join(words)
    return Name(joined, (joined,))


# Resolves the names of a query to definitions of a view: exact, by convention, or near.

EXACT, CONVENTION, LAST = 3, 2, 1
"""How a definition's name matches: exactly; in another convention; or only the last part of a
qualified name, if no definition has all of it."""
OTHER = -1
"""A different operator."""
REACHED = 0
"""Owners and folders contain the parts of a qualified name in order, with gaps, as an import path
does if a package re-exports the name. `_settled` turns this grade into `EXACT` or `LAST`, depending
on the other matches."""

CONTAINERS = frozenset("class struct interface trait enum module union type".split())
MEMBERS = frozenset("field property member".split())
WEAK = MEMBERS | {"key", "heading"}
"""Kinds whose names are too common to rank before everything else."""
_UNNAMED = frozenset("__init__ index mod lib main".split())
"""Stems of files that are named by their folder."""
_OPERATOR = re.compile(r"operator\s*[^\w\s]")


class Defined(NamedTuple):
    """A definition that a name of the query refers to."""

    file: FileRow
    symbol: Definition
    grade: int


def defined_names(view: Snapshot, names: Sequence[Name]) -> list[Defined]:
    """Return definitions in the view that `names` refer to, by path and position.

    `Class.method` refers to a `method` inside `Class`, in any convention; `module.name` to a `name`
    in a file or folder `module`.
    """
    best: dict[tuple[int, int], Defined] = {}
    for name in names:
        definitions = [
            Defined(file, symbol, _grade(name, symbol.name, qualified, file.path))
            for key in keys_of(name.parts[-1])
            for content, symbol, qualified in reads.definitions_with_key(view.db, key)
            for file in view.by_content.get(content, ())
        ]
        definitions = _settled(definitions)
        top = max((definition.grade for definition in definitions), default=0)
        for definition in definitions:
            best_so_far = best.get((definition.file.path_id, definition.symbol.ordinal))
            if (definition.grade > LAST or top == LAST) and (
                best_so_far is None or best_so_far.grade < definition.grade
            ):
                best[definition.file.path_id, definition.symbol.ordinal] = definition
    return sorted(
        best.values(), key=lambda definition: (definition.file.path, definition.symbol.ordinal)
    )


def keys_of(name: str) -> list[str]:
    """Return the keys to look up a name: as typed, and without accents."""
    key = key_of(name)
    if key.isascii():
        return [key]
    plain = unicodedata.normalize("NFKD", key)
    return list(
        dict.fromkeys((key, "".join(char for char in plain if not unicodedata.combining(char))))
    )


def _settled(definitions: Sequence[Defined]) -> list[Defined]:
    """Drop `REACHED` and `OTHER` if there are better matches."""
    definitions = [definition for definition in definitions if definition.grade != OTHER] or [
        definition._replace(grade=LAST) for definition in definitions
    ]
    whole = any(definition.grade > LAST for definition in definitions)
    return [
        definition._replace(grade=LAST if whole else EXACT)
        if definition.grade == REACHED
        else definition
        for definition in definitions
    ]


def _grade(name: Name, called: str, qualified: str, path: bytes) -> int:
    """Grade how a definition matches a name; `REACHED` if the name has only some of its owners."""
    last = _spelling(name.parts[-1], called)
    if len(name.parts) == 1 or last == OTHER:
        return last
    owners = qualified.split(".")
    if owners[-1:] != [called]:
        owners = [called]  # a name with dots of its own
    chain = [*_modules(path, owners), *owners]
    part_count = len(name.parts)
    if tuple(chain[-part_count:-1]) == name.parts[:-1]:
        return last
    keys = [key_of(part) for part in chain]
    asked_keys = [key_of(part) for part in name.parts]
    if keys[-part_count:] == asked_keys:
        return CONVENTION
    rest = iter(keys[:-1])
    return REACHED if all(part in rest for part in asked_keys[:-1]) else LAST


def _spelling(typed: str, called: str) -> int:
    """Grade a spelling: exact, another convention, or another operator."""
    if typed == called:
        return EXACT
    if _OPERATOR.match(typed) and _OPERATOR.match(called):
        return EXACT if "".join(typed.split()) == "".join(called.split()) else OTHER
    return CONVENTION


def _modules(path: bytes, owners: Sequence[str]) -> list[str]:
    """Return folders and stem of a file as module names; the stem is left out for its class."""
    *folders, name = path.decode("utf-8", "replace").split("/")
    stem = name.split(".")[0]
    if stem in _UNNAMED or key_of(stem) == key_of(owners[0]):
        return folders
    return [*folders, stem]


def prominence(definition: Defined) -> tuple[int, bool, int, int]:
    """Return a sort key: the definition to show for a file has the greatest."""
    lines = definition.symbol.end_line - definition.symbol.start_line
    return (
        definition.grade,
        definition.symbol.kind in CONTAINERS,
        lines,
        -definition.symbol.ordinal,
    )


def names_by_file(defined: Sequence[Defined]) -> Mapping[int, list[Defined]]:
    """Group definitions by path id."""
    grouped: dict[int, list[Defined]] = {}
    for definition in defined:
        grouped.setdefault(definition.file.path_id, []).append(definition)
    return grouped
