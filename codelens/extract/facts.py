"""Extracts all facts of one text from one parse."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

from codelens.extract.embedded_code import (
    DEEPEST,
    EmbeddedPart,
    PartFacts,
    Root,
    bindings,
    chunks_of,
    joined,
    parts_of,
    text_chunks,
)
from codelens.extract.file_kinds import classify, decode
from codelens.extract.flow.expressions import Expressions
from codelens.extract.flow.references import references_of
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import LanguageInfo, language_info
from codelens.extract.markup import angular_facts
from codelens.extract.markup.component_facts import component_facts, scripts_of
from codelens.extract.markup.razor_facts import class_facts
from codelens.extract.parse.captures import Captures, ParseTimeout, check_work, limited
from codelens.extract.parse.grammars import grammar
from codelens.extract.parse.parse_repair import parsed
from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import Comments
from codelens.extract.symbols.definitions import definitions
from codelens.extract.symbols.imports import exported_again, import_spans, imports_of
from codelens.extract.symbols.symbols import symbols_of
from codelens.extract.tokenizer import pack_terms
from codelens.types import Facts, Import, Outcome, Structure, Tier

__all__ = ["ParseTimeout", "structure", "text_structure"]


def structure(text: bytes, language: str, *, symbols_only: bool = False) -> Structure:
    """Parses a UTF-8 text. The same text always gives the same facts.

    A text with syntax errors gives the facts of its intact parts.

    Args:
        text: the text.
        language: the language to parse it as.
        symbols_only: leave out references, imports and chunks; the symbols are the same.

    Raises:
        ParseTimeout: the text took more work than any text of its size should.
        SettingError: there is no such language.
    """
    if not language_info(language).grammar:
        return Structure((), (), (), ()) if symbols_only else text_structure(text)
    source = Source(text, check_work)
    with limited(source.size):
        extracted = _extracted(source, language, symbols_only=symbols_only)
        if symbols_only:
            return Structure(tuple(extracted.symbols), (), (), ())
        chunks = chunks_of(extracted.roots, source, extracted.comments, extracted.symbols)
    return Structure(
        tuple(extracted.symbols),
        tuple(extracted.references),
        tuple(extracted.imports),
        tuple(chunks),
        tuple(extracted.scopes) if len(extracted.scopes) > 1 or extracted.bindings else (),
        tuple(extracted.bindings),
    )


def _extracted(
    source: Source,
    language: str,
    part: EmbeddedPart | None = None,
    level: int = 0,
    *,
    symbols_only: bool,
    known: Sequence[Import] = (),
    members_from: int | None = None,
) -> PartFacts:
    """Extracts the facts of a text or a part of it, including embedded parts.

    Names in `known` count as bound. For `members_from` see `references_of`.
    """
    rules = grammar(language)
    spans = part.spans if part is not None else []
    roots, captures = parsed(source.text, rules, spans)
    comments = Comments(source, captures.get("comment", []))
    statements = import_spans(captures, rules.info, source)
    defined = definitions(captures, rules, source.text, spans)
    imports = imports_of(captures, rules.info, statements, source)
    again = exported_again(captures, rules.info, imports, source)
    if again:
        imports = sorted([*imports, *again.values()], key=lambda imported: imported.line)
    symbols = symbols_of(defined, rules.info, source, comments, statements | again.keys())
    inner: list[tuple[EmbeddedPart, PartFacts]] = []
    parts = parts_of(captures, rules.info, source, spans) if level < DEEPEST else []
    if rules.info.template and not level and source.text.strip():
        with suppress(ParseTimeout):
            component, parts = _component(source, parts, rules.info, symbols_only=symbols_only)
            inner.append(component)
    for inner_part in parts:
        # A part that cannot be parsed in time stays plain text.
        with suppress(ParseTimeout):
            facts = _extracted(
                source, inner_part.language, inner_part, level + 1, symbols_only=symbols_only
            )
            if rules.info.prose and rules.info.template:
                # The names of a page mean nothing in the examples that it quotes.
                facts = facts._replace(references=[], imports=[], scopes=[], bindings=[])
            inner.append((inner_part, facts))
    if symbols_only:
        trees = [Root(root, source.size, 0) for root in roots] if known else []
        own = PartFacts(trees, comments, symbols.symbols, [], [], [], [])
        return joined(own, inner, rules.info, source) if inner else own
    bound = [*imports, *bindings(inner), *known]
    flow = Flow(captures, symbols, imports, rules.info, source)
    references = references_of(
        captures, symbols, bound, rules.info, source=source, flow=flow, members_from=members_from
    )
    depth = part.depth if part is not None else 0
    end = spans[-1][1] if spans else source.size
    trees = [Root(root, end, depth) for root in roots]
    own = PartFacts(
        trees, comments, symbols.symbols, references, imports, flow.scopes, flow.bindings
    )
    own = joined(own, inner, rules.info, source) if inner else own
    return own if level else _with_templates(own, captures, rules.info, source, flow.expressions)


def _with_templates(
    own: PartFacts, captures: Captures, info: LanguageInfo, source: Source, expressions: Expressions
) -> PartFacts:
    """Adds the facts of the templates in a text that are translated one by one."""
    templates: list[angular_facts.Template] = []
    language = info.template_script
    if language and source.text.strip():
        templates = [angular_facts.Template(0, source.size, 0, -1)]
    elif info.components and angular_facts.MARK in source.text:
        language = language_info(info.components).template_script
        own, templates = angular_facts.with_decorators(own, captures, source, expressions)
    for template in templates:
        # A template that cannot be parsed in time stays plain text.
        with suppress(ParseTimeout):
            own = _with_template(own, template, language, source)
    return own


def _with_template(
    own: PartFacts, template: angular_facts.Template, language: str, source: Source
) -> PartFacts:
    """Adds the facts of one template by the script that it is translated to."""
    script = angular_facts.script_of(source, template, language)
    facts = _extracted(
        script.source,
        script.part.language,
        script.part,
        DEEPEST,
        symbols_only=False,
        known=script.bound,
        members_from=0,
    )
    return angular_facts.with_template(own, facts, script, template, source)


def _component(
    source: Source, parts: list[EmbeddedPart], info: LanguageInfo, *, symbols_only: bool
) -> tuple[tuple[EmbeddedPart, PartFacts], list[EmbeddedPart]]:
    """Extracts the facts of a component's scripts and template. Returns its other parts too."""
    scripts, others = scripts_of(parts, source, info.template)
    facts = _extracted(
        scripts.source,
        scripts.part.language,
        scripts.part,
        DEEPEST,
        symbols_only=symbols_only,
        known=scripts.bound,
        members_from=scripts.virtual.base,
    )
    placed = class_facts if info.template == "razor" else component_facts
    return placed(facts, scripts, source), others


