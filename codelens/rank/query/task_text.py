"""Parses tasks: finds the places that a title points at, and removes the boilerplate of reports.

Titles of commits and issues name a part of the project before a colon or in brackets: `parser:`,
`fix(parser):`, `net/http:`, `[ssr]`. Issue templates add headings, checklists, comments and lists
of versions, which say nothing about the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, WORD, identifier_key, parts_of_word, terms_of_word

# Finds the places that a title points at.

_KINDS = frozenset(
    "feat feature features fix fixes fixed bugfix hotfix bug bugs perf performance refactor "
    "refactoring refact chore build ci cd docs doc documentation test tests testing style revert "
    "wip deps dep release enhancement enh improvement improve security question request proposal "
    "rfc regression crash breaking minor major patch misc internal cleanup todo note warning error "
    "add added remove removed update updated change changed support allow".split()
)
"""Words before a colon that name the kind of change, not a place."""
_TITLE = re.compile(
    r"\s*(?:\[(?P<boxed>[^\]\n]{2,40})\][:\s]|"
    r"(?P<head>[\w@][\w.@/&,+| -]{0,60}?)"
    r"(?:\((?P<scope>[^)\n]{1,60})\)|\[(?P<bracket>[^\]\n]{1,60})\])?!?:\s)"
)
_MOST_WORDS, _MOST_LABELS, _MOST_PREFIXES = 3, 6, 3
_ALTERNATIVES = re.compile(r"[,&+|]|\band\b")
_STEPS = re.compile(r"/|::")

Signpost = tuple[str, ...]
"""One place that a title points at: its words from the outermost folder to the innermost."""


def signposts(text: str) -> tuple[Signpost, ...]:
    """Return the places that the first line of a task points at, in order; often none."""
    title, posts = text.lstrip().partition("\n")[0], list[Signpost]()
    for _ in range(_MOST_PREFIXES):
        match = _TITLE.match(title)
        if match is None:
            break
        head, scope = match["head"] or "", match["scope"] or match["bracket"] or ""
        places = [*_places(match["boxed"] or ""), *_places(head)]
        # `fix(parser): ...`, but `read(a text): ...` is a call, not a scope.
        if head.lower() in _KINDS or " " not in scope:
            places += _places(scope)
        posts += places
        if places and not match["boxed"]:
            break
        title = title[match.end() :]
    return tuple(dict.fromkeys(posts))[:_MOST_LABELS]


def _places(label: str) -> list[Signpost]:
    places: list[Signpost] = []
    for alternative in _ALTERNATIVES.split(label):
        steps = tuple(key for step in _STEPS.split(alternative) if (key := step.strip("@.-_ ")))
        # Several words before the colon are prose: `The retry ends early: why`.
        if not steps or len(steps) > _MOST_WORDS or any(" " in step for step in steps):
            continue
        if not _KINDS.issuperset(map(str.lower, steps)):
            places.append(steps)
    return places


EQUAL, INSIDE, BEGUN, INITIALS = 1.0, 0.7, 0.5, 0.6
"""Grades of how well one word of a signpost fits the name of a folder or file."""
_SHORTEST = 3


def likeness(posts: Sequence[Signpost], path: bytes) -> float:
    """Return how well the best of the signposts fits a path, 0 to 1."""
    names = _names(path)
    return max((_fit(post, names) for post in posts), default=0.0)


def _fit(post: Signpost, names: Sequence[str]) -> float:
    grades = [max(map(_grade, [step] * len(names), names), default=0.0) for step in post]
    # `net/http` does not mean every folder `net`, so the last word counts most.
    return grades[-1] * (1.0 + sum(grades[:-1])) / len(post) if grades[-1] else 0.0


@lru_cache(maxsize=20_000)
def _names(path: bytes) -> tuple[str, ...]:
    *folders, name = path.decode("utf-8", "replace").split("/")
    return (*folders, name.split(".")[0] or name)


class _Read(NamedTuple):
    key: str
    parts: tuple[str, ...]
    """Its parts, in lower case."""
    stems: frozenset[str]
    """The parts, stemmed."""


@lru_cache(maxsize=20_000)
def _read(name: str) -> _Read:
    parts = tuple(part.lower() for word in WORD.findall(name) for part in parts_of_word(word))
    terms = frozenset(terms_of_word(part)[-1] for part in parts if terms_of_word(part))
    return _Read(identifier_key(name), parts, terms)


@lru_cache(maxsize=50_000)
def _grade(step: str, name: str) -> float:
    post, here = _read(step), _read(name)
    if not post.key or not here.key:
        return 0.0
    if post.key == here.key or (post.stems and post.stems == here.stems):
        return EQUAL
    if post.stems and post.stems <= here.stems:
        return INSIDE
    if _abbreviates(post.key, here.parts) or _abbreviates(here.key, post.parts):
        return INITIALS
    short, long = sorted((post.key, here.key), key=len)
    if len(short) >= _SHORTEST and long.startswith(short):
        return BEGUN
    return 0.0


def _abbreviates(short: str, parts: Sequence[str]) -> bool:
    """Whether a word consists of the beginnings of several parts: `eio` of `engine.io`."""
    if len(parts) < 2 or not len(parts) <= len(short) < sum(map(len, parts)):
        return False
    ends = {0}
    for part in parts:
        ends = {
            end + size
            for end in ends
            for size in range(1, len(part) + 1)
            if short.startswith(part[:size], end)
        }
    return len(short) in ends


# Removes the parts of a report that come from its template.

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(
    r"<summary>\s*(?:click to expand!?|details)\s*</summary>|"
    r"</?(?:details|summary|br|p|pre|img|kbd|sub|sup)\b[^>\n]{0,300}>",
    re.IGNORECASE,
)
_BLOB = re.compile(
    r"https?://\S{1,200}?/(?:blob|tree|src/branch)/[^/\s]{1,100}/([\w./@+-]{1,200}?)"
    r"(?:#L(\d+)(?:-L?\d+)?)?(?=[.,;:]{0,3}(?:[\s)>\]]|$))"
)
"""A link to a file, or to a line of it, on a code host."""
_LINK = re.compile(
    r"!?\[([^\]\n]{0,300})\]\(\s?<?https?://[^)\n]{0,300}\)|<?https?://[^\s>)\]]{1,300}>?"
)
_CHECK = re.compile(r"\s*[-*+]\s+\[[ xX]\]\s*(.*)")
_PROMISE = re.compile(
    r"\b(I|I've|I'm|I'd|you|my|existing issues?|duplicates?|code of conduct|contribut\w+|"
    r"latest (?:version|release)|documentation|agree|willing|operating systems?|versions|"
    r"minimal example|linux|macos|windows)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:#{1,6} |\*\*|__|h[1-6]\. )(.+?)[*_:? ]*$")
_LABEL = re.compile(r"([A-Z][\w ]{2,40}):$")
"""A line that introduces a list of versions without being a heading."""
_TEMPLATE_WORDS = frozenset(
    "actual additional any anything behavior behaviour bug bugs case checklist code context "
    "current describe description duplicates environment error example expected expect failure "
    "feature happen happened happens existing info information instead intended issue issues log "
    "logs minimal motivation os other outcome output please possible prerequisites problem provide "
    "question relevant repo report reproduce reproducible reproduction request result results "
    "screenshot screenshots see setup should snippet solution solutions steps subject suggested "
    "summary system test use used using version versions want would".split()
)
_SURROUNDINGS = frozenset(
    "environment environments version versions platform platforms os operating system systems "
    "browser browsers hosting runtime technical details desktop smartphone configuration "
    "specifications dependencies plugins settings".split()
)
"""Words of the headings above lists of versions."""
_VERSION = re.compile(
    r"(?:[-*+] )?(?:\*\*)?[\w .()/-]{0,40}?\b(?:os|operating system|platform|browser|versions?|"
    r"architecture|shell|terminal)\b[\w .()/-]{0,20}(?:\*\*)? ?[:=]",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?<![\d.])\d+\.\d+")
_CODE_SIGN = re.compile(r"[`;={}<>\[\]\"']|\w\(")
"""Signs of code; a line with one is more than a version."""
_REQUEST = re.compile(
    r"(?:please (?:answer|make sure|search|do not|note|post|fill|use|provide|include|describe)|"
    r"thank you for|thanks for|before (?:you )?(?:submit|open)\w*|if applicable|add any other|"
    r"a clear and concise|what platform|i may ask you|any other relevant information|"
    r"anyone can contribute|if you're using|i have confirmed)\b",
    re.IGNORECASE,
)
"""First words of a template's sentence to the reporter."""
_LONGEST = 100
"""Headings and versions are short lines."""
_NO_ANSWER = frozenset({"no response", "n/a", "none"})
_FENCE = re.compile(r"\s*(?:```|~~~)")


