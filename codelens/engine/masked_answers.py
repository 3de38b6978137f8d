"""Masks secrets in the code of answers, unless the caller named the file (`codelens.secret_files`).

`masking` decorates the methods of the engine, so that Python, MCP and the command line hide the
same secrets.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from codelens.secret_files import masked_code, masked_text, may_show_secret

if TYPE_CHECKING:
    from codelens.config import Configured

P = ParamSpec("P")
A = TypeVar("A")
E = TypeVar("E", bound="Configured")

_SENTENCES = frozenset({"about", "why", "message"})
"""Fields that may quote a file."""
_CODE = _SENTENCES | {"signature", "old_signature", "doc", "text", "lines", "patch", "before"}
"""Fields of answers with text from files."""
_PLAIN = frozenset({"receipt"})
"""Fields without such text."""


def masking(method: Callable[Concatenate[E, P], A]) -> Callable[Concatenate[E, P], A]:
    """Decorate a method of the engine: its answers show no secrets, if the settings say so."""

    @functools.wraps(method)
    def masked(engine: E, /, *args: P.args, **named: P.kwargs) -> A:
        answer = method(engine, *args, **named)
        return without_secrets(answer) if engine.settings.mask_secrets else answer

    return masked


def without_secrets(answer: A) -> A:
    """The same answer with secrets masked."""
    texts: dict[str, list[str]] = {}
    for part, path in _parts(answer, ""):
        for name in _code_fields(part):
            texts.setdefault(path, []).extend(_strings(getattr(part, name)))
    # Most answers end here.
    if not any(
        of_path and may_show_secret(path, "\n".join(of_path)) for path, of_path in texts.items()
    ):
        return answer
    return cast("A", _masked_part(answer, ""))


def _parts(part: object, path: str) -> Iterator[tuple[object, str]]:
    """Each value of an answer with the path of its file; answers are a few levels deep."""
    path = _path_of(part) or path
    yield part, path
    for name in _nested_fields(part):
        value = getattr(part, name)
        for inner in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            if is_dataclass(inner):
                yield from _parts(inner, path)


def _masked_part(part: object, path: str) -> object:
    path = _path_of(part) or path
    mask = functools.partial(masked_text, path)
    names = (getattr(part, "symbol", ""), getattr(part, "name", ""))
    changes: dict[str, object] = {}
    for name in _code_fields(part):
        value = getattr(part, name)
        is_plain = name in _SENTENCES or value in names
        changes[name] = _masked_value(value, masked_code if is_plain else mask)
    for name in _nested_fields(part):
        value = getattr(part, name)
        if isinstance(value, tuple):
            inner = cast("tuple[object, ...]", value)
            changes[name] = tuple(
                _masked_part(item, path) if is_dataclass(item) else item for item in inner
            )
        elif is_dataclass(value):
            changes[name] = _masked_part(value, path)
    return replace(cast("Any", part), **changes)


def _masked_value(value: object, mask: Callable[[str], str]) -> object:
    """A string, lines, or numbered lines; several lines are masked together."""
    if isinstance(value, str):
        return mask(value)
    texts = list(_strings(value))
    lines = cast("tuple[object, ...]", value)
    if not texts or len(texts) != len(lines):
        return value
    shown = mask("\n".join(texts)).split("\n") if len(texts) > 1 else [mask(texts[0])]
    if len(shown) != len(texts):
        # Some secrets span several lines.
        shown = [mask(text) for text in texts]
    return tuple(
        text if isinstance(line, str) else (cast("tuple[int, str]", line)[0], text)
        for line, text in zip(lines, shown, strict=True)
    )


def _strings(value: object) -> Iterator[str]:
    """A string, or those of lines and of numbered lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for line in cast("tuple[object, ...]", value):
            text = cast("tuple[object, ...]", line)[-1] if isinstance(line, tuple) else line
            if isinstance(text, str):
                yield text


def _path_of(part: object) -> str:
    path = getattr(part, "path", "")
    if path:
        return path
    handle = getattr(part, "handle", "") or getattr(getattr(part, "node", None), "path", "")
    return handle.partition("#")[0].rstrip("0123456789-").removesuffix(":")


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the fields with code, and of all others."""
    names = [field.name for field in fields(kind) if field.name not in _PLAIN]
    return (
        tuple(name for name in names if name in _CODE),
        tuple(name for name in names if name not in _CODE),
    )


def _code_fields(part: object) -> tuple[str, ...]:
    return _fields(type(part))[0]


def _nested_fields(part: object) -> tuple[str, ...]:
    return _fields(type(part))[1]
