"""The rules by which frameworks find the template that a text names literally.

A use is certain if the framework documents where it looks for the name and only one file of the
view can be there. Everything else stays a possible use.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from codelens.engine.graph.template_comments import (
    BLADE_COMMENT,
    CURLY_COMMENT,
    ERB_COMMENT,
    HASH_COMMENT,
    PYTHON_COMMENT,
    SLASH_COMMENT,
    TAG_COMMENT,
    Comments,
)

_NAME = rb"(?P<quote>[\"'])(?P<name>[@!\w./:+-]{1,200})(?P=quote)"
_ROOTS = (b"templates", b"jinja2")
"""Folders of Django's applications and of Flask; names are relative to them."""
_PROJECT = (b"symfony.lock", b"config/bundles.php", b"config/packages/twig.yaml", b"bin/console")
"""Files of a Symfony project, whose `templates` is a root."""
_VIEWS = b"app/views/"


class NamedTemplate(NamedTuple):
    """A literal name of a template in a text, and the only file that it can mean."""

    start: int
    """Position of the name."""
    name: str
    path: bytes


class TemplatePaths:
    """The paths of a view, by the first part of the file name."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._by_stem: dict[bytes, list[bytes]] = {}
        self._ending: dict[bytes, list[bytes]] = {}
        self.any = False
        """Whether any file may be a template."""
        for path in paths:
            self._by_stem.setdefault(_stem(path), []).append(path)
            self.any = self.any or may_be_template(path)

    def __contains__(self, path: bytes) -> bool:
        return path in self._by_stem.get(_stem(path), ())

    def ending(self, name: bytes) -> list[bytes]:
        """Return the files whose paths end with the parts of a name."""
        places = self._ending.get(name)
        if places is None:
            tail, named = b"/" + name, self.named(_stem(name))
            places = [path for path in named if (b"/" + path).endswith(tail)]
            self._ending[name] = places
        return places

    def named(self, stem: bytes) -> list[bytes]:
        """Return the files with a name up to the first dot."""
        return self._by_stem.get(stem, [])


class _Text:
    """A text that names templates, without its comments."""

    def __init__(self, path: bytes, text: bytes, paths: TemplatePaths) -> None:
        self.path = path
        self.text = text
        self.paths = paths

    @cached_property
    def inline_partials(self) -> set[bytes]:
        """The partials of Handlebars that the text itself has."""
        return {match[1] for match in _INLINE.finditer(self.text)}

    @cached_property
    def sets_view(self) -> bool:
        """Whether a controller of Phoenix does not render its own view."""
        return b"put_view" in self.text


_INLINE = re.compile(rb"#\*\s*inline\s+[\"']([\w/.-]+)[\"']")


_Rule = Callable[[_Text, bytes, Mapping[str, bytes]], "bytes | None"]
"""Finds the only file that a name can mean, by the text, the name and what else the use says."""


class _Form(NamedTuple):
    """How a framework's files name templates."""

    pattern: re.Pattern[bytes]
    rule: _Rule
    needs: re.Pattern[bytes] | None = None
    """What the file must have: the import of the framework's function."""


def named_templates(path: bytes, text: bytes, paths: TemplatePaths) -> Iterator[NamedTemplate]:
    """Yield the certain uses of templates in a file."""
    forms, comments = _forms_of(path)
    if not forms:
        return
    forms = [form for form in forms if form.needs is None or form.needs.search(text) is not None]
    if not forms:
        return
    read = _Text(path, comments.blanked(text), paths)
    for form in forms:
        for match in form.pattern.finditer(read.text):
            target = form.rule(read, match["name"], _hints(match))
            if target is not None and target != path:
                yield NamedTemplate(match.start("name"), match["name"].decode(), target)


def may_name_templates(path: bytes) -> bool:
    """Whether the rules of some framework apply to a file."""
    return bool(_forms_of(path)[0])


def is_code(path: bytes) -> bool:
    """Whether a file that names templates is code, and no template itself."""
    return path.endswith(_CODE) and not path.endswith(b".blade.php")


def may_be_template(path: bytes) -> bool:
    """Whether a rule may lead to a file, by its folders."""
    return not _FOLDERS.isdisjoint(path.split(b"/")[:-1])


