#!/usr/bin/env node
// Runs the program that the installation put here, with the same arguments, streams and exit code.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");

const program = path.join(__dirname, process.platform === "win32" ? "daybook.exe" : "daybook");
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`daybook: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 1 : code);
});
