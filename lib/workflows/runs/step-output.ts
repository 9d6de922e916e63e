import { join } from "node:path";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isTerminal } from "../engine/history.ts";
import { variableName } from "../expressions/variable-names.ts";
import { COMMANDS_PER_STEP } from "../schema/limits.ts";
import { outputFileName } from "../steps/bash.ts";
import type { StepPaths } from "../steps/context.ts";
import { displayText } from "../steps/step-outcome.ts";
import { openValue } from "../values/stored-values.ts";
import { valueKey, valuesTable } from "../values/table.ts";
import { getRun } from "./read.ts";
import { type StoredRun, type StoredStep, stepKey, stepsTable } from "./table.ts";
import { checkRange, type OpenText, openText, readPart, type TextRange, textInMemory } from "./text-part.ts";

/** An attempt that ended before its command started has no file, so attempts are looked for beyond it. */
const ATTEMPTS_WITHOUT_FILE_MAX = 3;
/** Bytes around the ends of a part that are searched for secrets. */
const SECRET_MAX_BYTES = 16 * 1024;

export const outputRecord = z
  .object({
    run_id: z.string(),
    step: z.string(),
    attempt: z.int().describe("Attempt whose output it is"),
    attempts: z.int().describe("Number of attempts with an output"),
    stream: z.enum(["stdout", "stderr"]),
    status: z.string().describe("Status of the run: further output may follow while it is running"),
    output: z.string(),
    offset: z.int().describe("Position of the text in the output, bytes"),
    next_offset: z.int().describe("Position of the next read"),
    size: z.int().describe("Current size of the output, bytes"),
    is_complete: z.boolean().describe("False if only the beginning of the output is stored"),
  })
  .meta({ id: "StepOutput" });

export interface OutputRequest extends TextRange {
  readonly step: string;
  readonly stream?: "stdout" | "stderr" | undefined;
  /** The last one by default. */
  readonly attempt?: number | undefined;
}

type OutputDeps = Pick<Ports, "tables" | "blobs" | "secrets"> & {
  readonly paths: Pick<StepPaths, "logsDir">;
};

/**
 * Reads a part of what the commands of a step print, also while they run, without secrets: from their output files if
 * they are on this machine, otherwise the output that the step recorded. `step` is the key of a step, or of an item of
 * a foreach, such as `scan#3`. Throws `not_found`, and `bad_request` if both `tail` and `offset` are given.
 */
export async function readStepOutput(
  deps: OutputDeps,
  idOrNumber: string,
  { step, stream = "stdout", attempt, ...range }: OutputRequest,
): Promise<z.infer<typeof outputRecord>> {
  checkRange(range);
  const run = await getRun(deps, idOrNumber);
  const folder = join(deps.paths.logsDir, run.run_id);
  const attempts = await findAttempts(folder, step);
  const number = attempt ?? attempts.at(-1) ?? 1;
  const kind = stream === "stdout" ? "out" : "err";
  const paths = Array.from({ length: COMMANDS_PER_STEP }, (_, index) =>
    join(folder, outputFileName(step, number, index, kind)),
  );
  const stored = attempts.includes(number) ? await openText(paths) : undefined;
  const recorded =
    stored === undefined ? await recordedOutput(deps, run, step, { stream, attempt }) : undefined;
  const text = stored ?? recorded?.text ?? textInMemory("");
  try {
    return {
      run_id: run.run_id,
      step,
      attempt: recorded?.attempt ?? number,
      attempts: Math.max(1, attempts.length),
      stream,
      status: run.status,
      ...(await readRedacted(text, range, deps.secrets)),
      size: text.size,
      is_complete: recorded?.isComplete ?? true,
    };
  } finally {
    await text.close();
  }
}

/** Numbers of the attempts with output files, in order. */
async function findAttempts(folder: string, step: string): Promise<number[]> {
  const found: number[] = [];
  for (let number = 1, missing = 0; missing < ATTEMPTS_WITHOUT_FILE_MAX; number += 1) {
    const file = await openText([join(folder, outputFileName(step, number, 0, "out"))]);
    await file?.close();
    if (file === undefined) missing += 1;
    else {
      found.push(number);
      missing = 0;
    }
  }
  return found;
}

/** The output that a step's result recorded. Throws `not_found` if the run has not executed the step. */
async function recordedOutput(
  deps: OutputDeps,
  run: StoredRun,
  key: string,
  { stream, attempt }: { readonly stream: "stdout" | "stderr"; readonly attempt: number | undefined },
): Promise<{ readonly text: OpenText; readonly attempt: number; readonly isComplete: boolean } | undefined> {
  const step = await deps.tables.get(stepsTable, stepKey(run.run_id, key));
  const isRunning = !isTerminal(run.status) && run.state.frames[key] !== undefined;
  if (step === undefined && !isRunning)
    throw new ApiError("not_found", `step: the run has not executed '${key}', or its output is on a worker`);
  if (step === undefined || stream === "stderr" || (attempt ?? step.attempt) !== step.attempt)
    return undefined;
  const whole = step.output_truncated ? await storedValue(deps, run, step) : undefined;
  return {
    text: textInMemory(whole ?? step.output),
    attempt: step.attempt,
    isComplete: !step.output_truncated || whole !== undefined,
  };
}

/** The output as later steps read it; undefined if a later step of the same name has replaced it. */
async function storedValue(
  deps: OutputDeps,
  { run_id }: StoredRun,
  { step_name, output }: StoredStep,
): Promise<string | undefined> {
  const item = await deps.tables.get(valuesTable, valueKey(run_id, `${variableName(step_name)}_output`));
  if (item === undefined) return undefined;
  const { json = "null", blob } = item;
  const text = displayText(await openValue(deps, blob === undefined ? { json } : { blob }));
  return text.startsWith(output) ? text : undefined;
}

/** Reads a part without secrets: it neither begins nor ends within one, where it would not be recognized. */
async function readRedacted(
  text: OpenText,
  range: TextRange,
  { redact }: Pick<Ports["secrets"], "redact">,
): Promise<{ readonly output: string; readonly offset: number; readonly next_offset: number }> {
  const { bytes, offset } = await readPart(text, range);
  const first = Math.max(0, offset - SECRET_MAX_BYTES);
  const around = Buffer.concat([
    await text.read(first, offset - first),
    bytes,
    await text.read(offset + bytes.length, SECRET_MAX_BYTES),
  ]);
  const isSafe = (position: number): boolean => {
    const at = position - first;
    const [before, after] = [
      around.subarray(Math.max(0, at - SECRET_MAX_BYTES), at),
      around.subarray(at, at + SECRET_MAX_BYTES),
    ];
    return redact(`${before}`) + redact(`${after}`) === redact(`${Buffer.concat([before, after])}`);
  };
  let [start, end] = [offset, offset + bytes.length];
  for (let step = 1; start < end && !isSafe(start); step *= 2) start = Math.min(end, start + step);
  for (let step = 1; start < end && !isSafe(end); step *= 2) end = Math.max(start, end - step);
  return {
    output: redact(`${around.subarray(start - first, end - first)}`),
    offset: start,
    next_offset: end,
  };
}
