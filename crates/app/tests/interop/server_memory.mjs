// The set `server-memory` of `daybook mcp` against the server of that name: `node server_memory.mjs <daybook> <folder>`.
// Random calls of the nine tools have the same results, and the file of one is read by the other.
// The packages are found beside the folder that this is run in.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [daybook, folder] = process.argv.slice(2);
const CALLS = 500;
const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const original = join(process.cwd(), "node_modules/@modelcontextprotocol/server-memory/dist/index.js");

const connect = async (command, args, env) => {
  const transport = new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: "ignore" });
  const client = new Client({ name: "interop", version: "1.0.0" });
  await client.connect(transport);
  return client;
};
const theirs = (file) => connect(process.execPath, [original], { MEMORY_FILE_PATH: file });
const ours = (root) => connect(daybook, ["mcp", "--tools", "server-memory", "--root", root], { DAYBOOK_PERSON: "ada" });

// Numbers without order, the same in each run.
let state = 20260304n;
const random = (below) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) % (1n << 64n);
  return Number(state >> 33n) % below;
};
const pick = (list) => list[random(list.length)];
const some = (most, make) => Array.from({ length: random(most + 1) }, make);
const NAMES = ["ada", "Ada", "grace", "the harbour", "Łódź → pier\n7", " spaced ", "", "# Relations", "\\n", "Type: x"];
const TEXTS = ["prefers tea", "Prefers TEA", "- a list", "line one\nline two", "", "\t", "a → b", "\\u{41}", "ﬁsh", "## ada"];
const KINDS = ["person", "place", "", "Type:", "boat\r"];
const ENTITY = () => ({ name: pick(NAMES), entityType: pick(KINDS), observations: some(3, () => pick(TEXTS)) });
const RELATION = () => ({ from: pick(NAMES), to: pick(NAMES), relationType: pick(["keeps", "sails → to", "", "a\nb"]) });
const CALL = {
  create_entities: () => ({ entities: some(3, ENTITY) }),
  create_relations: () => ({ relations: some(3, RELATION) }),
  add_observations: () => ({
    observations: some(2, () => ({ entityName: pick(NAMES), contents: some(3, () => pick(TEXTS)) })),
  }),
  delete_entities: () => ({ entityNames: some(1, () => pick(NAMES)) }),
  delete_observations: () => ({
    deletions: some(2, () => ({ entityName: pick(NAMES), observations: some(2, () => pick(TEXTS)) })),
  }),
  delete_relations: () => ({ relations: some(2, RELATION) }),
  read_graph: () => ({}),
  search_nodes: () => ({ query: pick(["", "tea", "PERSON", "→", "\n", "ŁÓDŹ", "none"]) }),
  open_nodes: () => ({ names: some(3, () => pick(NAMES)) }),
};

const file = join(folder, "memory.jsonl");
const pair = [await theirs(file), await ours(join(folder, "root"))];
const tools = await Promise.all(pair.map(async (client) => (await client.listTools()).tools));
const shape = (tool) => [tool.name, tool.title, tool.annotations.readOnlyHint, tool.annotations.destructiveHint, tool.annotations.idempotentHint];
assert.deepEqual(tools[1].map(shape), tools[0].map(shape));
let failed = 0;
for (let n = 0; n < CALLS; n += 1) {
  const name = pick(Object.keys(CALL));
  const args = CALL[name]();
  const [their, our] = await Promise.all(pair.map((client) => client.callTool({ name, arguments: args })));
  const call = `${n}: ${name} ${JSON.stringify(args)}`;
  assert.equal(Boolean(our.isError), Boolean(their.isError), call);
  assert.deepEqual(our.content, their.content, call);
  assert.deepEqual(our.structuredContent, their.structuredContent, call);
  failed += their.isError ? 1 : 0;
}
const uri = "memory://knowledge-graph";
const [their, our] = await Promise.all(pair.map((client) => client.readResource({ uri })));
assert.deepEqual(our, their);
await Promise.all(pair.map((client) => client.close()));

// Out of one, and into the other.
const graph = JSON.parse(their.contents[0].text);
const run = (root, ...args) =>
  execFileSync(daybook, ["entities", ...args, "--root", join(folder, root)], {
    env: { ...process.env, DAYBOOK_PERSON: "ada" },
  });
const exported = join(folder, "exported.jsonl");
writeFileSync(exported, run("root", "export-graph"));
assert.equal(readFileSync(exported, "utf8").trimEnd(), readFileSync(file, "utf8").trimEnd());
const reader = await theirs(exported);
assert.deepEqual((await reader.callTool({ name: "read_graph", arguments: {} })).structuredContent, graph);
await reader.close();
run("other", "import-graph", file);
assert.equal(String(run("other", "export-graph")), String(readFileSync(exported)));
console.log(`server-memory: ${CALLS} calls, ${failed} of them refused, have the same results, and the files are the same`);
