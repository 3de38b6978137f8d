"""Names of TypeScript and JavaScript; uncertain ones give no edge."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

LIB = """\
export interface Shape<T = unknown> { area(): number; scaled(by: number): this; inner: T }
export class Circle implements Shape<Circle> {
  inner!: Circle;
  static unit(): Circle { return new Circle() }
  area() { return 1 }
  scaled(by: number) { return this }
}
export function make(): Circle { return new Circle() }
export const made = (): Shape<Circle> => make();
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("make().area()", ["make", "Circle.area"]),
        ("make().scaled(2).area()", ["make", "Circle.scaled", "Circle.area"]),
        ("Circle.unit().area()", ["Circle.unit", "Circle.area"]),
        ("made().scaled(1).area()", ["made", "Shape.scaled", "Shape.area"]),
        ("made().inner.area()", ["made", "Circle.area"]),
        ("const { inner } = make(); inner.area()", ["make", "Circle.area"]),
        ("const s = given as Shape; s.area()", ["Shape.area"]),
        ("given.area()", []),
        ("{ const make = given; make() }", []),
        ("{ const make = given } make()", ["make"]),
        ("let c; c = make(); c.area()", ["make", "Circle.area"]),
        ("[1].map(make => make())", []),
        ("const o = { make: () => make() }; o.make()", ["make"]),
        ("for (const c of [] as Circle[]) c.area()", ["Circle.area"]),
        ("(async () => { (await promised()).area() })()", ["promised", "Circle.area"]),
    ],
)
def test_a_call_leads_where_its_receiver_is_known_to_lead(body: str, expected: list[str]) -> None:
    lib = LIB + "export async function promised(): Promise<Circle> { return make() }"
    text = (
        "import { make, made, promised, Circle, type Shape } from './lib.js'\n"
        f"export function use(given: any) {{ {body} }}\n"
    )
    found = [edge for edge in edges_of({"lib.ts": lib, "use.ts": text}) if "use.ts:use" in edge]
    assert [edge.partition("lib.ts:")[2] for edge in found] == expected


@pytest.mark.parametrize(
    "line",
    [
        "import { f } from './barrel'",
        "import * as all from './barrel'; const f = all.f",
        "import { g as f } from './barrel'",
        "import f from './barrel'",
    ],
)
def test_a_name_is_followed_through_barrels(line: str) -> None:
    files = {
        "deep.ts": "function f() {}\nexport { f, f as g }",
        "barrel/index.ts": "export * from '../deep'\nexport { f as default } from '../deep'",
        "use.ts": f"{line}\nfunction use() {{ f() }}",
    }
    expected = [] if "all.f" in line else ["use.ts:use -> deep.ts:f"]
    assert [edge for edge in edges_of(files) if "deep" in edge] == expected


def test_common_js_reexports_are_called() -> None:
    files = {
        "index.js": "module.exports = require('./lib')",
        "lib.js": "exports = module.exports = create\nfunction create() {}",
        "use.js": "const app = require('./index')\nfunction use() { app() }",
    }
    assert edges_of(files) == ["use.js:use -> lib.js:create"]


def test_types_and_values_with_one_name_are_distinguished() -> None:
    text = (
        "interface Foo { go(): void }\nconst Foo: Maker = make()\n"
        "interface Maker { init(): void }\n"
        "function use(x: Foo) { x.go(); Foo.init() }\n"
    )
    assert edges_of({"a.ts": text}) == ["a.ts:use -> Foo.go", "a.ts:use -> Maker.init"]


def test_overloads_are_one_target() -> None:
    text = "function f(a: 1): 1\nfunction f(a: 2): 2\nfunction f(a: any) { return a }\nf(1)"
    assert edges_of({"a.ts": text}) == ["a.ts:- -> f"]


def test_interfaces_and_classes_derive() -> None:
    text = "interface A {}\ninterface B extends A {}\nclass C implements B {}\nclass D extends C {}"
    assert edges_of({"a.ts": text}, "inherit") == ["a.ts:B -> A", "a.ts:C -> B", "a.ts:D -> C"]


def test_a_constant_of_a_module_is_what_uses() -> None:
    assert edges_of({"a.ts": "const f = () => 1\nconst x = f()"}) == ["a.ts:x -> f"]


SIDES = """\
export class G {
  go() { return 1 }
  static go() { return 2 }
  static make(): G { return new this() }
  again() { this.go() }
  static both() { this.go() }
  plain() { call(function () { this.go() }); function y(this: any) { this.go() } }
  arrow() { call(() => this.go()) }
  soon() { function z(this: G) { this.go() } }
  field = function () { this.go() }
  nested() { return { go() {}, h() { this.go() } } }
}
export class H extends G { go() { super.go() } static go() { super.go() } }
export const o = { go() {}, h() { this.go() } };
"""


