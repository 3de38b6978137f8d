"""Collisions of meaning: seeded pairs of branches with clean twins, and real clean merges.

    python benchmarks/seededconflicts.py seeded
    python benchmarks/seededconflicts.py merges REPOSITORY... [--merges 30]

`seeded` counts the seeded collisions that are found, and the false alarms on their clean twins.
`merges` asks about real merges that git did without a conflict, from one parent's side, and lists
every alarm of meaning for review.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.engine import Engine

MEANING = {
    "removed and used", "renamed and used", "moved and used", "signature and called",
    "default and called", "value and read", "abstract and derived", "overrides", "defined twice",
}  # fmt: skip


class Language(NamedTuple):
    """Files of a small program, and the texts that rules insert into them."""

    lib: str
    """Path of the changed file."""
    user: str
    """Path of the file that gains a use of it."""
    base: str
    """Text of `lib`: `size(one)`, `LIMIT`, a type `Shape` with a method `area`."""
    other: str
    """Text of `user`."""
    size: str
    """The definition of `size` in `base`."""
    caller: str
    """Appended to `user`: calls `size` with one argument."""
    reader: str
    """Appended to `user`: reads LIMIT."""
    two: tuple[str, str]
    """`size` with one parameter, and with two."""
    limit: tuple[str, str]
    """The old and the new value."""
    abstract: tuple[str, str]
    """Text in `base`, and its replacement that requires a second method of every Shape."""
    subtype: str
    """Appended to `user`: a Shape without that method."""
    whole_subtype: str
    """The same, with that method."""
    plain: str = ""
    """Appended to `user`: uses nothing from `lib`."""
    concrete: str = ""
    """Replaces the addition of `abstract`: the same method with a body."""
    default: tuple[str, str] = ("", "")
    """Parameters of `size` with a default, and with a different default."""
    away: tuple[str, str, str] = ("", "", "")
    """A file to which `size` moves, out of reach of its users; the text before and after it."""
    near: tuple[str, str, str] = ("", "", "")
    """The same, within reach of its users."""
    fresh: str = ""
    """A definition that both files may add."""
    fresh_clashes: bool = False
    """Whether both files must not add it."""


PYTHON = Language(
    "lib.py", "use.py",
    """from abc import ABC, abstractmethod

LIMIT = 10


def size(one):
    return len(one) + 1


class Shape(ABC):
    @abstractmethod
    def area(self):
        ...
""",
    "from lib import LIMIT, Shape, size\n\n\ndef start():\n    return 0\n",
    "def size(one):\n    return len(one) + 1\n",
    "\n\ndef added():\n    return size('a')\n",
    "\n\ndef added():\n    return LIMIT * 2\n",
    ("def size(one):", "def size(one, two):"), ("LIMIT = 10", "LIMIT = 20"),
    ("    def area(self):\n        ...\n",
     "    def area(self):\n        ...\n\n    @abstractmethod\n    def edge(self):\n        ...\n"),
    "\n\nclass Box(Shape):\n    def area(self):\n        return 1\n",
    "\n\nclass Box(Shape):\n    def area(self):\n        return 1\n\n    def edge(self):\n"
    "        return 2\n",
    "\n\ndef added():\n    return 7\n",
    '    def edge(self):\n        return 3\n',
    ('size(one, two=1)', 'size(one, two=2)'),
    away=("more.py", "", ""),
    fresh="\n\ndef fresh(value):\n    return [value, 3]\n",
)  # fmt: skip
TYPESCRIPT = Language(
    "lib.ts", "use.ts",
    """export const LIMIT = 10;

export function size(one: string): number {
  return one.length + 1;
}

