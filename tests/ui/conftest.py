"""One page for the read-only tests of a file; tests that change the files make their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from page_site import Site, site_of

FILES = {
    "shop/base.py": "class Item:\n    def price(self):\n        return 1\n",
    "shop/cart.py": "from shop.base import Item\n\n\ndef total():\n    # Everything.\n"
    '    return f"{Item().price()} EUR"\n',
    "shop/wide.py": 'from shop.cart import total\n\nSUM = "\U0001f600" + total()\n',
    "empty.py": "",
    "blob.bin": b"\x00\x01",
}


@pytest.fixture(scope="module", autouse=True)
def deaf_git() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("ui")
    repo = GitRepo.init(folder / "repo")
    repo.commit("first", FILES)
    with site_of(repo, folder / "home") as running:
        yield running


@pytest.fixture
def own_site(tmp_path: Path) -> Iterator[Site]:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", FILES)
    with site_of(repo, tmp_path / "home") as running:
        yield running
