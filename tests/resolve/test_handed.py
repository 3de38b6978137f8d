"""What callees pass to function arguments, in languages without types for it."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

TS = (
    "class T { go() { return 1; } }\ntype H = (t: T, n: number) => void;\n"
    "class B<X> { each(f: (x: X, i: number) => void) { return this; } on(h: H) {} }\n"
    "function run(f: (t: T) => void) {}\n"
    "interface I { ts: T[]; m: Map<string, T>; f(): Promise<T>; b: B<T> }\n"
)
JAVA = (
    "import java.util.*;\nimport java.util.function.*;\nclass T { int go() { return 1; } }\n"
    "class B { void run(Consumer<T> c) {}\n  void reg(H h) {}\n"
    "  interface H { void on(String s, T t); } }\n"
)
CSHARP = (
    "class T { public T Go() { return this; } }\ndelegate void H(T t);\n"
    "class B { public void Run(System.Action<T> f) {} public void On(H h) {} }\n"
)
KOTLIN = (
    "class T { fun go() {} }\nclass B<X> { fun each(f: (X) -> Unit) {}\n"
    "  fun indexed(f: (i: Int, x: X) -> Unit) {} }\nfun run(f: (T) -> Unit) {}\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "i.ts.map(q => q.go());",
        "i.ts.forEach(function (q) { q.go(); });",
        "i.ts.filter(q => true).some(q => q.go());",
        "i.ts.reduce((sum, q) => q.go(), 0);",
        "i.m.forEach((v, k) => v.go());",
        "i.f().then(r => r.go());",
        "i.b.each(q => q.go());",
        "i.b.each((q) => q.go());",
        "i.b.on(q => q.go());",
        "run(q => q.go());",
    ],
)
def test_in_typescript(body: str) -> None:
    assert "a.ts:x -> T.go" in edges_of({"a.ts": f"{TS}function x(i: I) {{ {body} }}\n"})


@pytest.mark.parametrize(
    "body",
    [
        "l.forEach(q -> q.go());",
        "l.stream().filter(q -> q.go() > 1);",
        "l.forEach((q) -> { q.go(); });",
        "m.forEach((k, v) -> v.go());",
        "m.entrySet().forEach(e -> e.getValue().go());",
        'm.computeIfPresent("a", (k, v) -> { v.go(); return v; });',
        "b.run(q -> q.go());",
        "b.reg((s, q) -> q.go());",
    ],
)
def test_in_java(body: str) -> None:
    main = f"class M {{ void x(List<T> l, Map<String, T> m, B b) {{ {body} }} }}\n"
    assert "A.java:M.x -> T.go" in edges_of({"A.java": JAVA + main})


@pytest.mark.parametrize(
    "body",
    [
        "ts.Select(q => q.Go());",
        "ts.Where((q) => q.Go() != null);",
        "b.Run(q => q.Go());",
        "b.On(q => q.Go());",
    ],
)
def test_in_csharp(body: str) -> None:
    main = f"class M {{ void X(List<T> ts, B b) {{ {body} }} }}\n"
    assert "a.cs:M.X -> T.Go" in edges_of({"a.cs": CSHARP + main})


@pytest.mark.parametrize(
    "body",
    [
        "ts.forEach { it.go() }",
        "ts.map { q -> q.go() }",
        "ts.forEachIndexed { i, q -> q.go() }",
        "t?.let { it.go() }",
        "m.values.forEach { it.go() }",
        "m.forEach { it.value.go() }",
        "b.each { it.go() }",
        "b.indexed { i, q -> q.go() }",
        "run { it.go() }",
    ],
)
def test_in_kotlin(body: str) -> None:
    main = f"fun x(ts: List<T>, t: T?, m: Map<String, T>, b: B<T>) {{\n  {body}\n}}\n"
    assert "a.kt:x -> T.go" in edges_of({"a.kt": KOTLIN + main})


def test_mapped_values_are_not_elements() -> None:
    text = f"{TS}function x(i: I) {{ i.ts.map(q => 1).forEach(q => q.go()); }}\n"
    assert "a.ts:x -> T.go" not in edges_of({"a.ts": text})


def test_functions_that_take_each_other_end() -> None:
    text = (
        "const a = b(x => x.y.z());\nconst b = a(y => y.go());\n"
        "function f(g: typeof f) { f(h => h()); }\n"
    )
    assert edges_of({"a.ts": text}) == ["a.ts:a -> b", "a.ts:b -> a", "a.ts:f -> f"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.php",
            "<?php\nenum E: int {{ case A = 1; function go() {{}} }}\nfunction x($v) {{ {} }}\n",
        ),
        ("a.kt", "enum class E {{ A; fun go() {{}} }}\nfun x() {{ {} }}\n"),
    ],
)
def test_members_of_every_enum(name: str, text: str) -> None:
    bodies = {
        "a.php": ["E::from($v)->go();", "foreach (E::cases() as $e) { $e->go(); }"],
        "a.kt": ['E.valueOf("A").go()', "E.values().forEach { it.go() }"],
    }
    for body in bodies[name]:
        assert edges_of({name: text.format(body)}) == [f"{name}:x -> E.go"], body


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.ts", "class T {{ go(a) {{}} }}\n{0}\nfunction x(t: T) {{ f({1}q => t.go(q.b())); }}\n"),
        ("a.js", "class T {{ go(a) {{}} }}\n{0}\n"
                 "function x() {{ const t = new T(); f({1}q => t.go(q.b())); }}\n"),
        ("a.kt", "class T {{ fun go(a: Any) {{}} }}\n{0}\n"
                 "fun x(t: T) {{ f({1}{{ q -> t.go(q.b()) }}) }}\n"),
        ("A.java", "class T {{ void go(Object a) {{}}\n{0}\n"
                   "  void x(T t) {{ f({1}q -> t.go(q.b())); }} }}\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", range(12))
def test_a_function_handed_to_one_with_fewer_parameters(path: str, text: str, count: int) -> None:
    taker = {"kt": "fun f() {}", "va": "static void f() {}"}.get(path[-2:], "function f() {}")
    caller = "T.x" if path == "A.java" else "x"
    assert f"{path}:{caller} -> T.go" in edges_of({path: text.format(taker, "1, " * count)})


def test_only_the_matching_parameter_types_a_function_argument() -> None:
    text = (
        "class T { go() {} }\nfunction f(a, b, c, d, e, g, h, i, j: (t: T) => void) {}\n"
        "function last(a, j: (t: T) => void) {}\n"
        f"function x() {{ f({'1, ' * 8}q => q.go()); }}\n"
        f"function y() {{ last({'1, ' * 8}q => q.go()); }}\n"
    )
    assert "a.ts:y -> T.go" not in edges_of({"a.ts": text})


def test_a_ninth_argument_is_not_the_one_behind_the_brackets() -> None:
    text = (
        "class T {{ fun go() {{}} }}\nclass U {{ fun go() {{}} }}\n"
        "fun f(a: Int, b: Int, c: Int, d: Int, e: Int, g: Int, h: Int, i: Int,\n"
        "  j: (U) -> Unit, k: (T) -> Unit = {{}}) {{}}\n"
        "fun x() {{ f({}{}) }}\n"
    )
    numbers = ", ".join("12345678")
    inside = text.format(numbers, ", { q -> q.go() }")
    behind = text.format(numbers, ", {}) { q -> q.go() ").replace("q.go() )", "q.go() }")
    assert "a.kt:x -> T.go" not in edges_of({"a.kt": inside})
    assert "a.kt:x -> T.go" in edges_of({"a.kt": behind})
