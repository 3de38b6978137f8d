// The TypeScript SDK's client over stdio: reads one query per JSON line, and writes the text of each
// answer as a JSON line. firstcontact.py runs it:
// node firstcontact_client.mjs NODE_MODULES ROOT COMMAND ARGUMENT...
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, cwd, command, ...args] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "firstcontact", version: "1" });
const env = { ...process.env };
await client.connect(new StdioClientTransport({ command, args, cwd, env, stderr: "ignore" }));
console.log(JSON.stringify("connected"));
for await (const line of createInterface({ input: process.stdin })) {
  const call = { name: "cl_search", arguments: { query: JSON.parse(line) } };
  const answer = await client.callTool(call, undefined, { timeout: 600_000 });
  console.log(JSON.stringify(answer.content[0].text));
}
await client.close();
