"""How the language of a file is detected; languages are defined by data alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelens.errors import SettingError
from codelens.extract import language_detection, language_settings
from codelens.extract.facts import structure
from codelens.extract.language_detection import extractor_version, language_by_path, language_of
from codelens.extract.parse import grammars


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        (b"a.py", b"", "python"),
        (b"deep/er/A.PYI", b"", "python"),
        (b"SConstruct", b"", "python"),
        (b"lib/x.mjs", b"", "javascript"),
        (b"lib/x.jsx", b"", "javascript"),
        (b"x.d.ts", b"", "typescript"),
        (b"x.mts", b"", "typescript"),
        (b"x.tsx", b"", "tsx"),
        (b"x.go", b"", "go"),
        (b"x.c", b"", "c"),
        (b"x.h", b"int f(void);", "c"),
        (b"README.md", b"", "markdown"),
        (b"notes.txt", b"", "text"),
        (b"no/such.language", b"#!/usr/bin/python", "text"),
        (b"py", b"", "text"),
        (b".py", b"", "text"),
        (b"", b"", "text"),
        (b"\xff\xfe.py", b"", "python"),
        (b"bin/tool", b"#!/usr/bin/python3.11 -u\n", "python"),
        (b"bin/tool", b"#! /usr/bin/env -S FOO=1 node --flag\n", "javascript"),
        (b"bin/tool", b"#!/usr/bin/env\n", "text"),
        (b"bin/tool", b"#!/bin/sh\n", "bash"),
        (b"bin/tool", b"#!\n", "text"),
        (b"bin/tool", b"\x7fELF", "text"),
    ],
)
def test_a_language_is_detected_by_name_extension_or_interpreter(
    path: bytes, head: bytes, language: str
) -> None:
    assert language_of(path, head) == language


@pytest.mark.parametrize(
    ("code", "language"),
    [
        (b"#include <vector>\n", "cpp"),
        (b"@interface Box : NSObject\n@end\n", "objc"),
        (b"int take(int x);\n", "c"),
    ],
)
def test_the_language_of_a_header_is_detected_after_a_long_comment(
    code: bytes, language: str
) -> None:
    licence = b"/*\n" + b" * Redistribution is permitted.\n" * 200 + b" */\n"
    lines = b"// Redistribution is permitted.\n" * 200
    assert language_of(b"x.h", licence + code) == language
    assert language_of(b"x.h", lines + code) == language


def test_a_path_alone_does_not_reveal_the_language_without_extension() -> None:
    assert language_by_path(b"bin/tool") is None
    assert language_by_path(b"bin/tool.py") == "python"
    assert language_by_path(b"bin/tool.unknown") == "text"


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.inc", b"deep/x.inc", True),
        ("*.inc", b"x.inc.py", False),
        ("src/*.inc", b"src/x.inc", True),
        ("src/*.inc", b"src/deep/x.inc", False),
        ("src/**/*.inc", b"src/deep/er/x.inc", True),
        ("src/**/*.inc", b"src/x.inc", True),
        ("**/gen/**", b"a/gen/b/c", True),
        ("/x.inc", b"x.inc", True),
        ("x.[ab]", b"x.a", True),
        ("x.[!ab]", b"x.a", False),
        ("x.?", b"x.a", True),
        ("weird(.inc", b"weird(.inc", True),
        ("*", b"\xff", True),
    ],
)
def test_an_override_is_a_glob_over_the_name_or_the_path(
    glob: str, path: bytes, matches: bool
) -> None:
    found = language_of(path, b"", {glob: "go"})
    assert (found == "go") == matches


def test_the_last_override_that_matches_counts() -> None:
    rules = {"*.py": "text", "src/*.py": "go"}
    assert language_of(b"src/x.py", b"", rules) == "go"
    assert language_by_path(b"other/x.py", rules) == "text"


def test_an_override_to_an_unknown_language_is_refused() -> None:
    with pytest.raises(SettingError, match="unknown language 'cobolt'"):
        language_of(b"x.py", b"", {"*.py": "cobolt"})
    with pytest.raises(SettingError):
        structure(b"", "../types")


def test_telling_languages_needs_no_parser() -> None:
    code = (
        "import sys; from codelens.extract.language_detection import language_of;"
        "language_of(b'x.py', b'');"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_languages_of_today_are_found_by_themselves() -> None:
    found = {info.name: info for info in language_settings.languages()}
    assert found.keys() >= {
        *("python", "javascript", "typescript", "tsx", "go", "c", "markdown", "text"),
    }
    assert found["text"].grammar == ""


def test_versions_of_facts_grow_with_a_language() -> None:
    for info in language_settings.languages():
        assert 0 < info.version < 1000
        assert extractor_version(info.name) % 1000 == info.version


def test_a_grammar_that_cannot_be_loaded_alone_comes_from_its_package() -> None:
    grammar = grammars.bundled("csharp")
    assert grammar.node_kind_count > 0
    with pytest.raises(SettingError, match="no grammar called 'nosuch'"):
        grammars.bundled("nosuch")


@pytest.fixture
def own_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "languages"
    shutil.copytree(language_settings.FOLDER, folder)
    for module in (language_settings, grammars):
        monkeypatch.setattr(module, "FOLDER", folder)
    forget_languages()
    yield folder
    forget_languages()


def forget_languages() -> None:
    """Clears all cached language settings and queries of the extraction modules."""
    for name, module in list(sys.modules.items()):
        if name.startswith("codelens.extract"):
            for kept in list(vars(module).values()):
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()


def test_a_language_is_added_by_a_settings_file_and_a_query(own_languages: Path) -> None:
    (own_languages / "rust.toml").write_text(
        'title = "Rust"\nversion = 1\nextensions = [".rs"]\nexported = "marked"\n'
    )
    (own_languages / "rust.scm").write_text(
        "(function_item) @definition.function\n(struct_item) @definition.struct\n"
        "(field_declaration) @definition.field\n(visibility_modifier) @export\n"
        "(attribute_item) @decorator\n(line_comment) @comment\n"
        "(impl_item type: (_) @owner) @scope\n"
        "(call_expression function: (_) @reference.call)\n"
    )
    source = (
        b"/// A point.\n#[derive(Debug)]\npub struct Point { pub x: i32, y: i32 }\n\n"
        b"impl Point {\n    /// Moves.\n    #[inline]\n"
        b"    pub fn shift(&self) { util::go(1); }\n}\n"
    )
    assert language_of(b"src/lib.rs", b"") == "rust"
    found = structure(source, "rust")
    extracted = [(s.kind, s.qualified, s.exported, s.doc, s.start_line) for s in found.symbols]
    assert extracted == [
        ("struct", "Point", True, "A point.", 2),
        ("field", "Point.x", True, "", 3),
        ("field", "Point.y", True, "", 3),
        ("method", "Point.shift", True, "Moves.", 7),
    ]
    assert [symbol.signature for symbol in found.symbols][3] == "pub fn shift(&self)"
    assert [(ref.name, ref.line, ref.column) for ref in found.references] == [("go", 8, 32)]


def test_a_contested_extension_is_decided_by_content(own_languages: Path) -> None:
    (own_languages / "cpp.toml").write_text(
        'title = "C++"\nversion = 1\n[contested]\n".h" = \'^(class|namespace)\\s\'\n'
    )
    assert language_by_path(b"x.h") is None
    assert language_of(b"x.h", b"int x;\n") == "c"
    assert language_of(b"x.h", b"int x;\nclass A {};\n") == "cpp"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('title = "X"\nversion = 1\nextension = [".x"]\n', "unknown settings: extension"),
        ('title = "X"\nversion = 1\nexported = "maybe"\n', "exported must be one of"),
    ],
)
def test_wrong_settings_are_reported_with_the_reason(
    own_languages: Path, settings: str, message: str
) -> None:
    (own_languages / "x.toml").write_text(settings)
    with pytest.raises(SettingError, match=message):
        language_settings.languages()


def test_a_query_that_does_not_fit_the_grammar_is_refused(own_languages: Path) -> None:
    (own_languages / "lua.toml").write_text('title = "Lua"\nversion = 1\n')
    (own_languages / "lua.scm").write_text("(no_such_node) @definition.function\n")
    with pytest.raises(SettingError, match="does not fit its grammar"):
        structure(b"", "lua")


def test_the_index_of_detection_is_that_of_the_settings() -> None:
    index = language_settings.FOLDER / "detection.json"
    assert index.read_text(encoding="utf-8") == language_detection.index_text(), (
        "run `python -m codelens.extract.language_detection`"
    )


def test_the_index_agrees_with_the_settings() -> None:
    assert tuple(language_detection.all_traits().values()) == tuple(language_detection._read())


@pytest.mark.parametrize(
    ("word", "language"),
    [("C++", "cpp"), ("c#", "csharp"), ("py", "python"), ("golang", "go"), ("Rust", "rust"),
     ("objective-c", "objc"), ("cobolt", None), ("", None)],
)  # fmt: skip
def test_a_language_is_known_by_what_people_call_it(word: str, language: str | None) -> None:
    assert language_detection.language_called(word) == language
