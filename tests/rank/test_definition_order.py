"""Which definition comes first: where the words meet, in what is named, code before its tests."""

from __future__ import annotations

from ranking_index import Store

from codelens.rank.definitions import definition_search
from codelens.rank.search_request import Request
from codelens.store.views.views import FileRow

SHELVES = '''class LampShelf:
    def drop(self):
        """Remove a thing."""
        self.things.pop(0)


class BookShelf:
    def drop(self):
        """Remove a thing, the oldest."""
        self.things.pop(0)
'''
DOOR = '''def locked(door):
    """Whether a locked door can be opened."""
    return door.bolt and door.key is None
'''
TEST_DOOR = '''def test_locked():
    """Whether a locked door can be opened twice."""
    assert locked(Door(bolt=True, key=None))
'''


def order(store: Store, files: dict[str, str], task: str) -> list[tuple[str, int]]:
    """Path and first line of the definitions that answer a task, best first."""
    view = store.view(files, name=repr(files))

    def read(file: FileRow) -> bytes:
        return files[file.path.decode()].encode()

    rows = definition_search.search(view, Request(task), read).rows
    return [(row.judged.evidence.file.path.decode(), row.name_line) for row in rows]


def test_the_members_of_a_type_that_the_task_names_come_before_others(store: Store) -> None:
    rows = order(store, {"shelves.py": SHELVES}, "LampShelf does not remove the oldest thing")
    assert rows.index(("shelves.py", 2)) < rows.index(("shelves.py", 8))


def test_code_comes_before_its_tests_where_the_task_speaks_of_tests(store: Store) -> None:
    files = {"door.py": DOOR, "tests/bolts.py": TEST_DOOR}
    assert order(store, files, "by the spec a locked door can be opened twice")[0] == ("door.py", 1)


def test_where_the_words_stand_in_one_line_comes_first(store: Store) -> None:
    together = "    lamp.put(wick, flame, smoke)\n"
    scattered = "    lamp.put(wick)\n    lamp.put(flame)\n    lamp.put(smoke)\n"
    glass = "    lamp.oil()\n    lamp.glass()\n"
    for first, second in ((together + glass, scattered), (scattered, together + glass)):
        text = f"def one(lamp):\n{first}\n\ndef two(lamp):\n{second}"
        rows = order(store, {f"lamp{len(first)}.py": text}, "wick flame smoke")
        best = text.split("\n")[rows[0][1]]
        assert best == together.rstrip("\n")
