import { PLATFORM_FAULTS, PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import type { TaskResult } from "../../scripts/script-job.ts";
import type { CallHost } from "../../scripts.ts";
import type { FromRunner, ToRunner } from "./protocol.ts";

export interface RunnerService<Request, Reply> {
  run(request: Request, signal: AbortSignal, ask: CallHost): Promise<Reply>;
  /** Ends everything that runs. */
  end(): Promise<void>;
}

const send = (message: FromRunner<unknown>): void => {
  // If the server is gone, `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

const warn: Log["warn"] = (message, fields = {}) => send({ kind: "warning", message, fields: { ...fields } });
/** Forwards warnings to the server's log, and drops all other records. */
export const serverLog: Log = {
  debug: () => {},
  info: () => {},
  warn,
  error: warn,
  with: () => serverLog,
};

/** The variables that the server passed to this process. */
export function readPassedEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    // Node adds its own variables.
    if (value !== undefined && !name.startsWith("NODE_")) env[name] = value;
  }
  return env;
}

/** Handles the server's requests on the channel of this process until the channel closes. */
export function serveRequests<Request, Reply>({ run, end }: RunnerService<Request, Reply>): void {
  const underWay = new Map<number, AbortController>();
  /** Pending host calls of the server, by number. */
  const pendingCalls = new Map<number, (result: TaskResult) => void>();
  let lastCallId = 0;

  const askServer =
    (id: number): CallHost =>
    async (what, input, signal) => {
      lastCallId += 1;
      const callId = lastCallId;
      const forget = (): void => void pendingCalls.delete(callId);
      signal.addEventListener("abort", forget, { once: true });
      const result = await new Promise<TaskResult>((resolve) => {
        pendingCalls.set(callId, resolve);
        send({ kind: "ask", id, callId, what, input });
      });
      signal.removeEventListener("abort", forget);
      forget();
      if (!result.ok) throw new Error(result.message);
      return result.value;
    };
  const begin = async (id: number, request: Request, aborted: boolean): Promise<void> => {
    const controller = new AbortController();
    if (aborted) controller.abort();
    underWay.set(id, controller);
    try {
      send({ kind: "ended", id, reply: await run(request, controller.signal, askServer(id)) });
    } catch (error) {
      send({ kind: "refused", id, ...refusalOf(error) });
    }
    underWay.delete(id);
  };

  // Also emitted when the server is killed: its end of the channel closes.
  process.once("disconnect", () => void end().finally(() => process.exit(0)));
  process.on("message", (message: ToRunner<Request>) => {
    if (message.kind === "answer") pendingCalls.get(message.callId)?.(message.result);
    else if (message.kind === "abort") underWay.get(message.id)?.abort();
    else void begin(message.id, message.request, message.aborted);
  });
  // The server decides when this process ends: a signal to all processes must not interrupt its work.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.stderr.on("error", () => {});
  send({ kind: "ready" });
}

function refusalOf(
  error: unknown,
): Pick<Extract<FromRunner<unknown>, { kind: "refused" }>, "code" | "detail"> {
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof PlatformFault)) return { code: "unavailable", detail: text };
  // The server prepends the code's message again.
  return { code: error.code, detail: text.slice(PLATFORM_FAULTS[error.code].length).replace(/^: /, "") };
}
