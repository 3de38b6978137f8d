"""Parses pasted stack traces: frames and error; pure text, no view.

One table has the line forms of Python, pytest, JavaScript, Java, Kotlin, Scala, Go, Rust, Ruby, C#,
PHP, Elixir, Lua and native debuggers. A text is a trace if it has a frame and another sign: a
second frame, or a line with an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.rank.pasted.pasted_locations import may_be_trace

MAX_CHARS = 200_000
_MAX_FRAMES = 400
_MAX_LINE = 2000


class Frame(NamedTuple):
    """One call of a trace."""

    path: str
    """Path as written, `/` between its parts; empty if the trace has none."""
    line: int
    """Line; 0 if the trace has none."""
    name: str
    """Running function, perhaps with owners, separated by `.`; empty if unknown."""


class Trace(NamedTuple):
    """A stack trace."""

    kind: str
    """Name of the language or tool."""
    frames: tuple[Frame, ...]
    """Frames, innermost first; with several errors, those of the reported one, then those of its
    causes."""
    error: str
    """The error's class; empty if unknown."""
    message: str
    """The error message; may be empty."""


class _Form(NamedTuple):
    """A form of frame lines, with the groups `path`, `line`, `name`, `owner` if present."""

    kind: str
    pattern: re.Pattern[str]
    last_first: bool = False
    """Whether the innermost call comes last."""
    called: bool = False
    """Whether `name` is the called function, not the running one."""


def _form(kind: str, pattern: str, *, last_first: bool = False, called: bool = False) -> _Form:
    return _Form(kind, re.compile(pattern), last_first, called)


_FORMS = (
    _form(
        "Python",
        r'\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>\S.*))?\s*$',
        last_first=True,
    ),
    _form(
        "pytest",
        r"(?P<path>[\w./\\-]+\.py):(?P<line>\d+): "
        r"(?:in (?P<name>\S+)|[A-Z]\w*(?:Error|Exception)\b)",
        last_first=True,
    ),
    _form(
        "Java",
        r"\s*(?:at )?(?:[\w.@-]++//?+){0,3}+(?P<owner>[\w.$]+)\.(?P<name>[\w$<>-]+)"
        r"\((?:(?P<path>[\w$-]+\.(?:java|kt|kts|scala|groovy|clj))(?::(?P<line>\d+))?"
        r"|Native Method|Unknown Source)\)",
    ),
    _form(
        "C#",
        r"\s*at (?P<name>[\w.`<>+|\[\],$]+)\((?P<args>[^()]*)\)"
        r" in (?P<path>.+?):(?:line )?(?P<line>\d+)\s*$",
    ),
    _form(
        "JavaScript",
        r"\s*at (?:async )?(?:new )?(?P<name>[^()]*?)(?: \[as [^\]]+\])? ?"
        r"\((?P<path>\S.*?):(?P<line>\d+):\d+\)\s*$",
    ),
    _form("JavaScript", r"\s*at (?:async )?(?P<path>[^\s()]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+\s*$"),
    _form(
        "JavaScript",
        r"(?P<name>[\w$.<>/*]*)@(?P<path>(?:https?|file|webpack[\w-]*)://?\S+?):(?P<line>\d+):\d+\s*$",
    ),
    _form("Rust", r"\s+at (?P<path>\S+\.rs):(?P<line>\d+)(?::\d+)?\s*$"),
    _form("Go", r"\s+(?P<path>\S+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$"),
    _form(
        "Ruby",
        r"\s*(?:\d+: )?(?:from )?(?P<path>[^\s:]+(?:\.rb|\.rake|\.ru|\.erb|/bin/\w+)):(?P<line>\d+)"
        r":in [`'](?P<name>[^`']+)'",
    ),
    _form(
        "PHP",
        r"\s*#\d+ (?P<path>[^\s(][^(]*)\((?P<line>\d+)\): (?P<name>[\w\\:>{}-]+)",
        called=True,
    ),
    _form("PHP", r"\s*thrown in (?P<path>\S+) on line (?P<line>\d+)"),
    _form(
        "Elixir",
        r"\s+(?:\([\w .-]+\) )?(?P<path>\S+\.exs?):(?P<line>\d+): "
        r"(?:anonymous fn/\d+ in )?(?P<name>[\w.?!]+)(?:/\d+|\(|\.\"-)",
    ),
    _form("Lua", r"\s*(?P<path>\S+\.lua):(?P<line>\d+): in (?:\w+ )?['<]?(?P<name>[\w.:]+)"),
    _form(
        "native",
        r"\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<name>[\w:~<>]+)[^/]*?(?: at | in |\s)"
        r"(?P<path>[\w./\\-]+\.\w{1,4}):(?P<line>\d+)(?::\d+)?",
    ),
    _form("C#", r"\s*at (?P<name>[A-Z][\w`<>+|]*(?:\.[\w`<>+|$\[\],]+)+)\([^()]*\)\s*$"),
)  # fmt: skip

