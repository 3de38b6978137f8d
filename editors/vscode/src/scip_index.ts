/** Writes a SCIP index (codelens/scip/scip.proto) in the format of protobuf. */

export interface Occurrence {
  /** Line, first and last column: from 0, in UTF-16. */
  range: [number, number, number];
  symbol: string;
  defines: boolean;
}

export interface ScipDocument {
  /** Relative to the root of the index, with `/`. */
  path: string;
  /** The text that the facts are about. */
  text: string;
  occurrences: Occurrence[];
  /** Symbols of this document, each with a symbol that it implements. */
  implementations: { symbol: string; of: string }[];
}

const UTF16 = 2;
const DEFINITION = 1;
const PLAIN = /^[\w+$-]+$/;

/** The symbol of a definition, by its path and qualified name. */
export function symbolOf(path: string, qualified: string): string {
  const parts = qualified.split(".");
  const name = parts.pop() ?? "";
  const owners = parts.map((part) => `${escaped(part)}#`).join("");
  return `vscode . . . ${escaped(path)}/${owners}${escaped(name)}.`;
}

function escaped(name: string): string {
  return PLAIN.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

export function scipIndex(tool: string, documents: ScipDocument[]): Buffer {
  const metadata = bytes(2, text(1, tool));
  return Buffer.concat([
    bytes(1, metadata),
    ...documents.map((document) => bytes(2, documentOf(document))),
  ]);
}

function documentOf(document: ScipDocument): Buffer {
  return Buffer.concat([
    text(1, document.path),
    ...document.occurrences.map(({ range, symbol, defines }) =>
      bytes(
        2,
        Buffer.concat([
          bytes(1, Buffer.concat(range.map(varint))),
          text(2, symbol),
          defines ? number(3, DEFINITION) : Buffer.alloc(0),
        ]),
      ),
    ),
    ...document.implementations.map(({ symbol, of }) =>
      bytes(
        3,
        Buffer.concat([text(1, symbol), bytes(4, Buffer.concat([text(1, of), number(3, 1)]))]),
      ),
    ),
    text(5, document.text),
    number(6, UTF16),
  ]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, "utf8"));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
    groups.push((rest % 0x80) | 0x80);
  }
  return Buffer.from([...groups, rest]);
}
