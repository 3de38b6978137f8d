"""Finds templates by their paths, and the code and templates that name or render them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.setting_uses import (
    BARE,
    EXACT,
    THROUGH,
    Match,
    Place,
    TextSearch,
    words_in,
)
from codelens.paths import printed
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts.resolution_facts import key_of

_ENDINGS = frozenset(
    b"jinja jinja2 j2 njk nunjucks twig erb haml slim hbs handlebars mustache ejs pug jade liquid "
    b"tmpl gotmpl gohtml tpl latte phtml jsp jspx ftl ftlh mako eex heex leex vm volt cshtml "
    b"vbhtml rhtml dust mjml edge marko jbuilder builder blade thtml".split()
)
_MARKUP = frozenset(b"html htm xhtml xml txt php svg".split())
"""Extensions of templates in a folder of templates."""
_ROOTS = frozenset(
    b"templates template views view jinja2 twig _layouts _includes layouts partials emails".split()
)
"""Folders that hold templates: template names are relative to them."""
_MOST_MEANT = 40
"""A name that more templates have than this is no evidence."""
_LAST_ENDING = re.compile(r"(?:\.[a-z][a-z0-9]{0,9}){1,3}\Z")
_PREFIX = re.compile(r"\A(?:@!?[\w-]*/|[~.]*/|[\w.\\-]*::?)+")


class Template(NamedTuple):
    """A template, by the parts of its path."""

    path: bytes
    folders: tuple[str, ...]
    stem: str
    """Its file name up to the first dot, without the `_` that marks partial templates."""
    endings: tuple[str, ...]
    """`("html", "erb")`."""
    root: int
    """Number of its folders before the name that code uses; -1 if unknown."""


def template_at(path: bytes) -> Template | None:
    """The template at a path, or None."""
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
        # `templates/emails/a.html` is named `emails/a.html`.
        roots[0] + 1 if roots else -1,
    )


class TemplateNames:
    """The templates of a view, by the names that code uses."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._by_stem: dict[str, list[Template]] = {}
        for path in paths:
            template = template_at(path)
            if template is not None:
                self._by_stem.setdefault(template.stem, []).append(template)

    def meant(self, name: str, user: bytes) -> Sequence[Template]:
        """The templates that a string in a file may mean; only the likeliest.

        A whole name beats the end of one; a template next to the file, or in a folder named like
        the file (`users_controller.rb`, `users/`), beats others.
        """
        folders, stem, endings = _parts(name)
        templates = [
            template
            for template in self._by_stem.get(stem, ())
            if (not folders or template.folders[-len(folders) :] == folders)
            # `cart.html` names `cart.html.erb` and `cart.html.twig`, not `cart.txt`.
            and template.endings[: len(endings)] == endings
        ]
        whole = [template for template in templates if template.folders[template.root :] == folders]
        if folders:
            templates = [template for template in whole if template.root >= 0] or templates
        if len(templates) > 1:
            near = [template for template in templates if _is_near(template, folders, user)]
            templates = near or [template for template in whole if template.root >= 0] or templates
        return templates if len(templates) <= _MOST_MEANT else ()


def is_whole_name(template: Template, name: str) -> bool:
    """Whether a string is the whole path below a template folder, with more than one part."""
    folders, _, _ = _parts(name)
    return bool(folders) and template.root >= 0 and template.folders[template.root :] == folders


def has_ending(name: str) -> bool:
    """Whether a string has the form of a file name: `cart.html`."""
    return bool(_parts(name)[2])


