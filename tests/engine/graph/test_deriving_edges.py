"""Finding what a method overrides needs only the bases of its type, not the rest of its file."""

from __future__ import annotations

from pathlib import Path

from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.resolve.walk.relation_walk import overrides

BUSY = (
    "from base import Base, helper\n\nclass Work(Base):\n    def run(self):\n"
    + "        helper()\n" * 200
)


def test_a_file_is_not_resolved_for_what_its_types_derive_from(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "r")
    base = "def helper(): pass\n\nclass Base:\n    def run(self): pass\n"
    repo.commit("first", {"base.py": base, "work.py": BUSY})
    with Engine(Settings(home=tmp_path / "home")) as engine:
        engine.index(path=repo.root)
        with engine.pool.view(ViewRequest(repo.root)) as view, view.reading():
            graph = LazyGraph(view, 60.0)
            targets = Targets(view, graph)
            run = targets.find("work.py#Work.run").nodes[0]
            assert overrides(graph, run) == targets.find("base.py#Base.run").nodes
            assert b"work.py" not in graph.table()
            # A later request for all edges includes those already resolved.
            kinds = {edge.kind for edge in graph.edges_from(b"work.py")}
            assert {"import", "inherit", "call"} <= kinds
            assert len([one for one in graph.edges_from(b"work.py") if one.kind == "call"]) == 200
