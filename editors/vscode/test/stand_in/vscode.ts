/**
 * A stand-in of the editor's interface, as far as the extension uses it.
 *
 * What the extension registers and shows is kept in `editor`, where tests read it; nothing of
 * codelens is here.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL, fileURLToPath } from "node:url";
import { sep } from "node:path";

type Listener<Event> = (event: Event) => unknown;
type Command = (...given: unknown[]) => Promise<unknown>;

export class Disposable {
  constructor(readonly dispose: () => void) {}
}

export class EventEmitter<Event> {
  private listeners: Listener<Event>[] = [];
  readonly event = (listener: Listener<Event>): Disposable => {
    this.listeners.push(listener);
    return new Disposable(() => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    });
  };
  fire(event: Event): void {
    for (const listener of [...this.listeners]) {
      listener(event);
    }
  }
  dispose(): void {
    this.listeners = [];
  }
}

export class Uri {
  constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = "",
  ) {}
  static file(path: string): Uri {
    return new Uri("file", decodeURIComponent(pathToFileURL(path).pathname));
  }
  static from(parts: { scheme: string; path: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.path, parts.query);
  }
  get fsPath(): string {
    return fileURLToPath(`file://${this.path.split("/").map(encodeURIComponent).join("/")}`);
  }
  toString(): string {
    return `${this.scheme}://${this.path}?${this.query}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Position | Range,
  ) {}
}

export class CodeLens {
  command: { title: string; command: string; arguments?: unknown[] } | undefined;
  constructor(readonly range: Range) {}
}

/** Keeps apart what is Markdown and what is text, which VS Code escapes. */
export class MarkdownString {
  readonly markdown: string[] = [];
  readonly text: string[] = [];
  isTrusted: unknown;
  supportThemeIcons = false;
  appendMarkdown(value: string): void {
    this.markdown.push(value);
  }
  appendText(value: string): void {
    this.text.push(value);
  }
}

export class Hover {
  constructor(readonly contents: MarkdownString) {}
}

export class TreeItem {
  description = "";
  tooltip = "";
  iconPath: unknown;
  command: { command: string; arguments?: unknown[] } | undefined;
  constructor(
    readonly label: string,
    readonly collapsibleState: number,
  ) {}
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class RelativePattern {
  constructor(
    readonly base: Uri,
    readonly pattern: string,
  ) {}
}

export class McpStdioServerDefinition {
  cwd: Uri | undefined;
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
    readonly env: object,
    readonly version: string,
  ) {}
}

export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: string[],
    readonly options: object,
  ) {}
}