def _parts(name: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Folders, stem and extensions in the name that code uses for a template."""
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


def _is_near(template: Template, folders: tuple[str, ...], user: bytes) -> bool:
    *user_folders, file = user.split(b"/")
    if [folder.encode() for folder in template.folders] == user_folders:
        return True
    own = template.folders[len(template.folders) - len(folders) - 1 :]
    name = file.partition(b".")[0].lower()
    return bool(own) and bool(own[0]) and name.startswith(own[0].lower().encode())


# The uses of a template: code that renders it, templates that include or extend it.
#
# Views that are selected by the name of a method (`views/users/show` for `UsersController.show`)
# are found by their paths, as no text names them.

_MOST_TEMPLATES = 60
"""Maximum number of templates in the target, including those that include them."""
_DEEPEST = 3
_RENDERING = re.compile(
    rb"(?i)render|template|view|partial|layout|includ|extend|component|display|fetch|mail|page|"
    rb"\bblock\b|@(?:each|includeif|extends)|\breturn\s*$"
)
_NEAR = 120
"""Bytes before a name that must contain a word for rendering."""
_ALWAYS = frozenset({"partial", "bare", "component"})
"""Groups of `_naming` that mean a template in any place."""
_NAME = rb"[@\w./:\\~-]"


class _TemplateUse(NamedTuple):
    """One place that may use a template."""

    path: bytes
    line: int
    template: Template
    name: str = ""
    """The name as written; empty for the template of a method."""
    choices: int = 0
    """The number of templates that it may mean."""
    node: Node | None = None
    """The method that renders its template without naming it."""


class TemplateUses:
    """Searches one view for uses, for one call."""

    def __init__(self, view: CurrentView, search: TextSearch) -> None:
        self._view = view
        self._search = search
        self._certain = set[bytes]()
        """Templates that certainly include the target, and the target: edges list their users."""

    def of(self, paths: Sequence[bytes], depth: int) -> Iterator[Place]:
        """Uses of the templates among some files, and, by steps, of templates that include them."""
        for use in self._uses(paths, depth):
            written = f"names {use.name}" if use.name else "renders it by its own name"
            grade = EXACT if not use.name or has_ending(use.name) else BARE
            if use.template.path not in paths:
                written, grade = f"{written}, through {printed(use.template.path)}", grade + THROUGH
            yield Place(use.path, use.line, written, grade, use.choices, use.node)

    def _uses(self, paths: Iterable[bytes], depth: int) -> Iterator[_TemplateUse]:
        templates = [template for path in paths if (template := template_at(path)) is not None]
        if not templates:
            return
        seen = {template.path for template in templates}
        self._certain = set(seen)
        # Code may still name a deleted template.
        names = TemplateNames(sorted(seen.union(self._view.snapshot.by_path)))
        for _ in range(min(depth, _DEEPEST)):
            including: list[Template] = []
            for use in self._direct(templates[:_MOST_TEMPLATES], names):
                if use.path in seen:
                    continue
                outer = template_at(use.path)
                if not self._is_certain(use):
                    yield use
                elif outer is not None:
                    self._certain.add(use.path)
                if outer is not None and all(other.path != outer.path for other in including):
                    including.append(outer)
            seen.update(template.path for template in including)
            templates = including
            if not templates:
                return

    def _is_certain(self, use: _TemplateUse) -> bool:
        """Whether edges lead from a place to the target, so that it is no possible use."""
        path = use.template.path
        return path in self._certain and (use.path, use.line) in self._search.naming(path)

    def _direct(
        self, templates: Sequence[Template], names: TemplateNames
    ) -> Iterator[_TemplateUse]:
        by_path = {template.path: template for template in templates}
        for template in templates:
            yield from self._by_method(template)
        stems = sorted({template.stem for template in templates})
        paths = set[bytes]().union(*(self._search.files_with(words_in(stem)) for stem in stems))
        others = [path for path in paths if template_at(path) is not None]
        for match in self._search.matches(paths, _naming(stems), also=others):
            name = match.text[match.start : match.end].decode("utf-8", "replace")
            templates_named = names.meant(name, match.path)
            for template in templates_named:
                if template.path in by_path and _is_rendered(match, name, template):
                    count = len(templates_named)
                    yield _TemplateUse(match.path, match.line, template, name, count)

    def _by_method(self, template: Template) -> Iterator[_TemplateUse]:
        """Controller methods that render a template without naming it."""
        below = template.folders[template.root :]
        if template.root < 0 or not below:
            return
        owners = {key_of(f"{below[-1]}controller")}
        if below[-1].endswith("mailer"):
            owners.add(key_of(below[-1]))
        for name in (template.stem, f"action{template.stem}"):
            for file, at, symbol in self._view.snapshot.symbols_with_key(key_of(name)):
                owner = symbol.qualified.rpartition(".")[0].rpartition(".")[2]
                if symbol.parent >= 0 and key_of(owner) in owners:
                    node = Node(file.path, at)
                    yield _TemplateUse(file.path, symbol.name_line, template, node=node)


def _naming(stems: Sequence[str]) -> re.Pattern[bytes]:
    """A pattern for names of templates with one of these stems."""
    any_stem = b"|".join(re.escape(stem.encode("utf-8", "replace")) for stem in stems)
    name = rb"(?:%s{0,200}[./:\\~@])?_?(?:%s)(?:\.[a-z][a-z0-9]{0,9}){0,3}" % (_NAME, any_stem)
    quoted = rb"([\"'`])(?P<quoted>%s)(?=\1|\s*::\s*\w)" % name
    symbol = rb"(?<=[\s(,=>]:)(?P<symbol>%s)(?![\w:?!=])" % any_stem
    partial = rb"\{\{[#~]?>\s*(?P<partial>%s)(?=[\s}~])" % name
    bare = rb"\b(?:include|extends)\s+(?P<bare>%s)(?=\s|$)" % name
    component = rb"<x-(?P<component>%s)(?=[\s/>])" % name
    return re.compile(rb"(?m)%s|%s|%s|%s|%s" % (quoted, symbol, partial, bare, component))


def _is_rendered(match: Match, name: str, template: Template) -> bool:
    """Whether a string with the name of a template means the template."""
    if has_ending(name) or is_whole_name(template, name) or match.group in _ALWAYS:
        return True
    line = match.text.rfind(b"\n", 0, match.start) + 1
    if match.text[max(line - _NEAR, 0) : line].rstrip().endswith((b"(", b",")):
        # A call with a line break before its arguments.
        line = match.text.rfind(b"\n", 0, max(line - 1, 0)) + 1
    start = max(match.start - _NEAR, line)
    verb = _RENDERING.search(match.text[start : match.start].rstrip(b"\"'`( :"))
    if verb is None:
        return False
    return verb[0] != b"return" or b"controller" in match.path.lower()


# Finds filters, tags and tests: functions that a decorator registers for templates under a name.

_REGISTERED = re.compile(
    r"""@[\w.]*\b(?P<kind>(?:simple_|inclusion_|simple_block_)?tag|(?:app_)?(?:template_)?
    (?:filter|test|global))\b\s*(?:\(\s*(?:[\w.]+\s*,\s*)?(?:name\s*=\s*)?["'](?P<name>\w+)["'])?""",
    re.VERBOSE,
)
"""Django's `@register.filter("x")`, Flask's `@app.template_filter`; a first argument may be the
template of an `inclusion_tag`, whose name is the function's."""
_INCLUSION = "inclusion_tag"


def registered_name(head: str, function: str) -> tuple[str, str] | None:
    """How templates use a function, and its name there, by the lines of its decorators."""
    match = _REGISTERED.search(head)
    if match is None:
        return None
    kind = match["kind"]
    name = match["name"] if match["name"] and kind != _INCLUSION else function
    return kind.rpartition("_")[2], name


def registered_uses(
    view: CurrentView, search: TextSearch, names: Iterable[tuple[str, str]]
) -> Iterator[Place]:
    """Places in templates that use functions which a decorator registers, by kind and name."""
    for how, name in names:
        paths = [path for path in search.files_with([name]) if template_at(path) is not None]
        for match in search.matches((), _using(how, name), also=paths):
            yield Place(match.path, match.line, f"uses the {how} {name}")


def _using(how: str, name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    before = {
        "filter": rb"(?:\|\s*|\{%-?\s*filter\s+)",
        "tag": rb"\{%-?\s*",
        "test": rb"\bis\s+(?:not\s+)?",
    }
    beginning = before.get(how, rb"(?:\{\{-?|\{%-?)[^{}%]*?(?<![\w.|])")
    return re.compile(rb"%s(?P<at>%s)(?![\w])" % (beginning, word))
