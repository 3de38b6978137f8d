"""What a model reads of the tools: the first sentence is the question that a tool answers."""

from __future__ import annotations

from collections.abc import Iterable

SEARCH = """Where is the code that does X? Ranked places for words, an identifier, a path or a \
sentence, true for the files of this worktree as they are now, uncommitted edits included. Each \
line is a handle (path#Symbol or path:lines; give it to cl_expand), lines, kind, signature or best \
line, and why it is there; `+3 alike` are near-copies left out, `also` are more places of that \
file. Use it before grep or reading whole files."""
EXPAND = """What does the code at these handles say right now? Reads one or many handles at once, \
always from the disk (or the git object for a ref): path#Symbol, path:10-42, path, a bare symbol \
name, or ref:handle. A symbol that moved is followed and the answer says so; one that is gone \
gives the nearest candidates."""
OUTLINE = """What is in this file or folder, without reading it? Every definition with its lines, \
signature and first line of doc, and the cost in tokens of reading the whole file. A folder gives \
its files folded and its sub-folders with counts."""
CURRENT = """Which repository, worktree and branch do answers come from, and how fresh is the \
index? Also uncommitted changes, languages, files left out and why, submodules, nested and other \
worktrees."""

RELATED = """Who calls this, what does it call, who imports, derives from, overrides or tests it? \
Certain edges only, resolved by scopes, imports and types; uses that could not be resolved are \
counted, so "at least" is said where it is meant. With to: the paths along which target uses \
another definition. Use it before a rename, and instead of grepping for a name."""
IMPACT = """What can break if I change this, and which tests should I run? Who uses the targets, \
through others or not, by distance. With diff (a commit, HEAD for uncommitted work) the targets \
are the definitions that differ from it in the files as they are now."""
MAP = """What is this repository, where does it begin and what matters in it? Files ranked by how \
much others use them, with their main definitions folded, entry points, languages and the most \
used definitions, within max_tokens. focus (files, folders, handles) or query draws it near a \
part."""

SAVE = """What did I learn that a later session, another agent or another worktree should know? \
Keeps a note with handles under a name, for all worktrees and branches of this repository; it \
outlives the session and every rebuild of the index. Every handle must be there now, and one that \
is not is an error that says which. A name that is taken is refused unless replace."""
LOAD = """What is known already about this code, and does it still hold here? Notes with handles \
that cl_save kept, by name or by words; each handle is current, moved (the same text elsewhere: \
use the new handle), changed (read it before you trust the note) or gone, in this worktree and on \
this branch. Call it with no query at the start of a task."""
FORGET = """Which saved notes are wrong or not needed any more? Deletes them by their names, all \
or none; nothing else is touched."""

_OPENING = """codelens searches the code of the worktree you stand in, true for its files as \
they are now. There is nothing to set up and nothing to re-index."""
INDEX = """Is the whole index up to date, and what is in it? Every other tool brings it up to date \
by itself; call this to wait until all of a large or new tree is read (progress is reported), to \
look at every index and view, or to rebuild one that seems wrong."""
PRUNE = """Which views of branches and worktrees has nobody asked for long? Says what would go, \
and with dry_run false removes it, in all repositories or (with path) in one. Never what a \
worktree stands on, what is pinned or was used lately."""
DROP = """Remove one view, or a repository's whole index, now. Refuses what is active or pinned \
unless force is set; saved contexts stay, and a view is built again when it is asked for."""

_PHRASES = {
    "cl_search": "cl_search finds places and gives handles",
    "cl_expand": "cl_expand reads handles, several at once",
    "cl_outline": "cl_outline folds a file or folder",
    "cl_map": "cl_map is the repository at a glance",
    "cl_related": "cl_related tells who uses what",
    "cl_impact": "cl_impact who is hit by a change and which tests to run",
    "cl_current": "cl_current tells which worktree and branch is answered for",
    "cl_save": "cl_save keeps a note with handles for later sessions",
    "cl_load": "cl_load finds what was saved and tells which of its handles still hold here",
    "cl_index": "cl_index waits until all of a tree is read",
}
_CLOSING = """Every answer starts with a receipt: fresh, or partial with the files not looked at \
yet (ask again a moment later). In another worktree pass path, an absolute path inside it; for \
code that is not checked out pass ref."""


def instructions(names: Iterable[str]) -> str:
    """What a model is told of the server as a whole, of the tools that it lists alone."""
    told = "; ".join(_PHRASES[name] for name in names if name in _PHRASES)
    return "\n".join(part for part in (_OPENING, f"{told}." if told else "", _CLOSING) if part)
