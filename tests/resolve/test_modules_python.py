"""Python: packages, roots, relative dots."""

from __future__ import annotations

from resolved_imports import imported

from codelens.resolve.imports import Importer
from codelens.types import Import

PACKAGE = {
    "src/app/__init__.py": "",
    "src/app/core.py": "",
    "src/app/io.py": "",
    "src/app/sub/__init__.py": "",
    "src/app/sub/deep.py": "",
    "tests/helpers.py": "",
}


def of(text: str, path: str = "src/app/sub/here.py", **more: str) -> list[str]:
    return imported({**PACKAGE, **more, path: text}, path)


def test_dots_climb_from_the_file_and_a_module_is_better_than_its_package() -> None:
    assert of("from . import deep\nfrom ..core import run\nfrom .. import core, missing\n") == [
        "src/app/sub/deep.py", "src/app/core.py", "src/app/__init__.py",
    ]  # fmt: skip


def test_dots_above_the_root_lead_nowhere() -> None:
    assert of("from ..... import x\nfrom .....core import y\n") == []


def test_a_src_layout_is_found_from_tests() -> None:
    assert of("import app.core\nfrom app.sub import deep\nimport app\n", "tests/test_x.py") == [
        "src/app/core.py", "src/app/sub/deep.py", "src/app/__init__.py",
    ]  # fmt: skip


def test_a_module_next_to_a_script_is_found_and_a_distant_one_is_not() -> None:
    assert of("import helpers\n", "tests/test_x.py") == ["tests/helpers.py"]
    assert of("import helpers\n", "a/b/test_x.py", **{"a/c/helpers.py": ""}) == []


def test_the_standard_library_is_not_shadowed() -> None:
    assert of("import io\nimport types\n", "src/app/x.py", **{"types.py": ""}) == []


def test_namespace_packages_and_stubs_are_found() -> None:
    files = {"lib/cloud/store/api.py": "", "src/app/fast.pyi": ""}
    text = "from cloud.store import api\nfrom app import fast\n"
    assert of(text, "src/app/x.py", **files) == ["lib/cloud/store/api.py", "src/app/fast.pyi"]


def test_two_roots_with_the_same_module_are_not_guessed() -> None:
    files = {"one/kit/a.py": "", "two/kit/a.py": ""}
    assert of("import kit.a\n", "x/y.py", **files) == []
    assert of("import kit.a\n", "one/y.py", **files) == ["one/kit/a.py"]


def test_packages_on_the_way_are_distinguished_from_targets() -> None:
    importer = Importer({path.encode(): "python" for path in PACKAGE}, {})
    one = Import("app.sub.deep", "", "", 1)
    assert importer.targets(b"tests/t.py", "python", one) == (b"src/app/sub/deep.py",)
    assert importer.through(b"tests/t.py", "python", one) == (
        b"src/app/__init__.py",
        b"src/app/sub/__init__.py",
    )