def test_the_function_determines_this() -> None:
    found = edges_of({"a.ts": SIDES}, numbered=True)
    assert [edge for edge in found if "go" in edge.partition("->")[2]] == [
        "a.ts:G.again -> G.go",
        "a.ts:G.both -> G.go~2",
        "a.ts:G.arrow -> G.go",
        "a.ts:G.soon.z -> G.go",
        "a.ts:G.field -> G.go",
        "a.ts:H.go -> G.go",
        "a.ts:H.go~2 -> G.go~2",
        "a.ts:o -> o.go",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("new G().go()", "G.go"),
        ("G.go()", "G.go~2"),
        ("G.make().go()", "G.go"),
        ("const all: G[] = given; all[0].go()", "G.go"),
        ("H.go()", "H.go~2"),
        ("late().go()", ""),
        ("late().then(g => g)", ""),
        ("async () => (await late()).go()", "G.go"),
        ("async () => (await late<number>()).go()", "G.go"),
        ("async () => { const g = await soon(); g.go() }", "G.go"),
        ("async () => { const g = await inner(); g.go() }", "G.go"),
        ("const g = soon(); g.go()", ""),
    ],
)
def test_instance_and_static_members_and_promises_are_distinguished(
    body: str, expected: str
) -> None:
    text = (
        "import { G, H } from './a'\nexport async function late() { return new G() }\n"
        "export function soon(): Promise<G> { return late() }\n"
        "export const inner = async () => late();\n"
        f"export const use = (given) => {{ const f = {body} }}\n"
    )
    text = text.replace("const f = const", "const")
    found = edges_of({"a.ts": SIDES, "use.ts": text}, numbered=True)
    found = [edge.partition("a.ts:")[2] for edge in found if edge.startswith("use.ts:use")]
    assert [edge for edge in found if ".go" in edge] == ([expected] if expected else [])


@pytest.mark.parametrize(
    "body",
    [
        "lib.go()",
        "more.go()",
        "const { inner } = made(); inner.go()",
        "made().inner.go()",
        "const o = { lib }; o.lib.go()",
        "const o = { go, ...lib, other: 1 }; o.go()",
    ],
)
def test_an_object_literal_passes_on_its_values(body: str) -> None:
    files = {
        "lib.js": "function go() {}\nfunction other() {}\nexport default { go, other }",
        "use.js": "import lib from './lib'\nconst more = { ...lib }\n"
        "function made() { const { go } = lib; return { ...lib, inner: lib } }\n"
        f"export function use() {{ {body} }}\n",
    }
    assert "use.js:use -> lib.js:go" in edges_of(files)


@pytest.mark.parametrize(
    "body",
    ["const o = { go, ...given }; o.go()", "const o = { ...lib, go: given }; o.go()"],
)
def test_a_key_that_may_be_another_gives_no_edge(body: str) -> None:
    files = {
        "lib.js": "export function go() {}",
        "use.js": "import * as lib from './lib'\nimport { go } from './lib'\n"
        f"export function use(given) {{ {body} }}\n",
    }
    assert edges_of(files) == []


def test_assignments_to_a_function_or_object_are_its_members() -> None:
    files = {
        "app.js": "var app = module.exports = {}\napp.use = function use() { this.init() }\n"
        "app.init = function init() {}\nfunction Kind() {}\nKind.make = () => 1\n"
        "Kind.prototype.make = function () {}\nexports.Kind = Kind\n",
        "use.js": "const app = require('./app')\nconst { Kind } = require('./app')\n"
        "function use() { app.use(); Kind.make(); Kind.other() }\n",
    }
    assert edges_of(files, numbered=True) == [
        "app.js:app.use -> app.init",
        "use.js:use -> app.js:app.use",
        "use.js:use -> app.js:Kind.make",
    ]


