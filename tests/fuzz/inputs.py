"""Random queries, handles and arguments: realistic input, mutated."""

from __future__ import annotations

import string
from random import Random

from harness_sizes import size_of

INPUTS = size_of("CODELENS_FUZZ_INPUTS")
SECRET = "ZYXWOUTSIDE"
"""Content of files that no answer may show: outside the worktree, in `.git`, behind links."""

_PATHS = (
    "src/auth.py", "src/", ".", "..", "../secret.py", "../../etc/passwd", "/etc/passwd",
    "out/secret.py",
    "link.py", "link.py/x", "loop/loop/a", ".git/config", ".git/../.git/config",
    "src/../../secret.py",
    "%2e%2e/secret.py", "%2E%2E%2Fsecret.py", "src%2Fauth.py", "~/secret.py", "\\\\host\\x",
    "C:\\x.py",
    "src//auth.py", "./src/auth.py", "README.md", "none.py", "sr c/a b.py", "src/auth.py/", "//src",
)  # fmt: skip
_REFS = ("main", "HEAD", "HEAD~1", "HEAD^{tree}", "HEAD:", "v1", "@{-1}", "--all", "-n",
         "refs/heads/main",
         ":/one", "main..HEAD", "0" * 40, "../main", "", "HEAD@{9999}", "main^0^0")  # fmt: skip
_NAMES = (
    "Session",
    "Session.validate",
    "login",
    "login~2",
    "~0",
    "~-1",
    "~99999999999",
    "",
    "a.b.c.d",
    "*",
)
_LINES = (
    ":1",
    ":1-2",
    ":2-1",
    ":0",
    ":-1",
    ":1-",
    ":99999999999999999999",
    ":a-b",
    ":1-2-3",
    ":1:2",
)
_WORDS = (
    "session", "validate token", "login(name)", "how is a token checked?", "src/auth.py", "Sessoin",
    'File "src/auth.py", line 4, in validate', "TypeError: bad token", "def login(name):", "(a+)+$",
    "[", "(?P<x>", "\\", "a{99999}", "(?<=x)", ".*.*.*.*z", "^$", "NOT AND OR", '"',
    "'; DROP TABLE views",
    "lang:python", "a b c d e f g h i j k l m n o p", "x" * 5000, "ünïcödé", "日本語", "🙈",
    "a\u0301",
)  # fmt: skip
_EVIL = (
    "\0",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\udcff",
    "\n",
    "\r\n",
    "\t",
    "%",
    "%zz",
    "#",
    ":",
    "~",
    "\x7f",
)


def a_query(pick: Random) -> str:
    """Something to search for."""
    return _bent(pick, " ".join(pick.choice(_WORDS) for _ in range(pick.choice((1, 1, 2, 4)))))


def a_path(pick: Random) -> str:
    """A path, or nearly one."""
    return _bent(pick, pick.choice(_PATHS))


def a_handle(pick: Random) -> str:
    """A handle, or nearly one."""
    text = pick.choice(_PATHS)
    if pick.random() < 0.3:
        text = f"{pick.choice(_REFS)}:{text}"
    if pick.random() < 0.5:
        text += f"#{pick.choice(_NAMES)}"
    if pick.random() < 0.4:
        text += pick.choice(_LINES)
    return _bent(pick, text)


def a_ref(pick: Random) -> str:
    """A ref, or nearly one."""
    return _bent(pick, pick.choice(_REFS))


def a_value(pick: Random, depth: int = 0) -> object:
    """Any JSON value, of types that tools accept and of others."""
    kind = pick.randrange(12 if depth < 3 else 9)
    match kind:
        case 0 | 1:
            return a_query(pick)
        case 2 | 3:
            return a_handle(pick)
        case 4:
            return pick.choice((0, 1, -1, 10, 10**9, -(10**30), 2**63, 1.5, 1e308))
        case 5:
            return pick.choice((True, False, None))
        case 6:
            return a_ref(pick)
        case 7 | 8:
            return a_path(pick)
        case 9 | 10:
            return [a_value(pick, depth + 1) for _ in range(pick.choice((0, 1, 3, 40)))]
        case _:
            return {a_query(pick)[:20]: a_value(pick, depth + 1) for _ in range(pick.randrange(3))}


def _bent(pick: Random, text: str) -> str:
    for _ in range(pick.choice((0, 0, 1, 2, 5))):
        at = pick.randrange(len(text) + 1)
        match pick.randrange(5):
            case 0:
                text = text[:at] + pick.choice(_EVIL) + text[at:]
            case 1:
                text = text[:at] + text[at + pick.randrange(1, 4) :]
            case 2:
                text = text[:at] + pick.choice(string.printable) + text[at:]
            case 3:
                text = text + text[:at]
            case _:
                text = text[:at] * pick.choice((1, 2, 50))
    return text[:20_000]
