"""Measures how extraction time grows with hostile texts, for every language.

    python tests/extract/growth.py [--language NAME]... [--full]

Each text repeats one pattern: a token, NULs, a nest that is never closed, code in other code.
Every pattern is tried at 64 kB; if that takes over `--slow` seconds of CPU, also at 16 and 256 kB
(with `--full` always). Patterns that grow faster than the size by more than `FACTOR`, and are not
cut off within `LIMIT_S`, are printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from extract.apart import Child  # noqa: E402

SIZES = (16_000, 64_000, 256_000)
FACTOR = 2.0
"""n log n from 64 to 256 kB is a factor of 4.5; times this."""
LIMIT_S = 6.0
"""CPU seconds: what the limits allow for one parse, its query and its parts."""
_KILLED_S = 9
_SLOW_S = 0.6
_HEAD = 8_000
"""Bytes at the start that decide whether a file is binary."""

OPEN = (
    *("(", "{", "[", "<", '"', "'", "`", '"""', "/*", "(*", "{-", "<!--", "{{", "{%", "${", "#{"),
    *("<?php ", "<%", "$(", "${{", "|", "> ", "- ", "* ", "# ", "```\n", "begin ", "do ", "if x "),
    *("<script>", "<style>", "<div>", "<a ", "{#if x}", "{x", "<<EOF\n", "@", "\\", "#if 1\n"),
    *(
        '<C :a="b" v-for="c in d">',
        '<C #a="{ b }">',
        "{#each a as b}<C>",
        "<C a={b}>",
        "{#snippet a(b)}",
    ),
    *(
        '<C :a="',
        '<C @d="f(',
        "<C on:d={() => f(",
        '<C v-slot="{ a',
        "<C #a>",
        "{#await a}<C>",
        "{:then b}",
    ),
    *(
        '<p *ngFor="let a of b; let i = index">',
        '<C [a]="b" (c)="d($event)">',
        '<C [(a)]="b[',
        "{{ a | b: c",
    ),
    *(
        "@if (a; as b) {",
        "@for (a of b; track a.c) {",
        "@let a = b",
        "{a, plural, =1 {",
        "<ng-template #a>",
    ),
    *(
        "@using a ",
        "@code { a,",
        "@code { a<",
        "@if (a) { ",
        "@foreach (var a in b) { <p> ",
        "{a /* ",
    ),
    *("export const a = {\n\n", "export /* ", '@code { "\\" ', "<A><B a='@b'>"),
    *("{a.map((b) => <C>", "{a && <b>", "{`${", '<C a="', "<C a={", "<C {", "<template>", "---\n"),
)
ROWS = (
    *("a ", "a.", "a::", "a(", "f(a,", "a=", "a:\n", "a;", "a,", "a->", "a\n", "-", "=", "0 ", "%"),
    *("<script>a</script>\n", "<style>a{}</style>\n", "<script>\0</script>\n", "{a}\0", "<b>\0"),
    *("```py\na\n```\n", "```js\nf(\n```\n", "`a`", "[a](b)", "{@html a}", "{a}", "{{a}}\n"),
    *("def a\n", "class A:\n", "function a(){", "fn a() {", "int a(){", "A: {\n", "- a: [\n"),
    *("int f( { @ }\n", "FOO BAR baz(int x) QUX;\n", 'x = "; @ " @ ;\n'),
    *('<C :a="b(c)" @d="e = f"/>\n', "<C a={b} on:c={d} {e}/>\n", "{a}<br>{b}\n", "{@const a = b}"),
    *(
        '<C v-for="a in b" :c="{ d: a.e }" @f="(g) => h(g)">{{ a.i }}</C>\n',
        '<p *ngIf="a | b; else c">{{ d?.e }}</p>\n',
    ),
    *(
        "@if (a) { {{ b }} } @else { <C/> }\n",
        "{#each a as { b }, c (b)}<C {...b}/>{/each}\n",
        "</C>{/each}</p>\n",
    ),
    *("</a>", "<a></b>", "{/if}", "{:else}", "{a.map((b) => <c/>)}\n", "<C a={<b/>}/>\n"),
    *("\0", "a\0", " \0", "\0\n", "<\0", "{\0", '"\0', "\r", "\x0c", "é", "\u2028", "😀"),
)


