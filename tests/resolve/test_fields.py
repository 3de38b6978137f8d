"""Reads and writes of fields: by a receiver, in literals, in patterns."""

from __future__ import annotations

from tests.resolved_edges import edges_of


def _uses(files: dict[str, str], user: str) -> list[str]:
    """The fields that a definition of the last file uses, with their owners, in order."""
    start = f"{list(files)[-1]}:{user} -> "
    edges = [edge.removeprefix(start) for edge in edges_of(files, "ref") if edge.startswith(start)]
    names = [edge.rpartition(":")[2] for edge in edges]
    return [name for name in names if "." in name]


GO = {
    "go.mod": "module m\n",
    "a/a.go": """package a

type Base struct{ ID int }
type Box struct {
	Base
	Size int
	Next *Box
	Tags map[string]*Box
}
type Point struct{ X, Y int }
type Pair[T any] struct{ Left T }
type Sizes map[int]string

const Size = 3
""",
}


def test_go_fields_by_their_receiver() -> None:
    text = """package a

func deep(b *Box) int { return b.Next.Tags["a"].Size }
func embedded(b *Box) { b.ID = b.Base.ID }
func results(f func() Point) int { return f().Y }
func elements(all []Point) (sum int) {
	for _, p := range all {
		sum += p.X
	}
	return
}
func generic(p Pair[int]) int { return p.Left }
func unknown(p any) int { return p.Size }
"""
    files = {**GO, "a/b.go": text}
    assert _uses(files, "deep") == ["Box.Next", "Box.Tags", "Box.Size"]
    assert _uses(files, "embedded") == ["Base.ID", "Box.Base"]
    assert _uses(files, "results") == ["Point.Y"]
    assert _uses(files, "elements") == ["Point.X"]
    assert _uses(files, "generic") == ["Pair.Left"]
    assert _uses(files, "unknown") == []


def test_go_keys_of_literals() -> None:
    text = """package b

import "m/a"

func plain() { f(a.Box{Size: 1, Next: &a.Box{ID: 2}}) }
func listed() { f([]a.Point{{X: 1}, {Y: 2}}) }
func mapped() { f(map[string]*a.Point{"x": {X: 1}}) }
func constant() { f(map[int]string{a.Size: "x"}) }
func unnamed() { f(struct{ Size int }{Size: 1}) }
"""
    files = {**GO, "b/b.go": text}
    assert _uses(files, "plain") == ["Box.Size", "Box.Next", "Base.ID"]
    assert _uses(files, "listed") == ["Point.X", "Point.Y"]
    assert _uses(files, "mapped") == ["Point.X"]
    assert _uses(files, "constant") == []
    assert _uses(files, "unnamed") == []


def test_go_keys_of_a_map_are_expressions() -> None:
    for type_ in ("Sizes", "map[int]string", "[]string"):
        files = {**GO, "a/b.go": f"package a\n\nfunc f() {{ g({type_}{{Size: `x`}}) }}\n"}
        assert "a/b.go:f -> a/a.go:Size" in edges_of(files, "ref"), type_
