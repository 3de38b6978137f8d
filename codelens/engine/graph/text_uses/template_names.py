"""Which files are templates, and what code may call them; told by their paths alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.paths import printed

_ENDINGS = frozenset(
    b"jinja jinja2 j2 njk nunjucks twig erb haml slim hbs handlebars mustache ejs pug jade liquid "
    b"tmpl gotmpl gohtml tpl latte phtml jsp jspx ftl ftlh mako eex heex leex vm volt cshtml "
    b"vbhtml rhtml dust mjml edge marko jbuilder builder blade thtml".split()
)
_MARKUP = frozenset(b"html htm xhtml xml txt php svg".split())
"""Endings of templates in a folder of templates."""
_ROOTS = frozenset(
    b"templates template views view jinja2 twig _layouts _includes layouts partials emails".split()
)
"""Folders that hold templates: names begin below them."""
_MOST_MEANT = 40
"""Of more templates than these none is worth naming."""
_LAST_ENDING = re.compile(r"(?:\.[a-z][a-z0-9]{0,9}){1,3}\Z")
_PREFIX = re.compile(r"\A(?:@!?[\w-]*/|[~.]*/|[\w.\\-]*::?)+")


class Template(NamedTuple):
    """A template, by the parts of its path."""

    path: bytes
    folders: tuple[str, ...]
    stem: str
    """Its file name up to the first dot, without the `_` that partial templates begin with."""
    endings: tuple[str, ...]
    """`("html", "erb")`."""
    root: int
    """How many of its folders stand before the name that code calls it by; -1 if not known."""


def template_at(path: bytes) -> Template | None:
    """The template that a file is, or None."""
    *folders, name = path.split(b"/")
    stem, *endings = name.lstrip(b".").split(b".")
    roots = [at for at, folder in enumerate(folders) if folder.lower() in _ROOTS]
    marked = not _ENDINGS.isdisjoint(ending.lower() for ending in endings)
    if not stem or not (marked or (roots and endings and endings[-1].lower() in _MARKUP)):
        return None
    return Template(
        path,
        tuple(printed(folder) for folder in folders),
        printed(stem).lstrip("_"),
        tuple(printed(ending) for ending in endings),
        # `templates/emails/a.html` is called `emails/a.html`.
        roots[0] + 1 if roots else -1,
    )


class TemplateNames:
    """The templates of a view, by what code calls them."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._by_stem: dict[str, list[Template]] = {}
        for path in paths:
            template = template_at(path)
            if template is not None:
                self._by_stem.setdefault(template.stem, []).append(template)

    def meant(self, name: str, user: bytes) -> Sequence[Template]:
        """The templates that a text in a file may mean; of several the likeliest ones.

        A whole name beats the end of one; a template in a folder that the file is named for
        (`users_controller.rb`, `users/`), or beside the file, beats others.
        """
        folders, stem, endings = _parts(name)
        templates = [
            template
            for template in self._by_stem.get(stem, ())
            if _ends_with(template, folders) and _has_ending(template, endings)
        ]
        whole = [template for template in templates if template.folders[template.root :] == folders]
        if folders:
            templates = [template for template in whole if template.root >= 0] or templates
        if len(templates) > 1:
            near = [template for template in templates if _is_near(template, folders, user)]
            templates = near or [template for template in whole if template.root >= 0] or templates
        return templates if len(templates) <= _MOST_MEANT else ()


def is_whole_name(template: Template, name: str) -> bool:
    """Whether a text is all of the path below a folder of templates, and more than one part."""
    folders, _, _ = _parts(name)
    return bool(folders) and template.root >= 0 and template.folders[template.root :] == folders


def has_ending(name: str) -> bool:
    """Whether a text says of itself that it is a file: `cart.html`."""
    return bool(_parts(name)[2])


def _parts(name: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Folders, stem and endings in what code calls a template."""
    name = _PREFIX.sub("", name.strip()).replace(":", "/").replace("\\", "/")
    ending = _LAST_ENDING.search(name)
    endings: tuple[str, ...] = ()
    if ending is not None:
        parts = ending[0][1:].split(".")
        if "/" in name or _is_ending(parts[-1]):
            name, endings = name[: ending.start()], tuple(parts)
    if not endings and "/" not in name:
        name = name.replace(".", "/")
    *folders, stem = name.split("/")
    return tuple(folder for folder in folders if folder), stem.lstrip("_"), endings


def _is_ending(word: str) -> bool:
    ending = word.encode()
    return ending in _ENDINGS or ending in _MARKUP


def _ends_with(template: Template, folders: tuple[str, ...]) -> bool:
    return not folders or template.folders[-len(folders) :] == folders


def _has_ending(template: Template, endings: tuple[str, ...]) -> bool:
    """`cart.html` names `cart.html`, `cart.html.erb` and `cart.html.twig`, not `cart.txt`."""
    return not endings or template.endings[: len(endings)] == endings


def _is_near(template: Template, folders: tuple[str, ...], user: bytes) -> bool:
    *user_folders, file = user.split(b"/")
    if [folder.encode() for folder in template.folders] == user_folders:
        return True
    own = template.folders[len(template.folders) - len(folders) - 1 :]
    name = file.partition(b".")[0].lower()
    return bool(own) and bool(own[0]) and name.startswith(own[0].lower().encode())
