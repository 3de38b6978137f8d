"""The state of saved handles after any sequence of edits, renames, commits and branch switches.

A model tracks the place of each function's text in two files; git is real. Every body is unique, so
the model knows the state of each handle. A text at its place is current. A text elsewhere under its
own name has moved. A name whose text was edited at its place has changed. Anything else is gone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from gitrepo import GitRepo
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from codelens.answers.context_answers import SavedHandle
from codelens.config import Settings
from codelens.engine.engine import Engine

FILES = ("a.py", "b.py", "sub/c.py")
NAMES = ("kindle", "snuff", "trim")
Tree = dict[str, dict[str, int]]
"""File -> name -> the number that makes its body unique."""


def text_of(functions: dict[str, int]) -> str:
    # Long, and without common lines: a deleted file never resembles another by chance.
    parts = [
        f"def {name}(x):\n    first = {body}\n    second = first + {body * 7}\n    return {body}\n"
        for name, body in functions.items()
    ]
    return "\n\n".join(parts)


class Contexts(RuleBasedStateMachine):
    """Edits in a worktree with two branches; each step judges all saved contexts."""

    @initialize()
    def start(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="contexts-"))
        self.repo = GitRepo.init(self.scratch / "repo")
        self.engine = Engine(Settings(home=self.scratch / "home"))
        self.bodies = 1000
        self.tree: Tree = {"a.py": {}, "b.py": {}}
        for path in self.tree:
            for name in NAMES[:2]:
                self.tree[path][name] = self._body()
        self._write()
        self.repo.commit("one")
        self.repo.git("branch", "other")
        self.branch, self.trees = "main", {"other": self._copy()}
        self.saved: dict[str, tuple[str, str, int]] = {}

    def teardown(self) -> None:
        if hasattr(self, "scratch"):
            self.engine.close()
            shutil.rmtree(self.scratch)

    def _body(self) -> int:
        self.bodies += 1
        return self.bodies

    def _copy(self) -> Tree:
        return {path: dict(functions) for path, functions in self.tree.items()}

    def _write(self) -> None:
        for path in FILES:
            if path in self.tree:
                self.repo.write(path, text_of(self.tree[path]))
            elif self.repo.path(path).exists():
                self.repo.remove(path)

    @rule(path=st.sampled_from(FILES), name=st.sampled_from(NAMES))
    def edit(self, path: str, name: str) -> None:
        """A new body: replaces a function, or adds one to others."""
        self.tree.setdefault(path, {})[name] = self._body()
        self._write()

    @rule(path=st.sampled_from(FILES), name=st.sampled_from(NAMES))
    def delete(self, path: str, name: str) -> None:
        self.tree.get(path, {}).pop(name, None)
        self._write()

    @rule(old=st.sampled_from(FILES), new=st.sampled_from(FILES), name=st.sampled_from(NAMES))
    def move(self, old: str, new: str, name: str) -> None:
        """Moves one function to another file."""
        if name in self.tree.get(old, {}) and name not in self.tree.get(new, {}):
            self.tree.setdefault(new, {})[name] = self.tree[old].pop(name)
            self._write()

    @rule(old=st.sampled_from(FILES), new=st.sampled_from(FILES))
    def rename(self, old: str, new: str) -> None:
        """Renames a whole file, unchanged."""
        if old in self.tree and new not in self.tree:
            self.tree[new] = self.tree.pop(old)
            self._write()

    @rule(path=st.sampled_from(FILES), old=st.sampled_from(NAMES), new=st.sampled_from(NAMES))
    def call_otherwise(self, path: str, old: str, new: str) -> None:
        """Renames a function and keeps its body."""
        functions = self.tree.get(path, {})
        if old in functions and new not in functions:
            functions[new] = functions.pop(old)
            self._write()

    @rule()
    def commit(self) -> None:
        self.repo.commit("more")

    @rule()
    def switch(self) -> None:
        self.repo.commit("before the switch")
        self.trees[self.branch] = self._copy()
        self.branch = "other" if self.branch == "main" else "main"
        self.repo.checkout(self.branch)
        self.tree = {path: dict(found) for path, found in self.trees[self.branch].items()}
        # Git leaves no empty file behind, so the model writes its files again.
        self._write()

    @rule(path=st.sampled_from(FILES), name=st.sampled_from(NAMES))
    def save(self, path: str, name: str) -> None:
        if name in self.tree.get(path, {}):
            key = f"{path}-{name}"
            self.engine.save(key, "x", [f"{path}#{name}"], replace=True, path=self.repo.root)
            self.saved[key] = (path, name, self.tree[path][name])

    @invariant()
    def all_fares_as_it_must(self) -> None:
        if not hasattr(self, "saved"):
            return
        answer = self.engine.load(path=self.repo.root, limit=100)
        assert len(answer.results) == len(self.saved)
        for one in answer.results:
            self._check(one.items[0], *self.saved[one.name])

    def _check(self, item: SavedHandle, path: str, name: str, body: int) -> None:
        now = self.tree.get(path, {})
        places = {
            (where, other)
            for where, functions in self.tree.items()
            for other, found in functions.items()
            if found == body
        }
        if now.get(name) == body:
            expected = {("current", f"{path}#{name}")}
        elif name in now:
            expected = {("changed", f"{path}#{name}")}
        else:
            named = {where for where, other in places if other == name}
            if named:
                expected = {("moved", f"{where}#{name}") for where in named}
            elif any(where == path for where, _ in places):
                # The text is in its file under another name.
                expected = {("moved", f"{where}#{other}") for where, other in places}
            else:
                # Its file may have become another one, which has the name with another text, or
                # the text under another name; or it does not exist.
                expected = {("moved", f"{where}#{other}") for where, other in places}
                expected |= {
                    ("changed", f"{where}#{name}")
                    for where, functions in self.tree.items()
                    if name in functions and path not in self.tree and where != path
                }
                expected |= {("gone", f"{path}#{name}")}
        assert (item.status, item.handle) in expected, (item, self.tree, body)


TestContexts = Contexts.TestCase
TestContexts.settings = settings(
    max_examples=15, stateful_step_count=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
