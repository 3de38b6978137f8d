"""Reads Angular components: the fields of their decorators, and the facts of their templates."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.embedded_code import EmbeddedPart, PartFacts
from codelens.extract.flow.expressions import LITERAL, UNKNOWN, Expressions
from codelens.extract.markup.angular_expressions import PIPE
from codelens.extract.markup.angular_template import ELEMENT, Translated, translate
from codelens.extract.markup.virtual_script import VirtualScript, words
from codelens.extract.parse.captures import Captures
from codelens.extract.source_text import Source
from codelens.types import Binding, Import, Reference, Scope

HOW = "angular"
"""`Binding.how` of a decorator's field: name and text are its key and value."""
MEMBER = "io"
"""`Binding.how` of an input or output: its public name and the number of its symbol."""
MARK = b"@angular/core"
_KINDS = {
    "Component": "component", "Directive": "directive", "Pipe": "pipe", "NgModule": "module",
}  # fmt: skip
_TEXTS = {
    "selector": "selector",
    "exportAs": "exportAs",
    "name": "pipe",
    "standalone": "standalone",
}
_LISTS = frozenset({"imports", "declarations", "exports"})
_MEMBERS = frozenset({"Input", "Output"})
_ALIAS = re.compile(r"""\balias\s*:\s*["'`]([\w.-]+)["'`]""")
_QUOTED = re.compile(r"""\(\s*["'`]([\w.-]+)["'`]""")
_SIGNALS = frozenset("input input.required model model.required output".split())
_TYPED = _SIGNALS | frozenset("signal computed linkedSignal toSignal".split())
_QUERIES = frozenset(
    "viewChild viewChild.required contentChild contentChild.required viewChildren "
    "contentChildren".split()
)
_HEADS = re.compile(r"`[^`]*`|'[^']*'|(?<![\w$.#])[A-Za-z_$][\w$]*(?!\s*:)")
_NAMED = frozenset({"exact", "name"})
_NOT_BOUND = frozenset({"+", "def", "import", "member"})
_LONGEST_LIST = 4_000


class Template(NamedTuple):
    """A template in a text."""

    start: int
    end: int
    scope: int
    """The scope around the template: that of its component's class, or 0 in a separate file."""
    symbol: int
    """The component, or -1."""


class Script(NamedTuple):
    """The script that a template was translated to."""

    part: EmbeddedPart
    virtual: VirtualScript
    source: Source
    translated: Translated
    bound: list[Import]


def script_of(source: Source, template: Template, language: str) -> Script:
    """Translates a template to a script in a language."""
    text = source.text[template.start : template.end]
    virtual = VirtualScript(text)
    translated = translate(text, virtual)
    whole = virtual.finished()
    used = words(whole[virtual.base :])
    bound = [Import("", word.decode(), "", 0) for word in used]
    part = EmbeddedPart(language, [(virtual.base + 1, len(whole))], 1)
    return Script(part, virtual, Source(whole, source.check), translated, bound)


def with_template(
    own: PartFacts, facts: PartFacts, script: Script, template: Template, source: Source
) -> PartFacts:
    """Adds the facts of a template's script to those of the text, at their places."""
    placed = _Placed(facts, script, template, source, len(own.scopes) - 1)
    references = [*own.references, *placed.references(), *placed.uses()]
    references.sort(key=lambda fact: (fact.line, fact.column))
    return own._replace(
        references=references,
        scopes=[*own.scopes, *placed.scopes()],
        bindings=[*own.bindings, *placed.bindings()],
    )


