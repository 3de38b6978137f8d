"""The weights and limits of the ranking; the code of each feature says how it is scaled.

The values were fitted on the 25 repositories of a public retrieval benchmark and validated on other
repositories (docs/ranking.md lists them, and the cost of leaving out each signal). Features are
scaled to 0..1 over the candidates of a query, so weights are comparable.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

K1 = 1.2
"""Saturation of BM25F."""
BODY_WEIGHT, BODY_B = 1.0, 0.75
DOC_WEIGHT, DOC_B = 1.0, 0.75
NAME_WEIGHT, NAME_B = 3.0, 0.6
STEM_WEIGHT, STEM_B = 2.0, 0.4
FOLDER_WEIGHT, FOLDER_B = 0.75, 0.4
TYPICAL_STEM_TERMS, TYPICAL_FOLDER_TERMS = 2.5, 4.0
"""Mean lengths for normalising the two path fields. They are constants: computing a view's own
means would read all its paths, and with b = .4 a mean that is off by half moves a score by 15 %."""

COMPOUND_WEIGHT = 0.5
"""Weight of adjacent query words written as one identifier."""
KIN_WEIGHT = 0.3
"""Weight of words related to those of the query (`codelens.rank.query.query_analysis`)."""

CHUNK_SHARES = (1.0, 0.6, 0.4)
"""csum3: weights of the best, second and third chunk of a file."""
CHUNK_SUM_FLOOR = 0.35
"""csumall: chunks that score below this share of the best chunk of all files do not count."""
MOST_ALIKE = 20
"""Number of files that are candidates by a provider's vectors alone, regardless of their words."""
LEAST_MEANING = -0.5
"""meaning: a file unlike the question loses at most half of what the best file gains."""
SYMBOL_COSINE = 0.2
"""symsum: less similar symbols do not count. With the true IDF of every word .3 is best; with
`UNKNOWN_IDF` .2 measures .004 better on the 25 repositories."""

WORDS: Mapping[str, float] = MappingProxyType(
    {
        "cmax": 1.5,
        "csum3": 1.5,
        "csumall": 0.75,
        "head": 0.5,
        "stemcov": 2.0,
        "stempfx": 1.5,
        "stemeq": 0.5,
        "dircov": 1.8,
        "dirwt": 5.0,
        "dirpfx": 3.0,
        "depth": -2.5,
        "symsum": 1.0,
        "embdef": 0.75,
        "defexact": 0.5,
        "spelled": 4.0,
        "verbatim": 1.0,
        "pathnamed": 5.0,
        "signpost": 3.0,
        "logsize": 0.4,
        "meaning": 1.25,
        "wording": 1.25,
        "superseded": -1.0,
    }
)
"""Weights for queries of several words. Those for chunks (cmax, csum3, csumall), stem (stemcov,
stempfx, stemeq), dircov and symbols (symsum, embdef) were fitted; the others were set by hand near
the mean of fits on bootstraps of the 25 repositories, and checked on the history of 8 other
repositories (docs/ranking.md has both). `spelled`: the whole query, written as one identifier, is
defined here (`get adapter`, `get_adapter`). Nobody types all words of a name by chance, so this
outweighs the text, and so does a file's name (`pathnamed`). `superseded` was set on seven other
repositories with sibling versions; half or twice the values measure nearly the same."""

TOKEN: Mapping[str, float] = MappingProxyType(
    {
        "cmax": 1.5,
        "csum3": 1.0,
        "file": 1.0,
        "stemcov_q": 1.5,
        "stemcov": 2.0,
        "stempfx": 3.0,
        "stemeq": 2.0,
        "bestsym": 1.5,
        "defexact": 1.0,
        "def_ci": 0.75,
        "container_def": 1.0,
        "deflen": 1.0,
        "logsize": 0.75,
        "superseded": -2.0,
    }
)
"""Weights for queries of one token."""

UNKNOWN_IDF = 0.4
"""IDF of a term that is not in the query, as a share of the query's highest IDF. The true IDF would
cost a read of the postings for each word of each name."""
LONG_QUERY = 6
"""stemcov: in a query of more terms, a stem counts by its share of the query."""
PUSHED_DOWN_KEPT = 30
"""Maximum number of candidates whose role the query does not ask for."""
LOOKED_AT = 40
"""Number of files whose definitions are read and compared: the most promising by chunks and
path."""
SHORTEST_PREFIX = 3
"""stempfx: shorter prefixes do not count."""

PUSHED_DOWN: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "words": {"test": 4.5, "example": 1.5, "compat": 0.5, "vendored": 3.0, "generated": 1.5,
                  "prose": 4.5, "translation": 5.0, "data": 5.0, "tooling": 3.0},
        "token": {"test": 1.0, "example": 1.0, "compat": 0.5, "vendored": 1.0, "generated": 1.0,
                  "prose": 1.0, "translation": 1.0, "data": 1.0},
    }
)  # fmt: skip
"""Penalty by role, unless the query asks for such files. Fitted values vary between 2 and 8 for
tests and prose; with these values, code with half of the signals still ranks above them."""

MENTIONED = 0.6
"""Share of the penalty of tests if the query mentions them (`test client`)."""

DEFINITION_NAME, DEFINITION_TEXT = 3.0, 1.5
"""In searches for definitions only: weights of the name similarity and of the text inside."""
SHOWN_COSINE = 0.5
"""A definition with at least this similarity to the query is shown instead of its chunk."""

DEFINITIONS: Mapping[str, float] = MappingProxyType(
    {
        "file": 1.0,
        "body": 1.2,
        "line": 0.3,
        "name": 0.6,
        "owner": 0.2,
        "named": 1.5,
        "within": 0.4,
        "place": 0.15,
        "top": -0.2,
        "test": -1.0,
        "summary": 0.5,
        "neighbours": 1.0,
        "superseded": -0.5,
    }
)
"""Weights of the features of a definition (`codelens.rank.scoring.definition_ranking`)."""
TASK_DEFINITIONS: Mapping[str, float] = MappingProxyType(
    {"container": -0.2, "value": -0.3, "aside": -0.4, "declared": -0.4}
)
"""Additional weights for a task: most tasks concern functions, while a question may be about a type
or a constant; generated code, examples and declarations without a body rank below the code that a
task changes."""
DEFINITION_B, TYPICAL_DEFINITION_LINES = 0.5, 20.0
LEADING_LINE = 1.5
"""In bodies: weight of a term in the first line of a query of several lines; other terms have 1."""
CODE_TERM = 0.5
"""Weight of a term that a query has only in its fenced code."""
NO_BODIES = 4.0
"""Files of a role with at least this penalty contribute no definitions."""
PROSE_AND_DATA = frozenset("markdown rst asciidoc text json yaml toml ini xml csv".split())


def pushed_down(
    single: bool, asked_for: frozenset[str], *, about_tests: bool = False
) -> Mapping[str, float]:
    """Return the penalty of each role that the query does not ask for.

    Args:
        single: whether the query is one name.
        asked_for: the roles.
        about_tests: whether the query mentions tests without asking for them.
    """
    every = PUSHED_DOWN["token" if single else "words"]
    down = {role: share for role, share in every.items() if role not in asked_for}
    return {**down, "test": MENTIONED * every["test"]} if about_tests else down
