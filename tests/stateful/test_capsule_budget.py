"""Generated tasks over real code: an answer stays within its budget, and shows existing code.

The code is that of this project's ranking and rendering; `CODELENS_CAPSULE_REPOS` (paths separated
by `:`) adds other repositories.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from harness_sizes import size_of

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.extract.tokenizer import WORD
from codelens.render import explore_text
from codelens.render.token_budget import cost_of

ROOT = Path(__file__).resolve().parents[2] / "codelens"
SHAPES = (
    "fix {0} when {1} is {2}", "rename {0}", "add {0} to {1}, as {2} has it", "{0}", "{0} {1} {2}",
    "how does {0} get its {1}?\n\nIt should not {2}.", "{0}.{1}", "src/{0}.py:12: {1}", '"{0} {1}"',
    'Traceback:\n  File "{0}.py", line 3, in {1}\nValueError: {2}',
)  # fmt: skip


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    made = GitRepo.init(tmp_path_factory.mktemp("real") / "repo")
    files = [path for part in ("rank", "render") for path in sorted((ROOT / part).rglob("*.py"))]
    made.commit("code", {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files})
    more = os.environ.get("CODELENS_CAPSULE_REPOS", "")
    return [made.root, *(Path(one) for one in more.split(":") if one)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path_factory.mktemp("home"))) as made:
        yield made


def words_of(tree: Path, draw: random.Random) -> list[str]:
    files = sorted(
        path for path in tree.rglob("*.*") if path.is_file() and ".git" not in path.parts
    )
    text = "".join(
        one.read_text("utf-8", "replace") for one in draw.sample(files, min(len(files), 30))
    )
    return sorted(set(WORD.findall(text)))


def test_generated_tasks_keep_to_their_tokens_and_show_what_is_there(
    engine: Engine, trees: list[Path]
) -> None:
    draw = random.Random(20_26)
    for tree in trees:
        words = words_of(tree, draw)
        for _ in range(size_of("CODELENS_CAPSULE_TASKS") // len(trees)):
            task = draw.choice(SHAPES).format(*draw.choices(words, k=3))
            tokens = int(200 * 2 ** draw.uniform(0, 7))
            answer = engine.explore(task, path=tree, max_tokens=tokens)
            assert cost_of(explore_text.explore(answer)) <= tokens, (task, tokens)
            seen: set[tuple[str, int]] = set()
            for piece in answer.pieces:
                lines = (tree / piece.path).read_text("utf-8", "replace").split("\n")
                for number, text in piece.lines:
                    assert text == lines[number - 1].removesuffix("\r"), (task, piece.handle)
                    assert (piece.path, number) not in seen, (task, piece.handle)
                    seen.add((piece.path, number))
