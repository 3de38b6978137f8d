"""What handles name, find, follow and read: through the engine, on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.reading_answers import Excerpt
from codelens.engine.engine import Engine

AUTH = '''\
"""Auth."""


class Session:
    """A session."""

    def validate(self, token):
        return bool(token)

    @property
    def user(self):
        return self._user

    @user.setter
    def user(self, value):
        self._user = value


def login(name):
    return Session()
'''


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit(
        "first", {"src/auth.py": AUTH, "README.md": "# Top\n\ntext\n\n## Usage: short\n\nmore\n"}
    )
    return made


def read(engine: Engine, repo: GitRepo, handle: str, **options) -> Excerpt:
    (item,) = engine.expand([handle], path=repo.root, **options).items
    return item


def test_a_symbol_is_read_whole(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "src/auth.py#Session.validate")
    assert item.text == "    def validate(self, token):\n        return bool(token)\n"
    assert (item.start_line, item.end_line, item.language) == (7, 8, "python")
    assert item.handle == "src/auth.py#Session.validate"
    assert not item.error and not item.moved and not item.truncated


def test_symbols_with_one_name_are_distinguished_by_order(engine: Engine, repo: GitRepo) -> None:
    first = read(engine, repo, "src/auth.py#Session.user")
    second = read(engine, repo, "src/auth.py#Session.user~2")
    assert "return self._user" in first.text
    assert "self._user = value" in second.text
    assert second.handle == "src/auth.py#Session.user~2"
    third = read(engine, repo, "src/auth.py#Session.user~3")
    assert third.near == ("src/auth.py#Session.user", "src/auth.py#Session.user~2")


def test_lines_and_whole_files_are_read(engine: Engine, repo: GitRepo) -> None:
    assert read(engine, repo, "src/auth.py:4-5").text == 'class Session:\n    """A session."""\n'
    assert read(engine, repo, "src/auth.py:4").text == "class Session:\n"
    whole = read(engine, repo, "src/auth.py")
    assert (whole.text, whole.start_line, whole.end_line) == (AUTH, 1, AUTH.count("\n"))


def test_lines_past_the_end_are_cut_and_all_past_it_are_an_error(
    engine: Engine, repo: GitRepo
) -> None:
    last = AUTH.count("\n")
    assert read(engine, repo, "src/auth.py:18-900").end_line == last
    assert f"has {last} lines" in read(engine, repo, "src/auth.py:900-901").error


def test_context_is_added_and_stays_inside_the_file(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "src/auth.py#Session.validate", context=1)
    assert (item.start_line, item.end_line) == (6, 9)
    item = read(engine, repo, "src/auth.py#Session.validate", context=1000)
    assert item.text == AUTH


def test_truncation_is_reported(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "src/auth.py", max_lines=3)
    assert item.truncated
    assert (item.end_line, item.text.count("\n")) == (3, 3)


def test_the_end_of_a_qualified_name_is_enough_inside_a_file(engine: Engine, repo: GitRepo) -> None:
    assert read(engine, repo, "src/auth.py#validate").handle == "src/auth.py#Session.validate"


def test_a_bare_name_with_one_owner_is_found(engine: Engine, repo: GitRepo) -> None:
    assert read(engine, repo, "login").handle == "src/auth.py#login"
    assert read(engine, repo, "Session.validate").handle == "src/auth.py#Session.validate"
    assert read(engine, repo, "Session::validate").handle == "src/auth.py#Session.validate"
    assert read(engine, repo, "#login").handle == "src/auth.py#login"


def test_a_bare_name_with_a_few_owners_gives_each(engine: Engine, repo: GitRepo) -> None:
    repo.write("src/other.py", "def login():\n    pass\n")
    items = engine.expand(["login", "src/other.py:1-1"], path=repo.root).items
    assert [item.handle for item in items] == [
        "src/auth.py#login", "src/other.py#login", "src/other.py:1",
    ]  # fmt: skip
    assert items[1].text == "def login():\n    pass\n"
    assert [item.moved for item in items] == [
        "1 of 2 definitions of login", "2 of 2 definitions of login", "",
    ]  # fmt: skip


def test_the_owners_of_a_name_share_its_lines(engine: Engine, repo: GitRepo) -> None:
    body = "".join(f"    x{at} = {at}\n" for at in range(200))
    for name in ("a", "b", "c"):
        repo.write(f"src/{name}.py", f"def huge():\n{body}")
    items = engine.expand(["huge"], path=repo.root, max_lines=120).items
    assert [item.end_line - item.start_line + 1 for item in items] == [40, 40, 40]
    assert all(item.truncated for item in items)


def test_a_bare_name_with_many_owners_lists_them(engine: Engine, repo: GitRepo) -> None:
    for at in range(7):
        repo.write(f"src/other{at}.py", "def login():\n    pass\n")
    item = read(engine, repo, "login")
    assert not item.text
    assert item.near[:2] == ("src/auth.py#login", "src/other0.py#login")


def test_an_example_in_prose_does_not_own_a_name(engine: Engine, repo: GitRepo) -> None:
    example = "# Page\n\n```python\ndef login(name):\n    ...\n```\n"
    for at in range(25):
        repo.write(f"docs/page{at}.md", example)
    repo.write("docs/only.md", example.replace("login", "logout"))
    assert read(engine, repo, "login").handle == "src/auth.py#login"
    assert read(engine, repo, "logout").handle == "docs/only.md#logout"
    repo.write("src/other.py", "def login():\n    pass\n")
    items = engine.expand(["login"], path=repo.root).items
    assert [item.handle for item in items] == ["src/auth.py#login", "src/other.py#login"]


def test_a_file_takes_precedence_over_a_name(engine: Engine, repo: GitRepo) -> None:
    repo.write("login", "the file\n")
    assert read(engine, repo, "login").text == "the file\n"
    assert read(engine, repo, "#login").handle == "src/auth.py#login"


def test_headings_are_named_as_they_are_written(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "README.md#Top.Usage: short")
    assert item.text.startswith("## Usage: short\n")


def test_a_symbol_that_moved_is_followed_and_the_answer_says_so(
    engine: Engine, repo: GitRepo
) -> None:
    read(engine, repo, "src/auth.py#login")
    repo.rename("src/auth.py", "lib/access.py")
    item = read(engine, repo, "src/auth.py#login")
    assert item.handle == "lib/access.py#login"
    assert "lib/access.py" in item.moved and "src/auth.py" in item.moved
    assert item.text == "def login(name):\n    return Session()\n"


def test_a_name_that_two_other_files_have_is_not_followed(engine: Engine, repo: GitRepo) -> None:
    repo.remove("src/auth.py")
    repo.write_all({"a.py": "def login(): pass\n", "b.py": "def login(): pass\n"})
    item = read(engine, repo, "src/auth.py#login")
    assert not item.text
    assert item.near == ("a.py#login", "b.py#login")


def test_a_renamed_function_is_an_error_with_the_nearest_name(
    engine: Engine, repo: GitRepo
) -> None:
    read(engine, repo, "src/auth.py#login")
    repo.write("src/auth.py", AUTH.replace("def login", "def log_in"))
    item = read(engine, repo, "src/auth.py#login")
    assert not item.text
    assert item.near[0] == "src/auth.py#log_in"


def test_a_misspelt_name_is_an_error_with_the_nearest_ones(engine: Engine, repo: GitRepo) -> None:
    assert "src/auth.py#login" in read(engine, repo, "logn").near
    assert "src/auth.py#Session.validate" in read(engine, repo, "src/auth.py#Session.valdate").near


def test_in_a_misspelt_file_the_nearest_is_that_of_the_file_with_a_similar_path(
    engine: Engine, repo: GitRepo
) -> None:
    repo.write("API.md", "# Use\n\n```python\ndef module(): ...\n```\n")
    repo.write("a/other.py", "def module(): ...\n")
    repo.write("mods/git_branch.py", "def module(): ...\n")
    near = read(engine, repo, "mods/git_brnch.py#module").near
    assert near == ("mods/git_branch.py#module", "a/other.py#module", "API.md#module")


def test_the_nearest_names_are_of_code_before_keys_of_data(engine: Engine, repo: GitRepo) -> None:
    repo.write("a.toml", "git_status = 1\n")
    repo.write("z.py", "class GitStatusRow: ...\n")
    assert read(engine, repo, "GitStatus").near == ("z.py#GitStatusRow", "a.toml#git_status")


def test_the_nearest_names_are_of_code_before_those_of_prose(engine: Engine, repo: GitRepo) -> None:
    repo.write(
        "API.md", "# Session\n\n```python\nclass Session:\n    def validate(self): ...\n```\n"
    )
    repo.write("a.py", "class Other:\n    def validate(self):\n        pass\n")
    assert read(engine, repo, "Session.nothing_like_it").near == ("src/auth.py#Session",)
    near = read(engine, repo, "Sesion.validate").near
    assert near[:2] == ("src/auth.py#Session.validate", "a.py#Other.validate")
    assert near[-1].startswith("API.md#")
    assert read(engine, repo, "Sesion::validat").near[0] == "src/auth.py#Session.validate"


def test_a_misspelt_member_is_looked_up_in_each_owner(engine: Engine, repo: GitRepo) -> None:
    repo.write("b.py", "class Session:\n    def validate(self):\n        pass\n")
    near = read(engine, repo, "Session.valdate").near
    assert near == ("b.py#Session.validate", "src/auth.py#Session.validate")
    repo.write(
        "c.ts",
        "export class Store {\n  read(a: string): void;\n  read(a: number): void;\n"
        "  read(a: unknown): void {}\n}\n",
    )
    assert len(read(engine, repo, "Store.raed").near) == 1


def test_a_file_that_is_elsewhere_is_an_error_with_its_place(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "auth.py:4-5")
    assert item.near == ("src/auth.py:4-5",)
    assert read(engine, repo, "src/auht.py").near == ("src/auth.py",)


def test_an_edit_is_read_at_once_with_the_lines_it_has_now(engine: Engine, repo: GitRepo) -> None:
    read(engine, repo, "src/auth.py#login")
    repo.write("src/auth.py", "import os\n\n\n" + AUTH.replace("return Session()", "return None"))
    item = read(engine, repo, "src/auth.py#login")
    assert item.text == "def login(name):\n    return None\n"


def test_files_the_look_did_not_reach_are_still_read_from_disk(
    engine: Engine, repo: GitRepo
) -> None:
    read(engine, repo, "src/auth.py#login")
    repo.write("src/auth.py", "# one\n# two\n" + AUTH.replace("return Session()", "return None"))
    item = read(engine, repo, "src/auth.py#login", budget_ms=0)
    assert item.text == "def login(name):\n    return None\n"


def test_a_ref_is_read_from_its_objects(engine: Engine, repo: GitRepo) -> None:
    repo.git("branch", "old")
    repo.write("src/auth.py", "def login():\n    return 'new'\n")
    item = read(engine, repo, "old:src/auth.py#login")
    assert item.text == "def login(name):\n    return Session()\n"
    assert item.handle == "old:src/auth.py#login"
    assert read(engine, repo, "src/auth.py#login", ref="old").handle == "old:src/auth.py#login"
    assert read(engine, repo, "src/auth.py#login").text == "def login():\n    return 'new'\n"


def test_a_ref_that_does_not_exist_is_an_error_of_its_handle_alone(
    engine: Engine, repo: GitRepo
) -> None:
    items = engine.expand(["nosuch:src/auth.py", "src/auth.py:1"], path=repo.root).items
    assert "nosuch" in items[0].error
    assert items[1].text == '"""Auth."""\n'


def test_a_file_is_read_by_its_raw_name_too(engine: Engine, repo: GitRepo) -> None:
    repo.write("odd#name:1.txt", "odd\n")
    assert read(engine, repo, "odd%23name%3A1.txt").text == "odd\n"
    assert read(engine, repo, "odd#name:1.txt").text == "odd\n"


def test_an_escaped_name_means_the_file_it_escapes_despite_a_literal_one(
    engine: Engine, repo: GitRepo
) -> None:
    repo.write_all({"a#b.txt": "sign\n", "a%23b.txt": "letters\n"})
    assert read(engine, repo, "a%23b.txt").text == "sign\n"
    assert read(engine, repo, "a%2523b.txt").text == "letters\n"


def test_an_absolute_path_inside_the_worktree_is_read(engine: Engine, repo: GitRepo) -> None:
    assert read(engine, repo, f"{repo.root}/src/auth.py:1").text == '"""Auth."""\n'


@pytest.mark.parametrize("handle", ["../secret.txt", "src/../../secret.txt:1", "/etc/passwd"])
def test_nothing_outside_the_worktree_is_read(
    engine: Engine, repo: GitRepo, handle: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    item = read(engine, repo, handle)
    assert not item.text
    assert "outside the worktree" in item.error


def test_an_absolute_path_that_is_printed_elsewhere_is_not_read(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    assert "outside" in read(engine, repo, f"{tmp_path}/secret.txt").error


def test_a_link_that_takes_a_files_place_is_not_followed(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    read(engine, repo, "src/auth.py:1")
    repo.remove("src/auth.py")
    repo.path("src/auth.py").symlink_to(tmp_path / "secret.txt")
    item = read(engine, repo, "src/auth.py:1", budget_ms=0)
    assert not item.text and item.error


def test_a_link_that_takes_a_folders_place_is_not_followed(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "auth.py").write_text("secret\n")
    read(engine, repo, "src/auth.py:1")
    repo.remove("src/auth.py")
    repo.path("src").rmdir()
    repo.path("src").symlink_to(outside)
    item = read(engine, repo, "src/auth.py:1", budget_ms=0)
    assert not item.text and item.error


def test_files_of_git_and_ignored_files_are_not_read(engine: Engine, repo: GitRepo) -> None:
    repo.write_all({".gitignore": ".env\n", ".env": "KEY=secret\n"})
    assert read(engine, repo, ".env").error
    assert read(engine, repo, ".git/config").error


def test_a_binary_file_is_an_error(engine: Engine, repo: GitRepo) -> None:
    repo.write("logo.png", b"\x89PNG\r\n\0\0\0")
    assert "binary" in read(engine, repo, "logo.png").error


def test_bytes_that_are_not_utf8_are_read_as_latin_or_replaced(
    engine: Engine, repo: GitRepo
) -> None:
    repo.write_all({"latin.txt": b"caf\xe9\r\nline\r\n", "torn.txt": "π ".encode() + b"\xff\n"})
    assert read(engine, repo, "latin.txt").text == "café\r\nline\r\n"
    assert read(engine, repo, "torn.txt").text == "π \ufffd\n"


def test_an_empty_file_has_an_empty_text(engine: Engine, repo: GitRepo) -> None:
    repo.write("empty.py", "")
    item = read(engine, repo, "empty.py")
    assert (item.text, item.error, item.start_line) == ("", "", 0)


def test_a_file_too_large_to_be_indexed_is_read_by_lines(engine: Engine, repo: GitRepo) -> None:
    repo.write("big.txt", "".join(f"row {number}\n" for number in range(200_000)))
    assert read(engine, repo, "big.txt:150001").text == "row 150000\n"


def test_bad_handles_are_errors_and_the_others_are_answered(engine: Engine, repo: GitRepo) -> None:
    handles = ["", "#", "a\0b", "src/auth.py:0", "src/auth.py:1"]
    items = engine.expand(handles, path=repo.root).items
    assert [bool(one.error) for one in items] == [True, True, True, True, False]


def test_every_handle_of_a_search_and_an_outline_is_read_back(
    engine: Engine, repo: GitRepo
) -> None:
    hits = engine.search("login session user", path=repo.root).results
    assert hits
    for hit in hits:
        item = read(engine, repo, hit.handle)
        assert not item.error and not item.moved
        assert (item.handle, item.start_line) == (hit.handle, hit.start_line)
    (file,) = engine.outline("src/auth.py", path=repo.root).files
    assert [one.name for one in file.items].count("Session.user") == 2
    for entry in file.items:
        item = read(engine, repo, entry.handle)
        assert (item.handle, item.start_line, item.end_line) == (
            entry.handle,
            entry.start_line,
            entry.end_line,
        )


def test_a_folder_is_reported_as_a_folder(engine: Engine, repo: GitRepo) -> None:
    for handle, name in [("src", "src"), ("src/", "src"), ("src:3", "src"), (".", ".")]:
        item = read(engine, repo, handle)
        assert f"'{name}' is a folder" in item.error and "outline" in item.error


def test_a_place_as_compilers_print_it_is_its_line(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "src/auth.py:19:5")
    assert (item.text, item.handle) == ("def login(name):\n", "src/auth.py:19")


def test_blanks_around_a_handle_do_not_count(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "  src/auth.py#login\t")
    assert item.handle == "src/auth.py#login" and not item.moved


def test_blanks_that_belong_to_a_name_are_escaped_in_its_handle(
    engine: Engine, repo: GitRepo
) -> None:
    repo.write(" edge ", "lanterns\n")
    (hit,) = engine.search(" edge ", path=repo.root, mode="path").results
    assert hit.handle == "%20edge%20"
    assert read(engine, repo, hit.handle).text == "lanterns\n"


def test_files_found_as_a_whole_are_named_without_lines(engine: Engine, repo: GitRepo) -> None:
    repo.write("pkg/__init__.py", "")
    repo.write("ext/kr.png", b"\x89PNG\r\n\x1a\n\0\0")
    for name in ("pkg/__init__.py", "ext/kr.png"):
        (hit,) = engine.search(name, path=repo.root, mode="path").results
        assert hit.handle == name
    assert read(engine, repo, "pkg/__init__.py").error == ""
    assert "binary" in read(engine, repo, "ext/kr.png").error


def test_a_truncated_text_is_recognized_by_its_last_line(engine: Engine, repo: GitRepo) -> None:
    item = read(engine, repo, "src/auth.py#Session", max_lines=2)
    assert (item.end_line, item.truncated) == (5, True)
    whole = read(engine, repo, "src/auth.py#Session")
    assert item.last_line == whole.last_line == whole.end_line


def test_a_name_in_a_file_that_was_not_parsed_is_not_denied(engine: Engine, repo: GitRepo) -> None:
    repo.write("src/huge.py", "def first():\n    pass\n" + "x = 1\n" * 200_000)
    error = read(engine, repo, "src/huge.py#first").error
    assert "was not parsed because it is larger than `max_file_bytes` allows" in error
    assert "does not define" not in error
