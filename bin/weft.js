#!/usr/bin/env node
// Plain JavaScript that an older Node understands: it hands over to the Node that came with the package.
import { spawn } from "node:child_process";
import module from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR_MIN = 24;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  // Loads the sources in half the time. The folder is the one of `localstack/bundle/open.js`.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/weft-compiled", import.meta.url)));
  await import("./main.ts");
} else {
  handOver(newerNode());
}

function newerNode() {
  const manifest = module.createRequire(import.meta.url).resolve("node/package.json");
  return join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
}

function handOver(node) {
  // The channel lets the child notice that this process was killed.
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
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
