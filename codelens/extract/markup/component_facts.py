"""Builds the facts of a component from those of its scripts and of its template's script."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import NamedTuple, cast

from tree_sitter import Node, Query, QueryCursor

from codelens.extract.embedded_code import EmbeddedPart, PartFacts, Root
from codelens.extract.language_settings import language_info
from codelens.extract.markup.component_members import Declared, Member, declared
from codelens.extract.markup.virtual_script import NAME, OPENING, TAKEN, Piece, VirtualScript, words
from codelens.extract.parse.grammars import grammar
from codelens.extract.source_text import Source, before_blanks
from codelens.extract.symbols.comments import Comments
from codelens.types import Binding, Import, Reference, Scope, Symbol

DEFAULT = "default"
"""The name of a component's symbol. Its file has the name that other files use."""
_NO_NAMES = frozenset({"method", "property", "field", "member", "key", "heading"})
_DECLARED = frozenset({"property", "method", "field", "function"})
_INDEXED = frozenset({"def", "member"})
_HEAD = re.compile(r"[A-Za-z_$][\w$]*")
_WRITTEN = re.compile(rb"[\w$-]+")
_PROPS = re.compile(r"(?:withDefaults|defineProps|\$props)\([^()]*\)")
_OF_DEFAULT = f"`{DEFAULT}`"
_ALWAYS = frozenset({"this", "undefined", "null", "Astro"})
_CALLS = """
(call_expression
  function: [(identifier) @name (member_expression property: (_) @name)]
  arguments: (arguments
    [(object) (array) (parenthesized_expression) (ternary_expression) (binary_expression)])
    @arguments)
"""
"""Calls that may take an object literal."""
_SIGNATURES = frozenset({"property", "method"})
_SETUP = re.compile(rb"<script\b[^>]*\ssetup\b", re.IGNORECASE)
_TAKES = ".#takes0"
_TAKEN = "." + TAKEN.decode()
_FENCE = b"---"
_LONGEST = 200
_MOST_ARGUMENTS = 8


class Scripts(NamedTuple):
    """The scripts of a component, and the script of its template."""

    part: EmbeddedPart
    virtual: VirtualScript
    source: Source
    """The text followed by the template's script."""
    bound: list[Import]
    """Names that count as bound, because the component's members are used by their bare names."""
    framework: str


def scripts_of(
    parts: Sequence[EmbeddedPart], source: Source, framework: str
) -> tuple[Scripts, list[EmbeddedPart]]:
    """Returns the scripts of a component with the template's, and its other parts."""
    text, info = source.text, language_info(framework)
    # In prose, code in another language is quoted.
    chosen = [part for part in parts if part.language in info.scripts and not info.prose]
    if framework == "astro":
        # Scripts in elements are modules of their own.
        chosen = [part for part in chosen if text[: part.spans[0][0]].strip() == _FENCE]
    others = [part for part in parts if part not in chosen]
    languages = (info.least_script, *(part.language for part in chosen))
    language = max(languages, key=info.scripts.index)
    spans = [span for part in chosen for span in part.spans]
    own = words(b"\n".join([text[start:end] for start, end in spans]))
    translator = import_module(f"codelens.extract.markup.{framework}_template")
    opening: bytes = getattr(translator, "OPENING", OPENING)
    virtual = VirtualScript(text, opening, own)
    cast("Callable[[VirtualScript], None]", translator.translate)(virtual)
    spans += virtual.scripts
    own |= words(b"\n".join([text[start:end] for start, end in virtual.scripts]))
    whole = virtual.finished()
    used = words(whole[virtual.base :]) | {word for word in own if word[:1] == b"$"}
    # Where the translation is a class, its members are bound by themselves.
    bound = [Import("", word.decode(), "", 0) for word in used] if opening else []
    # The span starts at the line break, which ends the last statement of a script.
    spans.append((virtual.base, len(whole)))
    depth = chosen[0].depth if chosen else 1
    part = EmbeddedPart(language, spans, depth)
    return Scripts(part, virtual, Source(whole, source.check), bound, framework), others


def component_facts(
    facts: PartFacts, scripts: Scripts, source: Source
) -> tuple[EmbeddedPart, PartFacts]:
    """Returns the facts of a component at their places in its text.

    Args:
        facts: those of the scripts and the template's script.
        scripts: what they were extracted from.
        source: the component.
    """
    return _Component(facts, scripts, source).joined()


