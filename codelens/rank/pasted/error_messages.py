"""Error messages and log lines: what in them is constant and what was filled in; pure text.

In the source stands `"Connection to %s failed after %d retries"`, in the log the values. What is
told to be a value: numbers and what holds digits, quoted words, paths, addresses, times, ids.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, WORD

MAX_CHARS = 2_000
_MAX_WORDS = 60
_LINES = 3
_LEAST_WORDS, _LEAST_TOLD = 3, 2
_SHOWN_VALUES = 6

_LOUD = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|ALERT|PANIC)"
_QUIET = r"(?:trace|debug|info|notice|warn|warning|error|critical|fatal|panic)"
_TIME = (
    r"(?:\d{4}[-/]\d\d?[-/]\d\d?|\d\d?/[A-Z][a-z]{2}/\d{4}|[A-Z][a-z]{2} [ \d]\d)?"
    r"[T :]?\d\d?:\d\d(?::\d\d)?"
    r"(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d| UTC)?"
)
_TAGS = r"(?:\[[^\]]{1,60}\][\s:]*)*"
_PREFIX = re.compile(
    rf"\s*(?:(?:\[?{_TIME}\]?|\d{{10,13}}(?:\.\d+)?)[\s,:;|-]*)?"
    rf"(?:(?:[\w.-]+ )?[\w./-]+\[\d+\]: )?{_TAGS}"
    rf"(?:\(?\[?{_LOUD}\]?\)?(?=[\s:\]/|-])[\s:|/-]*|[(\[]?{_QUIET}[\])]?\s*(?:[:|]|(?<=[\])]))\s*)?{_TAGS}"
)
_LOGGER = re.compile(r"[A-Za-z_][\w$-]*(?:[./][\w$-]+)+(?::\d+)?\s*[:-]\s+")
_CLASS = re.compile(
    r"(?:[A-Za-z_][\w$]*[.\\:]{1,2})*[A-Z]\w*(?:Error|Exception|Warning|Failure|Fault)(?:\s*\[\w+\])?:\s+"
)
_ERROR = re.compile(
    r"(?:(?:fatal|FATAL|[Ee]rror|ERROR|[Ww]arning|panic|PANIC)(?:\s*\[?[A-Z]+\d+\]?)?:\s+"
    r"|Caused by: |Uncaught |Unhandled exception[.:] |Exception in thread \S+ )+"
)
_VALUE = re.compile(
    rf"(?P<time>(?<![\w.]){_TIME}(?![\w.]))"
    r"|(?P<quoted>\"[^\"\n]{0,200}\"|`[^`\n]{1,200}`|(?<![^\W_])'[^'\n]{0,200}'(?![^\W_])|«[^»\n]*»|“[^”\n]*”)"
    r"|(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<url>\b[a-z][a-z+.-]*://\S+)"
    r"|(?P<mail>[\w.+-]+@[\w-]+\.[\w.]+)"
    r"|(?P<path>(?<![\w/])(?:[A-Za-z]:\\|~?/|\./|\.\./)[^\s,;:'\"()]+|\b[\w.-]+(?:/[\w.-]+)+\.\w+)"
    r"|(?P<repr><[^<>\n]{1,200}>)"
    r"|(?P<hex>\b0x[0-9a-fA-F]+\b)"
    r"|(?P<number>(?<!\w)[-+]?\d[\w.,:%+-]*\w%?|(?<!\w)[-+]?\d%?)"
    r"|(?P<mixed>\b[^\W_]+(?:[-.:][^\W_]+)*[-.:]?\d[\w.:-]*\w\b|\b[A-Za-z]+-\d+\b|\b[A-Za-z]+\d+\b)"
    r"|(?P<dotted>(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?)"
    r"|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{7,64}\b)"
)
_ASKING = re.compile(
    r"(?:how|what|where|why|which|when|who|does|do|is|are|can i|find|show|explain|list|use|using)\b"
    r"|(?:add|fix|fixe|implement|refactor|remove|make|made|change|update|improve|allow|support|prevent"
    r"|move|rename|replace|simplify|simplifie|bump|revert)(?:e?d|e?s)?\b",
    re.IGNORECASE,
)
"""How people begin: with a question, or with what was or is to be done."""
_WRONG = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|failed|failure|unable|not|isn't|aren't|wasn't"
    r"|doesn't|don't"
    r"|didn't|invalid|illegal|missing|unexpected|expected|unknown|unsupported|unrecognized|must|denied"
    r"|refused|forbidden|exceeded|already|timed out|no such"
    r"|too (?:many|few|large|long|short)|required"
    r"|deprecated|no longer|conflicts?|aborted|refusing|undefined|unreachable|nothing to)\b(?!-)"
    r"|^no (?=\w)",
    re.IGNORECASE,
)
"""What programs say when something is wrong; people who ask rather say what they look for."""
_NAMING = frozenset("quoted dotted".split())
"""Values that may as well be names that a person writes about."""
_STRONG = frozenset("time url path repr hex hash id".split())
_LEADING = re.compile(r"[\s\-*>#]*")


class Message(NamedTuple):
    """A text that a program wrote, taken apart."""

    error: str
    """The class that stands before it, without modules; empty if none does."""
    runs: tuple[str, ...]
    """What stands between the values, in order, as written; each has a word."""
    values: tuple[str, ...]
    """What was taken for filled in."""
    naming: tuple[str, ...]
    """Those values that may as well be names that a person writes about."""
    has_head: bool
    """Something stands before it that only programs write: a time, a level, a class."""
    filled: bool
    """Something in it shows that a program wrote it; else it may be a sentence of a person."""

    @property
    def words(self) -> tuple[str, ...]:
        """The constant words, in order."""
        return tuple(word for run in self.runs for word in WORD.findall(run))

    @property
    def constant(self) -> str:
        """What is ranked: the text without its values, but with names unless a program wrote it."""
        return " ".join((*self.runs, *(() if self.has_head else self.naming)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The values that are not ranked."""
        return (
            self.values if self.has_head else tuple(v for v in self.values if v not in self.naming)
        )


