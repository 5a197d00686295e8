// The client against `daybook serve`: every operation, retries and errors.
//
// `node routes.js <daybook> <folder> <openapi.json>`: starts a server on a new data folder there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Answer,
  Conflict,
  ConnectionFailed,
  Daybook,
  InvalidRequest,
  NotAuthorized,
  NotFound,
  type Schemas,
  Unavailable,
} from "daybook-client";
import { serve } from "./server.js";

const [program, folder, description] = process.argv.slice(2) as [string, string, string];

/** Waits until the server has learned what `holds`, and a file shows it. */
async function learned(memory: Daybook, holds: string): Promise<Schemas["ListedMemory"]> {
  for (let tries = 0; tries < 600; tries++) {
    try {
      const { memories } = await memory.listMemories({ limit: 100 });
      const found = memories.find((one) => one.text.includes(holds) && one.shown_in.length > 0);
      if (found) {
        return found;
      }
    } catch (error) {
      assert.ok(error instanceof NotFound);
    }
    await pause(100);
  }
  throw new Error(`nothing was learned about ${holds}`);
}

async function every<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
}

async function theServerItself(memory: Daybook) {
  assert.equal((await memory.getHealth()).ok, true);
  assert.match(await memory.getDocs(), /<html/);
  assert.match(await memory.getMetrics(), /daybook_/);
  assert.ok(await memory.getOpenApi());
  assert.ok((await memory.getStatus()).events >= 0);
}

async function aSessionBecomesMemory(memory: Daybook) {
  const session = { agent: "harbour-bot", session: "talk-1" };
  const events: Schemas["AppendEvent"][] = [
    { role: "user", text: "Set the tide cache limit to 50 entries.", id: "m1" },
    { role: "assistant", text: "Done: the limit is 50." },
  ];
  assert.equal((await memory.appendEvents({ ...session, events })).added, 2);
  assert.equal((await memory.appendEvents({ ...session, events })).added, 0);
  await memory.reportTrigger({ ...session, what: "end" });
  const { sessions } = await memory.listSessions();
  assert.deepEqual(sessions.map((one) => one.id), ["harbour-bot:talk-1"]);
  assert.equal((await every(memory.allSessions({ limit: 1 }))).length, 1);
  const found = await learned(memory, "50");
  const question = "How large is the tide cache limit?";
  const recalled = await memory.recallMemories({ question, limit: 3 });
  assert.equal(recalled.confidence, "likely");
  assert.match(recalled.results[0]?.text ?? "", /50/);
  const citation = found.citations[0] ?? "";
  assert.match((await memory.showCitation({ citation })).events[0]?.text ?? "", /tide cache/);
  assert.ok((await memory.showWords({ citation, around: 1 })).label);
  assert.ok((await memory.explainLine({ line: found.id })).observations.length > 0);
  assert.match((await memory.getContext({ prompt: question, budget: 500 })).text, /50/);
  assert.ok((await memory.listJobs({ all: true })).jobs.length > 0);
  assert.ok((await memory.getSpend()).currency);
}

async function wordsAreKeptAndChanged(memory: Daybook) {
  const kept = await memory.rememberText({ text: "Ada's boat is called Tern." });
  const more = await memory.addMemory({ text: "The pier opens at nine." });
  await memory.addMemory({ text: "The crane is blue." });
  // The list begins with what files show, so it rests when they are written.
  for (const words of ["Tern", "pier", "crane"]) {
    await learned(memory, words);
  }
  assert.equal((await every(memory.allMemories({ limit: 1 }))).length, 4);
  const text = "Ada's boat is called Avocet.";
  assert.ok((await memory.updateMemory({ memory: kept.id, text })).change.commit);
  const boat = await learned(memory, "Avocet");
  assert.equal((await memory.getMemory({ memory: boat.id })).text, text);
  assert.ok((await memory.getMemoryHistory({ memory: boat.id })).changes.length > 0);
  assert.ok((await memory.editLine({ line: "The crane is blue.", words: "The crane is green." })).change.commit);
  assert.ok((await memory.forgetMemory({ memory: "The crane is green." })).forgotten.length > 0);
  assert.ok((await memory.deleteMemory({ memory: more.id })).forgotten.length > 0);
  assert.equal((await memory.purgeMemory({ memory: boat.id, dry_run: true })).purged, false);
}

async function filesAreReadAndWritten(memory: Daybook) {
  assert.ok((await memory.listFiles()).files.some((one) => one.file === "MEMORY.md"));
  const file = "knowledge/tides & ebbs.md";
  assert.ok((await memory.writeFile({ file, text: "# Tides\n\nHigh at noon.\n" })).change.commit);
  await memory.writeFile({ file, text: "# Tides\n\nHigh at one.\n" });
  const { commits } = await memory.listFileHistory({ file });
  assert.equal(commits.length, 2);
  const at = commits[1]?.id ?? "";
  await assert.rejects(memory.writeFile({ file, text: "# Tides\n", since: at }), Conflict);
  await memory.restoreFile({ file, at });
  assert.match((await memory.readFile({ file })).text, /noon/);
  assert.ok((await memory.diffFiles({ from: at, file })).scope);
  assert.ok((await memory.deleteFile({ file })).commit);
  await assert.rejects(memory.readFile({ file }), NotFound);
  assert.ok((await memory.listFileChanges({ limit: 2 })).next);
  const command = { command: "create", path: "/memories/lamps.md", file_text: "The green lamp.\n" } as const;
  assert.equal((await memory.runMemoryTool({ body: command })).is_error, false);
}

