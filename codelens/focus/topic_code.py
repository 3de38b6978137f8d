"""Finds the code of a topic, and checks without a parser whether a definition still exists.

A prompt hook has no time for a parser. A definition is a name after a defining keyword (`def`,
`func (r *Reader)`), or before `(` directly inside its class. The lines above it that open the
enclosing blocks, by indentation, must name its owners. Comments and docstrings define nothing.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Literal

from codelens.focus.checkout import Checkout
from codelens.focus.forest import Forest, LastTurn, Node
from codelens.trail import trail_log

DefinitionState = Literal["there", "unsure", "elsewhere", "gone"]

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
"""How many characters before a name are searched for its keyword."""
_LONGEST_COMMENT = 8_000
_MOST_PLACES = 300
_MOST_LINES = 20_000
"""Maximum number of lines scanned upwards in a file; they take about 10 ms of CPU."""
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
"""Extensions of languages with triple-quoted strings."""


def definition_state(text: str, path: str, qualified: str) -> DefinitionState:
    """Whether the text of a file has a definition.

    Args:
        text: the text of the file.
        path: the path of the file; its extension determines the form of comments.
        qualified: the name with its owners, `Session.refresh`.

    Returns:
        `there`; `unsure` if the name occurs in the code, but not in a known form of definition;
        `elsewhere` if only other owners define that name; `gone` if the code does not have it.
    """
    if not all(_goes_on(letter) or letter in ".$" for letter in qualified):
        # The text of a heading or operator may differ from its name.
        return "unsure"
    *owners, name = qualified.split(".")
    suffix = path.rpartition(".")[2].lower()
    marks = _COMMENTS.get(suffix, _C_LIKE)
    blocks = _Blocks(text)
    outcome: DefinitionState = "gone"
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
            # A field may be defined without a keyword.
            is_field = outcome != "gone" or is_field
            outcome = "unsure" if outcome == "gone" else outcome
    return "unsure" if is_field else outcome


class _Blocks:
    """The blocks of a text by indentation; `left` is how many lines may still be scanned."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._whole: list[tuple[int, str]] | None = None
        self.left = _MOST_LINES

    def are_of(self, owners: list[str], start: int, at: int) -> bool:
        """Whether the lines that enclose `at` name all owners."""
        missing = _without(owners, self._text[start:at])
        for opening in self._openings(start) if missing else ():
            missing = _without(missing, opening)
            if not missing:
                break
        return not missing or not self._without_whole_file(missing, at)

    def is_right_below(
        self, owners: list[str], start: int, *, bodies: frozenset[str] = frozenset()
    ) -> bool:
        """Whether the innermost block of a line is its owner's, and of these kinds, if given."""
        for opening in self._openings(start):
            is_body = not bodies or bodies.intersection(opening.split())
            if is_body and _contains_word(opening, owners[-1]):
                return self.are_of(owners[:-1], start, start)
            # `public:` does not open a block.
            if not opening.rstrip().endswith(":") or " " in opening.strip():
                return False
        return False

    def _openings(self, start: int) -> Iterator[str]:
        """The lines that open the blocks around a line, the innermost first."""
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
                # The statement of this closing or opening line started on a line of equal indent.
                indent = here + 1
                continue
            if line.rstrip()[-1] not in _OPENING_ENDS and not _KEYWORDS.intersection(line.split()):
                # A line of a multi-line string that is indented less than its block.
                continue
            indent = here
            yield line

    def _without_whole_file(self, owners: list[str], at: int) -> list[str]:
        """The owners without those that a line such as `namespace Shop;` sets for the file."""
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
    """The owners, outermost first, without the last ones that the line names."""
    while owners and _contains_word(line, owners[-1]):
        owners = owners[:-1]
    return owners


def _contains_word(line: str, name: str) -> bool:
    return next(_places(line, name), None) is not None


