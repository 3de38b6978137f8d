"""Walking the graph: relations, reach, routes; on edges of real texts, resolved in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.resolve.edges import Edge, Edges
from codelens.resolve.file_model import FileModel
from codelens.resolve.imports import Importer, settings_paths
from codelens.resolve.view_files import View
from codelens.resolve.walk.edge_table import DERIVING, MODULE, Node, Table, subtree
from codelens.resolve.walk.reach import changed_file, changed_symbol, reach, routes, without_imports
from codelens.resolve.walk.relation_walk import Walk, file_target, symbol_target
from codelens.types import Symbol


def view_of(files: Mapping[str, str]) -> View:
    texts = {name.encode(): text.encode() for name, text in files.items()}
    languages = {path: language_of(path, text) for path, text in texts.items()}

    @cache
    def load(path: bytes) -> FileModel:
        found = facts_of(texts[path], languages[path]).structure
        return FileModel(
            languages[path], found.symbols, found.references, found.imports, scopes=found.scopes,
            bindings=found.bindings,
        )  # fmt: skip

    settings = {one: texts[one] for one in settings_paths(languages)}
    return View(languages, load, Importer(languages, settings))


class WholeNet:
    """An `EdgeReader` in which every edge is resolved."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.view = view_of(files)
        self.steps = 1_000_000
        """The number of nodes that the time allows."""
        self.table = Table()
        edges = Edges(self.view)
        for name in files:
            self.table.add(name.encode(), edges.of_file(name.encode()))

    def edges_from(self, path: bytes) -> list[Edge]:
        return self.table.edges_from(path)

    def edges_of(self, path: bytes, symbol: int) -> list[Edge]:
        return self.table.edges_of(path, symbol)

    def deriving_edges(self, path: bytes, symbol: int) -> list[Edge]:
        return [edge for edge in self.edges_of(path, symbol) if edge.kind in DERIVING]

    def edges_to(self, path: bytes, symbol: int) -> list[Edge]:
        return self.table.edges_to(path, symbol)

    def derived_from(self, path: bytes, symbol: int) -> list[Edge]:
        return [edge for edge in self.edges_to(path, symbol) if edge.kind == "inherit"]

    def prepare(self, nodes: Iterable[Node]) -> None:
        pass

    def symbols(self, path: bytes) -> list[Symbol]:
        model = self.view.model(path)
        return list(model.symbols) if model else []

    def places(self, node: Node) -> Sequence[Node]:
        return (node,)

    def alias_of(self, edge: Edge) -> Node | None:
        return None

    def is_test(self, path: bytes) -> bool:
        return path.startswith(b"tests/")

    def spent(self) -> bool:
        self.steps -= 1
        return self.steps < 0

    def node(self, name: str) -> Node:
        path, _, symbol = name.partition("#")
        names = [one.qualified for one in self.symbols(path.encode())]
        return Node(path.encode(), names.index(symbol) if symbol else MODULE)

    def name(self, node: Node) -> str:
        if node.symbol == MODULE:
            return node.path.decode()
        return f"{node.path.decode()}#{self.symbols(node.path)[node.symbol].qualified}"


def related(graph: WholeNet, name: str, relation: str, depth: int = 1) -> list[str]:
    node = graph.node(name)
    whole = node.symbol == MODULE
    target = file_target(graph, node.path) if whole else symbol_target(graph, node)
    return [graph.name(one.node) for one in Walk(graph, target).related(relation, depth)]


def hit(graph: WholeNet, *names: str, depth: int = 5) -> dict[str, int]:
    seeds: list[Node] = []
    for name in names:
        node = graph.node(name)
        whole = node.symbol == MODULE
        seeds += changed_file(graph, node.path) if whole else changed_symbol(graph, node)
    users, _ = without_imports(reach(graph, seeds, depth).users)
    return {graph.name(one.node): one.distance for one in users}


SHOP = {
    "shop/base.py": (
        "class Item:\n    def price(self):\n        return 1\n\n    def name(self):\n        "
        "return ''\n"
    ),
    "shop/book.py": (
        "from shop.base import Item\n\n\nclass Book(Item):\n    def price(self):\n"
        "        return tax(2)\n\n\ndef tax(x):\n    return x\n"
    ),
    "shop/cart.py": (
        "from shop.book import Book\n\n\ndef total():\n    return Book().price()\n\n\n"
        "def show():\n    return total()\n"
    ),
    "tests/test_cart.py": "from shop.cart import show\n\n\ndef test_show():\n    assert show()\n",
}


