"""Which test files belong to which files, by their paths alone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from codelens.resolve.walk.named_tests import NamedTests, subject_of


def named(path: str, tests: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    paths = [one.encode() for one in tests]
    files = [path.encode(), *paths, *(one.encode() for one in others)]
    return [one.decode() for one in NamedTests(paths, files).of(path.encode())]


def test_test_files_match_the_files_they_test() -> None:
    names = {
        b"tests/test_auth.py": b"auth", b"auth_test.go": b"auth", b"src/auth.spec.ts": b"auth",
        b"src/Auth.test.tsx": b"Auth", b"AuthTest.java": b"Auth", b"spec/auth_spec.rb": b"auth",
        b"src/auth.py": b"", b"latest.py": b"", b"tests/conftest.py": b"",
        b"tests/auth_tests/tests.py": b"auth", b"tests/tests.py": b"",
    }  # fmt: skip
    assert {path: subject_of(path) for path in names} == names


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("src/auth.py", "tests/test_auth.py"),
        ("pkg/auth.go", "pkg/auth_test.go"),
        ("src/auth.ts", "src/auth.spec.ts"),
        ("src/main/java/a/b/Auth.java", "src/test/java/a/b/AuthTest.java"),
        ("lib/a/auth.rb", "spec/a/auth_spec.rb"),
        ("src/Auth/User.php", "tests/unit/Auth/UserTest.php"),
        ("src/auth.rs", "tests/auth_test.rs"),
        ("src/auth.cc", "test/auth_unittest.cc"),
        ("a/utils/text.py", "tests/test_utils_text.py"),
        ("a/admin/utils.py", "tests/admin_utils/tests.py"),
        ("a/auth/index.ts", "a/auth/auth.test.ts"),
    ],
)
def test_a_test_is_named_for_the_last_parts_of_a_path(path: str, test: str) -> None:
    assert named(path, [test, "tests/test_other.py", "other_test.go"]) == [test]


@pytest.mark.parametrize(
    ("mine", "test", "other"),
    [
        ("a/utils/text.py", "tests/utils_tests/test_text.py", "a/forms/text.py"),
        ("api/auth.py", "api/tests/test_auth.py", "web/auth.py"),
        ("src/main/java/a/b/Auth.java", "src/test/java/a/b/AuthTest.java",
         "src/main/java/a/c/Auth.java"),
        ("v4/core/util.ts", "v4/core/tests/util.test.ts", "v3/core/util.ts"),
        ("lib/a/auth.rb", "spec/a/auth_spec.rb", "lib/b/auth.rb"),
        ("app/Models/User.php", "tests/Models/UserTest.php", "app/Http/User.php"),
        ("pkg/a/auth.go", "pkg/a/auth_test.go", "pkg/b/auth.go"),
    ],
)  # fmt: skip
def test_among_files_with_one_name_folders_select_the_test(
    mine: str, test: str, other: str
) -> None:
    assert named(mine, [test], [other]) == [test]
    assert named(other, [test], [mine]) == []


def test_if_folders_do_not_decide_all_files_of_the_name_match() -> None:
    assert named("a/text.py", ["tests/test_text.py"], ["b/text.py"]) == ["tests/test_text.py"]


def test_the_test_with_most_of_its_folders_comes_first() -> None:
    tests = ["web/tests/test_auth.py", "api/tests/test_auth.py", "api/tests/test_other.py"]
    assert named("api/auth.py", tests) == ["api/tests/test_auth.py", "web/tests/test_auth.py"]


def test_a_test_in_another_language_does_not_match() -> None:
    assert named("auth.py", ["auth_test.go", "auth.test.ts"]) == []