def without_template(task: str) -> str:
    """Return a task without the comments, checklists, headings and versions of a report's template.

    The first line and fenced code stay unchanged, except a fence that lists versions. A link to a
    file on a code host becomes its path, with its line.
    """
    title, newline, rest = task[:_MOST_READ].partition("\n")
    if not newline:
        return task
    own_lines = [line for block in _blocks(_COMMENT.sub("", rest)) for line in block]
    text = "\n".join([title, *own_lines]) if any(map(str.strip, own_lines)) else title
    return text + task[_MOST_READ:]


_MOST_READ = 40_000


def prose_and_code(task: str) -> tuple[str, str]:
    """Split a task into its prose and its fenced code."""
    if "```" not in task and "~~~" not in task:
        return task, ""
    prose, code, fenced = list[str](), list[str](), False
    for line in task.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        else:
            (code if fenced else prose).append(line)
    return "\n".join(prose), "\n".join(code)


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines that are not a template's, a fence at a time."""
    fence, surroundings = list[str](), False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fence.append(line)
            if len(fence) > 1:
                if not (surroundings or _lists_versions(fence[1:-1])):
                    yield fence
                fence = []
        elif fence:
            fence.append(line)
        else:
            plain = _without_links(line)
            surroundings = _among_surroundings(plain.strip(), surroundings)
            if not (surroundings or _is_template(plain.strip())):
                yield [plain]
    yield fence


