"""Generated queries and handles: an answer or a clear error, never data from outside.

`CODELENS_FUZZ_INPUTS=100000` runs that many inputs in all, including `test_arguments.py` (default
3,000). `tests/extract/test_hostile.py` generates texts for extraction, with a separate flag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random

import hang_alarm
import pytest
from fuzz.conftest import HANG_S
from fuzz.inputs import INPUTS, SECRET, a_handle, a_path, a_query, a_ref
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import CodelensError


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path_factory.mktemp("home"), workers=1)) as made:
        yield made


def ask(question: Callable[[], object], said: list[str]) -> str:
    """`answered` or `refused`; anything but an answer or a codelens error is a failure."""
    hang_alarm.end_after(HANG_S)
    try:
        answer = question()
    except CodelensError as error:
        said.append(str(error))
        assert SECRET not in str(error)
        return "refused"
    assert SECRET not in repr(asdict(answer))  # type: ignore[call-overload]
    return "answered"


def refs(pick: Random) -> str | None:
    return a_ref(pick) if pick.random() < 0.15 else None


@pytest.mark.parametrize("seed", range(4))
def test_any_query_is_answered_or_refused(repo: GitRepo, engine: Engine, seed: int) -> None:
    pick, said, found = Random(seed), [], {"answered": 0, "refused": 0}
    for _ in range(INPUTS * 4 // 10 // 4):
        query, mode = (
            a_query(pick),
            pick.choice(("auto", "auto", "symbol", "text", "regex", "path")),
        )
        globs = [a_path(pick)] if pick.random() < 0.2 else []
        languages = [pick.choice(("python", "py", "nope", ""))] if pick.random() < 0.1 else []
        ref = refs(pick)
        outcome = ask(
            lambda query=query, mode=mode, globs=globs, languages=languages, ref=ref: engine.search(
                query, path=repo.root, mode=mode, globs=globs, languages=languages, ref=ref,
                limit=5, explain=True,
            ),
            said,
        )  # fmt: skip
        found[outcome] += 1
    assert found["answered"] > found["refused"] / 20
    assert all(text.strip() for text in said)


@pytest.mark.parametrize("seed", range(4))
def test_any_handle_is_followed_or_refused(repo: GitRepo, engine: Engine, seed: int) -> None:
    pick, said, found = Random(1000 + seed), [], {"answered": 0, "refused": 0}
    for _ in range(INPUTS * 4 // 10 // 4):
        target, ref, below = a_handle(pick), refs(pick), Path(repo.root, "src")
        question = pick.choice((
            lambda target=target, ref=ref: engine.expand([target], path=repo.root, ref=ref),
            lambda target=target: engine.expand([target, "login"], path=repo.root, context=3),
            lambda target=target, ref=ref: engine.outline(target, path=repo.root, ref=ref),
            lambda target=target, ref=ref: engine.related(target, path=repo.root, ref=ref),
            lambda target=target, ref=ref: engine.impact([target], path=repo.root, ref=ref),
            lambda target=target, ref=ref, below=below: engine.look(path=below / target, ref=ref),
        ))  # fmt: skip
        found[ask(question, said)] += 1
    assert found["answered"] > found["refused"] / 20
    assert all(text.strip() for text in said)
