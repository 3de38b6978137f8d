"""The table of tools, with their descriptions and arguments, and the server's instructions.

To add a tool, add a row here, the engine's method that answers it, and its renderer. `python -m
codelens.serve.record_answers` then generates the recorded answers of the first turn, the table in
`docs/mcp.md`, and `install/tools.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable

from codelens.engine.graph.relation_choice import DIRECTIONS, RELATIONS
from codelens.serve.tool_questions import UPKEEP, branches_asked, nobody_answered, search_asked
from codelens.serve.tool_row import (
    AGAIN,
    CATEGORIES,
    FORMAT,
    HANDLE,
    HANDLES,
    PATH,
    REF,
    REPOSITORIES,
    SESSION,
    STATUSES,
    TAGS,
    Argument,
    CallArguments,
    ToolRow,
    depth_argument,
    filter_arguments,
    limit_argument,
    size_argument,
)

_OPENING = """codelens searches the code of the current worktree as it is now; no set-up and no \
re-indexing is needed. Use it before grep and before reading whole files; for an exact string, \
grep is fine."""
_CLOSING = """Every answer starts with a receipt: fresh, or partial with pending files (ask again \
in a moment). For another worktree pass path, an absolute path inside it; for code that is not \
checked out pass ref."""


def instructions(names: Iterable[str]) -> str:
    """The instructions of a server that lists these tools, for the model."""
    rows = (ROWS[name] for name in names)
    purposes = "; ".join(f"{row.name} {row.purpose}" for row in rows if row.purpose)
    return "\n".join(
        part for part in (_OPENING, f"{purposes}." if purposes else "", _CLOSING) if part
    )


_SHOWN = 10
"""The default limit of a search; up to this limit, places that only use a name are omitted."""
_WALK = 4
"""Number of budgets for a call that checks the files and then walks the graph or compares."""
_AROUND_MAP_TOKENS = 70
"""Tokens of the receipt, with the worktree's path, that is added to a map."""
_LEAST_MAP_TOKENS = 200


def _is_brief(arguments: CallArguments) -> bool:
    return arguments["mode"] == "auto" and arguments["limit"] <= _SHOWN


def _of_map(max_tokens: int) -> int:
    """The tokens that an answer leaves for the map itself."""
    return max(max_tokens - _AROUND_MAP_TOKENS, _LEAST_MAP_TOKENS)


