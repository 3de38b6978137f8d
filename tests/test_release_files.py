"""The files of a release and of the site are consistent."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gitrepo import GitRepo, git_environment
from ruamel.yaml import YAML

from codelens import __version__
from codelens.meaning.providers.provider_registry import PROVIDERS

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


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_has_an_extra_and_a_row_in_the_docs(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(extras[name]) <= set(extras["dev"])
    page = (ROOT / "docs" / "providers.md").read_text("utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{name}`"))
    provider = PROVIDERS[name]
    for part in (f"codelens[{name}]", provider.key_variable, provider.model, provider.endpoint):
        assert part in row, f"the row of {name} in docs/providers.md lacks {part}"


def test_every_page_is_on_the_site_once() -> None:
    listed = sorted(pages(yaml_of("mkdocs.yml")["nav"]))
    assert listed == sorted(file.name for file in (ROOT / "docs").glob("*.md"))


def test_links_of_pages_stay_on_the_site() -> None:
    """`mkdocs build --strict` checks the same, but needs an extra."""
    for file in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.read_text("utf-8")):
            assert (file.parent / target).is_file(), (file.name, target)
            assert not target.startswith(".."), (file.name, target)


def test_a_release_needs_no_secret_and_publishes_the_tested_files() -> None:
    jobs = yaml_of(".github/workflows/release.yml")["jobs"]
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "secrets." not in text
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    builds = [job for job, body in jobs.items() if "python -m build" in str(body["steps"])]
    assert builds == ["build"]


def test_the_formula_of_a_release_is_filled_in(tmp_path: Path) -> None:
    sdist = tmp_path / "codelens-9.8.7.tar.gz"
    sdist.write_bytes(b"a release")
    formula = subprocess.run(
        ["sh", ROOT / "install/homebrew/fill_formula.sh", "someone/codelens", sdist],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "@" not in formula.replace("python@", "")
    assert (
        'url "https://github.com/someone/codelens/releases/download/v9.8.7/codelens-9.8.7.tar.gz"'
        in formula
    )
    assert f'sha256 "{hashlib.sha256(b"a release").hexdigest()}"' in formula


@pytest.fixture
def signed(tmp_path: Path) -> GitRepo:
    """A repository whose second commit allows one key to sign, configured to sign with it."""
    for name in ("mine", "theirs"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True
        )
    repo = GitRepo.init(tmp_path / "repo")
    none_yet = (ROOT / ".github/allowed_signers").read_text("utf-8")
    repo.commit("Nobody may sign", {".github/allowed_signers": none_yet})
    key = (tmp_path / "mine.pub").read_text("utf-8")
    mine = f'me@example.com namespaces="git" {key}'
    repo.commit("I may sign", {".github/allowed_signers": none_yet + mine})
    repo.commit("A release", {"version": "1"})
    repo.git("config", "gpg.format", "ssh")
    repo.git("config", "user.signingkey", str(tmp_path / "mine"))
    return repo


def verified(repo: GitRepo, tag: str) -> tuple[bool, str]:
    done = subprocess.run(
        ["sh", ROOT / ".github/verify_tag.sh", tag], cwd=repo.root, env=git_environment(),
        capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="tags are signed with ssh-keygen")
def test_only_a_tag_that_a_known_key_signed_is_released(signed: GitRepo, tmp_path: Path) -> None:
    signed.git("tag", "-s", "v1", "-m", "one")
    signed.git("tag", "-a", "unsigned", "-m", "two")
    signed.git("tag", "light")
    # The commit that adds a key cannot be released with that key.
    signed.git("tag", "-s", "too-early", "-m", "three", "HEAD~1")
    signed.git("-c", f"user.signingkey={tmp_path / 'theirs'}", "tag", "-s", "foreign", "-m", "four")
    good, said = verified(signed, "v1")
    assert good, said
    for tag, why in (
        ("unsigned", "no signature found"),
        ("light", "not an annotated tag"),
        ("too-early", "no key may sign"),
        ("foreign", "No principal matched"),
    ):
        good, said = verified(signed, tag)
        assert not good and why in said, (tag, said)
