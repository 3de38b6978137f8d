"""Shortcuts of a history give the same result as parsing and walking everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.branches import definition_history
from codelens.branches.earlier_snippets import has_same_definition, holds
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.versions import history_query
from codelens.index.text_facts import Text
from codelens.scope import commit_walk
from codelens.types import CommitId

METHODS = """\
class Store:
    limit = 3

    # Where it comes from.
    def load(self, name):
        text = open(name).read()
        return text.strip()

    @property
    def size(self):
        return self.count

    @size.setter
    def size(self, value):
        self.count = value

    def save(self, name, text):
        with open(name, "w") as file:
            file.write(text)
            file.flush()
            self.count += len(text)
"""
FILLER = "".join(
    f"\n\ndef other{number}(value):\n    return value + {number}\n" for number in range(9)
)
GO = """\
package store

// Load reads it.
func (s *Store) Load(name string) string {
	text := read(name)
	return strip(text)
}

func Other(name string) int {
	count := size(name)
	return count + 1
}

func Third(value int) int {
	return value * 3
}
"""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Edited methods whose class and folder were renamed, among other files."""
    repo = GitRepo.init(tmp_path / "repo")
    step(repo, "one", {"old/store.py": METHODS + FILLER, "store.go": GO})
    for number in range(3):
        step(repo, f"noise {number}", {"noise.py": f"X = {number}\n"})
    edited = METHODS.replace("text.strip()", "text.strip().lower()")
    step(repo, "edited", {"old/store.py": edited + FILLER})
    longer = edited.replace('"w") as file:', '"w") as file:\n            log(name)')
    step(repo, "save edited", {"old/store.py": longer + FILLER})
    signed = longer.replace("def load(self, name)", "def load(self, name, mode)")
    step(
        repo, "signed", {"old/store.py": signed + FILLER, "store.go": GO.replace("*Store", "Store")}
    )
    renamed = signed.replace("class Store", "class Shelf")
    step(repo, "owner renamed", {"old/store.py": renamed + FILLER})
    commented = renamed.replace("# Where it comes from.", "# From where it comes.")
    step(repo, "commented", {"old/store.py": commented + FILLER})
    repo.git("mv", "old", "new")
    repo.git("commit", "-qm", "folder renamed")
    last = commented.replace("text = open(name).read()", "text = open(name, mode).read()")
    step(
        repo, "last", {"new/store.py": last + FILLER, "store.go": GO.replace("strip(text)", "text")}
    )
    return repo


def step(repo: GitRepo, subject: str, files: dict[str, str]) -> None:
    repo.write_all(files)
    repo.git("add", "-A")
    repo.git("commit", "-qm", subject)


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[list[Engine]]:
    with Engine(Settings(home=tmp_path / "a")) as one, Engine(Settings(home=tmp_path / "b")) as two:
        yield [one, two]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_walk, "_listed_before", {})
    monkeypatch.setattr(definition_history, "_moves", {})


