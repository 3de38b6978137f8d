"""Finds what frameworks call because of the name of a file: pages, layouts, endpoints, hooks.

Next, SvelteKit and Nuxt. The framework itself is the user, so the place is the definition in its
own file; strings with the address that leads there are further places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codelens.engine.graph.setting_uses import Place, TextSearch
from codelens.paths import printed
from codelens.resolve.path_tree import ancestors, below, folder_of, stem_of
from codelens.resolve.walk.edge_table import MODULE, Node
from codelens.types import Symbol

_METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS fallback".split())
_DEFAULT = "default"
_SCRIPTS = (b".ts", b".tsx", b".js", b".jsx", b".mjs", b".mts")
_SEGMENT = frozenset(
    "dynamic dynamicParams revalidate fetchCache runtime preferredRegion maxDuration "
    "experimental_ppr".split()
)
_HEAD = frozenset("metadata generateMetadata viewport generateViewport".split())
_PICTURE = frozenset(
    {_DEFAULT, "generateSitemaps", "generateImageMetadata", "size", "alt", "contentType"}
)
_APP = {
    "page": _HEAD | _SEGMENT | {_DEFAULT, "generateStaticParams"},
    "layout": _HEAD | _SEGMENT | {_DEFAULT, "generateStaticParams"},
    "route": _METHODS | _SEGMENT | {"generateStaticParams"},
    **dict.fromkeys(
        "template loading error global-error not-found default forbidden unauthorized".split(),
        frozenset({_DEFAULT}),
    ),
    **dict.fromkeys(
        "sitemap robots manifest opengraph-image twitter-image icon apple-icon".split(),
        _PICTURE | _SEGMENT,
    ),
}
"""Files of Next's folder `app`, each with the exports that Next reads."""
_PAGES = frozenset(
    {
        _DEFAULT,
        "getServerSideProps",
        "getStaticProps",
        "getStaticPaths",
        "config",
        "reportWebVitals",
    }
)
_NEXT_ROOT = {
    "middleware": {_DEFAULT, "middleware", "config"},
    "proxy": {_DEFAULT, "proxy", "config"},
    "instrumentation": {"register", "onRequestError"},
    "instrumentation-client": {"onRouterTransitionStart"},
    "mdx-components": {"useMDXComponents"},
}
_OPTIONS = frozenset("prerender ssr csr trailingSlash config entries".split())
_KIT = {
    "+page": {"load"} | _OPTIONS,
    "+page.server": {"load", "actions"} | _OPTIONS,
    "+layout": {"load"} | _OPTIONS,
    "+layout.server": {"load"} | _OPTIONS,
    "+server": _METHODS | _OPTIONS,
}
_HOOKS = frozenset(
    "handle handleFetch handleError handleValidationError init reroute transport".split()
)
_NUXT = {
    b"pages": "renders", b"layouts": "renders", b"plugins": "runs", b"middleware": "runs",
    b"server/api": "serves", b"server/routes": "serves", b"server/middleware": "runs",
    b"server/plugins": "runs",
}  # fmt: skip
"""Nuxt's folders: what it does with the default export of a file below."""
_ROOTS = {
    "Next": tuple(b"next.config." + end for end in (b"js", b"mjs", b"ts", b"cjs")),
    "SvelteKit": (b"svelte.config.js", b"svelte.config.ts"),
    "Nuxt": tuple(b"nuxt.config." + end for end in (b"ts", b"js", b"mjs", b"mts")),
}
_SERVER = re.compile(
    r"\.(?:get|post|put|patch|delete|head|options|dev|prod|client|server|global)\Z"
)
_EXPORTED = rb"export\s+default\b[^;\n]{0,200}?(?<![\w$.])%s(?![\w$])|(?<![\w$])%s\s+as\s+default\b"
_WORDS = re.compile(r"[A-Za-z0-9_]+")


class _Route(NamedTuple):
    """What a framework does with a file."""

    framework: str
    exports: frozenset[str]
    """The exports that it reads."""
    address: str
    """`/blog/[slug]`; empty if it has none."""
    root: bytes = b""
    """The folder with the framework's settings."""


def route_uses(
    files: Mapping[bytes, object],
    search: TextSearch,
    read: Callable[[bytes], bytes | None],
    *,
    path: bytes,
    symbols: Sequence[Symbol],
    symbol: Symbol | None,
) -> Iterator[Place]:
    """Yields the uses of an exported definition, or of a file, by the framework and by addresses.

    Args:
        files: the files of the view.
        search: finds the addresses.
        read: reads the bytes of a file.
        path: the file.
        symbols: its definitions.
        symbol: the definition; None for the file as a whole.
    """
    route = _route_of(files, path)
    if route is None or (symbol is not None and not symbol.exported):
        return
    text = read(path) or b""
    candidates = [symbol] if symbol is not None else [top for top in symbols if top.parent < 0]
    names = {entry.name: entry for entry in candidates if entry.name in route.exports}
    default = default_of(text, candidates) if _DEFAULT in route.exports else None
    is_answer = default is not None or not _METHODS.isdisjoint(names)
    for entry in (*((default,) if default is not None else ()), *names.values()):
        why = f"{route.framework} {_verb(entry is default, entry.name, route)}"
        yield Place(path, entry.name_line, why, node=Node(path, MODULE))
    if is_answer and route.address:
        yield from _addressed(files, search, route, path)


