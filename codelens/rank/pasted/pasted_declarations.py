"""Recognises a query that declares or calls one definition as code does; pure text.

Forms are `def f(x):`, `func (r *T) Name`, `obj->m()`, `#define X`, `@decorator`, `operator==`,
`valid?`. The query only counts as a declaration if the view has such a definition: `class methods`
may be a question. `Declared.sure` marks unambiguous forms.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS
from codelens.rank.query.query_analysis import Name

MAX_CHARS = 400

_OPERATOR = (
    r"operator\s*(?:\(\)|\[\]|\"\"\s*\w+|(?:new|delete)\b(?:\[\])?|<=>|->\*?|[-+*/%^&|~!=<>,]{1,3})"
)
_ONE = rf"(?:{_OPERATOR}|~?[$@]{{0,2}}[^\W\d][\w$]*+[?!]?)"
_SEPARATOR = r"(?:::|->|\?\.|\.|\#|\\|/)"
_QUALIFIED = rf"(?:::|\.|\#|\\)?(?P<name>{_ONE}(?:{_SEPARATOR}{_ONE})*)"
_GENERIC = r"(?:<[^()]{0,200}>|\[[^()]{0,200}\])?"
_REST = r"\s*(?:[({<\[:=;].*|(?:extends|implements|where|with|inherits|of|is|as|=>)\b.*)?"

_MODIFIER = (
    r"(?:pub(?:\([\w:]+\))?|public|private|protected|internal|open|abstract|final|static|async|export|default"
    r"|const|unsafe|extern|inline|virtual|override|sealed|data|case|implicit|lazy|readonly|declare|local"
    r"|partial|suspend|inner|mutating|fileprivate|explicit|constexpr|noexcept|synchronized|native)"
)
_CALLABLE = frozenset({"function", "method", "macro", "variable", "property", "constant"})
_TYPES = frozenset(
    {
        "class",
        "struct",
        "interface",
        "trait",
        "enum",
        "module",
        "union",
        "type",
        "member",
        "constant",
    }
)
_VALUES = frozenset({"constant", "variable", "field", "property", "member", "key", "function"})
_STRONG = {
    "def": _CALLABLE | _TYPES, "defp": _CALLABLE, "defn": _CALLABLE, "defmacro": _CALLABLE,
    "defmodule": _TYPES, "func": _CALLABLE, "fn": _CALLABLE, "fun": _CALLABLE, "sub": _CALLABLE,
    "impl": _TYPES, "typedef": _TYPES, "newtype": _TYPES, "let": _VALUES, "var": _VALUES,
    "val": _VALUES, "macro_rules!": _CALLABLE,
}  # fmt: skip
"""Words before a name that occur only in code."""
_NOUNS = {
    "class": _TYPES, "struct": _TYPES, "interface": _TYPES, "trait": _TYPES, "enum": _TYPES,
    "type": _TYPES, "module": _TYPES, "namespace": _TYPES, "protocol": _TYPES, "object": _TYPES,
    "record": _TYPES, "union": _TYPES, "extension": _TYPES, "instance": _TYPES, "data": _TYPES,
    "package": _TYPES, "function": _CALLABLE, "method": _CALLABLE, "macro": _CALLABLE,
    "constant": _VALUES, "const": _VALUES, "field": _VALUES, "property": _VALUES,
    "variable": _VALUES, "attribute": _VALUES, "symbol": frozenset[str](),
    "decorator": _CALLABLE | _TYPES,
}  # fmt: skip
"""Words before a name that also occur in questions."""
_WORDS = "|".join(map(re.escape, [*_STRONG, *_NOUNS]))
_KEYWORD = re.compile(
    rf"(?:{_MODIFIER}\s+)*(?P<word>{_WORDS})\s+{_QUALIFIED}{_GENERIC}{_REST}", re.DOTALL
)
_RECEIVER = re.compile(
    r"func\s*\((?:\w+\s+)?\*?\s*(?P<owner>\w+)(?:\[[^\]]*\])?\)\s*(?P<name>\w+)(?:[(\[].*)?",
    re.DOTALL,
)
_DEFINE = re.compile(r"#\s*(?:define|undef|ifdef|ifndef)\s+(?P<name>\w+)(?:[(\s].*)?", re.DOTALL)
_DECORATOR = re.compile(r"@(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\(.*\)?)?", re.DOTALL)
_CALL = re.compile(rf"(?:new\s+|await\s+|&)?{_QUALIFIED}{_GENERIC}(?:!?\((?:[^\n]*\))?;?|\s*\{{)")
_ARITY = re.compile(rf"{_QUALIFIED}/\d{{1,2}}")
_TYPED = re.compile(
    rf"(?P<before>(?:[\w:.<>*&\[\],?]+\s+){{1,6}})[*&]*{_QUALIFIED}\([^\n]*\)"
    r"\s*(?:(?:const|override|noexcept|final)\b|throws [\w., ]+|->\s*[^{};]+|:\s*[^{};]+)*\s*[{;:]?"
)
_PLAIN = re.compile(_QUALIFIED)
_KEBAB = re.compile(r"(?P<name>[^\W\d]\w*(?:-\w+)+)")
_SIGNS = re.compile(r"[(`]?(?P<name>[^\w\s()`'\",;]{1,8})[)`]?")
_SELF = frozenset("self this cls super $this Self crate base parent @".split())
_SPLIT = re.compile(_SEPARATOR)
_SHAPE = re.compile(r"[a-z0-9][A-Z]|_\w|[A-Z]|\d|[?!$]")


class Declared(NamedTuple):
    """A name in the form of a declaration or call."""

    name: Name
    kinds: frozenset[str]
    """Kinds that the form allows; empty for any."""
    sure: bool
    """Whether it is a name even if no definition has it."""


def declared(text: str) -> Declared | None:
    """Return the name that the whole text declares or calls; None for other texts."""
    text = text.strip().strip("`").strip()
    if not text or len(text) > MAX_CHARS:
        return None
    by_keyword = _keyworded(text)
    if by_keyword is not None:
        return by_keyword
    call = _CALL.fullmatch(text) or _ARITY.fullmatch(text)
    if call:
        return _of(call["name"], frozenset(), sure=True)
    typed = _TYPED.fullmatch(text)
    if typed and not _has_stopword(typed["before"]):
        return _of(typed["name"], frozenset(), sure=False)
    plain = _PLAIN.fullmatch(text)
    if plain and _is_marked(text):
        return _of(plain["name"], frozenset(), sure=True)
    kebab = _KEBAB.fullmatch(text)
    if kebab:
        return Declared(Name(text, (text,)), frozenset(), sure=False)
    signs = _SIGNS.fullmatch(text)
    if signs:
        return Declared(Name(signs["name"], (signs["name"],)), frozenset(), sure=False)
    return None


def _keyworded(text: str) -> Declared | None:
    receiver = _RECEIVER.fullmatch(text)
    if receiver:
        parts = (receiver["owner"], receiver["name"])
        return Declared(Name(".".join(parts), parts), frozenset(), sure=True)
    for form in (_DEFINE, _DECORATOR):
        match = form.fullmatch(text)
        if match:
            return _of(match["name"], frozenset(), sure=True)
    match = _KEYWORD.fullmatch(text)
    if match is None:
        return None
    word, name = match["word"], match["name"]
    strong = word in _STRONG
    kinds = _STRONG[word] if strong else _NOUNS[word]
    return _of(name, kinds, sure=strong or bool(_SHAPE.search(name)))


def _of(text: str, kinds: frozenset[str], *, sure: bool) -> Declared | None:
    parts = tuple(part for part in _SPLIT.split(_kept_operator(text)) if part)
    parts = tuple(part.replace("\0", "->") for part in parts)
    while len(parts) > 1 and parts[0] in _SELF:
        parts = parts[1:]
    if not parts:
        return None
    return Declared(Name(".".join(parts) if len(parts) > 1 else parts[0], parts), kinds, sure)


def _kept_operator(text: str) -> str:
    """Protect the separator in `operator->`, which separates nothing."""
    return re.sub(r"(operator\s*)->", "\\1\0", text)


def _is_marked(text: str) -> bool:
    """Whether a name has signs that plain words and qualified names lack."""
    parts = _SPLIT.split(text)
    return (
        text.startswith(tuple("$@.#:\\~"))
        or text.endswith(("?", "!"))
        or any(sign in text for sign in ("$", "\\", "?."))
        or ("operator" in text and not text.isidentifier())
        or (len(parts) > 1 and parts[0] in _SELF)
    )


def _has_stopword(text: str) -> bool:
    return any(word.lower() in STOPWORDS for word in text.split())
