"""Parses tasks: finds the places that a title points at, and removes the boilerplate of reports.

Titles of commits and issues name a part of the project before a colon or in brackets: `parser:`,
`fix(parser):`, `net/http:`, `[ssr]`. Issue templates add headings, checklists, comments and lists
of versions, which say nothing about the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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

_QUOTED_OR_COMMENT = re.compile(r"`[^`]{1,300}`|(?P<comment><!--)")
_TAG = re.compile(
    r"(?P<quoted>`[^`]{1,300}`)|<summary>\s*(?:click to expand!?|details)\s*</summary>|"
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
    r"minimal example)\b",
    re.IGNORECASE,
)
_PLATFORM = re.compile(r"\b(?:linux|macos|windows)\b", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:#{1,6} |h[1-6]\. |\*\*(?=[^*]+\*\*[:? ]*(?:\([^)]*\))?$)|"
    r"__(?=[^_]+__[:? ]*$))(.+?)[*_:? ]*$"
)
"""A bold line is a heading; `**Error:** the lamp` and `__init__ fails` say something."""
_LABEL = re.compile(r"([A-Z][\w ]{2,40}):$")
"""A line that introduces a list of versions without being a heading."""
_TEMPLATE_WORDS = frozenset(
    "actual additional any anything behavior behaviour bug bugs case checklist code configuration "
    "context current describe description duplicates environment error example expected expect "
    "failure feature happen happened happens existing info information instead intended issue "
    "issues log logs minimal motivation os other outcome output please possible prerequisites "
    "problem provide question relevant repo report reproduce reproducible reproduction request "
    "result results screenshot screenshots see settings setup should snippet solution solutions "
    "steps subject suggested summary system test use used using version versions want would".split()
)
_SURROUNDINGS = frozenset(
    "environment environments version versions platform platforms os operating system systems "
    "browser browsers hosting runtime technical details desktop smartphone specifications "
    "dependencies plugins".split()
)
"""Words of the headings above lists of versions."""
_VERSION = re.compile(
    r"(?:[-*+] )?(?:\*\*)?[\w .()/-]{0,40}?\b(?:os|operating system|platform|browser|versions?|"
    r"architecture|shell|terminal)\b[\w .()/-]{0,20}(?:\*\*)? ?[:=]",
    re.IGNORECASE,
)
_CLAUSE = frozenset(
    "a after an at before does from i if in it my no not on that the this to when while "
    "with".split()
)
"""Words of a clause, which is no label of a version: `In the terminal I see: ...`."""
_CHANGES = frozenset(
    "add adds allow bump deprecate drop drops pin raise remove removes require requires support "
    "supports test update upgrade use uses".split()
)
"""First words of a line that asks for a version: `* Require w3lib 2.1.0`."""
_FAILURE = re.compile(r"error|exception|fail|panic|crash|warn", re.IGNORECASE)
_TRACE = re.compile(
    r"^\s*(?:Traceback \(|at [^\n]*[:(]|File \"|panic: |thread '|goroutine \d|Uncaught |#\d+ |"
    r"\*\* \(|(?:from )?\S+:\d+:in |Caused by: |Exception in |[\w.\\:]*(?:Error|Exception)\b)",
    re.MULTILINE,
)
"""First words of the lines of a stack trace."""
_NUMBERED = re.compile(r"(?<![\d.])\d+\.\d+")
_CODE_SIGN = re.compile(r"[`;={}<>\[\]\"']|\w\(")
"""Signs of code; a line with one is more than a version."""
_REQUEST = re.compile(
    r"(?:please (?:answer|make sure|search|do not|note|post|fill|use|provide|include|describe)"
    r"(?! (?:an? |the )?(?:\w+ )?(?:way|option|method|function|flag|setting|support)\b)|"
    r"thank you for|thanks for|before (?:you )?(?:submit|open)\w*|if applicable|add any other|"
    r"a clear and concise|what platform|i may ask you|any other relevant information|"
    r"anyone can contribute|if you're using|i have confirmed)\b",
    re.IGNORECASE,
)
"""First words of a template's sentence to the reporter."""
_YOU = re.compile(r"\byour?\b", re.IGNORECASE)
"""Address of a template's sentence to the reporter."""
_LONGEST = 100
"""Headings and versions are short lines."""
_NO_ANSWER = frozenset({"no response", "n/a", "none"})
_SENTENCE_END = re.compile(r"[.!?]\s+(?=\S)")
_FENCE = re.compile(r"\s*(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")


