"""Hostile texts, and properties that the facts of any text must have.

Random damage draws its numbers from `Pick`, so that hypothesis and a seeded generator (`hunt.py`)
make the same kinds of damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from codelens.extract.facts import facts_of
from codelens.extract.file_kinds import decode
from codelens.store.facts.resolution_facts import REFERENCE_KINDS
from codelens.types import Facts, Reference, Structure, Symbol

Pick = Callable[[int, int], int]
"""Returns a number between the first and the second, inclusive."""

INSERTS = (
    *(b"(", b"{", b"[", b"<", b")", b"}", b"]", b">", b'"', b"'", b"`", b'"""', b"'''", b"/*"),
    *(b"*/", b"//", b"#", b"--", b"(*", b"{-", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff"),
    *(b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"\\", b"\x0c", b"\x1a"),
    *(
        b"#if 1\n",
        b"#endif\n",
        b"```\n",
        b"> ",
        b"- ",
        b"${",
        b"#{",
        b'f"{',
        b"<<EOF\n",
        b"@",
        b";",
    ),
    *(
        b"def ",
        b"class A",
        b"function (",
        b"begin ",
        b"end\n",
        b"do\n",
        b"let ",
        b"<script>",
        b"::",
    ),
)
_WORD = b" \t\n\r(){}[]<>;,.:"
_MOST_DAMAGE = 5
_LONGEST_CUT = 60
_MOST_REPEATS = 20
_LONGEST_REPEAT = 200


def truncated(text: bytes, pick: Pick) -> bytes:
    return text[: pick(0, len(text))]


def damaged(text: bytes, pick: Pick) -> bytes:
    """Bytes flipped, dropped, inserted and repeated at a few places."""
    found = bytearray(text)
    for _ in range(pick(1, _MOST_DAMAGE)):
        at = pick(0, len(found))
        match pick(0, 4):
            case 0 if at < len(found):
                found[at] ^= pick(1, 255)
            case 1:
                del found[at : at + pick(1, _LONGEST_CUT)]
            case 2:
                found[at:at] = INSERTS[pick(0, len(INSERTS) - 1)] * pick(1, _MOST_REPEATS)
            case 3:
                found[at:at] = found[max(0, at - pick(1, _LONGEST_REPEAT)) : at]
            case _:
                other = pick(0, len(found))
                found[at:at] = found[other : other + pick(1, _LONGEST_REPEAT)]
    return bytes(found)


def spliced(text: bytes, other: bytes, pick: Pick) -> bytes:
    """The head of one text, a slice of another, and perhaps the rest of the first."""
    at = pick(0, len(text))
    begin = pick(0, len(other))
    slice_ = other[begin : pick(begin, len(other))]
    return text[:at] + slice_ + (text[at:] if pick(0, 1) else b"")


def without_words(text: bytes, pick: Pick) -> bytes:
    """Single tokens removed, as while somebody types."""
    for _ in range(pick(1, _MOST_DAMAGE)):
        start = end = pick(0, len(text))
        while end < len(text) and text[end] not in _WORD:
            end += 1
        text = text[:start] + text[max(end, start + 1) :]
    return text


def encoded(text: bytes, pick: Pick) -> bytes:
    """The text in an encoding, or with bytes, that its readers do not expect."""
    chars = text.decode("utf-8", "replace")
    match pick(0, 7):
        case 0:
            return chars.encode("utf-16-le", "replace")
        case 1:
            return chars.encode("utf-16-be", "replace")
        case 2:
            return b"\xff\xfe" + chars.encode("utf-16-le", "replace")[pick(0, 1) :]
        case 3:
            return b"\xfe\xff" + chars.encode("utf-16-be", "replace")
        case 4:
            accented = chars.replace("e", "\xe9").replace("a", "\xe4")
            return accented.encode("latin-1", "replace")
        case 5:
            return b"\xef\xbb\xbf" * pick(1, 2) + text
        case 6:
            at = pick(0, len(text))
            return text[:at] + b"\0" * pick(1, 3) + text[at:]
        case _:
            return chars.encode("utf-32")


def relined(text: bytes, pick: Pick) -> bytes:
    """Other line ends, also mixed, and tabs for blanks."""
    lines = text.split(b"\n")
    ends = ((b"\r",), (b"\r\n",), (b"\n", b"\r\n"), (b"\r", b"\n", b"\r\n"), (b"\n\r",))
    chosen = ends[pick(0, len(ends) - 1)]
    shift = pick(0, len(chosen) - 1)
    found = b"".join(line + chosen[(at * 7 + shift) % len(chosen)] for at, line in enumerate(lines))
    return found.replace(b"    ", b"\t") if pick(0, 1) else found