export class Task {
  presentationOptions: unknown;
  constructor(
    readonly definition: object,
    readonly scope: number,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ProgressLocation = { Notification: 15 };
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const TaskScope = { Workspace: 2 };
export const TaskRevealKind = { Always: 1 };

interface Document {
  uri: Uri;
  isDirty: boolean;
  languageId: string;
  getText(range?: unknown): string;
  getWordRangeAtPosition(position: Position): unknown;
}

/** What the extension did, and what the user is made to do. */
export const editor = {
  folders: [] as string[],
  settings: {} as Record<string, unknown>,
  commands: new Map<string, Command>(),
  statusBar: { text: "", tooltip: "", command: "", visible: false },
  tree: undefined as { treeDataProvider: unknown } | undefined,
  treeView: { title: "", description: "", message: "", dispose: () => undefined },
  lenses: undefined as unknown,
  hover: undefined as unknown,
  references: undefined as unknown,
  contents: undefined as unknown,
  servers: undefined as unknown,
  opened: [] as { uri: Uri; options: { selection?: Range } }[],
  messages: [] as string[],
  /** The button that the user presses on a message, and the item chosen of a list. */
  choice: undefined as ((items: unknown[]) => unknown) | undefined,
  input: undefined as string | undefined,
  tasks: [] as Task[],
  taskEnds: 0,
  cancel: new EventEmitter<void>(),
  saved: new EventEmitter<void>(),
  watched: [] as { pattern: RelativePattern | string; changed: EventEmitter<Uri> }[],
};

const never = new EventEmitter<never>();
const taskEnded = new EventEmitter<{ execution: { task: Task }; exitCode: number }>();

export const window = {
  activeTextEditor: undefined as unknown,
  createStatusBarItem: () =>
    Object.assign(editor.statusBar, {
      show: () => (editor.statusBar.visible = true),
      hide: () => (editor.statusBar.visible = false),
      dispose: () => undefined,
    }),
  createTreeView: (_id: string, options: { treeDataProvider: unknown }) => {
    editor.tree = options;
    return editor.treeView;
  },
  showTextDocument: async (uri: Uri, options: { selection?: Range }) => {
    editor.opened.push({ uri, options });
  },
  showInputBox: async () => editor.input,
  showQuickPick: async (items: unknown[]) => editor.choice?.(items),
  showWarningMessage: async (text: string, ...items: string[]) => told(text, items),
  showErrorMessage: async (text: string, ...items: string[]) => told(text, items),
  showInformationMessage: async (text: string, ...items: string[]) => told(text, items),
  withProgress: async (
    _options: unknown,
    run: (progress: unknown, cancellation: unknown) => Promise<unknown>,
  ) => {
    const cancellation = {
      isCancellationRequested: false,
      onCancellationRequested: editor.cancel.event,
    };
    editor.cancel.event(() => (cancellation.isCancellationRequested = true));
    return run({}, cancellation);
  },
  onDidChangeWindowState: never.event,
};

function told(text: string, items: string[]): unknown {
  editor.messages.push(text);
  return items.length > 0 ? editor.choice?.(items) : undefined;
}

export const workspace = {
  get workspaceFolders() {
    return editor.folders.map((folder) => ({ uri: Uri.file(folder) }));
  },
  getWorkspaceFolder: ({ fsPath }: Uri) => {
    const folder = editor.folders.find((top) => fsPath.startsWith(top + sep));
    return folder === undefined ? undefined : { uri: Uri.file(folder) };
  },
  getConfiguration: (section: string) => ({
    get: (name: string, usual: unknown) => editor.settings[`${section}.${name}`] ?? usual,
  }),
  registerTextDocumentContentProvider: (_scheme: string, provider: unknown) => {
    editor.contents = provider;
    return new Disposable(() => undefined);
  },
  openTextDocument: async (uri: Uri) => documentOf(uri.fsPath, readFileSync(uri.fsPath, "utf8")),
  createFileSystemWatcher: (pattern: RelativePattern | string) => {
    const changed = new EventEmitter<Uri>();
    editor.watched.push({ pattern, changed });
    return {
      onDidChange: changed.event,
      onDidCreate: never.event,
      onDidDelete: never.event,
      dispose: () => undefined,
    };
  },
  onDidSaveTextDocument: editor.saved.event,
  onDidChangeTextDocument: never.event,
  onDidCloseTextDocument: never.event,
  onDidChangeConfiguration: never.event,
  onDidChangeWorkspaceFolders: never.event,
};

export const commands = {
  registerCommand: (name: string, run: Command) => {
    editor.commands.set(name, run);
    return new Disposable(() => editor.commands.delete(name));
  },
  executeCommand: async (name: string, ...given: unknown[]) => editor.commands.get(name)?.(...given),
};

export const languages = {
  registerCodeLensProvider: (_selector: unknown, provider: unknown) => {
    editor.lenses = provider;
    return new Disposable(() => undefined);
  },
  registerHoverProvider: (_selector: unknown, provider: unknown) => {
    editor.hover = provider;
    return new Disposable(() => undefined);
  },
  registerReferenceProvider: (_selector: unknown, provider: unknown) => {
    editor.references = provider;
    return new Disposable(() => undefined);
  },
};

export const lm = {
  registerMcpServerDefinitionProvider: (_id: string, provider: unknown) => {
    editor.servers = provider;
    return new Disposable(() => undefined);
  },
};

export const tasks = {
  onDidEndTaskProcess: taskEnded.event,
  executeTask: async (task: Task) => {
    editor.tasks.push(task);
    setImmediate(() => taskEnded.fire({ execution: { task }, exitCode: editor.taskEnds }));
  },
};

/** A document with a text, as the editor would have opened it. */
export function documentOf(file: string, text: string): Document {
  const lines = text.split("\n");
  return {
    uri: Uri.file(file),
    isDirty: false,
    languageId: "python",
    getText: (range?: unknown) => {
      if (range === undefined) {
        return text;
      }
      const { start, end } = range as Range;
      return (lines[start.line] ?? "").slice(start.character, end.character);
    },
    getWordRangeAtPosition: ({ line, character }: Position) => {
      for (const match of (lines[line] ?? "").matchAll(/\w+/g)) {
        const last = match.index + match[0].length;
        if (match.index <= character && character <= last) {
          return new Range(line, match.index, line, last);
        }
      }
      return undefined;
    },
  };
}