def _is_method(before: str, after: str) -> bool:
    """Whether a line has only types and modifiers before a name, and `(` after it."""
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
    # `"src/*.ts"` does not start a comment.
    return not text[text.rfind("\n", 0, opening) + 1 : opening].strip()


def _is_documentation(text: str, at: int, suffix: str) -> bool:
    if suffix not in _DOCUMENTED:
        return False
    double = text.count('"""', 0, at) - text.count('\'"""', 0, at)
    single = text.count("'''", 0, at) - text.count("\"'''", 0, at)
    return bool(double % 2 or (suffix in {"py", "pyi"} and single % 2))


def _places(text: str, name: str) -> Iterator[int]:
    """The offsets at which a name occurs as a whole word."""
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_goes_on(text[at - 1 : at]) or _goes_on(text[end : end + 1])):
            yield at
        at = text.find(name, end)


def _first_of_chain(text: str, start: int, at: int) -> int:
    """The start of the owners directly before a name: `function Shop.open`, `def self.a`."""
    while at > start and text[at - 1] in ".:":
        before = text[start:at].rstrip(".:")
        at = start + len(before)
        while at > start and _goes_on(text[at - 1]):
            at -= 1
    return at


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"


def _follows_keyword(before: str) -> bool:
    """Whether a text ends with a defining keyword: `def `, `func (r *Reader) `."""
    ahead = before.rstrip()
    if ahead.endswith(")"):
        before, opening, receiver = ahead.rpartition("(")
        if not opening or "\n" in receiver or ")" in receiver[:-1]:
            return False
        ahead = before.rstrip()
    # No word character may precede the keyword: `(def`, but not `undef`.
    end = len(ahead)
    while end and _goes_on(ahead[end - 1]):
        end -= 1
    return ahead != before and ahead[end:] in _KEYWORDS


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


# A line of the session trail belongs to the topic of the last prompt of its session.

_LENDING = frozenset({"expanded", "explored", "edited"})
"""The actions that add code to a topic; a search or listing only names code."""
_OF_A_CALL = 2
_MOST = 12
"""Maximum number of handles checked before a prompt; each may read a file."""
_MOST_SESSIONS = 16


def note_handles(home: str, place: Checkout, forest: Forest, now: float) -> None:
    """Add to the topics the code that was read or edited in this worktree since their prompts."""
    if not forest.last:
        return
    worktree = trail_log.worktree_key(place.root)
    latest = LastTurn(forest.last, forest.seen)
    noted: dict[tuple[int, str], float] = {}
    earliest = min((turn.at for turn in (latest, *forest.turns.values())), default=now)
    for entry in trail_log.latest(home, place.repository, since=int(earliest), now=int(now)):
        turn = _turn_of(forest, entry.session, latest)
        at = entry.seconds()
        if (
            turn is None
            or turn.topic not in forest.nodes
            or entry.worktree != worktree
            or entry.tool not in _LENDING
            or not int(turn.at * 1000) <= round(at * 1000) <= now * 1000
        ):
            continue
        for handle in reversed(entry.handles[:_OF_A_CALL]):
            # Handles in the order of the calls, the latest last.
            noted.pop((turn.topic, handle), None)
            noted[turn.topic, handle] = at
    for (topic, handle), at in list(noted.items())[-_MOST:]:
        note(forest.nodes[topic], place.root, handle, at)


def _turn_of(forest: Forest, session: str, latest: LastTurn) -> LastTurn | None:
    """The last turn of a session; for an unknown session, the last turn of all."""
    turn = forest.turns.get(session)
    if turn is None and (not session or not forest.turns or "" in forest.turns):
        # If the host names no session, calls of other sessions cannot be distinguished.
        return latest
    return turn


