"""Every file and folder that docs/architecture.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
NAMED = re.compile(r"`([\w./-]+\.(?:py|md|toml|sql|scm|json)|[\w/-]+/)`")
STANDS_FOR_A_NAME = ("LANGUAGE", "NAME", "CODELENS_HOME")
FOLDERS = ("codelens", "migrations", "install", "docs", "tests", "benchmarks")


def test_every_path_that_the_page_names_exists() -> None:
    files = {
        "/" + path.relative_to(ROOT).as_posix()
        for name in FOLDERS
        for path in ROOT.joinpath(name).rglob("*.*")
    }
    named = {name for name in NAMED.findall(PAGE) if not any(w in name for w in STANDS_FOR_A_NAME)}
    assert len(named) > 60
    missing = {
        name
        for name in named
        if not any(
            file.endswith("/" + name) or (name.endswith("/") and "/" + name in file)
            for file in files
        )
    }
    assert not missing