class _Component:
    def __init__(self, facts: PartFacts, scripts: Scripts, source: Source) -> None:
        self._facts = facts
        self._virtual = scripts.virtual
        self._virtual_source = scripts.source
        self._language = scripts.part.language
        self._framework = scripts.framework
        self._end = max((end for _, end in scripts.part.spans[:-1]), default=0)
        """Where the last script ends."""
        self._source = source
        nodes = [root.node for root in facts.roots]
        self._declared: Declared = declared(
            nodes, scripts.source, scripts.framework, self._virtual.base
        )
        self._symbols: list[Symbol] = []
        self._places: list[int] = []
        self._template = -1
        self._rows: list[Binding] = []
        self._by_name: dict[str, list[int]] = {}
        self._own: set[tuple[str, int]] = set()
        """Names and lines of members that the scripts declare in a type."""

    def joined(self) -> tuple[EmbeddedPart, PartFacts]:
        """Returns the facts as those of one part."""
        facts, base = self._facts, self._virtual.base
        self._place_symbols()
        scopes = [
            Scope(entry.parent, self._places[entry.symbol] if entry.symbol >= 0 else -1, entry.kind)
            for entry in facts.scopes
        ]
        template = next(
            (at for at, entry in enumerate(facts.scopes) if entry.symbol == self._template >= 0), -1
        )
        if template >= 0:
            scopes[template] = Scope(0, 0, "class")
        self._members(template)
        rows = self._bindings(scopes, template)
        names = _Names(self._symbols, facts.imports, rows, scopes, template)
        if self._declared.has_options and not _SETUP.search(self._source.text):
            names.hide({entry.local for entry in self._declared.members})
        rows = [
            self._of_component(row, names)
            for row in rows
            if row.name != "this" or not names.is_inside(row.scope)
        ]
        references = self._references(names)
        imports = [
            entry._replace(
                line=self._virtual.line_of(entry.line, self._virtual_source, self._source)
            )
            for entry in facts.imports
        ]
        size = self._source.size
        roots = [Root(root.node, min(root.end, base), root.depth) for root in facts.roots]
        comments = [node for node in facts.comments.nodes if node.start_byte < base]
        return EmbeddedPart(self._language, [(0, size)], 0, is_quoted=False), PartFacts(
            [root for root in roots if root.node.start_byte < base],
            Comments(self._source, comments),
            self._symbols,
            references,
            imports,
            scopes,
            [*rows, *self._rows],
        )

    def _place_symbols(self) -> None:
        """Puts the component first, and drops symbols that exist only in the translation."""
        base, source = self._virtual.base, self._source
        last = max(1, len(source.line_starts) - source.text.endswith(b"\n"))
        names = [entry.name for entry in self._declared.members]
        shown = f"component {{ {', '.join(dict.fromkeys(names))} }}" if names else "component"
        self._symbols.append(
            Symbol(
                DEFAULT,
                DEFAULT,
                "class",
                shown[:_LONGEST],
                "",
                True,
                1,
                last,
                1,
                0,
                source.size,
                -1,
            )
        )
        for at, symbol in enumerate(self._facts.symbols):
            parent = self._places[symbol.parent] if symbol.parent >= 0 else -1
            if symbol.name == NAME:
                # It is inside of another definition if a broken script swallowed it.
                self._template = at if symbol.parent < 0 else self._template
                self._places.append(0)
                continue
            if symbol.start_byte >= base:
                moved = self._moved(symbol)
                parent = max(parent, 0)
                self._places.append(parent if moved is None else len(self._symbols))
                if moved is not None:
                    self._symbols.append(moved._replace(parent=parent))
                continue
            if symbol.name == DEFAULT and symbol.parent < 0 and symbol.kind not in _SIGNATURES:
                self._places.append(0)
                continue
            ended = self._ended(symbol)
            if ended.name_line > ended.end_line:
                # The name is beyond the end of the script, so it comes from the translated
                # template.
                self._places.append(max(parent, 0))
                continue
            self._places.append(len(self._symbols))
            self._symbols.append(ended._replace(parent=parent))

    def _ended(self, symbol: Symbol) -> Symbol:
        """Ends a definition that its script never closes where the script ends."""
        last = self._end
        if symbol.end_byte <= last:
            return symbol
        end = before_blanks(self._source.text, last)
        return symbol._replace(
            signature=symbol.signature.partition("</")[0].rstrip(),
            end_byte=end,
            end_line=self._source.line(end - 1),
        )

    def _moved(self, symbol: Symbol) -> Symbol | None:
        """Moves a definition that the markup makes to its place; None for any other definition."""
        virtual, source = self._virtual, self._source
        if not virtual.is_definition(symbol.start_byte):
            return None
        start, end = (virtual.source_of(at)[0] for at in (symbol.start_byte, symbol.end_byte - 1))
        if start >= end:
            return None
        first, last = source.line(start), source.line(end - 1)
        name = virtual.line_of(symbol.name_line, self._virtual_source, source)
        return symbol._replace(
            qualified=symbol.name,
            start_line=first,
            end_line=last,
            name_line=min(max(name, first), last),
            start_byte=start,
            end_byte=end,
        )

    def _members(self, template: int) -> None:
        """Adds a symbol for each member that has none, and binds the members."""
        if template < 0:
            return
        for at, symbol in enumerate(self._symbols):
            self._by_name.setdefault(symbol.name, []).append(at)
        slots = [
            Member(name.decode("utf-8", "replace"), start, end)
            for name, start, end in self._virtual.members
            if name.strip() and start < end
        ]
        seen: set[tuple[str, int]] = set()
        for entry in (*self._declared.members, *slots):
            at = self._member(entry)
            if at < 0:
                continue
            own = self._symbols[at]
            if entry.type:
                line = self._source.line(entry.start)
                self._rows.append(Binding(template, entry.name, ":", entry.type, line))
            for name in dict.fromkeys((entry.name, _camelized(entry.name))):
                if (name, at) not in seen and not (own.parent == 0 and own.name == name):
                    place = self._source.line(entry.start)
                    self._rows.append(Binding(template, name, "prop", str(at), place))
                seen.add((name, at))
        for text, start in self._declared.bases:
            self._rows.append(Binding(template, "", "base", text, self._source.line(start)))
        if self._framework == "astro":
            self._rows.append(
                Binding(0, "Astro", "=", f"{{props:{_OF_DEFAULT},self:{DEFAULT}}}", 1)
            )

    def _member(self, entry: Member) -> int:
        """Returns the symbol of a member, added if needed; -1 if nothing here defines it."""
        place = self._source.line(entry.start)
        for at in self._by_name.get(entry.local or entry.name, ()):
            symbol = self._symbols[at]
            if entry.local and symbol.parent < 0:
                return at
            is_here = symbol.start_byte <= entry.start < symbol.end_byte
            if is_here and symbol.name_line == place and (entry.local or symbol.kind in _DECLARED):
                if not entry.local:
                    # A property in the type of the props belongs to the component.
                    self._own.add((entry.name, place))
                    self._symbols[at] = symbol._replace(
                        parent=0, qualified=f"{DEFAULT}.{symbol.name}"
                    )
                return at
        if entry.local and entry.local not in self._by_name:
            return -1
        shown = " ".join(self._source.slice(entry.start, entry.end).split())[:_LONGEST]
        last = self._source.line(entry.end - 1)
        self._by_name.setdefault(entry.name, []).append(len(self._symbols))
        self._symbols.append(
            Symbol(
                entry.name, f"{DEFAULT}.{entry.name}", "property", shown, "", True,
                place, last, place, entry.start, entry.end, 0,
            )
        )  # fmt: skip
        return len(self._symbols) - 1

    def _bindings(self, scopes: list[Scope], template: int) -> list[Binding]:
        """Returns the bindings of all scopes, at their lines."""
        rows: list[Binding] = []
        for row in self._facts.bindings:
            text, how = row.text, row.how
            if row.name == NAME or (how == "export" and row.name == DEFAULT):
                continue
            if how in _INDEXED:
                old = int(text)
                if self._places[old] == 0:
                    continue
                text = str(self._places[old])
            elif how == "=":
                text = _PROPS.sub(_OF_DEFAULT, text) if text[:1] in "wd$" else text
            elif row.name == "this" and how == "?" and self._declared.has_options:
                owner = scopes[row.scope].symbol
                if owner > 0 and self._symbols[owner].parent == 0:
                    how, text = ":", DEFAULT
            text = text.replace(_TAKEN, _TAKES)
            line = self._virtual.line_of(row.line, self._virtual_source, self._source)
            scope = row.scope
            if not scope and template >= 0 and how == ":" and (row.name, line) in self._own:
                scope = template
            rows.append(Binding(scope, row.name, how, text, line))
        return rows

    def _of_component(self, row: Binding, names: _Names) -> Binding:
        """Returns a binding of the template, whose value may begin with a member."""
        if row.how not in {"=", "+"} or not names.is_inside(row.scope):
            return row
        return row._replace(text=self._seen(row.text, row.scope, names))

    def _seen(self, text: str, scope: int, names: _Names) -> str:
        """Returns an expression as the template sees it: members by bare name, refs as values."""
        match = _HEAD.match(text)
        if match is None or names.is_local(scope, match[0]):
            return text
        rest = text[match.end() :]
        unwrapped = ".#held" if self._framework == "vue" and rest[:1] != "(" else ""
        own = "" if names.is_bound(scope, match[0]) else "this."
        return f"{own}{match[0]}{unwrapped}{rest}" if match[0] != "this" else text

    def _written(self, byte: int, name: str) -> str:
        """Returns a member's name as in the source; only Vue has two spellings."""
        match = None if self._framework == "vue" else _WRITTEN.match(self._source.text, byte)
        return match[0].decode("utf-8", "replace") if match is not None else name

    def _references(self, names: _Names) -> list[Reference]:
        """Returns all references at their places."""
        base, starts = self._virtual.base, self._virtual_source.line_starts
        references: list[Reference] = []
        for reference in self._facts.references:
            place = byte = starts[reference.line - 1] + reference.column
            use = reference
            if place >= base:
                byte, piece = self._virtual.source_of(place)
                seen = self._seen_use(reference, byte, piece, names)
                if seen is None:
                    continue
                use = seen
            if self._framework == "svelte" and use.name[:1] == "$" and names.is_store(use.name):
                use, byte = use._replace(name=use.name[1:], receiver=""), byte + 1
            use = self._at(use, byte)
            references.append(use._replace(symbol=self._owner(use.symbol, use.line)))
            if place >= base and reference.kind == "call":
                references += self._keys(references[-1], place)
        # TypeScript's own rules find the keys of arguments, too.
        return list(dict.fromkeys(references))

    def _seen_use(
        self, reference: Reference, byte: int, piece: Piece, names: _Names
    ) -> Reference | None:
        """Returns a use in the template's script as one in the template; or None."""
        if piece in {"glue", "definition"}:
            return None
        if piece == "member":
            return reference._replace(kind="name", name=self._written(byte, reference.name))
        name, scope, receiver = reference.name, reference.scope, reference.receiver
        if receiver:
            receiver = self._seen(receiver.replace(_TAKEN, _TAKES), scope, names)
            return reference._replace(receiver=receiver)
        if names.is_variable(scope, name):
            return None
        is_element = piece == "name" and names.is_of_script(name)
        is_member = not is_element and not names.is_bound(scope, name)
        return reference._replace(receiver="this") if is_member else reference

    def _at(self, reference: Reference, byte: int) -> Reference:
        """Returns a reference at a position of the source."""
        starts = self._source.line_starts
        line = bisect_right(starts, byte)
        return reference._replace(line=line, column=byte - starts[line - 1])

    def _keys(self, call: Reference, place: int) -> Iterator[Reference]:
        """Yields the keys of object literals that are passed to a prop or a function."""
        listed = self._arguments.get(place)
        if listed is None:
            return
        virtual = self._virtual
        of = f"{call.receiver}.{call.name}" if call.receiver else call.name
        is_prop = virtual.source_of(place)[1] == "member"
        values = [node for node in listed.named_children if not node.is_extra]
        for at, value in enumerate(values[:_MOST_ARGUMENTS]):
            for key, receiver in _keys(value, of if is_prop else f"{of}.#takes{at}"):
                byte, piece = virtual.source_of(key.start_byte)
                if piece == "exact" and len(receiver) <= _LONGEST:
                    name = self._virtual_source.slice(key.start_byte, key.end_byte)
                    use = call._replace(name=name, kind="name", receiver=receiver)
                    yield self._at(use._replace(arguments=-1, argument_lines=""), byte)

    @cached_property
    def _arguments(self) -> dict[int, Node]:
        """The arguments of calls in the template's script, by the position of the called name."""
        listed: dict[int, Node] = {}
        for root in self._facts.roots:
            cursor = QueryCursor(_calls(self._language))
            cursor.set_byte_range(self._virtual.base, self._virtual_source.size)
            for _, nodes in cursor.matches(root.node):
                for name, arguments in zip(nodes["name"], nodes["arguments"], strict=False):
                    listed[name.start_byte] = arguments
        return listed

    def _owner(self, symbol: int, line: int) -> int:
        """Returns the definition around a use, or the component if it swallowed the markup."""
        owner = self._places[symbol] if symbol >= 0 else 0
        around = self._symbols[owner]
        return owner if around.start_line <= line <= around.end_line else 0


