"""Words akin to a query's words.

Two rules of the language, none of a repository: the noun of the one who does it, which the
stemmer leaves apart for short words (Porter, "An algorithm for suffix stripping", 1980: `er` goes
only where enough is left), and the usual abbreviations of code. Kindred terms count little
(`weights.KIN_WEIGHT`), so a word that was typed always outweighs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from codelens.extract.tokenizer import terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import MAX_TERMS, Query, Term

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


def kindred(query: Query) -> list[Term]:
    """Terms akin to the words of a query that it does not have itself, in a fixed order.

    None for a single name, which is meant as it is typed; and no more than a query may have.
    """
    if query.single:
        return []
    terms_left = MAX_TERMS - len(query.terms)
    seen = {term.text for term in query.terms}
    terms: list[Term] = []
    for term in query.typed:
        for other in _kin_of(term):
            if other not in seen and len(terms) < terms_left:
                seen.add(other)
                terms.append(Term(other, ranking_weights.KIN_WEIGHT))
    return terms


@lru_cache(maxsize=4096)
def _kin_of(term: str) -> Sequence[str]:
    every = (*_doers(term), *_deeds(term), *_table().get(term, ()))
    return tuple(dict.fromkeys(suffix for suffix in every if len(suffix) >= _SHORTEST))


def _doers(term: str) -> list[str]:
    """read, reader; write, writer; map, mapper; connect, connector."""
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
    """reader, read; writer, write; mapper, map."""
    if len(term) <= _SHORTEST + 1 or not term.endswith(("er", "or")):
        return []
    bare = term[:-2]
    spellings = [bare, term[:-1]]
    if bare[-1] in _DOUBLED and bare[-1] == bare[-2]:
        spellings.append(bare[:-1])
    return spellings


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Term -> terms of the words that stand for the same; both ways."""
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