def test_callers_and_callees_are_each_others_mirror() -> None:
    graph = WholeNet(SHOP)
    assert related(graph, "shop/book.py#tax", "callers") == ["shop/book.py#Book.price"]
    assert related(graph, "shop/book.py#Book.price", "callees") == ["shop/book.py#tax"]


def test_depth_follows_callers_of_callers_and_says_through_whom() -> None:
    graph = WholeNet(SHOP)
    walk = Walk(graph, symbol_target(graph, graph.node("shop/book.py#tax")))
    found = walk.related("callers", 3)
    walked = [
        (graph.name(one.node), one.distance, one.via and graph.name(one.via)) for one in found
    ]
    assert walked == [
        ("shop/book.py#Book.price", 1, None),
        ("shop/cart.py#total", 2, "shop/book.py#Book.price"),
        ("shop/cart.py#show", 3, "shop/cart.py#total"),
    ]


def test_types_know_their_bases_and_subtypes() -> None:
    graph = WholeNet(SHOP)
    assert related(graph, "shop/book.py#Book", "bases") == ["shop/base.py#Item"]
    assert related(graph, "shop/base.py#Item", "subtypes") == ["shop/book.py#Book"]


def test_methods_list_what_they_override_and_their_overrides() -> None:
    graph = WholeNet(SHOP)
    assert related(graph, "shop/book.py#Book.price", "overrides") == ["shop/base.py#Item.price"]
    assert related(graph, "shop/base.py#Item.price", "overridden") == ["shop/book.py#Book.price"]
    assert related(graph, "shop/base.py#Item.name", "overridden") == []


def test_files_import_each_other() -> None:
    graph = WholeNet(SHOP)
    assert related(graph, "shop/book.py", "importers") == ["shop/cart.py"]
    assert related(graph, "shop/cart.py", "imports") == ["shop/book.py"]
    assert related(graph, "shop/base.py", "importers", 3) == [
        "shop/book.py", "shop/cart.py", "tests/test_cart.py",
    ]  # fmt: skip


def test_a_file_as_a_target_leaves_out_what_stays_inside_it() -> None:
    graph = WholeNet(SHOP)
    assert related(graph, "shop/cart.py", "callers") == ["tests/test_cart.py#test_show"]
    assert related(graph, "shop/cart.py", "callees") == [
        "shop/book.py#Book", "shop/book.py#Book.price",
    ]  # fmt: skip


def test_a_change_reaches_callers_by_distance_and_those_who_may_be_dispatched_to_it() -> None:
    graph = WholeNet(SHOP)
    assert hit(graph, "shop/book.py#tax") == {
        "shop/book.py#Book.price": 1,
        "shop/base.py#Item.price": 2,
        "shop/cart.py#total": 2,
        "shop/cart.py#show": 3,
        "tests/test_cart.py#test_show": 4,
    }


def test_a_changed_base_method_affects_its_overrides_only() -> None:
    graph = WholeNet(SHOP)
    assert hit(graph, "shop/base.py#Item.price") == {"shop/book.py#Book.price": 1}


def test_depth_bounds_the_reach() -> None:
    graph = WholeNet(SHOP)
    assert set(hit(graph, "shop/book.py#tax", depth=1)) == {"shop/book.py#Book.price"}


def test_without_time_a_walk_ends_and_says_so() -> None:
    files = {"a.py": "".join(f"def f{at}(): f{at + 1}()\n" for at in range(40))}
    graph = WholeNet(files)
    graph.steps = 3
    found = reach(graph, [graph.node("a.py#f39")], 5)
    assert found.cut
    assert [graph.name(one.node) for one in found.users] == ["a.py#f38", "a.py#f37", "a.py#f36"]
    walk = Walk(graph, symbol_target(graph, graph.node("a.py#f39")))
    known = [graph.name(caller.node) for caller in walk.related("callers", 3)]
    assert known == ["a.py#f38"]  # What is resolved about the target itself is always listed.
    assert walk.cut == {"callers"}
    ends = [symbol_target(graph, graph.node(f"a.py#f{at}")) for at in (1, 3)]
    assert routes(graph, ends[0], ends[1], 1) == ((), False)


def test_importing_a_changed_file_does_not_pass_the_change_on() -> None:
    graph = WholeNet(
        {
            "a.py": "X = 1\n",
            "b.py": "import a\n",
            "c.py": "import b\n",
        }
    )
    assert hit(graph, "a.py") == {"b.py": 1}