def without_template(task: str) -> str:
    """Return a task without the comments, checklists, headings and versions of a report's template.

    The first line and fenced code stay unchanged, except a fence that lists versions, and a first
    line that is no title. A link to a file on a code host becomes its path, with its line. Of lines
    of a log that differ only in numbers, the first stays.
    """
    task = _without_repeats(task)
    title, newline, rest = task[:_MOST_READ].partition("\n")
    if not newline:
        return task
    if _UNTITLED.match(title):
        return ("\n".join(_own_lines(task[:_MOST_READ])).strip() or title) + task[_MOST_READ:]
    own_lines = _own_lines(rest)
    text = "\n".join([title, *own_lines]) if any(map(str.strip, own_lines)) else title
    return text + task[_MOST_READ:]


_LOGGED = re.compile(r"\s*\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d(?::\d\d)?\b")
"""Time at the start of a line of a log."""
_COUNTED = re.compile(r"\b[0-9a-f]{8,}\b|\d+")


def _without_repeats(task: str) -> str:
    if "\n" not in task:
        return task
    remaining, seen = list[str](), set[str]()
    for line in task.split("\n"):
        if _LOGGED.match(line):
            shape = _COUNTED.sub("0", line)
            if shape in seen:
                continue
            seen.add(shape)
        remaining.append(line)
    return "\n".join(remaining)


def _own_lines(text: str) -> list[str]:
    return [line for block in _blocks(_without_comments(text)) for line in block]


_MOST_READ = 40_000
_UNTITLED = re.compile(r"\s*(?:<!--|#{1,6} |[-*+] \[[ xX]\] )")
"""First line of a report that was pasted without its title."""


def prose_and_code(task: str) -> tuple[str, str]:
    """Split a task into its prose and its fenced code."""
    if "```" not in task and "~~~" not in task:
        return task, ""
    prose, code, fence = list[str](), list[str](), ""
    for line in task.split("\n"):
        before, fence = fence, _fence_after(line, fence)
        if before == fence:
            (code if fence else prose).append(line)
    return "\n".join(prose), "\n".join(code)


def _fence_after(line: str, before: str) -> str:
    """Return the marks of the fence that is open after a line, from those before; often empty.

    Only a line of the same marks, as many or more, closes a fence, so fences may be nested.
    """
    fence = _FENCE.match(line)
    if fence is None:
        return before
    if not before:
        return fence["marks"]
    closes = fence["marks"].startswith(before) and not fence["info"].strip()
    return "" if closes else before


def _without_comments(text: str) -> Iterator[str]:
    """Yield the lines without HTML comments, except those in code."""
    lines = text.split("\n")
    last_end = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
    fence, remaining, inside, unclosed = "", "", False, False
    for at, line in enumerate(lines):
        if unclosed and line.strip():
            continue
        unclosed = False
        if not inside:
            before, fence = fence, _fence_after(line, fence)
            if before or fence:
                yield line
                continue
        rest = line
        while rest:
            if inside:
                _, end, rest = rest.partition("-->")
                inside = not end
                continue
            start = _comment_start(rest)
            if start < 0 or (at >= last_end and "-->" not in rest[start:]):
                # An unclosed comment ends with its paragraph; inside a line it is text.
                unclosed = start == 0 and rest is line
                remaining += "" if unclosed else rest
                break
            remaining, rest, inside = remaining + rest[:start], rest[start + 4 :], True
        if not inside:
            yield remaining
            remaining = ""