_CORE = (
    ToolRow(
        "cl_search", "core",
        "Where is the code that does X?",
        "Ranked places for words, an identifier, a path or a sentence. Each line: handle (for "
        "cl_expand), lines, kind, signature or best line, reason; `+3 alike` are near-copies, "
        "`also` more places in that file.",
        "finds places",
        (
            Argument(
                "query", "", example='"parse cookies"'
            ),
            Argument(
                "mode",
                "symbol: definitions by name; text, regex: lines; path: files by name",
                default="auto", choices=("auto", "symbol", "text", "regex", "path"),
            ),
            *filter_arguments(
                "Such as python, go.",
                "src/**/*.py; !glob excludes.",
                "Such as function, class.",
            ),
            Argument(
                "content", "", default="all", choices=("all", "code", "prose")
            ),
            Argument(
                "rerank", "",
                default="auto", choices=("auto", "on", "off"),
            ),
            limit_argument(_SHOWN, 100), REPOSITORIES, PATH, REF, FORMAT, size_argument(4000),
        ),
        search_asked, "search",
        asks_with=lambda arguments: {"explain": arguments["format"] == "detailed"},
        renders_with=lambda arguments: {"brief": _is_brief(arguments)},
        fails=nobody_answered,
    ),
    ToolRow(
        "cl_explore", "core",
        "What code does this task need?",
        "First call of a task: the likeliest code with line numbers, callers or callees, more "
        "names for cl_expand, tests. For one place, cl_search.",
        "the code that a task needs",
        (
            Argument(
                "task", "The whole task; names, paths and stack traces in it are used.",
                example='"retry failed uploads"',
            ),
            Argument(
                "intent", "", default="auto",
                choices=("auto", "debug", "refactor", "modify", "explore"),
            ),
            *filter_arguments(), AGAIN, SESSION, PATH, REF, FORMAT,
            Argument(
                "max_tokens", "0: about 3000; else filled.", "number", 0, least=0, most=100_000
            ),
        ),
        "explore", "explore", budgets=_WALK,
        delivers="explore_delivered",
        asks_with=lambda arguments: {
            "max_tokens": arguments["max_tokens"] or None,
            "intent": None if arguments["intent"] == "auto" else arguments["intent"],
        },
    ),
    ToolRow(
        "cl_expand", "core",
        "What does the code at these handles say right now?",
        "Reads handles from disk, or from git for a ref. A moved symbol is followed; a missing "
        "one gives the nearest candidates.",
        "reads handles",
        (
            Argument(
                "handles",
                "src/auth.py#Session.validate, src/auth.py:10-42, src/auth.py, validate, "
                "feature-b:src/auth.py#Session",
                "handles", least=1, most=100, example=HANDLES,
            ),
            Argument("context", "Lines before and after.", "number", 0, least=0, most=1000),
            Argument("signatures", "", "truth", False),
            AGAIN, SESSION, PATH, REF, FORMAT, size_argument(8000),
        ),
        "expand", "expand", delivers="delivered",
        # A line costs at least one token.
        asks_with=lambda arguments: {"max_lines": arguments["max_tokens"]},
        fails=lambda answer: all(item.error for item in answer.items),
    ),
    ToolRow(
        "cl_outline", "core",
        "What is in this file or folder, without reading it?",
        "Definitions with lines, signature and first line of doc, and what reading all "
        "of it costs.",
        "shows a file or folder",
        (
            Argument(
                "target", "File, folder or handle; . is the whole worktree.", default=".",
                example=HANDLE,
            ),
            Argument("detail", default="docs", choices=("names", "signatures", "docs")),
            PATH, REF, FORMAT, size_argument(4000),
        ),
        "outline", "outline",
    ),
    ToolRow(
        "cl_map", "core",
        "What is this repository, where does it start and what matters in it?",
        "The files that others use most, with main definitions, entry points and languages.",
        "the repository",
        (
            Argument(
                "focus", "Files, folders or handles to center on.", "handles", [], example=HANDLES
            ),
            Argument("query", "", default="", example='"parse cookies"'),
            PATH, REF, FORMAT, size_argument(2000),
        ),
        "map", "map_", budgets=_WALK,
        asks_with=lambda arguments: {"max_tokens": _of_map(arguments["max_tokens"])},
    ),
    ToolRow(
        "cl_related", "core",
        "What calls this, what does it call, what imports, derives from, overrides or tests it?",
        "Certain relations, then possible uses. With to: the paths from target to it.",
        "what uses what",
        (
            Argument(
                "target", "src/auth.py#Session.validate, src/auth.py, src/auth, or a unique name.",
                example=HANDLE,
            ),
            Argument("to", "", default="", example=HANDLE),
            Argument("paths", "With to.", "number", 3, least=1, most=20),
            Argument("kinds", "Only these relations.", "words", [], choices=RELATIONS),
            Argument(
                "direction", "in: its users; out: what it uses.", default="both",
                choices=DIRECTIONS,
            ),
            depth_argument(1, 3), limit_argument(40, 500), PATH, REF, FORMAT, size_argument(3000),
        ),
        "related", "related", budgets=_WALK,
        asks_with=lambda arguments: {"to": arguments["to"] or None},
    ),
    ToolRow(
        "cl_references", "core",
        "Which lines use this? All of them, to rename it.",
        "By file and definition: certain, in tests, possible with the reason.",
        "every line that uses a definition",
        (
            Argument("target", example=HANDLE),
            limit_argument(100, 1000, ""),
            Argument("cursor", default="", example='"0:42:src/auth.py"'),
            PATH, REF, FORMAT, size_argument(3000),
        ),
        "references", "references", budgets=_WALK,
    ),
    ToolRow(
        "cl_impact", "core",
        "What can break if I change this, and which tests should I run?",
        "Direct and indirect users by distance. With diff the targets are the definitions that "
        "differ from that commit.",
        "what a change affects and which tests to run",
        (
            Argument(
                "targets", "", "handles", [], most=100,
                example=HANDLES,
            ),
            Argument(
                "diff",
                "Instead of targets: what differs from this commit (HEAD: uncommitted work; main: "
                "all of a branch).",
                default="", example='"HEAD"',
            ),
            depth_argument(3, 5), limit_argument(60, 500), PATH, REF, FORMAT, size_argument(3000),
        ),
        "impact", "impact", budgets=_WALK,
        asks_with=lambda arguments: {"diff": arguments["diff"] or None},
    ),
    ToolRow(
        "cl_branches", "core",
        "What differs between branches, worktrees, commits; what conflicts; when did code change?",
        "By definition, uncommitted work included.",
        "compares branches, worktrees and commits",
        (
            Argument(
                "question",
                "diff: changed definitions and the uses that breaks; conflicts: before a merge, or "
                "when others work in parallel; history: commits that changed target.",
                default="diff", choices=("diff", "conflicts", "history"),
            ),
            Argument(
                "spec", "diff: REF, A..B, A...B; conflicts: a branch or worktree; empty: all work.",
                default="", example='"main...HEAD"',
            ),
            Argument("target", "history: handle or file; diff: path.", default="", example=HANDLE),
            PATH, FORMAT, size_argument(3000),
        ),
        branches_asked, "branches", budgets=_WALK,
    ),
    ToolRow(
        "cl_current", "core",
        "Which repository, worktree and branch do answers come from, and how fresh is the index?",
        "Also uncommitted changes and other worktrees.",
        "where answers come from",
        (Argument("detail", "Also what doctor finds.", "truth", False), PATH, FORMAT),
        "status", "current",
    ),
)  # fmt: skip