def test_cycles_of_calls_imports_and_bases_end() -> None:
    graph = WholeNet(
        {
            "a.py": "from b import *\n\n\nclass A(B):\n    def go(self):\n"
            "        return ping()\n\n\n"
            "def ping():\n    return pong()\n",
            "b.py": "from a import *\n\n\nclass B(A):\n    def go(self):\n"
            "        return pong()\n\n\n"
            "def pong():\n    return ping()\n",
        }
    )
    assert "b.py#pong" in hit(graph, "a.py#ping")
    assert related(graph, "a.py#ping", "callers", 3)
    related(graph, "a.py#A.go", "overrides", 3)


def paths(graph: WholeNet, start: str, goal: str, most: int = 5) -> list[list[str]]:
    found = routes(
        graph, symbol_target(graph, graph.node(start)), symbol_target(graph, graph.node(goal)), most
    )
    return [
        [graph.name(steps[0].source), *(graph.name(one.target) for one in steps)]
        for steps in found.paths
    ]


def test_a_path_goes_step_by_step_and_through_overrides() -> None:
    graph = WholeNet(SHOP)
    assert paths(graph, "shop/cart.py#show", "shop/book.py#tax") == [
        ["shop/cart.py#show", "shop/cart.py#total", "shop/book.py#Book.price", "shop/book.py#tax"]
    ]


def test_paths_are_distinct_and_the_shortest_comes_first() -> None:
    graph = WholeNet(
        {
            "a.py": "def a():\n    b()\n    c()\n\n\ndef b():\n    d()\n\n\n"
            "def c():\n    b()\n    d()\n\n\ndef d():\n    pass\n"
        }
    )
    found = paths(graph, "a.py#a", "a.py#d")
    assert sorted(map(len, found)) == [3, 3, 4]
    assert len(found[0]) == 3
    assert len({tuple(one) for one in found}) == 3
    assert len(paths(graph, "a.py#a", "a.py#d", most=1)) == 1


def test_no_path_is_found_against_the_direction_of_use() -> None:
    graph = WholeNet(SHOP)
    assert paths(graph, "shop/book.py#tax", "shop/cart.py#show") == []


def test_a_path_of_eleven_steps_is_too_long() -> None:
    chain = "".join(f"def f{at}():\n    f{at + 1}()\n\n\n" for at in range(12))
    graph = WholeNet({"a.py": f"{chain}def f12():\n    pass\n"})
    assert paths(graph, "a.py#f0", "a.py#f11") == []
    assert len(paths(graph, "a.py#f0", "a.py#f10")[0]) == 11


def test_many_paths_are_cut_in_bounded_work() -> None:
    calls = ["; ".join(f"l{at + 1}_{m}()" for m in range(12)) for at in range(9)] + ["end()"]
    layers = [
        f"def l{at}_{n}():\n    {call}\n\n\n" for at, call in enumerate(calls) for n in range(12)
    ]
    graph = WholeNet({"a.py": f"{''.join(layers)}def end():\n    pass\n"})
    assert len(paths(graph, "a.py#l0_0", "a.py#end", most=5)) == 5


def test_a_table_returns_the_edges_it_stored() -> None:
    table = Table()
    edges = [
        Edge(b"a", -1, b"b", -1, "import", "b", 1, 1.0),
        Edge(b"a", 0, b"b", 2, "call", "go", 7, 0.5),
    ]
    table.add(b"c", [Edge(b"c", -1, b"a", -1, "import", "a", 1, 1.0)])
    assert table.edges_of(b"a", 0) == []
    table.add(b"a", edges)
    assert table.edges_of(b"a", 0) == edges[1:]
    assert table.edges_from(b"a") == edges
    assert table.edges_to(b"b", 2) == edges[1:]
    assert table.edges_to(b"b", 0) == []
    assert b"a" in table
    assert b"b" not in table


def test_a_subtree_holds_the_definitions_inside() -> None:
    graph = WholeNet(SHOP)
    symbols = graph.symbols(b"shop/base.py")
    assert {symbols[at].qualified for at in subtree(symbols, 0)} == {
        "Item", "Item.price", "Item.name",
    }  # fmt: skip