_PENDING = (
    ("Rust", re.compile(r"\s*\d+:\s+(?:0x[0-9a-f]+ - )?(\S.*?)\s*$")),
    ("Go", re.compile(r"([\w./*()\[\]{}-]+)\([^)]*\)\s*$")),
    ("Go", re.compile(r"created by ([\w./*()-]+?)(?: in goroutine \d+)?\s*$")),
)
"""Lines with the function of the frame on the next line."""

_ERROR_FORMS = (
    re.compile(r"panic: (?P<error>)(?P<message>.+?)(?: \[recovered\])?$"),
    re.compile(r"fatal error: (?P<error>)(?P<message>.+)$"),
    re.compile(r"thread '[^']*'(?: \(\d+\))? panicked at '(?P<error>)(?P<message>.*)', \S+$"),
    re.compile(
        r"(?:PHP )?(?:Fatal error:\s+)?Uncaught (?P<error>[\w\\]+): (?P<message>.*?) in \S+:\d+$"
    ),
    re.compile(r".*:in [`'][^`']+': (?P<message>.*) \((?P<error>[A-Z][\w:]*)\)$"),
    re.compile(r"\*\* \((?P<error>[\w.]+)\) (?P<message>.*)$"),
    re.compile(
        r"(?:Exception in thread \S+ |Caused by: |Unhandled exception[.:] "
        r"|(?:error: )?Uncaught (?:\(in promise\) )?"
        r"|E\s+| ---> |\[error\]\s+|ERROR\s+)?"
        r"(?P<error>(?:[A-Za-z_][\w$]*[.\\:]{1,2})*\w*(?:Error|Exception|Warning|Failure|Fault"
        r"|Interrupt|Exit|DoesNotExist|Abort|StopIteration)\w*)(?: \[[\w.]+\])?"
        r"(?:: (?P<message>.*))?$"
    ),
    re.compile(r"(?P<error>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+): (?P<message>\S.*)$"),
    re.compile(r"(?P<error>(?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception)) \((?P<message>.+)\):$"),
)  # fmt: skip
_HEADS = re.compile(
    r"Traceback \(most recent call last\)|^goroutine \d+ \[|^stack backtrace:"
    r"|^Stack trace:|^panic: |"
    r"panicked at |^Caused by: |Exception in thread ",
    re.MULTILINE,
)
_PANIC_PLACE = re.compile(
    r"panicked at (?:'.*', )?(?P<path>[^\s':]+\.rs):(?P<line>\d+)(?::\d+)?:?$"
)
_THROWN = re.compile(r"Uncaught .* in (?P<path>/\S+|[A-Za-z]:\\\S+):(?P<line>\d+)$")
_ANOTHER = re.compile(r"\s*(?:During handling of the above|The above exception was|Caused by: )")
_NEXT_FRAME = re.compile(
    r'\s+(?=at [\w.$<@/-]+[^\n]{0,300}?[:(]|File "|#\d+ \S+\(\d+\)|from \S+:\d+)'
)
_GOES_ON = re.compile(r"[ \t]+\S|#\d+ ")
"""A line of source below a frame, or a frame without a place."""
_CALLED = re.compile(
    r"\s*#\d+ (?:(?P<internal>\[internal function\])|[^\s(][^(]*\(\d+\)): (?P<name>[\w\\:>{}-]+)"
)
"""A line with the called function, which is the running one of the frame above."""
_QUOTING = re.compile(r"^(?:> ?|[ \t]{1,40}\| )(?=[^|\n]*$)", re.MULTILINE)
_GENERATED = re.compile(
    r"(?:<>c(?:__DisplayClass\d+_\d+)?\.)?<(\w+)>[a-z]__\d+(?:_\d+)?(?:`\d+)?(?:\.MoveNext)?"
)
"""A function that a compiler made of another: `Bar.<Run>d__3.MoveNext` runs `Bar.Run`."""
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_NOISE = re.compile(
    r"<[^<>]*>|\{\{?[\w:#]+\}?\}|\[[^\]]*\]|^block (?:\(\d+ levels\) )?in |^rescue in |^async "
)
_SPLIT = re.compile(r"[.:#$+/\\]+|->")
_NAME = re.compile(r"[^\W\d][\w]*[?!=]?$")
_UNNAMED = frozenset("anonymous module lambda main init closure genexpr listcomp Object".split())


