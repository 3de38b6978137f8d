"""Renders answers about the graph as compact lines and JSON.

Each text function returns a heading and blocks; the caller prints as many blocks as fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from codelens.answers.graph_answers import (
    AffectedNode,
    Basis,
    Changed,
    Fit,
    GraphNode,
    ImpactAnswer,
    MapAnswer,
    MapFile,
    MapSymbol,
    PathStep,
    PossibleUse,
    Reference,
    ReferencesAnswer,
    RelatedAnswer,
    Relative,
    TestFile,
)
from codelens.render.reading_text import Json, picked, receipt_json, with_usable_paths
from codelens.render.text_pieces import lines_of, one_line, part_of
from codelens.wording import count_of, some_of

_TITLES = {
    "callers": "called by", "callees": "calls", "users": "used by", "uses": "uses",
    "importers": "imported by", "imports": "imports", "bases": "derives from",
    "subtypes": "derived by", "overrides": "overrides", "overridden": "overridden by",
    "tests": "tests", "belongs_to": "belongs to", "defines": "defines", "exports": "exports",
}  # fmt: skip
_HOW = {
    "call": "calls", "ref": "uses", "inherit": "derives from", "import": "imports",
    "satisfy": "satisfies", "include": "includes",
    "overrides": "overrides", "overridden": "may run", "override": "may run",
}  # fmt: skip
_CHANGED_SHOWN = 20
_SITES_SHOWN, _TESTS_SHOWN, _PLACES_SHOWN = 3, 5, 8
_USED_SHOWN = 3


def place(node: GraphNode) -> str:
    """Render a handle with its lines; a file without lines."""
    if node.kind in {"file", "lines"} or node.start_line < 1:
        return node.handle
    return f"{node.handle}  {lines_of(node.start_line, node.end_line)}"


def close(signature: str) -> str:
    """Render a signature in one line, without the blanks of its line breaks."""
    text = one_line(signature)
    for loose, tight in (("( ", "("), (", )", ")"), (" )", ")"), ("[ ", "["), (", ]", "]")):
        text = text.replace(loose, tight)
    return text


def head_of(node: GraphNode) -> str:
    """Render the target."""
    shown = close(node.signature)
    return f"{place(node)}  {node.kind}{shown and f'  {shown}'}"


def _target(answer: ReferencesAnswer | RelatedAnswer) -> list[str]:
    """Render the target and its other places."""
    also = [place(node) for node in answer.places if node.handle != answer.target.handle]
    more = [f"also at {some_of(also, _PLACES_SHOWN)}"] if also else []
    return [head_of(answer.target), *more]


def related(answer: RelatedAnswer, *, detailed: bool = False) -> tuple[list[str], list[str]]:
    """Render heading and blocks by relation, or by path."""
    head = _owners(answer.owners, _GROUPED) or _target(answer)
    if answer.goal is not None:
        head.append(f"to {head_of(answer.goal)}")
        return head, [
            _path(number, path_steps) for number, path_steps in enumerate(answer.paths, 1)
        ]
    may = _possible_users(answer.may, answer.may_count)
    if not answer.owners:
        blocks, tests = _by_relation(answer.totals, answer.results, detailed=detailed)
        # Possible users come before the tests.
        return head, [*blocks, *may, *tests]
    groups: list[str] = []
    for owner, totals in zip(answer.owners, answer.owner_totals, strict=True):
        rows = [result for result in answer.results if result.owner == owner.handle]
        own, tests = _by_relation(totals, rows, detailed=detailed)
        first, *others = [*own, *tests] or ["nothing certain"]
        groups += [f"of {place(owner)}\n{first}", *others]
    return head, [*groups, *may]


def _by_relation(
    totals: Sequence[tuple[str, int]], results: Sequence[Relative], *, detailed: bool
) -> tuple[list[str], list[str]]:
    """Render the relatives of a definition, and its tests."""
    blocks: list[str] = []
    tests: list[str] = []
    for relation, total in totals:
        put = tests if relation == "tests" else blocks
        rows = [result for result in results if result.relation == relation]
        left = total - len(rows)
        more = f"  (+{left:,} not listed: kinds={relation}, higher limit)" if left else ""
        title = f"{_TITLES[relation]} ({total:,}){more}"
        for number, relative in enumerate(rows):
            line = f"  {_relative(relative, detailed=detailed)}"
            put.append(f"{title}\n{line}" if not number else line)
        if not rows:
            put.append(title)
    return blocks, tests


def _owners(owners: Sequence[GraphNode], about: str, counts: Sequence[int] = ()) -> list[str]:
    """Render the heading of an answer about several definitions with a name; else nothing.

    `counts`: the number of certain lines of each.
    """
    if not owners:
        return []
    lines = [f"  ({count_of(count, 'line')})" for count in counts] or [""] * len(owners)
    shown = [
        f"  {head_of(owner)}{count}"
        for owner, count in zip(owners[:_OWNERS_SHOWN], lines, strict=False)
    ]
    left = len(owners) - _OWNERS_SHOWN
    if left > 0:
        shown.append(f"  and {left:,} more")
    title = f"{len(owners):,} definitions have that name; {about}."
    return [f"{title} For one of them, give its handle:", *shown]


_OWNERS_SHOWN = 12
_GROUPED = "the answer is grouped by them"
_FAMILY = "overridden by it or overriding it (a change of its name must change these)"
_BASES: Mapping[Basis, str] = {
    "choice": "each means one of several definitions of that name",
    "name": "unresolved uses of the name, the likeliest first",
    "text": "named in text only, the likeliest first",
}


def _possible_users(may: Sequence[PossibleUse], count: int) -> Iterator[str]:
    """Render possible users, with the alternatives or evidence of each."""
    groups = [
        ([possible_use for possible_use in may if possible_use.basis == basis], sentence)
        for basis, sentence in _BASES.items()
    ]
    groups = [(group, sentence) for group, sentence in groups if group]
    for group, sentence in groups:
        # Unlisted uses come after all listed ones.
        left = count - len(may) if group is groups[-1][0] else 0
        more = f"  (+{left:,} not listed: higher limit)" if left else ""
        title = f"may be used by ({len(group) + left:,}; {sentence}){more}\n"
        for number, possible_use in enumerate(group):
            yield f"{title if not number else ''}  {_possible_use(possible_use)}"


def _possible_use(possible_use: PossibleUse) -> str:
    where = _places(possible_use.node, possible_use.sites)
    choices = "one of these" if possible_use.basis == "choice" else ""
    if possible_use.choices:
        choices = f"one of {possible_use.choices}"
    why = ", ".join(filter(None, (one_line(possible_use.why), choices)))
    return "  ".join(filter(None, (place(possible_use.node), where, why)))


def _relative(relative: Relative, *, detailed: bool) -> str:
    parts = [place(relative.node)]
    if relative.why:
        parts.append(relative.why)
    if relative.via:
        parts.append(f"[{relative.distance}] via {_short_handle(relative.via, relative.node)}")
    where = _places(relative.node, relative.sites)
    if where and relative.relation not in {"overrides", "overridden"}:
        parts.append(where)
    if relative.node.test and relative.relation != "tests":
        parts.append("test")
    if detailed and relative.node.signature:
        parts.append(f"\n      {close(relative.node.signature)}")
    return "  ".join(parts)


def _places(node: GraphNode, sites: Sequence[str]) -> str:
    """Render the first few sites; `references` lists every site with its line."""
    own = f"{node.path}:"
    shown: list[str] = []
    for site in sites[:_SITES_SHOWN]:
        path, _, line = site.rpartition(":")
        # The file is shown once: that of the definition, or of the previous site.
        is_file_shown = site.startswith(own) or (shown and path == sites[0].rpartition(":")[0])
        shown.append(f":{line}" if is_file_shown else site)
    left = len(sites) - len(shown)
    return f"at {', '.join(shown)}{f' +{left:,}' if left > 0 else ''}" if shown else ""


def references(answer: ReferencesAnswer, next_page: str) -> tuple[list[str], list[str]]:
    """Render heading and blocks: code lines under their file and definition.

    Args:
        answer: the answer.
        next_page: argument for the next page, with `{}` for the cursor.
    """
    tests = f", {answer.in_tests:,} of them in tests" if answer.in_tests else ""
    family = f", {answer.in_family:,} with its overrides" if answer.in_family else ""
    possible = f"; {count_of(answer.possible, 'line')} may" if answer.possible else ""
    use = "uses" if answer.certain == 1 else "use"
    use += " one" if answer.owners else " it"
    head = [
        *(_owners(answer.owners, _GROUPED, answer.owner_lines) or _target(answer)),
        f"{count_of(answer.certain, 'line')} certainly {use}{tests}{family}{possible}; "
        f"{count_of(answer.files, 'file')}",
    ]
    blocks: list[str] = []
    before: Reference | None = None
    for reference in answer.references:
        blocks.append("\n".join([*_headings(before, reference), f"    {_reference(reference)}"]))
        before = reference
    if answer.left:
        blocks.append(
            f"{count_of(answer.left, 'more line')}: higher limit, or "
            f"{next_page.format(answer.cursor)}"
        )
    return head, blocks


def _headings(before: Reference | None, reference: Reference) -> Iterator[str]:
    """Yield headings that changed since the previous line: owner, certainty, file, definition."""
    basis_changed = before is None or before.basis != reference.basis
    if reference.owners and (before is None or before.owners != reference.owners):
        yield f"of {some_of(reference.owners, _USED_SHOWN, ' and ')}"
        basis_changed = True
    if basis_changed and reference.basis is not None:
        is_family = reference.basis == "family"
        yield _FAMILY if is_family else f"may use it ({_BASES[reference.basis]})"
    file_changed = basis_changed or before is None or before.path != reference.path
    if file_changed:
        yield f"{reference.path}{'  test' if reference.within.test else ''}"
    if file_changed or before is None or before.within.handle != reference.within.handle:
        inner = reference.within.handle.partition("#")[2]
        if inner:
            yield f"  #{inner}"
        elif not file_changed:
            yield "  outside of any definition"


def _reference(reference: Reference) -> str:
    kinds = ", ".join(reference.kinds) if reference.kinds != ("call",) else ""
    parts = [f"{reference.line}: {one_line(reference.text)}", f"({kinds})" if kinds else ""]
    if reference.choices:
        parts.append(f"(one of {reference.choices})")
    parts.append(f"({one_line(reference.why)})" if reference.why else "")
    return "  ".join(filter(None, parts))


def _path(number: int, steps: Sequence[PathStep]) -> str:
    rows = [f"path {number} ({count_of(len(steps) - 1, 'step')})"]
    rows += [
        f"  {place(step.node)}" if not step.how
        else f"  -> {place(step.node)}  {_HOW[step.how]} at {step.site}"
        for step in steps
    ]  # fmt: skip
    return "\n".join(rows)


def impact(answer: ImpactAnswer) -> tuple[list[str], list[str]]:
    """Render heading and blocks: changes, tests to run, then affected nodes by distance."""
    against = f" against {answer.base}" if answer.base else ""
    if not answer.changed:
        read = " in the files read so far" if answer.at_least else ""
        return [f"nothing differs{against}{read}"], []
    may = f", {answer.may_count:,} more may use it" if answer.may_count else ""
    imports = f"; {count_of(answer.only_import, 'import')} not listed" if answer.only_import else ""
    head = [
        *_owners(answer.owners, _GROUPED),
        f"{count_of(len(answer.changed), 'change')}{against}: {_hit_count(answer)}"
        f"{may}; {count_of(answer.test_count, 'test file')} to run{imports}",
    ]
    listed = () if answer.owners else answer.changed[:_CHANGED_SHOWN]
    changed = [f"  {_changed(change)}" for change in listed]
    if not answer.owners and len(answer.changed) > _CHANGED_SHOWN:
        changed.append(f"  and {len(answer.changed) - _CHANGED_SHOWN:,} more")
    return head, [
        *changed, *_tests(answer), *_hits(answer), *_possible_users(answer.may, answer.may_count),
    ]  # fmt: skip


def _hit_count(answer: ImpactAnswer) -> str:
    """Count affected definitions and files, without zeros for unknown numbers."""
    hit = sum(count for _, count in answer.totals)
    if not hit and answer.receipt.status == "partial":
        return "0 definitions hit so far, 0 other files"
    if not hit and answer.at_least:
        return "nothing hit for certain"
    definitions = hit - answer.top_levels
    kinds = [count_of(definitions, "definition")] if definitions or not hit else []
    if answer.top_levels:
        kinds.append(f"the top level of {count_of(answer.top_levels, 'file')}")
    least = "at least " if answer.at_least else ""
    others = f", {count_of(answer.files, 'other file')}" if answer.files or not least else ""
    return f"{least}{' and '.join(kinds)} hit{others}"


def _changed(change: Changed) -> str:
    several = any(sign in change.lines for sign in ",-")
    lines = f" (line{'s' if several else ''} {change.lines})" if change.lines else ""
    name = place(change.node) if change.how == "asked" else change.node.handle
    before = f" (from {change.before})" if change.before else ""
    return f"{change.how}  {name}  {change.node.kind}{lines}{before}"


def _tests(answer: ImpactAnswer) -> Iterator[str]:
    left = answer.test_count - len(answer.tests)
    more = f"  (+{left:,} not listed: higher limit)" if left else ""
    for number, test_file in enumerate(answer.tests):
        title = f"tests to run ({answer.test_count:,}){more}\n" if not number else ""
        yield f"{title}  {_test(test_file)}"


def _test(test_file: TestFile) -> str:
    shown = test_file.handles[:_TESTS_SHOWN]
    names = ", ".join(handle.partition("#")[2] or handle for handle in shown)
    left = test_file.count - len(shown)
    more = f" +{left:,}" if left > 0 else ""
    return f"{test_file.path}  {test_file.why}{f': {names}{more}' if names else ''}"


_FITS: Mapping[Fit, tuple[str, str]] = {
    "breaks": ("no longer fits", "no longer fit"),
    "uncertain": ("may not fit", "may not fit"),
    "fits": ("still fits", "still fit"),
}
"""Phrases for one and for several users."""


def _hits(answer: ImpactAnswer) -> Iterator[str]:
    if not answer.owners:
        yield from _by_distance(answer, answer.totals, answer.results)
    for owner, totals in zip(answer.owners, answer.owner_totals, strict=True):
        rows = [result for result in answer.results if result.owner == owner.handle]
        first, *others = [*_by_distance(answer, totals, rows)] or ["nothing certain"]
        yield f"of {place(owner)}\n{first}"
        yield from others


def _by_distance(
    answer: ImpactAnswer, totals: Sequence[tuple[int, int]], results: Sequence[AffectedNode]
) -> Iterator[str]:
    """Render affected nodes by distance."""
    for distance, total in totals:
        rows = [result for result in results if result.distance == distance]
        left = total - len(rows)
        more = f"  (+{left:,} not listed: higher limit)" if left else ""
        heading = "direct" if distance == 1 else f"in {distance} steps"
        fits = "".join(f"; {count:,} {_FITS[fit][count > 1]}" for fit, count in answer.fits)
        title = f"{heading} ({total:,}{fits if distance == 1 else ''}){more}"
        if not rows:
            yield title
        for number, affected_node in enumerate(rows):
            line = f"  {_hit(affected_node)}"
            yield f"{title}\n{line}" if not number else line


def _hit(affected_node: AffectedNode) -> str:
    how = _HOW[affected_node.how]
    where = _places(affected_node.node, affected_node.sites)
    at = f" {where}" if affected_node.how not in {"overrides", "overridden"} else ""
    fit = f", {_FITS[affected_node.fit][0]}" if affected_node.fit else ""
    return (
        f"{place(affected_node.node)}  {how} "
        f"{_short_handle(affected_node.via, affected_node.node)}{at}{fit}"
    )


def _short_handle(handle: str, node: GraphNode) -> str:
    """Shorten a handle next to another one of the same file to its name."""
    file, sign, name = handle.partition("#")
    return f"#{name}" if sign and file == node.handle.partition("#")[0] else handle


def map_(answer: MapAnswer) -> tuple[list[str], list[str]]:
    """Render the heading of the whole repository, and a block per file."""
    shown = ", ".join(
        f"{name} {count_of(files, 'file')} {count_of(lines, 'line')}"
        for name, files, lines in answer.languages[:_LANGUAGES_SHOWN]
    )
    more = len(answer.languages) - _LANGUAGES_SHOWN
    so_far = " in the files read so far" if answer.receipt.pending else ""
    more_languages = f", {more} more" if more > 0 else ""
    head = [f"{answer.name}: {shown or 'no code'}{more_languages}{so_far}"]
    if answer.focus:
        head.append(f"near {', '.join(answer.focus)}")
    if answer.meant:
        head.append(f"the query finds{part_of(answer.meant, answer.meant_count)}:")
        head += [f"  {_meant(node)}" for node in answer.meant]
    if answer.folders:
        rows = ", ".join(
            f"{folder.path}/ {folder.score:g}% ({count_of(folder.files, 'file')})"
            for folder in answer.folders
        )
        head.append(f"folders by weight{part_of(answer.folders, answer.folder_count)}: {rows}")
    if answer.entries:
        head.append(f"entry points{part_of(answer.entries, answer.entry_count)}:")
        head += [
            f"  {entry.handle}  {one_line(entry.name)}: {entry.why}" for entry in answer.entries
        ]
    if answer.hot:
        head.append(f"used by the most files{part_of(answer.hot, answer.hot_count)}:")
        head += [f"  {place(symbol.node)}  {used_by(symbol)}" for symbol in answer.hot]
    if answer.files:
        head.append(f"files by weight ({len(answer.files):,} of {answer.ranked:,}):")
    return head, [map_file(file) for file in answer.files]


def _meant(node: GraphNode) -> str:
    signature = close(node.signature)
    if len(signature) > _SIGNATURE_SHOWN:
        signature = f"{signature[:_SIGNATURE_SHOWN]}..."
    return f"{place(node)}{signature and f'  {signature}'}"


def used_by(symbol: MapSymbol) -> str:
    """Describe how many files use a definition, as far as known."""
    if symbol.at_least and not symbol.users:
        return "not counted yet"
    return f"{'at least ' if symbol.at_least else ''}{count_of(symbol.users, 'file')}"


def map_file(file: MapFile) -> str:
    """Render a file with its folded definitions."""
    left = f", {count_of(file.left, 'more definition')}" if file.left else ""
    used = f", named in {count_of(file.imported_by, 'file')}" if file.imported_by else ""
    rows = [f"{file.path}  {count_of(file.lines, 'line')}{used}{left}"]
    return "\n".join(rows + [_map_symbol(symbol) for symbol in file.symbols])


def _map_symbol(symbol: MapSymbol) -> str:
    text = close(symbol.node.signature) or f"{symbol.node.kind} {symbol.node.symbol}"
    if len(text) > _SIGNATURE_SHOWN:
        text = f"{text[:_SIGNATURE_SHOWN]}..."
    more = "+" if symbol.at_least else ""
    used = f"  <{symbol.users}{more}" if symbol.users else ""
    return f"  {symbol.node.start_line}  {'  ' * symbol.depth}{text}{used}"


_LANGUAGES_SHOWN = 5
_SIGNATURE_SHOWN = 110


# Answers about the graph as JSON values; docs/graph.md documents their form.


def _node(graph_node: GraphNode) -> dict[str, object]:
    fields = asdict(graph_node)
    if not graph_node.test:
        del fields["test"]
    return fields


def related_json(answer: RelatedAnswer) -> Json:
    """Return the relatives in one list, by relation and distance; or paths."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        "target": _node(answer.target),
        "places": [_node(place) for place in answer.places],
        **({"owners": [_node(owner) for owner in answer.owners]} if answer.owners else {}),
        "results": [
            {
                "relation": result.relation,
                **_node(result.node),
                **picked(result, "distance sites count via", "why owner"),
            }
            for result in answer.results
        ],
        "totals": dict(answer.totals),
    }
    _put_may(fields, answer.may, answer.may_count)
    if answer.goal is not None:
        fields["to"] = _node(answer.goal)
        fields["reversed"] = answer.reversed
        fields["results"] = [
            [{**_node(step.node), "how": step.how, "site": step.site} for step in steps]
            for steps in answer.paths
        ]
    fields["notes"] = list(answer.notes)
    return with_usable_paths(fields)


