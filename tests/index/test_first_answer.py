"""The first question on a repository while another process is still indexing it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import HandleNotFound
from codelens.extract import text_scan
from codelens.extract.text_scan import wanted
from codelens.index.needed_files import scan_order
from codelens.index.text_facts import Work
from codelens.paths import index_file
from codelens.scope.repository import Repository
from codelens.store.database import writer_lease
from codelens.store.database.database_opening import open_index

BUDGET_MS = 2000.0
FILES = {
    "src/wick.py": "class WickTrimmer:\n    def trim_wick(self):\n        return 1\n",
    "src/use.py": "from src.wick import WickTrimmer\n\ndef evening():\n    WickTrimmer()\n",
    "notes/lamps.md": "# Lamps\n\nA wick burns down.\n",
    "notes/latin.txt": "Die Öllampe flackert.\n".encode("cp1252"),
    **{f"more/part{n}.py": f"def kindle_part{n}():\n    return {n}\n" for n in range(40)},
}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", FILES)
    return made


@pytest.fixture
def engine(repo: GitRepo, tmp_path: Path) -> Iterator[Engine]:
    """An engine while a writer holds the lease of the index, and has written nothing."""
    home = tmp_path / "home"
    db = open_index(index_file(home, Repository.at(repo.root).scope().repo_id))
    lease = writer_lease.acquire(db, 0)
    with Engine(Settings(home=home)) as made:
        yield made
    lease.release(db)
    db.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "symbol"])
@pytest.mark.parametrize(
    ("query", "handle"),
    [
        ("WickTrimmer", "src/wick.py#WickTrimmer"),
        ("trim_wick", "src/wick.py#WickTrimmer.trim_wick"),
        ("trimWick", "src/wick.py#WickTrimmer.trim_wick"),
        ("kindle_part33", "more/part33.py#kindle_part33"),
    ],
)
def test_a_definition_is_found_before_its_file_is_indexed(
    engine: Engine, repo: GitRepo, mode: str, query: str, handle: str
) -> None:
    answer = engine.search(query, path=repo.root, mode=mode, budget_ms=BUDGET_MS)
    assert answer.results[0].handle == handle
    assert answer.notes == ()
    assert answer.receipt.status == "partial"
    assert answer.receipt.files == len(FILES)
    assert answer.receipt.pending
    assert answer.receipt.unread == 0
    assert not any(one.stale for one in answer.results)


@pytest.mark.slow
def test_a_definition_is_found_during_a_transaction_of_three_seconds(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    file = index_file(tmp_path / "home", Repository.at(repo.root).scope().repo_id)
    begun = threading.Event()

    def hold() -> None:
        with closing(open_index(file)) as db, db.write(None):
            begun.set()
            time.sleep(3.0)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert begun.wait(20)
        answer = engine.search("WickTrimmer", path=repo.root, budget_ms=BUDGET_MS)
    finally:
        holder.join()
    assert answer.results[0].handle == "src/wick.py#WickTrimmer"


@pytest.mark.slow
def test_words_are_found_in_files_that_are_not_indexed(engine: Engine, repo: GitRepo) -> None:
    answer = engine.search("wicks burning", path=repo.root, budget_ms=BUDGET_MS)
    assert {one.path for one in answer.results} >= {"notes/lamps.md", "src/wick.py"}
    assert answer.notes == ()


@pytest.mark.slow
def test_words_are_found_in_the_encoding_of_their_file(engine: Engine, repo: GitRepo) -> None:
    answer = engine.search("Öllampe", path=repo.root, budget_ms=BUDGET_MS)
    assert [one.path for one in answer.results] == ["notes/latin.txt"]


@pytest.mark.slow
def test_a_missing_name_is_denied_once_all_files_were_searched(
    engine: Engine, repo: GitRepo
) -> None:
    answer = engine.search("no_such_name", path=repo.root, budget_ms=BUDGET_MS)
    assert answer.results == ()
    assert answer.notes == ("no symbol `no_such_name`",)
    assert answer.receipt.unread == 0


@pytest.mark.slow
def test_the_graph_is_answered_before_the_files_are_indexed(engine: Engine, repo: GitRepo) -> None:
    options = {"path": repo.root, "budget_ms": BUDGET_MS}
    target = "src/wick.py#WickTrimmer"
    related = engine.related(target, direction="in", **options)
    assert "src/use.py#evening" in {one.node.handle for one in related.results}
    hit = engine.impact([target], **options)
    assert "src/use.py#evening" in {one.node.handle for one in hit.results}
    (read,) = engine.expand(["WickTrimmer"], **options).items
    assert read.text.startswith("class WickTrimmer")
    (outline,) = engine.outline("src/wick.py", **options).files
    assert outline.items[0].name == "WickTrimmer"
    assert related.receipt.status == "partial"


def test_nothing_is_denied_while_files_are_unread(engine: Engine, repo: GitRepo) -> None:
    # The top folder was not listed either: the files are those in git's index.
    unread = len(FILES) + 1
    for query in ("WickTrimmer", "no_such_name"):
        answer = engine.search(query, path=repo.root, budget_ms=0)
        assert answer.receipt.unread == unread
        assert all(note.startswith(f"not found so far, {unread} files") for note in answer.notes)
        assert answer.notes
    with pytest.raises(HandleNotFound, match=f"{unread} files are unread") as raised:
        engine.related("src/wick.py#WickTrimmer", path=repo.root, budget_ms=0)
    assert raised.value.receipt is not None
    assert raised.value.receipt.unread == unread
    (read,) = engine.expand(["kindle"], path=repo.root, budget_ms=0).items
    assert "are unread" in read.error


@pytest.mark.slow
def test_a_ref_is_answered_before_it_is_indexed(engine: Engine, repo: GitRepo) -> None:
    answer = engine.search("WickTrimmer", path=repo.root, ref="HEAD", budget_ms=BUDGET_MS)
    assert answer.results[0].handle == "HEAD:src/wick.py#WickTrimmer"
    assert answer.receipt.unread == 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("readFile", "def read_file(): pass"),
        ("read_file", "function readFile() {}"),
        ("queries of users", "class QueryRunner"),
        ("caching", "the Cache"),
        ("Ärger", "def ärger(): pass"),
        ("the", "for the record"),
    ],
)
def test_words_are_looked_for_in_other_forms(question: str, text: str) -> None:
    assert text_scan.sight(wanted(question), b"a.py", text.encode()).holds


@given(
    st.lists(
        st.sampled_from(["a", "io", "read", "HTTP", "Server", "2", "42", "_", "__", "é", "名"]),
        min_size=1, max_size=6,
    ).map("".join)
)  # fmt: skip
def test_each_form_of_a_word_is_found_in_a_text_and_in_a_name(word: str) -> None:
    asked = wanted(word)
    for spellings in asked.words:
        for spelling in spellings:
            for form in (spelling, spelling.upper()):
                seen = text_scan.sight(asked, b"src/lib-" + form + b".txt", b"-- " + form + b" --")
                assert seen.holds and seen.named
                assert text_scan.sight(asked, form + b"/x.txt", b"-- --") == text_scan.NOTHING_SEEN


def test_files_whose_path_shares_rare_parts_with_a_name_are_scanned_first() -> None:
    paths = [b"lib/part%02d.c" % number for number in range(60)]
    telling = [b"net/qed/qed_dev.c", b"net/qed/dev.c", b"net/qed/tests/dev.c"]
    works = [Work(path, 1) for path in [*paths, *reversed(telling)]]
    named, others = scan_order(wanted("qed_lib_setup_dev"), works)
    order = [work.path for work in others]
    assert not named
    # `lib` is in most paths.
    assert order[:3] == [telling[1], telling[0], telling[2]]
    assert sorted(order) == sorted(work.path for work in works)


@pytest.mark.parametrize(
    "text",
    [
        "class Lamp:", "export default class Lamp {", "pub struct Lamp<T> {", "type Lamp struct {",
        "static int lamp(void)", "int\nlamp(void)", "func (s *Shop) Lamp() error {",
        "#define LAMP 1", "Lamp = namedtuple('Lamp', 'a')", "    public List<T> lamp(int a) {",
        "const lamp = () => 1", "char *lamp(void);", "  lamp: function () {}",
    ],
)  # fmt: skip
def test_a_line_that_defines_a_name_is_distinguished_from_a_use(text: str) -> None:
    assert text_scan.sight(wanted("lamp"), b"a.c", text.encode()).defines
    for use in ("return lamp", "x = shop.lamp()", "import lamp", "    if lamp > 3:", "new Lamp(1)"):
        assert not text_scan.sight(wanted("lamp"), b"a.c", use.encode()).defines


def test_the_file_that_defines_a_name_is_read_before_a_hundred_that_use_it() -> None:
    asked = wanted("Lamp")
    seen = {
        b"a/%03d.py" % number: text_scan.sight(asked, b"a/%03d.py" % number, b"x = Lamp()")
        for number in range(100)
    }
    seen[b"z/last.py"] = text_scan.sight(asked, b"z/last.py", b"class Lamp: pass")
    assert text_scan.ordered(asked, seen)[0] == b"z/last.py"


def test_progress_is_of_the_whole_work(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("more", {f"many/part{n}.py": f"def part_{n}(): pass\n" for n in range(1200)})
    reported: list[tuple[str, int, int]] = []
    with Engine(Settings(home=tmp_path / "other", workers=1)) as engine:
        engine.look(path=repo.root, progress=lambda *one: reported.append(one))
    assert {total for _, _, total in reported} == {1200 + len(FILES)}
    assert [done for _, done, _ in reported] == sorted(done for _, done, _ in reported)
    assert reported[-1][1] == reported[-1][2]


def test_waiting_for_another_process_shows_its_progress(engine: Engine, repo: GitRepo) -> None:
    reported: list[str] = []
    with pytest.raises(InterruptedError):
        engine.look(path=repo.root, progress=lambda *one: _stop(reported, one))
    assert reported == ["waiting for another process"]


def _stop(reported: list[str], one: tuple[str, int, int]) -> None:
    reported.append(one[0])
    raise InterruptedError


def test_code_is_scanned_before_tests_and_data() -> None:
    paths = [
        b"a/fixtures/in.js", b"a/locale/de.po", b"b/README.md", b"c/src/wick.js", b"d/wick.test.js",
        b"vendor/z.js", b"z/main.c",
    ]  # fmt: skip
    named, others = scan_order(wanted("trim wick"), [Work(path, 1) for path in paths])
    rest = list(others)
    assert [work.path for work in named] == [b"c/src/wick.js", b"d/wick.test.js"]
    assert [work.path for work in rest[:2]] == [b"z/main.c", b"a/fixtures/in.js"]
    assert {work.path for work in rest} == set(paths) - {work.path for work in named}