_BRANCHES = (
    ToolRow(
        "cl_diff", "branches",
        "Which definitions did this change, and what does it break?",
        "Each definition added, removed, moved, renamed or changed between two sides, uncommitted "
        "and untracked work included; uses that were not changed with it, with lines; the tests "
        "to run.",
        "what a change consists of and breaks",
        (
            Argument(
                "spec", "REF, A..B or A...B; empty: from HEAD to the files on disk.",
                default="", example='"main...HEAD"',
            ),
            Argument(
                "other", "A worktree's path or a ref, instead of these files.", default="",
                example='"feature-b"',
            ),
            Argument(
                "paths", "Only these paths or globs.", "handles", [], example='["src/auth.py"]',
                parameter="globs",
            ),
            Argument(
                "kinds", "Only these kinds of definitions, or ways to differ.", "handles", [],
                example='["moved"]',
            ),
            Argument("staged", "Compare with git's index, not the files.", "truth", False),
            PATH, FORMAT, size_argument(3000),
        ),
        "diff", "diff", budgets=_WALK,
    ),
    ToolRow(
        "cl_history", "branches",
        "When and why was this definition changed?",
        "The commits that changed it, newest first, through renames and moves between files, an "
        "uncommitted change first; for a file, when each of its definitions last changed.",
        "when a definition changed",
        (
            Argument(
                "target", "A handle: src/auth.py#Session.validate; or a file.", example=HANDLE
            ),
            limit_argument(20, 500, "Maximum changes."),
            Argument(
                "since", "Only changes since: 2026-01-31, or 14d.", default="", example='"14d"'
            ),
            Argument("patch", "Include the diff of the definition.", "truth", False),
            Argument("together", "Count what changed in the same commits.", "truth", False),
            Argument("first_parent", "Follow only first parents.", "truth", False),
            PATH, REF, FORMAT, size_argument(3000),
        ),
        "history", "history", budgets=_WALK,
    ),
    ToolRow(
        "cl_conflicts", "branches",
        "Will my work conflict with other worktrees and branches, including uncommitted edits?",
        "What git could not merge, definitions that both sides changed, and where one side newly "
        "uses what the other removed or changed: certain, likely or possible. Call it before a "
        "merge, and when others work in parallel.",
        "what conflicts with other branches",
        (
            Argument(
                "others",
                "Worktrees by path, folder name or branch, and refs; empty: all worktrees "
                "and recent branches.",
                "handles", [], example='["feature-b"]',
            ),
            Argument(
                "base", "A commit instead of the merge base; definitions only.", default="",
                example='"main"',
            ),
            PATH, FORMAT, size_argument(3000),
        ),
        "conflicts", "conflicts", budgets=_WALK,
    ),
)  # fmt: skip

