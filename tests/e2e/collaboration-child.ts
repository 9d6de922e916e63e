import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../../lib/testing/test-server.ts";

const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
const READY_MS = 60_000;

/** A process of `weft collaboration` that is starting. */
export interface CollaborationChild {
  readonly child: ChildProcess;
  readonly output: { text: string; errors: string };
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts `weft collaboration` on a free port. The test ends the process. */
export function spawnCollaboration(env: Readonly<Record<string, string>>): CollaborationChild {
  const child = spawn(process.execPath, [WEFT, "collaboration"], {
    env: { ...process.env, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { text: "", errors: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.text += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.errors += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, output, ended };
}

/** Waits until the process listens, and returns its URL. */
export async function readyUrl({ output }: CollaborationChild): Promise<string> {
  const port = await waitUntil("the ready line", () => /port=(\d+)/.exec(output.text)?.[1], READY_MS);
  return `http://127.0.0.1:${port}`;
}
