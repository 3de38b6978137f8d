/** The keys of `codelens COMMAND --json` that the extension reads (docs/cli.md lists all keys). */

export interface Receipt {
  branch: string;
  head: string;
  worktree: string;
  status: "fresh" | "partial" | "unknown";
  files: number;
  checked: number;
  pending: number;
  unread: number;
  note: string;
}

export interface Place {
  handle: string;
  path: string;
  /** From 1; 0 for a whole file or folder. */
  start_line: number;
  end_line: number;
}

export interface Definition extends Place {
  symbol: string;
  kind: string;
  signature: string;
}

export interface SearchAnswer {
  receipt: Receipt;
  query: string;
  results: (Definition & { why: string; stale?: boolean })[];
  notes: string[];
}

export interface OutlineItem {
  handle: string;
  /** Qualified. */
  name: string;
  kind: string;
  signature: string;
  doc: string;
  start_line: number;
  end_line: number;
}

export interface OutlineAnswer {
  receipt: Receipt;
  results: { path: string; items: OutlineItem[]; stale?: boolean }[];
}

export interface RelatedAnswer {
  receipt: Receipt;
  target: Definition;
  results: (Definition & { relation: string; sites: string[]; count: number; why?: string })[];
  totals: Record<string, number>;
  notes: string[];
}

/** Of `scip import`. */
export interface ImportedIndexAnswer {
  receipt: Receipt;
  stored: number;
  uses: number;
}

export interface ReferencesAnswer {
  receipt: Receipt;
  target: Definition;
  results: { path: string; line: number; text: string; certain: boolean; within: string }[];
  left: number;
}

export interface ImpactAnswer {
  receipt: Receipt;
  base: string;
  changed: (Definition & { how: string })[];
  results: (Definition & { distance: number; how: string; via: string; site: string })[];
  tests: { path: string; why: string; handles: string[]; count: number }[];
  test_count: number;
  at_least: boolean;
  notes: string[];
}

export interface HistoryAnswer {
  receipt: Receipt;
  handle: string;
  results: {
    /** Empty for an uncommitted change. */
    commit: string;
    how: string[];
    handle: string;
    author: string;
    date: string;
    subject: string;
  }[];
  definitions: { handle: string; commit: string; author: string; date: string; subject: string }[];
  more: boolean;
  notes: string[];
}

export interface Collision {
  rule: string;
  grade: "certain" | "likely" | "possible" | "harmless";
  message: string;
  mine: string;
  /** `path:line`. */
  mine_site: string;
  theirs: string;
  theirs_site: string;
}

export interface Rival {
  /** The folder of a worktree, or a branch. */
  name: string;
  kind: string;
  branch: string;
  uncommitted: number;
  textual: { path: string; kind: string; harmless: boolean }[];
  collisions: Collision[];
}

export interface ConflictsAnswer {
  receipt: Receipt;
  results: Rival[];
  clean: number;
  notes: string[];
}

export interface ChangingAnswer {
  results: { handle: string; path: string; worktree: string; branch: string; how: string[] }[];
}

export interface NotesAnswer {
  receipt: Receipt;
  results: {
    name: string;
    note: string;
    category: string;
    items: {
      status: string;
      handle: string;
      was: string;
      start_line: number;
      end_line: number;
      ref: string;
    }[];
  }[];
  notes: string[];
}

export interface StatusAnswer {
  receipt: Receipt;
  status: {
    kind: string;
    root: string;
    repository: string;
    dirty: boolean;
    detached: boolean;
    worktrees: string[];
    others: string[];
  };
}

export interface ExpandAnswer {
  results: { path?: string; text?: string; error?: string }[];
}
