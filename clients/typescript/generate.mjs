// Writes the types and the table of routes from the description of HTTP.
//
// `node generate.mjs` writes them; `node generate.mjs --check` fails when they are not current.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const here = new URL(".", import.meta.url);
const description = new URL("../../crates/app/openapi.json", here);
const NOTICE = "// Written by `generate.mjs` from the description of HTTP; do not edit.\n\n";
// They read, although their question is a body; so they need no key that makes a repeat safe.
const READS = new Set(["recallMemories", "getThreadContext"]);

// A field with a default is one that a request may leave out.
const types = astToString(await openapiTS(description, { defaultNonNullable: false }));

const rows = [];
for (const [path, methods] of Object.entries(JSON.parse(readFileSync(description, "utf8")).paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const names = (place) => (operation.parameters ?? []).filter((one) => one.in === place).map((one) => one.name);
    rows.push({
      id: operation.operationId,
      route: {
        method: method.toUpperCase(),
        path,
        query: names("query"),
        hasBody: operation.requestBody !== undefined,
        isKeyed: method !== "get" && !READS.has(operation.operationId),
        answer: Object.keys(operation.responses["200"].content)[0],
      },
    });
  }
}
const table = rows.map(({ id, route }) => `  ${id}: ${JSON.stringify(route)},\n`).join("");
const routes =
  'import type { operations } from "./openapi.js";\n\n' +
  "/** How an operation is requested. */\nexport interface Route {\n  method: string;\n  path: string;\n" +
  "  /** Names of the arguments that are in the query; those in the path are named there, and the rest is the body. */\n" +
  "  query: readonly string[];\n  hasBody: boolean;\n  /** Whether a repeat is safe only with an Idempotency-Key. */\n" +
  "  isKeyed: boolean;\n  /** The media type of its answer. */\n  answer: string;\n}\n\n" +
  `/** Every operation of the server. */\nexport const routes: { [Name in keyof operations]: Route } = {\n${table}};\n`;

for (const [file, text] of [["openapi.ts", types], ["routes.ts", routes]]) {
  const path = new URL(`src/${file}`, here);
  const written = NOTICE + text;
  if (process.argv[2] !== "--check") {
    writeFileSync(path, written);
  } else if (readFileSync(path, "utf8") !== written) {
    console.error(`clients/typescript/src/${file} is not current: run node clients/typescript/generate.mjs`);
    process.exit(1);
  }
}