async function entitiesHaveRecords(memory: Daybook) {
  await memory.writeEntity({ entity: "ada", name: "Ada", description: "keeps the harbour" });
  await memory.writeRecord({ entity: "ada", record: "boats", content: "Ada sails the Avocet." });
  assert.equal((await memory.getEntity({ entity: "ada" })).records.length, 1);
  assert.deepEqual((await memory.listEntities()).entities.map((one) => one.entity), ["ada"]);
  await memory.deleteEntity({ entity: "ada" });
  await assert.rejects(memory.getEntity({ entity: "ada" }), NotFound);
}

async function threadsHoldConversations(memory: Daybook) {
  const { thread } = await memory.createThread({ agent: "harbour-bot", name: "watch-1" });
  const talk = [
    { type: "USER_MESSAGE", content: "Which lamp is lit?" },
    { type: "LLM_TEXT_RESPONSE", content: "The green lamp." },
  ];
  assert.equal((await memory.dispatchEvent({ thread, body: talk })).results.length, 2);
  assert.equal((await memory.dispatchEvent({ thread, wait: false, body: talk })).results.length, 2);
  assert.ok((await memory.pauseThread({ thread })).paused);
  assert.ok((await memory.resumeThread({ thread })).was_paused);
  const state = (await memory.getThreadState({ thread, history: true })) as { states: unknown[] };
  assert.ok(state.states.length >= 3);
  const context = await memory.getThreadContext({ thread, max_tokens: 8192, wire: "openai" });
  assert.match(JSON.stringify(context), /green lamp/);
  const part = (n: number) => ({ type: "USER_MESSAGE", content: `Is part ${n} fine? ${"It is long. ".repeat(20)}` });
  await memory.dispatchEvent({ thread, body: [...Array(8).keys()].map(part) });
  assert.ok((await memory.compactThread({ thread })).compaction);
  assert.equal((await memory.endThread({ thread })).thread, thread);
  assert.deepEqual((await memory.listThreads()).threads.map((one) => one.thread), [thread]);
  await memory.deleteThread({ thread });
  await assert.rejects(memory.getThreadState({ thread }), NotFound);
}

async function changesAreWatched(memory: Daybook) {
  let change: Answer<"watchChanges"> | undefined;
  for await (change of memory.watchChanges()) {
    break;
  }
  assert.equal(change?.scope, "user/ada");
}

async function refusalsHaveKinds(memory: Daybook, url: string) {
  await assert.rejects(memory.recallMemories({ question: "" }), (error) => {
    assert.ok(error instanceof InvalidRequest && error.requestId);
    return error.status === 400 && error.code === "invalid_request";
  });
  await assert.rejects(memory.getMemory({ memory: "0123456789abcdef" }), NotFound);
  await assert.rejects(new Daybook({ url, token: "not-the-token" }).getStatus(), NotAuthorized);
  const nowhere = new Daybook({ url: "http://127.0.0.1:9", retries: 1 });
  await assert.rejects(nowhere.getHealth(), ConnectionFailed);
}

/** Has too much to do twice, then keeps the text; and never has room for questions. */
async function aBusyServerIsAskedAgain() {
  const seen: { path: string | undefined; key: string | string[] | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url, key: request.headers["idempotency-key"] });
    const isKept = request.url === "/v1/remember" && seen.length === 3;
    const error = { error: { code: "busy", message: "too many requests at once" } };
    response.writeHead(isKept ? 200 : 503, { "retry-after": "0" });
    response.end(JSON.stringify(isKept ? { text: "Hello." } : error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const memory = new Daybook({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  assert.equal((await memory.rememberText({ text: "Hello." })).text, "Hello.");
  assert.equal(seen.length, 3);
  assert.equal(new Set(seen.map((one) => one.key)).size, 1);
  assert.ok(seen[0]?.key);
  seen.length = 0;
  await assert.rejects(memory.recallMemories({ question: "Hello?" }), Unavailable);
  assert.deepEqual(seen, Array(4).fill({ path: "/v1/recall", key: undefined }));
  server.closeAllConnections();
  server.close();
}

/** What the compiler refuses: it fails where one of these lines has no mistake. */
export async function mistakes(memory: Daybook) {
  // @ts-expect-error a question is needed
  await memory.recallMemories({});
  // @ts-expect-error the limit is a number
  await memory.listMemories({ limit: "ten" });
  // @ts-expect-error there is no such field
  (await memory.getHealth()).okay;
}

const { server, url, token } = await serve(program, `${folder}/root`);
try {
  const called = new Set<string>();
  const client = new Daybook({ url, token });
  const memory = new Proxy(client, {
    get(target, name, self) {
      called.add(String(name));
      return Reflect.get(target, name, self);
    },
  });
  await theServerItself(memory);
  await aSessionBecomesMemory(memory);
  await wordsAreKeptAndChanged(memory);
  await filesAreReadAndWritten(memory);
  await entitiesHaveRecords(memory);
  await threadsHoldConversations(memory);
  await changesAreWatched(memory);
  await refusalsHaveKinds(memory, url);
  const { paths } = JSON.parse(readFileSync(description, "utf8")) as { paths: Record<string, Record<string, { operationId: string }>> };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  assert.deepEqual(ids.filter((id) => !called.has(id)), []);
  await aBusyServerIsAskedAgain();
  console.log(`typescript client: ${ids.length} operations, with retries and errors`);
} finally {
  server.kill();
}
