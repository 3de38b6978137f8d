"""`languages.toml`: for each language its ctags name, the kinds that count, and repositories."""

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
    """What to compare in one language."""

    language: str
    ctags: str
    """ctags' name of the language; empty if ctags does not support it."""
    kinds: frozenset[str]
    """ctags kinds that count for recall: functions, classes, methods, types."""
    codelens_kinds: frozenset[str]
    """codelens kinds that count for precision."""
    top_only: bool
    """Only ctags tags without a scope count (keys of data)."""
    skipped: str
    """Regex of paths to leave out; the plan gives the reasons next to it."""
    not_names: str
    """Regex of whole names that only ctags takes for names: its errors by rule."""
    repositories: tuple[Repository, ...]


def plans() -> dict[str, Plan]:
    """All languages of the plan by name."""
    with PLAN.open("rb") as file:
        return {name: _plan(name, table) for name, table in tomllib.load(file).items()}


def _plan(name: str, table: dict) -> Plan:
    kinds = frozenset(table.get("kinds", ()))
    codelens_kinds = (FUNCTIONS | TYPES) - {"macro", "module"}
    if "macro" in kinds:
        codelens_kinds |= {"macro"}
    if kinds & _MODULES:
        codelens_kinds |= {"module"}
    return Plan(
        name,
        table.get("ctags", ""),
        kinds,
        frozenset(table.get("ours", codelens_kinds)),
        table.get("top_only", False),
        table.get("skipped", ""),
        table.get("not_names", ""),
        tuple(Repository(**one) for one in table.get("repositories", ())),
    )


def folders(plan: Plan, given: list[str], root: Path) -> list[Path]:
    """The given repositories (folders, or names below `root`), or else those of the plan.

    Raises:
        SystemExit: a folder does not exist.
    """
    names = given or [one.name for one in plan.repositories]
    if not names:
        raise SystemExit(f"no repositories given, and none in {PLAN.name} for {plan.language}")
    found = [Path(one) if Path(one).is_dir() else root / one for one in names]
    missing = [str(one) for one in found if not one.is_dir()]
    if missing:
        raise SystemExit(f"not there: {', '.join(missing)}")
    return [one.resolve() for one in found]
