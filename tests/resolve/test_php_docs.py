"""PHP: types in comments, values that functions return, names from the global namespace."""

from __future__ import annotations

import pytest
from resolved_edges import edges_of

D = "class D { function go() { return $this; } }\n"


@pytest.mark.parametrize(
    "members",
    [
        "/** @var D */ private $b; function x() { $this->b->go(); }",
        "/** @var ?D */ private $b; function x() { $this->b->go(); }",
        "/** @var D[] */ private array $b; function x() { foreach ($this->b as $d) { $d->go(); } }",
        "/** @var array<int, D> */ private $b; function x() { $this->b[1]->go(); }",
        "/** @return D|null */ function t() { } function x() { $this->t()->go(); }",
        "/** Sets.\n * @param D $d of it */ function x($d) { $d->go(); }",
        "/** @param list<D> $ds */ function x(array $ds) { foreach ($ds as $d) { $d->go(); } }",
        "function x() { /** @var D $q */\n$q = foo();\n$q->go(); }",
        "function t() { return new D; } function x() { $this->t()->go(); }",
    ],
)
def test_a_comment_declares_a_type(members: str) -> None:
    assert "a.php:A.x -> D.go" in edges_of({"a.php": f"<?php\n{D}class A {{ {members} }}\n"})


@pytest.mark.parametrize(
    "members",
    [
        "/** @return D[] */ function t(): array {} "
        "function x() { foreach ($this->t() as $d) { $d->go(); } }",
        "/** @return list<D> */ function t(): iterable {} function x() { $this->t()[0]->go(); }",
        "/** @return \\Generator<int, D> */ function t(): \\Generator {} "
        "function x() { foreach ($this->t() as $d) { $d->go(); } }",
        "/** @return array<int, array<string, array<int, list<D>>>> */ function t(): array {} "
        "function x() { $this->t()[1]['a'][2][0]->go(); }",
        "/** @return Box<D> */ function t(): Box {} function x() { $this->t()->held()->go(); }",
        "/** @return Box<D> */ function t(): Box {} "
        "function x() { foreach ($this->t() as $d) { $d->go(); } }",
        "/** @param Foreign<int, D> $ds */ function x($ds) { foreach ($ds as $d) { $d->go(); } }",
        "function x(D ...$ds) { foreach ($ds as $d) { $d->go(); } }",
        "/** @template T of D\n * @param T $d */ function x($d) { $d->go(); }",
        "/** @var list<D> */ private array $b; function x() { array_pop($this->b)->go(); }",
        "/** @var list<D> */ private array $b; function x() { $d = end($this->b); $d->go(); }",
        "/** @var list<D> */ private array $b; "
        "function x() { foreach (array_reverse($this->b) as $d) { $d->go(); } }",
    ],
)
def test_a_comment_declares_the_items_of_a_list(members: str) -> None:
    box = (
        "/** @template T */ class Box implements \\IteratorAggregate { "
        "/** @return T */ function held() {} "
        "/** @return \\Iterator<int, T> */ function getIterator(): \\Iterator {} }\n"
    )
    text = f"<?php\n{D}{box}class A {{ {members} }}\n"
    assert "a.php:A.x -> D.go" in edges_of({"a.php": text})


def test_a_comment_that_contradicts_the_declaration_is_ignored() -> None:
    text = (
        f"<?php\n{D}class E {{ function go() {{}} }}\n"
        "class A { /** @return D<E> */ function t(): E {} function x() { $this->t()->go(); } }\n"
    )
    assert edges_of({"a.php": text}) == ["a.php:A.x -> A.t", "a.php:A.x -> E.go"]


def test_a_declaration_takes_precedence_over_a_comment() -> None:
    text = (
        f"<?php\n{D}class E {{ function go() {{}} }}\n"
        "class A { /** @param D $d */ function x(E $d) { $d->go(); } }\n"
    )
    assert edges_of({"a.php": text}) == ["a.php:A.x -> E.go"]


def test_a_comment_on_something_else_is_ignored() -> None:
    text = f"<?php\n{D}class A {{ /** @param D $e */ function x($d) {{ $d->go(); }} }}\n"
    assert edges_of({"a.php": text}) == []


def test_a_function_named_from_the_outermost_namespace() -> None:
    files = {
        "h.php": "<?php\nnamespace App\\Sub;\nfunction env() {}\n",
        "a.php": "<?php\nnamespace Other;\nfunction x() { \\App\\Sub\\env(); \\App\\env(); }\n",
    }
    assert edges_of(files) == ["a.php:x -> h.php:env"]


@pytest.mark.parametrize(
    "doc", ["list<D|E>", "array<int, D|E>", "iterable<E|D|null>", "array<array<D|E>>"]
)
def test_the_elements_of_a_list_may_be_of_several_types(doc: str) -> None:
    loop = "foreach ($ds as $d)" if doc.count("<") == 1 else "foreach ($ds[0] as $d)"
    text = (
        f"<?php\n{D}class E {{ function go() {{}} }}\n"
        f"class A {{ /** @param {doc} $ds */ function x($ds) {{ {loop} {{ $d->go(); }} }} }}\n"
    )
    assert sorted(edges_of({"a.php": text})) == ["a.php:A.x -> D.go", "a.php:A.x -> E.go"]
