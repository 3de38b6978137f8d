"""Whether a text contains a definition under its owner, determined without a parser."""

from __future__ import annotations

import pytest

from codelens.focus.topic_code import definition_state

PYTHON = """class Session:
    # TODO: restore def revoke later
    def refresh(
        self,
    ) -> int:
        \"\"\"Not
        def documented(): ...
        \"\"\"
        def inner(): ...
        return LIMIT

class Admin(
    Base,
):
    if True:
        def logout(self): ...
"""
GO = "package shop\n\nfunc (r *Reader) Read() {\n\tprint(r)\n}\n\ntype Reader struct {\n}\n"
JAVA = """class Session {
    /* void gone() {
     */
    @Override
    public List<String> refresh(int x) throws E {
        login(x);
        return other(x);
    }
}
"""
RUST = "impl<T> Read for Session<T> {\n    pub fn read(&self) {}\n}\nfn lone() {}\n"
ALLMAN = "namespace Shop;\n\npublic class Till : Box\n{\n    struct Row\n    {\n    }\n}\n"


@pytest.mark.parametrize(
    ("path", "text", "name", "expected"),
    [
        ("a.py", PYTHON, "Session.refresh", "there"),
        ("a.py", PYTHON, "Session.refresh.inner", "there"),
        ("a.py", PYTHON, "Admin.logout", "there"),
        ("a.py", PYTHON, "Session.logout", "elsewhere"),
        ("a.py", PYTHON, "Session.revoke", "gone"),
        ("a.py", PYTHON, "revoke", "gone"),
        ("a.py", PYTHON, "documented", "gone"),
        ("a.py", PYTHON, "LIMIT", "unsure"),
        ("a.py", PYTHON, "Session.never", "gone"),
        ("a.md", "# Some\n", "Some.of-it", "unsure"),
        ("a.go", GO, "Reader.Read", "there"), ("a.go", GO, "Writer.Read", "elsewhere"),
        ("A.java", JAVA, "Session.refresh", "there"), ("A.java", JAVA, "Session.gone", "gone"),
        ("A.java", JAVA, "Session.login", "unsure"), ("A.java", JAVA, "Session.other", "unsure"),
        ("a.rs", RUST, "Session.read", "there"), ("a.rs", RUST, "Other.read", "elsewhere"),
        ("a.rs", RUST, "lone", "there"),
        ("a.cs", ALLMAN, "Shop.Till.Row", "there"), ("a.cs", ALLMAN, "Shop.Box2.Row", "elsewhere"),
        ("a.js", "// function a() {}\nx('src/*.js')\nfunction b() {}\n", "b", "there"),
        ("a.js", "// function a() {}\nx('src/*.js')\nfunction b() {}\n", "a", "gone"),
        ("a.lua", "-- function M.a()\nfunction M.b()\nend\n", "M.b", "there"),
        ("a.lua", "-- function M.a()\nfunction M.b()\nend\n", "M.a", "gone"),
    ],
)  # fmt: skip
def test_the_state_of_a_definition(path: str, text: str, name: str, expected: str) -> None:
    assert definition_state(text, path, name) == expected
