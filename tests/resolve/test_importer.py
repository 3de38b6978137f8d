"""The entry point: settings on demand, one answer in any order, never the file itself."""

from __future__ import annotations

from codelens.resolve.imports import Definers, Importer, Surface, settings_paths
from codelens.resolve.languages.registry import LANGUAGES
from codelens.types import Import


def test_settings_are_asked_for_by_name_wherever_they_lie() -> None:
    wanted = [
        b"a/Cargo.toml",
        b"a/package.json",
        b"go.mod",
        b"pubspec.yaml",
        b"x/tsconfig.app.json",
    ]
    others = [b"a/pyproject.toml", b"data.json", b"go.sum", b"package-lock.json", b"x.yaml"]
    code = {b"a.rs": "rust", b"a.ts": "typescript", b"a.go": "go", b"a.dart": "dart"}
    assert settings_paths(code | dict.fromkeys([*others, *wanted], "text")) == wanted
    assert settings_paths(dict.fromkeys(wanted, "text")) == []


def test_a_file_never_imports_itself_and_unknown_languages_import_nothing() -> None:
    importer = Importer({b"a.py": "python", b"b.xyz": "text"}, {})
    assert importer.targets(b"a.py", "python", Import("a", "", "", 1)) == ()
    assert importer.targets(b"b.xyz", "text", Import("a", "", "", 1)) == ()


def test_answers_do_not_depend_on_the_order_of_paths_or_questions() -> None:
    paths = [f"{root}/src/main/java/k/{name}.java".encode() for root in "ab" for name in "PQR"]
    ask = [(path, Import("k", name, "", 1)) for path in paths for name in ("P", "Q", "*")]

    def answers(paths: list[bytes], ask: list[tuple[bytes, Import]]) -> set[object]:
        importer = Importer(dict.fromkeys(paths, "java"), {})
        return {(path, one, importer.targets(path, "java", one)) for path, one in ask}

    assert answers(paths, ask) == answers(paths[::-1], ask[::-1])


def test_odd_modules_resolve_to_nothing_in_every_language() -> None:
    odd = [
        "",
        ".",
        "..",
        "../../..",
        "/",
        "//",
        "\\",
        "::",
        "a..b",
        "*",
        "${",
        "\x00",
        "\udcff",
        "é/",
    ]
    paths = {b"a/b.%s" % language.encode(): language for language in LANGUAGES}
    importer = Importer({**paths, b"a/\xff.py": "python"}, {})
    for path, language in paths.items():
        for module in odd:
            for name in ("", "*", "x", "\udcff", "\x00"):
                importer.targets(path, language, Import(module, name, "", 1))


SURFACES = {
    b"index.ts": Surface("typescript", frozenset(), (
        Import("./a", "run", "", 1), Import("./a", "inner", "outer", 1), Import("./b", "*", "", 2),
        Import("./c", "", "ns", 3),
    )),
    b"a.ts": Surface("typescript", frozenset({"run", "inner"}), ()),
    b"b.ts": Surface("typescript", frozenset({"other"}), (Import("./index", "*", "", 1),)),
    b"c.ts": Surface("typescript", frozenset({"c"}), ()),
}  # fmt: skip


def definer(name: str) -> bytes | None:
    importer = Importer(dict.fromkeys([*SURFACES, b"use.ts"], "typescript"), {})
    definers = Definers(importer, SURFACES.get)
    return definers.definer(b"use.ts", "typescript", Import("./index", name, "", 1))


def test_a_name_is_followed_to_the_file_that_defines_it() -> None:
    assert [definer(name) for name in ("run", "outer", "other", "ns")] == [
        b"a.ts", b"a.ts", b"b.ts", b"c.ts",
    ]  # fmt: skip


def test_star_imports_of_each_other_end_and_the_module_is_the_answer() -> None:
    assert definer("nowhere") == b"index.ts"
    assert definer("*") == b"index.ts"
