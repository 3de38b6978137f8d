"""Finds the receiver of each name, and the methods that Python calls without naming them.

Such methods are those of `with a`, `a + b`, `a[i]`, `len(a)` and `a(1)`, each a use of the method
after its operand. Most operands are strings, numbers or unknown, so a use counts only if the text
gives the operand a type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set

from tree_sitter import Node

from codelens.extract.flow.expressions import UNKNOWN
from codelens.extract.flow.operators import GIVING_TYPES, Use, typed_names
from codelens.extract.flow.scopes import Flow
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import PROTOCOL, ROOT

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_FUNCTIONS = {
    "abs": "abs", "bool": "bool", "bytes": "bytes", "dict": "iter", "enumerate": "iter",
    "float": "float", "hash": "hash", "int": "int", "iter": "iter", "len": "len", "list": "iter",
    "next": "next", "repr": "repr", "reversed": "reversed", "round": "round", "set": "iter",
    "sorted": "iter", "str": "str", "sum": "iter", "tuple": "iter",
}  # fmt: skip
_UNIONS = frozenset({"type", "binary_operator", "subscript"})
"""Nodes around an `A | B` that is a type."""
_TEXTS = frozenset({"string", "integer", "float", "none", "true", "false", "concatenated_string"})
_SAYING_NOTHING = _TEXTS | frozenset(
    "list dictionary set tuple binary_operator comparison_operator not_operator subscript lambda "
    "list_comprehension dictionary_comprehension set_comprehension generator_expression".split()
)
_BUILT_IN = re.compile(
    r"(?:dict|frozenset|int|len|list|open|range|set|sorted|str|tuple|zip"
    r"|.*\.(?:decode|encode|format|items|join|keys|lower|lstrip|read|readlines|replace|rsplit|rstrip"
    r"|split|splitlines|strip|upper))\(\)"
)
"""Calls that return a string, a number or a built-in collection."""
_PLAIN = re.compile(rf"str|int|float|bool|bytes|None|{_BUILT_IN.pattern}")
_HEAD = re.compile(r"(?:(?:self|cls)\.)?[^\W\d]\w*|[(`]")

_Named = tuple[str, Node | None]


def protocol_uses(
    captures: Captures, defined: Set[str], source: Source, flow: Flow
) -> Iterator[Use]:
    """Yields all protocol uses of a text that defines or imports some names, unordered."""
    written = flow.expressions.written
    typed = typed_names(flow, GIVING_TYPES | {"type"}, _PLAIN)
    calls = list(_calls(captures.get("reference.call", []), source, typed))
    for node in (*captures.get("protocol", []), *calls):
        for name, operand in _READERS[node.type](node):
            if operand is None or _adds_nothing(name, operand, typed, defined):
                continue
            receiver = written(operand)
            head = _HEAD.match(receiver)
            if head is not None and typed.get(head[0], True) and not _BUILT_IN.fullmatch(receiver):
                yield operand.end_byte - 1, f"__{name}__", "call", receiver, PROTOCOL, ""


def _calls(names: list[Node], source: Source, typed: Mapping[str, bool]) -> Iterator[Node]:
    """Yields the calls of functions and variables that may call a method."""
    for node, text in zip(names, source.texts(names), strict=True):
        if typed.get(text, text in _FUNCTIONS) and node.type == "identifier":
            call = node.parent
            if call is not None and call.type == "call":
                yield call


def _adds_nothing(name: str, operand: Node, typed: Mapping[str, bool], defined: Set[str]) -> bool:
    """Whether the operand cannot tell the method, or another use already covers the call."""
    if operand.type != "identifier":
        return operand.type in _SAYING_NOTHING
    bare = (operand.text or b"").decode("utf-8", "replace")
    if bare in defined:
        return name == "call" or not typed.get(bare, True)
    return not typed.get(bare, False)


def _with(node: Node) -> Iterator[_Named]:
    value = node.child_by_field_name("value")
    if value is not None and value.type == "as_pattern":
        value = value.named_child(0)
    clause = node.parent
    statement = clause.parent if clause is not None else None
    waits = statement is not None and statement.children[0].type == "async"
    for name in ("aenter", "aexit") if waits else ("enter", "exit"):
        yield name, value


def _each(node: Node) -> Iterator[_Named]:
    waits = node.children[0].type == "async"
    yield "aiter" if waits else "iter", node.child_by_field_name("right")


def _subscript(node: Node) -> Iterator[_Named]:
    around = node.parent
    name = "getitem"
    if around is not None and around.type == "delete_statement":
        name = "delitem"
    elif around is not None and around.type in {"assignment", "augmented_assignment"}:
        left = around.child_by_field_name("left")
        name = "setitem" if left is not None and left.id == node.id else name
    value = node.child_by_field_name("value")
    last = (value.text or b"").rpartition(b".")[2] if value is not None else b""
    if not last[:1].isupper():
        # `List[int]` is a type.
        yield name, value


def _operator(node: Node) -> Iterator[_Named]:
    sign = node.child_by_field_name("operator")
    text = sign.type if sign is not None else ""
    name = _OPERATORS.get(text.removesuffix("=") if text[-1:] == "=" else text)
    left, around = node.child_by_field_name("left"), node.parent
    is_type = text == "|" and around is not None and around.type in _UNIONS
    if name is not None and not is_type:
        if node.type == "augmented_assignment":
            yield f"i{name}", left
        yield name, left


def _comparison(node: Node) -> Iterator[_Named]:
    if node.child_count != 3:
        return
    left, sign, right = node.children
    if sign.type in {"in", "not in"}:
        yield "contains", right
    elif right.type not in _TEXTS and sign.type in _COMPARISONS:
        # An operand that is compared with a string or a number is nearly always one too.
        yield _COMPARISONS[sign.type], left


def _call(node: Node) -> Iterator[_Named]:
    function, arguments = node.children[0], node.child_by_field_name("arguments")
    text = (function.text or b"").decode("utf-8", "replace")
    name = _FUNCTIONS.get(text)
    if name is None:
        yield "call", function
    elif arguments is not None and arguments.named_child_count:
        yield name, arguments.named_child(0)


_READERS: dict[str, Callable[[Node], Iterator[_Named]]] = {
    "module": lambda _: iter(()),
    "with_item": _with,
    "for_statement": _each,
    "for_in_clause": _each,
    "subscript": _subscript,
    "binary_operator": _operator,
    "augmented_assignment": _operator,
    "comparison_operator": _comparison,
    "call": _call,
}


# Receivers: the text before the dot of each name (`Reference.receiver`).

_LONGEST_CHAIN = 160
_DOTS = frozenset({b".", b":", b">", b"\\"})
BLANKS = frozenset({b" ", b"\n", b"\t", b"\r"})
_SPACES = BLANKS | {b"\v", b"\f"}
_BEFORE_NAME = _DOTS | BLANKS
_STATIC = b"::$"
_CLOSED = frozenset(")]")
_CUT = frozenset(".?!")
"""A text that begins with one of these is only part of a chain."""
_JOINT = re.compile(rb"\s*\.[?!&]?(?!\.)|>-\??(?=\s*[\w)\]])|::(?=[\w>])|\\(?=\w)")
"""The token between a member and its owner, read backwards."""
_CHAIN = re.compile(
    rb"(?:\s*\.[?!&]?|>-|::|\\)((?:[\w$#\x80-\xff]+(?:\.[?!&]?|>-\??|::|\\))*[\w$#\x80-\xff]*"
    rb"[A-Za-z_$#\x80-\xff])(?![\w$.)\]?>:\\\x80-\xff\"'`}]|\s+\.)"
)
"""The token and the names before it, if there are only names. Read backwards."""
_ROOTED = re.compile(rb"\\((?:[\w\x80-\xff]+\\)*[\w\x80-\xff]+)\\(?![\w)\]\x80-\xff])")
"""A fully qualified namespace: `\\App\\f()` in PHP. Read backwards."""
_IN_MACRO = re.compile(r"(?:^|[^\w.)\]?'])((?:\w+(?:::\w+)*(?:\([^()]{0,60}\))?\.)+)$")
"""A chain of plain calls without a syntax tree, as in macro arguments."""
_CALLED = re.compile(r"\([^()]*\)")
_DOT = re.compile(r"[?!&]?\.|\??->|::|\\")


def receivers_of(
    captures: Captures, names: list[str], starts: list[int], source: Source, flow: Flow
) -> list[str]:
    """Returns the receiver of each name; see `Reference.receiver`."""
    nodes = captures.get("chain", [])
    ends = [node.end_byte for node in nodes]
    heads = [node.start_byte for node in nodes]
    # Most chains are names and dots. A longer text is cut, then read from the tree.
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
    before_name = _BEFORE_NAME - {b"."} if flow.joins_texts else _BEFORE_NAME
    for name, start in zip(names, starts, strict=True):
        if text[start - 1 : start] not in before_name:
            # PHP: `Type::$name`.
            is_static = text[start - 3 : start] == _STATIC
            add(_read_back(text, start - 1, owned, flow) if is_static else "")
            continue
        chain_at = chains.get(start + (len(name) if name.isascii() else len(name.encode())))
        if chain_at is None or chain_at[0] == start:
            if text[start - 1 : start] not in BLANKS:
                add(_read_back(text, start, owned, flow))
            else:
                add("" if chained else _over_blanks(text, start, owned, flow))
            continue
        _, chain, node = chain_at
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
    """Returns the receiver of a name that is separated from its dot by blanks.

    The tree has to confirm the dot, because a comment on the line before may end in a full stop.
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
    """Returns the receiver of a name from the text before it, or else from the tree."""
    before = text[max(0, start - _LONGEST_CHAIN) : start][::-1]
    near = _names_before(before, flow)
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
    # `a!!.b`: the owner includes `!!`. `a?.b`: the owner does not include `?`.
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


def _names_before(before: bytes, flow: Flow) -> re.Match[bytes] | None:
    """Matches the names before a name, if there are only names."""
    near = _CHAIN.match(before)
    # PHP: in `$a.B::c` the dot joins two texts.
    return None if near is not None and flow.joins_texts and b"." in near[0] else near


def _without_name(whole: str, name: str) -> str:
    return whole[: -len(name) - 1] if whole.endswith("." + name) else UNKNOWN
