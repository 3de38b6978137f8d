"""PHP: classes without an autoload rule, traits, iterators, global functions, unions."""

from __future__ import annotations

import pytest
from resolved_edges import called_in, edges_of

EVENT = """<?php
namespace Lib\\Event;
interface Event { public function asString(): string; }
final class Passed implements Event {
  public function asString(): string { return ''; }
}
final class Failed implements Event {
  public function asString(): string { return ''; }
}
final class Facade {
  public static function emitter(): Emitter { return new Emitter; }
}
final class Emitter { public function run(): void {} }
"""


def test_a_namespace_is_found_in_the_file_that_declares_it() -> None:
    main = """<?php
namespace App;
use Lib\\Event;
use Lib\\Event\\Passed;
class Main {
  private Passed $last;
  public function go(Passed $event, Event\\Failed $other): void {
    $event->asString();
    $other->asString();
    $this->last->asString();
    new Event\\Failed();
    Event\\Facade::emitter()->run();
  }
}
"""
    files = {"src/Events.php": EVENT, "src/Main.php": main}
    assert called_in(files, "src/Main.php:Main.go") == [
        "Passed.asString",
        "Failed.asString",
        "Failed",
        "Facade.emitter",
        "Emitter.run",
    ]


def test_a_class_that_two_files_declare_is_that_of_the_nearest() -> None:
    one = "<?php\nnamespace K;\nclass A { function f() {} }\n"
    use = "<?php\nnamespace App;\nuse K\\A;\nfunction go(A $a) { $a->f(); }\n"
    files = {"x/lib/a.php": one, "y/lib/a.php": one, "x/main.php": use, "z/main.php": use}
    assert edges_of(files) == ["x/main.php:go -> x/lib/a.php:A.f"]


@pytest.mark.parametrize("base", ["\\P\\Exception", "Root\\Exception"])
def test_a_base_with_its_namespace_is_not_the_nearer_one_of_that_name(base: str) -> None:
    files = {
        "src/Exception.php": "<?php\nnamespace P;\nuse RuntimeException;\n"
        "class Exception extends RuntimeException { function __construct() {} }\n",
        "src/Mock/Exception.php": "<?php\nnamespace P\\Mock;\ninterface Exception {}\n",
        "src/Mock/Only.php": "<?php\nnamespace P\\Mock;\nuse P as Root;\n"
        f"class Only extends {base} implements Exception {{\n"
        "  function __construct() { parent::__construct(); }\n}\n",
    }
    assert edges_of(files) == [
        "src/Mock/Only.php:Only.__construct -> src/Exception.php:Exception.__construct"
    ]


def test_a_bare_call_is_of_a_function_also_of_a_global_one() -> None:
    files = {
        "helpers.php": "<?php\nfunction config() {}\nfunction only() {}\n",
        "src/A.php": "<?php\nnamespace App;\nfunction only() {}\nclass A {\n"
        "  function config() {}\n  function missing() {}\n"
        "  function go() { config(); only(); missing(); strlen(''); }\n}\n",
    }
    assert edges_of(files) == [
        "src/A.php:A.go -> helpers.php:config",
        "src/A.php:A.go -> only",
    ]


def test_the_method_of_a_trait_counts_before_that_of_an_interface_or_parent() -> None:
    text = """<?php
interface Runs { function run(); }
trait Running { function run() {} }
class Base { function run() {} function __construct() {} }
class Job extends Base implements Runs {
  use Running;
  function __construct() { parent::__construct(); $this->run(); }
}
"""
    assert edges_of({"a.php": text}) == [
        "a.php:Job.__construct -> Base.__construct",
        "a.php:Job.__construct -> Running.run",
    ]


def test_a_loop_gives_what_the_iterator_gives() -> None:
    text = """<?php
class Item { function name() {} }
class Items implements IteratorAggregate {
  function getIterator(): ItemIterator { return new ItemIterator; }
}
class ItemIterator implements Iterator {
  function current(): Item { return new Item; }
}
function go(Items $items) { foreach ($items as $item) { $item->name(); } }
"""
    assert called_in({"a.php": text}, "a.php:go") == ["Items.getIterator", "Item.name"]


@pytest.mark.parametrize(
    ("body", "certain"),
    [
        ("$e->asString();", True),
        ("$e->asString(); if ($e instanceof Passed) {}", True),
        ("if ($e instanceof Passed) {} else {\n$e->asString(); }", False),
        ("if ($e instanceof Passed) {}\n$e->asString();", False),
        ("if (!$e instanceof Passed) { log(); }\n$e->asString();", True),
        ("if ($e instanceof Passed || $e instanceof Failed) {\n$e->asString(); }", True),
    ],
)
def test_a_call_on_a_union_means_each_type_unless_a_test_may_have_narrowed_it(
    body: str, certain: bool
) -> None:
    use = f"<?php\nuse Lib\\Event\\{{Passed, Failed}};\nfunction f(Passed|Failed $e) {{ {body} }}\n"
    files = {"src/Events.php": EVENT, "m.php": use}
    calls = [
        "m.php:f -> src/Events.php:Passed.asString",
        "m.php:f -> src/Events.php:Failed.asString",
    ]
    edges = edges_of(files)
    assert [edge for edge in edges if "asString" in edge] == (calls if certain else [])
    possible = edges_of(files, certain=False)
    assert [edge for edge in possible if "asString" in edge] == ([] if certain else calls)


def test_an_include_of_a_file_does_not_hide_the_class_of_its_name() -> None:
    files = {
        "Shop.php": "<?php\nclass Shop { function sell() {} }\n",
        "user.php": "<?php\nrequire 'Shop.php';\nfunction ask() { (new Shop())->sell(); }\n",
    }
    assert edges_of(files) == [
        "user.php:ask -> Shop.php:Shop",
        "user.php:ask -> Shop.php:Shop.sell",
    ]