def _comment_start(line: str) -> int:
    for match in _QUOTED_OR_COMMENT.finditer(line):
        if match["comment"]:
            return match.start()
    return -1


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines that are not a template's, a fence at a time."""
    block, marks, surroundings = list[str](), "", False
    for line in lines:
        before, marks = marks, _fence_after(line, marks)
        if before or marks:
            block.append(line)
            if not marks:
                is_trace = _TRACE.search("\n".join(block)) is not None
                if is_trace or not (surroundings or _lists_versions(block[1:-1])):
                    yield block
                block = []
            continue
        plain = _without_requests(_without_links(line))
        if plain is None:
            continue
        surroundings = _among_surroundings(plain.strip(), surroundings)
        if not (surroundings or _is_template(plain.strip())):
            yield [plain]
    yield block


def _without_requests(line: str) -> str | None:
    """Remove a template's sentences at the start of a line; None if nothing is left."""
    is_first = True
    while True:
        end = _SENTENCE_END.search(line)
        sentence = line[: end.start() if end else None].lstrip()
        follows = not is_first and _YOU.search(sentence)
        if not (_REQUEST.match(sentence) or follows) or "`" in sentence:
            break
        is_first = False
        if end is None:
            return None
        line = line[end.end() :]
    return line


def _among_surroundings(line: str, before: bool) -> bool:
    """Whether a line is below a heading like `Environment`, and so says nothing of the code."""
    heading = _HEADING.match(line) or _LABEL.match(line)
    if heading is not None and len(line) <= _LONGEST:
        return _is_of_surroundings(heading[1])
    if not before or len(line) > _LONGEST or line.endswith((".", "。")) or _TRACE.match(line):
        # A sentence ends it, for some templates end with such a list.
        return False
    return not (line.endswith(("?", "!", ":")) and _is_sentence(line) and not _YOU.search(line))


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
    line = _LINK.sub(lambda link: link[1] or "", line)
    return _TAG.sub(lambda tag: tag["quoted"] or "", line)


def _is_template(line: str) -> bool:
    check = _CHECK.match(line)
    if check is not None:
        few = len(WORD.findall(check[1])) <= _FEW
        return bool(_PROMISE.search(check[1]) or (few and _PLATFORM.search(check[1])))
    if len(line) > _LONGEST:
        return False
    if line.strip("_*. ").lower() in _NO_ANSWER or _states_version(line) or _is_version(line):
        return True
    heading = _HEADING.match(line)
    if heading is None or "`" in line:
        return False
    words = _words(heading[1])
    return 2 * len(words & _TEMPLATE_WORDS) >= len(words)


def _states_version(line: str) -> bool:
    """Whether a line is labelled as a version: `- Python version: 3.11`, `OS=linux`."""
    label = _VERSION.match(line)
    if label is None or not _CLAUSE.isdisjoint(map(str.lower, WORD.findall(label[0]))):
        return False
    is_code = _is_sentence(line) or _CODE_SIGN.search(line, label.end())
    return not (label[0].endswith("=") and is_code)


def _is_version(line: str) -> bool:
    """Whether a line only says which version was used: `lark 1.3, Python 3.11`, `| PHP | 8.5 |`."""
    if not _NUMBERED.search(line) or _CODE_SIGN.search(line):
        return False
    if line.startswith("|"):
        return True
    words = WORD.findall(line)
    if words[0].lower() in _CHANGES or _FAILURE.search(line) or _is_sentence(line):
        return False
    # A sentence of another language.
    lower = {word for word in words if word.isalpha() and word.islower()}
    letters_elsewhere = any(letter.isalpha() and not letter.isascii() for letter in line)
    return not letters_elsewhere and len(lower - _SURROUNDINGS) <= _FEW - 1


def _is_sentence(line: str) -> bool:
    return any(word.lower() in STOPWORDS for word in WORD.findall(line))
