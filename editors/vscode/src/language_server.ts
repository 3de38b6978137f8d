/** Hands over to codelens what the active language server says about a definition. */

import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";

import * as vscode from "vscode";

import type { ImportedIndexAnswer, OutlineAnswer, OutlineItem } from "./answers";
import { type Cancellation, CodelensFailed, type CommandLine } from "./command_line";
import { innermost, lastPart } from "./named_definition";
import type { References } from "./references";
import { type ScipDocument, scipIndex, symbolOf } from "./scip_index";
import { folderOf } from "./worktrees";

/** A definition that codelens knows, where the language server says that it is. */
interface Known {
  document: vscode.TextDocument;
  path: string;
  symbol: string;
  handle: string;
  range: [number, number, number];
}

type Found = vscode.Location | vscode.LocationLink;

const MOST_FILES = 1_000;

export class LanguageServer {
  constructor(
    private readonly commandLine: CommandLine,
    private readonly references: References,
  ) {}

  /** Hand over references and implementations of the definition that the cursor is on. */
  async handOver(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const folder = editor && folderOf(editor.document);
    if (editor === undefined || folder === undefined) {
      vscode.window.showWarningMessage("Put the cursor on a definition first.");
      return;
    }
    const { document } = editor;
    const position = editor.selection.active;
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: "codelens: asking the language server",
      cancellable: true,
    };
    const said = await vscode.window.withProgress(options, (_progress, cancellation: Cancellation) =>
      this.asked(folder, document, position, cancellation),
    );
    vscode.window.showInformationMessage(`codelens: ${said}`);
  }

  private async asked(
    folder: string,
    document: vscode.TextDocument,
    position: vscode.Position,
    cancellation: Cancellation,
  ): Promise<string> {
    const [place] = await located("vscode.executeDefinitionProvider", document.uri, position);
    const start = place?.range.start ?? position;
    const file = place === undefined ? document : await opened(place.uri);
    const handed = new HandedOver(await realpath(await this.worktree(folder)));
    const definition = await this.known(folder, handed, file, start, cancellation);
    if (definition === undefined) {
      throw new CodelensFailed(
        "the saved files have no definition where the language server sees one; save them first",
      );
    }
    const name = new vscode.Position(definition.range[0], definition.range[1]);
    handed.define(definition);
    const uses = await this.references.ofOthers(file, name);
    for (const { uri, range } of uses) {
      await handed.use(uri, range, definition);
    }
    const derived = await located("vscode.executeImplementationProvider", file.uri, name);
    for (const { uri, range } of derived) {
      const other = await this.known(folder, handed, await opened(uri), range.start, cancellation);
      if (other !== undefined && other.symbol !== definition.symbol) {
        handed.define(other, definition);
      }
    }
    if (uses.length + derived.length === 0) {
      throw new CodelensFailed(`no language server answers about ${definition.handle}`);
    }
    return this.taken(folder, `vscode-${file.languageId}`, handed, definition, cancellation);
  }

  /** Pass the facts through `codelens scip import`. */
  private async taken(
    folder: string,
    tool: string,
    handed: HandedOver,
    definition: Known,
    cancellation: Cancellation,
  ): Promise<string> {
    const own = await mkdtemp(join(tmpdir(), "codelens-scip-"));
    try {
      const file = join(own, "index.scip");
      await writeFile(file, scipIndex(tool, [...handed.documents.values()]));
      const words = ["scip", "import", "--add", "--root", ".", "--", file];
      const answer = await this.commandLine.ask<ImportedIndexAnswer>(folder, words, cancellation);
      const files = `${answer.stored} ${answer.stored === 1 ? "file" : "files"}`;
      return `the language server's word on ${definition.handle} counts in ${files}`;
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }

  private async worktree(folder: string): Promise<string> {
    const answer = await this.commandLine.ask<{ receipt: { worktree: string } }>(folder, ["status"]);
    return answer.receipt.worktree;
  }

  /** The definition whose lines have a place; undefined if the file is edited or outside. */
  private async known(
    folder: string,
    handed: HandedOver,
    document: vscode.TextDocument,
    place: vscode.Position,
    cancellation: Cancellation,
  ): Promise<Known | undefined> {
    const path = await handed.pathOf(document.uri);
    if (document.isDirty || path === undefined) {
      return undefined;
    }
    const words = ["outline", "--", document.uri.fsPath];
    const answer = await this.commandLine.ask<OutlineAnswer>(folder, words, cancellation);
    const item = innermost(answer.results[0]?.items ?? [], place.line + 1);
    const range = item && nameIn(document.getText(), item, place.line);
    return item && range
      ? { document, path, symbol: symbolOf(path, item.name), handle: item.handle, range }
      : undefined;
  }
}

