/** Makes `require("vscode")` give the stand-in; to be loaded before the extension. */

import Module from "node:module";
import { join } from "node:path";

type Resolve = (request: string, ...more: unknown[]) => string;
const loader = Module as unknown as { _resolveFilename: Resolve };
const resolve = loader._resolveFilename;

loader._resolveFilename = function (request, ...more) {
  return request === "vscode"
    ? join(__dirname, "vscode.js")
    : resolve.call(this, request, ...more);
};
