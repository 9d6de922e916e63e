/** Replaces the dispatcher. A file selects its behaviour: `throw`, `hang`, `kill`, or else the real handler. */
import { readFileSync } from "node:fs";

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const KILL_AFTER_MS = 50;
const REAL = new URL("../../functions/consumers/dispatch.ts", import.meta.url).href;

export async function handler(event: unknown, context: unknown): Promise<unknown> {
  const how = readFileSync(process.env["WEFT_TEST_BEHAVIOUR"] ?? "", "utf8");
  if (how === "throw") throw new Error("it threw on purpose");
  // The kill comes during the handler: the queue records a delivery a few milliseconds after it.
  if (how === "kill") setTimeout(() => process.kill(process.pid, "SIGKILL"), KILL_AFTER_MS);
  if (how === "hang" || how === "kill") await new Promise(() => {});
  const real = (await import(REAL)) as { handler: Handler };
  return real.handler(event, context);
}
