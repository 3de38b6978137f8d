"""Finds the code in an MDX page: imports and exports, elements, and expressions in braces."""

from __future__ import annotations

import re

from codelens.extract.markup.markup_tokens import Braces, attributes
from codelens.extract.markup.virtual_script import VirtualScript, is_usable

_FRONT = re.compile(rb"---[ \t]*\r?\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_MARKUP = re.compile(
    rb"(?P<blank>^[ \t]*\r?\n)|^[ \t>]*(?P<fence>`{3,}|~{3,})|(?P<module>^(?:import|export)\b)"
    rb"|\\.|(?P<quote>`+)|(?P<brace>\{)|(?P<comment><!--)|<(?P<tag>[A-Za-z_$][\w$.:-]*)",
    re.MULTILINE,
)
_MODULE = re.compile(
    rb"(?P<blank>\n[ \t]*\r?(?=\n|\Z))|[(){}\[\]]|"
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/|\\.',
    re.DOTALL,
)
_BLANK = re.compile(rb"\n[ \t]*\r?\n")
_FENCE = re.compile(rb"^[ \t>]*(`{3,}|~{3,})[ \t]*\r?$", re.MULTILINE)
_LONGEST_QUOTE = 2_000
_MOST_UNCLOSED = 8
"""Number of unclosed quotes, comments or blocks for which the whole text is searched."""


def translate(script: VirtualScript) -> None:
    """Adds the script of a page to it: its elements and expressions are those of JSX."""
    _Page(script).read()


class _Page:
    def __init__(self, script: VirtualScript) -> None:
        self._text, self._script = script.text, script
        self._braces = Braces(script.text)
        self._unclosed = 0
        self._begins_block = True

    def read(self) -> None:
        """Translates the page."""
        text = self._text
        front = _FRONT.match(text)
        at = front.end() if front is not None else 0
        while match := _MARKUP.search(text, at):
            kind = match.lastgroup
            begins_block, self._begins_block = self._begins_block, kind in {"blank", "fence"}
            if kind == "fence":
                at = self._fenced(match["fence"], match.end())
            elif kind == "module":
                at = self._module(match.start()) if begins_block else match.end()
            elif kind == "quote":
                at = self._quoted(match["quote"], match.end())
            elif kind == "comment":
                at = self._commented(match.end())
            elif kind == "brace":
                at = self._expression(match.start())
            elif kind == "tag":
                at = self._element(match.start(), match.end())
            else:
                at = match.end()

    def _quoted(self, sign: bytes, at: int) -> int:
        """Returns where quoted code ends: at the same number of signs in the paragraph."""
        end = at + _LONGEST_QUOTE
        paragraph = _BLANK.search(self._text, at, end)
        end = paragraph.start() if paragraph is not None else end
        closing = self._text.find(sign, at, end)
        return closing + len(sign) if closing >= 0 else at

    def _fenced(self, sign: bytes, at: int) -> int:
        """Returns where a fence ends: at a line with nothing but at least its signs."""
        if self._unclosed < _MOST_UNCLOSED:
            for match in _FENCE.finditer(self._text, at):
                if match[1].startswith(sign):
                    return match.end()
            self._unclosed += 1
        return at

    def _commented(self, at: int) -> int:
        closing = self._text.find(b"-->", at) if self._unclosed < _MOST_UNCLOSED else -1
        self._unclosed += closing < 0
        return closing + 3 if closing >= 0 else at

    def _module(self, start: int) -> int:
        """Takes a block of imports and exports, up to a blank line. Returns where it ends."""
        text = self._text
        depth, first, end = 0, -1, len(text)
        for match in _MODULE.finditer(text, start):
            if match["blank"] is not None:
                first = match.start() if first < 0 else first
                if depth <= 0 or self._unclosed >= _MOST_UNCLOSED:
                    end = match.start()
                    break
            elif match[0] in {b"(", b"{", b"["}:
                depth += 1
            elif match[0] in {b")", b"}", b"]"}:
                depth -= 1
        if depth > 0 and first >= 0:
            # A bracket is never closed.
            self._unclosed += 1
            end = first
        self._begins_block = True
        end = min(end + 1, len(text))
        if is_usable(text[start:end]):
            self._script.scripts.append((start, end))
            return end
        # Of a block that is half-written, the complete lines are kept.
        at = start
        for line in text[start:end].splitlines(keepends=True):
            if line.startswith((b"import", b"export")) and is_usable(line):
                self._script.scripts.append((at, at + len(line)))
            at += len(line)
        return end

    def _expression(self, start: int) -> int:
        """Translates an expression in braces. Returns where to continue."""
        end = self._braces.end(start)
        if end < 0:
            return start + 1
        # Headings may have an id: `{#id}`.
        if self._text[start + 1 : start + 2] != b"#":
            self._script.expression(start + 1, end)
        return end + 1

    def _element(self, start: int, at: int) -> int:
        """Translates an opening tag. Returns where it ends."""
        text, script = self._text, self._script
        end = len(text)
        for entry in attributes(text, at, self._braces):
            if isinstance(entry, int):
                end = entry
        is_empty, end = end < 0, abs(end)
        closing = end - (2 if is_empty else 1)
        if text[end - 1 : end] != b">" or not is_usable(text[start:closing]):
            self._unclosed += 1
            return at if self._unclosed < _MOST_UNCLOSED else end
        script.glue(b"\n;(<_")
        name = text[start + 1 : at]
        if name[:1].isupper() or b"." in name:
            script.glue(b"/>,")
            script.code(start, closing)
        else:
            script.code(at, closing)
        script.glue(b" />);")
        return end
