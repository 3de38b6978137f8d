"""Whether a definition stands in a text under its owner, told by words and indentation alone.

A prompt has no time for a parser. What is read: a name after a keyword that defines (`def`,
`func (r *Reader)`), or before `(` right below its class; above it, by indentation, the lines that
open the blocks it is in, which must name its owners. Comments and docstrings define nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

Standing = Literal["there", "unsure", "elsewhere", "gone"]

_KEYWORDS = frozenset(
    "def class func function fn fun struct interface type enum trait impl module mod const let var "
    "val sub proc defp defmodule macro namespace package object record protocol extension".split()
)
_BODIES = frozenset(
    "class struct interface enum trait impl object record protocol extension module union".split()
)
_NOT_BEFORE_A_METHOD = frozenset("return await new throw else yield raise case delete go".split())
_OPENING_ENDS = "{:([)=>,|"
_LONGEST_BEFORE = 200
"""Characters before a name that are looked at for its keyword."""
_LONGEST_COMMENT = 8_000
_MOST_PLACES = 300
_MOST_LINES = 20_000
"""Lines that are gone up in one file, about 10 ms of CPU."""
_COMMENTS = {
    **dict.fromkeys(
        "py pyi rb sh bash zsh pl pm r ex exs yml yaml toml nim jl cr tcl ps1 psm1 mk cmake tf nix "
        "gd".split(), ("#",),
    ),
    **dict.fromkeys("lua sql hs elm adb ads vhd vhdl".split(), ("--",)),
    **dict.fromkeys("clj cljs cljc lisp el scm rkt asm".split(), (";",)),
    **dict.fromkeys("erl hrl tex pro".split(), ("%",)),
    **dict.fromkeys("ml mli".split(), ("(*",)),
    "php": ("//", "# "), "m": ("//", "% "),
}  # fmt: skip
_C_LIKE = ("//",)
_DOCUMENTED = frozenset("py pyi ex exs jl kt kts scala java swift cs nim".split())
"""Endings of languages that have texts in three quotes."""


def standing(text: str, path: str, qualified: str) -> Standing:
    """How a definition stands in the text of a file.

    Args:
        text: of the file.
        path: of the file, whose ending tells what a comment is.
        qualified: the name with its owners, `Session.refresh`.

    Returns:
        `there`; `unsure` where its name stands in the code in no form that is known to define;
        `elsewhere` where only others define that name; `gone` where the code does not have it.
    """
    if not all(_goes_on(letter) or letter in ".$" for letter in qualified):
        # A heading, an operator: such names are not always written as they are named.
        return "unsure"
    *owners, name = qualified.split(".")
    suffix = path.rpartition(".")[2].lower()
    marks = _COMMENTS.get(suffix, _C_LIKE)
    blocks = _Blocks(text)
    outcome: Standing = "gone"
    is_field = False
    for count, at in enumerate(_places(text, name)):
        if count == _MOST_PLACES:
            return "unsure"
        start = text.rfind("\n", 0, at) + 1
        if _is_comment(text, start, at, marks) or _is_documentation(text, at, suffix):
            continue
        first = _first_of_chain(text, start, at)
        if _follows_keyword(text[max(0, first - _LONGEST_BEFORE) : first]):
            if blocks.are_of(owners, start, at):
                return "there"
            outcome = "elsewhere" if blocks.left > 0 else "unsure"
        elif owners and _is_method(text[start:at], text[at + len(name) : at + len(name) + 1]):
            if blocks.is_right_below(owners, start, bodies=_BODIES):
                return "there"
            outcome = "unsure" if outcome == "gone" else outcome
        elif outcome == "gone" or (
            owners and not is_field and blocks.is_right_below(owners, start)
        ):
            # A field may have no keyword.
            is_field = outcome != "gone" or is_field
            outcome = "unsure" if outcome == "gone" else outcome
    return "unsure" if is_field else outcome


class _Blocks:
    """The blocks of a text by its indentation; `left` is how many lines may still be gone up."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._whole: list[tuple[int, str]] | None = None
        self.left = _MOST_LINES

    def are_of(self, owners: list[str], start: int, at: int) -> bool:
        """Whether all owners of what stands at `at` are named by the lines it is below."""
        missing = _without(owners, self._text[start:at])
        for opening in self._openings(start) if missing else ():
            missing = _without(missing, opening)
            if not missing:
                break
        return not missing or not self._without_whole_file(missing, at)

    def is_right_below(
        self, owners: list[str], start: int, *, bodies: frozenset[str] = frozenset()
    ) -> bool:
        """Whether the innermost block of a line is its owner's; of these kinds, where given."""
        for opening in self._openings(start):
            is_body = not bodies or bodies.intersection(opening.split())
            if is_body and _stands(opening, owners[-1]):
                return self.are_of(owners[:-1], start, start)
            # `public:` opens no block.
            if not opening.rstrip().endswith(":") or " " in opening.strip():
                return False
        return False

    def _openings(self, start: int) -> Iterator[str]:
        """The lines above one that open the blocks it is in, the innermost first."""
        text = self._text
        indent = _indent(text[start : _end(text, start)])
        while start > 0 and indent > 0 and self.left > 0:
            self.left -= 1
            end = start - 1
            start = text.rfind("\n", 0, end) + 1
            line = text[start:end]
            here = _indent(line)
            if here >= indent or not line.strip() or line[here] == "#":
                continue
            if line[here] in "{})]":
                # What it closes, or opens, began on a line as far in as this.
                indent = here + 1
                continue
            if line.rstrip()[-1] not in _OPENING_ENDS and not _KEYWORDS.intersection(line.split()):
                # A line of a text that is written across its block.
                continue
            indent = here
            yield line

    def _without_whole_file(self, owners: list[str], at: int) -> list[str]:
        """The owners without those that a line such as `namespace Shop;` names for all below."""
        if self._whole is None:
            self._whole = list(_lines_for_all(self._text))
        for start, line in self._whole:
            if start < at:
                owners = _without(owners, line)
        return owners


