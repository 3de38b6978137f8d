"""`codelens search`: ranked places that answer a query."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.cli import options
from codelens.cli.progress import Bar

if TYPE_CHECKING:
    from codelens.engine.answers import Hit

_MODES = ("auto", "symbol", "text", "regex", "path")


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = options.command(
        commands, "search", "find code: ranked places, best first",
        "Ranked places that answer the query, true for the files as they are now.",
    )  # fmt: skip
    parser.add_argument("query", nargs="+", help="words, an identifier, a path or a sentence")
    parser.add_argument(
        "--mode", choices=_MODES, default="auto",
        help="auto ranks words; symbol: definitions by name; text: as written; regex; path",
    )  # fmt: skip
    parser.add_argument(
        "--lang", action="append", default=[], metavar="NAME",
        help="only this language (repeatable; `codelens languages` lists them)",
    )  # fmt: skip
    parser.add_argument(
        "--glob", action="append", default=[], metavar="GLOB",
        help="only paths like this, !GLOB leaves out (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--kind", action="append", default=[], metavar="KIND",
        help="only this kind of definition: function, class, ... (repeatable)",
    )  # fmt: skip
    parser.add_argument("--content", choices=("all", "code", "prose"), default="all")
    parser.add_argument("--limit", type=options.positive, default=10, metavar="N")
    parser.add_argument(
        "--explain", action="store_true", help="show each feature's share of the score"
    )
    options.add_ref(parser)
    options.add_budget(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Search and print; 1 if there is nothing."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine, Bar() as bar:
        answer = engine.search(
            " ".join(args.query),
            path=args.path,
            ref=args.ref,
            mode=args.mode,
            languages=args.lang,
            globs=args.glob,
            kinds=args.kind,
            content=args.content,
            limit=args.limit,
            explain=args.explain,
            budget_ms=engine.settings.budget_ms if args.budget is None else args.budget,
            progress=bar,
        )
    if args.json:
        from codelens.engine import as_json

        screen.put_json(as_json.search(answer))
    else:
        for hit in answer.results:
            _show(hit)
        screen.say_all(answer.receipt, answer.notes)
    return 0 if answer.results else 1


def _show(hit: Hit) -> None:
    from codelens.cli.screen import put, styled
    from codelens.engine.as_text import one_line

    whole = hit.kind == "file" or not hit.start_line
    where = styled(hit.path if whole else f"{hit.path}:{hit.start_line}", "path")
    what = f"{styled(hit.kind, 'kind')} {styled(one_line(hit.symbol), 'bold')}".rstrip()
    why = styled(f"  ({one_line(hit.why)})", "dim") if hit.why else ""
    put(f"{where}  {what}{why}{styled('  [stale]', 'warn') if hit.stale else ''}")
    if hit.signature:
        put(f"    {one_line(hit.signature)}")
    # Alone in its line: a heading's handle holds blanks and brackets.
    put(styled(f"    {hit.handle}", "dim"))
    if hit.explain is not None:
        shares = " + ".join(f"{name} {share:.3f}" for name, share in hit.explain.items())
        put(styled(f"    {hit.score:.4f} = {shares}", "dim"))
