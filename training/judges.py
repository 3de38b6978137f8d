"""Repositories that judge the ranking, by name: training never uses them."""

from __future__ import annotations

import re
from pathlib import Path

JUDGES = Path(__file__).with_name("JUDGES.txt")
_PREFIX = re.compile(
    r"^(golang-github-[^-]+-|golang-[a-z]+-|rust-|ruby-|php-|node-|haskell-|lua-|python3?-)|^lib(?=.*-java$)"
)


def judges() -> list[str]:
    """`owner/name` of every repository that judges."""
    lines = JUDGES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def is_judge(package: str) -> bool:
    """Whether a package has the name of a repository that judges."""
    plain = _PREFIX.sub("", package.lower()).removesuffix("-java")
    names = {_plain(name) for judge in judges() for name in (judge.split("/")[1], judge)}
    return _plain(plain) in names or _plain(package) in names


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().removesuffix(".js").removesuffix(".nvim"))