export interface Shape {
  area(): number;
}
""",
    'import { LIMIT, Shape, size } from "./lib";\n\nexport function start(): number {\n'
    "  return 0;\n}\n",
    "export function size(one: string): number {\n  return one.length + 1;\n}\n",
    '\nexport function added(): number {\n  return size("a");\n}\n',
    "\nexport function added(): number {\n  return LIMIT * 2;\n}\n",
    ("size(one: string)", "size(one: string, two: string)"), ("LIMIT = 10", "LIMIT = 20"),
    ("  area(): number;\n", "  area(): number;\n  edge(): number;\n"),
    "\nexport class Box implements Shape {\n  area(): number {\n    return 1;\n  }\n}\n",
    "\nexport class Box implements Shape {\n  area(): number {\n    return 1;\n  }\n\n"
    "  edge(): number {\n    return 2;\n  }\n}\n",
    "\nexport function added(): number {\n  return 7;\n}\n",
    '',
    ('size(one: string, two = 1)', 'size(one: string, two = 2)'),
    away=("more.ts", "", ""),
    fresh="\nexport function fresh(value: string): string {\n  return value.trim();\n}\n",
)  # fmt: skip
JAVA = Language(
    "app/Lib.java", "app/Use.java",
    """package app;

public abstract class Lib {
  static final int LIMIT = 10;

  static int size(String one) {
    return one.length() + 1;
  }

  abstract int area();
}
""",
    "package app;\n\nclass Use {\n  int start() {\n    return 0;\n  }\n}\n",
    "  static int size(String one) {\n    return one.length() + 1;\n  }\n",
    '\nclass Added {\n  int added() {\n    return Lib.size("a");\n  }\n}\n',
    "\nclass Added {\n  int added() {\n    return Lib.LIMIT * 2;\n  }\n}\n",
    ("size(String one)", "size(String one, String two)"), ("LIMIT = 10", "LIMIT = 20"),
    ("  abstract int area();\n", "  abstract int area();\n\n  abstract int edge();\n"),
    "\nclass Box extends Lib {\n  int area() {\n    return 1;\n  }\n}\n",
    "\nclass Box extends Lib {\n  int area() {\n    return 1;\n  }\n\n  int edge() {\n"
    "    return 2;\n  }\n}\n",
    "\nclass Added {\n  int added() {\n    return 7;\n  }\n}\n",
    '  int edge() {\n    return 3;\n  }\n',
    ('', ''),
    away=("app/More.java", "package app;\n\nclass More {\n", "}\n"),
    fresh="\nclass Fresh {\n  int count() {\n    return 3;\n  }\n}\n", fresh_clashes=True,
)  # fmt: skip
CSHARP = Language(
    "Lib.cs", "Use.cs",
    """namespace App {
  public abstract class Lib {
    public const int LIMIT = 10;

    public static int size(string one) {
      return one.Length + 1;
    }

    public abstract int area();
  }
}
""",
    "namespace App {\n  class Use {\n    int start() {\n      return 0;\n    }\n  }\n}\n",
    "    public static int size(string one) {\n      return one.Length + 1;\n    }\n",
    '\nnamespace App {\n  class Added {\n    int added() {\n      return Lib.size("a");\n    }\n'
    "  }\n}\n",
    "\nnamespace App {\n  class Added {\n    int added() {\n      return Lib.LIMIT * 2;\n    }\n"
    "  }\n}\n",
    ("size(string one)", "size(string one, string two)"), ("LIMIT = 10", "LIMIT = 20"),
    ("    public abstract int area();\n",
     "    public abstract int area();\n\n    public abstract int edge();\n"),
    "\nnamespace App {\n  class Box : Lib {\n    public override int area() {\n      return 1;\n"
    "    }\n  }\n}\n",
    "\nnamespace App {\n  class Box : Lib {\n    public override int area() {\n      return 1;\n"
    "    }\n\n    public override int edge() {\n      return 2;\n    }\n  }\n}\n",
    "\nnamespace App {\n  class Added {\n    int added() {\n      return 7;\n    }\n  }\n}\n",
    '    public virtual int edge() {\n      return 3;\n    }\n',
    ('size(string one, int two = 1)', 'size(string one, int two = 2)'),
    away=("More.cs", "namespace App {\n  class More {\n", "  }\n}\n"),
    fresh="\nnamespace App {\n  class Fresh {\n    int count() {\n      return 3;\n    }\n  }\n}\n",
    fresh_clashes=True,
)  # fmt: skip
GO = Language(
    "lib.go", "use.go",
    """package app

