"""`codelens map`: the repository at a glance, in so many tokens."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.progress_bar import Bar
from codelens.cli.relative_handles import from_here

_TEXT_TOKENS, _PICTURE_TOKENS = 2000, 6000


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "map", "show the repository at a glance: what matters, what uses it, "
                        "where it starts",
        "Ranks files by how much others use them, with their main definitions, entry "
        "points and languages, in a number of tokens. A focus or a query "
        "centers the map.",
    )  # fmt: skip
    parser.add_argument("focus", nargs="*", help="handles, files or folders to center the map on")
    parser.add_argument(
        "--query", default="", metavar="WORDS", help="center the map on what this query finds"
    )
    parser.add_argument(
        "--max-tokens", type=shared_options.positive, metavar="N",
        help="maximum size in tokens (default 2000; 6000 for pictures, which show the same "
        "files)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=("text", "json", "mermaid", "dot", "html"),
        help="output format (default: text); html is one page that needs no network",
    )  # fmt: skip
    shared_options.add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw and print; 1 if there is no code."""
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.errors import SettingError

    form: str = args.format or ("json" if args.json else "text")
    if args.json and form != "json":
        raise SettingError(f"--json and --format {form} cannot be combined; give one")
    picture = form in {"mermaid", "dot", "html"}
    most = args.max_tokens or (_PICTURE_TOKENS if picture else _TEXT_TOKENS)
    with Engine() as engine, Bar() as bar:
        answer = engine.map(
            [from_here(focus, args.path) for focus in args.focus],
            query=args.query,
            path=args.path,
            ref=args.ref,
            max_tokens=most,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if form == "json":
        from codelens.render.graph import graph_json

        screen.put_json(graph_json.map_(answer))
        return 0 if answer.files else 1
    notes = list(answer.notes)
    if form == "text":
        from codelens.render.graph import graph_text

        head, blocks = graph_text.map_(answer)
        screen.page(*head, *blocks)
    else:
        from codelens.render.graph import map_pictures

        screen.put(map_pictures.FORMS[form](answer))
        notes += map_pictures.undrawn(answer, form)
    screen.say_all(answer.receipt, notes)
    return 0 if answer.files else 1
