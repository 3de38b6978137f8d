"""What a model reads of the tools: the first sentence is the question that a tool answers."""

from __future__ import annotations

from collections.abc import Iterable

SEARCH = """Where is the code that does X? Ranked places for words, an identifier, a path or a \
sentence, in this worktree as it is now. Each line: handle (for cl_expand), lines, kind, \
signature or best line, reason; `+3 alike` are near-copies, `also` more places in that file. Use \
it before grep or reading files."""
EXPLORE = """What code does this task need? The definitions to change or read, with line numbers, \
what they use or who uses them, and the tests, within max_tokens. Start a task with it."""
EXPAND = """What does the code at these handles say right now? Reads handles from disk, or from \
git for a ref. A symbol that moved is followed; one that is gone gives the nearest candidates."""
OUTLINE = """What is in this file or folder, without reading it? Definitions with lines, \
signature and first line of doc, and the tokens that reading it all would cost."""
CURRENT = """Which repository, worktree and branch do answers come from, and how fresh is the \
index? Also uncommitted changes, languages, skipped files and other worktrees."""

RELATED = """Who calls this, what does it call, who imports, derives from, overrides or tests it? \
Certain edges only; "at least" counts uses that could not be resolved. With to: the paths from \
target to it. Use it before a rename, and instead of grepping for a name."""
IMPACT = """What can break if I change this, and which tests should I run? Direct and indirect \
users by distance. With diff the targets are the definitions that differ from that commit."""
MAP = """What is this repository, where does it begin and what matters in it? The files that \
others use most, with main definitions, entry points and languages."""

DIFF = """What did this change, as definitions, and what does it break? Each definition added, \
removed, moved, renamed or changed between two sides, uncommitted and untracked work included; \
uses that were not changed with it, with lines; the tests to run."""
HISTORY = """When and why did this definition become what it is? The commits that changed it, \
newest first, through renames and moves between files, an uncommitted change first; of a file, \
when each of its definitions last changed."""
CONFLICTS = """Will my work collide with other worktrees and branches, their uncommitted edits \
included? What git could not merge, definitions that both sides changed, and where one side newly \
uses what the other removed or changed: certain, likely or possible. Ask before a merge, and when \
others work beside you."""

SAVE = """What did I learn that a later session, another agent or another worktree should know? \
Saves a note with handles for all worktrees and branches of this repository; it outlives the \
session and every rebuild of the index. Every handle must exist now. A name that is taken is \
refused unless replace."""
LOAD = """What is known already about this code, and does it still hold here? Notes saved by \
cl_save, by name or words; each handle is current, moved (same text elsewhere: use the new \
handle), changed (read it before you trust the note) or gone, in this worktree and branch. Call \
it without a query at the start of a task."""
FORGET = """Which saved notes are wrong or not needed any more? Deletes them by name, all or \
none; nothing else changes."""

_OPENING = """codelens searches the code of the current worktree as it is now. No set-up and no \
re-indexing is needed."""
INDEX = """Is the whole index up to date, and what is in it? Every other tool updates it \
automatically; call this to wait until a large or new tree is indexed (progress is reported), to \
list every index and view, or to rebuild one."""
PRUNE = """Which views of branches and worktrees have not been used for long? Shows what would be \
removed, and with dry_run false removes it, in all repositories or (with path) in one. Never \
removes views that are checked out, pinned or used recently."""
DROP = """Remove one view, or a repository's whole index, now. Refuses active or pinned views \
unless force is set; saved contexts are kept, and a view is rebuilt when needed."""

_PHRASES = {
    "cl_search": "cl_search finds places",
    "cl_explore": "cl_explore the code that a task needs",
    "cl_expand": "cl_expand reads handles",
    "cl_outline": "cl_outline shows a file or folder",
    "cl_map": "cl_map the repository",
    "cl_related": "cl_related who uses what",
    "cl_impact": "cl_impact what a change affects and which tests to run",
    "cl_diff": "cl_diff what a change consists of and breaks",
    "cl_history": "cl_history when a definition changed",
    "cl_conflicts": "cl_conflicts what collides with other branches",
    "cl_current": "cl_current where answers come from",
    "cl_save": "cl_save saves a note with handles",
    "cl_load": "cl_load finds saved notes",
    "cl_index": "cl_index waits until a tree is indexed",
}
_CLOSING = """Every answer starts with a receipt: fresh, or partial with pending files (ask again \
in a moment). For another worktree pass path, an absolute path inside it; for code that is not \
checked out pass ref."""


def instructions(names: Iterable[str]) -> str:
    """What a model is told of the server as a whole, of the tools that it lists alone."""
    told = "; ".join(_PHRASES[name] for name in names if name in _PHRASES)
    return "\n".join(part for part in (_OPENING, f"{told}." if told else "", _CLOSING) if part)