const LIMIT = 10

func size(one string) int {
	return len(one) + 1
}

type Shape interface {
	area() int
}
""",
    "package app\n\nfunc start() int {\n\treturn 0\n}\n",
    "func size(one string) int {\n\treturn len(one) + 1\n}\n",
    '\nfunc added() int {\n\treturn size("a")\n}\n',
    "\nfunc added() int {\n\treturn LIMIT * 2\n}\n",
    ("size(one string)", "size(one string, two string)"), ("LIMIT = 10", "LIMIT = 20"),
    ("", ""), "", "",
    "\nfunc added() int {\n\treturn 7\n}\n",
    away=("more/more.go", "package more\n\n", ""), near=("more.go", "package app\n\n", ""),
    fresh="\nfunc fresh(value string) string {\n\treturn value + value\n}\n", fresh_clashes=True,
)  # fmt: skip
RUST = Language(
    "src/lib.rs", "src/using.rs",
    """pub mod using;

pub const LIMIT: usize = 10;

pub fn size(one: &str) -> usize {
    one.len() + 1
}

pub trait Shape {
    fn area(&self) -> usize;
}
""",
    "use crate::{size, Shape, LIMIT};\n\npub fn start() -> usize {\n    0\n}\n",
    "pub fn size(one: &str) -> usize {\n    one.len() + 1\n}\n",
    '\npub fn added() -> usize {\n    size("a")\n}\n',
    "\npub fn added() -> usize {\n    LIMIT * 2\n}\n",
    ("size(one: &str)", "size(one: &str, two: &str)"), ("= 10;", "= 20;"),
    ("    fn area(&self) -> usize;\n",
     "    fn area(&self) -> usize;\n    fn edge(&self) -> usize;\n"),
    "\npub struct Box1;\n\nimpl Shape for Box1 {\n    fn area(&self) -> usize {\n        1\n    }\n"
    "}\n",
    "\npub struct Box1;\n\nimpl Shape for Box1 {\n    fn area(&self) -> usize {\n        1\n    }\n"
    "    fn edge(&self) -> usize {\n        2\n    }\n}\n",
    "\npub fn added() -> usize {\n    7\n}\n",
    '    fn edge(&self) -> usize {\n        3\n    }\n',
    ('', ''),
    away=("src/more.rs", "", ""),
    fresh="\npub fn fresh(value: &str) -> usize {\n    value.len() * 3\n}\n",
)  # fmt: skip
C = Language(
    "lib.c", "use.c",
    """#include "lib.h"

int limit = 10;

int size(const char *one)
{
    return one[0] + 1;
}
""",
    '#include "lib.h"\n\nint start(void)\n{\n    return 0;\n}\n',
    "int size(const char *one)\n{\n    return one[0] + 1;\n}\n",
    '\nint added(void)\n{\n    return size("a");\n}\n',
    "\nint added(void)\n{\n    return limit * 2;\n}\n",
    ("size(const char *one)", "size(const char *one, int two)"), ("limit = 10", "limit = 20"),
    ("", ""), "", "",
    "\nint added(void)\n{\n    return 7;\n}\n",
    near=("more.c", '#include "lib.h"\n\n', ""),
    fresh="\nint fresh(const char *value)\n{\n    return value[0] * 3;\n}\n", fresh_clashes=True,
)  # fmt: skip
KOTLIN = Language(
    "app/Lib.kt", "app/Use.kt",
    """package app

const val LIMIT = 10

fun size(one: String): Int {
    return one.length + 1
}

