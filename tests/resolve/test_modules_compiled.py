"""Go, Rust, JVM, C#, C: packages, crates, source roots, includes."""

from __future__ import annotations

from resolved_imports import imported


def of(at: str, text: str, *paths: str, **files: str) -> list[str]:
    return imported({**dict.fromkeys(paths, ""), **files, at: text}, at)


def test_a_go_package_is_all_files_of_its_folder_but_tests() -> None:
    text = 'package main\nimport (\n\t"example.com/app/store"\n\t"fmt"\n\t"example.com/other"\n)\n'
    paths = ["store/a.go", "store/b.go", "store/a_test.go", "store/deep/c.go"]
    assert of("main.go", text, *paths, **{"go.mod": "module example.com/app\n"}) == [
        "store/a.go",
        "store/b.go",
    ]


def test_the_nested_go_module_owns_its_packages_and_vendored_ones_are_found() -> None:
    text = 'package m\nimport "example.com/app/tools/x"\nimport "github.com/a/b"\n'
    files = {"go.mod": "module example.com/app\n", "t/go.mod": "module example.com/app/tools\n"}
    paths = ["t/x/x.go", "tools/x/y.go", "vendor/github.com/a/b/b.go"]
    assert of("m/m.go", text, *paths, **files) == ["t/x/x.go", "vendor/github.com/a/b/b.go"]


CRATE = {
    "a/Cargo.toml": '[package]\nname = "my-a"\n',
    "a/src/lib.rs": "",
    "a/src/store/mod.rs": "",
    "a/src/store/disk.rs": "",
    "a/src/net.rs": "",
    "a/src/net/tcp.rs": "",
    "a/tests/it.rs": "",
    "b/Cargo.toml": '[package]\nname = "b"\n[lib]\nname = "bee"\npath = "lib/b.rs"\n',
    "b/lib/b.rs": "",
    "b/lib/x.rs": "",
}


def test_rust_modules_are_files_below_their_parent() -> None:
    assert of("a/src/lib.rs", "mod store;\nmod net;\nmod inner { }\n", **CRATE) == [
        "a/src/store/mod.rs",
        "a/src/net.rs",
    ]
    assert of("a/src/net.rs", "mod tcp;\n", **CRATE) == ["a/src/net/tcp.rs"]


def test_rust_paths_go_as_deep_as_there_are_files() -> None:
    text = "use crate::store::disk::Disk;\nuse crate::net::{tcp, Error};\nuse crate::Top;\n"
    assert of("a/src/net/tcp.rs", text, **CRATE) == [
        "a/src/store/disk.rs", "a/src/net.rs", "a/src/lib.rs",
    ]  # fmt: skip


def test_rust_crates_of_the_view_are_found_by_the_name_code_uses() -> None:
    text = "use my_a::net::Conn;\nuse bee::x::Y;\nuse std::fs;\nuse serde::Serialize;\n"
    assert of("a/tests/it.rs", text, **CRATE) == ["a/src/net.rs", "b/lib/x.rs"]


def test_rust_super_counts_only_where_it_names_a_file() -> None:
    assert of("a/src/store/disk.rs", "use super::super::net;\nuse super::Thing;\n", **CRATE) == [
        "a/src/net.rs"
    ]


def test_rust_tests_are_separate_crates() -> None:
    assert of("a/tests/it.rs", "mod util;\nuse crate::util::x;\n", "a/tests/util.rs", **CRATE) == [
        "a/tests/util.rs"
    ]


def test_jvm_classes_are_files_of_their_package() -> None:
    text = (
        "import a.b.C;\nimport static a.b.D.max;\nimport a.b.E.Inner;\nimport java.util.List;\n"
        "import a.q.*;\nclass X {}\n"
    )
    root = "core/src/main/java/"
    paths = [root + one for one in ("a/b/C.java", "a/b/D.java", "a/b/E.java", "a/q/Q.java")]
    assert of(root + "z/X.java", text, *paths, "core/src/test/java/a/q/QTest.java") == paths


def test_jvm_source_sets_are_one_class_and_projects_are_not() -> None:
    sets = ["p/src/commonMain/kotlin/k/P.kt", "p/src/jvmMain/kotlin/k/P.kt"]
    assert of("q/src/main/kotlin/z.kt", "import k.P\n", *sets) == sets
    two = ["one/src/main/java/k/P.java", "two/src/main/java/k/P.java"]
    assert of("x/src/main/java/z/Z.java", "import k.P;\nclass Z {}\n", *two) == []
    assert of("two/src/main/java/z/Z.java", "import k.P;\nclass Z {}\n", *two) == two[1:]


def test_scala_selectors_and_packages_are_found() -> None:
    text = "import k.{P, Q => R}\nimport k.syntax._\nobject Z\n"
    paths = ["core/src/main/scala/k/P.scala", "core/src/main/scala/k/Q.scala",
             "core/src/main/scala/k/syntax.scala"]  # fmt: skip
    assert of("app/src/main/scala/Z.scala", text, *paths) == paths


def test_csharp_namespaces_are_folders_of_the_project_of_that_name() -> None:
    text = "using System;\nusing Shop.Core.Orders;\nusing Shop.Web;\n"
    paths = ["src/Shop.Core/Shop.Core.csproj", "src/Shop.Core/Orders/Order.cs",
             "src/Shop.Core/Orders/Line.cs", "src/Shop.Core/Other.cs"]  # fmt: skip
    assert of("src/Shop.Web/Start.cs", text, *paths) == [
        "src/Shop.Core/Orders/Line.cs",
        "src/Shop.Core/Orders/Order.cs",
    ]


def test_c_includes_are_next_to_or_above_the_file_or_unique_in_the_view() -> None:
    text = '#include "a.h"\n#include "lib/b.h"\n#include <kit/c.h>\n#include <stdio.h>\n'
    paths = ["src/core/a.h", "a.h", "src/lib/b.h", "other/include/kit/c.h", "other/stdio.h"]
    assert of("src/core/x.c", text, *paths) == [
        "src/core/a.h", "src/lib/b.h", "other/include/kit/c.h",
    ]  # fmt: skip


def test_c_headers_with_one_name_elsewhere_are_not_guessed() -> None:
    assert of("src/x.c", '#include "config.h"\n', "a/config.h", "b/config.h") == []
