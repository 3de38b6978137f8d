"""Runs codelens in a terminal and draws it as an animated SVG, for README.md and docs/index.md.

    pip install pyte
    python benchmarks/terminal_recording.py docs/images/terminal.svg

Runs the commands below one after another in a clone of this repository, in a real terminal
(`pty`); all output is real. Each is typed, answers, and stays for a while. For readers who prefer
reduced motion, the SVG shows the last one as a still. The file has no script and loads nothing, so
it plays wherever images are shown.
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import pyte  # pyright: ignore[reportMissingImports] - only this script needs it

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 104, 25
FONT_PX, CHAR_PX, LINE_PX, EDGE_PX = 14, 8.43, 19, 16
TYPED_AT_ONCE, KEY_S, PAUSE_S = 3, 0.09, 0.35
PROMPT = "$ "
CHANGED = "sed -i 's/time_s: int | None)/time_s: {})/' {}codelens/wording.py"


@dataclass(frozen=True)
class Scene:
    """One command, and how long its answer is shown."""

    command: str
    seconds: float
    before: str = ""
    """A command to run first, without showing it."""


SCENES = (
    Scene('codelens search "check the bearer token of a request" --limit 3', 6),
    Scene("codelens related day_of", 6),
    Scene(CHANGED.format("int | None, zone: str", ""), 1),
    Scene("codelens impact --diff --limit 8", 8),
    Scene(
        "codelens conflicts", 6,
        "git worktree add -q ../side -b side && " + CHANGED.format("float | None", "../side/"),
    ),
)  # fmt: skip
DARK, LIGHT = "#16191d", "#e6e6e3"
COLOURS = {
    "default": LIGHT, "black": "#5b6068", "red": "#ff8f85", "green": "#8fd6a5", "brown": "#e5b567",
    "blue": "#8ec5f5", "magenta": "#d8a6f0", "cyan": "#7fd3d3", "white": LIGHT,
}  # fmt: skip
Piece = tuple[str, str, bool]
"""Text, colour, bold."""


def screen_of(command: str, folder: Path, env: dict[str, str]) -> list[list[Piece]]:
    """The rows of a terminal after a command has ended in it."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "-c", command], env)
    while select.select([terminal], [], [], 300)[0]:
        try:
            printed = os.read(terminal, 65536)
        except OSError:  # The process behind the terminal has ended.
            break
        if not printed:
            break
        stream.feed(printed)
    os.close(terminal)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise SystemExit(f"{command} failed:\n" + "\n".join(screen.display))
    return [list(pieces(screen.buffer[row])) for row in range(ROWS)]


def pieces(row: dict[int, pyte.screens.Char]) -> Iterator[Piece]:
    """A row as runs of one style, without trailing blanks."""
    cells = [row[column] for column in range(COLUMNS)]
    while cells and cells[-1].data == " ":
        cells.pop()
    for (colour, bold), run in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
        yield "".join(cell.data for cell in run), COLOURS.get(colour, LIGHT), bold


@dataclass(frozen=True)
class Frame:
    """One screen and its duration."""

    rows: Sequence[Sequence[Piece]]
    seconds: float


def frames_of(scene: Scene, answer: Sequence[Sequence[Piece]]) -> Iterator[Frame]:
    for typed in range(0, len(scene.command) + TYPED_AT_ONCE, TYPED_AT_ONCE):
        yield Frame(wrapped(scene.command[:typed] + "▌"), KEY_S)
    command = wrapped(scene.command)
    yield Frame(command, PAUSE_S)
    yield Frame([*command, *answer][:ROWS], scene.seconds)


def wrapped(command: str) -> list[list[Piece]]:
    """A command as typed, wrapped to as many rows as it needs."""
    text = PROMPT + command
    rows = [text[at : at + COLUMNS] for at in range(0, len(text), COLUMNS)]
    return [[(row, COLOURS["green"], False)] for row in rows]


def drawn(frames: Sequence[Frame]) -> str:
    """All frames in one picture, each visible in its share of the time."""
    width = round(COLUMNS * CHAR_PX + 2 * EDGE_PX)
    height = ROWS * LINE_PX + 2 * EDGE_PX
    total = sum(frame.seconds for frame in frames)
    rules, groups, start = [], [], 0.0
    for number, frame in enumerate(frames):
        first, end = 100 * start / total, 100 * (start + frame.seconds) / total
        rules.append(
            f"@keyframes f{number}{{0%{{visibility:hidden}}{first:.3f}%{{visibility:visible}}"
            f"{end:.3f}%,100%{{visibility:hidden}}}}"
            f"#f{number}{{animation:f{number} {total:.2f}s step-end infinite}}"
        )
        groups.append(f'<g id="f{number}">{"".join(texts(frame.rows))}</g>')
        start += frame.seconds
    last = len(frames) - 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" '
        f'font-size="{FONT_PX}" aria-label="codelens in a terminal: search, related, impact '
        f'and conflicts">\n<style>g{{visibility:hidden}}'
        f"{''.join(rules)}@media (prefers-reduced-motion:reduce){{g{{animation:none!important}}"
        f"#f{last}{{visibility:visible}}}}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="{DARK}"/>\n'
        + "\n".join(groups)
        + "\n</svg>\n"
    )


def texts(rows: Sequence[Sequence[Piece]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        column = 0
        for text, colour, bold in row:
            if text.strip():
                x, y = EDGE_PX + column * CHAR_PX, EDGE_PX + (number + 0.75) * LINE_PX
                weight = ' font-weight="bold"' if bold else ""
                # The length keeps columns aligned if another font is wider.
                yield (
                    f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{weight} xml:space="preserve" '
                    f'textLength="{len(text) * CHAR_PX:.1f}">{escape(text, quote=False)}</text>'
                )
            column += len(text)


def main() -> None:
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch, "codelens")
        subprocess.run(["git", "clone", "-q", f"file://{ROOT}", clone], check=True)
        subprocess.run(["git", "checkout", "-q", "-B", "main"], cwd=clone, check=True)
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = os.environ | {
            "CODELENS_HOME": str(Path(scratch, "home")), "PATH": programs,
            "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS),
            "CODELENS_PAGER": "cat",
        }  # fmt: skip
        subprocess.run(["codelens", "index"], cwd=clone, env=env, check=True)
        frames: list[Frame] = []
        for scene in SCENES:
            if scene.before:
                subprocess.run(["bash", "-c", scene.before], cwd=clone, check=True)
            frames += frames_of(scene, screen_of(scene.command, clone, env))
    target.write_text(drawn(frames), encoding="utf-8")
    print(f"{target}: {len(frames)} frames, {sum(f.seconds for f in frames):.0f} s, "
          f"{target.stat().st_size:,} bytes; {time.strftime('%Y-%m-%d')}")  # fmt: skip


if __name__ == "__main__":
    main()