_CONTEXTS = (
    ToolRow(
        "cl_save", "contexts",
        "What did I learn that a later session, another agent or another worktree should know?",
        "Saves a note with handles for all worktrees and branches of this repository; it outlives "
        "the session and every rebuild of the index. Every handle must exist now. An existing "
        "name is refused without replace or update.",
        "saves a note with handles",
        (
            Argument("name", "One line, such as auth-flow.", example='"auth-flow"'),
            Argument(
                "note", "What is worth knowing, without code.", default="",
                example='"sessions are checked twice"',
            ),
            Argument(
                "handles", "What the note is about, as cl_search gives them.", "handles", [],
                most=200, example=HANDLES,
            ),
            Argument("category", default="", choices=(*CATEGORIES, "")),
            TAGS,
            Argument(
                "pin", "Never expires; listed first.", "truth", False, parameter="pinned"
            ),
            Argument(
                "ttl", "How long to show it: 12h, 30d, 2w, never (the default).", default="",
                example='"30d"',
            ),
            Argument("replace", "Replace the note with this name.", "truth", False),
            Argument(
                "update", "Change only the given fields of the note with this name.",
                "truth", False,
            ),
            PATH, REF, FORMAT,
        ),
        "save", "save", "writes",
        # False is the default, which must not unpin in an update.
        asks_with=lambda arguments: {"pinned": arguments["pin"] or None},
    ),
    ToolRow(
        "cl_load", "contexts",
        "What is already known about this code, and is it still valid here?",
        "Notes saved by cl_save, by name or words; each handle is current, moved (same text "
        "elsewhere: use the new handle), changed (read it before you trust the note) or gone, in "
        "this worktree and branch. Call it without a query at the start of a task.",
        "finds saved notes",
        (
            Argument(
                "query", "A name, or words; empty lists all.", default="",
                example='"parse cookies"',
            ),
            Argument("category", default="", choices=(*CATEGORIES, "")),
            TAGS,
            Argument(
                "handle", "Only notes on this code: a handle, file, folder or name.", default="",
                example=HANDLE,
            ),
            Argument(
                "status", "Only notes with such a handle; stale: changed or gone; valid: none is.",
                default="", choices=(*STATUSES, ""),
            ),
            limit_argument(20, 200), PATH, REF, FORMAT, size_argument(4000),
        ),
        "load", "load",
        renders_with=lambda arguments: {
            "narrowed": any(
                arguments[name] for name in ("category", "tags", "handle", "status")
            )
        },
        fails=lambda answer: bool(answer.former) and not answer.results,
    ),
    ToolRow(
        "cl_forget", "contexts",
        "Which saved notes are wrong or no longer needed?",
        "Deletes them by name, all or none; nothing else changes.",
        "",
        (
            Argument(
                "names", "Names of saved notes.", "list", [], most=200, example='["auth-flow"]'
            ),
            Argument("expired", "Instead of names: all expired notes.", "truth", False),
            PATH,
        ),
        "forget", "forget", "removes", budgets=0,
    ),
    ToolRow(
        "cl_recover", "contexts",
        "My context was compacted: where was I?",
        "Saved notes by category, what this session looked at and edited, what changed on this "
        "branch since it began, and what was done in other worktrees. Code that was sent before "
        "is sent in full again.",
        "restores context after a compaction",
        (SESSION, PATH, FORMAT, size_argument(3000)),
        "recover", "recover", budgets=_WALK,
    ),
)  # fmt: skip

ROWS = {row.name: row for row in (*_CORE, *_BRANCHES, *_CONTEXTS, *UPKEEP)}
"""Every tool by its name, in the order in which servers list them."""
