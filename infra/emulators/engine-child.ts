import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "./child.ts";

const READY_MS = 30_000;
const ASK_EVERY_MS = 20;

/**
 * Starts a program that knows nothing of us, and ends it when this process ends: a shell waits for that.
 * `onEnd` is a command of the shell, run last. Rejects where `isReady` does not come true in half a minute.
 */
export async function startEngine(options: {
  readonly name: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** What its emulator's URL names; 0 where it listens on no port. */
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
  const until = performance.now() + READY_MS;
  while (!(await isReady())) {
    if (performance.now() > until) {
      await emulator.stop();
      throw new Error(`${name} does not answer half a minute after its start`);
    }
    await sleep(ASK_EVERY_MS);
  }
  return emulator;
}
