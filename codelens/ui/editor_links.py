"""Addresses that open a file in an editor: `vscode://file/src/app.py:10`."""

from __future__ import annotations

import re

from codelens.errors import SettingError

_EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "vscodium": "vscodium://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "none": "",
}
DEFAULT_EDITOR = "vscode"
_TEMPLATE = re.compile(r"([a-z][a-z0-9+.-]*)://[^\s\"'<>`]*\{path\}[^\s\"'<>`]*\Z")
_REFUSED = re.compile(r"(?:java|vb)script|data|blob|file|https?|wss?|about|view-source")
"""Schemes that a browser follows itself, instead of handing them to a program."""


def editor_template(editor: str) -> str:
    """The address of a file in an editor, with `{path}` (absolute, begins with `/`) and `{line}`.

    Args:
        editor: one that is known by name, a template of its own, or empty for VS Code.

    Returns:
        Empty where no links are wanted.

    Raises:
        SettingError: it is neither.
    """
    name = editor or DEFAULT_EDITOR
    if name in _EDITORS:
        return _EDITORS[name]
    match = _TEMPLATE.match(name)
    if match is None or _REFUSED.fullmatch(match[1]):
        raise SettingError(
            f"unknown editor {name[:80]!r}; use one of {', '.join(_EDITORS)}, or an address with "
            "{path} and {line} such as myeditor://open?file={path}&line={line}"
        )
    return name
