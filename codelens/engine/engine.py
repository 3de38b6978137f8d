"""The Python API: one method for each feature; MCP and the command line call the same methods.

    with Engine() as engine:
        for hit in engine.search("validate session", path="/src/app").results:
            print(hit.handle, hit.signature)

Every method determines the worktree from `path` again, checks it against the disk, and adds a
receipt. Methods may be called from any thread; calls on one repository take turns.
"""

from __future__ import annotations

from codelens.engine.engine_core import EngineCore
from codelens.engine.methods import context_methods, graph_methods, reading_methods, upkeep_methods


class Engine(EngineCore):
    """Searches and reads any number of repositories; close it, or use it as context manager.

    These arguments mean the same in every method that takes them:

    - `path`: any path inside the worktree (or plain folder) to work on.
    - `ref`: a branch, tag or commit to read instead of the worktree's files.
    - `budget_ms`: how long the freshness check may take; None: until the view is fresh.
    - `progress`: called during long work with stage, done, total.
    - `limit`: maximum number of results, 1 to 1,000.

    Every method raises `ScopeError` if it cannot serve `path` or `ref`, `StoreError` if it cannot
    use the index, and `SettingError` for an argument that is out of range.

    Args:
        settings: as `codelens.config.load` returns them; None loads them.
        keep_going: finish in the background the work that exceeded a budget; for servers.
    """

    # Finding and reading code.
    search = reading_methods.search
    search_repositories = reading_methods.search_repositories
    explore = reading_methods.explore
    expand = reading_methods.expand
    outline = reading_methods.outline
    source = reading_methods.source
    snippets = reading_methods.snippets
    recent = reading_methods.recent
    refs = reading_methods.refs
    look = reading_methods.look
    status = reading_methods.status
    begin = reading_methods.begin
    index = reading_methods.index
    bring = reading_methods.bring
    export_symbols = reading_methods.export_symbols

    # The ranking by meaning.
    meaning_status = upkeep_methods.meaning_status
    meaning_list = upkeep_methods.meaning_list
    meaning_test = upkeep_methods.meaning_test
    meaning_plan = upkeep_methods.meaning_plan
    meaning_model = upkeep_methods.meaning_model
    meaning_download = upkeep_methods.meaning_download
    meaning_enable = upkeep_methods.meaning_enable
    meaning_disable = upkeep_methods.meaning_disable
    meaning_sync = upkeep_methods.meaning_sync
    meaning_prune = upkeep_methods.meaning_prune
    meaning_clear = upkeep_methods.meaning_clear

    # Who uses what.
    related = graph_methods.related
    references = graph_methods.references
    impact = graph_methods.impact
    map = graph_methods.map
    export_edges = graph_methods.export_edges

    # Branches, commits and worktrees.
    diff = graph_methods.diff
    conflicts = graph_methods.conflicts
    history = graph_methods.history
    changed_elsewhere = graph_methods.changed_elsewhere

    # Saved contexts.
    save = context_methods.save
    load = context_methods.load
    forget = context_methods.forget
    export_contexts = context_methods.export_contexts
    import_contexts = context_methods.import_contexts
    adopt = context_methods.adopt

    # Sessions.
    as_session = context_methods.as_session
    note_sent = context_methods.note_sent
    session = context_methods.session
    recover = context_methods.recover

    # The indexes themselves, and how much was used.
    usage = upkeep_methods.usage
    prune = upkeep_methods.prune
    overview = upkeep_methods.overview
    drop = upkeep_methods.drop
    drop_repository = upkeep_methods.drop_repository
    pack = upkeep_methods.pack
    unpack = upkeep_methods.unpack
    pin = upkeep_methods.pin

    # Facts from compilers.
    scip_import = upkeep_methods.scip_import
    scip_check = upkeep_methods.scip_check
    scip_export = upkeep_methods.scip_export
    scip_forget = upkeep_methods.scip_forget
