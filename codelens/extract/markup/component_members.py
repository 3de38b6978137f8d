"""Finds the declarations in a component's scripts: props, events, options and exposed members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.source_text import Source

_OPTIONS = frozenset(
    {"props", "emits", "data", "computed", "methods", "setup", "inject", "asyncData"}
)
_WRAPPERS = frozenset({"withDefaults", "defineComponent", "extend", "defineNuxtComponent"})
_DECLARING = frozenset({"lexical_declaration", "variable_declaration"})
_CALLED = frozenset(
    {"defineProps", "defineEmits", "defineModel", "defineExpose", "defineSlots", "$props"}
)
_FUNCTIONS = frozenset({"function_expression", "arrow_function", "method_definition"})
_PROP_TYPE = re.compile(
    r"\w+\s+as\s+(?:(?:\w+\.)?PropType\s*<(?P<named>.{1,200})>|\(\)\s*=>\s*(?P<returned>.{1,200}))",
    re.DOTALL,
)
_MOST_MEMBERS = 1_000


class Member(NamedTuple):
    """A member of a component, at the place where the source names it."""

    name: str
    start: int
    end: int
    local: str = ""
    """The name in the script that the member means, if it is not defined here."""
    type: str = ""
    """The type that an option gives it: `Object as PropType<Row>`."""


class Declared(NamedTuple):
    """The declarations of a component's scripts."""

    members: list[Member]
    bases: list[tuple[str, int]]
    """Types whose members are props, each with its position."""
    has_options: bool
    """Whether the component is an object with options."""


def declared(roots: Sequence[Node], source: Source, framework: str, base: int) -> Declared:
    """Returns what the scripts declare.

    Args:
        roots: the trees of the scripts.
        source: their text.
        framework: `vue`, `svelte`, `astro` or `mdx`; a page of MDX declares nothing.
        base: positions from here on do not belong to the scripts.
    """
    reader = _Reader(source, framework)
    for root in roots if framework != "mdx" else ():
        for node in root.named_children:
            if node.start_byte >= base:
                break
            reader.statement(node)
    return Declared(reader.members[:_MOST_MEMBERS], reader.bases, reader.has_options)