def references_json(answer: ReferencesAnswer) -> Json:
    """Return the lines of one page, and the total numbers."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        "target": _node(answer.target),
        "places": [_node(place) for place in answer.places],
        **({"owners": [_node(owner) for owner in answer.owners]} if answer.owners else {}),
        "results": [_reference_json(reference) for reference in answer.references],
        **picked(
            answer, "certain in_tests in_family possible files left cursor notes", "owner_lines"
        ),
    }
    return with_usable_paths(fields)


def _reference_json(reference: Reference) -> dict[str, object]:
    within = reference.within
    fields: dict[str, object] = {
        **picked(reference, "path line text certain kinds"),
        "within": within.handle,
        "within_kind": within.kind,
        "test": within.test,
    }
    if reference.basis is not None:
        return fields | picked(reference, "basis choices why", "owners")
    return fields | picked(reference, "", "why owners")


def _put_may(fields: dict[str, object], may: Sequence[PossibleUse], count: int) -> None:
    """Add `may` and `may_count` if there are possible uses."""
    if may:
        fields["may"] = [
            {
                **_node(possible_use.node),
                **picked(possible_use, "sites count choices basis", "why"),
            }
            for possible_use in may
        ]
        fields["may_count"] = count


def impact_json(answer: ImpactAnswer) -> Json:
    """Return the changes, affected nodes by distance, and the tests to run."""
    fields: dict[str, object] = {
        "receipt": receipt_json(answer.receipt),
        "base": answer.base,
        "changed": [
            {**_node(change.node), **picked(change, "how", "lines before")}
            for change in answer.changed
        ],
        **({"owners": [_node(owner) for owner in answer.owners]} if answer.owners else {}),
        "results": [
            {
                **_node(result.node),
                **picked(result, "distance how via"),
                "site": result.sites[0],
                **picked(result, "sites", "fit owner"),
            }
            for result in answer.results
        ],
        **({"fits": dict(answer.fits)} if answer.fits else {}),
        "totals": {str(distance): count for distance, count in answer.totals},
        "files": answer.files,
        "tests": [asdict(test) for test in answer.tests],
        **picked(answer, "test_count top_levels only_import at_least notes"),
    }
    _put_may(fields, answer.may, answer.may_count)
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    return with_usable_paths(fields)


def map_json(answer: MapAnswer) -> Json:
    """Return the files of the map with their definitions, and the overview."""
    fields = asdict(answer)
    for key in ("files", "focus", "ranked"):
        del fields[key]
    fields["receipt"] = receipt_json(answer.receipt)
    fields["results"] = [
        {**asdict(file), "symbols": [_map_symbol_json(symbol) for symbol in file.symbols]}
        for file in answer.files
    ]
    fields["hot"] = [_map_symbol_json(symbol) for symbol in answer.hot]
    fields["files"] = answer.ranked
    fields["focus"] = list(answer.focus)
    return with_usable_paths(fields)


def _map_symbol_json(symbol: MapSymbol) -> Json:
    fields = asdict(symbol)
    # Programs read this key since the first release.
    return {"thing": fields.pop("node"), **fields}
