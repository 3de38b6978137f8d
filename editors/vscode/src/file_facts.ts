/** Caches facts about the definitions of a file until something may have changed. */

import * as vscode from "vscode";

import type {
  ChangingAnswer,
  HistoryAnswer,
  OutlineAnswer,
  OutlineItem,
  RelatedAnswer,
} from "./answers";
import { CodelensFailed, type CommandLine } from "./command_line";

export type Uses = Pick<RelatedAnswer, "totals" | "notes" | "results" | "target">;
const MOST_KEPT = 2_000;

export class FileFacts {
  private readonly kept = new Map<string, Promise<unknown>>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when earlier answers may be outdated. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly commandLine: CommandLine) {}

  dispose(): void {
    this.changed.dispose();
  }

  /** Call this when a file was saved, or the branch or another worktree may have changed. */
  forget(): void {
    this.kept.clear();
    this.changed.fire();
  }

  /** The definitions of a file on disk; empty if codelens does not index the file. */
  outline(folder: string, file: string): Promise<OutlineItem[]> {
    return this.once(folder, ["outline", "--", file], async (words) => {
      const answer = await this.commandLine.ask<OutlineAnswer>(folder, words);
      return answer.results[0]?.items ?? [];
    });
  }

  /** The uses of a definition: all counts, and the first places. */
  uses(folder: string, handle: string): Promise<Uses> {
    return this.once(folder, ["related", "--direction", "in", "--limit", "12", "--", handle], (words) =>
      this.commandLine.ask<RelatedAnswer>(folder, words),
    );
  }

  /** The last change of each definition of a file, by handle; empty without git. */
  lastChanges(folder: string, file: string): Promise<Map<string, HistoryAnswer["definitions"][0]>> {
    return this.once(folder, ["history", "--", file], async (words) => {
      const answer = await this.commandLine
        .ask<HistoryAnswer>(folder, words)
        .catch(missingWithoutGit);
      return new Map(answer?.definitions.map((change) => [change.handle, change]));
    });
  }

  /** Other worktrees that changed a definition of a file, by handle. */
  changedElsewhere(folder: string, file: string): Promise<Map<string, string[]>> {
    return this.once(folder, ["conflicts", "--changing", file], async (words) => {
      const answer = await this.commandLine
        .ask<ChangingAnswer>(folder, words)
        .catch(missingWithoutGit);
      const worktrees = new Map<string, string[]>();
      for (const { handle, worktree } of answer?.results ?? []) {
        worktrees.set(handle, [...(worktrees.get(handle) ?? []), worktree]);
      }
      return worktrees;
    });
  }

  private once<Answer>(
    folder: string,
    words: string[],
    ask: (words: string[]) => Promise<Answer>,
  ): Promise<Answer> {
    const key = JSON.stringify([folder, words]);
    const before = this.kept.get(key) as Promise<Answer> | undefined;
    if (before !== undefined) {
      return before;
    }
    if (this.kept.size >= MOST_KEPT) {
      this.kept.clear();
    }
    const answer = ask(words);
    this.kept.set(key, answer);
    // Do not cache failures.
    answer.catch(() => this.kept.delete(key));
    return answer;
  }
}

/** A folder without git has neither history nor other worktrees; that is not an error here. */
function missingWithoutGit(error: unknown): undefined {
  if (error instanceof CodelensFailed && /git/.test(error.message)) {
    return undefined;
  }
  throw error;
}

/** `3 uses, 1 import, 1 test`; `at least` if some uses of the name could not be resolved. */
export function usesText({ totals, notes }: Pick<Uses, "totals" | "notes">): string {
  const { tests = 0, importers = 0, ...others } = totals;
  const uses = Object.values(others).reduce((sum, count) => sum + count, 0);
  const qualifier = notes.some((note) => note.startsWith("at least")) ? "at least " : "";
  return [
    `${qualifier}${plural(uses, "use")}`,
    importers ? plural(importers, "import") : "",
    tests ? plural(tests, "test") : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** `changed 2026-11-24 by Ada: subject`. */
export function changeText(change: HistoryAnswer["definitions"][0]): string {
  return change.commit
    ? `changed ${change.date} by ${change.author}: ${change.subject}`
    : "changed here, not committed";
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