interface Shape {
    fun area(): Int
}
""",
    "package app\n\nfun start(): Int {\n    return 0\n}\n",
    "fun size(one: String): Int {\n    return one.length + 1\n}\n",
    '\nfun added(): Int {\n    return size("a")\n}\n',
    "\nfun added(): Int {\n    return LIMIT * 2\n}\n",
    ("size(one: String)", "size(one: String, two: String)"), ("LIMIT = 10", "LIMIT = 20"),
    ("    fun area(): Int\n", "    fun area(): Int\n    fun edge(): Int\n"),
    "\nclass Box : Shape {\n    override fun area(): Int {\n        return 1\n    }\n}\n",
    "\nclass Box : Shape {\n    override fun area(): Int {\n        return 1\n    }\n\n"
    "    override fun edge(): Int {\n        return 2\n    }\n}\n",
    "\nfun added(): Int {\n    return 7\n}\n",
    '    fun edge(): Int {\n        return 3\n    }\n',
    ('size(one: String, two: Int = 1)', 'size(one: String, two: Int = 2)'),
    away=("app/more/More.kt", "package app.more\n\n", ""),
    near=("app/More.kt", "package app\n\n", ""),
    fresh="\nfun fresh(value: String): String {\n    return value + value\n}\n", fresh_clashes=True,
)  # fmt: skip
LANGUAGES = {
    "python": PYTHON, "typescript": TYPESCRIPT, "java": JAVA, "csharp": CSHARP, "go": GO,
    "rust": RUST, "c": C, "kotlin": KOTLIN,
}  # fmt: skip


class Case(NamedTuple):
    """How one side changes `lib`, what the other appends to `user`, and the rule, if any."""

    name: str
    lib: str
    user: str
    rule: str
    base: str = ""
    """Base text of `lib`, if it differs."""
    more: tuple[str, str] = ("", "")
    """Path and text of a file that changes together with `lib`."""


def cases(of: Language) -> list[Case]:
    base = of.base
    comment = base.replace(of.size, of.size.replace("+ 1", "+ 2"))
    found = [
        Case("removed", base.replace(of.size, ""), of.caller, "removed and used"),
        Case("removed, twin", base.replace(of.size, ""), of.plain, ""),
        Case("renamed", base.replace("size(", "measure("), of.caller, "renamed and used"),
        Case("renamed, twin", base.replace("size(", "measure("), of.plain, ""),
        Case("required", base.replace(*of.two), of.caller, "signature and called"),
        Case("required, twin", base.replace(*of.two), of.plain, ""),
        Case("body, twin", comment, of.caller, ""),
        Case("value", base.replace(*of.limit), of.reader, "value and read"),
        Case("value, twin", base.replace(*of.limit), of.plain, ""),
    ]
    if of.subtype:
        wanted = base.replace(*of.abstract)
        found += [
            Case("abstract", wanted, of.subtype, "abstract and derived"),
            Case("abstract, twin", wanted, of.whole_subtype, ""),
        ]
    if of.concrete:
        first = of.abstract[0]
        wanted = base.replace(first, f"{first}\n{of.concrete}")
        found += [
            Case("override", wanted, of.whole_subtype, "overrides"),
            Case("override, twin", wanted, of.subtype, ""),
        ]
    for rule, (path, before, behind) in (("moved and used", of.away), ("", of.near)):
        if path:
            moved = base.replace(of.size, "")
            more = path, before + of.size + behind
            found.append(Case("moved" if rule else "moved, in reach", moved, of.caller, rule,
                              more=more))  # fmt: skip
            found.append(Case("moved, twin", moved, of.plain, "", more=more))
    clash = "defined twice" if of.fresh_clashes else ""
    other = of.fresh.replace("fresh", "another").replace("Fresh", "Another")
    found += [
        Case("added twice", base + of.fresh, of.fresh, clash),
        Case("added twice, twin", base + of.fresh, other, ""),
    ]
    if of.default[0]:
        before = base.replace(of.two[0].removeprefix("def ").rstrip(":"), of.default[0])
        after = before.replace(*of.default)
        found += [
            Case("default", after, of.caller, "default and called", before),
            Case("default, twin", after, of.plain, "", before),
        ]
    return found


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=where, check=True, capture_output=True,
    ).stdout.decode("utf-8", "replace")  # fmt: skip


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def seeded(home: Path) -> None:
    counts: Counter[str] = Counter()
    for language, of in LANGUAGES.items():
        for case in cases(of):
            with tempfile.TemporaryDirectory() as folder, Engine(Settings(home=home)) as engine:
                reported = reported_rules(engine, Path(folder), of, case)
            for way, rules in reported.items():
                right = case.rule in rules if case.rule else not rules
                if case.rule:
                    counts["found" if case.rule in rules else "missed"] += 1
                    counts["false"] += len(rules - {case.rule})
                else:
                    counts["twins"] += 1
                    counts["false"] += len(rules)
                if not right:
                    print(f"{language} {case.name} ({way}): {sorted(rules) or 'nothing'} reported")
    found, missed, false = counts["found"], counts["missed"], counts["false"]
    recall, precision = found / (found + missed), found / (found + false)
    print(f"{len(LANGUAGES)} languages, {found + missed} collisions, {counts['twins']} twins:")
    print(f"recall {recall:.3f}, precision {precision:.3f}")


def header(text: str) -> str:
    """The header that other C files include."""
    found = re.findall(r"^(int \w+\(.*\))$", text, re.MULTILINE)
    return "extern int limit;\n" + "".join(f"{line};\n" for line in found)


def reported_rules(engine: Engine, root: Path, of: Language, case: Case) -> dict[str, set[str]]:
    here, there = root / "here", root / "there"
    here.mkdir()
    git(here, "init", "-q", "-b", "main")
    write(here, of.lib, case.base or of.base)
    write(here, of.user, of.other)
    if of.lib == "lib.c":
        write(here, "lib.h", header(of.base))
    git(here, "add", "-A")
    git(here, "commit", "-qm", "base")
    git(here, "worktree", "add", "-q", "-b", "other", str(there))
    write(here, of.lib, case.lib)
    if of.lib == "lib.c":
        write(here, "lib.h", header(case.lib))
    if case.more[0]:
        write(here, *case.more)
    write(there, of.user, of.other + case.user)
    found: dict[str, set[str]] = {}
    for way, where in (("mine", here), ("theirs", there)):
        answer = engine.conflicts(path=where)
        found[way] = {
            line.rule for rival in answer.results for line in rival.collisions
            if line.rule in MEANING
        }  # fmt: skip
    return found


def merges(repositories: list[Path], count: int, home: Path) -> None:
    asked = alarms = 0
    grades: Counter[str] = Counter()
    for where in repositories:
        text = git(where, "rev-list", "--merges", "--max-parents=2", "--parents", "HEAD")
        every = [line.split()[1:] for line in text.splitlines()]
        done = 0
        with tempfile.TemporaryDirectory() as folder, Engine(Settings(home=home)) as engine:
            tree = Path(folder) / "tree"
            git(where, "worktree", "add", "-q", "--detach", str(tree), every[0][0])
            for one, other in every[:: max(1, len(every) // (2 * count))]:
                if done == count:
                    break
                if subprocess.run(["git", "merge-tree", "--write-tree", one, other], cwd=where,
                                  capture_output=True).returncode:  # fmt: skip
                    continue
                git(tree, "checkout", "-q", "--detach", "-f", one)
                done += 1
                asked += 1
                for rival in engine.conflicts(path=tree, others=[other]).results:
                    for line in rival.collisions:
                        if line.rule in MEANING:
                            alarms += 1
                            grades[line.grade] += 1
                            pair = f"{where.name} {one[:8]} {other[:8]}"
                            places = f"{line.mine_site} | {line.theirs_site}"
                            print(f"{pair} {line.grade} {line.rule}: {line.message} [{places}]")
            git(where, "worktree", "remove", "--force", str(tree))
        print(f"{where.name}: {asked} clean merges so far, {alarms} alarms", flush=True)
    print(f"{asked} clean merges, {alarms} alarms: {dict(grades)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("seeded", "merges"))
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--merges", type=int, default=30)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        if args.what == "seeded":
            seeded(Path(home))
        else:
            merges(args.repositories, args.merges, Path(home))


if __name__ == "__main__":
    main()
