"""Names of the methods that values of Python itself have, and its functions that hand values on.

A use of one of these names on a receiver of unknown type says nothing of the methods of a view that
are called so. By `dir` of texts, numbers and collections, as of Python 3.11; what opens a file or
makes a pattern is seen to come from outside.
"""

from __future__ import annotations

BUILTIN_METHODS = frozenset(
    """
    add append as_integer_ratio bit_count bit_length capitalize casefold center clear
    conjugate copy count decode denominator difference difference_update discard encode
    endswith expandtabs extend find format format_map from_bytes fromhex fromkeys get hex imag
    index insert intersection intersection_update is_integer isalnum isalpha isascii isdecimal
    isdigit isdisjoint isidentifier islower isnumeric isprintable isspace issubset issuperset
    istitle isupper items join keys ljust lower lstrip maketrans numerator partition pop
    popitem real remove removeprefix removesuffix replace reverse rfind rindex rjust
    rpartition rsplit rstrip setdefault sort split splitlines startswith strip swapcase
    symmetric_difference symmetric_difference_update title to_bytes translate union update
    upper values zfill
    """.split()
)
PASSING = frozenset("getattr max min next reversed sorted sum type vars".split())
"""Functions that give what they are given, or what is made of it."""
