"""The commands with their modules, the exit codes, and the examples that each `--help` shows.

In `codelens/cli/commands/MODULE.py`, `add_NAME` defines the arguments of a command, and `run_NAME`
prints its answer and returns the exit code.
"""

from __future__ import annotations

MODULES = {
    "search": "search_command",
    "explore": "reading_commands",
    "expand": "reading_commands",
    "outline": "reading_commands",
    "map": "reading_commands",
    "related": "graph_commands",
    "references": "graph_commands",
    "impact": "graph_commands",
    "diff": "branch_commands",
    "history": "branch_commands",
    "conflicts": "branch_commands",
    "status": "upkeep_commands",
    "save": "context_commands",
    "load": "context_commands",
    "forget": "context_commands",
    "session": "context_commands",
    "recover": "context_commands",
    "index": "upkeep_commands",
    "pack": "exchange_commands",
    "unpack": "exchange_commands",
    "prune": "upkeep_commands",
    "drop": "upkeep_commands",
    "pin": "upkeep_commands",
    "unpin": "upkeep_commands",
    "meaning": "meaning_command",
    "usage": "upkeep_commands",
    "export": "graph_commands",
    "scip": "exchange_commands",
    "languages": "reading_commands",
    "doctor": "upkeep_commands",
    "install": "install_commands",
    "uninstall": "install_commands",
    "completion": "server_commands",
    "serve": "server_commands",
    "ui": "server_commands",
    "focus": "focus_commands",
    "hook": "focus_commands",
}
COMMANDS = tuple(MODULES)
"""The commands, in the order in which help and completion list them."""
PAGED = frozenset({
    "search", "explore", "expand", "outline", "map", "related", "references", "impact", "diff",
    "history", "conflicts", "load", "session", "languages",
})  # fmt: skip
"""The commands that only show something; the others ask, or print while they work."""


DONE, NOTHING, FAILED, INTERRUPTED = 0, 1, 2, 130
"""Done or found; nothing found; error; interrupted."""