def text_structure(text: bytes) -> Structure:
    """Returns only chunks, cut between paragraphs, without a parse: about 10 ms per MB."""
    return Structure((), (), (), tuple(text_chunks(Source(text))))


# The function that worker processes run. It is pure: the facts depend only on bytes and language.

logger = logging.getLogger(__name__)

_NOT_ASCII, _LEAD = 0x80, 0xC0
_LOOKED_AT = 3
"""Bytes at the end to check: one less than the longest character has."""
_EMPTY = Structure((), (), (), ())


def facts_of(data: bytes, language: str, tier: Tier = "full") -> Facts:
    """Extracts the facts of a file's raw bytes; of plain text if the text cannot be parsed.

    `tier="text"` skips the parse and gives only chunks and terms. `tier="symbols"` gives only the
    symbols, at half the cost.
    """
    outcome, generated = classify(data)
    if outcome in {"binary", "oversized"}:
        return Facts(outcome, _EMPTY, 0, generated, {}, ())
    text = decode(data)
    structure = _EMPTY
    if outcome == "parsed" and tier != "text" and language != "text":
        outcome, structure = _parsed(text, language, tier)
    if tier == "symbols":
        return Facts(outcome, structure, _line_count(text), generated, {}, ())
    if outcome != "parsed" or tier == "text" or language == "text":
        outcome = "text" if outcome == "parsed" else outcome
        structure = text_structure(text)
    terms, lengths = pack_terms(text, structure.chunks, structure.symbols)
    return Facts(outcome, structure, _line_count(text), generated, terms, lengths)


def _line_count(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def _without_cut_character(text: bytes) -> bytes:
    """Returns the text with blanks in place of an incomplete character at its end.

    For such a character tree-sitter (0.26.1) requests more input. At the end of the input it reads
    beyond the empty reply and crashes the process.
    """
    tail = text[-2 * _LOOKED_AT :]
    if tail.isascii():
        return text
    start = 0
    while start < min(_LOOKED_AT, len(tail)) and _NOT_ASCII <= tail[start] < _LEAD:
        # Skip the continuation bytes of an earlier character.
        start += 1
    try:
        tail[start:].decode()
    except UnicodeDecodeError:
        end = text[-_LOOKED_AT:]
        return text[:-_LOOKED_AT] + bytes(byte if byte < _NOT_ASCII else 0x20 for byte in end)
    return text


def _parsed(text: bytes, language: str, tier: Tier) -> tuple[Outcome, Structure]:
    # Scanners take NUL for the end of the text. Within a text, Perl's scanner then reads out of
    # bounds and crashes the process, and Svelte's scanner restarts at each NUL.
    text = _without_cut_character(text.replace(b"\0", b" "))
    try:
        return "parsed", structure(text, language, symbols_only=tier == "symbols")
    except ParseTimeout:
        return "timeout", _EMPTY
    except RecursionError:
        logger.warning("a %s text is nested too deeply to parse; indexed as plain text", language)
        return "broken", _EMPTY
