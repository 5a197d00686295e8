// The MCP server over streamable HTTP, called by the TypeScript SDK: `node mcp_http.mjs <daybook> <root>`.
// The root holds the sample. The SDK is found beside the folder that this is run in.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [daybook, root] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ResourceUpdatedNotificationSchema } = await load("@modelcontextprotocol/sdk/types.js");

const server = spawn(daybook, ["serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", root], {
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...process.env, DAYBOOK_PERSON: "ada" },
});
const [line] = await once(createInterface(server.stdout), "line");
const address = line.match(/http:\/\/\S+/)[0];
const token = readFileSync(join(root, "token"), "utf8").trim();
const connect = async (token) => {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp?tools=entities", address), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: "interop", version: "1.0.0" });
  await client.connect(transport);
  return [client, transport];
};

const [client, transport] = await connect(token);
assert.match(client.getInstructions(), /`recall`/);
assert.equal((await client.listTools()).tools.length, 9);
const told = async (name, args, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.ok(!result.isError, result.content[0].text);
  return result.content[0].text;
};
assert.equal(await told("remember", { text: "the lighthouse keeper is called Brannagh" }), "Remembered in user/ada.");
assert.match(await told("recall", { question: "who keeps the lighthouse" }), /Brannagh/);
const { resources } = await client.listResources();
const { uri } = resources.find((resource) => resource.uri.endsWith("tidepool/memory/MEMORY.md"));
assert.match((await client.readResource({ uri })).contents[0].text, /^# /);
const updated = new Promise((tell) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, tell));
await client.subscribeResource({ uri });
appendFileSync(join(root, uri.replace("daybook:///", "")), "\nAda wrote this by hand.\n");
assert.equal((await updated).params.uri, uri);
const filled = await client.getPrompt({ name: "where-was-i" });
assert.match(filled.messages[0].content.text, /left off/);

const ending = new AbortController();
const cancelled = told("recall", { question: "who keeps the lighthouse" }, { signal: ending.signal });
ending.abort("the person pressed escape");
await assert.rejects(cancelled);
assert.match(await told("recall", { question: "who keeps the lighthouse" }), /Brannagh/);
await assert.rejects(connect("0".repeat(64)));

await transport.terminateSession();
await client.close();
server.kill();
assert.deepEqual(await once(server, "exit"), [0, null]);
console.log("the TypeScript SDK gets on with /mcp");
