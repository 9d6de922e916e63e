import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "./child.ts";

const READY_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/**
 * Starts a program that does not watch our standard input, and ends it when this process ends: a shell waits for
 * that. `onEnd` is a shell command that runs last. Rejects if `isReady` does not return true within 30 seconds.
 */
export async function startEngine(options: {
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Port in the emulator's URL; 0 if the program does not listen on a port. */
  readonly port: number;
  readonly onEnd?: string;
  readonly isReady: () => Promise<boolean>;
}): Promise<Emulator> {
  const { name, argv, cwd, port, onEnd = ":", isReady } = options;
  const script = [
    '"$@" </dev/null >engine.log 2>&1 & pid=$!',
    `echo "listening ${port}"`,
    "cat >/dev/null",
    "kill $pid; wait $pid",
    onEnd,
  ].join("\n");
  const emulator = await startEmulator(name, "sh", ["-c", script, "sh", ...argv], cwd);
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await isReady())) {
    if (performance.now() > deadline) {
      await emulator.stop();
      throw new Error(`${name} is not ready 30 seconds after its start`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return emulator;
}