def _verb(is_default: bool, name: str, route: _Route) -> str:
    where = f" {route.address}" if route.address else ""
    if is_default:
        return f"calls the default export of this file{' for' + where if where else ''}"
    if name in _METHODS:
        return f"answers {name}{where} with it"
    return f"reads {name} of this file by its name"


def default_of(text: bytes, symbols: Sequence[Symbol]) -> Symbol | None:
    """Returns the definition that a file exports by default, if it is among some."""
    for symbol in symbols:
        name = re.escape(symbol.name.encode())
        if symbol.name == _DEFAULT or re.search(_EXPORTED % (name, name), text):
            return symbol
    return None


def _route_of(files: Mapping[bytes, object], path: bytes) -> _Route | None:
    for folder in ancestors(folder_of(path)):
        for framework, settings in _ROOTS.items():
            if any(below(folder, name) in files for name in settings):
                inside = path[len(folder) :].lstrip(b"/")
                inside = inside.removeprefix(b"src/")
                route = _READERS[framework](inside)
                return route._replace(root=folder) if route is not None else None
    return None


def _next(path: bytes) -> _Route | None:
    stem, folder = printed(stem_of(path)), folder_of(path)
    if not path.endswith(_SCRIPTS):
        return None
    if path.startswith(b"app/"):
        exports = _APP.get(stem)
        parts = [part for part in printed(folder).split("/")[1:] if not part.startswith(("(", "@"))]
        address = "/" + "/".join(parts) if stem in {"page", "route"} else ""
        return _Route("Next", exports, address) if exports else None
    if path.startswith(b"pages/"):
        parts = printed(path.rpartition(b".")[0]).split("/")[1:]
        parts = parts[:-1] if parts[-1] == "index" else parts
        is_page = not stem.startswith("_")
        return _Route("Next", _PAGES, "/" + "/".join(parts) if is_page else "")
    exports = _NEXT_ROOT.get(stem) if not folder else None
    return _Route("Next", frozenset(exports), "") if exports else None


def _kit(path: bytes) -> _Route | None:
    name = printed(path.rpartition(b"/")[2])
    stem = name.rpartition(".")[0]
    if path.startswith(b"routes/"):
        parts = [part for part in printed(folder_of(path)).split("/")[1:] if part[:1] != "("]
        address = "/" + "/".join(parts)
        if name == "+page.svelte":
            return _Route("SvelteKit", frozenset({_DEFAULT}), address)
        if name in {"+layout.svelte", "+error.svelte"}:
            return _Route("SvelteKit", frozenset({_DEFAULT}), "")
        exports = _KIT.get(stem) if path.endswith((b".ts", b".js")) else None
        return _Route("SvelteKit", frozenset(exports), address) if exports else None
    if stem in {"hooks", "hooks.server", "hooks.client"}:
        return _Route("SvelteKit", _HOOKS, "")
    if path.startswith(b"params/") and path.count(b"/") == 1:
        return _Route("SvelteKit", frozenset({"match"}), "")
    return None


def _nuxt(path: bytes) -> _Route | None:
    path = path.removeprefix(b"app/")
    if path in {b"app.vue", b"error.vue"}:
        return _Route("Nuxt", frozenset({_DEFAULT}), "")
    for folder, verb in _NUXT.items():
        if not path.startswith(folder + b"/"):
            continue
        inside = printed(path[len(folder) + 1 :].rpartition(b".")[0])
        parts = _SERVER.sub("", inside).split("/")
        parts = parts[:-1] if parts[-1] == "index" else parts
        prefix = ["api"] if folder == b"server/api" else []
        address = "/" + "/".join((*prefix, *parts))
        has_address = verb == "serves" or folder == b"pages"
        return _Route("Nuxt", frozenset({_DEFAULT}), address if has_address else "")
    return None


_READERS = {"Next": _next, "SvelteKit": _kit, "Nuxt": _nuxt}


def _addressed(
    files: Mapping[bytes, object], search: TextSearch, route: _Route, path: bytes
) -> Iterator[Place]:
    """Yields the strings that name an address."""
    parts = [part for part in route.address.split("/") if part]
    fixed = [part for part in parts if not part.startswith("[")]
    if not fixed:
        return
    words = [word for part in fixed for word in _WORDS.findall(part)]
    any_part = rb"[^/\"'`?#\s]+"
    pattern = b"".join(
        rb"/(?:%s/?)*" % any_part if part.startswith(("[...", "[[")) else
        b"/" + (any_part if part.startswith("[") else re.escape(part.encode()))
        for part in parts
    )  # fmt: skip
    quoted = re.compile(rb"[\"'`](?P<at>%s)/?(?=[\"'`?#])" % pattern)
    markup = [name for name in files if name.endswith((b".vue", b".svelte", b".astro", b".mdx"))]
    root = route.root + b"/" if route.root else b""
    users = {user for user in search.files_with(words) if user.startswith(root) and user != path}
    why = f"names {route.address}, which {route.framework} serves from {printed(path)}"
    for match in search.matches(users, quoted, users.intersection(markup)):
        yield Place(match.path, match.line, why)
