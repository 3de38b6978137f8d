"""What stands before the dot of each name: `Reference.receiver`."""

from __future__ import annotations

import re

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN
from codelens.extract.flow.scopes import Flow
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source

ROOT = "\\"
"""The receiver of a name that is told to be in no namespace: `\\strlen()` of PHP."""
_LONGEST_CHAIN = 160
_DOTS = frozenset({b".", b":", b">", b"\\"})
BLANKS = frozenset({b" ", b"\n", b"\t", b"\r"})
_SPACES = BLANKS | {b"\v", b"\f"}
_BEFORE_NAME = _DOTS | BLANKS
_CLOSED = frozenset(")]")
_CUT = frozenset(".?!")
"""A text that begins so is not the whole of a chain."""
_JOINT = re.compile(rb"\s*\.[?!&]?(?!\.)|>-\??(?=\s*[\w)\]])|::(?=[\w>])|\\(?=\w)")
"""What joins a member to its owner, read backwards."""
_CHAIN = re.compile(
    rb"(?:\s*\.[?!&]?|>-|::|\\)((?:[\w$#\x80-\xff]+(?:\.[?!&]?|>-\??|::|\\))*[\w$#\x80-\xff]*"
    rb"[A-Za-z_$#\x80-\xff])(?![\w$.)\]?>:\\\x80-\xff\"'`}]|\s+\.)"
)
"""The same with the names before it, where there is nothing but names."""
_ROOTED = re.compile(rb"\\((?:[\w\x80-\xff]+\\)*[\w\x80-\xff]+)\\(?![\w)\]\x80-\xff])")
"""Names of namespaces, and that they begin at the outermost: `\\App\\f()` of PHP, backwards."""
_IN_MACRO = re.compile(r"(?:^|[^\w.)\]?'])((?:\w+(?:::\w+)*(?:\([^()]{0,60}\))?\.)+)$")
"""A chain of plain calls that no tree tells of, as in the arguments of a macro."""
_CALLED = re.compile(r"\([^()]*\)")
_DOT = re.compile(r"[?!&]?\.|\??->|::|\\")


def receivers_of(
    captures: Captures, names: list[str], starts: list[int], source: Source, flow: Flow
) -> list[str]:
    """What stands before the dot of each name; see `Reference.receiver`."""
    nodes = captures.get("chain", [])
    ends = [node.end_byte for node in nodes]
    heads = [node.start_byte for node in nodes]
    # Most chains are names and dots; a longer text is cut, and then looked at as a tree.
    slices = map(source.slice, map(max, heads, [end - _LONGEST_CHAIN for end in ends]), ends)
    chains = {
        end: (head, text, node)
        for end, head, text, node in zip(ends, heads, slices, nodes, strict=True)
    }
    owned = {node.end_byte: node for node in captures.get("receiver", ())}
    text = source.text
    written = flow.expressions.written
    chained = bool(nodes) and not owned
    receivers: list[str] = []
    add = receivers.append
    for name, start in zip(names, starts, strict=True):
        if text[start - 1 : start] not in _BEFORE_NAME:
            add("")
            continue
        known = chains.get(start + (len(name) if name.isascii() else len(name.encode())))
        if known is None or known[0] == start:
            if text[start - 1 : start] not in BLANKS:
                add(_read_back(text, start, owned, flow))
            else:
                add("" if chained else _over_blanks(text, start, owned, flow))
            continue
        _, chain, node = known
        before, _, last = chain.rpartition(".")
        if last != name:
            add(_read_back(text, start, owned, flow, chain=node, name=name))
        elif before.replace(".", "").isidentifier() and chain[0] not in _CUT:
            add(before)
        elif before[-1:] in _CLOSED:
            add(_without_name(written(node), name))
        else:
            add(_read_back(text, start, owned, flow, chain=node, name=name))
    return receivers


def _over_blanks(text: bytes, start: int, owned: dict[int, Node], flow: Flow) -> str:
    """The receiver of a name that stands apart from its dot.

    The tree has to say so: a comment on the line before may end in a full stop.
    """
    end = start
    while text[end - 1 : end] in _SPACES:
        end -= 1
    if text[end - 1 : end] not in _DOTS:
        return ""
    joint = _JOINT.match(text[max(0, start - _LONGEST_CHAIN) : start].rstrip()[::-1])
    if joint is None:
        return ""
    end = start
    while text[end - 1 : end] in BLANKS:
        end -= 1
    end -= joint.end()
    while text[end - 1 : end] in BLANKS:
        end -= 1
    return flow.expressions.written(owned[end]) if end in owned else ""


def _read_back(
    text: bytes,
    start: int,
    owned: dict[int, Node],
    flow: Flow,
    *,
    chain: Node | None = None,
    name: str = "",
) -> str:
    """The receiver of a name, from the text before it, else from the tree."""
    before = text[max(0, start - _LONGEST_CHAIN) : start][::-1]
    near = _CHAIN.match(before)
    if near is not None and chain is not None and b"?" in near[0] and flow.expressions.unwraps:
        return _without_name(flow.expressions.written(chain), name)
    if near is not None:
        return _DOT.sub(".", near[1][::-1].decode("utf-8", "replace"))
    rooted = _ROOTED.match(before)
    if rooted is not None:
        return ROOT + _DOT.sub(".", rooted[1][::-1].decode("utf-8", "replace"))
    joint = _JOINT.match(before)
    written = flow.expressions.written
    if joint is None:
        if before[:1] == b":" and start - 1 in owned:
            # Lua: `object:method()`.
            return written(owned[start - 1])
        return ROOT if before[:1] == b"\\" else ""
    # `a!!.b` is a whole with its sign, `a?.b` is not.
    for length in (joint.end(), joint.end() - (joint[0][-1:] in {b"!", b"?"})):
        end = start - length
        while text[end - 1 : end] in BLANKS:
            end -= 1
        if end in owned:
            return written(owned[end])
    if chain is not None:
        return _without_name(written(chain), name)
    chained = _IN_MACRO.search(before[::-1].decode("utf-8", "replace"))
    return UNKNOWN if chained is None else _CALLED.sub("()", chained[1][:-1]).replace("::", ".")


def _without_name(whole: str, name: str) -> str:
    return whole[: -len(name) - 1] if whole.endswith("." + name) else UNKNOWN