class _Placed:
    def __init__(
        self, facts: PartFacts, script: Script, template: Template, source: Source, first: int
    ) -> None:
        self._facts = facts
        self._script = script
        self._template = template
        self._source = source
        self._virtual = script.virtual
        self._first = first
        self._inner = Source(source.text[template.start : template.end], source.check)
        self._rows: dict[int, set[str]] = {}
        for row in facts.bindings:
            self._rows.setdefault(row.scope, set()).add(row.name)

    def scopes(self) -> list[Scope]:
        """Returns the scopes of the template."""
        return [
            Scope(fact.parent + self._first if fact.parent else self._template.scope, -1, fact.kind)
            for fact in self._facts.scopes[1:]
        ]

    def _scope(self, scope: int) -> int:
        return scope + self._first if scope else self._template.scope

    def bindings(self) -> Iterator[Binding]:
        """Yields the variables of the template."""
        offset = self._source.line(self._template.start) - 1
        for row in self._facts.bindings:
            if not row.scope or "." in row.name or row.how in _NOT_BOUND:
                continue
            line = self._virtual.line_of(row.line, self._script.source, self._inner) + offset
            text = self._of_component(row.scope, row.text) if row.how == "=" else row.text
            yield Binding(self._scope(row.scope), row.name, row.how, text, line)

    def references(self) -> Iterator[Reference]:
        """Yields the uses in expressions."""
        starts = self._script.source.line_starts
        for fact in self._facts.references:
            byte = starts[fact.line - 1] + fact.column
            place, piece = self._virtual.source_of(byte)
            if piece not in _NAMED or byte < self._virtual.base:
                continue
            receiver = fact.receiver
            if receiver == PIPE.decode():
                receiver = "<|>"
            elif receiver:
                receiver = self._of_component(fact.scope, receiver)
            elif self._is_bound(fact.scope, fact.name):
                continue
            else:
                receiver = "this"
            yield self._at(place, fact.name, fact.kind, receiver, self._scope(fact.scope))

    def uses(self) -> Iterator[Reference]:
        """Yields the uses of directives, inputs and outputs."""
        for fact in self._script.translated.uses:
            yield self._at(fact.start, fact.name, "name", fact.element, self._template.scope)

    def _at(self, place: int, name: str, kind: str, receiver: str, scope: int) -> Reference:
        start = place + self._template.start
        line = bisect_right(self._source.line_starts, start)
        column = start - self._source.line_starts[line - 1]
        return Reference(name, kind, line, column, self._template.symbol, receiver, scope)

    def _is_bound(self, scope: int, name: str) -> bool:
        while scope > 0:
            if name in self._rows.get(scope, ()):
                return True
            scope = self._facts.scopes[scope].parent
        return False

    def _of_component(self, scope: int, text: str) -> str:
        """Returns an expression with `this` before the names that the template does not bind."""
        text = _PIPED.sub(r"<|\1>", text)
        text = _NAMED_ELEMENT.sub(self._element, text)
        if text[:1] == "<":
            return text

        def owned(match: re.Match[str]) -> str:
            name = match[0]
            if name[0] in "`'" or name == "this" or self._is_bound(scope, name):
                return name
            return f"this.{name}"

        return _HEADS.sub(owned, text)

    def _element(self, match: re.Match[str]) -> str:
        return self._script.translated.elements[int(match[1])]


_PIPED = re.compile(re.escape(PIPE.decode()) + r"\.([\w$]+)")
_NAMED_ELEMENT = re.compile(re.escape(ELEMENT.decode()) + r"\.e(\d+)")


# Reads the decorators of classes and members.


def with_decorators(
    own: PartFacts, captures: Captures, source: Source, expressions: Expressions
) -> tuple[PartFacts, list[Template]]:
    """Adds the facts from decorators of components, and returns the templates in them."""
    decorated = _Decorated(own, source, expressions)
    for node in captures.get("decorator", ()):
        decorated.decorator(node)
    for node in captures.get("definition.field", ()):
        if node.type == "public_field_definition":
            decorated.field(node)
    for node in captures.get("definition.variable", ()):
        decorated.list(node)
    if not decorated.rows:
        return own, []
    remaining = [
        row for row in own.bindings if (row.scope, row.name, row.line) not in decorated.replaced
    ]
    references = sorted([*own.references, *decorated.references], key=lambda fact: fact[2:4])
    return (
        own._replace(
            references=references,
            imports=[*own.imports, *decorated.imports],
            bindings=[*remaining, *decorated.rows],
        ),
        decorated.templates,
    )


