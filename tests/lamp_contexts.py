"""A repository of lamps, and the state of what was saved about it."""

from __future__ import annotations

from pathlib import Path

from codelens.answers.context_answers import SavedContext, SavedHandle
from codelens.engine.engine import Engine

LAMP = """\
import os


class Lamp:
    def kindle(self):
        return os.getpid()

    def snuff(self):
        return None


def carry(lamp):
    return lamp
"""


def one(engine: Engine, name: str, where: Path) -> SavedContext:
    answer = engine.load(name, path=where)
    assert answer.exact
    return answer.results[0]


def items(engine: Engine, name: str, where: Path) -> list[SavedHandle]:
    return list(one(engine, name, where).items)


def states(engine: Engine, name: str, where: Path) -> list[tuple[str, str]]:
    return [(item.status, item.handle) for item in items(engine, name, where)]
