"""Keys of object literals whose type another place gives: a parameter, a variable, a promise."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

TYPES = (
    "export interface Opts { size: number; inner?: Inner; all?: Inner[] }\n"
    "export interface Inner { size: number }\n"
    "export function take(first: string, o: Opts, ...more: Opts[]) {}\n"
    "export class Box { opts: Opts; constructor(o: Opts) {} put(o: Opts) {} }\n"
    "export function free(o) {}\n"
)


@pytest.mark.parametrize("extension", ["ts", "tsx"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("take('', { size: 1 });", ["Opts.size"]),
        ("take('', { inner: { size: 1 } });", ["Inner.size", "Opts.inner"]),
        ("take('', { all: [{ size: 1 }] });", ["Inner.size", "Opts.all"]),
        ("new Box({ size: 1 });", ["Opts.size"]),
        ("box.put({ size: 1 });", ["Opts.size"]),
        ("new Box({}).put({ size: 1 });", ["Opts.size"]),
        ("box.put(box ? { size: 1 } : {});", ["Opts.size"]),
        ("let o: Opts; o = { size: 1 };", ["Opts.size"]),
        ("box.opts = { size: 1 };", ["Box.opts", "Opts.size"]),
        ("const f = async (): Promise<Opts> => ({ size: 1 });", ["Opts.size"]),
        ("async function f(): Promise<Opts> { return { size: 1 }; }", ["Opts.size"]),
        ("free({ size: 1 }); unknown({ size: 1 }); take({ size: 1 });", []),
        ("take('', free({ size: 1 }));", []),
        ("const f = (): Promise<Opts> => ({ size: 1 });", []),
    ],
)
def test_keys_are_those_of_the_type(extension: str, body: str, expected: list[str]) -> None:
    text = "import { Box, Opts, take, free } from './types';\n"
    text += f"function run(box: Box) {{ {body} }}\n"
    edges = edges_of({"types.ts": TYPES, f"app.{extension}": text}, "ref")
    names = {edge.rpartition(":")[2] for edge in edges if edge.startswith("app")}
    assert sorted(name for name in names if "." in name and "->" not in name) == expected
