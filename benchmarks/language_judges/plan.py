"""`languages.toml`: per language what ctags calls it, the kinds that count, and repositories."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
PLAN = HERE / "languages.toml"
JUDGED = HERE / "judged"
ROOT = Path("/tmp/langrepos")

FUNCTIONS = frozenset({"function", "method", "macro"})
TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum", "type", "module"})
_MODULES = {"namespace", "module", "package"}


class Repository(NamedTuple):
    name: str
    url: str
    commit: str


class Plan(NamedTuple):
    """What is compared in one language."""

    language: str
    ctags: str
    """ctags' name of the language; empty if it does not know it."""
    kinds: frozenset[str]
    """Kinds of ctags that count for recall: functions, classes, methods, types."""
    ours: frozenset[str]
    """Kinds of ours that count for precision."""
    top_only: bool
    """Of ctags' tags only those without a scope count (keys of data)."""
    skipped: str
    """Regex on a path: files left out, with their reason beside it in the plan."""
    not_names: str
    """Regex of what ctags takes for names (whole) and nobody would; its errors by rule."""
    repositories: tuple[Repository, ...]


def plans() -> dict[str, Plan]:
    """All languages of the plan by name."""
    with PLAN.open("rb") as file:
        return {name: _plan(name, table) for name, table in tomllib.load(file).items()}


def _plan(name: str, table: dict) -> Plan:
    kinds = frozenset(table.get("kinds", ()))
    ours = (FUNCTIONS | TYPES) - {"macro", "module"}
    if "macro" in kinds:
        ours |= {"macro"}
    if kinds & _MODULES:
        ours |= {"module"}
    return Plan(
        name,
        table.get("ctags", ""),
        kinds,
        frozenset(table.get("ours", ours)),
        table.get("top_only", False),
        table.get("skipped", ""),
        table.get("not_names", ""),
        tuple(Repository(**one) for one in table.get("repositories", ())),
    )


def folders(plan: Plan, given: list[str], root: Path) -> list[Path]:
    """The repositories given (folders, or names below `root`), else those of the plan.

    Raises:
        SystemExit: one is not there.
    """
    names = given or [one.name for one in plan.repositories]
    if not names:
        raise SystemExit(f"no repositories given, and none in {PLAN.name} for {plan.language}")
    found = [Path(one) if Path(one).is_dir() else root / one for one in names]
    missing = [str(one) for one in found if not one.is_dir()]
    if missing:
        raise SystemExit(f"not there: {', '.join(missing)}")
    return [one.resolve() for one in found]