def _among_surroundings(line: str, before: bool) -> bool:
    """Whether a line is below a heading like `Environment`, and so says nothing of the code."""
    heading = _HEADING.match(line) or _LABEL.match(line)
    if heading is not None and len(line) <= _LONGEST:
        return _is_of_surroundings(heading[1])
    # A sentence ends it, for some templates end with such a list.
    return before and len(line) <= _LONGEST and not line.endswith(".")


def _is_of_surroundings(heading: str) -> bool:
    words = _words(heading)
    if words.isdisjoint(_SURROUNDINGS):
        return False
    if heading.lower().endswith(("version", "versions")) and len(words) <= _FEW:
        return True
    return 2 * len(words & (_SURROUNDINGS | _TEMPLATE_WORDS)) > len(words)


_FEW = 3
"""Maximum of words of a heading such as `Exact Redmine version`."""


def _lists_versions(lines: Sequence[str]) -> bool:
    rows = [line for line in lines if line.strip(" -=|+")]
    versions = sum(bool(_NUMBERED.search(line)) and not _CODE_SIGN.search(line) for line in rows)
    return versions > 1 and 2 * versions > len(rows)


def _words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)} - STOPWORDS


def _without_links(line: str) -> str:
    line = _BLOB.sub(lambda link: f"{link[1]}:{link[2]}" if link[2] else link[1], line)
    return _TAG.sub("", _LINK.sub(lambda link: link[1] or "", line))


def _is_template(line: str) -> bool:
    check = _CHECK.match(line)
    if check is not None:
        return bool(_PROMISE.search(check[1]))
    if _REQUEST.match(line):
        return True
    if len(line) > _LONGEST:
        return False
    if line.strip("_*. ").lower() in _NO_ANSWER or _VERSION.match(line) or _is_version(line):
        return True
    heading = _HEADING.match(line)
    if heading is None or "`" in line:
        return False
    words = _words(heading[1])
    return 2 * len(words & _TEMPLATE_WORDS) >= len(words)


def _is_version(line: str) -> bool:
    """Whether a line only says which version was used: `lark 1.3, Python 3.11`, `| PHP | 8.5 |`."""
    if not _NUMBERED.search(line) or _CODE_SIGN.search(line):
        return False
    return line.startswith("|") or not _is_sentence(line)


def _is_sentence(line: str) -> bool:
    return any(word.lower() in STOPWORDS for word in WORD.findall(line))