def test_a_member_is_followed_through_edits_a_renamed_owner_and_a_renamed_folder(
    engines: list[Engine], repo: GitRepo
) -> None:
    events = engines[0].history("new/store.py#Shelf.load", path=repo.root).results
    assert [(event.subject, event.how) for event in events] == [
        ("last", ("body",)),
        ("folder renamed", ("moved",)),
        ("commented", ("documentation",)),
        ("signed", ("signature",)),
        ("edited", ("body",)),
        ("one", ("added",)),
    ]
    assert [event.handle.partition(":")[2] for event in events] == [
        "new/store.py#Shelf.load", "new/store.py#Shelf.load", "old/store.py#Shelf.load",
        "old/store.py#Store.load", "old/store.py#Store.load", "old/store.py#Store.load",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "handle",
    [
        "new/store.py#Shelf.load", "new/store.py#Shelf.save", "new/store.py#Shelf.size",
        "new/store.py#Shelf.size~2", "new/store.py#Shelf", "new/store.py#other4",
        "store.go#Store.Load", "store.go#Other",
    ],
)  # fmt: skip
def test_parts_parsed_alone_and_skipped_commits_change_no_answer(
    engines: list[Engine], repo: GitRepo, monkeypatch: pytest.MonkeyPatch, handle: str
) -> None:
    short = engines[0].history(handle, path=repo.root, patch=True).results
    again = engines[0].history(handle, path=repo.root, patch=True).results
    monkeypatch.setattr(definition_history, "earlier_definition", lambda *_: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(commit_walk, "_listed_before", {})
    monkeypatch.setattr(definition_history, "_moves", {})
    whole = engines[1].history(handle, path=repo.root, patch=True).results
    assert short == again == whole
    assert short[-1].how == ("added",)


CUT = """\
package shop

// Address tells where a request came from.
func (c *Context) Address() string {
	if c.forwarded {
		address := c.header("Forwarded-For")
		if address == "" {
			address = c.header("Real-Ip")
		}
		if address != "" {
			return address
		}
	}

	if c.engine {
		if address := c.header("Engine-Address"); address != "" {
			return address
		}
	}

	if ip, err := split(c.remote); err == nil {
		return ip
	}

	return ""
}
"""
SHORTER = """\
package shop

// Address tells where a request came from, if it can be trusted.
func (c *Context) Address() string {
	if c.engine {
		if address := c.header("Engine-Address"); address != "" {
			return address
		}
	}

	remote, trusted := c.Remote()
	if remote == nil {
		return ""
	}

	if trusted && c.forwarded {
		for _, name := range c.names {
			ip, valid := validate(c.header(name))
			if valid {
				return ip
			}
		}
	}
	return remote.String()
}

// Remote tells whom a request came from.
func (c *Context) Remote() (IP, bool) {
	ip, err := split(c.remote)
	if err != nil {
		return nil, false
	}
	for _, range := range c.ranges {
		if range.Contains(ip) {
			return ip, true
		}
	}

	return ip, false
}

func validate(header string) (ip string, valid bool) {
	if header == "" {
		return "", false
	}
	for at, item := range split(header) {
		if item == nil {
			return "", false
		}

		if at == 0 {
			ip = item
			valid = true
		}
	}
	return
}
"""


def test_a_definition_whose_tail_became_another_one_is_parsed_whole(
    engines: list[Engine], tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "cut")
    others = GO.removeprefix("package store\n") * 3
    step(repo, "one", {"context.go": CUT + others})
    tail = CUT.replace("return ip\n", "return ip.text\n")
    step(repo, "tail edited", {"context.go": tail + others})
    step(repo, "cut", {"context.go": SHORTER + others})
    events = engines[0].history("context.go#Context.Address", path=repo.root, patch=True).results
    assert [event.subject for event in events] == ["cut", "tail edited", "one"]
    assert "-\t\treturn ip.text" in events[0].patch


def test_a_part_is_parsed_where_a_body_changed(
    engines: list[Engine], repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[object] = []
    parse = definition_history.earlier_definition
    monkeypatch.setattr(
        definition_history, "earlier_definition",
        lambda *given: parts.append(parse(*given)) or parts[-1],
    )  # fmt: skip
    engines[0].history("new/store.py#Shelf.save", path=repo.root)
    assert [part is not None for part in parts] == [True]


@pytest.fixture
def whole_parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The paths whose versions a history parsed whole."""
    paths: list[bytes] = []
    ask = history_query.text_facts

    def count(db: object, texts: list[Text], **options: object) -> object:
        paths.extend(text.path for text in texts if not text.language)
        return ask(db, texts, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(history_query, "text_facts", count)
    return paths


def test_a_constructor_is_followed_by_its_own_lines(
    engines: list[Engine], tmp_path: Path, whole_parses: list[bytes]
) -> None:
    repo = GitRepo.init(tmp_path / "box")
    text = "class Box:\n    def __init__(self, size):\n        self.size = size\n" + FILLER
    step(repo, "added", {"box.py": text})
    for number in range(4):
        text = text.replace("self.size = size", f"self.n{number} = size\n        self.size = size")
        step(repo, f"field {number}", {"box.py": text})
    events = engines[0].history("box.py#Box.__init__", path=repo.root).results
    assert [event.subject for event in events] == [
        "field 3", "field 2", "field 1", "field 0", "added",
    ]  # fmt: skip
    assert whole_parses == []


def test_a_file_renamed_as_it_is_needs_no_parse(
    engines: list[Engine], repo: GitRepo, whole_parses: list[bytes]
) -> None:
    events = engines[0].history("new/store.py#other4", path=repo.root).results
    assert [event.how for event in events] == [("moved",), ("added",)]
    assert whole_parses == []


def test_a_member_moved_to_another_file_as_it_is_needs_no_parse_of_it(
    engines: list[Engine], tmp_path: Path, whole_parses: list[bytes]
) -> None:
    repo = GitRepo.init(tmp_path / "apart")
    here = "def other4(value):\n    return value + 4\n"
    step(repo, "added", {"a.py": FILLER})
    step(repo, "edited", {"a.py": FILLER.replace("value + 4", "value + 44")})
    here = here.replace("value + 4", "value + 44")
    step(repo, "apart", {"a.py": FILLER.replace(here.replace("44", "4"), ""), "b.py": here})
    events = engines[0].history("b.py#other4", path=repo.root).results
    assert [(event.subject, event.how) for event in events] == [
        ("apart", ("moved",)), ("edited", ("body",)), ("added", ("added",)),
    ]  # fmt: skip
    assert whole_parses == []


def test_a_member_edited_while_its_owner_was_renamed_did_not_move(
    engines: list[Engine], tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "owner")
    step(repo, "added", {"store.py": METHODS + FILLER})
    both = METHODS.replace("class Store", "class Shelf").replace("text.strip()", "text.lower()")
    step(repo, "both", {"store.py": both + FILLER})
    step(repo, "last", {"store.py": both.replace("open(name).", "open(name, mode).") + FILLER})
    events = engines[0].history("store.py#Shelf.load", path=repo.root).results
    assert [event.how for event in events] == [("body",), ("body",), ("added",)]


def test_git_stops_searching_once_nobody_asks_for_more(
    engines: list[Engine], repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[int] = []
    leave = commit_walk.PathCommits.__exit__

    def count(commits: commit_walk.PathCommits, *error: object) -> None:
        running.append(len(commits._processes))
        leave(commits, *error)  # type: ignore[arg-type]

    monkeypatch.setattr(commit_walk.PathCommits, "__exit__", count)
    engines[0].history("new/store.py#other4", path=repo.root)
    assert running == [0]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", "def f(x):\n    y = x\n    return y\n    # end\n", "def f(x):\n    y = x\n"),
        ("a.py", "@wraps\ndef f(x):\n    return x\n", "def f(x):\n    return x\n"),
        ("a.go", "package a\n\n// F is.\nfunc f() {\n}\n", "package a\n\nfunc f() {\n}\n"),
        ("a.rs", "#[inline]\nfn f() -> u8 {\n    1\n}\n", "fn f() -> u8 {\n    1\n}\n"),
    ],
)
def test_removing_the_first_or_last_lines_changes_a_definition(
    engines: list[Engine], tmp_path: Path, name: str, before: str, after: str
) -> None:
    repo = GitRepo.init(tmp_path / "edges")
    step(repo, "added", {name: before})
    step(repo, "cut", {name: after})
    step(
        repo, "below", {name: after + "\n\n" + after.replace(" f(", " g(").replace("package a", "")}
    )
    events = engines[0].history(f"{name}#f", path=repo.root).results
    assert [event.subject for event in events] == ["cut", "added"]
    (row,) = [
        row for row in engines[0].history(name, path=repo.root).definitions if "#f" in row.handle
    ]
    assert row.subject == "cut"


def last_commits(engine: Engine, repo: GitRepo) -> dict[str, str]:
    rows = engine.history("m.py", path=repo.root).definitions
    return {row.handle.partition("#")[2]: row.subject for row in rows}


def test_last_changes_read_only_commits_of_the_file_also_through_merges(
    engines: list[Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = [f"def f{at}(x):\n    return x + {at}\n" for at in range(4)]
    repo = GitRepo.init(tmp_path / "merged")
    step(repo, "added", {"m.py": "\n\n".join(functions)})
    repo.git("branch", "side")
    functions[0] = functions[0].replace("x + 0", "x - 0")
    step(repo, "here", {"m.py": "\n\n".join(functions)})
    repo.git("checkout", "--quiet", "side")
    for at in range(5):
        step(repo, f"elsewhere {at}", {"n.py": f"N = {at}\n"})
    functions[0] = "def f0(x):\n    return x + 0\n"
    functions[3] = functions[3].replace("x + 3", "x - 3")
    step(repo, "there", {"m.py": "\n\n".join(functions)})
    repo.git("merge", "--quiet", "--no-edit", "-m", "merge", "main")
    for at in range(20):
        step(repo, f"later {at}", {"n.py": f"M = {at}\n"})
    read: list[object] = []
    read_commit = commit_walk.CommitWalk._read_commit

    def counted(walk: commit_walk.CommitWalk, name: CommitId) -> object:
        read.append(name)
        return read_commit(walk, name)

    monkeypatch.setattr(commit_walk.CommitWalk, "_read_commit", counted)
    monkeypatch.setattr(commit_walk, "_cached_by_repository", {})
    expected = {"f0": "here", "f1": "added", "f2": "added", "f3": "there"}
    assert last_commits(engines[0], repo) == expected
    assert len(read) < 10
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(commit_walk, "_listed_before", {})
    assert last_commits(engines[1], repo) == expected
    assert len(read) > 20


def test_a_version_with_other_line_ends_has_the_same_definition_of_one_line() -> None:
    assert holds(b"a = 1\r\nb = 2\r\n", b"b = 2")
    assert has_same_definition(b"a = 1\r\nb = 2\r\n", b"b = 2", b"a = 1\nb = 2\n", "python")
    assert not holds(b"a = 1\r\nbb = 2\r\n", b"b = 2")
