"""`codelens languages`: what can be read."""

from __future__ import annotations

import argparse

from codelens.cli import options


def add(commands: options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "languages", help="list the languages and their file names",
        description="The languages whose definitions are read; all other text is searched as text.",
        allow_abbrev=False,
    )  # fmt: skip
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them."""
    from dataclasses import asdict

    from codelens.cli import screen
    from codelens.engine import as_json
    from codelens.engine.languages import languages

    found = languages()
    if args.json:
        screen.put_json(as_json.results([asdict(one) for one in found]))
        return 0
    width = max(len(one.name) for one in found)
    for one in found:
        names = " ".join((*one.extensions, *one.filenames))
        note = "" if one.structure else styled_note()
        screen.put(f"{screen.styled(f'{one.name:<{width}}', 'bold')}  {names}{note}")
    return 0


def styled_note() -> str:
    """Marks a language without structure."""
    from codelens.cli.screen import styled

    return styled("  (and all other text: searched without definitions)", "dim")
