"""What macros do to the definitions of C and C++: names that are a macro's, names with blanks."""

from __future__ import annotations

import argparse
import collections
import re
from typing import NamedTuple

from language_judges.comparison import compare as compared
from language_judges.definitions import git_files, our_symbols, texts
from language_judges.plan import FUNCTIONS, folders, plans

_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Z_][A-Z0-9_]{2,})\b", re.MULTILINE)
_LANGUAGES = ("c", "cpp")


class Row(NamedTuple):
    """The figures of one repository."""

    files: int
    ours: int
    theirs: int
    found: int
    blanks: int
    """Definitions whose name holds a blank."""
    called: int
    """Functions that have the name of a macro in capitals, and that ctags does not know there."""


def run(args: argparse.Namespace) -> None:
    """Print a markdown table with a row a repository."""
    print(
        "| repository | files | ours | ctags | recall | names with a blank | named after a macro |"
    )
    print("|" + "---|" * 7)
    for folder in folders(plans()["c"], args.repositories, args.root):
        row = _row(folder, int(args.megabytes * 1_000_000))
        recall = f"{row.found / max(1, row.theirs):.3f}"
        cells = (folder.name, row.files, row.ours, row.theirs, recall, row.blanks, row.called)
        print("| " + " | ".join(str(one) for one in cells) + " |", flush=True)


def _row(folder, limit: int) -> Row:
    macros = set[str]()
    for name in git_files(folder):
        path = folder / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1_000_000:
            macros.update(one.decode() for one in _DEFINED.findall(path.read_bytes()))
    total: collections.Counter[str] = collections.Counter()
    for language in _LANGUAGES:
        plan = plans()[language]
        result = compared(plan, [folder], limit)
        extras = {(one.path, one.line, one.qualified) for one in result.extras}
        total["theirs"] += len(result.theirs)
        total["found"] += result.found
        for text in texts(folder, plan, limit):
            _, symbols = our_symbols(text, language)
            total["files"] += 1
            total["ours"] += len(symbols)
            total["blanks"] += sum(" " in one.qualified for one in symbols)
            total["called"] += sum(
                one.kind in FUNCTIONS - {"macro"}
                and one.name in macros
                and (text.path, one.name_line, one.qualified) in extras
                for one in symbols
            )
    return Row(**{name: total[name] for name in Row._fields})
