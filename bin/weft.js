#!/usr/bin/env node
// Plain JavaScript that an older Node understands: it hands over to the Node that came with the package.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR_MIN = 24;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  await import("./main.ts");
} else {
  handOver(newerNode());
}

function newerNode() {
  const manifest = createRequire(import.meta.url).resolve("node/package.json");
  return join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
}

function handOver(node) {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  // The channel lets the child notice that this process was killed.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, WEFT_HANDED_OVER: "1" },
  });
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(
      `weft: needs Node ${NODE_MAJOR_MIN}, and the one of the package cannot be started (${error.message}): run npm ci again\n`,
    );
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}