def hostile(texts: list[bytes], others: list[bytes], pick: Pick) -> bytes:
    """One damaged text from sound ones; `others` may be of any language."""
    text = texts[pick(0, len(texts) - 1)]
    match pick(0, 7):
        case 0:
            return truncated(text, pick)
        case 1 | 2:
            return damaged(text, pick)
        case 3:
            return spliced(text, others[pick(0, len(others) - 1)], pick)
        case 4:
            return without_words(text, pick)
        case 5:
            return encoded(text, pick)
        case 6:
            return relined(text, pick)
        case _:
            return relined(damaged(truncated(text, pick), pick), pick)


DEEP = 10_000
_NESTED = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("a(", ")"), ("a[", "]"), ("((", "))")),
    *(("({[", "]})"), ("${", "}"), ('"${', '}"'), ('f"{', '}"'), ("#{", "}"), ("`${", "}`")),
    *(("(fn [x] ", ")"), ("begin ", " end"), ("do ", " end"), ("if x then ", " end")),
    *(("<a>", "</a>"), ("<div ", "/>"), ("function f() { ", " }"), ("def f\n", "end\n")),
    *(("class A {\n", "}\n"), ("module A\n", "end\n"), ("namespace a {\n", "}\n")),
    *(("struct a { ", " } a;"), ("{ a: ", " }"), ("#if 1\n", "#endif\n"), ("/*", "*/")),
    *(("(*", "*)"), ("{-", "-}"), ("#|", "|#"), ("{{", "}}"), ("if (a) ", "")),
    *(("if a {\n", "}\n"), ("case x of y -> ", ""), ("let x = ", " in x"), ("[[", "]]")),
    *(("lambda x: ", ""), ("x -> ", ""), ("x => ", ""), ("fun x -> ", ""), ("a ? b : ", "")),
    *(("a.", ""), ("a::", ""), ("a->", ""), ("!", ""), ("- ", ""), ("not ", ""), ("* ", "")),
    *(("&", ""), ("@", ""), ("a = ", ""), ("a, ", ""), ("a | ", ""), ("a + ", "")),
    *(("a => ", ""), ("a: ", ""), ("\\", ""), ('"', ""), ("'", ""), ("`", ""), ('"""', "")),
    *(("$(", ")"), ("> ", ""), ("* - ", ""), ("# ", ""), ("<<A\n", "A\n")),
    *(("else if (a) {} ", ""), ("elif x\n", ""), ("a<b ", ""), ("a<", ""), ("...", "")),
    *(("quote do\n", "end\n"), ("(SELECT ", ")"), ("CASE WHEN a THEN ", " END"), ("new ", "")),
    *((":", ""), ("@a(", ")"), ("#[", "]"), ("async ", ""), ("->", ""), ("~", ""), ("%{", "}")),
    ("x[y](", ")"),
)  # fmt: skip
_ALWAYS = frozenset("([{<\"'`")
_TOKENS = re.compile(r"[A-Za-z]{2,}|[^\sA-Za-z]+")
_PER_LINE = 40


def nestings(texts: Sequence[bytes] = ()) -> dict[str, bytes]:
    """Texts that nest 10,000 deep, left open and closed again, by what nests.

    With `texts`: brackets, quotes, and those of the other nests whose words and signs occur in the
    texts, so that each language has its own.
    """
    sound = b"".join(texts)
    found: dict[str, bytes] = {}
    for opening, closing in _NESTED:
        if sound and opening not in _ALWAYS and not _is_made_of(opening, sound):
            continue
        head = _wrapped(opening, DEEP)
        found[f"{opening!r} open"] = head
        if closing:
            found[f"{opening!r} closed"] = head + b"x" + _wrapped(closing, DEEP)
    for name, step in (("blanks", b" "), ("tabs", b"\t")):
        for word in (b"a:\n", b"- a\n", b"if a\n", b"class A:\n", b"* a\n"):
            lines = [step * level + word for level in range(1_200)]
            found[f"{name} before {word!r}"] = b"".join(lines)
    return found


def _is_made_of(opening: str, sound: bytes) -> bool:
    return all(token.encode() in sound for token in _TOKENS.findall(opening))