PAIR = """\
export class A { kind = 'a' as const; go() {} static go() {} }
export class B { kind = 'b' as const; go() {} }
export function over(x: string): A
export function over(x: number): B
export function over(x: any): any { return x }
export function none(): A
export function none(x: string): B
export function none(x?: any): any { return x }
export function twice(x: string): A
export function twice(x: number): A
export function twice(x: any): any { return x }
export function generic<T extends string>(x: T): A
export function generic<T extends number>(x: T): B
export function generic(x: any): any { return x }
export interface Has { f(x: string): A; f(x: number, ...more: B[]): B }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("over('').go()", ["over", "A.go"]),
        ("over(1).go()", ["over", "B.go"]),
        ("over(given).go()", ["over"]),
        ("over(...given).go()", ["over"]),
        ("none().go()", ["none", "A.go"]),
        ("none(given).go()", ["none", "B.go"]),
        ("twice(given).go()", ["twice", "A.go"]),
        ("generic(given).go()", ["generic"]),
        ("has.f('').go()", ["Has.f", "A.go"]),
        ("has.f(given).go()", ["Has.f"]),
        ("has.f(given, given).go()", ["Has.f", "B.go"]),
    ],
)
def test_the_arguments_select_the_overload(body: str, expected: list[str]) -> None:
    names = "import { over, none, twice, generic, type Has } from './lib.js'\n"
    text = f"{names}export function use(given: any, has: Has) {{ {body} }}\n"
    found = [edge for edge in edges_of({"lib.ts": PAIR, "use.ts": text}) if "use.ts:use" in edge]
    assert [edge.partition("lib.ts:")[2] for edge in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for (const A of [] as B[]) { A.go() }", ["lib.ts:B.go"]),
        ("for (const A of [] as B[]) { }\nA.go()", ["lib.ts:A.go"]),
        ("for (const A in {}) { A.go() }", []),
        ("for (const { A } of given) { A.go() }", []),
        ("const run = function A() { A.go() }", []),
        ("given(function A() { A() })", ["A"]),
        ("const K = class A { static go() {}\n m() { A.go() } }", ["K.go"]),
        ("const { A: R = A } = given\nA.go()", ["lib.ts:A.go"]),
        ("const [R = A] = given\nA.go()", ["lib.ts:A.go"]),
    ],
)
def test_a_name_bound_in_a_part_of_a_module_hides_an_import(text: str, expected: list[str]) -> None:
    files = {"lib.ts": PAIR, "use.ts": f"import {{ A, B }} from './lib.js'\n{text}\n"}
    found = [edge for edge in edges_of(files) if edge.startswith("use.ts")]
    assert [edge.partition(" -> ")[2] for edge in found] == expected


@pytest.mark.parametrize(
    "asked", ["x instanceof A", "x.kind === 'a'", "'kind' in x", "x.kind !== 'b'", "given"]
)
def test_each_type_of_a_possibly_narrowed_union_is_a_candidate(asked: str) -> None:
    body = f"if ({asked}) {{ x.go() }}"
    text = (
        f"import {{ A, B }} from './lib.js'\nexport function use(x: A | B, given: any) {{{body}}}"
    )
    files = {"lib.ts": PAIR, "use.ts": text}
    assert not [edge for edge in edges_of(files) if "use.ts:use" in edge]
    found = [edge for edge in edges_of(files, certain=False) if "use.ts:use" in edge]
    assert [edge.partition("lib.ts:")[2] for edge in found] == ["A.go", "B.go"]


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        (
            "let x = new A()\nfunction set() { x = new B() }\nexport function use() { x.go() }",
            False,
        ),
        ("let x = new A()\nexport function use() { x.go() }\nx = new B()", False),
        ("let x\nfunction set() { x = new B() }\nexport function use() { x.go() }", True),
        ("let x = new A()\nx = new B()\nexport function use() { x.go() }", True),
        ("export function use(c) { let x = new A()\nif (c) { x = new B() }\nx.go() }", False),
        ("export function use(c) { let x = new A()\nif (c) { x = new B()\nx.go() } }", True),
        ("export function use(c) { let x = null\nif (c) { x = new B() }\nx.go() }", True),
    ],
)
def test_a_function_reads_what_others_may_have_given_to_a_variable(
    text: str, certain: bool
) -> None:
    files = {"lib.ts": PAIR, "use.js": f"import {{ A, B }} from './lib'\n{text}\n"}
    found = [edge for edge in edges_of(files, certain=certain) if "use.js:use" in edge]
    targets = [edge.partition("lib.ts:")[2] for edge in found if edge.endswith(".go")]
    assert targets == (["B.go"] if certain else ["A.go", "B.go"])


@pytest.mark.parametrize(
    "exported", ["class A { use() {} }", "class { use() {} }", "function mk() {}", "() => 1"]
)
def test_an_inline_export_is_what_require_returns(exported: str) -> None:
    files = {
        "lib/app.js": f"module.exports = {exported}\n",
        "test.js": "const App = require('./lib/app')\nApp()\n",
    }
    (edge,) = edges_of(files)
    assert edge.startswith("test.js:- -> lib/app.js:")


def test_the_root_of_a_repository_is_required_by_its_package_json() -> None:
    files = {
        "package.json": '{"name": "k", "main": "lib/app.js"}',
        "lib/app.js": "module.exports = function make() {}\n",
        "tests/a/test.js": "const make = require('../..')\nmake()\n",
    }
    assert edges_of(files) == ["tests/a/test.js:- -> lib/app.js:make"]