def parse(text: str) -> Trace | None:
    """Parse a trace of at most `MAX_CHARS`; None if the text is not one."""
    text = _without_quoting(text)
    if not may_be_trace(text):
        return None
    lines = _lines(text)
    groups, kinds = _frames(lines)
    frames = [frame for group in reversed(groups) for frame in group]
    error, message = _error(lines)
    if not frames:
        return None
    if len(frames) == 1 and not (error or message or _HEADS.search(text) or len(lines) == 1):
        return None
    kind = max(dict.fromkeys(kinds), key=kinds.count)
    unique = dict.fromkeys(frames)
    # Where the error was thrown is also on the last line, without the function.
    first = {(frame.path, frame.line): frame for frame in reversed(unique)}
    frames = [frame for frame in unique if frame.name or first[frame.path, frame.line] is frame]
    return Trace(kind, tuple(frames[:_MAX_FRAMES]), error, message)


def around(text: str) -> str:
    """Return the text around a trace: without its frames, their source lines and its errors."""
    lines = _without_quoting(text).split("\n")
    own, pending, inside = list[str](), ("", ""), False
    for line in (line[:_MAX_LINE] for line in lines):
        is_frame = bool(_PANIC_PLACE.search(line) or _THROWN.search(line) or _frame(line, pending))
        if is_frame and pending[0] and own:
            own.pop()
        pending = ("", "") if is_frame else _named(line)
        source = inside and bool(_GOES_ON.match(line))
        inside = is_frame or source or bool(_HEADS.search(line))
        error = any(form.match(line) for form in _ERROR_FORMS)
        if not (inside or error):
            own.append(line)
    return "\n".join(own).strip()


def _without_quoting(text: str) -> str:
    """Remove the signs at the start of the lines of a quoted trace or of a group of errors."""
    return _QUOTING.sub("", text[:MAX_CHARS].replace("\r\n", "\n"))


def _lines(text: str) -> list[str]:
    if "\n" not in text and "\\n" in text:
        text = text.replace("\\n", "\n").replace("\\t", "\t")
    if "\n" not in text.strip():
        # Pasted as one line: split where frames can start.
        text = _NEXT_FRAME.sub("\n ", text)
    return [line[:_MAX_LINE] for line in text.split("\n") if line.strip()]