def _lines_for_all(text: str) -> Iterator[tuple[int, str]]:
    for keyword in ("namespace ", "package ", "module "):
        newline = 0 if text.startswith(keyword) else text.find("\n" + keyword)
        while newline >= 0:
            start = newline + (text[newline] == "\n")
            yield start, text[start : _end(text, start)]
            newline = text.find("\n" + keyword, start)


def _without(owners: list[str], line: str) -> list[str]:
    """The owners, outermost first, without the last ones as far as a line names them."""
    while owners and _stands(line, owners[-1]):
        owners = owners[:-1]
    return owners


def _stands(line: str, name: str) -> bool:
    return next(_places(line, name), None) is not None


def _is_method(before: str, after: str) -> bool:
    """Whether a line has nothing but types and modifiers before a name, and `(` behind it."""
    words = before.split()
    return (
        after == "("
        and not set("=(.\"'`{};+-!|") & set(before)
        and not _NOT_BEFORE_A_METHOD.intersection(words)
    )


def _is_comment(text: str, start: int, at: int, marks: tuple[str, ...]) -> bool:
    line = text[start:at]
    if any(line.lstrip().startswith(mark) or f" {mark}" in line for mark in marks):
        return True
    if marks is not _C_LIKE:
        return False
    opening = text.rfind("/*", max(0, at - _LONGEST_COMMENT), at)
    if opening < 0 or text.find("*/", opening, at) >= 0:
        return False
    # `"src/*.ts"` begins no comment.
    return not text[text.rfind("\n", 0, opening) + 1 : opening].strip()


def _is_documentation(text: str, at: int, suffix: str) -> bool:
    if suffix not in _DOCUMENTED:
        return False
    double = text.count('"""', 0, at) - text.count('\'"""', 0, at)
    single = text.count("'''", 0, at) - text.count("\"'''", 0, at)
    return bool(double % 2 or (suffix in {"py", "pyi"} and single % 2))


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name stands in a text as a whole word."""
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_goes_on(text[at - 1 : at]) or _goes_on(text[end : end + 1])):
            yield at
        at = text.find(name, end)


def _first_of_chain(text: str, start: int, at: int) -> int:
    """Where the owners begin that stand right before a name: `function Shop.open`, `def self.a`."""
    while at > start and text[at - 1] in ".:":
        before = text[start:at].rstrip(".:")
        at = start + len(before)
        while at > start and _goes_on(text[at - 1]):
            at -= 1
    return at


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"


def _follows_keyword(before: str) -> bool:
    """Whether a text ends with a keyword that defines what comes: `def `, `func (r *Reader) `."""
    ahead = before.rstrip()
    if ahead.endswith(")"):
        before, opening, receiver = ahead.rpartition("(")
        if not opening or "\n" in receiver or ")" in receiver[:-1]:
            return False
        ahead = before.rstrip()
    # What stands right before the keyword belongs to no word: `(def`, but not `undef`.
    end = len(ahead)
    while end and _goes_on(ahead[end - 1]):
        end -= 1
    return ahead != before and ahead[end:] in _KEYWORDS


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
