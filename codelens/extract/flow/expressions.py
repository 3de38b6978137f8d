"""Writes expressions in the compact notation that name resolution reads.

    name    E.name    E()    E[]    E[*]    E[with]    (E|E)    {k,k:E,...E}    `type`    'm'
    0    ?

`E()` is a call or a construction; for TypeScript the parentheses hold one letter per argument
(`codelens.resolve.languages.script`). `E[]` is an element by key, `E[*]` an element by iteration,
`E[with]` the result of entering a context, `(E|E)` either of two, `{...}` an object by its keys,
a type in back quotes a value of that type, `'m'` the module that a call loads (`[loads]`), `0` a
literal, `?` anything else. Wrappers around a value are dropped. The `[expressions]` setting of a
language maps node types to forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from tree_sitter import Node

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source
from codelens.types import Import

UNKNOWN = "?"
LITERAL = "0"
LIMIT = 200
_NOTE = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_UNENDED = re.compile(
    r"(?<=[\w\])}>'\"`])(?<!=>)[ \t]*\n\s*"
    r"(?=(?:readonly\s+)?[\w$'\"\[][\w$'\"\] -]*\??\s*(?:\([^\n]*\)\s*)?:)"
)
"""The end of a line that ends a member of an object type without punctuation."""
"""Longest expression or type, in characters."""
_RECORD = 1_000
"""Longest object literal, in characters: a default export may list all names of a module."""
_MOST_KEYS = 200
_ABOVE = ".#above"
"""After a type: an instance of the type, seen as its base type."""
_AWAITED = ".#await"
_DEEPEST = 40
_PLAIN = re.compile(r"[^\W\d][\w$]*(?:\??\.#?[\w$]+)*|[$#][\w$]*(?:\??\.#?[\w$]+)*")
"""A name or dotted names, the most common expression."""
_RANGES = frozenset({"range_expression", "range", "slice"})
_HEAD = re.compile(r"[^\W\d]\w*")
_FIRST = frozenset({"&&", "and"})
_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem",
    "&": "bitand", "|": "bitor", "^": "bitxor", "<<": "shl", ">>": "shr",
}  # fmt: skip
_MORE = "*"
_EVERY = "*"
"""Before a node type: all children of that type."""
_MOST_BRANCHES = 8
_MOST_MARKS = 6
_CHOICES = frozenset({"||", "??", "or"})
_TOP = "top"
"""In place of a step in `[loads]`: the first package of the module."""
_OF_TYPE = "type"
"""In place of a step in `[loads]`: the call gives an instance of the class that it is passed."""
_LITERAL_NAME = re.compile(r"""(["'`])([^"'`\\$\s]{1,150})\1""")


def _observed(info: LanguageInfo, imports: Iterable[Import]) -> dict[str, str]:
    """Maps local names of functions to the key under which their result holds their argument."""
    places = {name: text.split() for name, text in info.observed}
    known = {name: "" for name, parts in places.items() if not parts}
    for imported in imports:
        parts = places.get(imported.name)
        if parts and parts[0] == imported.module:
            known[imported.alias or imported.name] = "".join(parts[1:])
    return known


def _result(function: Node) -> Node | None:
    """Returns what a function without other statements returns."""
    body = function.child_by_field_name("body")
    if body is None or body.type != "statement_block":
        return body
    inner = [part for part in body.named_children if not part.is_extra]
    alone = len(inner) == 1 and inner[0].type == "return_statement"
    return inner[0].named_child(0) if alone and inner[0].named_child_count else None


class Expressions:
    """Writes the expressions of one text."""

    def __init__(self, info: LanguageInfo, source: Source, imports: Iterable[Import] = ()) -> None:
        self._source = source
        self._observed = _observed(info, imports) if info.observed else {}
        self._recipes, self._plain = _recipes(info.expressions)
        self._signs = dict(info.operator_names)
        self._loads = dict(info.loads)
        self.unwraps = any(recipe[0] == "then" for recipe in self._recipes.values())
        """Whether `?` after a value unwraps it (Rust). In other languages `?` is dropped."""
        self.bound: Callable[[Node, str], Iterable[tuple[int, str, str]]] = lambda _node, _text: ()
        """Returns what a pattern binds for a value: positions, names, and the value of each name.
        """

    def written(self, node: Node | None, depth: int = 0) -> str:
        """Writes the expression of a node; `?` if it is too long or too deep."""
        if node is None or depth > _DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind in self._plain:
            text = self._source.slice(node.start_byte, min(node.end_byte, node.start_byte + LIMIT))
            if text.isidentifier():
                return text
            if _PLAIN.fullmatch(text) and not (self.unwraps and "?" in text):
                return text.replace("?", "") if "?" in text else text
        recipe = self._recipes.get(kind)
        if recipe is None:
            return UNKNOWN
        written = self._by_recipe(node, recipe, depth + 1)
        if len(written) <= LIMIT:
            return written
        return written if written[0] == "{" and len(written) <= _RECORD else UNKNOWN

    def _by_recipe(self, node: Node, recipe: tuple[str, ...], depth: int) -> str:
        form, parts = recipe[0], recipe[1:]
        if form == "plain":
            return LITERAL
        if form == "own":
            return "self." + self._source.slice(node.start_byte, node.end_byte).lstrip("@")
        special = _FORMS.get(form)
        if special is not None:
            return special(self, node, parts, depth)
        called = child(node, parts[0] if parts else "0")
        inner = self.written(called, depth)
        text = self._known(node, recipe, inner, depth)
        if text:
            return text
        if inner == UNKNOWN or form == "through":
            return inner
        if form == "index":
            index = child(node, "1")
            # A slice of a list is a list.
            is_part = index is not None and index.type in _RANGES
            return inner if is_part else f"{inner}[]"
        behind = f"({_marks(node, parts[1:])})" if form == "marked" else "()"
        if called is not None and called.type == "await_expression":
            # The TypeScript grammar parses `await f<T>()` as a call of an await expression.
            return inner.removesuffix(_AWAITED) + behind + _AWAITED
        return inner + behind

    def _loaded(self, node: Node, step: str) -> str:
        """Writes a call that loads a module by its literal name; empty if the name is computed."""
        name = child(node, "arguments.0")
        if step == _OF_TYPE:
            return self._quoted(name) if name is not None and name.type == "identifier" else ""
        text = "" if name is None else self._source.slice(name.start_byte, name.end_byte)
        literal = _LITERAL_NAME.fullmatch(text)
        if literal is None:
            return ""
        module = literal[2]
        if step == _TOP:
            # Python's `__import__("a.b")` gives `a`, unless it is to give names of `a.b`.
            arguments = node.child_by_field_name("arguments")
            is_top = arguments is not None and arguments.named_child_count == 1
            return f"'{module.partition('.')[0] if is_top else module}'"
        return f"'{module}'{step}"

    def _built_in(self, node: Node, called: str, recipe: tuple[str, ...], depth: int) -> str:
        """Writes the result of a built-in call by the language settings; empty if not built in."""
        if called in self._loads:
            return self._loaded(node, self._loads[called])
        if recipe[0] != "call":
            return ""
        own = _pairs(recipe[2:])
        gives = own.get(called)
        if gives == "made":
            return self._type_argument(node.child_by_field_name("function"))
        if gives is None:
            return ""
        if gives == "above":
            type_ = child(node, "arguments.0")
            return f"{self._quoted(type_)}{_ABOVE}" if type_ is not None else ""
        number = gives.removeprefix("type").removeprefix("each")
        argument = child(node, f"arguments.{number or 0}")
        if gives == "type":
            return self._quoted(argument)
        text = self.written(argument, depth)
        return f"{text}[]" if text != UNKNOWN and gives != number else text

    def _known(self, node: Node, recipe: tuple[str, ...], called: str, depth: int) -> str:
        """Writes the result of a call that the settings know; empty for any other."""
        text = self._built_in(node, called, recipe, depth)
        if text or called not in self._observed:
            return text
        text = self._held(node, self._observed[called], depth)
        return text if text not in {UNKNOWN, LITERAL} else ""

    def _held(self, node: Node, key: str, depth: int) -> str:
        """Writes the result of a function that holds its argument: `ref(x)` of Vue."""
        types, listed = (
            node.child_by_field_name(field) for field in ("type_arguments", "arguments")
        )
        argument = listed.named_child(0) if listed is not None and listed.named_children else None
        if types is not None and types.named_child_count == 1:
            text = self._quoted(types.named_child(0))
        else:
            if argument is not None and argument.type == "arrow_function":
                argument = _result(argument)
            text = self.written(argument, depth)
        return f"{{{key}:{text}}}" if key and text not in {UNKNOWN, LITERAL} else text

    def _type_argument(self, called: Node | None) -> str:
        """Writes the result of a function that returns its type argument: `make_unique<Foo>()`."""
        while called is not None and called.child_by_field_name("arguments") is None:
            called = called.child_by_field_name("name")
        return self._quoted(child(called, "arguments.0")) if called is not None else UNKNOWN

    def _method(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes a call whose node holds the object and the method name as siblings."""
        name, owner = child(node, parts[1]), child(node, parts[0])
        if name is None:
            return UNKNOWN
        called = self._source.slice(name.start_byte, name.end_byte) + "()"
        if owner is None:
            return called
        before = self.written(owner, depth)
        return UNKNOWN if before == UNKNOWN else f"{before}.{called}"

    def _member(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        name, before = child(node, parts[1]), child(node, parts[0])
        if name is None:
            return UNKNOWN
        text = self._source.slice(name.start_byte, name.end_byte)
        if before is None and len(parts) > _ROOTED:
            return parts[_ROOTED] + text
        owner = self.written(before, depth)
        if owner == UNKNOWN:
            return UNKNOWN
        if text[-1:] == ">" and name.type in self._recipes:
            text = self.written(name, depth)
        return UNKNOWN if text == UNKNOWN else f"{owner}.{text}"

    def _returns(self, node: Node, parts: tuple[str, ...], _depth: int) -> str:
        result = self._quoted(child(node, parts[0]))
        return UNKNOWN if result == UNKNOWN else "`() => " + result[1:]

    def _then(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        before = self.written(child(node, parts[0]), depth)
        return UNKNOWN if before == UNKNOWN else before + parts[1]

    def _type(self, node: Node, parts: tuple[str, ...], _depth: int) -> str:
        return self._quoted(child(node, parts[0]))

    def _operator(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        sign = node.child_by_field_name("operator")
        word = "" if sign is None else sign.type
        if word in _FIRST:
            return self.written(child(node, parts[1]), depth)
        if word in _CHOICES:
            return self._either(node, parts, depth)
        return self._sign(node, parts, depth) if self._signs else UNKNOWN

    def _either(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        first, second = (self.written(child(node, part), depth) for part in parts[:2])
        if first == second:
            return first
        return UNKNOWN if UNKNOWN in {first, second} else f"({first}|{second})"

    def _branches(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the result of any of several branches. A missing branch counts as a literal."""
        texts: dict[str, None] = {}
        for part in parts:
            if part[0] == _EVERY:
                nodes = [inner for inner in node.named_children if inner.type == part[1:]]
            else:
                nodes = [child(node, part)]
            for branch in nodes:
                texts[self.written(branch, depth) if branch is not None else LITERAL] = None
        if UNKNOWN in texts or len(texts) > _MOST_BRANCHES:
            return UNKNOWN
        return next(iter(texts)) if len(texts) == 1 else f"({'|'.join(texts)})"

    def _arms(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the first known arm, as all arms have the same type."""
        value, body = self.written(child(node, parts[0]), depth), child(node, parts[1])
        for arm in body.named_children if body is not None else ():
            text = self._within(arm.child_by_field_name("pattern"), value, arm, depth)
            if text not in {UNKNOWN, LITERAL}:
                return text
        return UNKNOWN

    def _guarded(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the first known branch of an `if` or `if let`."""
        condition, first, second = (child(node, part) for part in parts)
        text = UNKNOWN
        if condition is not None and condition.type == "let_condition":
            value = self.written(condition.child_by_field_name("value"), depth)
            pattern = condition.child_by_field_name("pattern")
            text = self._within(pattern, value, node, depth, first)
        elif condition is not None and condition.type != "let_chain":
            text = self.written(first, depth)
        return text if text not in {UNKNOWN, LITERAL} else self.written(second, depth)

    def _within(
        self, pattern: Node | None, value: str, arm: Node, depth: int, result: Node | None = None
    ) -> str:
        """Writes the result of an arm, with values in place of the names that its pattern binds."""
        text = self.written(result or arm.child_by_field_name("value"), depth)
        head = _HEAD.match(text)
        if head is None or pattern is None:
            return text
        named = {name: part for _, name, part in self.bound(pattern, value)}
        part = named.get(head[0], head[0])
        return UNKNOWN if part in {"", UNKNOWN} else part + text[head.end() :]

    def _only(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the last expression of a block; `?` if it starts with a name bound in it."""
        inner = [part for part in node.named_children if not part.is_extra]
        if not inner or inner[-1].type in parts:
            return UNKNOWN
        text = self.written(inner[-1], depth)
        if len(inner) == 1 or text[:1] == "`":
            return text
        head = _HEAD.match(text)
        if head is None:
            return UNKNOWN
        patterns = [part.child_by_field_name("pattern") for part in inner[:-1]]
        bound = {
            name
            for pattern in patterns
            if pattern is not None
            for _, name, _ in self.bound(pattern, UNKNOWN)
        }
        return UNKNOWN if head[0] in bound else text

    def _sign(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes an operator as the method call that it stands for."""
        sign = node.child_by_field_name("operator") or child_of_sign(node)
        word = sign.type if sign is not None else ""
        method = self._signs.get(word, _METHODS[word]) if word in _METHODS else ""
        before = self.written(child(node, parts[0]), depth) if method else UNKNOWN
        return UNKNOWN if before in {UNKNOWN, LITERAL} else f"{before}.{method}()"

    def _last(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the last of several statements."""
        inner = [part for part in node.named_children if not part.is_extra]
        inner = [part for part in inner if part.type not in parts]
        return self.written(inner[-1], depth) if inner else LITERAL

    def _kept(self, node: Node, parts: tuple[str, ...], depth: int) -> str:
        """Writes the variable that a conditional assignment keeps: `@a ||= A.new`."""
        sign = node.child_by_field_name("operator")
        is_kept = sign is not None and sign.type.rstrip("=") in _CHOICES | _FIRST
        return self.written(child(node, parts[0]), depth) if is_kept else UNKNOWN

    def _record(self, node: Node, _parts: tuple[str, ...], depth: int) -> str:
        """Writes an object by its keys and spreads. Writes a literal if no value in it is known."""
        texts: list[str] = []
        has_known_value = False
        if node.named_child_count > _MOST_KEYS:
            return LITERAL
        for child in node.named_children:
            kind = child.type
            if kind == "shorthand_property_identifier":
                texts.append(self._source.slice(child.start_byte, child.end_byte))
                has_known_value = True
            elif kind == "spread_element":
                value = self.written(child.named_child(0), depth)
                texts.append(f"...{value}")
                has_known_value = has_known_value or value not in {LITERAL, UNKNOWN}
            elif kind in {"pair", "method_definition", "field"}:
                key = child.child_by_field_name("key" if kind == "pair" else "name")
                name = "" if key is None else self._source.slice(key.start_byte, key.end_byte)
                value = self.written(child.child_by_field_name("value"), depth)
                if name.isidentifier():
                    texts.append(f"{name}:{'?' if value == LITERAL else value}")
                    has_known_value = has_known_value or value not in {LITERAL, UNKNOWN}
        return "{" + ",".join(texts) + "}" if has_known_value else LITERAL

    def _cast(self, node: Node, _parts: tuple[str, ...], depth: int) -> str:
        to = child(node, "1")
        if to is None:
            return self.written(child(node, "0"), depth)
        return self._quoted(to)

    def _quoted(self, node: Node | None) -> str:
        text = self.type(node) if node is not None else ""
        return f"`{text}`" if text and "`" not in text else UNKNOWN

    def type(self, node: Node) -> str:
        """Returns the text of a type on one line; without its arguments if it is too long."""
        raw = self._source.slice(node.start_byte, min(node.end_byte, node.start_byte + 4 * LIMIT))
        if "\n" in raw and "{" in raw:
            ended, many = _UNENDED.subn("; ", _NOTE.sub("", raw))
            raw = ended if many else raw
        text = " ".join(raw.split()).removeprefix(":").strip()
        return text if len(text) <= LIMIT else self._without_arguments(node)

    def _without_arguments(self, node: Node) -> str:
        """Returns `A` for `A<...>`; empty for other types."""
        generic = node
        if node.type == "type_annotation" and node.named_child_count == 1:
            generic = node.named_children[0]
        if generic.type != "generic_type":
            return ""
        name = generic.named_children[0]
        text = self._source.slice(name.start_byte, name.end_byte)
        return text if len(text) <= LIMIT else ""


_ROOTED = 2
"""Index of the recipe part that stands before a member without an owner: `::A` in Ruby."""
_FORMS: dict[str, Callable[[Expressions, Node, tuple[str, ...], int], str]] = {
    "member": Expressions._member,  # pyright: ignore[reportPrivateUsage]
    "method": Expressions._method,  # pyright: ignore[reportPrivateUsage]
    "either": Expressions._either,  # pyright: ignore[reportPrivateUsage]
    "operator": Expressions._operator,  # pyright: ignore[reportPrivateUsage]
    "cast": Expressions._cast,  # pyright: ignore[reportPrivateUsage]
    "branches": Expressions._branches,  # pyright: ignore[reportPrivateUsage]
    "arms": Expressions._arms,  # pyright: ignore[reportPrivateUsage]
    "guarded": Expressions._guarded,  # pyright: ignore[reportPrivateUsage]
    "only": Expressions._only,  # pyright: ignore[reportPrivateUsage]
    "sign": Expressions._sign,  # pyright: ignore[reportPrivateUsage]
    "last": Expressions._last,  # pyright: ignore[reportPrivateUsage]
    "kept": Expressions._kept,  # pyright: ignore[reportPrivateUsage]
    "record": Expressions._record,  # pyright: ignore[reportPrivateUsage]
    "returns": Expressions._returns,  # pyright: ignore[reportPrivateUsage]
    "then": Expressions._then,  # pyright: ignore[reportPrivateUsage]
    "type": Expressions._type,  # pyright: ignore[reportPrivateUsage]
}
"""The first words of recipes that need more than one inner node."""


def _marks(node: Node, letters: tuple[str, ...]) -> str:
    """Writes one letter per argument of a call, by node type: `string:s`."""
    letter_of = _pairs(letters)
    marks = "<" if node.child_by_field_name("type_arguments") is not None else ""
    listed = node.child_by_field_name("arguments")
    if listed is None or listed.type != "arguments":
        return marks + _MORE
    for at, child_node in enumerate(listed.named_children):
        if at == _MOST_MARKS or child_node.type == "spread_element":
            return marks + _MORE
        if child_node.type != "comment":
            marks += letter_of.get(child_node.type, "u")
    return marks


@cache
def _pairs(parts: tuple[str, ...]) -> dict[str, str]:
    return dict(map(_pair, parts))


def _pair(part: str) -> tuple[str, str]:
    """Splits a built-in function and its result.

    The result is the number of an argument, `type` for the type that an argument names
    (`new:type`), `each0` for an element of an argument, `made` for the type argument (`make:made`),
    or `above` for the base of a type (`super:above`).
    """
    name, _, gives = part.partition(":")
    return name, gives


def child_of_sign(node: Node) -> Node | None:
    """Returns the operator between two operands if no field names it."""
    return node.children[1] if node.child_count > 2 else None


def plain(text: str) -> bool:
    """Whether a text is a name or dotted names."""
    return _PLAIN.fullmatch(text) is not None


def child(node: Node, path: str) -> Node | None:
    """Returns the node at a path of fields and of numbers of named children.

    `^` is the parent, `$` the last child, `~kind` the first child of a kind, `.` the node itself.
    """
    if path.isidentifier():
        return node.child_by_field_name(path)
    if path == ".":
        return node
    child_node: Node | None = node
    for part in path.split("."):
        if child_node is None:
            return None
        if part == "^":
            child_node = child_node.parent
        elif part == "$":
            count = child_node.named_child_count
            child_node = child_node.named_child(count - 1) if count else None
        elif part[0] == "~":
            kind = part[1:]
            child_node = next(
                (
                    named_child
                    for named_child in child_node.named_children
                    if named_child.type == kind
                ),
                None,
            )
        elif part.isdigit():
            child_node = (
                child_node.named_child(int(part))
                if int(part) < child_node.named_child_count
                else None
            )
        else:
            child_node = child_node.child_by_field_name(part)
    return child_node


@cache
def _recipes(
    settings: tuple[tuple[str, str], ...],
) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    recipes = {kind: tuple(recipe.split()) for kind, recipe in settings}
    plain_kinds = frozenset(
        kind for kind, recipe in recipes.items() if recipe[0] in {"name", "member"}
    )
    return recipes, plain_kinds
