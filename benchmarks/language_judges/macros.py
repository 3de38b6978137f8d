"""What macros do to the definitions of C and C++: names that are a macro's, names with blanks.

Each repository is read twice: as codelens reads it, and without the repair around macros
(`codelens.extract.parse.macro_repair`). Definitions that ctags names after a macro (it reads
`TEST(A, b)` as `TEST`) do not count for recall; a test named after the macro under test is right.
"""

from __future__ import annotations

import argparse
import collections
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from codelens.extract.parse import parse_repair
from codelens.extract.parse.macro_repair import Repaired
from codelens.types import Symbol
from language_judges.comparison import compare as compared
from language_judges.definitions import codelens_symbols, texts
from language_judges.plan import FUNCTIONS, folders, plans

_IN_CAPITALS = re.compile(r"[A-Z_][A-Z0-9_]{2,}")
_LANGUAGES = ("c", "cpp")


class Counts(NamedTuple):
    """The figures of one repository, with or without repair."""

    files: int = 0
    by_codelens: int = 0
    by_ctags: int = 0
    """Definitions of ctags, except those that it names after a macro."""
    agreed: int = 0
    blanks: int = 0
    """Definitions whose name contains a blank."""
    after_macros: int = 0
    """Functions with an all-caps name, like macros, that ctags does not report there."""

    @property
    def recall(self) -> float:
        return self.agreed / max(1, self.by_ctags)


def run(args: argparse.Namespace) -> None:
    """Prints a markdown table with a row for each repository and one for all."""
    print("| repository | files | ctags' | recall | named after a macro | names with a blank |")
    print("|" + "---|" * 6)
    sums = Counts(), Counts()
    for folder in folders(plans()["c"], args.repositories, args.root):
        limit = int(args.megabytes * 1_000_000)
        with _without_repair():
            before = _counts(folder, limit)
        after = _counts(folder, limit)
        _print_row(folder.name, before, after)
        sums = _sum(sums[0], before), _sum(sums[1], after)
    _print_row("all", *sums)


def _print_row(name: str, before: Counts, after: Counts) -> None:
    cells = (
        name,
        f"{after.files:,}",
        f"{after.by_ctags:,}",
        f"{before.recall:.3f} -> {after.recall:.3f}",
        f"{before.after_macros} -> {after.after_macros}",
        f"{before.blanks} -> {after.blanks}",
    )
    print("| " + " | ".join(cells) + " |", flush=True)


def _sum(left: Counts, right: Counts) -> Counts:
    return Counts._make(map(sum, zip(left, right, strict=True)))


@contextmanager
def _without_repair() -> Iterator[None]:
    """Parses texts without the repair around macros."""
    repair: Callable[..., Repaired] = parse_repair.repaired
    parse_repair.repaired = lambda text, root, *_: Repaired(text, root)
    try:
        yield
    finally:
        parse_repair.repaired = repair


def _counts(folder: Path, limit: int) -> Counts:
    total: collections.Counter[str] = collections.Counter()
    for language in _LANGUAGES:
        plan = plans()[language]
        result = compared(plan, [folder], limit)
        extras = {(place.path, place.line, place.qualified) for place in result.extras}
        missing = {*result.misses, *result.dropped}
        for place in result.by_ctags:
            if place.kind == "function" and _IN_CAPITALS.fullmatch(place.qualified):
                continue
            total["by_ctags"] += 1
            total["agreed"] += place not in missing
        for text in texts(folder, plan, limit):
            _, symbols = codelens_symbols(text, language)
            total["files"] += 1
            total["by_codelens"] += len(symbols)
            total["blanks"] += sum(" " in symbol.qualified for symbol in symbols)
            total["after_macros"] += sum(
                (text.path, symbol.name_line, symbol.qualified) in extras
                and _is_named_after_macro(symbol)
                for symbol in symbols
            )
    return Counts(**total)


def _is_named_after_macro(symbol: Symbol) -> bool:
    if symbol.kind not in FUNCTIONS - {"macro"} or not _IN_CAPITALS.fullmatch(symbol.name):
        return False
    # `TEST(Assertions, ASSERT_EQ)` is a test of that name.
    arguments = symbol.signature.partition("(")[2]
    return not re.search(rf"[(,]\s*{symbol.name}\s*\)", f"({arguments}")
