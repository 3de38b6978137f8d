"""An outline as a page and as a reply: the same definitions, each in its layout."""

from __future__ import annotations

from pathlib import Path

from gitrepo import GitRepo

from codelens.answers.reading_answers import OutlineAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.render.reading_text import outline_lines, outline_reply

CODE = "import os\n\n\ndef short():\n    pass\n\n\nclass Till:\n" + "".join(
    f"    def step{number}(self):\n        return {number}\n\n" for number in range(40)
)


def outline(tmp_path: Path, target: str) -> OutlineAnswer:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("start", {"shop/till.py": CODE, "shop/empty.txt": "", "deep/er/one.py": "x = 1\n"})
    with Engine(Settings(home=tmp_path / "home")) as engine:
        return engine.outline(target, path=repo.root)


def test_a_page_has_line_numbers_in_one_column(tmp_path: Path) -> None:
    head, imports, *rows = outline_lines(outline(tmp_path, "shop/till.py"))
    assert head.startswith("shop/till.py  python, ")
    assert ", folded ~" in head
    assert imports.strip() == "imports os"
    ends = {row.index("  ", len(row) - len(row.lstrip())) for row in rows}
    assert len(ends) == 1


def test_a_reply_names_handles_where_it_is_detailed(tmp_path: Path) -> None:
    answer = outline(tmp_path, "shop/till.py")
    assert "[shop/till.py#Till.step3]" in outline_reply(answer, "detailed", 8000)
    assert "[shop/till.py#" not in outline_reply(answer, "concise", 8000)


def test_a_reply_counts_the_lines_that_did_not_fit(tmp_path: Path) -> None:
    answer = outline(tmp_path, "shop/till.py")
    whole = outline_reply(answer, "concise", 8000).split("\n")
    *shown, last = outline_reply(answer, "concise", 300).split("\n")
    assert shown == whole[: len(shown)]
    assert last.startswith(f"{len(whole) - len(shown)} lines more: call cl_outline")


def test_both_layouts_count_the_files_of_a_folder(tmp_path: Path) -> None:
    answer = outline(tmp_path, ".")
    folders = [f"{folder.path}/  " for folder in answer.folders]
    assert folders
    for text in ("\n".join(outline_lines(answer)), outline_reply(answer, "concise", 8000)):
        assert all(f"{folder}" in text for folder in folders)