def _frames(lines: Iterable[str]) -> tuple[list[list[Frame]], list[str]]:
    """Return the frames, innermost first, a list for each error; and the kinds of their lines."""
    groups: list[list[Frame]] = [[]]
    kinds: list[str] = []
    reverse = False
    pending = ("", "")
    calls = False
    """Whether the next line with a called function names the running one of the last frame."""
    for line in lines:
        if _ANOTHER.match(line):
            groups.append([])
        called = _CALLED.match(line)
        if called is not None:
            if calls and groups[-1]:
                groups[-1][-1] = groups[-1][-1]._replace(name=plain(called["name"]))
            calls = called["internal"] is None
        place = _PANIC_PLACE.search(line) or _THROWN.search(line)
        if place:
            groups[-1].append(Frame(_slashes(place["path"]), int(place["line"]), ""))
            calls = place.re is _THROWN
            kinds.append("PHP" if calls else "Rust")
            continue
        form_and_frame = _frame(line, pending)
        pending = ("", "")
        if form_and_frame is None:
            pending = _named(line)
            continue
        form, frame = form_and_frame
        kinds.append(form.kind)
        reverse = form.last_first
        if reverse:
            groups[-1].insert(0, frame)
        else:
            groups[-1].append(frame)
    return groups, kinds


def _frame(line: str, pending: tuple[str, str]) -> tuple[_Form, Frame] | None:
    for form in _FORMS:
        match = form.pattern.match(line)
        if match is None:
            continue
        groups = match.groupdict()
        name = "" if form.called else groups.get("name") or ""
        if form.kind == pending[0]:
            name = pending[1]
        path = _slashes(groups.get("path") or "")
        owner = groups.get("owner") or ""
        if owner:
            folders = owner.split(".")[:-1]
            path = "/".join([*folders, path]) if path else ""
            name = f"{owner.split('.')[-1]}.{name}"
        return form, Frame(path, int(groups.get("line") or 0), plain(name))
    return None


def _named(line: str) -> tuple[str, str]:
    for kind, pattern in _PENDING:
        match = pattern.match(line)
        if match:
            return kind, match[1]
    return "", ""


def _slashes(path: str) -> str:
    return path.strip().replace("\\", "/")


def plain(name: str) -> str:
    """Remove a tool's additions to a name: `main.(*Server).Handle` -> `Server.Handle`."""
    name = _GENERATED.sub(r"\1", _HASH.sub("", name)).rsplit("/", 1)[-1]
    name = name.replace("(*", "").replace("(", "").replace(")", "")
    for _ in range(3):
        name = _NOISE.sub("", name)
    parts = [part for part in _SPLIT.split(name.strip()) if _NAME.match(part)]
    parts = [part for part in parts if part.lower() not in _UNNAMED and not _is_counter(part)]
    return ".".join(parts[-2:])


def _is_counter(part: str) -> bool:
    return bool(re.fullmatch(r"(?:func|lambda)\d+", part))


def _error(lines: Sequence[str]) -> tuple[str, str]:
    """Return class and message of the final error: the last one named, before any cause."""
    candidates: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines):
        shown = line.strip()
        if line[:1] in " \t" and not shown.startswith(("E  ", "---> ")):
            continue
        for form in _ERROR_FORMS:
            match = form.match(shown)
            if match:
                error = re.split(r"[.\\:]+", match["error"] or "")[-1]
                message = (match["message"] or "").strip()
                candidates.append((number, error, message))
                break
    if not candidates:
        return "", _after_panic(lines)
    causes = [
        candidate for candidate in candidates if lines[candidate[0]].startswith("Caused by: ")
    ]
    number, error, message = (causes or candidates)[-1]
    if not causes and _is_top(lines):
        number, error, message = candidates[0]
    return error, message


def _is_top(lines: Sequence[str]) -> bool:
    """Whether the error is above its frames, as everywhere but in Python."""
    return not any(line.lstrip().startswith(('File "', "E  ")) for line in lines)


def _after_panic(lines: Sequence[str]) -> str:
    """Return Rust's message, on the line after the location."""
    for at, line in enumerate(lines[:-1]):
        if _PANIC_PLACE.search(line) and line.rstrip().endswith(":"):
            return lines[at + 1].strip()
    return ""
