"""Composed types of TypeScript, followed as long as they are unambiguous."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

LIB = """\
export interface Item { go(): void; next: Item }
export interface Part extends Item { cut(): void }
export class Base<T, D = T> { held!: D; inner!: T }
export class Held<T extends Item> extends Base<string, HeldDef<T>> {
  run() { this.held.item.go() }
}
export class Typed extends Base<Part> {}
export interface HeldDef<T> { item: T }
export interface Check<T> {
  refine<F>(f: F): F extends (a: any) => a is infer R ? this & Check<R> : this;
  done(): void;
}
export declare function check(): Check<string>;
export declare function one<T>(given: T): T extends string ? Part : Item;
export declare function same<T>(given: T): T extends string ? Item : never;
export declare function both(): Item & Part;
export declare function pair(): { first: Item; readonly last?: Part; make(): Item };
export interface Box<S> { shape: S; needed(): Box<{ -readonly [K in keyof S]: Held<S[K]> }> }
export declare const box: Box<{ a: Item }>;
export interface Made<T, D = T["next"]> { new (given: D): T }
export declare function maker<T, D = T["next"]>(
  name: string, start: (t: T, d: D) => void
): Made<T, D>;
export type Methods<T> = Partial<{
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (this: T, ...args: A) => R : never;
}>;
"""
NAMES = "Base, Held, Typed, HeldDef, Check, check, one, same, both, pair, box, Made, maker, Methods"


def called(body: str) -> list[str]:
    """Members of the library that a text calls, without the functions that lead to them."""
    text = f"import {{ {NAMES}, Item, Part }} from './lib'\n{body}\n"
    found = edges_of({"lib.ts": LIB, "use.ts": text})
    ends = [edge.rpartition("lib.ts:")[2] for edge in found if edge.startswith("use.ts")]
    return [end for end in ends if "." in end]


def test_a_base_has_its_type_arguments() -> None:
    assert "lib.ts:Held.run -> Item.go" in edges_of({"lib.ts": LIB})
    assert called("declare const t: Typed; t.inner.cut()") == ["Part.cut"]
    head = "class Own<T extends Part> extends Base<\n  T,\n  HeldDef<T>\n>"
    assert called(f"{head} {{ f() {{ this.inner.cut() }} }}") == ["Part.cut"]


def test_an_alias_of_a_class_is_followed_as_a_base() -> None:
    lib = "export class A { go() {} }\nexport const B = A\n"
    text = "import { B } from './lib'\nclass C extends B<string> { f() { this.go() } }"
    assert edges_of({"lib.ts": lib, "use.ts": text}) == ["use.ts:C.f -> lib.ts:A.go"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("check().refine(1).done()", ["Check.refine", "Check.done"]),
        ("same(1).go()", ["Item.go"]),
        # Ambiguous between two.
        ("one(1).go()", []),
        ("both().cut(); both().go()", ["Part.cut", "Item.go"]),
    ],
)
def test_a_condition_is_followed_where_its_answers_agree(body: str, expected: list[str]) -> None:
    assert called(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pair().first.go()", ["Item.go"]),
        ("const { last } = pair(); last?.cut()", ["Part.cut"]),
        ("pair().make().next.go()", ["pair.make", "Item.go"]),
        ("pair().none.go()", []),
        ("box.needed().shape.a.run()", ["Box.needed", "Held.run"]),
    ],
)
def test_members_of_a_type_without_a_name(body: str, expected: list[str]) -> None:
    assert called(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "const m: Made<Part> = maker('m', (t, d) => { t.cut(); d.go() })",
            ["Part.cut", "Item.go"],
        ),
        ("const m: Made<Part> = maker('m', (t) => { t.none() })", []),
        ("const m = maker('m', (t) => { t.cut() })", []),
        ("const m: Base<Part> = maker('m', (t) => { t.cut() })", []),
    ],
)
def test_a_declared_type_says_what_type_parameters_stand_for(
    body: str, expected: list[str]
) -> None:
    assert called(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("const m: Methods<Part> = { go() { this.cut() } }", ["Part.cut"]),
        ("function f(): Methods<Part> { return { go() { this.cut() } } }", ["Part.cut"]),
        ("const f = (): Methods<Part> => ({ go() { this.cut() } })", ["Part.cut"]),
        ("function f(): Methods<Part> { return wrap({ go() { this.cut() } }) }", []),
        ("function f(): Methods<Part> { const o = { go() { this.cut() } }; return o }", []),
    ],
)
def test_this_in_a_method_of_an_object_of_a_declared_type(body: str, expected: list[str]) -> None:
    assert called(body) == expected


EXPECTED = (
    "interface Store<S = any> { go(): void }\ninterface Other { go(): void }\n"
    "type Creator = <S>(r: number) => Store<S>;\n"
    "type Enhancer<E = {}> = <T extends (x: Other) => Other>(next: Creator) => Creator;\n"
    "type Fn = (n: number, s: Store) => Store;\n"
    "interface Handler { (s: Store): void }\n"
)


@pytest.mark.parametrize(
    ("body", "is_known"),
    [
        ("const x: Fn = (n, s) => { s.go(); return s }", True),
        ("const x: Fn = function (n, s) { s.go(); return s }", True),
        ("const x: (s: Store) => void = s => s.go()", True),
        (
            "const x: Enhancer = next => reducer => { const s = next(reducer); s.go(); return s }",
            True,
        ),
        ("const x: Enhancer = next => { return reducer => { const s = next(1); s.go() } }", True),
        ("const x = ((n, s) => { s.go(); return s }) as Fn", True),
        ("const x = ((n, s) => { s.go(); return s }) satisfies Fn", True),
        ("function x(): Fn { return (n, s) => { s.go(); return s } }", True),
        ("class A { x: Fn = (n, s) => { s.go(); return s } }", True),
        ("const x: Fn = (s) => { s.go() }", False),
        ("const x: Handler = s => s.go()", True),
        ("const x: Fn = (n, ...s) => { s.go() }", False),
        ("const x: (...s: Store[]) => void = s => s.go()", False),
        ("const x: Fn = (n, s: Other) => { s.go() }", False),
    ],
)
def test_a_function_gets_what_the_type_of_its_variable_says(body: str, is_known: bool) -> None:
    edges = [edge for edge in edges_of({"a.ts": EXPECTED + body}) if edge.endswith("Store.go")]
    assert bool(edges) == is_known


CALLABLE = """\
interface Item { go(): void }
interface Other { go(): void }
type Plain = (s: Item, next: () => void) => void
type Waiting = (s: Item, next: () => void) => Promise<void>
type Mixed = ((s: Item) => void) | ((s: Other) => void)
type One<T> = (s: T) => void
type Handler = Plain | Waiting
interface Routes {
  // one handler
  <P extends string>(handler: Handler): App

