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

    language_lines = languages()
    if args.json:
        screen.put_json(reading_json.results([asdict(language) for language in language_lines]))
        return 0
    width = max(len(language.name) for language in language_lines)
    wide = max(len(", ".join(language.gives)) for language in language_lines)
    rows: list[str] = []
    for language in language_lines:
        stems = (f"{stem}.*" for stem in language.stems)
        contested = (f"{extension}?" for extension in language.contested)
        names = " ".join((*language.extensions, *contested, *language.filenames, *stems))
        gives = ", ".join(language.gives) or "words only, as for any other text"
        rows.append(f"{language.name:<{width}}  {gives:<{wide}}  {names}")
    screen.page(*rows)
    return 0