def _wrapped(part: str, times: int) -> bytes:
    # Files with very long lines count as minified, and are not parsed.
    per_line = _PER_LINE if "\n" not in part else times
    rows = [part * min(per_line, times - at) for at in range(0, times, per_line)]
    return "\n".join(rows).encode()


def long_texts(sound: bytes) -> dict[str, bytes]:
    """Texts of a megabyte: in one line, in few, in 100,000; and a sound one repeated."""
    blank = b" ".join(sound.split()) + b" "
    million = 1_000_000
    return {
        "one word": b"a" * million,
        "one line": blank * (million // len(blank)),
        "one line of brackets": b"()" * (million // 2),
        "one string": b'"' + b"a " * (million // 2) + b'"',
        "one comment": b"/* " + b"a " * (million // 2) + b"*/",
        "long lines": (b"x = " + b"a + " * 900 + b"a\n") * (million // 3_600),
        "short lines": b"a\n" * 100_000,
        "short lines of code": b"a = 1\n" * 100_000,
        "open brackets by line": b"f(\n" * 30_000,
        "empty lines": b"\n" * million,
        "over and over": (sound + b"\n") * (300_000 // (len(sound) + 1) + 1),
    }


def check_facts(data: bytes, language: str) -> Facts:
    """Extracts the facts of a file's bytes and asserts the properties that hold for all facts."""
    facts = facts_of(data, language)
    text = decode(data)
    if facts.outcome in {"binary", "oversized"}:
        assert facts.structure == Structure((), (), (), ())
        return facts
    assert facts.lines == len(text.split(b"\n")) - text.endswith(b"\n") - (not text)
    found = facts.structure
    _check_symbols(text, found.symbols)
    lengths = [len(line) for line in text.split(b"\n")]
    for reference in found.references:
        _check_reference(lengths, reference, found.symbols)
    for one in found.imports:
        assert 1 <= one.line <= len(lengths)
    _check_chunks(text, found)
    assert len(facts.lengths) == len(found.chunks)
    assert all(len(packed) % 4 == 0 and packed for packed in facts.terms.values())
    return facts


def _check_symbols(text: bytes, symbols: tuple[Symbol, ...]) -> None:
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    lines = len(starts) - 1
    for at, symbol in enumerate(symbols):
        assert symbol.name.strip()
        assert symbol.qualified.endswith(symbol.name)
        assert 0 <= symbol.start_byte < symbol.end_byte <= len(text)
        assert 1 <= symbol.start_line <= symbol.name_line <= symbol.end_line <= lines
        assert starts[symbol.start_line - 1] <= symbol.start_byte < starts[symbol.start_line]
        assert len(symbol.signature) <= 200
        assert "\n" not in symbol.signature
        assert len(symbol.doc) <= 600
        assert -1 <= symbol.parent < at
        if symbol.parent >= 0:
            parent = symbols[symbol.parent]
            assert parent.start_byte <= symbol.start_byte
            assert symbol.end_byte <= parent.end_byte
            assert symbol.end_line <= parent.end_line
    for left, right in pairwise(symbols):
        assert left.start_byte <= right.start_byte


def _check_reference(lengths: list[int], reference: Reference, symbols: tuple[Symbol, ...]) -> None:
    assert reference.name
    assert reference.kind in REFERENCE_KINDS
    assert 1 <= reference.line <= len(lengths)
    assert 0 <= reference.column < lengths[reference.line - 1]
    assert -1 <= reference.symbol < len(symbols)
    if reference.symbol >= 0:
        around = symbols[reference.symbol]
        assert around.start_line <= reference.line <= around.end_line


def _check_chunks(text: bytes, found: Structure) -> None:
    reached = 0
    line = 1
    for chunk in found.chunks:
        assert reached <= chunk.start_byte < chunk.end_byte <= len(text)
        between = text[reached : chunk.start_byte]
        assert not between.strip(), "only blank lines lie between chunks"
        assert chunk.start_byte == 0 or text[chunk.start_byte - 1] == ord("\n")
        assert chunk.end_byte == len(text) or text[chunk.end_byte - 1] == ord("\n")
        line += between.count(b"\n")
        assert chunk.start_line == line
        held = text[chunk.start_byte : chunk.end_byte]
        line += held.count(b"\n")
        assert chunk.end_line == (line - 1 if held.endswith(b"\n") else line)
        assert -1 <= chunk.symbol < len(found.symbols)
        reached = chunk.end_byte
    left = text[reached:].strip()
    # An incomplete character at the end is read as blanks.
    assert len(left) <= 3 and all(byte >= 0x80 for byte in left)
