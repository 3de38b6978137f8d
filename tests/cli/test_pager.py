"""A long answer on a terminal is shown in a pager; nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from forked_commands import codelens
from gitrepo import GitRepo
from pseudo_terminal import on_a_terminal, without_bar

pytest.importorskip("pty")

DEFINITIONS = 60


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo.init(tmp_path_factory.mktemp("long") / "repo")
    text = "".join(f"def lamp{at}():\n    return {at}\n\n\n" for at in range(DEFINITIONS))
    repo.commit("one", {"a.py": text, "b.py": "def kindle():\n    return 1\n"})
    return repo


@pytest.fixture
def shown(long: GitRepo, tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """What a command prints on a terminal, and what its pager gets."""
    paged = tmp_path / "paged"

    def show(*args: str, **extra: str) -> tuple[str, str]:
        paged.unlink(missing_ok=True)
        pager = {"CODELENS_PAGER": f"echo LESS=$LESS >'{paged}'; cat >>'{paged}'; echo seen"}
        home = long.root.parent
        screen = on_a_terminal(long.root, *args, home=home, extra={"LINES": "24"} | pager | extra)
        return without_bar(screen), paged.read_text("utf-8") if paged.exists() else ""

    return show


def test_a_long_answer_is_paged_with_its_colours_and_its_receipt(shown) -> None:
    screen, paged = shown("outline", "a.py")
    assert "lamp" not in screen and "seen" in screen
    assert paged.startswith("LESS=FRX\n") and "\x1b[" in paged
    assert all(f"lamp{at}(" in paged for at in range(DEFINITIONS))
    assert "fresh" in paged.splitlines()[-1]


def test_the_users_own_options_of_less_are_kept(shown) -> None:
    assert shown("outline", "a.py", LESS="-S")[1].startswith("LESS=-S\n")


@pytest.mark.parametrize(
    ("args", "extra"),
    [
        (("outline", "b.py"), {}),  # fits
        (("outline", "a.py"), {"LINES": "200"}),  # fits
        (("outline", "a.py", "--no-pager"), {}),
        (("--no-pager", "outline", "a.py"), {}),
        (("outline", "a.py"), {"CODELENS_PAGER": "cat"}),
        (("outline", "a.py"), {"CODELENS_PAGER": "", "PAGER": "false"}),
        (("outline", "a.py"), {"TERM": "dumb"}),
        (("outline", "a.py"), {"CLAUDE_CODE_SESSION_ID": "s1"}),
        (("outline", "a.py"), {"CODELENS_PAGER": "no-such-pager"}),
        (("export", "symbols"), {}),  # no command that only shows something
    ],
)
def test_what_is_not_paged_is_printed(shown, args: tuple[str, ...], extra: dict[str, str]) -> None:
    screen, paged = shown(*args, **extra)
    assert ("kindle" if "b.py" in args else f"lamp{DEFINITIONS - 1}") in screen and not paged


def test_an_error_is_printed(shown) -> None:
    screen, paged = shown("expand", "a.py#nothing")
    assert "codelens: error:" in screen and not paged


def test_a_pipe_is_not_paged(long: GitRepo) -> None:
    environment = {"CODELENS_PAGER": "false", "TERM": "xterm"}
    done = codelens(
        "outline", "a.py", cwd=long.root, home=long.root.parent / "home", env=environment
    )
    assert done.stdout.count(b"lamp") == DEFINITIONS