def remember_turn(forest: Forest, session: str, at: float, *, has_topic: bool) -> None:
    """Store the topic and time of a session's prompt, after it was added.

    Args:
        forest: the forest with the prompt.
        session: the host's id of the session.
        at: the time of the prompt, in seconds since the epoch.
        has_topic: False for "yes" and the like, which keep the session's topic.
    """
    key = trail_log.session_key(session)
    earlier = forest.turns.pop(key, None)
    topic = forest.last if has_topic or earlier is None else earlier.topic
    forest.turns[key] = LastTurn(topic, at)
    for oldest in list(forest.turns)[:-_MOST_SESSIONS]:
        del forest.turns[oldest]


# Shows the code of a topic: handles from the session trail that are still valid.
#
# This does not open an index. A handle is valid while its file has the stored size and time. If the
# file changed, `definition_state` searches it for the definition: if it is unsure, only the file is
# shown; if the definition is gone, nothing is.

MOST = 2
"""Maximum number of handles shown for a topic."""
_KEPT = 6
_LONGEST_HANDLE = 200
_LARGEST_FILE = 500_000
_SECOND_NS = 1_000_000_000


def note(topic: Node, root: str, handle: str, at: float | None = None) -> None:
    """Add a handle as the first one of a topic, with the current size and time of its file.

    A definition that the file does not have is skipped: a call may name code that never existed. If
    the check is unsure, the handle is added if the file has not changed since the call.

    Args:
        topic: the root of a tree.
        root: the root of the worktree.
        handle: the handle in the trail.
        at: the time of the call, in seconds since the epoch; None: now.
    """
    path = _path(root, handle)
    if len(handle) > _LONGEST_HANDLE or path is None:
        return
    size, stamp = _size_and_time(path)
    if size < 0:
        return
    file, _, symbol = handle.partition("#")
    if symbol:
        outcome = _definition_state(path, size, symbol)
        # Older versions wrote whole seconds into the trail.
        is_as_then = at is None or stamp < (at + 1) * _SECOND_NS
        if outcome == "gone":
            return
        if outcome == "elsewhere" or (outcome == "unsure" and not is_as_then):
            handle = file
    remaining = [pair for pair in topic.handles if pair[0] != handle]
    topic.handles = [(handle, size, stamp), *remaining][:_KEPT]


def true_handles(topic: Node, root: str) -> list[str]:
    """The topic's handles that are valid in the worktree at `root` now, at most two."""
    result: list[str] = []
    for handle, size, stamp in topic.handles:
        now = _valid_form(root, handle, size, stamp)
        if now and now not in result:
            result.append(now)
        if len(result) == MOST:
            break
    return result


def _valid_form(root: str, handle: str, size: int, stamp: int) -> str:
    path = _path(root, handle)
    if path is None:
        return ""
    now = _size_and_time(path)
    file, _, symbol = handle.partition("#")
    if now == (size, stamp) or (now[0] >= 0 and not symbol):
        return handle
    if not 0 <= now[0] <= _LARGEST_FILE:
        return ""
    outcome = _definition_state(path, now[0], symbol)
    return {"there": handle, "gone": ""}.get(outcome, file)


def _definition_state(path: str, size: int, symbol: str) -> str:
    """The result of `definition_state`; `unsure` for a file that is too large to read."""
    if size > _LARGEST_FILE:
        return "unsure"
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read(_LARGEST_FILE)
    except OSError:
        return "gone"
    qualified, tilde, ordinal = symbol.rpartition("~")
    return definition_state(text, path, qualified if tilde and ordinal.isdigit() else symbol)


def _path(root: str, handle: str) -> str | None:
    """The file of a handle; None if it is on another branch or outside the worktree."""
    file = handle.partition("#")[0]
    if not file or ":" in file or "\0" in file or "%00" in file or file.startswith(("/", "..")):
        return None
    # A handle percent-escapes its separators.
    name = _unescaped(file) if "%" in file else file
    path = os.path.normpath(os.path.join(root, name))
    return path if path.startswith(root.rstrip(os.sep) + os.sep) else None


def _unescaped(file: str) -> str:
    raw = re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), os.fsencode(file))
    return os.fsdecode(raw)


def _size_and_time(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return -1, 0
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else (-1, 0)
