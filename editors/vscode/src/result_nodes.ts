/** Turns answers of codelens into trees of lines. */

import type {
  ConflictsAnswer,
  Definition,
  HistoryAnswer,
  ImpactAnswer,
  NotesAnswer,
  Receipt,
  RelatedAnswer,
  Rival,
  SearchAnswer,
} from "./answers";
import { type OpenPlace, pathOfHandle, placeIn, placeOfSite } from "./places";

export interface ResultNode {
  label: string;
  description?: string;
  tooltip?: string;
  /** The name of a product icon of VS Code. */
  icon?: string;
  place?: OpenPlace | undefined;
  children?: ResultNode[];
}

export interface Results {
  title: string;
  /** The receipt of the answer, as text. */
  basis: string;
  nodes: ResultNode[];
}

const ICONS: Record<string, string> = {
  function: "symbol-method", method: "symbol-method", class: "symbol-class", struct: "symbol-struct",
  interface: "symbol-interface", trait: "symbol-interface", enum: "symbol-enum",
  member: "symbol-enum-member", type: "symbol-class", module: "symbol-namespace",
  constant: "symbol-constant", variable: "symbol-variable", property: "symbol-property",
  field: "symbol-field", heading: "symbol-string", file: "symbol-file", line: "symbol-text",
  chunk: "symbol-text",
};

const RELATIONS: Record<string, string> = {
  callers: "Called by", callees: "Calls", users: "Used by", uses: "Uses",
  importers: "Imported by", imports: "Imports", bases: "Derives from", subtypes: "Subtypes",
  overrides: "Overrides", overridden: "Overridden by", tests: "Tests",
};

/** `main@1a2b3c4, fresh`, and what is missing. */
export function basisOf(receipt: Receipt): string {
  const head = receipt.head ? `@${receipt.head.slice(0, 7)}` : "";
  const missing = [
    receipt.pending ? `${receipt.pending} files pending` : "",
    receipt.unread ? `${receipt.unread} files unread` : "",
  ];
  return [`${receipt.branch || "detached HEAD"}${head}`, receipt.status, ...missing]
    .filter(Boolean)
    .join(", ");
}

export function searchResults(answer: SearchAnswer): Results {
  const root = answer.receipt.worktree;
  return {
    title: `Search: ${answer.query}`,
    basis: basisOf(answer.receipt),
    nodes: [
      ...answer.results.map((result) => ({
        ...definitionNode(root, result),
        tooltip: `${result.signature}\n${result.why}${result.stale ? "\nthe file has changed since it was read" : ""}`,
      })),
      ...noteNodes(answer.notes),
    ],
  };
}

export function relatedResults(answer: RelatedAnswer): Results {
  const root = answer.receipt.worktree;
  const byRelation = new Map<string, ResultNode[]>();
  for (const result of answer.results) {
    const node = definitionNode(root, result);
    const sites = result.sites.map((site) => siteNode(root, site));
    if (sites.length > 0) {
      node.children = sites;
    }
    byRelation.set(result.relation, [...(byRelation.get(result.relation) ?? []), node]);
  }
  const groups = [...byRelation].map(([relation, children]) => ({
    label: RELATIONS[relation] ?? relation,
    description: countOf(children.length, answer.totals[relation] ?? children.length),
    children,
  }));
  return {
    title: `Uses of ${answer.target.symbol || answer.target.handle}`,
    basis: basisOf(answer.receipt),
    nodes: [...groups, ...noteNodes(answer.notes)],
  };
}

