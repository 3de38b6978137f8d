"""A graph answer does not depend on what was asked before.

Edges are resolved on demand and stay; edges that nobody has asked for yet must be looked up.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

FILES = {
    "lib/base.rb": (
        "class Base\n  def call(env)\n    env\n  end\nend\n\n"
        "class Request\n  def initialize(env)\n    @env = env\n  end\nend\n"
    ),
    "lib/middle.rb": "class Middle < Base\nend\n",
    "lib/deep.rb": (
        "class Deep < Middle\n  def call(env)\n    Request.new(env)\n    super\n  end\nend\n"
    ),
    "go.mod": "module example.com/m\n\ngo 1.22\n",
    "bind/setter.go": (
        "package bind\n\ntype Setter interface {\n\tTrySet(v string) bool\n}\n\n"
        "func try(v string) bool { return v != \"\" }\n"
    ),
    "bind/form.go": (
        "package bind\n\ntype form struct{}\n\n"
        "func (f form) TrySet(v string) bool { return try(v) }\n"
    ),
    "bind/header.go": (
        "package bind\n\ntype header struct{}\n\n"
        "func (h header) TrySet(v string) bool { return try(v) }\n\n"
        "func use(s Setter) bool { return s.TrySet(\"a\") }\n"
    ),
}  # fmt: skip
QUESTIONS = (
    ("impact", "lib/base.rb#Base.call"),
    ("related", "lib/base.rb#Base.call"),
    ("impact", "lib/base.rb#Request"),
    ("impact", "bind/setter.go#try"),
    ("related", "bind/setter.go#Setter.TrySet"),
    ("map", ""),
)
FIRST = (
    "bind/header.go", "lib/deep.rb", "bind/form.go", "lib/middle.rb", "lib/base.rb",
    "bind/setter.go",
)  # fmt: skip


def _ask(engine: Engine, root: Path, kind: str, handle: str) -> object:
    if kind == "map":
        return replace(engine.map(path=root), receipt=None)
    if kind == "impact":
        return replace(engine.impact([handle], path=root, depth=3), receipt=None)
    return replace(engine.related(handle, path=root), receipt=None)


@pytest.mark.parametrize(("kind", "handle"), QUESTIONS)
def test_an_answer_does_not_depend_on_earlier_questions(
    kind: str, handle: str, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", FILES)
    with Engine(Settings(home=tmp_path / "fresh")) as fresh:
        alone = _ask(fresh, repo.root, kind, handle)
    with Engine(Settings(home=tmp_path / "asked")) as asked:
        for path in FIRST:
            asked.impact([path], path=repo.root)
            asked.related(path, path=repo.root)
        assert _ask(asked, repo.root, kind, handle) == alone


def test_super_alone_calls_the_method_above_in_a_file_that_names_no_owner(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", FILES)
    with Engine(Settings(home=tmp_path / "home")) as engine:
        answer = engine.related("lib/base.rb#Base.call", path=repo.root)
    callers = [row.node.handle for row in answer.results if row.relation == "callers"]
    assert callers == ["lib/deep.rb#Deep.call"]
