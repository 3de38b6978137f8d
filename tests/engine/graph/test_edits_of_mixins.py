"""Ruby: an edit of what a file mixes in or requires updates the edges of unchanged files.

Cached edges must equal those of a fresh index.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

TOOLS = "module Tools\n  def tool; end\nend\n"
WORK = "class Work\n  include Tools\n  def tool; end\nend\n"
CALLS = "def start\n  Work.tool\nend\n\ndef go\n  Work.new.tool\nend\n"
MADE = "class Made\n  include Hooked\nend\n\ndef start\n  Made.build\nend\n"
HOOKED = (
    "module Hooked\n  module Builders\n    def build; end\n  end\n\n"
    "  def self.included(base)\n    base.extend(Builders)\n  end\nend\n"
)
CONCERN = (
    "module Hooked\n  extend ActiveSupport::Concern\n\n"
    "  class_methods do\n    def build; end\n  end\nend\n"
)
CLASS_METHODS = CONCERN.replace("class_methods do", "module ClassMethods")
HELPER = "module Helper\n  def port\n    host\n  end\nend\n"
ASSERTED = "class FirstTest < Minitest::Test\n  def test_it\n    assert_file 1\n  end\nend\n"
ADDED = "module Minitest::Assertions\n  def assert_file(a); end\nend\n"
EDITS = {
    "include becomes extend": (
        {"tools.rb": TOOLS, "calls.rb": CALLS},
        WORK.replace("  def tool; end\n", ""),
        ("include", "extend"),
    ),
    "extend becomes include": (
        {"tools.rb": TOOLS, "calls.rb": CALLS},
        WORK.replace("  def tool; end\n", "").replace("include", "extend"),
        ("extend", "include"),
    ),
    "include becomes prepend": (
        {"tools.rb": TOOLS, "calls.rb": CALLS}, WORK, ("include", "prepend"),
    ),
    "prepend becomes include": (
        {"tools.rb": TOOLS, "calls.rb": CALLS},
        WORK.replace("include", "prepend"),
        ("prepend", "include"),
    ),
    "include goes": (
        {"tools.rb": TOOLS, "calls.rb": CALLS},
        WORK.replace("  def tool; end\n", ""),
        ("  include Tools\n", ""),
    ),
    "an includer comes to include": (
        {"helper.rb": HELPER, "one.rb": "class One\n  include Helper\n  def host; end\nend\n"},
        "class Two\n  def host; end\nend\n",
        ("Two\n", "Two\n  include Helper\n"),
    ),
    "an includer extends": (
        {"helper.rb": HELPER, "one.rb": "class One\n  include Helper\n  def host; end\nend\n"},
        "class Two\n  include Helper\n  def host; end\nend\n",
        ("include", "extend"),
    ),
    "a hook extends no more": ({"made.rb": MADE}, HOOKED, ("base.extend(Builders)", "base")),
    "a hook that goes on includes": (
        {"made.rb": MADE},
        HOOKED.replace("Builders)\n", "Builders)\n    base\n"),
        ("base.extend", "base.include"),
    ),
    "a hook extends with another module": (
        {"made.rb": MADE},
        HOOKED.replace("Builders)\n", "Builders)\n    base\n"),
        ("extend(Builders)", "extend(Others)"),
    ),
    "a hook includes": ({"made.rb": MADE}, HOOKED, ("base.extend", "base.include")),
    "a concern's block has another name": (
        {"made.rb": MADE}, CONCERN, ("class_methods do", "included do"),
    ),
    "a concern is included": (
        {"made.rb": MADE}, CLASS_METHODS, ("extend Act", "include Act"),
    ),
    "a file is required no more": (
        {"lib/verbs.rb": "def verb; end\n", "main.rb": 'require_relative "lib/all"\nverb\n'},
        'require_relative "verbs"\n',
        ('require_relative "verbs"\n', "# none\n"),
    ),
    "a file comes to be required": (
        {"lib/verbs.rb": "def verb; end\n", "main.rb": 'require_relative "lib/all"\nverb\n'},
        "# none\n",
        ("# none\n", 'require_relative "verbs"\n'),
    ),
    "a library's module loses a method": (
        {"first_test.rb": ASSERTED}, ADDED, ("  def assert_file(a); end\n", ""),
    ),
    "a second method of that name is added": (
        {"first_test.rb": ASSERTED, "other.rb": ADDED},
        "module Minitest::Other\nend\n",
        ("Other\n", "Other\n  def assert_file(a); end\n"),
    ),
    "a module is of another library": (
        {"first_test.rb": ASSERTED}, ADDED, ("Minitest::", "Rspec::"),
    ),
    "a method becomes one of the class": (
        {"tools.rb": TOOLS, "calls.rb": CALLS},
        "class Work\n  def tool; end\nend\n",
        ("def tool", "def self.tool"),
    ),
    "methods come to be of the class": (
        {"calls.rb": CALLS},
        "class Work\n  class << self\n    def tool; end\n  end\nend\n",
        ("class << self", "class Other"),
    ),
}  # fmt: skip
"""Unchanged files, the text of another file, and the replacement made in it."""

SYMBOLS = {
    "tools.rb": ("Tools.tool",),
    "calls.rb": ("start", "go"),
    "made.rb": ("start",),
    "helper.rb": ("Helper.port",),
    "first_test.rb": ("FirstTest.test_it",),
}


def _edges(engine: Engine, root: Path) -> list[tuple[object, ...]]:
    """All relations that `related` reports for each definition of the view."""
    rows: list[tuple[object, ...]] = []
    for path in sorted(root.rglob("*.rb")):
        name = path.relative_to(root).as_posix()
        for handle in [name, *(f"{name}#{symbol}" for symbol in SYMBOLS.get(name, ()))]:
            answer = engine.related(handle, path=root)
            rows += [(handle, row.relation, row.node.handle) for row in answer.results]
    return rows


def _write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("edit", EDITS)
def test_kept_edges_are_those_of_a_fresh_index(edit: str, tmp_path: Path) -> None:
    files, text, (old, new) = EDITS[edit]
    edited = "lib/all.rb" if "main.rb" in files else "edited.rb"
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {**files, edited: text})
    with Engine(Settings(home=tmp_path / "kept")) as engine:
        before = _edges(engine, repo.root)
        after_text = text.replace(old, new)
        assert after_text != text
        _write(repo.root, {edited: after_text})
        after = _edges(engine, repo.root)
    with Engine(Settings(home=tmp_path / "fresh")) as fresh:
        expected = _edges(fresh, repo.root)
    assert after == expected
    assert after != before
