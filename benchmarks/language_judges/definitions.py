"""Definitions of one repository's files in one language, by ctags and by codelens."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from codelens.extract.facts import facts_of
from codelens.extract.file_kinds import classify
from codelens.extract.language_detection import language_of
from codelens.types import Symbol
from language_judges.plan import Plan

_LARGEST = 1_000_000
_ANONYMOUS = re.compile(r"__anon|[Aa]nonymous[A-Za-z]*[0-9a-f]{6,}|$")
_BLANKS_OF_OPERATORS = re.compile(r"\s+(?=\W)|(?<=\W)\s+")
_ARGUMENTS = re.compile(r"(?<=\w)\s*<.*>$")
_SEPARATORS = re.compile(r"::|[.:#\\]")
_SYMBOLIC = re.compile(r"\W+")


class Tag(NamedTuple):
    """One definition, as reported by ctags."""

    path: str
    name: str
    line: int
    kind: str
    counts: bool
    """Whether recall is measured for its kind."""


class Text(NamedTuple):
    """One file."""

    path: str
    data: bytes


def git_files(repository: Path) -> list[str]:
    """Paths of the files that git tracks, except names that are not UTF-8."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, capture_output=True, check=True
    ).stdout
    return [
        name
        for name in listed.decode("utf-8", "replace").split("\0")
        if name and "\ufffd" not in name and "\n" not in name
    ]


def texts(repository: Path, plan: Plan, limit: int) -> list[Text]:
    """Files that codelens reads as the language, at most about `limit` bytes, picked by hash."""
    skipped = re.compile(plan.skipped) if plan.skipped else None
    found: list[Text] = []
    size = 0
    for name in sorted(git_files(repository), key=_shuffled):
        path = repository / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        if skipped and skipped.search(name):
            continue
        data = path.read_bytes()
        if language_of(name.encode(), data) != plan.language:
            continue
        if classify(data)[0] != "parsed":
            continue
        found.append(Text(name, data))
        size += len(data)
        if size >= limit:
            break
    return sorted(found)


def _shuffled(name: str) -> bytes:
    return hashlib.md5(name.encode(), usedforsecurity=False).digest()


def codelens_symbols(text: Text, language: str) -> tuple[str, tuple[Symbol, ...]]:
    """Outcome and definitions of one file, as extracted by codelens."""
    facts = facts_of(text.data, language)
    return facts.outcome, facts.structure.symbols


def ctags_command(plan: Plan) -> list[str]:
    return [
        "ctags", "--options=NONE", "--output-format=json", "--fields=+nKezlS", "--sort=no",
        f"--language-force={plan.ctags}", "-f", "-", "-L", "-",
    ]  # fmt: skip


def ctags_definitions(repository: Path, plan: Plan, files: list[Text]) -> list[Tag]:
    """All named definitions that ctags finds in the files."""
    command = ctags_command(plan)
    command.insert(2, f"--kinds-{plan.ctags}=*")
    done = subprocess.run(
        command, cwd=repository, input="\n".join(one.path for one in files).encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    return [
        tag
        for line in done.stdout.decode("utf-8", "replace").splitlines()
        if (tag := _tag(json.loads(line), plan)) is not None
    ]


def _tag(known: dict, plan: Plan) -> Tag | None:
    if known["_type"] != "tag" or _ANONYMOUS.match(known["name"]):
        return None
    if "name" not in known or "line" not in known:
        return None
    counts = known["kind"] in plan.kinds and known.get("language") == plan.ctags
    if plan.top_only and known.get("scope"):
        counts = False
    return Tag(known["path"], known["name"], known["line"], known["kind"], counts)


def bare(name: str) -> str:
    """A name's last part, without quotes, blanks around operators and type arguments."""
    name = _BLANKS_OF_OPERATORS.sub("", name.strip())
    if len(name) > 1 and name[0] in "\"'`" and name[-1] == name[0]:
        name = name[1:-1]
    if name.startswith("(") and name.endswith(")"):
        name = name[1:-1]
    if _SYMBOLIC.fullmatch(name):
        return name
    if name.startswith("operator"):
        # codelens names `operator bool` as `operator_bool`.
        return name.replace(" ", "_")
    if "operator" not in name:
        name = _ARGUMENTS.sub("", name)
    elif "::operator" in name:
        return name[name.index("::operator") + 2 :]
    parts = [part for part in _SEPARATORS.split(name) if part]
    return parts[-1] if parts else name