# Command -> pairs of a command line and its purpose.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "search": (
        ('codelens search "where is the retry policy"', "a sentence"),
        ("codelens search Session.validate --limit 5", "a name"),
        ('codelens search --mode regex "retry_\\w+" --glob "src/**"', "a pattern in a folder"),
        ("codelens search --ref v2.1 retry", "a tag, without a checkout"),
    ),
    "meaning": (
        ("codelens meaning status", "the word table, the provider, and how many vectors exist"),
        ('codelens meaning test "cancel a running job"', "the words closest in meaning"),
        ("codelens meaning enable --provider ollama", "show what would be sent, and confirm"),
        ("codelens meaning sync", "get the missing vectors"),
    ),
    "expand": (
        ("codelens expand src/auth.py#Session.validate", "a definition"),
        ("codelens expand -n src/auth.py:10-42", "lines, with numbers"),
        ("codelens search retry | cut -f1 | codelens expand -", "every result of a search"),
    ),
    "outline": (
        ("codelens outline src/auth.py", "a file"),
        ("codelens outline src/", "a folder"),
    ),
    "map": (
        ("codelens map", "the whole repository"),
        ('codelens map --query "session handling"', "around what a query finds"),
        ("codelens map --format html > map.html", "a page for the browser"),
    ),
    "related": (
        ("codelens related Session.validate", "callers, callees, bases, tests"),
        ("codelens related login --kind callers --depth 2", "callers of callers"),
        ("codelens related main --to Session.validate", "paths between two definitions"),
    ),
    "references": (
        ("codelens references Session.validate", "every line that uses it"),
        ("codelens references src/auth.py:42 --limit 1000 --json", "all of them, for a script"),
    ),
    "history": (
        ("codelens history src/auth.py#login", "the commits that changed it"),
        ("codelens history src/auth.py", "when each definition last changed"),
    ),
    "impact": (
        ("codelens impact --diff", "uncommitted changes"),
        ("codelens impact --diff main", "a whole branch"),
        ("codelens impact src/auth.py#login", "a change you plan"),
    ),
    "diff": (
        ("codelens diff", "uncommitted changes, by definition"),
        ("codelens diff main...HEAD --stat", "a whole branch, one line per file"),
        ("codelens diff main...HEAD --markdown", "the same, as Markdown for a pull request"),
    ),
    "explore": (
        (
            'codelens explore "fix the retry that ignores its time limit"',
            "what to change for a task",
        ),
        ('codelens explore "rename Session.close" --max-tokens 4000', "including its users"),
    ),
    "conflicts": (
        ("codelens conflicts", "compare with other worktrees and recent branches"),
        ("codelens conflicts --with feature-b", "compare with one branch"),
        ("codelens conflicts --changing src/auth.py", "who else changes this file"),
    ),
    "focus": (
        ("codelens focus", "show the topics of your prompts"),
        ('codelens focus find "retry policy"', "search prompts and topics"),
        ("codelens focus off --here", "turn it off for this repository"),
    ),
    "status": (
        ("codelens status", "the current worktree"),
        ("codelens status --all", "every index and view"),
    ),
    "save": (
        ('codelens save auth-flow --note "checked once" src/auth.py#login', "a note with a handle"),
        ("codelens save todo --ttl 2w --note - < notes.txt", "from stdin, shown for two weeks"),
    ),
    "load": (
        ("codelens load", "all saved contexts"),
        ("codelens load auth-flow", "one context, with the state of its handles"),
    ),
    "forget": (
        ("codelens forget auth-flow", "one saved context"),
        ("codelens forget --expired", "all expired contexts"),
    ),
    "session": (
        ("codelens session", "the calls of this session, or of the last one here"),
        ("codelens session --all", "all sessions in this worktree"),
    ),
    "recover": (("codelens recover", "what a compacted session needs to continue"),),
    "index": (
        ("codelens index", "update the index"),
        ("codelens index --ref v2.1", "index a tag in advance"),
        ("codelens index --rebuild", "rebuild from scratch"),
    ),
    "pack": (
        ("codelens pack -o shop.pack", "the index of HEAD, for other clones"),
        ("codelens pack main v2 --since v1 -o new.pack", "two refs, without the content of v1"),
    ),
    "unpack": (("codelens unpack shop.pack", "parse only what differs from the pack"),),
    "prune": (
        ("codelens prune --dry-run", "what would be removed"),
        ("codelens prune --yes", "remove it"),
    ),
    "drop": (
        ("codelens drop feature-b", "the view of a branch"),
        ("codelens drop --repository --force", "the whole index of this repository"),
    ),
    "pin": (("codelens pin v2.1", "keep a tag indexed"),),
    "unpin": (("codelens unpin v2.1", "let it be pruned again"),),
    "usage": (("codelens usage --days 7 --by tool", "the last week"),),
    "export": (
        ("codelens export symbols > symbols.jsonl", "every definition"),
        ("codelens export contexts > contexts.json", "saved contexts, for load --import"),
    ),
    "scip": (
        ("codelens scip import index.scip", "what scip-python and the like wrote for HEAD"),
        ("codelens scip check --limit 20", "where codelens and the compiler differ"),
        ("codelens scip export app.scip --ref v2.1", "a tag, for Sourcegraph and other readers"),
    ),
    "languages": (("codelens languages", "all languages"),),
    "doctor": (
        ("codelens doctor", "find problems"),
        ("codelens doctor --fix", "find and fix problems"),
    ),
    "install": (
        ("codelens install", "connect the agents found on this machine"),
        ("codelens install --host claude-code,cursor --dry-run", "only show the changes"),
        ("codelens install --http", "connect agents to `codelens serve --http`"),
        ("codelens install --check", "check that each entry starts and answers"),
    ),
    "uninstall": (("codelens uninstall --host cursor", "remove codelens from one agent"),),
    "completion": (
        ("codelens completion bash > ~/.local/share/bash-completion/completions/codelens", "bash"),
        ("codelens completion fish > ~/.config/fish/completions/codelens.fish", "fish"),
    ),
    "serve": (
        ("codelens serve --root ~/src/app", "as an agent would start it"),
        ("codelens serve --http --root ~/src/app --root ~/src/lib", "for several agents at once"),
    ),
    "ui": (
        ("codelens ui --open", "in the browser"),
        ("codelens ui --port 8123 --editor cursor", "on this port; links open Cursor"),
    ),
}


def examples_of(command: str) -> str:
    """The examples of a command, as the last part of its help; empty if it has none."""
    rows = EXAMPLES.get(command, ())
    if not rows:
        return ""
    width = max(len(typed) for typed, _ in rows)
    return "\n".join(["examples:", *(f"  {typed:<{width}}  {about}" for typed, about in rows)])