  // several
  <P extends string>(path: P, ...all: [Handler & One<Item>, last: Handler]): App

  /** Of any number. */
  <P>(path: P, name: string, size: number, ...all: Handler[]): App
}
interface Made<T> { get(): Item; value: T }
interface Options { name: string }
interface Factory {
  <T>(options: Options): Other
  <T>(make: () => T, options?: Options): Made<T>
}
type Boxed = { (n: number): Item; deep: number }
declare class App {
  get: Routes; on!: (h: Handler) => void; two(h: Single): void; three!: (h: One<Item>) => void
  four(h: Mixed): void; five(n: number, ...all: Plain[]): void
}
interface Single { (s: Item): void }
declare const app: App
declare const make: Factory
declare const box: Boxed
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("app.get(s => s.go())", ["Item.go"]),
        ("app.get('/', s => s.go())", ["Item.go"]),
        ("app.get('/', s => {}, s => s.go())", ["Item.go"]),
        ("app.get('/', 'a', 1, s => {}, s => s.go())", ["Item.go"]),
        ("app.get(s => {}).get('/', s => s.go())", ["Item.go"]),
        ("app.on(s => s.go())", ["Item.go"]),
        ("app.two(s => s.go())", ["Item.go"]),
        ("app.three(s => s.go())", ["Item.go"]),
        ("app.four(s => s.go())", []),
        ("app.five(1, s => {}, s => s.go())", ["Item.go"]),
        ("make(() => 1).get().go()", ["Item.go"]),
        ("make({ name: 'a' }).go()", ["Other.go"]),
        ("box(1).go()", ["Item.go"]),
        ("function f(...all: Item[]) { for (const one of all) one.go() }", ["Item.go"]),
    ],
)
def test_calls_of_objects_by_their_call_signatures(body: str, expected: list[str]) -> None:
    edges = edges_of({"a.ts": CALLABLE + body})
    assert [edge.rpartition(" -> ")[2] for edge in edges if edge.endswith(".go")] == expected


def test_a_type_with_many_arguments_is_known_by_its_name() -> None:
    arguments = "".join(f"    any, // the type of part {number}\n" for number in range(20))
    text = f"""class Machine<A> {{
  version = 1;
  run() {{}}
}}
class Node {{
  machine: Machine<
{arguments}  >;
  go() {{ this.machine.run(); }}
}}
"""
    assert "a.ts:Node.go -> Machine.run" in edges_of({"a.ts": text})
