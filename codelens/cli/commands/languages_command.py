"""`codelens languages`: what can be read."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = commands.add_parser(
        "languages", help="list the supported languages, what is extracted, and their file names",
        description="Lists the supported languages and what is extracted: definitions, headings, "
        "references, imports, docs, embedded code. Any other text is searched by its words.",
        **shared_options.help_of("languages"), allow_abbrev=False,
    )  # fmt: skip
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them."""
    from dataclasses import asdict

    from codelens.cli import screen
    from codelens.engine.reading.language_list import languages
    from codelens.render import reading_json

    found = languages()
    if args.json:
        screen.put_json(reading_json.results([asdict(one) for one in found]))
        return 0
    width = max(len(one.name) for one in found)
    wide = max(len(", ".join(one.gives)) for one in found)
    rows: list[str] = []
    for one in found:
        stems = (f"{stem}.*" for stem in one.stems)
        contested = (f"{extension}?" for extension in one.contested)
        names = " ".join((*one.extensions, *contested, *one.filenames, *stems))
        gives = ", ".join(one.gives) or "words only, as for any other text"
        rows.append(f"{one.name:<{width}}  {gives:<{wide}}  {names}")
    screen.page(*rows)
    return 0
