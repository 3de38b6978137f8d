#!/usr/bin/env python3
"""Precision and recall of uses in markup, against the frameworks' own tools.

    python benchmarks/markup.py REPOSITORY... --framework vue --tools FOLDER [--tsconfig FILE]

Angular is judged by the compiler among its own packages (`language_judges/angular_markup.py`).

FOLDER has the node_modules of the judge (`language_judges/markup_definitions.mjs` names them).
Every name in the markup of a component is put to TypeScript's service through the framework's
translator. If it leads to a definition of the repository, outside of the markup itself, it is a
use. A definition is a line where codelens has one: keys of nested object literals are none. A use
counts as reported if `export edges` has it with that line, name and definition. An edge from a line
of markup whose name stands there counts as right if the service leads to the same definition.
Events, slots and props of components in JavaScript, for which the service has no definition, are
left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from language_judges import angular_markup

JUDGE = Path(__file__).resolve().parent / "language_judges" / "markup_definitions.mjs"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BLOCK = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\s*---.*?\n---", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:-[\w$]+)*")
_ORIGIN = re.compile(r"typeof import\('([^']+)'\)\['default'\]")
_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters of two UTF-16 units. Without them, positions are those of JavaScript."""
_LITERAL = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
FRAMEWORKS = ["vue", "svelte", "astro", "angular"]
KINDS = ("component", "prop", "event", "slot", "directive", "name", "member")


Answers = dict[str, dict[str, list[tuple[str, int]]]]
"""File -> position of a name -> its definitions."""
Edges = dict[str, dict[tuple[int, str], set[tuple[str, int]]]]
"""File -> line and name -> its definitions."""


class Word(NamedTuple):
    """A name in the markup of a component."""

    offset: int
    name: str
    kind: str


