"""TypeScript's `import("./a").T` as a type."""

from __future__ import annotations

import pytest
from resolved_edges import uses_in

DECLARED = """export class S<T = number> { go() {} }
export interface I { k: number }
export function f() {}
export namespace ns { export interface N {} }
"""
USES = {
    "S": """type A = import("./e").S; <<
let b: import("./e").S<number> = 1; <<
function g(x: import('./e').S[]): Promise<import("./e").S> { return x.m; } <<
let w: Map<string, import("./e").S<string, A>>[] | null; <<
let c: import("./e").S<() => void, Map<string, A>, [A, A]>[]; <<
let y: import("./e").S["go"]; <<
let t: typeof import("./e").S; <<
import("./e").then<number>(m => m.f);
class K { m(): import("./e").S<A> { g(); } } <<
export const last: import("./e").S = 1; <<
""",
    "I": 'let b: import("./e").I = 1; <<\ntype A = import("./e").I | null; <<\n',
    "f": """let b: typeof import("./e").f; <<
let c: typeof import("./e");
c.f(); <<
type M = typeof import("./e");
function k(x: M) { x.f(); } <<
function l(x: typeof import("./e")) { x.f(); } <<
""",
    "ns.N": 'type A = import("./e").ns.N; <<\n',
    "S.go": """let b: import("./e").S<number> = 1;
b.go(); <<
function g(x: import('./e').S) { x.go(); } <<
type A = import("./e").S;
function k(x: A) { x.go(); } <<
""",
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("file", ["a.ts", "a.tsx"])
def test_type_import_is_a_use(file: str, name: str) -> None:
    found, expected = uses_in({"e.ts": DECLARED, file: USES[name]}, f"e.ts:{name}")
    assert found == expected