_CODE = (b".py", b".php", b".rb", b".ex")
_FOLDERS = frozenset((*_ROOTS, b"views", b"partials"))


def _hints(match: re.Match[bytes]) -> Mapping[str, bytes]:
    """What a use says beyond the name."""
    groups = match.groupdict().items()
    return {group: text for group, text in groups if text and group not in {"quote", "name"}}


def _stem(path: bytes) -> bytes:
    return path.rpartition(b"/")[2].partition(b".")[0]


def _only(paths: Iterable[bytes]) -> bytes | None:
    several = list(dict.fromkeys(paths))
    return several[0] if len(several) == 1 else None


# Jinja and Django: the path below `templates` or `jinja2`; `./` is relative to the file.


def _below_root(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    if name.startswith((b"./", b"../")):
        neighbour = posixpath.normpath(posixpath.join(posixpath.dirname(read.path), name))
        return neighbour if neighbour in read.paths else None
    places = read.paths.ending(name)
    folders = {path: path[: len(path) - len(name)].split(b"/")[:-1] for path in places}
    # A file outside of all roots may be below a folder that the settings name.
    meant = [
        path
        for path in places
        if folders[path][-1:] in [[root] for root in _ROOTS]
        or not any(root in folders[path] for root in _ROOTS)
    ]
    target = _only(meant)
    return target if target and folders[target][-1:] in [[root] for root in _ROOTS] else None


# Twig: the path below `templates` of the Symfony project; `@Shop/` is the bundle `ShopBundle`.


def _of_project(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    if name.startswith(b"@"):
        return _of_bundle(read, name)
    if b":" in name:
        return None
    places = read.paths.ending(name)
    in_root = [path for path in places if _is_project(read, path[: len(path) - len(name)])]
    others = [path for path in places if b"templates" not in path.split(b"/")]
    return _only([*in_root, *others]) if in_root else None


def _is_project(read: _Text, folder: bytes) -> bool:
    root = folder.removesuffix(b"templates/")
    is_root = folder.endswith(b"templates/") and (not root or root.endswith(b"/"))
    return (
        is_root
        and read.path.startswith(root)
        and any(root + mark in read.paths for mark in _PROJECT)
    )


def _of_bundle(read: _Text, name: bytes) -> bytes | None:
    bundle, _, rest = name.lstrip(b"@").lstrip(b"!").partition(b"/")
    full = bundle + b"Bundle"
    overrides = (
        [] if name.startswith(b"@!") else read.paths.ending(b"bundles/" + full + b"/" + rest)
    )
    homes = [posixpath.dirname(path) for path in read.paths.ending(full + b".php")]
    folders = (b"templates/", b"Resources/views/", b"../templates/")
    places = (
        posixpath.normpath(b"/".join((home, end + rest))) for home in homes for end in folders
    )
    return _only([*overrides, *(place for place in places if place in read.paths)])


# Blade: `resources/views` of the application, with dots for slashes.


def _of_application(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    if b":" in name:
        return None
    below = name.replace(b".", b"/")
    places: list[bytes] = []
    certain = set[bytes]()
    for ending in (b".blade.php", b".php", b".css", b".html"):
        for path in read.paths.ending(below + ending):
            folder = path[: len(path) - len(below + ending)]
            root = folder.removesuffix(b"resources/views/")
            if root != folder and (not root or root.endswith(b"/")):
                if read.path.startswith(root) and root + b"artisan" in read.paths:
                    certain.add(path)
                places.append(path)
            elif b"resources/views/" not in folder and ending == b".blade.php":
                places.append(path)
    return target if (target := _only(places)) in certain else None


def _of_component(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    """Find the anonymous component `<x-form.input>`; one with a class is not found here."""
    if b":" in name or name == b"slot":
        return None
    parts = name.split(b".")
    words = [b"".join(word.capitalize() for word in part.split(b"-")) for part in parts]
    built = b"app/View/Components/" + b"/".join(words)
    plain = b"resources/views/components/" + b"/".join(parts)
    places: list[bytes] = []
    for below in (
        *(built + b".php", b"%s/%s.php" % (built, words[-1]), plain + b".blade.php"),
        *(plain + b"/index.blade.php", b"%s/%s.blade.php" % (plain, parts[-1])),
    ):
        for path in read.paths.ending(below):
            root = path.removesuffix(below)
            if read.path.startswith(root) and root + b"artisan" in read.paths:
                places.append(path)
    target = _only(places)
    return target if target is not None and target.endswith(b".blade.php") else None


# Rails: `app/views`; partials begin with `_`; a name without a folder is in the controller's.


def _of_rails(read: _Text, name: bytes, hints: Mapping[str, bytes]) -> bytes | None:
    *folders, base = name.split(b"/")
    if b"." in name or b":" in name or b"" in folders:
        return None
    is_code = read.path.endswith(b".rb")
    in_view = not is_code or b"app/helpers/" in read.path
    if "partial" in hints or (not hints and in_view):
        base = b"_" + base
    places = [path for path in read.paths.named(base) if _VIEWS in path]
    folder = b"layouts" if "layout" in hints and not folders else b"/".join(folders)
    if folder:
        places = [path for path in places if _below_views(path) == folder]
    else:
        places = _in_own_folder(read, places, is_code=is_code)
    endings = read.path.rpartition(b"/")[2].split(b".")[1:]
    if not is_code and len(endings) > 1:
        # A page includes files of its format or without one; a script also pages.
        formats = {path: path.rpartition(b"/")[2].split(b".")[1:-1] for path in places}
        own = [path for path in places if not formats[path] or endings[0] in formats[path]]
        is_script = endings[0] == b"js" and not own
        places = [path for path in places if b"html" in formats[path]] if is_script else own
    return _only(places)


def _below_views(path: bytes) -> bytes:
    return posixpath.dirname(path.partition(_VIEWS)[2])


def _in_own_folder(read: _Text, places: list[bytes], *, is_code: bool) -> list[bytes]:
    """Return the files that a name without a folder may mean.

    It is in the folder of the controller that runs: for a page that of its own folder, for a
    partial an unknown one. A file that is the only one of its name is meant by every controller.
    """
    own = _folder_of_controller(read.path) if is_code else _below_views(read.path)
    is_known = own and (is_code or (not _is_partial(read.path) and _has_controller(read, own)))
    if not is_known:
        return [] if is_code else places
    last = own.rpartition(b"/")[2]
    alike = [path for path in places if _below_views(path).rpartition(b"/")[2] == last]
    near = [path for path in alike if _below_views(path) == own]
    return alike if near else [] if is_code else places


def _folder_of_controller(path: bytes) -> bytes:
    _, _, below = path.partition(b"app/controllers/")
    if below.endswith(b"_controller.rb"):
        own = below.removesuffix(b"_controller.rb")
        # Every controller derives from it, and each has its own folder.
        return own if own != b"application" else b""
    return path.partition(b"app/mailers/")[2].removesuffix(b".rb")


def _is_partial(path: bytes) -> bool:
    return path.rpartition(b"/")[2].startswith(b"_")


def _has_controller(read: _Text, own: bytes) -> bool:
    return bool(
        read.paths.ending(b"app/controllers/" + own + b"_controller.rb")
        or read.paths.ending(b"app/mailers/" + own + b".rb")
    )


# Thymeleaf: below `resources/templates`. Handlebars: `views/partials`. EEx: the view's folder.


def _of_spring(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    root, mark, _ = read.path.partition(b"resources/templates/")
    ending = b"" if name.endswith((b".html", b".xhtml")) else b".html"
    path = root + mark + name.strip(b"/") + ending
    return path if mark and path in read.paths else None


def _of_partials(read: _Text, name: bytes, _hints: Mapping[str, bytes]) -> bytes | None:
    root, mark, _ = (b"/" + read.path).partition(b"/views/")
    if not mark or name in read.inline_partials:
        return None
    endings = (b".hbs", b".handlebars")
    places = [path for end in endings for path in read.paths.ending(b"partials/" + name + end)]
    target = _only(places)
    own = (root + mark).lstrip(b"/") + b"partials/"
    return target if target and target.startswith(own) else None


def _of_phoenix(read: _Text, name: bytes, hints: Mapping[str, bytes]) -> bytes | None:
    """Find a template of the view that renders: that of the folder, or of the controller's name."""
    root, _, below = read.path.partition(b"/controllers/")
    folders = [posixpath.dirname(read.path)]
    if is_code(read.path):
        own = below.removesuffix(b"_controller.ex")
        folders = [root + b"/templates/" + own, root + b"/controllers/" + own + b"_html"]
        if not below.endswith(b"_controller.ex") or read.sets_view:
            return None
    elif b"/templates/" not in read.path:
        return None
    below, base = posixpath.split(name)
    named = read.paths.named(base.partition(b".")[0])
    homes = [posixpath.join(folder, below).rstrip(b"/") for folder in folders]
    places = [path for path in named if posixpath.dirname(path) in homes]
    return _only(path for path in places if _renders(path, base, is_symbol="symbol" in hints))


def _renders(path: bytes, name: bytes, *, is_symbol: bool) -> bool:
    """Whether a file is the template of a name; a symbol leaves the format to the request."""
    stem, _, ending = path.rpartition(b"/")[2].rpartition(b".")
    is_named = stem.partition(b".")[0] == name if is_symbol else stem == name
    return is_named and ending in _PHOENIX_ENDINGS


def _of_phoenix_view(read: _Text, name: bytes, hints: Mapping[str, bytes]) -> bytes | None:
    """Find a template of a view that is named: `Admin.UserView` has `admin/user`."""
    root, mark, _ = read.path.partition(b"/templates/")
    if not mark:
        return None
    if hints["view"] == b"__MODULE__":
        return _of_phoenix(read, name, {})
    modules = hints["view"].removesuffix(b"View").split(b".")
    parts = [_CAPITAL.sub(rb"_", module).lower() for module in modules if module[-3:] != b"Web"]
    folder = b"/" + b"/".join(parts)
    places = [path for path in read.paths.named(name.partition(b".")[0]) if root + mark in path]
    # An alias may leave out the first modules.
    ending = [path for path in places if posixpath.dirname(path).endswith(folder)]
    return _only(path for path in ending if _renders(path, name, is_symbol=False))


_PHOENIX_ENDINGS = frozenset((b"eex", b"leex", b"heex"))
_CAPITAL = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])")


# The forms of each framework.


def _form(pattern: bytes, rule: _Rule, needs: bytes = b"") -> _Form:
    flags = re.MULTILINE
    written = pattern.replace(b"NAME", _NAME)
    return _Form(re.compile(written, flags), rule, re.compile(needs, flags) if needs else None)


def _imports(module: bytes, names: bytes) -> bytes:
    """Return a pattern for Python's import of one of some names."""
    return rb"^[ \t]*from[ \t]+%s[ \t]+import[ \t]+(?:\([^)]{0,4000}|[^\n]*)\b(?:%s)\b" % (
        module,
        names,
    )


_TAG_ENDS = rb"(?=\s*(?:[-+~]?%\}|(?:with|without|only|ignore|import|as)\b))"
_ARGUMENT_ENDS = rb"(?=\s*[,)])"
_RUBY_ENDS = rb"(?=\s*(?:,|\)|\}|-?%>|$|(?:if|unless|and|or|do)\b))"
_JINJA = (_form(rb"\{%%[-+]?\s*(?:include|extends|import|from)\s+NAME%s" % _TAG_ENDS, _below_root),)
_TWIG = (
    _form(
        rb"\{%%[-~]?\s*(?:include|extends|import|from|use|embed)\s+NAME%s" % _TAG_ENDS, _of_project
    ),
    _form(rb"(?<![\w.>$])include\(\s*NAME" + _ARGUMENT_ENDS, _of_project),
)
_BLADE = (
    _form(
        rb"(?<![@\w])@(?:include|includeIf|extends|component|each)\s*\(\s*NAME" + _ARGUMENT_ENDS,
        _of_application,
    ),
    _form(
        rb"(?<![@\w])@include(?:When|Unless)\s*\((?:[^'\"()\n]|\([^()\n]*\))*,\s*NAME"
        + _ARGUMENT_ENDS,
        _of_application,
    ),
    _form(rb"<x-(?P<name>[a-z][\w.:-]*)(?=[\s/>])", _of_component),
)
_LARAVEL = (
    _form(rb"(?<![\w>:$\\])response\(\)\s*->view\(\s*NAME" + _ARGUMENT_ENDS, _of_application),
    _form(rb"(?<![\w>:$\\])(?<!function )view\(\s*NAME" + _ARGUMENT_ENDS, _of_application),
    _form(
        rb"(?<![\w$\\])View::make\(\s*NAME" + _ARGUMENT_ENDS,
        _of_application,
        rb"^use\s+(?:Illuminate\\Support\\Facades\\)?View\s*;",
    ),
    _form(
        rb"(?<![\w$\\])Route::view\(\s*['\"][^'\"\n]*['\"]\s*,\s*NAME" + _ARGUMENT_ENDS,
        _of_application,
        rb"^use\s+(?:Illuminate\\Support\\Facades\\)?Route\s*;",
    ),
)
_SYMFONY = (
    _form(
        rb"\$this->render(?:View|Form)?\(\s*NAME" + _ARGUMENT_ENDS,
        _of_project,
        rb"^use\s+Symfony\\Bundle\\FrameworkBundle\\Controller\\AbstractController\s*;",
    ),
    _form(
        rb"\$(?:this->)?\w+->render\(\s*NAME" + _ARGUMENT_ENDS,
        _of_project,
        rb"^use\s+Twig\\Environment\b",
    ),
    _form(
        rb"#\[Template\(\s*NAME" + _ARGUMENT_ENDS,
        _of_project,
        rb"^use\s+Symfony\\Bridge\\Twig\\Attribute\\Template\s*;",
    ),
)
_RAILS_VIEW = (
    _form(
        rb"\brender(?:\s+|\s*\(\s*)(?:(?P<partial>:partial\s*=>|partial:)\s*|"
        rb"(?P<template>:template\s*=>|template:)\s*)?NAME" + _RUBY_ENDS,
        _of_rails,
    ),
    _form(rb"\bjson\.(?P<partial>partial!)\s*\(?\s*NAME" + _RUBY_ENDS, _of_rails),
)
_RAILS_CODE = (
    _form(
        rb"(?<![\w.:@])render(?:_to_string)?(?:\s+|\s*\(\s*)(?:(?P<partial>:partial\s*=>|partial:)"
        rb"\s*|(?P<template>(?::template|:action)\s*=>|template:|action:)\s*)?NAME" + _RUBY_ENDS,
        _of_rails,
    ),
    _form(
        rb"(?<![\w.:@])render(?:\s+|\s*\(\s*)(?:(?::action\s*=>|action:)\s*)?:(?P<name>\w+)"
        rb"(?!\s*=>)" + _RUBY_ENDS,
        _of_rails,
    ),
    _form(rb"^[ \t]*(?P<layout>layout)\s*\(?\s*NAME" + _RUBY_ENDS, _of_rails),
)
_THYMELEAF = (
    _form(
        rb"\b(?:th[:-](?:replace|insert|include)|layout:decorate)=[\"']\s*(?:~\{)?\s*"
        rb"(?P<name>[\w./-]+)(?=\s*(?:::|\}|[\"']))",
        _of_spring,
    ),
)
_HANDLEBARS = (_form(rb"\{\{~?#?>\s*(?P<name>[\w/.-]+)(?=[\s}~])", _of_partials),)
_PHOENIX_VIEW = (
    _form(rb"(?<![\w.])render(?:\s+|\(\s*)NAME(?=\s*(?:,|\)|%>))", _of_phoenix),
    _form(
        rb"(?<![\w.])render(?:\s+|\(\s*)(?P<view>(?:\w+\.)*\w+View|__MODULE__)\s*,\s*NAME"
        rb"(?=\s*(?:,|\)|%>))",
        _of_phoenix_view,
    ),
)
_RENDER = rb"(?:\|>\s*render\(\s*|(?<![\w.])render(?:\s+|\(\s*)conn\s*,\s*)"
_CONTROLLER = rb"^[ \t]*use\s+[\w.]+,\s*:controller\b"
_PHOENIX_CODE = (
    _form(_RENDER + rb"NAME(?=\s*(?:,|\)|$))", _of_phoenix, _CONTROLLER),
    _form(_RENDER + rb"(?P<symbol>:)(?P<name>\w+)(?=\s*(?:,|\)|$))", _of_phoenix, _CONTROLLER),
)
_DJANGO_CODE = (
    _form(
        rb"(?<![\w.])render\(\s*[\w.]+\s*,\s*NAME" + _ARGUMENT_ENDS,
        _below_root,
        _imports(rb"django\.shortcuts", b"render"),
    ),
    _form(
        rb"(?<![\w.])(?:render_to_string|get_template)\(\s*NAME" + _ARGUMENT_ENDS,
        _below_root,
        _imports(rb"django\.template\.loader", b"render_to_string|get_template"),
    ),
    _form(
        rb"(?<![\w.])TemplateResponse\(\s*[\w.]+\s*,\s*NAME" + _ARGUMENT_ENDS,
        _below_root,
        _imports(rb"django\.template\.response", b"TemplateResponse"),
    ),
    _form(
        rb"(?:^[ \t]+|[(,]\s*)template_name\s*=\s*NAME(?=\s*(?:[,)]|$|#))",
        _below_root,
        _imports(rb"django\.views\.generic(?:\.\w+)?", rb"\w*View"),
    ),
    _form(
        rb"@\w+\.inclusion_tag\(\s*NAME" + _ARGUMENT_ENDS,
        _below_root,
        _imports(rb"django", b"template"),
    ),
    _form(
        rb"(?<![\w.])render_template\(\s*NAME" + _ARGUMENT_ENDS,
        _below_root,
        _imports(rb"(?:flask|quart)", b"render_template"),
    ),
)
_Forms = tuple[tuple[_Form, ...], Comments]
_BY_ENDING: dict[bytes, _Forms] = {
    b"twig": (_TWIG, TAG_COMMENT),
    b"hbs": (_HANDLEBARS, CURLY_COMMENT),
    b"handlebars": (_HANDLEBARS, CURLY_COMMENT),
    b"eex": (_PHOENIX_VIEW, ERB_COMMENT),
    b"leex": (_PHOENIX_VIEW, ERB_COMMENT),
    b"heex": (_PHOENIX_VIEW, ERB_COMMENT),
    b"ex": (_PHOENIX_CODE, HASH_COMMENT),
    b"py": (_DJANGO_CODE, PYTHON_COMMENT),
    b"php": ((*_LARAVEL, *_SYMFONY), SLASH_COMMENT),
    b"j2": (_JINJA, TAG_COMMENT),
    b"jinja": (_JINJA, TAG_COMMENT),
    b"jinja2": (_JINJA, TAG_COMMENT),
}
_RAILS_ENDINGS = {
    b"erb": ERB_COMMENT,
    b"haml": Comments((rb"^[ \t]*-#", b"\n")),
    b"slim": Comments((rb"^[ \t]*/", b"\n")),
    b"jbuilder": HASH_COMMENT,
    b"builder": HASH_COMMENT,
}
_MARKUP = frozenset(b"html htm xhtml xml txt svg".split())
_NONE: _Forms = ((), HASH_COMMENT)


def _forms_of(path: bytes) -> _Forms:
    """Return how a file may name templates, and its comments."""
    ending = path.rpartition(b".")[2].lower()
    if path.endswith(b".blade.php"):
        return _BLADE + _LARAVEL[:2], BLADE_COMMENT
    if ending in _RAILS_ENDINGS:
        return (_RAILS_VIEW, _RAILS_ENDINGS[ending]) if _VIEWS in path else _NONE
    if ending == b"rb":
        is_rails = re.search(rb"(?:^|/)app/(?:controllers|mailers|helpers)/", path) is not None
        return (_RAILS_CODE, HASH_COMMENT) if is_rails else _NONE
    if ending in _MARKUP:
        folders = path.split(b"/")[:-1]
        if b"resources/templates/" in path:
            return _THYMELEAF + _JINJA, TAG_COMMENT
        return (_JINJA, TAG_COMMENT) if any(root in folders for root in _ROOTS) else _NONE
    return _BY_ENDING.get(ending, _NONE)
