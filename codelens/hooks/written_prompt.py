"""What a person wrote of a prompt: without what hosts and hooks put into it.

And the other way round: no text that we hand to a host can end, or begin, what hosts and hooks put
around it. All of this takes time in proportion to the text, whatever is in it.
"""

from __future__ import annotations

import re

from codelens.focus.context_block import BEGIN, END

_TAGS = r"(?:<|&lt;)(/?)(hook_context|system-reminder)(?:>|&gt;)"
"""What hosts put around the words of hooks; Gemini CLI escapes it where it hands them on."""


def as_written(prompt: str) -> str:
    """A prompt without our own block and without what hosts marked as the words of hooks.

    Gemini CLI hands on what hooks said at a session's start as a part of the first prompt. What
    begins and never ends is the person's.
    """
    if BEGIN in prompt:
        prompt = _without(prompt, _blocks(prompt))
    if "hook_context" in prompt or "system-reminder" in prompt:
        prompt = _without(prompt, _tagged(prompt))
    return prompt


def tamed(text: str) -> str:
    """A text in which the tags of hosts are none any more; the rest stays."""
    if "hook_context" not in text and "system-reminder" not in text:
        return text
    return re.sub(_TAGS, r"(\1\2)", text)


def _blocks(prompt: str) -> list[tuple[int, int]]:
    """Where our blocks lie: a head with a number of prompts, up to the line that ends it."""
    spans: list[tuple[int, int]] = []
    begin = prompt.find(BEGIN)
    while begin >= 0:
        after = begin + len(BEGIN)
        if prompt[after : after + 1].isdigit():
            end = prompt.find(END, after)
            if end < 0:
                break
            after = end + len(END)
            spans.append((begin, after))
        begin = prompt.find(BEGIN, after)
    return spans


def _tagged(prompt: str) -> list[tuple[int, int]]:
    """Each stretch from a tag that opens to the next one of its name that closes."""
    tags = [
        (match.start(), match.end(), match[2], bool(match[1]))
        for match in re.finditer(_TAGS, prompt)
    ]
    closing = {name: [end for _, end, tag, closes in tags if closes and tag == name]
               for name in {tag for _, _, tag, _ in tags}}  # fmt: skip
    for ends in closing.values():
        ends.reverse()
    spans: list[tuple[int, int]] = []
    taken = 0
    for start, end, name, closes in tags:
        if closes or start < taken:
            continue
        while closing[name] and closing[name][-1] <= end:
            closing[name].pop()
        if closing[name]:
            taken = closing[name][-1]
            spans.append((start, taken))
    return spans


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.append(text[at:start])
        at = end
    return " ".join([*pieces, text[at:]])