/** The documents of an index that is being made. */
class HandedOver {
  readonly documents = new Map<string, ScipDocument>();

  /** @param root of the worktree, without links. */
  constructor(private readonly root: string) {}

  define(known: Known, of?: Known): void {
    const document = this.documentOf(known.document, known.path);
    document.occurrences.push({ range: known.range, symbol: known.symbol, defines: true });
    if (of !== undefined) {
      document.implementations.push({ symbol: known.symbol, of: of.symbol });
    }
  }

  async use(uri: vscode.Uri, range: vscode.Range, of: Known): Promise<void> {
    const path = await this.pathOf(uri);
    const own = uri.fsPath === of.document.uri.fsPath && range.start.line === of.range[0];
    const known = path !== undefined && this.documents.has(path);
    if (path === undefined || (own && range.start.character === of.range[1])) {
      return;
    }
    if (!known && this.documents.size >= MOST_FILES) {
      throw new CodelensFailed(`more than ${MOST_FILES} files use ${of.handle}; run an indexer`);
    }
    const document = this.documentOf(await opened(uri), path);
    const { start, end } = range;
    if (start.line === end.line) {
      const place: [number, number, number] = [start.line, start.character, end.character];
      document.occurrences.push({ range: place, symbol: of.symbol, defines: false });
    }
  }

  /** The path of a file in the worktree; undefined for others. */
  async pathOf(uri: vscode.Uri): Promise<string | undefined> {
    if (uri.scheme !== "file") {
      return undefined;
    }
    const file = await realpath(uri.fsPath).catch(() => uri.fsPath);
    const path = relative(this.root, file).split(sep).join("/");
    return path === ".." || path.startsWith("../") || /^\w:/.test(path) ? undefined : path;
  }

  private documentOf(source: vscode.TextDocument, path: string): ScipDocument {
    const before = this.documents.get(path);
    const text = source.getText();
    const document = before ?? { path, text, occurrences: [], implementations: [] };
    this.documents.set(path, document);
    return document;
  }
}

/** Where the name of a definition is: in the line that the server names, else in a first line. */
function nameIn(
  text: string,
  item: OutlineItem,
  line: number,
): [number, number, number] | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  const name = lastPart(item.name);
  const word = new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, "\\$&")}(?![\\w$])`);
  for (const at of [line, item.start_line - 1]) {
    const column = (lines[at] ?? "").search(word);
    if (column >= 0) {
      return [at, column, column + name.length];
    }
  }
  return undefined;
}

async function located(
  command: string,
  uri: vscode.Uri,
  position: vscode.Position,
): Promise<vscode.Location[]> {
  const found = await vscode.commands.executeCommand<Found[] | undefined>(command, uri, position);
  return (found ?? []).map((place) =>
    "targetUri" in place
      ? new vscode.Location(place.targetUri, place.targetSelectionRange ?? place.targetRange)
      : place,
  );
}

async function opened(uri: vscode.Uri): Promise<vscode.TextDocument> {
  return vscode.workspace.openTextDocument(uri);
}
