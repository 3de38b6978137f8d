"""No content of a repository sends a terminal a control sequence that it would execute."""

from __future__ import annotations

import re

import pytest
from forked_commands import codelens
from gitrepo import GitRepo
from pseudo_terminal import on_a_terminal, without_bar

pytest.importorskip("pty")

# Cursor, title, colours, a C1 introducer, reading order, a line separator, a bell, a backspace,
# marks of direction, and words in tags, which nobody sees.
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2028\x08\x7f\u200f\u061c\u200b\U000e0041"
STYLES = re.compile(r"\x1b\[(?:0|1|2|31|32|33|35|36)m")
OBEYED = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\U000e0000-\U000e007f]"
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    made = GitRepo.init(tmp_path_factory.mktemp("evil") / "repo")
    name = "ev\x1b[31mil\x9b\u202e\u200f\U000e0041.py"
    made.commit("one", {
        name: f'def lamp():\n    """Doc {EVIL} lamp."""\n    return "{EVIL}"\n',
        "other.py": f"# lamp {EVIL}\ndef kindle(a='{EVIL}'):\n    return lamp()\n",
        "x\nlamp\x1b[2J.md": f"# lamp {EVIL}\n\ntext\n",
    })  # fmt: skip
    made.git("branch", "lamp-\u202e\u200f\U000e0041")
    return made


COMMANDS = (
    ("search", "lamp"),
    ("search", "--explain", "lamp"),
    ("search", "--json", "lamp"),
    ("search", "--mode", "text", "owned"),
    ("search", EVIL.replace("\0", "")),
    ("expand", "lamp", "kindle", EVIL),
    ("expand", "other.py", "-n"),
    ("expand", "--json", "other.py"),
    ("outline",),
    ("outline", "--json"),
    ("outline", EVIL),
    ("map",),
    ("map", "--format", "dot"),
    ("map", "--format", "mermaid"),
    ("related", "lamp"),
    ("related", "--json", "lamp"),
    ("impact", "lamp"),
    ("export", "symbols"),
    ("status",),
    ("status", "--json"),
    ("search", "--ref", "lamp-\u202e\u200f\U000e0041", "lamp"),
    ("search", "--ref", EVIL, "lamp"),
    ("search", "-C", f"/nowhere{EVIL}", "lamp"),
    ("no\x1b[2Jsuch",),
    ("doctor",),
)


@pytest.mark.slow
@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: ascii(" ".join(args))[:40])
def test_a_terminal_is_sent_nothing_that_it_would_obey(
    repo: GitRepo, args: tuple[str, ...]
) -> None:
    shown = without_bar(on_a_terminal(repo.root, *args, home=repo.root.parent))
    assert shown.strip()
    left = OBEYED.findall(STYLES.sub("", shown))
    assert not left, ascii(shown)


def test_a_file_or_pipe_gets_the_whole_text(repo: GitRepo) -> None:
    done = codelens("expand", "other.py", cwd=repo.root, home=repo.root.parent / "home")
    assert done.stdout == repo.path("other.py").read_bytes()