export function impactResults(answer: ImpactAnswer): Results {
  const root = answer.receipt.worktree;
  const changed = answer.changed.map((change) => ({
    ...definitionNode(root, change),
    description: `${change.how} · ${change.path}`,
  }));
  const affected = answer.results.map((result) => ({
    ...definitionNode(root, result),
    description: `${result.distance === 1 ? "directly" : `in ${result.distance} steps`} · ${result.path}`,
    tooltip: `${result.how} of ${result.via} at ${result.site}`,
  }));
  const tests = answer.tests.map((test) => ({
    label: test.path,
    description: test.why,
    icon: "beaker",
    place: placeIn(root, test.path),
    children: test.handles.map((handle) => ({ label: handle.replace(/^.*#/, "") })),
  }));
  const qualifier = answer.at_least ? "at least " : "";
  const groups = [
    group("Changed", changed),
    group("Affected", affected, `${qualifier}${affected.length}`),
    group("Tests to run", tests, countOf(tests.length, Math.max(answer.test_count, tests.length))),
  ];
  return {
    title: `Impact of the changes since ${answer.base}`,
    basis: basisOf(answer.receipt),
    nodes: [...groups.filter((node) => node.children.length > 0), ...noteNodes(answer.notes)],
  };
}

export function historyResults(answer: HistoryAnswer): Results {
  const root = answer.receipt.worktree;
  const nodes: ResultNode[] = answer.results.map((change) => ({
    label: change.subject || change.how.join(" and "),
    description: [change.commit.slice(0, 10), change.date, change.author, change.how.join(", ")]
      .filter(Boolean)
      .join(" · "),
    icon: change.commit ? "git-commit" : "edit",
    place: change.commit
      ? { folder: root, handle: change.handle }
      : placeIn(root, pathOfHandle(change.handle)),
  }));
  if (answer.more) {
    nodes.push({ label: "There are older changes: codelens history --limit", icon: "info" });
  }
  return {
    title: `History of ${answer.handle}`,
    basis: basisOf(answer.receipt),
    nodes: [...nodes, ...noteNodes(answer.notes)],
  };
}

export function conflictsResults(answer: ConflictsAnswer): Results {
  const clean = answer.clean
    ? [{ label: `${answer.clean} others merge cleanly`, icon: "pass" }]
    : [];
  return {
    title: "Conflicts with other worktrees and branches",
    basis: basisOf(answer.receipt),
    nodes: [
      ...answer.results.map((rival) => rivalNode(answer.receipt.worktree, rival)),
      ...clean,
      ...noteNodes(answer.notes),
    ],
  };
}

/** Worktrees and branches with a conflict that is not harmless. */
export function rivalsInConflict(answer: ConflictsAnswer): Rival[] {
  return answer.results.filter(
    (rival) =>
      rival.textual.some((conflict) => !conflict.harmless) ||
      rival.collisions.some((collision) => collision.grade !== "harmless"),
  );
}

function rivalNode(root: string, rival: Rival): ResultNode {
  const textual = rival.textual.map((conflict) => ({
    label: conflict.path,
    description: conflict.harmless ? `${conflict.kind}, harmless` : conflict.kind,
    icon: "git-merge",
    place: placeIn(root, conflict.path),
  }));
  const collisions = rival.collisions.map((collision) => ({
    label: collision.message,
    description: `${collision.grade} · ${collision.mine_site}`,
    tooltip: `yours: ${collision.mine} at ${collision.mine_site}\ntheirs: ${collision.theirs} at ${collision.theirs_site}`,
    icon: collision.grade === "certain" ? "error" : "warning",
    place: placeOfSite(root, collision.mine_site),
    children: theirs(rival, collision.theirs_site),
  }));
  return {
    label: rival.name,
    description: rival.kind === "worktree" ? rival.branch || "detached HEAD" : rival.kind,
    icon: rival.kind === "worktree" ? "root-folder" : "git-branch",
    children: [...collisions, ...textual],
  };
}

/** The other side of a conflict can be opened if it is on disk. */
function theirs(rival: Rival, site: string): ResultNode[] {
  const place = rival.kind === "worktree" ? placeOfSite(rival.name, site) : undefined;
  return [{ label: "theirs", description: site, icon: "go-to-file", place }];
}

export function notesResults(answer: NotesAnswer): Results {
  const root = answer.receipt.worktree;
  return {
    title: "Notes",
    basis: basisOf(answer.receipt),
    nodes: answer.results.map((context) => ({
      label: context.name,
      description: `${context.category} · ${context.note.split("\n")[0] ?? ""}`,
      tooltip: context.note,
      icon: "note",
      children: context.items.map((item) => ({
        label: item.handle || item.was,
        description: item.status,
        icon: item.status === "current" ? "pass" : "warning",
        place: item.handle
          ? item.ref
            ? { folder: root, handle: item.handle }
            : placeIn(root, pathOfHandle(item.handle), item.start_line, item.end_line)
          : undefined,
      })),
    })),
  };
}

function definitionNode(root: string, definition: Definition): ResultNode {
  const line = definition.start_line > 0 ? `:${definition.start_line}` : "";
  return {
    label: definition.symbol || definition.path,
    description: `${definition.path}${line}`,
    tooltip: definition.signature,
    icon: ICONS[definition.kind] ?? "symbol-misc",
    place: placeIn(root, definition.path, definition.start_line, definition.end_line),
  };
}

function siteNode(root: string, site: string): ResultNode {
  return { label: site, icon: "arrow-right", place: placeOfSite(root, site) };
}

function group(label: string, children: ResultNode[], description = String(children.length)) {
  return { label, description, children };
}

function countOf(shown: number, all: number): string {
  return all > shown ? `${shown} of ${all}` : String(all);
}

function noteNodes(notes: string[]): ResultNode[] {
  return notes.map((note) => ({ label: note, tooltip: note, icon: "info" }));
}
