"""C and C++ with macros that break the syntax: definitions keep their own names."""

from __future__ import annotations

import pytest

from codelens.extract.facts import structure
from codelens.types import Symbol


def _symbols(text: str, language: str) -> list[Symbol]:
    return list(structure(text.encode(), language).symbols)


def _named(text: str, language: str) -> list[tuple[str, str]]:
    return [(one.kind, one.qualified) for one in _symbols(text, language)]


BOTH = [
    ("char* nonnull_ptr take(int* nonnull_ptr x);", [("function", "take")]),
    ("void printflike(1, 0)\nlog_it(const char *m) {\n  go();\n}", [("function", "log_it")]),
    ("fast_inline adjusted to_it(int x) {\n  return x;\n}", [("function", "to_it")]),
    ("UNUSED(static int one(const char *p)) {\n  return 1;\n}", [("function", "one")]),
    ("int load OF((int, char *));", [("function", "load")]),
    ("int PRIV(name)(int x) {\n  return x;\n}", [("function", "name")]),
    ("extern const int PRIV(table)[];", [("variable", "table")]),
    ("TEST_BEGIN(first) {\n  go();\n}\nTEST_END\n\nTEST_BEGIN(second) {\n  go();\n}\nTEST_END\n",
     [("function", "first"), ("function", "second")]),
]  # fmt: skip


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(("text", "expected"), BOTH)
def test_a_macro_is_not_a_name(text: str, expected: list[tuple[str, str]], language: str) -> None:
    assert _named(text, language) == expected


CPP = [
    ("void f() const LOCKS_NONE(guard()) { go(); }", "method", "f"),
    ("T* get() const NO_ANALYSIS { return x; }", "method", "get"),
    ("explicit Box(M* m) EXCLUSIVE(m) : m_(m) { m_->lock(); }", "method", "Box"),
    ("MOCK_METHOD(int, nullary, (), (override));", "method", "nullary"),
    ("MOCK_METHOD1(unary, int(int));", "method", "unary"),
    ("static atomic<T> shared LOCK_ORDER(a, b());", "field", "shared"),
]


@pytest.mark.parametrize(("text", "kind", "name"), CPP)
def test_a_member_between_macros_keeps_its_name(text: str, kind: str, name: str) -> None:
    found = _named(f"class Box {{\n public:\n  int before;\n  {text}\n  int after;\n}};\n", "cpp")
    assert found == [
        ("class", "Box"), ("field", "Box.before"), (kind, f"Box.{name}"), ("field", "Box.after"),
    ]  # fmt: skip


def test_a_macro_call_that_defines_nothing_is_not_a_definition() -> None:
    text = "class Box {\n public:\n  Box(int a);\n  NO_COPY(Box);\n};\nFLAG(bool, name, x);\n"
    assert _named(text, "cpp") == [("class", "Box"), ("method", "Box.Box")]


def test_the_constructor_of_a_class_in_capitals_is_one() -> None:
    assert _named("class PCRE {\n  PCRE(Arg);\n};\n", "cpp") == [
        ("class", "PCRE"), ("method", "PCRE.PCRE"),
    ]  # fmt: skip


def test_a_class_between_macro_and_attribute_keeps_its_members() -> None:
    text = "class API_ [[nodiscard]] Regex {\n public:\n  int size;\n};\n"
    assert _named(text, "cpp") == [("class", "Regex"), ("field", "Regex.size")]


def test_structs_made_of_macro_fields_end_where_they_end() -> None:
    text = "struct a_s {\n  HANDLE_FIELDS\n  MORE_FIELDS\n};\nstruct b_s {\n  int x;\n};\n"
    assert _named(text, "c") == [("struct", "a_s"), ("struct", "b_s"), ("field", "b_s.x")]


def test_names_of_operators_hold_no_blank() -> None:
    text = "struct A {\n  operator bool() const;\n  void *operator new(size_t n);\n};\n"
    assert [name for _, name in _named(text, "cpp")] == ["A", "A.operator_bool", "A.operator_new"]


SPLIT = """\
static int first(int a) {
  int local = 1;
#ifdef SSL
  if(a) {
    local = 2;
#else
  if(!a) {
#endif
    local = 3;
  }
#ifdef MORE
  if(b)
    go();
  else
#endif
    stay();
  return local;
}

int second(void) {
  return 2;
}
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_function_around_halves_of_blocks_ends_with_its_brace(language: str) -> None:
    spans = [(one.name, one.start_line, one.end_line) for one in _symbols(SPLIT, language)]
    assert spans == [("first", 1, 18), ("second", 20, 22)]


def test_calls_under_a_condition_stay_where_nothing_is_broken() -> None:
    text = "int f(int x) {\n  if (x) FAIL(x);\n  return 0;\n}\n"
    assert "FAIL" in {one.name for one in structure(text.encode(), "c").references}


FILLER = (
    "/* it's ; a { comment */\nstatic int filler_{n}(struct a *b)\n"
    '{{\n\tchar *s = "; {{ \'x";\n\treturn b->c + MACRO(s);\n}}\n\n'
)


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(("text", "expected"), BOTH)
def test_a_macro_is_found_wherever_it_stands_in_a_long_text(
    text: str, expected: list[tuple[str, str]], language: str
) -> None:
    fillers = [
        FILLER.replace("{n}", str(n)).replace("{{", "{").replace("}}", "}") for n in range(60)
    ]
    before, after = "".join(fillers[:30]), "".join(fillers[30:])
    named = _named(f"{before}{text}\n\n{after}", language)
    others = [("function", f"filler_{n}") for n in range(60)]
    assert named == [*others[:30], *expected, *others[30:]]
