"""Rule-based changes of one definition: its text before and after, by language.

Used by benchmarks/seededchanges.py. A change edits only the text, as an editor would. The index
supplies only where a definition begins and ends, and the line of its name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NEW_PARAMETER = {
    "c": "int zz", "cpp": "int zz", "csharp": "int zz", "go": "zz int", "java": "int zz",
    "javascript": "zz", "kotlin": "zz: Int", "lua": "zz", "php": "int $zz", "python": "zz",
    "ruby": "zz", "rust": "zz: i32", "tsx": "zz: number", "typescript": "zz: number",
}  # fmt: skip
"""Languages in which changes are made, and a new parameter for each."""
_COLON = frozenset({"kotlin", "python", "rust", "tsx", "typescript"})
"""Languages that write `name: Type`."""
_TYPE_FIRST = {"c": "long", "cpp": "long", "csharp": "long", "java": "long", "php": "array"}
_OTHER_TYPE = {
    "kotlin": "Long", "python": "bytes", "rust": "u64", "tsx": "bigint", "typescript": "bigint",
}  # fmt: skip
_SELF = re.compile(r"(?:&(?:'\w+ )?)?(?:mut )?(?:self|cls|this)\b")
_REST = re.compile(r"\A[*&/]|\.\.\.|\bparams\b|\bvararg\b|\Avoid\Z|\A\*\Z")
_BRACES_AND_TEXTS = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|[()\[\]{}<>,]")
_VALUE = re.compile(r"(?P<before>[=\s])(?P<value>\d+|\"[^\"\\\n]+\"|'[^'\\\n]+')(?=[\s;,)]|$)")


class Definition(NamedTuple):
    """The location of a definition; lines count from 1."""

    path: str
    name: str
    qualified: str
    kind: str
    language: str
    start: int
    end: int
    line: int
    """Line of the name."""


class _List(NamedTuple):
    """The parameters after a name."""

    start: int
    """The character after the opening bracket; without brackets, the place to insert some."""
    end: int
    texts: list[str]
    bracket: bool


def _parameters(text: str, definition: Definition) -> _List | None:
    """The parameters of a function, as written."""
    at = _line_start(text, definition.line)
    name = re.compile(rf"(?<![\w$]){re.escape(definition.name)}(?![\w$])").search(text, at)
    if name is None or text.count("\n", at, name.start()):
        return None
    behind = re.compile(r"\s*(?:[?=:]\s*(?:async\s+)?(?:function\s*\*?\s*\w*\s*)?)?"
                        r"(?:<[^()=]*>)?\s*\(").match(text, name.end())  # fmt: skip
    if behind is None:
        bare = definition.language == "ruby" and re.compile(r"[ \t]*\n").match(text, name.end())
        return _List(name.end(), name.end(), [], bracket=False) if bare else None
    depth, start, texts = 0, behind.end(), list[str]()
    for sign in _BRACES_AND_TEXTS.finditer(text, behind.end()):
        char = sign[0]
        if char == ">" and text[sign.start() - 1] in "-=":
            continue
        if char in ")" and not depth:
            texts.append(text[start : sign.start()])
            return _List(behind.end(), sign.start(), texts if any(map(str.strip, texts)) else [],
                         bracket=True)  # fmt: skip
        if char == "," and not depth:
            texts.append(text[start : sign.start()])
            start = sign.end()
        elif len(char) == 1 and char != ",":
            depth += 1 if char in "([{<" else -1
    return None


def _fixed(texts: list[str]) -> int:
    """The number of leading parameters that the language fixes: the instance."""
    return int(bool(texts) and bool(_SELF.match(texts[0].strip())))


def _with(text: str, old: _List, texts: list[str]) -> str:
    inner = ",".join(texts)
    return text[: old.start] + (inner if old.bracket else f"({inner})") + text[old.end :]


def with_more(text: str, definition: Definition) -> str | None:
    """Adds a parameter before the others."""
    old = _parameters(text, definition)
    if old is None:
        return None
    texts = [] if [one.strip() for one in old.texts] == ["void"] else list(old.texts)
    first = _fixed(texts)
    added = NEW_PARAMETER[definition.language]
    lead = " " if first else ""
    if first < len(texts):
        texts[first] = " " + texts[first].lstrip(" ")
    return _with(text, old, [*texts[:first], lead + added, *texts[first:]])


def with_fewer(text: str, definition: Definition) -> str | None:
    """Removes the last parameter."""
    old = _parameters(text, definition)
    if old is None or len(old.texts) <= _fixed(old.texts) or _REST.search(old.texts[-1].strip()):
        return None
    if definition.language == "go" and _are_grouped(old.texts):
        return None
    return _with(text, old, old.texts[:-1])


def with_order(text: str, definition: Definition) -> str | None:
    """Swaps the first two parameters."""
    old = _parameters(text, definition)
    if old is None:
        return None
    first, texts = _fixed(old.texts), list(old.texts)
    if len(texts) < first + 2 or any(_REST.search(one.strip()) for one in texts):
        return None
    if definition.language == "go" and _are_grouped(texts):
        return None
    texts[first], texts[first + 1] = texts[first + 1], texts[first]
    return _with(text, old, texts)


def with_type(text: str, definition: Definition) -> str | None:
    """Changes the type of the first parameter; None in languages without types."""
    old = _parameters(text, definition)
    if old is None:
        return None
    first, texts, language = _fixed(old.texts), list(old.texts), definition.language
    if len(texts) <= first or _REST.search(texts[first].strip()):
        return None
    one = texts[first]
    if language in _COLON:
        head, colon, rest = one.partition(":")
        if not colon:
            return None
        default = rest[rest.index("=") - 1 :] if re.search(r"(?<!=)=(?![=>])", rest) else ""
        texts[first] = f"{head}: {_OTHER_TYPE[language]}{default}"
    elif language in _TYPE_FIRST:
        name = re.search(r"[\w$]+\s*(?:\[\s*\]\s*)?(?:=.*)?\Z", one.strip(), re.DOTALL)
        if name is None or not name.start():
            return None
        texts[first] = f"{_TYPE_FIRST[language]} {name[0]}"
    elif language == "go" and not _are_grouped(texts):
        texts[first] = f"{one.split()[0]} uintptr"
    else:
        return None
    return _with(text, old, texts)


def renamed(text: str, definition: Definition) -> str | None:
    """Renames a definition; only the definition itself."""
    at = _line_start(text, definition.line)
    name = re.compile(rf"(?<![\w$]){re.escape(definition.name)}(?![\w$])").search(text, at)
    if name is None or text.count("\n", at, name.start()):
        return None
    return f"{text[: name.start()]}{definition.name}Zz{text[name.end() :]}"


def taken_out(text: str, definition: Definition) -> tuple[str, str]:
    """The text without the definition, and the definition."""
    start, end = _line_start(text, definition.start), _line_start(text, definition.end + 1)
    return text[:start] + text[end:], text[start:end]


def with_value(text: str, definition: Definition) -> str | None:
    """Changes the value of a constant: the first number or string in its line."""
    start, end = _line_start(text, definition.line), _line_start(text, definition.line + 1)
    value = _VALUE.search(text, start, end)
    if value is None:
        return None
    old = value["value"]
    new = f"{old}1" if old.isdigit() else f"{old[:-1]}zz{old[-1]}"
    return text[: value.start("value")] + new + text[value.end("value") :]


_OPEN = {
    "cpp": re.compile(r"\bvirtual\b"),
    "csharp": re.compile(r"\b(?:virtual|abstract|override)\b"),
    "kotlin": re.compile(r"\b(?:open|abstract|override)\b"),
}
_CLOSED = re.compile(r"\b(?:private|static|final|sealed)\b|#\w+\s*\(|@staticmethod")


def is_open(method: str, definition: Definition, owner: Definition) -> bool:
    """Whether a method of a type may be overridden, by the words before it."""
    head = method.partition(definition.name)[0]
    opening = _OPEN.get(definition.language)
    if opening is not None and owner.kind != "interface" and not opening.search(head):
        return False
    return not _CLOSED.search(head)


def with_override(text: str, subtype: Definition, method: str) -> str | None:
    """Writes an override of a base's method into the text of a subtype."""
    end = _line_start(text, subtype.end + 1)
    if subtype.language == "python":
        if not text.startswith(("class", "@"), _line_start(text, subtype.start)):
            return None
        gap = "" if text[:end].endswith("\n") else "\n"
        return f"{text[:end]}{gap}\n{method.rstrip()}\n{text[end:]}"
    last = text.rfind("end" if subtype.language == "ruby" else "}", 0, end)
    line = text.rfind("\n", 0, last) + 1
    if last < 0 or text[line:last].strip():
        return None
    return text[:line] + method.rstrip("\n") + "\n" + text[line:]


def _are_grouped(texts: list[str]) -> bool:
    """Whether parameters in Go share a type that follows the last of them."""
    return any(len(one.split()) < 2 for one in texts)


def _line_start(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at
