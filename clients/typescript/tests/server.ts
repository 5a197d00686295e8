// Starts `daybook serve` for a test.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** A server on a new data folder at `root`, on a free port. */
export async function serve(program: string, root: string) {
  const command = ["serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", root];
  const server = spawn(program, command, {
    env: { ...process.env, DAYBOOK_PERSON: "ada" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += chunk;
    const url = /http:\/\/\S+/.exec(printed)?.[0];
    if (url) {
      return { server, url, token: readFileSync(`${root}/token`, "utf8").trim() };
    }
  }
  throw new Error("the server does not start");
}