TRAITS = {
    "Cargo.toml": '[package]\nname = "a"\n',
    "src/lib.rs": "pub mod flag;\npub mod defs;\n",
    "src/flag.rs": (
        "pub trait Flag { fn name(&self); fn doc(&self) {} }\n"
        "pub fn show(one: &dyn Flag) { one.name(); }\n"
        "pub fn all<F: Flag>(one: F) { one.name(); }\npub struct Far;\n"
    ),
    "src/defs.rs": (
        "use crate::flag::{Far, Flag};\nstruct Quiet;\n"
        "impl Flag for Quiet {\n    fn name(&self) {}\n}\n"
        "impl Flag for Far {\n    fn name(&self) {}\n    fn doc(&self) {}\n}\n"
        "impl Quiet {\n    fn doc(&self) {}\n}\n"
    ),
}


def test_a_block_of_a_trait_makes_a_type_derive_and_its_methods_override() -> None:
    graph = WholeNet(TRAITS)
    assert related(graph, "src/flag.rs#Flag", "subtypes") == ["src/defs.rs", "src/defs.rs#Quiet"]
    assert related(graph, "src/defs.rs#Quiet", "bases") == ["src/flag.rs#Flag"]
    assert related(graph, "src/flag.rs#Flag.name", "overridden") == [
        "src/defs.rs#Quiet.name",
        "src/defs.rs#Far.name",
    ]
    assert related(graph, "src/flag.rs#Flag.doc", "overridden") == ["src/defs.rs#Far.doc"]
    assert related(graph, "src/defs.rs#Quiet.name", "overrides") == ["src/flag.rs#Flag.name"]


def test_calls_through_a_trait_count_for_its_implementations() -> None:
    graph = WholeNet(TRAITS)
    assert hit(graph, "src/defs.rs#Quiet.name") == {
        "src/flag.rs#Flag.name": 1,
        "src/flag.rs#all": 2,
        "src/flag.rs#show": 2,
    }
    assert hit(graph, "src/flag.rs#Flag.name", depth=1).keys() >= {
        "src/defs.rs#Quiet.name",
        "src/defs.rs#Far.name",
    }
    assert paths(graph, "src/flag.rs#show", "src/defs.rs#Far.name") == [
        ["src/flag.rs#show", "src/flag.rs#Flag.name", "src/defs.rs#Far.name"]
    ]


INTERFACES = {
    "go.mod": "module m\n",
    "run/run.go": (
        "package run\n\nimport (\n\t\"context\"\n\t\"io\"\n)\n\ntype Opt struct{}\n"
        "type Runner interface {\n\tRun(ctx context.Context, a, b int, o ...Opt) (int, error)\n}\n"
        "type Both interface {\n\tRunner\n\tStop()\n}\n"
        "type Far interface {\n\tio.Closer\n\tStop()\n}\n"
        "type Own interface {\n\tStop()\n\thide()\n}\n"
        "func Go(r Runner) { r.Run(nil, 1, 2) }\n"
    ),
    "use/use.go": (
        'package use\n\nimport (\n\tc "context"\n\t"m/run"\n)\n\ntype Opt struct{}\n'
        "type Base struct{}\ntype One struct{ Base }\ntype Other struct{}\ntype Wrong struct{}\n"
        "func (b *Base) Run(ctx c.Context, x int, y int, all ...run.Opt) (n int, err error) "
        "{ return 1, nil }\n"
        "func (o One) Stop() {}\nfunc (o One) hide() {}\n"
        "func (Other) Run(ctx c.Context, x, y int, o ...Opt) (int, error) { return 1, nil }\n"
        "func (Wrong) Run(x int) {}\nfunc (Wrong) Stop() {}\nfunc (Wrong) Close() error "
        "{ return nil }\n"
    ),
}  # fmt: skip


def test_a_type_of_go_satisfies_the_interfaces_of_which_it_has_all_methods() -> None:
    graph = WholeNet(INTERFACES)
    assert related(graph, "run/run.go#Runner", "subtypes") == [
        "run/run.go#Both", "use/use.go#Base", "use/use.go#One",
    ]  # fmt: skip
    assert related(graph, "run/run.go#Both", "subtypes") == ["use/use.go#One"]
    assert related(graph, "run/run.go#Far", "subtypes") == []
    assert related(graph, "run/run.go#Own", "subtypes") == []
    assert related(graph, "run/run.go#Runner.Run", "overridden") == ["use/use.go#Base.Run"]
    assert related(graph, "use/use.go#One.Stop", "overrides") == ["run/run.go#Both.Stop"]
    assert hit(graph, "use/use.go#Base.Run")["run/run.go#Go"] == 2
    assert hit(graph, "use/use.go#Other.Run") == {}
    assert hit(graph, "run/run.go#Runner.Run", depth=1).keys() == {
        "use/use.go#Base.Run", "run/run.go#Go",
    }  # fmt: skip
