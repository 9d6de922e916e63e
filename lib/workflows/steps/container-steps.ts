import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText, renderValue } from "../expressions/render-text.ts";
import type { ForeachStep, ParallelSteps, Step } from "../schema/types.ts";
import { STREAM_EXPORT } from "../values/needed-names.ts";
import { openValue } from "../values/stored-values.ts";
import { begin, guarded, NO_OUTPUT } from "./attempt-step.ts";
import { pathIn } from "./bash.ts";
import { PARALLEL_MAX } from "./batch.ts";
import type { Attempt, Scope } from "./context.ts";
import { timeoutOf } from "./deadline.ts";
import { storeItems } from "./foreach-items.ts";
import type { StepWork } from "./messages.ts";
import { displayText, type StepOutcome } from "./step-outcome.ts";

/**
 * Writes the outputs of a foreach's items, one line each and in item order, to the file that the step names. Reads one
 * batch at a time, so memory stays constant. `names` are the values with the outputs. Throws StepFailedError.
 */
async function streamOutput(
  attempt: Attempt,
  scope: Scope,
  step: Step,
  { values }: StepWork,
  names: readonly string[],
): Promise<void> {
  const source = step.type === "foreach" ? step.exports[STREAM_EXPORT] : undefined;
  if (source === undefined) return;
  const path = pathIn(attempt, renderText(parseTemplate(source, scope), scope.values));
  let file: FileHandle | undefined;
  try {
    await mkdir(dirname(path), { recursive: true });
    file = await open(path, "w");
    for (const name of names) {
      const kept = values[name];
      const text = kept === undefined ? "" : String((await openValue(attempt.deps, kept)) ?? "");
      if (text !== "") await file.write(`${text}\n`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new StepFailedError(`${STREAM_EXPORT}: ${path} could not be written: ${code}`, { cause: error });
  } finally {
    await file?.close();
  }
}

/** Maximum output of all children of a container that is kept, characters. */
const CHILDREN_OUTPUT_MAX = 10 * 1024 * 1024;

/** The `enter` phase: evaluates condition and message, the number of children, and their deadline. */
export async function enterContainer(
  attempt: Attempt,
  scope: Scope,
  startedAt: number,
): Promise<StepOutcome> {
  const { step } = attempt;
  let entered: Pick<StepOutcome, "total" | "parallel" | "deadline"> | undefined;
  const result = await guarded(attempt, scope, { ...step, exports: {}, on_success: [] }, async () => {
    if (!(await begin(attempt, scope, step))) return undefined;
    const timeoutMs = timeoutOf(step, scope);
    entered = {
      ...(step.type === "foreach"
        ? { total: await storeItems(attempt, scope, step), parallel: parallelOf(step, scope) }
        : { total: (step as ParallelSteps).parallel_steps.length, parallel: PARALLEL_MAX }),
      ...(timeoutMs === undefined ? {} : { deadline: startedAt + timeoutMs }),
    };
    return NO_OUTPUT;
  });
  return result.status === "completed" ? { ...result, exports: {}, ...entered } : result;
}

/** Returns how many items of a foreach run concurrently. Throws StepFailedError if the value is not a positive integer. */
function parallelOf(step: ForeachStep, scope: Scope): number {
  const value =
    typeof step.parallel === "number"
      ? step.parallel
      : Number(renderValue(parseTemplate(step.parallel, scope), scope.values));
  if (!Number.isInteger(value) || value < 1)
    throw new StepFailedError("parallel: must be a whole number of at least 1");
  return Math.min(PARALLEL_MAX, value);
}

/** The `leave` phase: output, exports and handlers of the container, depending on the outcome of its children. */
export async function leaveContainer(attempt: Attempt, scope: Scope, work: StepWork): Promise<StepOutcome> {
  const { failed = 0, error, outputs = [], deadline } = work.children ?? {};
  const output = await childrenOutput(attempt, work, outputs);
  return guarded(attempt, scope, attempt.step, async () => {
    await streamOutput(attempt, scope, attempt.step, work, outputs);
    if (deadline !== undefined && attempt.deps.clock.now() >= deadline) {
      throw new StepFailedError(`timed out after ${timeoutOf(attempt.step, scope) ?? 0} ms`);
    }
    if (failed > 0) throw new StepFailedError(error ?? "failed");
    return { ...NO_OUTPUT, output };
  });
}

/** Returns the outputs of the children, in order; those of a foreach one batch at a time. */
async function childrenOutput(
  { deps }: Attempt,
  { values }: StepWork,
  names: readonly string[],
): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for (const name of names) {
    const kept = values[name];
    if (kept === undefined || length > CHILDREN_OUTPUT_MAX) continue;
    const text = displayText(await openValue(deps, kept));
    if (text === "") continue;
    texts.push(text);
    length += text.length;
  }
  return texts.join("\n").slice(0, CHILDREN_OUTPUT_MAX);
}