def patterns(fixture: str) -> Iterator[tuple[str, str]]:
    """Patterns by name; a text repeats one."""
    yield "the fixture", fixture
    yield (
        "the fixture with NULs",
        "".join(f"{fixture[at : at + 40]}\0" for at in range(0, len(fixture), 40)),
    )
    yield (
        "lines of the fixture without their ends",
        "\n".join(line[: len(line) // 2] for line in fixture.splitlines()),
    )
    for pattern in dict.fromkeys((*OPEN, *ROWS)):
        yield f"{pattern!r}", pattern
    for opening in OPEN:
        yield f"{opening!r} once, and lines", f"\1{opening}"


def text_of(pattern: str, size: int) -> bytes:
    """The pattern repeated, with line ends to avoid looking minified; no NUL in its head."""
    if pattern.startswith("\1"):
        head = "a b\n" * (_HEAD // 4) + pattern[1:] + "\n"
        return (head + "a\n" * (size // 2)).encode()[:size]
    line = pattern if "\n" in pattern else pattern * max(1, 80 // len(pattern)) + "\n"
    text = (line * (size // len(line.encode()) + 1)).encode()[:size]
    return text[:_HEAD].replace(b"\0", b" ") + text[_HEAD:]


class Measured(Child):
    """A process that extracts texts; counts them."""

    def __init__(self, language: str) -> None:
        super().__init__(language, _KILLED_S)
        self.tried = 0
        self.slowest_s = 0.0

    def measure(self, text: bytes) -> tuple[str, float]:
        """Outcome and CPU seconds; a process killed for its time counts as that time."""
        outcome, spent_s = self.extract(text)
        self.tried += 1
        self.slowest_s = max(self.slowest_s, spent_s)
        return outcome, spent_s


def faults(
    language: str, child: Measured, *, slow_s: float = _SLOW_S, full: bool = False, share: int = 1
) -> Iterator[str]:
    """Yields a line for each pattern whose time grows too fast; tries one in `share` patterns."""
    from extract.rendering import fixture_sources

    sources = [path for path in fixture_sources() if path.parent.name == language]
    fixture = sources[0].read_text("utf-8", "replace") if sources else "a b c\n"
    first = sum(language.encode()) % share
    for name, pattern in [*patterns(fixture)][first::share]:
        outcome, at_64 = child.measure(text_of(pattern, SIZES[1]))
        if not full and at_64 < slow_s and not outcome.startswith("killed"):
            continue
        ended, at_256 = child.measure(text_of(pattern, SIZES[2]))
        grows = at_256 > 4.5 * FACTOR * max(at_64, 0.05)
        if (grows and at_256 > slow_s * 4) or at_256 > LIMIT_S or at_64 > LIMIT_S:
            _, at_16 = child.measure(text_of(pattern, SIZES[0]))
            times = f"{at_16:.2f}, {at_64:.2f}, {at_256:.2f} s"
            yield f"{language}: {name}: {times} at 16, 64, 256 kB ({outcome}, {ended})"


def main() -> int:
    from codelens.extract.language_settings import languages

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", action="append", default=[])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--slow", type=float, default=_SLOW_S)
    parser.add_argument("--share", type=int, default=1, help="try one of so many patterns")
    args = parser.parse_args()
    bad = tried = 0
    chosen = args.language or sorted(info.name for info in languages() if info.grammar)
    for language in chosen:
        with Measured(language) as child:
            for line in faults(language, child, slow_s=args.slow, full=args.full, share=args.share):
                print(line, flush=True)
                bad += 1
            tried += child.tried
            print(f"{language}: {child.tried} texts, at most {child.slowest_s:.2f} s", flush=True)
    print(f"{tried} texts tried in {len(chosen)} languages: {bad} patterns grow too fast")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
