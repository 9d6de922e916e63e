import type { CallHost } from "../scripts.ts";
import type { TaskRequest, TaskResult } from "./script-job.ts";

type Task = (input: unknown, signal: AbortSignal) => Promise<unknown>;

/** Runs a task of the functions module. Never rejects, and resolves at once on timeout or abort. */
export function runTask(module: string, request: TaskRequest, aborted: AbortSignal): Promise<TaskResult> {
  return inTime(request.timeoutMs, aborted, async (signal) =>
    (await taskOf(module, request.name))(request.input, signal),
  );
}

/** Makes a host call. Never rejects, and resolves at once on timeout or abort. */
export function runHostCall(
  ask: CallHost | undefined,
  { name, input, timeoutMs }: TaskRequest,
  aborted: AbortSignal,
): Promise<TaskResult> {
  return inTime(timeoutMs, aborted, async (signal) => {
    if (ask === undefined) throw new Error("only available in a step of a run");
    return ask(name, input, signal);
  });
}

async function inTime(
  timeoutMs: number,
  aborted: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<TaskResult> {
  const timeout = timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : [];
  const signal = AbortSignal.any([aborted, ...timeout]);
  const stopped = Promise.withResolvers<never>();
  const onAbort = (): void =>
    stopped.reject(
      new Error(aborted.aborted ? "it was cancelled" : "it exceeded the time limit of the script"),
    );
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return { ok: true, value: await Promise.race([work(signal), stopped.promise]) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    signal.removeEventListener("abort", onAbort);
    stopped.promise.catch(() => undefined);
  }
}

/** Throws if the module has no such task. */
async function taskOf(address: string, name: string): Promise<Task> {
  const module: { readonly tasks?: unknown } = await import(address);
  const task: unknown = module.tasks instanceof Map ? module.tasks.get(name) : undefined;
  if (typeof task !== "function") throw new Error(`${name} is not available here`);
  return task as Task;
}
