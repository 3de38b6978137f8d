"""Shows a result of a search on a terminal."""

from __future__ import annotations

import os

from codelens.answers.reading_answers import Hit
from codelens.cli.screen import page, put, styled
from codelens.render.search_text import explained, reason_of, shortened
from codelens.render.text_pieces import one_line


def show(hit: Hit) -> None:
    """Print a hit for a terminal: first a place that the terminal can open, then the handle."""
    whole = hit.kind == "file" or not hit.start_line
    lines = hit.handle.endswith(f"{hit.path}:{hit.start_line}-{hit.end_line}")
    path = os.path.join(hit.repository, hit.path)
    place = path if whole else hit.handle if lines else f"{path}:{hit.start_line}"
    parts = [place, hit.kind]
    if hit.signature:
        parts.append(shortened(one_line(hit.signature)))
    if reason := reason_of(hit):
        parts.append(f"({reason})")
    if hit.stale:
        parts.append("[stale]")
    page("  ".join(parts))
    if place != hit.handle:
        # The handle has a separate line, since that of a heading contains blanks and brackets.
        put(styled(f"    {hit.handle}", "dim"))
    for handle in hit.also:
        put(styled(f"    {handle}", "dim"))
    if hit.explain is not None:
        put(styled(f"    {explained(hit)}", "dim"))
