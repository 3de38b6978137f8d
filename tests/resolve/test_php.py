"""PHP: calls by declared types, namespaces and autoload rules."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of, uses_in

SHOP = {
    "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}',
    "src/Item.php": (
        "<?php\nnamespace Shop;\nclass Item extends Base implements Named {\n  use Marks;\n"
        "  private Part $part;\n  public function __construct(private Store $store) {}\n"
        "  public function copy(): static { return $this; }\n"
        "  public function part(): ?Part { return $this->part; }\n"
        "  public function own(): void { $this->copy()->log(); $this->part->turn(); "
        "$this->store->open();\n"
        "    self::of(); parent::log(); $this->mark(); }\n"
        "  public static function of(): self { return new self(); }\n}\n"
    ),
    "src/Base.php": "<?php\nnamespace Shop;\nabstract class Base { protected function log() {} }\n",
    "src/Named.php": "<?php\nnamespace Shop;\ninterface Named { public function name(): Part; }\n",
    "src/Part.php": "<?php\nnamespace Shop;\nclass Part { public function turn() {} }\n",
    "src/Store.php": (
        "<?php\nnamespace Shop;\nclass Store { public function open(): Item { return x(); } }\n"
    ),
    "src/Marks.php": "<?php\nnamespace Shop;\ntrait Marks { public function mark() {} }\n",
}


def used(
    body: str, uses: str = "use Shop\\Item; use Shop\\Store as S; use Shop\\Named;"
) -> list[str]:
    """What a function's body calls."""
    text = (
        f"<?php\nnamespace App;\n{uses}\nfunction run(Item $item, S $s, Named $n) {{\n  {body}\n"
        f"}}\nfunction helper() {{}}\n"
    )
    return called_in({**SHOP, "app/run.php": text}, "app/run.php:run")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$item->copy()->log(); $s->open()->mark();",
         ["Item.copy", "Base.log", "Store.open", "Marks.mark"]),
        ("$x = Item::of(); $x->copy();", ["Item.of", "Item.copy"]),
        ("$item->part()?->turn(); $n->name()->turn();", ["Item.part", "Part.turn", "Named.name"]),
        ("$x = new S(); $x\n    ->open()\n    ->copy();", ["Store", "Store.open", "Item.copy"]),
        ("(new Item($s))->copy(); helper();", ["Item", "Item.copy", "helper"]),
        ("$f = function (Item $i) { $i->copy(); }; fn (S $t) => $t->open();", ["Store.open"]),
        ("$y->copy(); unknown()->log(); Other::of();", []),
    ],
)  # fmt: skip
def test_a_receiver_is_known_by_its_declaration(body: str, expected: list[str]) -> None:
    assert used(body) == expected


def test_this_self_and_parent_are_the_class_and_its_base() -> None:
    found = [
        edge.partition(" -> ")[2].rpartition(":")[2]
        for edge in edges_of(SHOP)
        if "Item.own" in edge
    ]
    assert found == ["Item.copy", "Base.log", "Part.turn", "Store.open", "Item.of", "Marks.mark"]


def test_a_class_of_another_namespace_is_not_seen_without_use() -> None:
    assert used("new Item(); Item::of();", "") == []


def test_a_dot_joins_texts_and_leads_to_no_member() -> None:
    text = """<?php
class A {
  const CAP = 4; // <<
  static function make() {}
  function run() {}
  function spaced($x) { return $x . self::CAP . A::CAP; } <<
  function close($x) { return $x.A::CAP.'b'; } <<
  function texts() { return 'a' . A::CAP; } <<
  function constant() { return CAP.A::CAP; } <<
  function calls(A $a, $x) { return $x.g().A::make().$a->run(); }
}
function g() {}
"""
    text = text.replace(" // <<", "")
    found, expected = uses_in({"a.php": text}, "a.php:A.CAP")
    assert found == expected
    assert called_in({"a.php": text.replace("<<", "")}, "a.php:A.calls") == ["g", "A.make", "A.run"]