def markup_of(text: str, framework: str) -> str:
    """Returns the text with blanks in place of all that is no markup."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    if framework == "astro":
        text = _FENCE.sub(blank, text, count=1) if text.lstrip().startswith("---") else text
    return _COMMENT.sub(blank, _BLOCK.sub(blank, text))


def text_of_block(text: str, offset: int) -> str:
    """Returns `script` or `style` for a position in one, else nothing."""
    for match in _BLOCK.finditer(text):
        if match.start() <= offset < match.end():
            return match[1].lower()
    return ""


def words_of(text: str, framework: str) -> Iterator[Word]:
    """Yields the names in markup, with the kind of use that their surroundings show."""
    markup = markup_of(text, framework)
    at, size = 0, len(markup)
    in_tag = False
    while at < size:
        sign = markup[at]
        if framework == "vue" and not in_tag and markup.startswith("{{", at):
            end = markup.find("}}", at)
            end = size if end < 0 else end
            yield from _code(markup, at + 2, end)
            at = end + 2
        elif framework != "vue" and sign == "{":
            end = _closing(markup, at)
            yield from _braced(markup, at + 1, end, framework, in_tag=in_tag)
            at = end + 1
        elif not in_tag and sign == "<" and (match := _WORD.match(markup, at + 1)):
            yield Word(match.start(), match[0], "component")
            in_tag, at = True, match.end()
            while markup[at : at + 1] == "." and (match := _WORD.match(markup, at + 1)):
                yield Word(match.start(), match[0], "component")
                at = match.end()
        elif not in_tag:
            at += 1
        elif sign == ">":
            in_tag, at = False, at + 1
        elif sign in "\"'":
            end = markup.find(sign, at + 1)
            at = (size if end < 0 else end) + 1
            if framework == "svelte":
                for match in re.finditer(r"\{", markup[: at - 1][(end and at and 0) :]):
                    del match
                    break
        elif framework == "vue" and (match := re.compile(r"[^\s\"'<>/=]+").match(markup, at)):
            yield from _vue_attribute(markup, match)
            value = re.compile(r"\s*=\s*([\"'])").match(markup, match.end())
            at = match.end()
            if value:
                end = markup.find(value[1], value.end())
                end = size if end < 0 else end
                if re.match(r"[:@#.]|v-", match[0]) or match[0] == "ref":
                    yield from _code(markup, value.end(), end)
                at = end + 1
        elif match := re.compile(r"[^\s\"'<>/={}]+").match(markup, at):
            yield from _attribute(match)
            at = match.end()
            value = re.compile(r"\s*=\s*([\"'])").match(markup, at)
            if value:
                end = markup.find(value[1], value.end())
                end = size if end < 0 else end
                inner = value.end()
                while framework == "svelte" and (inner := markup.find("{", inner, end)) >= 0:
                    closing = _closing(markup, inner)
                    yield from _code(markup, inner + 1, closing)
                    inner = closing
                at = end + 1
        else:
            at += 1


def _closing(markup: str, at: int) -> int:
    depth = 0
    for match in re.compile(r"[{}]|`(?:[^`\\]|\\.)*`").finditer(markup, at):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth and match[0] == "}":
            return match.start()
    return len(markup)


def _braced(markup: str, start: int, end: int, framework: str, *, in_tag: bool) -> Iterator[Word]:
    """Yields the names in `{...}`; in Astro markup may stand in it."""
    del in_tag
    if framework != "astro":
        yield from _code(markup, start, end)
        return
    tag = re.compile(r"<[A-Za-z>]")
    first = tag.search(markup, start, end)
    if first is None or not re.search(
        r"[(,>?:&|{}\[;]\s*$|return\s*$|^\s*$", markup[start : first.start()]
    ):
        yield from _code(markup, start, end)
        return
    yield from _code(markup, start, first.start())
    yield from words_of(" " * first.start() + markup[first.start() : end], "astro")


def _vue_attribute(markup: str, match: re.Match[str]) -> Iterator[Word]:
    text = match[0]
    found = re.match(r"(?:v-(?:bind|on|model|slot):|[:@#])([\w-]+)", text)
    if found:
        if text[0] == "#" or text.startswith("v-slot"):
            yield Word(match.start() + found.start(1), found[1], "slot")
            return
        kind = "event" if text[:1] == "@" or text.startswith("v-on:") else "prop"
        yield Word(match.start() + found.start(1), found[1], kind)
    elif re.match(r"v-(?:for|if|else|else-if|show|model|html|text|bind|on|slot|once|pre)\b", text):
        return
    elif re.match(r"v-[\w-]+", text):
        yield Word(match.start(), text.partition(".")[0].partition(":")[0], "directive")
    elif _WORD.fullmatch(text):
        yield Word(match.start(), text, "prop")


def _attribute(match: re.Match[str]) -> Iterator[Word]:
    directive, colon, argument = match[0].partition(":")
    argument = argument.partition("|")[0]
    if not colon and _WORD.fullmatch(match[0]):
        yield Word(match.start(), match[0], "prop")
    elif colon and directive in {"use", "transition", "in", "out", "animate"}:
        for part in _WORD.finditer(argument):
            yield Word(match.start() + len(directive) + 1 + part.start(), part[0], "directive")
    elif colon and _WORD.fullmatch(argument):
        kind = "event" if directive == "on" else "prop"
        yield Word(match.start() + len(directive) + 1, argument, kind)


def _code(markup: str, start: int, end: int) -> Iterator[Word]:
    code = _LITERAL.sub(lambda match: " " * len(match[0]), markup[start:end])
    for match in re.finditer(r"[A-Za-z_$][\w$]*", code):
        before = code[: match.start()].rstrip()
        is_member = before.endswith(".") and not before.endswith("...")
        yield Word(start + match.start(), match[0], "member" if is_member else "name")


def plain(name: str) -> str:
    """Returns a name without the differences between markup and script."""
    return name.replace("-", "").replace("$", "").lower()


class Judged(NamedTuple):
    """The uses of one repository by kind: all, reported, edges, right ones."""

    truth: Counter[str]
    found: Counter[str]
    edges: Counter[str]
    right: Counter[str]


def judged(
    repository: Path,
    framework: str,
    tools: Path,
    tsconfig: str,
    *,
    show: int,
    answers_at: Path | None,
) -> Judged:
    """Compares the uses of a repository."""
    ending = f".{framework}"
    listed = subprocess.run(
        ["git", "-C", repository, "ls-files", "-z", f"*{ending}"], capture_output=True, check=True
    ).stdout.decode()
    texts: dict[str, str] = {}
    words: dict[str, list[Word]] = {}
    for name in sorted(filter(None, listed.split("\0"))):
        with (repository / name).open(encoding="utf-8", newline="") as file:
            texts[name] = _WIDE.sub("??", file.read())
        words[name] = list(words_of(texts[name], framework))
    questions = {name: [word.offset for word in of] for name, of in words.items()}
    kept = answers_at / f"{repository.name}.json" if answers_at else None
    if kept is not None and kept.is_file():
        answers = json.loads(kept.read_text(encoding="utf-8"))
    else:
        answers = _asked(questions, repository, framework, tools, tsconfig)
        if kept is not None:
            kept.write_text(json.dumps(answers), encoding="utf-8")
    return _compared(
        repository, framework, texts, words, answers, *_edges(repository, ending), show=show
    )


def _asked(
    questions: dict[str, list[int]], repository: Path, framework: str, tools: Path, tsconfig: str
) -> Answers:
    """Puts the questions to the judge."""
    command = ["node", "--max-old-space-size=6000", JUDGE, framework, repository, tools]
    answered = subprocess.run(
        [*command, *([tsconfig] if tsconfig else [])],
        input=json.dumps(questions),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(answered.stdout)


def _compared(
    repository: Path,
    framework: str,
    texts: dict[str, str],
    words: dict[str, list[Word]],
    answers: Answers,
    edges: Edges,
    defined: set[tuple[str, int]],
    *,
    show: int,
) -> Judged:
    found = Judged(Counter(), Counter(), Counter(), Counter())
    lines = _Lines(repository)
    for name, of in words.items():
        markup = markup_of(texts[name], framework)
        own = edges.get(name, {})
        kinds: dict[tuple[int, str], str] = {}
        meant: dict[tuple[int, str], set[tuple[str, int]]] = {}
        unknown: set[tuple[int, str]] = set()
        for word in of:
            key = (lines.line(name, word.offset), plain(word.name))
            kinds.setdefault(key, word.kind)
            for target, offset in map(lines.followed, answers[name].get(str(word.offset), ())):
                if target.endswith(".d.ts") and not name.startswith(str(Path(target).parent)):
                    # The judge has one program for all packages.
                    unknown.add(key)
                    continue
                if target == name and offset >= 0:
                    if not markup[offset : offset + 1].isspace():
                        continue
                    if text_of_block(texts[name], offset) == "style":
                        continue
                    if _is_import(texts[name], offset):
                        unknown.add(key)
                        continue
                place = (target, 1 if offset < 0 else lines.line(target, offset))
                if target.endswith(".d.ts") and f'"*.{framework}"' in lines.text(place).replace(
                    "'", '"'
                ):
                    unknown.add(key)
                    continue
                if place in defined:
                    meant.setdefault(key, set()).add(place)
                else:
                    unknown.add(key)
        for key, places in meant.items():
            found.truth[kinds[key]] += 1
            hit = bool(own.get(key, set()) & places)
            found.found[kinds[key]] += hit
            if not hit and show:
                show -= 1
                place, reported = f"{name}:{key[0]} {key[1]}", sorted(own.get(key, ()))
                print(f"missed {kinds[key]} {place} {sorted(places)} {reported}")
        for key, places in own.items():
            if key not in kinds or (key in unknown and key not in meant):
                continue
            if key not in meant and (_is_untyped(kinds[key], places, lines) or (name, 1) in places):
                # The service has no definition for events in lists or call signatures, for props
                # of components in JavaScript, for slots
                # whose names have hyphens, nor for a
                # component that uses itself by its file's name.
                continue
            found.edges[kinds[key]] += 1
            right = bool(meant.get(key, set()) & places)
            found.right[kinds[key]] += right
            if not right and show:
                show -= 1
                place, really = f"{name}:{key[0]} {key[1]}", sorted(meant.get(key, ()))
                print(f"wrong {kinds[key]} {place} {sorted(places)} {really}")
    return found


def _is_untyped(kind: str, places: set[tuple[str, int]], lines: _Lines) -> bool:
    """Whether the service has no definition for such a use, whatever it means."""
    plain_props = kind == "prop" and not any(lines.is_typed(place[0]) for place in places)
    return kind in {"event", "slot"} or plain_props


def _is_import(text: str, offset: int) -> bool:
    """Whether a position is in an import, which leads out of the repository."""
    begin = max(text.rfind(word, 0, offset) for word in ("\nimport ", "\timport ", " import "))
    return begin >= 0 and re.fullmatch(r"\s*import\s[\w\s{},*$]*", text[begin:offset]) is not None


class _Lines:
    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._starts: dict[str, list[int]] = {}

    def is_typed(self, name: str) -> bool:
        """Whether a component's scripts are TypeScript."""
        text = (self._repository / name).read_text(encoding="utf-8")
        return name.endswith(".astro") or re.search(r"lang=[\"']ts", text) is not None

    def followed(self, found: tuple[str, int]) -> tuple[str, int]:
        """Returns the component that a generated declaration names, or the definition itself."""
        target, offset = found
        if offset < 0 or not target.endswith(".d.ts"):
            return target, offset
        origin = _ORIGIN.search(self.text((target, self.line(target, offset))))
        place = os.path.normpath(Path(target).parent / origin[1]) if origin else ""
        if origin and not (self._repository / place).is_file():
            return "", -1
        return (place, -1) if origin else (target, offset)

    def text(self, place: tuple[str, int]) -> str:
        """Returns the text of a line."""
        lines = (self._repository / place[0]).read_text(encoding="utf-8").split("\n")
        return lines[place[1] - 1]

    def line(self, name: str, offset: int) -> int:
        """Returns the line of an offset, in UTF-16 units as JavaScript counts."""
        if name not in self._starts:
            with (self._repository / name).open(encoding="utf-8", newline="") as file:
                text = file.read()
            starts = [0]
            for line in text.split("\n"):
                starts.append(starts[-1] + len(line.encode("utf-16-le")) // 2 + 1)
            self._starts[name] = starts
        return bisect_right(self._starts[name], offset)


def _edges(repository: Path, ending: str) -> tuple[Edges, set[tuple[str, int]]]:
    """The certain edges from components, and all definitions."""
    by_file: Edges = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["CODELENS_HOME"] = home
        from codelens.engine.engine import Engine

        with Engine() as engine:
            engine.index(path=repository)
            for edge in engine.export_edges(path=repository):
                if edge.src_file.endswith(ending) and edge.kind in {"call", "ref"}:
                    key = (edge.line, plain(edge.name))
                    by_file.setdefault(edge.src_file, {}).setdefault(key, set()).add(
                        (edge.dst_file, edge.dst_line)
                    )
            defined = {
                (symbol.path, symbol.line) for symbol in engine.export_symbols(path=repository)
            }
    return by_file, defined


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--framework", choices=FRAMEWORKS, required=True)
    parser.add_argument("--tools", type=Path, default=Path(), help="not for Angular")
    parser.add_argument("--tsconfig", default="", help="for its paths; of Angular the program")
    parser.add_argument("--answers", type=Path, help="folder that keeps the judge's answers")
    parser.add_argument("--show", type=int, default=0, help="print so many differences")
    args = parser.parse_args()
    print("| framework | repository | kind of use | uses | recall | edges | precision |")
    print("|---|---|---|---|---|---|---|")
    for repository in args.repositories:
        if args.framework == "angular":
            kinds = angular_markup.KINDS
            found = angular_markup.judged(repository, args.tsconfig, args.show)
        else:
            kinds = KINDS
            found = judged(
                repository,
                args.framework,
                args.tools,
                args.tsconfig,
                show=args.show,
                answers_at=args.answers,
            )
        for kind in (*kinds, "all"):
            counts = [sum(one.values()) if kind == "all" else one[kind] for one in found]
            truth, hit, edges, right = counts
            recall = f"{hit / truth:.3f}" if truth else "-"
            precision = f"{right / edges:.3f}" if edges else "-"
            print(
                f"| {args.framework} | {repository.name} | {kind} | {truth:,} | {recall} | "
                f"{edges:,} | {precision} |"
            )


if __name__ == "__main__":
    main()
