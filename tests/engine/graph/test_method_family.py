"""`references` of a method: the methods that override it, or that it overrides, are one with it."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

FAMILIES: dict[str, tuple[str, str, set[int], set[int]]] = {
    "python": (
        "a.py",
        "class Base:\n    def save(self):\n        pass\n\n\nclass Sub(Base):\n"
        "    def save(self):\n        pass\n\n\nclass Other(Base):\n    def save(self):\n"
        "        pass\n\n\nclass Apart:\n    def save(self):\n        pass\n\n\n"
        "def go(base: Base, sub: Sub, other: Other, apart: Apart):\n    base.save()\n"
        "    sub.save()\n    other.save()\n    apart.save()\n",
        {2, 7, 12},
        {22, 23, 24},
    ),
    "typescript": (
        "a.ts",
        "interface Saver {\n  save(): void\n}\nclass Base implements Saver {\n  save() {}\n}\n"
        "class Sub extends Base {\n  save() {}\n}\nclass Apart {\n  save() {}\n}\n"
        "function go(s: Saver, b: Base, d: Sub, a: Apart) {\n  s.save();\n  b.save();\n"
        "  d.save();\n  a.save();\n}\n",
        {2, 5, 8},
        {14, 15, 16},
    ),
    "javascript": (
        "a.js",
        "class Base {\n  save() {}\n}\nclass Sub extends Base {\n  save() {}\n}\n"
        "class Apart {\n  save() {}\n}\nfunction go() {\n  new Base().save();\n"
        "  new Sub().save();\n  new Apart().save();\n}\n",
        {2, 5},
        {11, 12},
    ),
    "java": (
        "A.java",
        "interface Saver {\n  void save(int n);\n}\nclass Base<T> implements Saver {\n"
        "  public void save(int n) {}\n  public void save(T item) {}\n}\n"
        "class Sub extends Base<String> {\n  @Override public void save(int n) {}\n"
        "  @Override public void save(String item) {}\n}\nclass Apart extends Base<String> {\n"
        "  static void save(int a, int b) {}\n}\nclass Use {\n"
        "  void go(Saver s, Base<String> b, Sub d) {\n    s.save(1);\n    b.save(2);\n"
        '    d.save(3);\n    d.save("x");\n    b.save("y");\n  }\n}\n',
        {2, 5, 9},
        {17, 18, 19},
    ),
    "kotlin": (
        "a.kt",
        "interface Saver {\n  fun save(n: Int)\n}\nopen class Base : Saver {\n"
        "  override fun save(n: Int) {}\n  fun save(n: String) {}\n}\nclass Sub : Base() {\n"
        "  override fun save(n: Int) {}\n}\nclass Apart { fun save(n: Int) {} }\n"
        "fun go(s: Saver, b: Base, d: Sub, a: Apart) {\n  s.save(1)\n  b.save(2)\n  d.save(3)\n"
        "  a.save(4)\n}\n",
        {2, 5, 9},
        {13, 14, 15},
    ),
    "csharp": (
        "A.cs",
        "interface ISaver {\n  void Save(int n);\n}\nclass Base : ISaver {\n"
        "  public virtual void Save(int n) {}\n}\nclass Sub : Base {\n"
        "  public override void Save(int n) {}\n}\nclass Hiding : Base {\n"
        "  public new void Save(int n) {}\n}\nclass Use {\n"
        "  void Go(ISaver s, Base b, Sub d, Hiding h) {\n    s.Save(1);\n    b.Save(2);\n"
        "    d.Save(3);\n    h.Save(4);\n  }\n}\n",
        {2, 5, 8},
        {15, 16, 17},
    ),
    "cpp": (
        "a.cpp",
        "class Base {\n public:\n  virtual void save(int n);\n  void stay(int n);\n};\n"
        "class Sub : public Base {\n public:\n  void save(int n) override;\n"
        "  void save(int a, int b);\n  void stay(int n);\n};\nvoid Base::save(int n) {}\n"
        "void Sub::save(int n) {}\nvoid go(Base* b, Sub* d) {\n  b->save(1);\n  d->save(2);\n"
        "  b->stay(3);\n  d->stay(4);\n}\n",
        {3, 8, 12, 13},
        {15, 16},
    ),
    "php": (
        "a.php",
        "<?php\ninterface Saver {\n  function save();\n}\nclass Base implements Saver {\n"
        "  function save() {}\n  private function own() {}\n}\nclass Sub extends Base {\n"
        "  function save() {}\n  function own() {}\n}\nclass Apart { function save() {} }\n"
        "function go(Saver $s, Base $b, Sub $d, Apart $a) {\n  $s->save();\n  $b->save();\n"
        "  $d->save();\n  $a->save();\n}\n",
        {3, 6, 10},
        {15, 16, 17},
    ),
    "ruby": (
        "a.rb",
        "class Base\n  def save\n  end\nend\n\nclass Sub < Base\n  def save\n  end\nend\n\n"
        "class Apart\n  def save\n  end\nend\n\ndef go\n  Base.new.save\n  Sub.new.save\n"
        "  Apart.new.save\nend\n",
        {2, 7},
        {17, 18},
    ),
    "rust": (
        "a.rs",
        "trait Saver {\n    fn save(&self);\n}\nstruct A;\nstruct B;\nimpl Saver for A {\n"
        "    fn save(&self) {}\n}\nimpl Saver for B {\n    fn save(&self) {}\n}\n"
        "struct Apart;\nimpl Apart {\n    fn save(&self) {}\n}\n"
        "fn go(s: &dyn Saver, a: A, b: B, c: Apart) {\n    s.save();\n    a.save();\n"
        "    b.save();\n    c.save();\n}\n",
        {2, 7, 10},
        {17, 18, 19},
    ),
    "go": (
        "a.go",
        "package a\n\ntype Saver interface {\n\tSave(n int)\n}\n\ntype A struct{}\n\n"
        "func (A) Save(n int) {}\n\ntype B struct{}\n\nfunc (B) Save(n int) {}\n\n"
        "type Apart struct{}\n\nfunc (Apart) Save() {}\n\n"
        "func go_(s Saver, a A, b B, c Apart) {\n\ts.Save(1)\n\ta.Save(2)\n\tb.Save(3)\n"
        "\tc.Save()\n}\n",
        {4, 9, 13},
        {20, 21, 22},
    ),
}
"""For each language: file, text, the lines of the methods of one family, and of their calls."""


UNNAMED = {
    "java": (
        "A.java",
        "abstract class Base<T> {\n  abstract void save(T item);\n  void save(T a, T b) {}\n}\n"
        "class Use {\n  static final Base<String> S = new Base<String>() {\n"
        "    @Override void save(String item) {}\n  };\n  Base<Integer> make() {\n"
        "    return new Base<Integer>() {\n      @Override void save(Integer item) {}\n"
        '    };\n  }\n  void go(Base<String> b) {\n    b.save("a");\n  }\n}\n',
        {2, 7, 11},
        {15},
    ),
    "kotlin": (
        "a.kt",
        "abstract class Base {\n  abstract fun save(n: Int)\n}\nval made = object : Base() {\n"
        "  override fun save(n: Int) {}\n}\nfun go(b: Base) {\n  b.save(1)\n}\n",
        {2, 5},
        {8},
    ),
    "php": (
        "a.php",
        "<?php\nabstract class Base {\n  abstract function save();\n}\nfunction make() {\n"
        "  return new class extends Base {\n    function save() {}\n  };\n}\n"
        "function go(Base $b) {\n  $b->save();\n}\n",
        {3, 7},
        {11},
    ),
    "typescript": (
        "a.ts",
        "export class Base {\n  save() {}\n}\nexport function mixed() {\n"
        "  return class extends Base {\n    save() {}\n  };\n}\n"
        "export function go(b: Base) {\n  b.save();\n}\n",
        {2, 6},
        {10},
    ),
}
"""As `FAMILIES`, with classes that have no name."""


@pytest.fixture
def committed() -> dict[str, str]:
    return {}


@pytest.mark.parametrize(
    ("language", "families"),
    [*((language, FAMILIES) for language in sorted(FAMILIES)),
     *((language, UNNAMED) for language in sorted(UNNAMED))],
)  # fmt: skip
def test_each_method_of_a_family_lists_the_methods_and_calls_of_all(
    repo: GitRepo, run: Run, language: str, families: dict[str, tuple[str, str, set[int], set[int]]]
) -> None:
    path, text, methods, calls = families[language]
    repo.commit("family", {path: text})
    for line in methods:
        answer = run("references", f"{path}:{line}", "--json").json
        places = {place["start_line"] for place in answer["places"]}
        certain = {row["line"] for row in answer["results"] if row["certain"]}
        assert certain | methods & places == calls | methods, line
        assert answer["certain"] == len(certain)
        assert answer["in_family"] == sum(row.get("basis") == "family" for row in answer["results"])
        possible = [row["line"] for row in answer["results"] if not row["certain"]]
        assert not set(possible) & (calls | methods)


@pytest.mark.parametrize(
    ("language", "line", "lines"),
    [
        ("java", 6, {10, 20, 21}),
        ("java", 13, set[int]()),
        ("csharp", 11, {18}),
        ("cpp", 4, {17}),
        ("cpp", 9, set[int]()),
        ("php", 7, set[int]()),
        ("kotlin", 6, set[int]()),
    ],
)
def test_a_hiding_method_and_another_overload_are_not_of_the_family(
    repo: GitRepo, run: Run, language: str, line: int, lines: set[int]
) -> None:
    path, text, _, _ = FAMILIES[language]
    repo.commit("family", {path: text})
    answer = run("references", f"{path}:{line}", "--json").json
    assert {row["line"] for row in answer["results"] if row["certain"]} == lines


def test_the_text_names_the_method_that_a_line_means(repo: GitRepo, run: Run) -> None:
    path, text, _, _ = FAMILIES["python"]
    repo.commit("family", {path: text, "tests/test_a.py": "from a import Sub\n\nSub().save()\n"})
    ran = run("references", "Sub.save")
    assert "5 lines certainly use it" not in ran.out
    assert "overridden by it or overriding it" in ran.out
    assert "save(self):  (override)  (a.py#Base.save, which is overridden by it)" in ran.out
    assert "(a.py#Other.save, which overrides the same method)" in ran.out


def test_a_class_without_a_name_in_a_file_that_calls_nothing_is_found(
    repo: GitRepo, run: Run
) -> None:
    made = (
        "class Make {\n  Base<Integer> make() {\n    return new Base<>() {\n"
        "      @Override void save(Integer item) {}\n    };\n  }\n}\n"
    )
    path, text, _, _ = UNNAMED["java"]
    repo.commit("apart", {path: text, "Make.java": made})
    answer = run("references", f"{path}:2", "--json").json
    assert ("Make.java", 4) in {(row["path"], row["line"]) for row in answer["results"]}


FIELDS: dict[str, tuple[str, str, list[int], list[int]]] = {
    "python": (
        "a.py",
        "class Base:\n    def __init__(self):\n        self.size = 1\n\n\nclass Sub(Base):\n"
        "    def reset(self):\n        self.size = 0\n\n\nclass Apart:\n    size = 1\n\n\n"
        "def go(base: Base, sub: Sub, apart: Apart):\n    base.size = 1\n    sub.size = 2\n"
        "    apart.size = 3\n",
        [3, 8],
        [3, 8, 16, 17],
    ),
    "typescript": (
        "a.ts",
        "interface Sized {\n  size: number\n}\nclass Base implements Sized {\n  size = 1;\n}\n"
        "class Sub extends Base {\n  size = 2;\n}\nclass Apart {\n  size = 3;\n}\n"
        "function go(s: Sized, b: Base, d: Sub, a: Apart) {\n  s.size = 1;\n  b.size = 1;\n"
        "  d.size = 1;\n  a.size = 1;\n}\n",
        [2, 5, 8],
        [2, 5, 8, 14, 15, 16],
    ),
    "php": (
        "a.php",
        "<?php\nclass Base {\n  protected $size = 1;\n}\nclass Sub extends Base {\n"
        "  protected $size = 2;\n}\nfunction go(Base $b, Sub $d) {\n  $b->size = 1;\n"
        "  $d->size = 2;\n}\n",
        [3, 6],
        [3, 6, 9, 10],
    ),
    "ruby": (
        "a.rb",
        "class Base\n  def initialize\n    @size = 1\n  end\nend\nclass Sub < Base\n  def reset\n"
        "    @size = 2\n    @size\n  end\nend\nclass Apart\n  def set\n    @size = 2\n  end\nend\n",
        [3, 8],
        [3, 8, 9],
    ),
}
HIDDEN = {
    "java": "class Base {\n  int size = 1;\n}\nclass Sub extends Base {\n  int size = 2;\n}\n",
    "php": "<?php class Base {\n  private $size = 1;\n}\nclass Sub extends Base {\n"
    "  private $size = 2;\n}\n",
    "py": "class Base:\n    __size = 1\n\n\nclass Sub(Base):\n    __size = 2\n",
}  # fmt: skip


@pytest.mark.parametrize("language", FIELDS)
def test_a_field_that_a_subclass_sets_is_one_with_the_inherited_one(
    repo: GitRepo, run: Run, language: str
) -> None:
    path, text, definitions, lines = FIELDS[language]
    repo.commit("family", {path: text})
    for line in definitions:
        answer = run("references", f"{path}:{line}", "--json").json
        certain = {row["line"] for row in answer["results"] if row["certain"]}
        assert sorted(certain | {line}) == lines


@pytest.mark.parametrize("extension", HIDDEN)
def test_a_field_that_hides_an_inherited_one_is_another(
    repo: GitRepo, run: Run, extension: str
) -> None:
    repo.commit("family", {f"a.{extension}": HIDDEN[extension]})
    for line in (2, 5 + (extension == "py")):
        assert not run("references", f"a.{extension}:{line}", "--json").json["results"]