class _Decorated:
    def __init__(self, own: PartFacts, source: Source, expressions: Expressions) -> None:
        self._own = own
        self._source = source
        self._written = expressions.written
        self._by_place = {
            (symbol.name_line, symbol.name): at for at, symbol in enumerate(own.symbols)
        }
        self._scope_of = {
            scope.symbol: at for at, scope in enumerate(own.scopes) if scope.kind == "class"
        }
        self.rows: list[Binding] = []
        self.replaced: set[tuple[int, str, int]] = set()
        self.imports: list[Import] = []
        self.references: list[Reference] = []
        self.templates: list[Template] = []

    def _text(self, node: Node | None) -> str:
        return "" if node is None else self._source.slice(node.start_byte, node.end_byte)

    def _line(self, node: Node) -> int:
        return self._source.line(node.start_byte)

    def _symbol(self, definition: Node | None) -> int:
        name = definition.child_by_field_name("name") if definition is not None else None
        return -1 if name is None else self._by_place.get((self._line(name), self._text(name)), -1)

    def decorator(self, node: Node) -> None:
        """Reads one decorator."""
        call = node.named_child(0) if node.named_child_count else node
        function = call.child_by_field_name("function")
        if function is None:
            return
        name, target = self._text(function), _decorated(node)
        symbol = self._symbol(target)
        if symbol < 0:
            return
        if name in _MEMBERS:
            self._member(symbol, self._text(call.child_by_field_name("arguments")))
        elif name in _KINDS and symbol in self._scope_of:
            arguments = call.child_by_field_name("arguments")
            options = arguments.named_children[:1] if arguments is not None else []
            self._row(symbol, "kind", _KINDS[name], node)
            for pair in options[0].named_children if options else ():
                if pair.type == "pair":
                    self._option(symbol, pair, is_pipe=name == "Pipe")

    def _row(self, symbol: int, name: str, text: str, node: Node) -> None:
        self.rows.append(Binding(self._scope_of[symbol], name, HOW, text, self._line(node)))

    def _option(self, symbol: int, pair: Node, *, is_pipe: bool) -> None:
        key = self._text(pair.child_by_field_name("key"))
        value = pair.child_by_field_name("value")
        if value is None:
            return
        if key in _LISTS:
            self._row(symbol, key, self._listed(value), pair)
        elif key in _TEXTS and (key != "name" or is_pipe):
            self._row(symbol, _TEXTS[key], " ".join(self._text(value).strip("'\"`").split()), pair)
        elif key == "templateUrl" and value.type in {"string", "template_string"}:
            module = self._text(value)[1:-1]
            self._row(symbol, key, module, pair)
            place = self._line(value)
            self.imports.append(Import(module, "", "", place))
            column = value.start_byte - self._source.line_starts[place - 1]
            self.references.append(Reference(module, "name", place, column, symbol))
        elif key == "template" and value.type in {"string", "template_string"}:
            start, end = value.start_byte + 1, value.end_byte - 1
            self.templates.append(Template(start, end, self._scope_of[symbol], symbol))

    def _listed(self, node: Node) -> str:
        """Writes the classes of a list, separated by commas; `...` before a list."""
        while node.type in {"as_expression", "satisfies_expression"}:
            node = node.named_child(0) or node
        if node.type != "array":
            return f"...{self._text(node)}"
        names: list[str] = []
        for item in node.named_children:
            text = self._text(item)
            if item.type == "call_expression":
                inner = re.search(r"=>\s*([\w$.]+)", text)
                text = inner[1] if inner else text.partition("(")[0].rpartition(".")[0]
            if text and " " not in text:
                names.append(text)
        return ",".join(names)[:_LONGEST_LIST]

    def list(self, node: Node) -> None:
        """Reads a constant list of classes: `const COMMON = [A, B]`."""
        value = node.child_by_field_name("value")
        if value is None or value.type not in {"array", "as_expression"}:
            return
        text, name = self._listed(value), node.child_by_field_name("name")
        if name is not None and re.fullmatch(r"(?:\.{3})?[A-Z][\w$,.]*", text):
            self.rows.append(Binding(0, self._text(name), HOW, text, self._line(node)))

    def _member(self, symbol: int, arguments: str) -> None:
        """Reads an input or output of a class."""
        member = self._own.symbols[symbol]
        scope = self._scope_of.get(member.parent)
        if scope is not None:
            alias = _QUOTED.match(arguments) or _ALIAS.search(arguments)
            public = alias[1] if alias is not None else member.name
            self.rows.append(Binding(scope, public, MEMBER, str(symbol), member.name_line))

    def field(self, node: Node) -> None:
        """Reads a field that is an input or output, a signal, or a service."""
        call = node.child_by_field_name("value")
        if call is None or call.type != "call_expression":
            return
        function = self._text(call.child_by_field_name("function"))
        arguments = call.child_by_field_name("arguments")
        symbol = self._symbol(node)
        if symbol < 0 or arguments is None:
            return
        if function in _SIGNALS:
            text = self._text(arguments)
            options = text if function.endswith("required") or function == "output" else ""
            options = options or text[text.find(",") :] if "," in text or options else ""
            self._member(symbol, options)
        row = self._typed(function, call, arguments)
        parent = self._own.symbols[symbol].parent
        if (
            row is not None
            and parent in self._scope_of
            and node.child_by_field_name("type") is None
        ):
            scope, line = self._scope_of[parent], self._line(node)
            name = self._own.symbols[symbol].name
            self.replaced |= {(scope, name, at) for at in range(line, line + 4)}
            self.rows.append(Binding(scope, name, *row, line))

    def _typed(self, function: str, call: Node, arguments: Node) -> tuple[str, str] | None:
        """Returns the expression for a field's value, if a call creates it."""
        first = arguments.named_child(0) if arguments.named_child_count else None
        types = call.child_by_field_name("type_arguments")
        named = next(iter(types.named_children), None) if types is not None else None
        if function == "output":
            return (":", f"OutputEmitterRef<{self._text(named)}>") if named is not None else None
        if function in _QUERIES:
            of = named or first
            text = self._text(of) if of is not None and of.type != "string" else ""
            many = "[]" if function.endswith("ren") else ""
            return (":", f"() => {text}{many}") if text else None
        if function.endswith(".asReadonly"):
            return "=", function.removesuffix(".asReadonly")
        if function not in _TYPED:
            return None
        if named is not None:
            return ":", f"() => {' '.join(self._text(named).split())}"
        if first is None:
            return None
        if function in {"computed", "linkedSignal"}:
            first = first.child_by_field_name("body") if first.type == "arrow_function" else None
        text = self._written(first)
        if text in {UNKNOWN, LITERAL}:
            return None
        return "=", text + (".#async" if function == "toSignal" else "") + ".#signal"


def _decorated(node: Node) -> Node | None:
    """Returns the definition that a decorator decorates."""
    around = node.parent
    if around is None:
        return None
    if around.type == "export_statement":
        return around.child_by_field_name("declaration")
    if around.type != "class_body":
        return around
    after = node.next_named_sibling
    while after is not None and after.type in {"decorator", "comment"}:
        after = after.next_named_sibling
    return after
