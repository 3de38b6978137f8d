"""What a release and the site are made of fits together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from codelens import __version__

ROOT = Path(__file__).resolve().parents[1]


def yaml_of(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / name).read_text("utf-8"))


def pages(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for inner in nav.values():
            yield from pages(inner)
    elif isinstance(nav, list):
        for inner in nav:
            yield from pages(inner)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__ == str(yaml_of("CITATION.cff")["version"])


def test_every_page_is_on_the_site_once() -> None:
    listed = sorted(pages(yaml_of("mkdocs.yml")["nav"]))
    assert listed == sorted(file.name for file in (ROOT / "docs").glob("*.md"))


def test_links_of_pages_stay_on_the_site() -> None:
    """`mkdocs build --strict` says the same, and needs an extra."""
    for file in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.read_text("utf-8")):
            assert (file.parent / target).is_file(), (file.name, target)
            assert not target.startswith(".."), (file.name, target)


def test_a_release_keeps_no_secret_and_publishes_what_was_tried() -> None:
    jobs = yaml_of(".github/workflows/release.yml")["jobs"]
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "secrets." not in text
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    builds = [job for job, body in jobs.items() if "python -m build" in str(body["steps"])]
    assert builds == ["build"]
