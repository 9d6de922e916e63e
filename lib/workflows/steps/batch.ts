import { setTimeout as sleep } from "node:timers/promises";
import { failureText, StepCancelledError } from "../engine/step-failure.ts";
import type { LeafStep } from "../schema/types.ts";
import { type AttemptResult, attemptStep, NO_OUTPUT } from "./attempt-step.ts";
import { type ItemResult, openBatchRecord } from "./batch-record.ts";
import type { Attempt, LoopValue, Scope } from "./context.ts";
import { deadlineOf } from "./deadline.ts";
import { loadItems } from "./foreach-items.ts";
import { toLocalPaths } from "./portable-paths.ts";
import { logStep } from "./run-log.ts";
import { bindLoop } from "./scope.ts";

/** Maximum number of concurrent items of one foreach. */
export const PARALLEL_MAX = 256;
/** Maximum output kept per batch, characters. */
const OUTPUT_MAX_LENGTH = 4 * 1024 * 1024;
const TRUNCATED = "[output truncated]";

export interface BatchResult {
  /** Positions of the failed items, in order. */
  readonly failed: readonly number[];
  readonly error?: string;
  /** Outputs in item order, one line each. */
  readonly output: string;
}

export interface BatchLoop {
  readonly variable: string;
  readonly foreachKey: string;
  readonly parallel: number;
  readonly outer: readonly LoopValue[];
}

/**
 * Processes the items of one batch with the given concurrency; a failure does not stop the others. Items with results
 * that an earlier attempt recorded are not repeated.
 */
export async function runBatch(
  attempt: Attempt,
  step: LeafStep,
  scope: Scope,
  range: readonly [from: number, to: number],
  loop: BatchLoop,
): Promise<BatchResult> {
  const { items, from } = await loadItems(attempt.deps, attempt.run.run_id, loop.foreachKey, range[0]);
  const outputs = new Array<string>(range[1] - range[0]).fill("");
  const record = await openBatchRecord(attempt, step);
  let next = range[0];
  const failed: number[] = [];
  let firstError: { index: number; error: string } | undefined;
  let kept = 0;
  let isOver = false;
  const take = (index: number, { output, error }: ItemResult): ItemResult => {
    if (error !== undefined) {
      failed.push(index);
      if (firstError === undefined || index < firstError.index) firstError = { index, error };
    }
    kept += output.length;
    const text = kept > OUTPUT_MAX_LENGTH ? TRUNCATED : output;
    outputs[index - range[0]] = text;
    return { output: text, ...(error === undefined ? {} : { error }) };
  };
  for (const [index, result] of record.done) take(index, result);
  const work = async (): Promise<void> => {
    while (next < range[1] && !isOver) {
      if (attempt.signal.aborted) throw new StepCancelledError();
      const index = next;
      next += 1;
      if (record.done.has(index)) continue;
      const result = await attemptItem(
        attempt,
        step,
        scope,
        loop,
        index,
        toLocalPaths(attempt.deps, items[index - from]),
      );
      const isFailed = result.status === "failed" && result.tolerated !== true;
      const failure = isFailed ? { error: result.error ?? "failed" } : {};
      record.add(index, take(index, { output: textOf(result.output), ...failure }));
    }
  };
  const width = Math.max(1, Math.min(PARALLEL_MAX, loop.parallel, range[1] - range[0]));
  // A platform fault ends the attempt: all workers must stop before the next attempt starts.
  const ends = await Promise.allSettled(
    Array.from({ length: width }, () =>
      work().catch((thrown: unknown) => {
        isOver = true;
        throw thrown;
      }),
    ),
  );
  const fault = ends.find((end) => end.status === "rejected");
  if (fault !== undefined) {
    await record.keep();
    throw fault.reason;
  }
  await record.close();
  return {
    failed: failed.toSorted((one, other) => one - other),
    ...(firstError === undefined ? {} : { error: firstError.error }),
    output: outputs.join("\n"),
  };
}

async function attemptItem(
  attempt: Attempt,
  step: LeafStep,
  scope: Scope,
  loop: BatchLoop,
  index: number,
  value: unknown,
): Promise<AttemptResult> {
  const position = [...loop.outer.map((outer) => outer.index), index].join(".");
  const key = `${attempt.request.key.split("#")[0]}#${position}`;
  const item: Attempt = { ...attempt, step, request: { ...attempt.request, key } };
  const inner = bindLoop(scope, { variable: loop.variable, value, index });
  // Items are retried within their batch: the conductor only knows batches.
  for (let tries = 1; ; tries += 1) {
    const result = await attemptInTime({ ...item, tries }, inner, step);
    if (result.status === "failed") logStep(item, `failed: ${result.error ?? ""}`);
    if (result.retryAt === undefined) return result;
    await waitUntil(attempt, result.retryAt);
  }
}

/** The timeout of the step applies to each try of each item. */
async function attemptInTime(attempt: Attempt, scope: Scope, step: LeafStep): Promise<AttemptResult> {
  let deadline: number | undefined;
  try {
    deadline = deadlineOf(step, scope, attempt.deadline, attempt.deps.clock.now());
  } catch (thrown) {
    return { ...NO_OUTPUT, status: "failed", error: attempt.deps.secrets.redact(failureText(thrown)) };
  }
  return attemptStep({ ...attempt, deadline }, scope, step);
}

async function waitUntil({ deps, signal }: Attempt, at: number): Promise<void> {
  await sleep(Math.max(0, at - deps.clock.now()), undefined, { signal }).catch(() => {
    throw new StepCancelledError();
  });
}

function textOf(output: unknown): string {
  if (output === null || output === undefined) return "";
  return typeof output === "string" ? output : JSON.stringify(output);
}
