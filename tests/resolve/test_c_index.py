"""C names over a whole view: a lookup reads only the files it needs."""

from __future__ import annotations

from codelens.extract.facts import structure
from codelens.resolve.file_model import FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.languages.c.c_index import CIndex
from codelens.resolve.view_files import View
from codelens.types import Import

TEXTS = {
    b"a.cpp": "namespace n { int f(int x) { return x; } }\nvoid Box::go() {}\n",
    b"b.cpp": "int f(void);\nvoid Other::go() {}\nnamespace short_ = long_::space;\n",
    b"c.c": "static int g(void) { int f; return f; }\n",
    b"d.py": "def f(): pass\n",
}
DEFINING = {"f": [b"b.cpp", b"a.cpp", b"d.py"], "go": [b"a.cpp", b"b.cpp"], "g": [b"c.c"]}


class NoImports:
    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        return ()

    through = targets


def view(loaded: list[bytes], *, defining: bool) -> View:
    languages = {b"a.cpp": "cpp", b"b.cpp": "cpp", b"c.c": "c", b"d.py": "python"}

    def load(path: bytes) -> FileModel:
        loaded.append(path)
        language = languages[path]
        found = structure(TEXTS[path].encode(), language)
        return FileModel(
            language, found.symbols, found.references, found.imports,
            scopes=found.scopes, bindings=found.bindings,
        )  # fmt: skip

    of_name = (lambda name: DEFINING.get(name, [])) if defining else None
    return View(languages, load, NoImports(), defining=of_name)


def test_a_name_is_looked_for_in_the_files_that_define_it() -> None:
    loaded: list[bytes] = []
    index = CIndex(view(loaded, defining=True))
    assert index.named("g") == [Referent(b"c.c", 0, 0, "g")]
    assert loaded == [b"c.c"]
    assert index.named("h") == []
    assert index.named("f", within={b"c.c"}) == []
    assert loaded == [b"c.c"]
    assert [one.path for one in index.named("f", within={b"b.cpp", b"d.py"})] == [b"b.cpp"]
    assert loaded == [b"c.c", b"b.cpp"]


def test_both_ways_find_the_same() -> None:
    indexes = [CIndex(view([], defining=defining)) for defining in (True, False)]
    for name in ("f", "g", "go", "Box", "nothing"):
        assert indexes[0].named(name) == indexes[1].named(name), name
        for owner in ("Box", "Other", "n", ""):
            assert indexes[0].methods(owner, name) == indexes[1].methods(owner, name), (owner, name)
    assert [one.path for one in indexes[0].named("f")] == [b"a.cpp", b"b.cpp"]
    assert [one.path for one in indexes[0].methods("Box", "go")] == [b"a.cpp"]
    assert indexes[0].spaces(b"b.cpp") == indexes[1].spaces(b"b.cpp") == {"short_": "long_.space"}


def test_an_answer_stands_on_the_index_and_not_on_each_file() -> None:
    files = view([], defining=True)
    index = files.index("c names", lambda: CIndex(files))
    index.named("f")
    index.spaces(b"b.cpp")
    assert files.notes == {("index", b"", "c names", "")}