_MOST_BLANKS = 60
"""More words than these are somebody's question or note, unless a program's mark stands before."""


def parse(text: str) -> Message | None:
    """The message that a text is; None where it looks like something that a person asks."""
    lines = [line for line in text.strip()[:MAX_CHARS].splitlines() if line.strip()]
    if not lines or len(lines) > _LINES:
        return None
    body, named, has_head = _without_head(" ".join(lines))
    if not has_head and (_ASKING.match(body) or body.count(" ") > _MOST_BLANKS):
        return None
    runs, values, naming, strong = _taken_apart(body)
    if body.endswith("?") and not (has_head or strong):
        return None
    wrong = bool(_WRONG.search(body))
    # A sentence with a capital and something in quotes; a question was turned away above.
    quoting = body[:1].isupper() and any(value[0] in "'`" for value in values)
    filled = has_head or strong or (bool(values) and wrong) or quoting
    message = Message(named, runs, values, naming, has_head, filled)
    words = message.words
    topics = [word for word in words if word.lower() not in STOPWORDS]
    if not topics or len(words) < (_LEAST_TOLD if has_head else _LEAST_WORDS):
        return None
    return message if filled or wrong else None


def _without_head(text: str) -> tuple[str, str, bool]:
    """What a program says, the class of the error, and whether something stood before it."""
    body = text
    for form in (_LEADING, _PREFIX, _ERROR):
        match = form.match(body)
        body = body[match.end() :] if match else body
    error = _CLASS.match(body)
    if error is None:
        logger = _LOGGER.match(body)
        if logger and len(body) < len(text.strip()):
            body = body[logger.end() :]
            error = _CLASS.match(body)
    has_head = len(body) < len(text.lstrip(" -*>#\t"))
    if error is None:
        return body.strip(), "", has_head
    name = re.split(r"[.\\:]+", error[0].split("[")[0].rstrip(": "))[-1]
    return body[error.end() :].strip(), name, True


def _taken_apart(
    text: str,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]:
    """Runs, values, those that may be names, and whether one is nothing that a person types."""
    strong = False
    runs: list[str] = []
    values: list[str] = []
    naming: list[str] = []
    at = 0
    for match in _VALUE.finditer(text):
        runs.append(text[at : match.start()])
        values.append(match[0])
        if match.lastgroup in _NAMING:
            naming.append(match[0])
        strong = strong or match.lastgroup in _STRONG
        at = match.end()
    runs.append(text[at:])
    lines_kept: list[str] = []
    left = _MAX_WORDS
    for run in runs:
        words = len(WORD.findall(run))
        if words and left > 0:
            lines_kept.append(run.strip())
            left -= words
    return (
        tuple(lines_kept),
        tuple(value for value in values if value.strip()),
        tuple(naming),
        strong,
    )


def shown_values(message: Message) -> str:
    """The values of a message that are left out, as a note names them."""
    shown = [value if len(value) <= 40 else value[:37] + "..." for value in message.left_out]
    more = len(shown) - _SHOWN_VALUES
    return ", ".join(shown[:_SHOWN_VALUES]) + (f" and {more} more" if more > 0 else "")
