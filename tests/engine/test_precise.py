"""What a compiler says counts for the texts that it read, on any branch, and nowhere else."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path

import pytest
from gitrepo import GitRepo
from toy_indexer import indexed, write_index

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.upkeep.diagnosis import indexes
from codelens.engine.upkeep.file_checks import Examination, Finding
from codelens.render import upkeep_text
from codelens.scip import index_stream
from codelens.scip.index_stream import ScipError, UnusableIndex, schema
from codelens.scip.placed_document import DEFINITION
from codelens.store.database.database_opening import open_index

TEXTS = {
    "app.py": "from first import pay\n\n\ndef run():\n    pay()\n",
    "first.py": "def pay():\n    return 1\n",
    "later.py": "def pay():\n    return 2\n",
    "other.py": "from first import pay\n\n\ndef go():\n    return pay()\n",
}
"""We say that `run` calls the `pay` of `first.py`; the toy indexer says that of `later.py`."""

SERVERS_PAY = "server . . . `first.py`/pay()."


class Shop:
    def __init__(self, root: Path) -> None:
        self.repo = GitRepo.init(root / "shop")
        self.write(TEXTS)
        self.repo.git("add", "-A")
        self.repo.git("commit", "-qm", "one")
        self.home = root / "home"
        self.engine = Engine(Settings(home=self.home))
        self.file = root / "index.scip"

    def write(self, texts: dict[str, str], tree: Path | None = None) -> None:
        for path, text in texts.items():
            target = (tree or self.repo.root) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def bring(self, texts: dict[str, str] = TEXTS, **how):
        write_index(self.file, texts, **{"with_text": False, **how})
        return self.engine.scip_import(self.file, path=self.repo.root)

    def users(self, handle: str, tree: Path | None = None, ref: str | None = None) -> list[str]:
        answer = self.engine.related(
            handle, kinds=["callers"], path=tree or self.repo.root, ref=ref
        )
        self.precise = answer.receipt.precise
        return sorted(row.node.handle.removeprefix(f"{ref}:") for row in answer.results)


@pytest.fixture
def shop(tmp_path: Path):
    shop = Shop(tmp_path)
    yield shop
    shop.engine.close()


def test_the_compiler_is_believed_where_the_text_is_the_same(shop: Shop) -> None:
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    answer = shop.bring()
    assert (answer.documents, answer.stored, answer.left_out) == (4, 4, ())
    assert shop.users("first.py#pay") == []
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    assert shop.precise == 4


def test_what_is_added_leaves_the_rest_of_an_earlier_import(shop: Shop) -> None:
    texts = {**TEXTS, "app.py": TEXTS["app.py"] + "\n\ndef again():\n    pay()\n"}
    shop.write(texts)
    shop.repo.git("commit", "-qam", "two")
    shop.bring(texts)
    assert shop.users("later.py#pay") == ["app.py#again", "app.py#run", "other.py#go"]
    index = schema()()
    document = index.documents.add(relative_path="app.py")
    document.occurrences.add(range=[4, 4, 7], symbol=SERVERS_PAY)
    document = index.documents.add(relative_path="first.py")
    document.occurrences.add(range=[0, 4, 7], symbol=SERVERS_PAY, symbol_roles=DEFINITION)
    shop.file.write_bytes(index.SerializeToString())
    shop.engine.scip_import(shop.file, add=True, path=shop.repo.root)
    # Of the use that both speak of, the later word counts; the others stay.
    assert shop.users("first.py#pay") == ["app.py#run"]
    assert shop.users("later.py#pay") == ["app.py#again", "other.py#go"]
    assert shop.precise == 4
    shop.engine.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("later.py#pay") == ["other.py#go"]
    assert shop.users("first.py#pay") == ["app.py#again", "app.py#run"]


def test_an_edited_file_is_ours_again_at_the_first_question(shop: Shop) -> None:
    shop.bring()
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    shop.write({"app.py": TEXTS["app.py"] + "\n# edited\n"})
    assert shop.users("later.py#pay") == ["other.py#go"]
    assert shop.precise == 3
    assert shop.users("first.py#pay") == ["app.py#run"]
    shop.write({"app.py": TEXTS["app.py"]})
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]


def test_an_edit_of_the_definition_drops_the_edges_that_mean_it(shop: Shop) -> None:
    shop.bring()
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    shop.write({"later.py": "# a line above\n" + TEXTS["later.py"]})
    assert shop.users("later.py#pay") == []
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    assert shop.precise == 3


def test_other_branches_worktrees_and_processes_share_what_they_have_in_common(
    shop: Shop, tmp_path: Path
) -> None:
    shop.repo.git("branch", "side")
    tree = tmp_path / "tree"
    shop.repo.git("worktree", "add", "-q", str(tree), "side")
    shop.write({"other.py": TEXTS["other.py"] + "\n# of the side\n"}, tree)
    shop.bring()
    assert shop.users("later.py#pay", tree) == ["app.py#run"]
    assert shop.precise == 3
    assert shop.users("later.py#pay", ref="side") == ["app.py#run", "other.py#go"]
    with Engine(Settings(home=shop.home)) as another:
        answer = another.related("later.py#pay", kinds=["callers"], path=shop.repo.root)
    assert answer.receipt.precise == 4
    assert len(answer.results) == 2


def test_a_renamed_file_stays_precise_and_a_copy_is_not(shop: Shop) -> None:
    shop.bring()
    shop.write({"copy.py": TEXTS["app.py"]})
    assert shop.users("first.py#pay") == ["copy.py#run"]
    (shop.repo.root / "app.py").unlink()
    assert shop.users("first.py#pay") == []
    assert shop.users("later.py#pay") == ["copy.py#run", "other.py#go"]


def test_another_process_sees_an_import_at_its_next_question(shop: Shop) -> None:
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    with Engine(Settings(home=shop.home)) as another:
        write_index(shop.file, TEXTS)
        another.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("first.py#pay") == []


def test_what_the_compiler_does_not_explain_stays_ours(shop: Shop) -> None:
    index = indexed(TEXTS)
    app = next(one for one in index.documents if one.relative_path == "app.py")
    kept = [one for one in app.occurrences if one.symbol_roles & 1]
    del app.occurrences[:]
    app.occurrences.extend(kept)
    app.occurrences.add(range=[4, 4, 7], symbol="local 1")
    shop.file.write_bytes(index.SerializeToString())
    shop.engine.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("first.py#pay") == ["app.py#run"]
    assert shop.users("later.py#pay") == ["other.py#go"]


def test_a_compiler_may_explain_a_name_in_a_list_of_exports(shop: Shop) -> None:
    text = '__all__ = ["pay"]\n\n\n' + TEXTS["first.py"]
    shop.write({"first.py": text})
    shop.repo.git("commit", "-qam", "two")
    index = indexed({**TEXTS, "first.py": text})
    first = next(one for one in index.documents if one.relative_path == "first.py")
    first.occurrences.add(range=[0, 12, 15], symbol="toy . shop . `later.py`/pay().")
    shop.file.write_bytes(index.SerializeToString())
    shop.engine.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    exports = [
        (edge.src_file, edge.line, edge.dst_file)
        for edge in shop.engine.export_edges(path=shop.repo.root)
        if edge.kind == "export"
    ]
    assert exports == [("first.py", 1, "later.py")]


def test_check_lists_the_differences_with_both_answers(shop: Shop) -> None:
    shop.bring()
    answer = shop.engine.scip_check(path=shop.repo.root, limit=3)
    assert [(row.verdict, row.site, row.compiler, row.own) for row in answer.differences] == [
        ("unexplained", "app.py:1", (), ("first.py#pay",)),
        ("other target", "app.py:5", ("later.py#pay",), ("first.py#pay",)),
        ("unexplained", "other.py:1", (), ("first.py#pay",)),
    ]
    assert answer.left == 1
    assert answer.counts == (("python", "other target", 2), ("python", "unexplained", 2))


def test_check_says_why_there_is_nothing_to_compare(shop: Shop) -> None:
    def lines() -> list[str]:
        return upkeep_text.scip_checked_lines(shop.engine.scip_check(path=shop.repo.root))

    assert lines() == ["nothing to compare: no file is answered precisely"]
    texts = {"app.py": "def run():\n    pay()\n", "later.py": TEXTS["later.py"]}
    for path in TEXTS:
        (shop.repo.root / path).unlink()
    shop.write(texts)
    shop.bring(texts)
    (shop.repo.root / "later.py").unlink()
    assert lines() == [
        "nothing to compare: none of 1 file has a name that the compiler resolves here"
    ]


def test_documents_are_counted_when_they_are_left_out(shop: Shop) -> None:
    index = indexed({**TEXTS, "gone.py": "def lost():\n    pass\n"}, with_text=False)
    index.documents.add(relative_path="../../etc/passwd").occurrences.add(range=[0, 0, 1])
    index.documents.add(relative_path="later.py").occurrences.add(range=[0, 0, 1])
    index.documents.add(relative_path="empty.py")
    other = next(one for one in index.documents if one.relative_path == "other.py")
    for one in other.occurrences:
        one.range[0] += 7
    shop.file.write_bytes(index.SerializeToString())
    answer = shop.engine.scip_import(shop.file, path=shop.repo.root)
    why = {left.why.split(" at ")[0]: left.paths for left in answer.left_out}
    assert why == {
        "whose paths lead out of the repository": ("../../etc/passwd",),
        "listed twice": ("later.py",),
        "without occurrences": ("empty.py",),
        "not in this repository": ("gone.py",),
        "made from a different text than the one": ("other.py",),
    }
    assert (answer.documents, answer.stored) == (8, 3)


def test_nothing_is_taken_over_from_a_damaged_index(shop: Shop) -> None:
    data = indexed(TEXTS).SerializeToString()
    shop.file.write_bytes(data[:-5])
    with pytest.raises(UnusableIndex):
        shop.engine.scip_import(shop.file, path=shop.repo.root)
    write_index(shop.file, {"elsewhere.py": "def a():\n    pass\n"}, with_text=False)
    with pytest.raises(ScipError, match="1 not in this repository"):
        shop.engine.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    assert shop.precise == 0


def test_an_index_of_the_commit_counts_although_the_worktree_was_edited(shop: Shop) -> None:
    shop.write({"app.py": "# above\n" + TEXTS["app.py"]})
    answer = shop.bring()
    assert (answer.stored, answer.differing, answer.differing_paths) == (4, 1, ("app.py",))
    assert shop.users("later.py#pay") == ["other.py#go"]
    assert shop.users("later.py#pay", ref="HEAD") == ["app.py#run", "other.py#go"]


def test_an_index_of_the_edited_worktree_counts_there(shop: Shop) -> None:
    edited = {**TEXTS, "app.py": "# above\n" + TEXTS["app.py"]}
    shop.write(edited)
    assert shop.bring(edited).differing == 0
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    assert shop.users("later.py#pay", ref="HEAD") == ["other.py#go"]


SCRIPT = "from first import pay\npay()\nprint(1)\npay()\n# and that is all\n"
"""No definition shows whether an index was made from this text."""


@pytest.mark.parametrize("edited", [f"# more\n{SCRIPT}", SCRIPT.replace("print(1)", "print(1)\n")])
def test_of_two_texts_the_one_that_fits_better_was_indexed(shop: Shop, edited: str) -> None:
    shop.write({"script.py": SCRIPT})
    shop.repo.git("add", "-A")
    shop.repo.git("commit", "-qm", "two")
    shop.write({"script.py": edited})
    assert shop.bring({**TEXTS, "script.py": edited}).differing == 0
    assert "script.py" in shop.users("later.py#pay")
    assert shop.precise == 5
    assert "script.py" not in shop.users("later.py#pay", ref="HEAD")


def test_a_definition_of_another_import_is_not_a_librarys(shop: Shop) -> None:
    index = indexed(TEXTS, with_text=False)
    for paths in ({"app.py", "other.py"}, {"first.py", "later.py"}):
        part = schema()()
        part.documents.extend(one for one in index.documents if one.relative_path in paths)
        shop.file.write_bytes(part.SerializeToString())
        shop.engine.scip_import(shop.file, path=shop.repo.root)
    assert shop.users("later.py#pay") == ["app.py#run", "other.py#go"]
    shop.write({"later.py": "# a line above\n" + TEXTS["later.py"]})
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    shop.repo.git("commit", "-qam", "two")
    shop.users("first.py#pay")
    without_refs(shop)
    assert rows_of(shop)[1] == 3
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]


def test_what_an_unread_document_may_define_is_not_a_librarys(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {**TEXTS, "later.py": TEXTS["later.py"] + "def more(): ...\n" * 50}
    shop.write(texts)
    monkeypatch.setattr(index_stream, "MOST_DOCUMENT_BYTES", 1_500)
    (left,) = shop.bring(texts).left_out
    assert left.count == 1
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]


@pytest.mark.parametrize("root", ["file://[", "file:///" + "a/" * 10_000])
def test_a_strange_root_counts_as_the_top(shop: Shop, root: str) -> None:
    index = indexed(TEXTS, with_text=False)
    index.metadata.project_root = root
    shop.file.write_bytes(index.SerializeToString())
    tracemalloc.start()
    answer = shop.engine.scip_import(shop.file, path=shop.repo.root)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (answer.root, answer.stored) == ("", 4)
    assert peak < 8 << 20


def test_texts_in_the_index_that_no_file_has_any_more_are_named(shop: Shop) -> None:
    edited = {"app.py": TEXTS["app.py"] + "# edited\n"}
    gone = {"gone.py": "def lost():\n    pass\n"}
    answer = shop.bring({**TEXTS, **edited, **gone}, with_text=True)
    assert (answer.stored, answer.differing_paths) == (4, ("app.py",))
    assert [(left.count, left.paths) for left in answer.left_out] == [(1, ("gone.py",))]
    assert answer.receipt.precise == 3
    shop.write(edited)
    shop.users("later.py#pay")
    assert shop.precise == 4


def test_an_own_text_counts_where_the_file_was_renamed_to(shop: Shop) -> None:
    shop.repo.git("mv", "app.py", "moved.py")
    shop.repo.git("commit", "-qm", "two")
    shop.users("later.py#pay")
    assert shop.bring(with_text=True).left_out == ()
    assert shop.users("later.py#pay") == ["moved.py#run", "other.py#go"]


@pytest.mark.parametrize("root", [None, "packages/shop"])
def test_paths_may_start_from_a_folder(tmp_path: Path, root: str | None) -> None:
    shop = Shop(tmp_path)
    shop.write({f"packages/shop/{path}": text for path, text in TEXTS.items()})
    shop.repo.git("rm", "-q", "*.py")
    shop.repo.git("add", "-A")
    shop.repo.git("commit", "-qm", "moved")
    index = indexed(TEXTS, with_text=False)
    index.metadata.project_root = "file:///ci/build/packages/shop" if root is None else ""
    shop.file.write_bytes(index.SerializeToString())
    answer = shop.engine.scip_import(shop.file, path=shop.repo.root, root=root)
    assert (answer.root, answer.stored) == ("packages/shop/", 4)
    shop.engine.close()


def test_an_export_read_back_says_what_we_said(shop: Shop, tmp_path: Path) -> None:
    before = list(shop.engine.export_edges(path=shop.repo.root))
    file = tmp_path / "ours.scip"
    exported = shop.engine.scip_export(file, path=shop.repo.root)
    assert (exported.documents, exported.definitions) == (4, 4)
    first = file.read_bytes()
    shop.engine.scip_export(file, path=shop.repo.root)
    assert file.read_bytes() == first
    shop.engine.scip_import(file, path=shop.repo.root)
    answer = shop.engine.scip_check(path=shop.repo.root)
    assert (answer.differences, answer.agreed) == ((), 4)
    assert list(shop.engine.export_edges(path=shop.repo.root)) == before


def test_exported_definitions_are_where_their_names_are(shop: Shop, tmp_path: Path) -> None:
    shop.write({
        "shapes.ts": "export class Foo { Foo: Foo | null = null; bar() { return 1 } }\n",
        "shapes.cc": "int f(int); int f(double); struct V { V(); int f; };\n",
        "Shapes.cs": "class Page { public Color Color { get; set; } }\nclass Color { }\n",
    })  # fmt: skip
    file = tmp_path / "ours.scip"
    shop.engine.scip_export(file, path=shop.repo.root)
    places = {
        (document.relative_path, occurrence.range[0], occurrence.range[1])
        for document in schema().FromString(file.read_bytes()).documents
        for occurrence in document.occurrences
        if occurrence.symbol_roles & DEFINITION and occurrence.range[2]
    }
    assert {place for place in places if not place[0].endswith(".py")} == {
        ("shapes.ts", 0, 13), ("shapes.ts", 0, 19), ("shapes.ts", 0, 43),
        ("shapes.cc", 0, 4), ("shapes.cc", 0, 16), ("shapes.cc", 0, 34),
        ("shapes.cc", 0, 38), ("shapes.cc", 0, 47),
        ("Shapes.cs", 0, 6), ("Shapes.cs", 0, 26), ("Shapes.cs", 1, 6),
    }  # fmt: skip


def test_every_symbol_of_an_export_is_defined_in_it(shop: Shop, tmp_path: Path) -> None:
    shop.write({"pack/__init__.py": "", "use.py": "import pack\nfrom first import pay\npay()\n"})
    file = tmp_path / "ours.scip"
    shop.engine.scip_export(file, path=shop.repo.root)
    occurrences = [
        occurrence
        for document in schema().FromString(file.read_bytes()).documents
        for occurrence in document.occurrences
    ]
    defined = {use.symbol for use in occurrences if use.symbol_roles & DEFINITION}
    used = {use.symbol for use in occurrences}
    assert used == defined
    assert "codelens . shop . pack/`__init__.py`/" in defined
    shop.engine.scip_import(file, path=shop.repo.root)

    assert shop.engine.scip_check(path=shop.repo.root).agreed == 6


def test_forgetting_leaves_nothing(shop: Shop) -> None:
    shop.bring()
    assert shop.engine.scip_forget(path=shop.repo.root) == 4
    assert shop.users("first.py#pay") == ["app.py#run", "other.py#go"]
    assert rows_of(shop) == (0, 0, 0, 0)


def test_facts_go_with_the_last_view_that_has_their_text(shop: Shop) -> None:
    shop.repo.git("branch", "side")
    shop.bring()
    shop.write({"app.py": "def run():\n    pass\n"})
    shop.users("later.py#pay")
    shop.repo.git("commit", "-qam", "two")
    shop.users("later.py#pay")
    before = rows_of(shop)
    for ref in ("side", "HEAD~1"):
        shop.users("later.py#pay", ref=ref)
    shop.engine.prune(days=0)
    assert rows_of(shop) == before
    without_refs(shop)
    assert rows_of(shop)[1] == before[1] - 1
    assert shop.users("later.py#pay") == ["other.py#go"]


def without_refs(shop: Shop) -> None:
    for view in shop.engine.overview()[0].views:
        if view.kind == "ref":
            shop.engine.drop(view.index_id, path=shop.repo.root, force=True)
    with_clock_moved(shop)
    shop.engine.prune()


def rows_of(shop: Shop) -> tuple[int, ...]:
    (path,) = (shop.home / "indexes").glob("index-*.db")
    db = open_index(path)
    counts = tuple(
        db.rows(f"SELECT count(*) FROM precise_{table}")[0][0]
        for table in ("imports", "documents", "symbols", "places")
    )
    db.close()
    return counts


def with_clock_moved(shop: Shop) -> None:
    (path,) = (shop.home / "indexes").glob("index-*.db")
    db = open_index(path)
    with db.write(None):
        db.execute("UPDATE upkeep SET clock_s = clock_s + 86400")
    db.close()


def test_the_doctor_says_what_is_precise_and_finds_damage(shop: Shop) -> None:
    shop.bring()
    shop.engine.close()
    (found,) = (row for row in findings(shop) if "answered precisely" in row.found)
    assert re.fullmatch(r"4 texts answered precisely since \d{4}-\d\d-\d\d, by toy 1", found.found)
    (path,) = (shop.home / "indexes").glob("index-*.db")
    db = open_index(path)
    with db.write(None):
        db.execute("UPDATE precise_documents SET data = x'00' WHERE path = ?", (b"app.py",))
    db.close()
    (wrong,) = (row for row in findings(shop) if row.state == "wrong")
    assert "facts of compilers cannot be decoded" in wrong.found


def findings(shop: Shop) -> list[Finding]:
    case = Examination(Settings(home=shop.home), fix=False, thorough=True)
    return list(indexes(case))
