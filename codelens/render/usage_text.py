"""What was counted of codelens's use, as text with charts and as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from codelens.answers.context_answers import UsageAnswer, UsageLine
from codelens.plurals import count_of
from codelens.render.reading_json import Json
from codelens.render.text_pieces import one_line

_BAR = 24
_PARTS = " ▏▎▍▌▋▊▉█"
_BYTES_A_TOKEN = 4


def as_json(answer: UsageAnswer) -> Json:
    """The same as plain values."""
    return asdict(answer)


def as_text(answer: UsageAnswer, by: Sequence[str]) -> list[str]:
    """Totals, and a chart of calls for each of `by`: `day`, `tool`, `repository`."""
    total = answer.total
    rows = [
        f"{count_of(total.calls, 'call')} in {count_of(answer.days, 'day')}, "
        f"{total.failed:,} failed; "
        f"served {_size(total.served_bytes)}, about {_tokens(total.served_bytes)} tokens; "
        f"saved about {_size(total.saved_bytes)}, {_tokens(total.saved_bytes)} tokens"
    ]
    sections = {
        "day": answer.by_day, "tool": answer.by_tool, "repository": answer.by_repository
    }  # fmt: skip
    for name in by:
        if sections[name]:
            rows += ["", f"by {name}", *_chart(sections[name])]
    return rows


def _chart(lines: Sequence[UsageLine]) -> list[str]:
    names = [one_line(line.name) for line in lines]
    width = max(len(name) for name in names)
    most = max(line.calls for line in lines)
    digits = len(f"{most:,}")
    return [
        f"  {name:<{width}}  {usage.calls:>{digits},}  {_bar(usage.calls, most):<{_BAR}}  "
        f"served {_size(usage.served_bytes):>8}  saved {_size(usage.saved_bytes):>8}"
        for name, usage in zip(names, lines, strict=True)
    ]


def _bar(calls: int, most: int) -> str:
    eighths = max(round(calls * _BAR * 8 / most), 1)
    return _PARTS[8] * (eighths // 8) + _PARTS[eighths % 8].strip()


def _size(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} B"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1e3:.1f} kB"
    return f"{size_bytes / 1e6:,.1f} MB"


def _tokens(size_bytes: int) -> str:
    return f"{size_bytes // _BYTES_A_TOKEN:,}"
