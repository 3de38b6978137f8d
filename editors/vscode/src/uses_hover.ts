/** Shows the uses of a name in its hover. */

import * as vscode from "vscode";

import { Cancelled, CodelensFailed } from "./command_line";
import { type FileFacts, type Uses, usesText } from "./file_facts";
import type { NamedDefinitions } from "./named_definition";
import { placeOfSite } from "./places";

const MOST_SHOWN = 6;

/** The verb for the users of each relation. */
const DOES: Record<string, string> = {
  callers: "calls it",
  users: "uses it",
  importers: "imports it",
  subtypes: "derives from it",
  overridden: "overrides it",
  tests: "tests it",
};

export class UsesHover implements vscode.HoverProvider {
  /** @param enabled returns whether hovers are enabled. */
  constructor(
    private readonly names: NamedDefinitions,
    private readonly facts: FileFacts,
    private readonly enabled: () => boolean,
  ) {}

  async provideHover(
    document: vscode.TextDocument,
    position: vscode.Position,
    cancellation: vscode.CancellationToken,
  ): Promise<vscode.Hover | undefined> {
    if (!this.enabled()) {
      return undefined;
    }
    try {
      const [only, another] = await this.names.ofWord(document, position, cancellation);
      if (only === undefined || another !== undefined || cancellation.isCancellationRequested) {
        return undefined; // the name is ambiguous
      }
      const uses = await this.facts.uses(only.folder, only.handle);
      return new vscode.Hover(hoverText(only.folder, uses));
    } catch (error) {
      if (error instanceof CodelensFailed || error instanceof Cancelled) {
        return undefined; // the status bar shows the error
      }
      throw error;
    }
  }
}

/** Names and signatures come from the repository, so they are never parsed as Markdown. */
function hoverText(root: string, uses: Uses): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: ["codelens.open", "codelens.callers"] };
  text.appendMarkdown("**codelens** ");
  text.appendText(`${usesText(uses)} of ${uses.target.handle}`);
  for (const result of uses.results.slice(0, MOST_SHOWN)) {
    const site = result.sites[0];
    const place = site === undefined ? undefined : placeOfSite(root, site);
    text.appendMarkdown("\n\n");
    if (place !== undefined) {
      text.appendMarkdown(`[$(go-to-file)](${commandLink("open", place)}) `);
    }
    const does = DOES[result.relation] ?? result.relation;
    text.appendText(`${result.symbol || result.path} ${does} ${site ? `at ${site}` : ""}`);
  }
  text.supportThemeIcons = true;
  const all = commandLink("callers", { folder: root, handle: uses.target.handle });
  text.appendMarkdown(`\n\n[Show all](${all})`);
  return text;
}

/** A link that runs a command; parentheses would end the link. */
function commandLink(name: string, argument: unknown): string {
  const words = encodeURIComponent(JSON.stringify([argument]));
  return `command:codelens.${name}?${words.replaceAll("(", "%28").replaceAll(")", "%29")}`;
}