class _Reader:
    def __init__(self, source: Source, framework: str) -> None:
        self._source = source
        self._framework = framework
        self.members: list[Member] = []
        self.bases: list[tuple[str, int]] = []
        self.has_options = False

    def _text(self, node: Node | None) -> str:
        return self._source.slice(node.start_byte, node.end_byte) if node is not None else ""

    def statement(self, node: Node) -> None:
        """Reads a statement at the top of a script."""
        if self._framework == "astro":
            self._astro(node)
        elif node.type == "export_statement":
            self._export(node)
        elif node.type in _DECLARING:
            for declarator in node.named_children:
                if declarator.type == "variable_declarator":
                    self._declarator(declarator)
        elif node.type == "expression_statement":
            self._value(_first(node))

    def _astro(self, node: Node) -> None:
        if node.type == "export_statement":
            node = node.child_by_field_name("declaration") or node
        if node.type in {"interface_declaration", "type_alias_declaration"}:
            name = node.child_by_field_name("name")
            if self._text(name) == "Props":
                self.bases.append(("Props", node.start_byte))
        elif node.type == "import_statement" and "Props" in self._text(node):
            self.bases.append(("Props", node.start_byte))

    def _export(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if self._framework == "vue":
            options = self._object(value)
            if options is not None:
                self.has_options = True
                self._options(options)
            return
        declaration = node.child_by_field_name("declaration")
        if declaration is not None and declaration.type in _DECLARING:
            for declarator in declaration.named_children:
                self._local(declarator.child_by_field_name("name"))
        elif declaration is not None:
            self._local(declaration.child_by_field_name("name"))
        for clause in node.named_children:
            for entry in clause.named_children if clause.type == "export_clause" else ():
                name = entry.child_by_field_name("name")
                alias = entry.child_by_field_name("alias") or name
                if name is not None and alias is not None:
                    local = self._text(name)
                    self.members.append(
                        Member(self._text(alias), name.start_byte, name.end_byte, local)
                    )

    def _local(self, name: Node | None) -> None:
        if name is not None and name.type in {"identifier", "type_identifier"}:
            text = self._text(name)
            self.members.append(Member(text, name.start_byte, name.end_byte, text))

    def _object(self, value: Node | None) -> Node | None:
        """Returns the object with a component's options, alone or in `defineComponent(...)`."""
        for _ in range(3):
            if value is None or value.type == "object":
                return value
            if value.type != "call_expression":
                value = _first(value) if value.type.endswith("as_expression") else None
                continue
            if (
                self._text(value.child_by_field_name("function")).rpartition(".")[2]
                not in _WRAPPERS
            ):
                return None
            value = self._argument(value)
        return None

    def _argument(self, call: Node) -> Node | None:
        listed = call.child_by_field_name("arguments")
        return _first(listed)

    def _options(self, options: Node) -> None:
        for child in options.named_children:
            name = self._key(child)
            if name not in _OPTIONS:
                continue
            value = (
                child if child.type == "method_definition" else child.child_by_field_name("value")
            )
            if value is not None and value.type in _FUNCTIONS:
                value = self._returned(value)
            if value is not None:
                self._names(value)

    def _key(self, child: Node) -> str:
        key = child.child_by_field_name("name" if child.type == "method_definition" else "key")
        return self._text(key).strip("'\"") if key is not None else ""

    def _returned(self, function: Node) -> Node | None:
        """Returns the object that a function returns."""
        body = function.child_by_field_name("body")
        if body is not None and body.type == "parenthesized_expression":
            body = _first(body)
        if body is None or body.type == "object":
            return body
        for statement in reversed(body.named_children):
            if statement.type == "return_statement":
                value = _first(statement)
                return value if value is not None and value.type == "object" else None
        return None

    def _names(self, node: Node) -> None:
        """Takes the keys of an object, or the strings of a list."""
        for child in node.named_children:
            if child.type == "string":
                self._string(child)
            elif child.type == "shorthand_property_identifier":
                text = self._text(child)
                self.members.append(Member(text, child.start_byte, child.end_byte, text))
            elif child.type == "method_definition":
                self._named(child.child_by_field_name("name"))
            elif child.type == "pair":
                count = len(self.members)
                self._named(child.child_by_field_name("key"))
                type_ = self._prop_type(child.child_by_field_name("value"))
                if type_ and len(self.members) > count:
                    self.members[-1] = self.members[-1]._replace(type=type_)
            elif child.type == "spread_element":
                # `...mapGetters(["a"])`, `...mapState("space", { b: "c" })`
                call = _first(child)
                listed = call.child_by_field_name("arguments") if call is not None else None
                for argument in listed.named_children if listed is not None else ():
                    if argument.type in {"array", "object"}:
                        self._names(argument)

    def _prop_type(self, value: Node | None) -> str:
        """Returns the type in `Object as PropType<T>` or `Object as () => T`."""
        if value is not None and value.type == "object":
            pairs = [child for child in value.named_children if self._key(child) == "type"]
            value = pairs[0].child_by_field_name("value") if pairs else None
        if value is None or value.type != "as_expression":
            return ""
        match = _PROP_TYPE.fullmatch(self._text(value))
        return " ".join(match[match.lastgroup or 0].split()) if match is not None else ""

    def _named(self, key: Node | None) -> None:
        if key is None:
            return
        if key.type == "string":
            self._string(key)
        elif key.type in {"property_identifier", "identifier"}:
            self.members.append(Member(self._text(key), key.start_byte, key.end_byte))

    def _string(self, node: Node) -> None:
        text = self._text(node)[1:-1]
        if text:
            self.members.append(Member(text, node.start_byte + 1, node.end_byte - 1))

    def _declarator(self, declarator: Node) -> None:
        value = declarator.child_by_field_name("value")
        name = self._value(value)
        if name == "$props":
            self._svelte_props(declarator)

    def _value(self, value: Node | None) -> str:
        """Reads a call of a compiler macro. Returns its name."""
        while value is not None and value.type in {"await_expression", "parenthesized_expression"}:
            value = _first(value)
        if value is None or value.type != "call_expression":
            return ""
        name = self._text(value.child_by_field_name("function"))
        if name in _WRAPPERS:
            return self._value(self._argument(value))
        if name in _CALLED and name != "$props":
            self._macro(name, value)
        return name

    def _macro(self, name: str, call: Node) -> None:
        argument = self._argument(call)
        if name == "defineModel":
            if argument is not None and argument.type == "string":
                self._string(argument)
            else:
                function = call.child_by_field_name("function") or call
                self.members.append(Member("modelValue", function.start_byte, function.end_byte))
            return
        types = call.child_by_field_name("type_arguments")
        if types is not None and types.named_child_count:
            self._type(_first(types))
        if argument is not None and argument.type in {"object", "array"}:
            self._names(argument)

    def _svelte_props(self, declarator: Node) -> None:
        """Reads `let { a, b: c = 1 }: Props = $props()`."""
        annotation = declarator.child_by_field_name("type")
        pattern = declarator.child_by_field_name("name")
        if annotation is not None:
            self._type(_first(annotation))
        elif pattern is not None and pattern.type == "object_pattern":
            for part in pattern.named_children:
                self._taken(part)

    def _taken(self, part: Node) -> None:
        key = value = part
        if part.type == "object_assignment_pattern":
            key = value = part.child_by_field_name("left") or part
        elif part.type == "pair_pattern":
            key = part.child_by_field_name("key") or part
            value = part.child_by_field_name("value") or part
            if value.type == "assignment_pattern":
                value = value.child_by_field_name("left") or value
        elif part.type != "shorthand_property_identifier_pattern":
            return
        self.members.append(
            Member(self._text(key).strip("'\""), key.start_byte, key.end_byte, self._text(value))
        )

    def _type(self, node: Node | None) -> None:
        """Takes the members of the type of props or events."""
        pending = [node]
        while pending:
            node = pending.pop()
            if node is None:
                continue
            if node.type == "object_type":
                for child in node.named_children:
                    if child.type in {"property_signature", "method_signature"}:
                        self._named(child.child_by_field_name("name"))
                    elif child.type == "call_signature":
                        self._events(child)
            elif node.type in {"intersection_type", "union_type", "parenthesized_type"}:
                pending += node.named_children
            elif node.type == "function_type":
                self._events(node)
            elif node.type in {"type_identifier", "nested_type_identifier", "generic_type"}:
                self.bases.append((" ".join(self._text(node).split())[:200], node.start_byte))

    def _events(self, signature: Node) -> None:
        """Takes the names of events in `(event: "open" | "close"): void`."""
        parameters = signature.child_by_field_name("parameters")
        first = _first(parameters) if parameters is not None else None
        annotation = first.child_by_field_name("type") if first is not None else None
        for node in _strings(annotation):
            self._string(node)


def _first(node: Node | None) -> Node | None:
    """Returns the first child of a node that is not a comment."""
    for child in node.named_children if node is not None else ():
        if not child.is_extra:
            return child
    return None


def _strings(node: Node | None) -> Iterator[Node]:
    pending = [node]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if node.type == "string":
            yield node
        else:
            pending += reversed(node.named_children)