class _Names:
    """The names that are bound at a place of the template."""

    def __init__(
        self,
        symbols: Sequence[Symbol],
        imports: Sequence[Import],
        rows: Sequence[Binding],
        scopes: Sequence[Scope],
        template: int,
    ) -> None:
        self._scopes = scopes
        self._template = template
        self._module = {
            symbol.name for symbol in symbols if symbol.kind not in _NO_NAMES and symbol.parent != 0
        }
        self._module |= {entry.alias or entry.name or entry.module for entry in imports}
        self._rows: dict[int, set[str]] = {}
        self._defined = {(row.scope, row.name) for row in rows if row.how == "def"}
        for row in rows:
            if row.how == "+":
                continue
            if row.scope:
                self._rows.setdefault(row.scope, set()).add(row.name)
            elif row.how != "member":
                self._module.add(row.name)
        self._module |= _ALWAYS
        self._inside: dict[int, bool] = {}
        self._shown: set[str] | None = None
        """The names of the scripts that the markup sees; None for all."""

    def hide(self, shown: set[str]) -> None:
        """Hides the names of the scripts from the markup, except for those that members expose."""
        self._shown = shown | _ALWAYS

    def is_inside(self, scope: int) -> bool:
        """Whether a scope belongs to the template."""
        if self._template < 0:
            return False
        chain: list[int] = []
        at = scope
        while at > self._template and at not in self._inside:
            chain.append(at)
            at = self._scopes[at].parent
        inside = self._inside.get(at, at == self._template)
        self._inside.update((entry, inside) for entry in chain)
        return inside

    def is_bound(self, scope: int, name: str) -> bool:
        """Whether a name at a scope of the template is bound there or in the scripts."""
        if self._shown is not None and name not in self._shown and not name[:1].isupper():
            return self.is_local(scope, name)
        return name in self._module or self._template < 0 or self.is_local(scope, name)

    def is_of_script(self, name: str) -> bool:
        """Whether an element or directive of a name can mean one that the scripts bind."""
        return name[:1].isupper() or name in self._module

    def is_variable(self, scope: int, name: str) -> bool:
        """Whether a name is a variable of the template."""
        holder = self._holder(scope, name)
        return holder >= 0 and (holder, name) not in self._defined

    def is_local(self, scope: int, name: str) -> bool:
        """Whether a scope of the template binds a name."""
        return self._holder(scope, name) >= 0

    def _holder(self, scope: int, name: str) -> int:
        while scope > self._template >= 0:
            if name in self._rows.get(scope, ()):
                return scope
            scope = self._scopes[scope].parent
        return -1

    def is_store(self, name: str) -> bool:
        """Whether `$x` is the value of a store `x` that the scripts bind."""
        return name[1:] in self._module and name not in self._module


@cache
def _calls(language: str) -> Query:
    return Query(grammar(language).language, _CALLS)


def _keys(value: Node, receiver: str) -> Iterator[tuple[Node, str]]:
    """Yields the keys in the value of an expression, each with its enclosing key."""
    pending = [(value, receiver)]
    while pending:
        node, of = pending.pop()
        if node.type in {"parenthesized_expression", "ternary_expression", "binary_expression"}:
            # No value of a condition is an object.
            pending += [(child, of) for child in node.named_children]
        elif node.type == "array":
            pending += [(child, f"{of}[*]") for child in node.named_children]
        elif node.type == "object":
            for pair in node.named_children:
                key = pair.child_by_field_name("key") if pair.type == "pair" else None
                if key is not None and key.type == "property_identifier":
                    yield key, of
                    inner = pair.child_by_field_name("value")
                    name = key.text.decode("utf-8", "replace") if key.text is not None else ""
                    if inner is not None and name.isidentifier():
                        pending.append((inner, f"{of}.{name}"))


def _camelized(name: str) -> str:
    first, *others = name.split("-")
    return first + "".join(part[:1].upper() + part[1:] for part in others)
