/** The entry point of the extension: creates its parts and connects them. */

import { join } from "node:path";

import * as vscode from "vscode";

import { Cancelled, CodelensFailed, CommandLine, NotInstalled } from "./command_line";
import { DefinitionLenses } from "./definition_lenses";
import { FileFacts } from "./file_facts";
import { FreshnessStatus } from "./freshness_status";
import { Installation } from "./installation";
import { LanguageServer } from "./language_server";
import { McpServers, offerServers } from "./mcp_server";
import { NamedDefinitions } from "./named_definition";
import { HandleDocuments, open, type OpenPlace, SCHEME } from "./places";
import { type Asked, Questions } from "./questions";
import { References } from "./references";
import { ResultsView } from "./results_view";
import { UsesHover } from "./uses_hover";
import { currentFolder, gitDirectory } from "./worktrees";

const SETTLE_MS = 400;
const FILES = { scheme: "file" };
/** Every git command may write here; HEAD is watched separately. */
const IN_GIT = /\/\.git(\/|$)/;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const keep = <Kept extends vscode.Disposable>(part: Kept): Kept => {
    context.subscriptions.push(part);
    return part;
  };
  const installation = keep(new Installation(join(context.extensionPath, "bundle")));
  const commandLine = new CommandLine(async () => (await installation.program())?.path);
  const facts = keep(new FileFacts(commandLine));
  const names = new NamedDefinitions(commandLine, facts);
  const view = keep(new ResultsView());
  const status = keep(
    new FreshnessStatus(commandLine, currentFolder, () => setting("watchConflicts")),
  );
  const lenses = new DefinitionLenses(facts, () => setting("lenses"));
  const servers = keep(new McpServers(() => installation.program(), () => setting("mcpServer")));

  const references = new References(commandLine, names);
  const server = new LanguageServer(commandLine, references);
  keep(vscode.languages.registerCodeLensProvider(FILES, lenses));
  keep(
    vscode.languages.registerHoverProvider(
      FILES,
      new UsesHover(names, facts, () => setting("hover")),
    ),
  );
  keep(vscode.languages.registerReferenceProvider(FILES, references));
  const documents = new HandleDocuments(commandLine);
  keep(vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents));
  offerServers(servers).forEach(keep);

  const look = keep(
    new Settled(SETTLE_MS, () => {
      facts.forget();
      return status.refresh();
    }),
  );
  const parts = { questions: new Questions(commandLine, names, view), installation };
  const taken = () => server.handOver().then(() => look.soon());
  commands(parts, taken).forEach(keep);
  keep(installation.onDidChange(() => look.soon()));
  keep(installation.onDidChange(() => servers.refresh()));
  keep(vscode.workspace.onDidSaveTextDocument(() => look.soon()));
  // Agents and other programs also edit files, even while the window is in the background.
  const files = keep(vscode.workspace.createFileSystemWatcher("**/*"));
  const edited = (uri: vscode.Uri) => !IN_GIT.test(uri.path) && look.soon();
  keep(files.onDidChange(edited));
  keep(files.onDidCreate(edited));
  keep(files.onDidDelete(edited));
  keep(vscode.window.onDidChangeWindowState(({ focused }) => focused && look.soon()));
  keep(vscode.workspace.onDidChangeTextDocument((event) => lenses.edited(event)));
  keep(vscode.workspace.onDidCloseTextDocument((document) => lenses.closed(document)));
  keep(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("codelens")) {
        installation.forget();
      }
    }),
  );
  keep(
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      servers.refresh();
      look.soon();
    }),
  );
  await watchHeads(keep, () => look.soon());
  if ((await installation.program()) === undefined) {
    void installation.offer();
  }
  await status.refresh();
}

/** Detects commits and changes of branch. */
async function watchHeads(
  keep: <Kept extends vscode.Disposable>(part: Kept) => Kept,
  changed: () => void,
): Promise<void> {
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const directory = uri.scheme === "file" ? await gitDirectory(uri.fsPath) : undefined;
    if (directory !== undefined) {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(directory), "{HEAD,logs/HEAD}");
      const watcher = keep(vscode.workspace.createFileSystemWatcher(pattern));
      keep(watcher.onDidChange(changed));
      keep(watcher.onDidCreate(changed));
    }
  }
}

function commands(
  { questions, installation }: { questions: Questions; installation: Installation },
  handOver: () => Promise<void>,
): vscode.Disposable[] {
  const table: Record<string, (argument?: unknown) => Promise<unknown>> = {
    search: (query) => questions.search(query as string | undefined),
    callers: (asked) => questions.callers(askedIn(asked)),
    history: (asked) => questions.history(askedIn(asked)),
    impact: () => questions.impact(),
    conflicts: () => questions.conflicts(),
    notes: () => questions.notes(),
    index: () => questions.index(),
    languageServer: handOver,
    doctor: () => installation.inTerminal("codelens doctor", ["doctor"]),
    wireAgents: () => installation.inTerminal("codelens install", ["install"]),
    install: () => installation.install(),
    menu: showMenu,
    open: (place) => open(place as OpenPlace),
  };
  return Object.entries(table).map(([name, run]) =>
    vscode.commands.registerCommand(`codelens.${name}`, async (argument?: unknown) => {
      try {
        await run(argument);
      } catch (error) {
        await report(error, installation);
      }
    }),
  );
}

/** Editor menus pass a file to a command; lenses and hovers pass a handle. */
function askedIn(argument: unknown): Asked | undefined {
  return typeof argument === "object" && argument !== null && "handle" in argument
    ? (argument as Asked)
    : undefined;
}

async function report(error: unknown, installation: Installation): Promise<void> {
  if (error instanceof NotInstalled) {
    await installation.offer();
  } else if (error instanceof CodelensFailed) {
    vscode.window.showErrorMessage(`codelens: ${error.message}`);
  } else if (!(error instanceof Cancelled)) {
    throw error;
  }
}

async function showMenu(): Promise<void> {
  const choices = [
    ["$(search) Search", "search"],
    ["$(references) Callers of this definition", "callers"],
    ["$(flame) Impact of my changes", "impact"],
    ["$(history) History of this definition", "history"],
    ["$(git-merge) Conflicts with other worktrees and branches", "conflicts"],
    ["$(note) Notes", "notes"],
    ["$(sync) Update the index", "index"],
    ["$(verified) Take over the language server's facts", "languageServer"],
    ["$(pulse) Find problems", "doctor"],
    ["$(plug) Connect coding agents", "wireAgents"],
  ].map(([label = "", command = ""]) => ({ label, command }));
  const choice = await vscode.window.showQuickPick(choices, { title: "codelens" });
  if (choice !== undefined) {
    await vscode.commands.executeCommand(`codelens.${choice.command}`);
  }
}

function setting(name: string): boolean {
  return vscode.workspace.getConfiguration("codelens").get(name, true);
}

/** Runs an action once after several requests. */
class Settled {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly afterMs: number,
    private readonly run: () => Promise<void>,
  ) {}

  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(), this.afterMs);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
