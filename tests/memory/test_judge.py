"""The state of single handles: each way in which a text moves, changes or disappears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.memory.staleness import body_of, shape_of

LAMP = """\
# A lamp.


class Lamp:
    def kindle(self):
        return "burning"

    def snuff(self):
        return "dark"


def carry(lamp):
    where = "home"
    return lamp, where


def drop(lamp):
    return None
"""
BIG = "".join(f"line_{at} = {at}\n" for at in range(40))


class Place:
    """A repository about which something is saved."""

    def __init__(self, scratch: Path) -> None:
        self.repo = GitRepo.init(scratch / "repo")
        self.repo.commit("one", {"lamp.py": LAMP, "big.py": BIG, "data.bin": b"\0\1\2" * 100})
        self.engine = Engine(Settings(home=scratch / "home"))

    def save(self, *handles: str) -> None:
        self.engine.save("it", "x", handles, path=self.repo.root)

    def fares(self) -> list[tuple[str, str]]:
        (one,) = self.engine.load("it", path=self.repo.root).results
        return [(item.status, item.handle) for item in one.items]

    def near(self) -> tuple[str, ...]:
        (one,) = self.engine.load("it", path=self.repo.root).results
        return one.items[0].near


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.engine.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("handle", "change", "fares"),
    [
        ("lamp.py#carry", lambda text: "\n\n" + text, ("current", "lamp.py#carry")),
        ("lamp.py#carry", lambda text: text.replace("\n", "\r\n"), ("current", "lamp.py#carry")),
        ("lamp.py#carry", lambda text: text.replace("home", "yard"), ("changed", "lamp.py#carry")),
        ("lamp.py#carry", lambda text: text.replace("carry", "bear"), ("moved", "lamp.py#bear")),
        (
            "lamp.py#carry",
            lambda text: text.replace("carry", "bear").replace("home", "yard"),
            ("gone", "lamp.py#carry"),
        ),
        (
            "lamp.py#Lamp.kindle",
            lambda text: text.replace("Lamp", "Torch"),
            ("moved", "lamp.py#Torch.kindle"),
        ),
        ("lamp.py#Lamp", lambda text: text.replace("Lamp", "Torch"), ("moved", "lamp.py#Torch")),
        (
            "lamp.py#carry",
            lambda text: "def carry(first):\n    return first\n\n\n" + text,
            ("moved", "lamp.py#carry~2"),
        ),
        (
            "lamp.py#drop",
            lambda text: (
                text.replace("def drop(lamp):\n    return None\n", "")
                + "class Hand:\n    def drop(lamp):\n        return None\n"
            ),
            ("moved", "lamp.py#Hand.drop"),
        ),
        ("lamp.py:12-14", lambda text: "\n\n" + text, ("moved", "lamp.py:14-16")),
        ("lamp.py:12-14", lambda text: text, ("current", "lamp.py:12-14")),
        (
            "lamp.py:13-14",
            lambda text: "\n\n" + text.replace("home", "yard"),
            ("changed", "lamp.py:15-16"),
        ),
        ("lamp.py:1", lambda text: "", ("changed", "lamp.py")),
        ("lamp.py:17-18", lambda text: "x = 1\n", ("changed", "lamp.py")),
        ("lamp.py", lambda text: text + "x = 1\n", ("changed", "lamp.py")),
        ("lamp.py", lambda text: text.replace("\n", "\r\n"), ("current", "lamp.py")),
    ],
)
def test_a_handle_fares_as_its_text_does(
    place: Place, handle: str, change: Callable[[str], str], fares: tuple[str, str]
) -> None:
    place.save(handle)
    assert place.fares() == [("current", handle)]
    place.repo.write("lamp.py", change(LAMP))
    assert place.fares() == [fares]


def test_a_renamed_file_is_followed_committed_or_not(place: Place) -> None:
    handles = ["lamp.py#carry", "lamp.py:12-14", "lamp.py", "data.bin"]
    place.save(*handles)
    place.repo.rename("lamp.py", "sub/light.py")
    place.repo.rename("data.bin", "sub/data.dat")
    moved = ["sub/light.py#carry", "sub/light.py:12-14", "sub/light.py", "sub/data.dat"]
    assert place.fares() == [("moved", one) for one in moved]
    place.repo.commit("renamed")
    assert place.fares() == [("moved", one) for one in moved]


def test_a_file_that_was_renamed_and_edited_is_followed_as_git_does(place: Place) -> None:
    place.save("big.py", "big.py#line_3", "big.py#line_5", "big.py:20-22")
    place.repo.remove("big.py")
    text = BIG.replace("line_5 = 5", "line_5 = 55").replace("line_0 = 0\n", "")
    place.repo.write("great.py", text)
    place.repo.commit("renamed")
    said = place.repo.text("diff", "-M", "--name-status", "HEAD~1")
    assert said.startswith("R") and said.endswith("big.py\tgreat.py")
    assert place.fares() == [
        ("changed", "great.py"),
        ("moved", "great.py#line_3"),
        ("changed", "great.py#line_5"),
        ("moved", "great.py:19-21"),
    ]


def test_a_copy_that_was_there_before_is_not_taken_for_the_file(place: Place) -> None:
    place.repo.commit("a copy", {"copy.py": LAMP})
    place.save("lamp.py", "lamp.py:12-14")
    place.repo.remove("lamp.py")
    assert [status for status, _ in place.fares()] == ["gone", "gone"]


def test_a_namesake_with_another_text_is_only_near(place: Place) -> None:
    place.save("lamp.py#carry")
    place.repo.remove("lamp.py")
    place.repo.write("cart.py", "def carry(load):\n    return load\n")
    assert place.fares() == [("gone", "lamp.py#carry")]
    assert place.near() == ("cart.py#carry",)


def test_none_of_several_copies_is_taken(place: Place) -> None:
    place.save("lamp.py#carry")
    body = LAMP.partition("def carry")[2].partition("\n\n\n")[0]
    place.repo.remove("lamp.py")
    place.repo.write_all({"a.py": f"def carry{body}\n", "b.py": f"def carry{body}\n"})
    assert place.fares() == [("gone", "lamp.py#carry")]
    place.repo.remove("b.py")
    assert place.fares() == [("moved", "a.py#carry")]


def test_contents_still_judge_handles_of_a_missing_commit(place: Place) -> None:
    place.repo.commit("two", {"two.py": "x = 1\n"})
    place.save("lamp.py", "lamp.py#drop")
    place.repo.git("reset", "-q", "--hard", "HEAD~1")
    place.repo.git("reflog", "expire", "--expire=now", "--all")
    place.repo.git("gc", "-q", "--prune=now")
    place.repo.rename("lamp.py", "light.py")
    assert place.fares() == [("moved", "light.py"), ("moved", "light.py#drop")]


def test_a_name_that_is_not_utf8_is_kept(place: Place) -> None:
    place.repo.write(b"l\xe4mp.py", LAMP)
    place.save("l%E4mp.py#carry")
    assert place.fares() == [("current", "l%E4mp.py#carry")]


def test_a_link_in_the_place_of_a_file_is_not_followed(place: Place, tmp_path: Path) -> None:
    place.save("lamp.py#carry", "lamp.py")
    (tmp_path / "outside.py").write_text(LAMP)
    place.repo.remove("lamp.py")
    place.repo.path("lamp.py").symlink_to(tmp_path / "outside.py")
    assert [status for status, _ in place.fares()] == ["gone", "gone"]


def test_hashes_know_a_text_by_its_letters_alone() -> None:
    assert body_of(["    def a():", "        pass"]) == body_of(["def a():", "    pass"])
    assert body_of(["def a():", "    pass"]) != body_of(["def a():", "  pass"])
    assert body_of(["a"]) != body_of(["a", ""])
    assert shape_of(["def a(a): return ab"], "a") == shape_of(["def b(b): return ab"], "b")
    assert shape_of(["def a(): return ab"], "a") != shape_of(["def b(): return bb"], "b")
