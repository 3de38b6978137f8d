"""One question to several repositories: one order on one scale, a receipt each, separate errors."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.errors import QueryError

WORDS = "parse header cookie token session retry upload socket cache buffer stream reader".split()


def module(number: int) -> str:
    """A file of a few unique functions about some of the words."""
    picked = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 2, 3, 5, 7)]
    lines = [f'"""About {picked[0]} and {picked[1]}."""\n']
    for at, word in enumerate(picked[: 2 + number % 4]):
        other = picked[(at + 1) % len(picked)]
        lines.append(f"\n\ndef {word}_{other}_{number}(value):\n")
        lines += [f"    {word} = {other}(value)\n"] * (1 + number % 3)
        lines.append(f"    return {word}\n")
    return "".join(lines)


PARTS = {
    part: {f"{part}/mod{number}.py": module(number) for number in numbers}
    for part, numbers in (("left", range(20)), ("right", range(20, 27)))
}


def made(root: Path, files: dict[str, str]) -> str:
    GitRepo.init(root).commit("one", files)
    return str(root)


@pytest.fixture
def halves(tmp_path: Path) -> list[str]:
    return [made(tmp_path / part, files) for part, files in PARTS.items()]


@pytest.mark.parametrize(
    "query",
    [
        "parse cookie header",
        "retry the upload",
        "socket stream reader buffer",
        "cache of the session",
    ],
)
def test_two_halves_are_ranked_nearly_as_the_whole(
    engine: Engine, tmp_path: Path, halves: list[str], query: str
) -> None:
    """The same files in one repository and in two: scores differ only by mean lengths."""
    whole = made(tmp_path / "whole", {**PARTS["left"], **PARTS["right"]})
    alone = engine.search(query, path=whole, limit=50).results
    joint = engine.search_repositories(query, halves, limit=50).results
    scores = {hit.path: hit.score for hit in reversed(alone)}
    common = [hit for hit in joint if hit.path in scores]
    assert len(common) >= 8
    for hit in common[:10]:
        assert hit.score == pytest.approx(scores[hit.path], abs=0.6), hit.path
    # The five best of the whole are all among the eight best of the halves.
    best = list(dict.fromkeys(hit.path for hit in alone))[:5]
    assert set(best) <= set(list(dict.fromkeys(hit.path for hit in joint))[:8])


def test_a_repository_with_few_matches_ranks_last(engine: Engine, tmp_path: Path) -> None:
    answer = made(
        tmp_path / "answer",
        {
            "netrc.py": "def read_netrc_password(host):\n    '''Password from netrc.'''\n",
            **{f"pad{at}.py": f"def pad_{at}():\n    return {at}\n" for at in range(5)},
        },
    )
    other = made(
        tmp_path / "other",
        {f"host{at}.py": f"def host_{at}():\n    return 'host {at}'\n" for at in range(6)},
    )
    query = "read the netrc password of a host"
    # Each repository alone has a best file, whose score does not compare with the other's.
    alone = [engine.search(query, path=path).results[0].score for path in (answer, other)]
    joint = engine.search_repositories(query, [other, answer])
    assert joint.results[0].path == "netrc.py"
    behind = max(hit.score for hit in joint.results if hit.repository == other)
    assert joint.results[0].score - behind > 2 * abs(alone[0] - alone[1])


def test_a_definition_of_the_name_comes_before_what_only_uses_it(
    engine: Engine, tmp_path: Path
) -> None:
    uses = made(tmp_path / "uses", {"lamp.py": "import lib\n\n\ndef go():\n    lib.Beacon()\n" * 3})
    tests = made(tmp_path / "tests", {"tests/test_it.py": "class Beacon:\n    pass\n"})
    defines = made(tmp_path / "defines", {"a/b/c/d.py": "class Beacon:\n    pass\n"})
    joint = engine.search_repositories("Beacon", [uses, tests, defines])
    assert [Path(hit.repository).name for hit in joint.results[:2]] == ["defines", "tests"]
    assert joint.results[0].handle == f"{defines}/a/b/c/d.py#Beacon"
    assert joint.results[-1].repository == uses


def test_handles_are_read_by_themselves(engine: Engine, halves: list[str]) -> None:
    for hit in engine.search_repositories("session", halves).results:
        (item,) = engine.expand([hit.handle], path=hit.repository).items
        assert not item.error and item.path == hit.path


def test_errors_of_one_do_not_lose_the_others(
    engine: Engine, tmp_path: Path, halves: list[str]
) -> None:
    empty = str(GitRepo.init(tmp_path / "empty").root)
    joint = engine.search_repositories(
        "session", [str(tmp_path / "gone"), halves[0], empty, halves[1], halves[0]]
    )
    gone, left, nothing, right = joint.repositories
    assert "no such path" in gone.error and gone.receipt is None
    assert left.receipt and left.receipt.status == "fresh" and left.found
    assert right.receipt and right.receipt.worktree == halves[1]
    assert nothing.receipt and not nothing.found and "nothing to search" in nothing.notes[0]
    assert {hit.repository for hit in joint.results} <= set(halves)
    assert left.found + right.found == len(joint.results)


def test_a_ref_that_one_lacks(engine: Engine, tmp_path: Path, halves: list[str]) -> None:
    GitRepo(Path(halves[0])).git("branch", "side")
    joint = engine.search_repositories("session", halves, ref="side")
    left, right = joint.repositories
    assert not left.error and "side" in right.error
    hit = joint.results[0]
    assert hit.handle.startswith(f"side:{halves[0]}/left/")
    (item,) = engine.expand([hit.handle], path=halves[0]).items
    assert not item.error and item.text


def test_worktrees_of_one_repository_are_two(engine: Engine, tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"a.py": "def lantern():\n    return 1\n"})
    side = repo.worktree(tmp_path / "side", branch="side")
    side.write("b.py", "def lantern_of_side():\n    return 2\n")
    joint = engine.search_repositories("lantern", [str(repo.root), str(side.root)])
    assert {hit.repository for hit in joint.results} == {str(repo.root), str(side.root)}
    assert [part.receipt.branch for part in joint.repositories if part.receipt] == ["main", "side"]


@pytest.mark.parametrize("mode", ["text", "regex", "path", "symbol", "meaning"])
def test_every_mode_answers(engine: Engine, halves: list[str], mode: str) -> None:
    query = {"path": "mod2", "regex": r"session_\w+"}.get(mode, "session")
    joint = engine.search_repositories(query, halves, mode=mode, limit=100)
    assert {hit.repository for hit in joint.results} == set(halves)
    if mode in {"text", "regex"}:
        matches = [int(hit.why.split()[0]) for hit in joint.results]
        assert matches[0] == max(matches)


def test_unintelligible_input_is_refused(engine: Engine, halves: list[str]) -> None:
    with pytest.raises(QueryError):
        engine.search_repositories("", halves)
    with pytest.raises(QueryError):
        engine.search_repositories("x", halves, mode="no")
    with pytest.raises(QueryError):
        engine.search_repositories("x", halves, content="no")
    for repositories in ([], [f"/r{at}" for at in range(21)]):
        with pytest.raises(QueryError, match="1 to 20"):
            engine.search_repositories("session", repositories)


def test_a_token_limit_counts_what_was_left_out(engine: Engine, halves: list[str]) -> None:
    every = engine.search_repositories("session", halves)
    few = engine.search_repositories("session", halves, max_tokens=300)
    assert few.results == every.results[: len(few.results)]
    assert few.more == len(every.results) - len(few.results) > 0


def test_questions_in_opposite_order_do_not_wait_for_each_other(
    engine: Engine, halves: list[str]
) -> None:
    answers: list[int] = []

    def ask(repositories: list[str]) -> None:
        for _ in range(10):
            answers.append(len(engine.search_repositories("session", repositories).results))

    threads = [threading.Thread(target=ask, args=(order,)) for order in (halves, halves[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert len(answers) == 20 and len(set(answers)) == 1
